"""Lines: the moves of a one-player game to its end, what they bring, and whether that is so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propnet import kernels
from propnet.layout import I32, U64, Lanes, Layout
from propnet.vectors import LANES, WORDS


@dataclass(frozen=True, slots=True)
class Line:
    """Moves that were played through, from one state to the end of the game."""

    states: tuple[bytes, ...]
    """the states that they are made in, packed"""
    moves: tuple[int, ...]
    """their numbers"""
    goal: int
    """what they bring, 0 to 100"""

    def after(self, moves: int) -> Line:
        """What is left of the line after its first moves."""
        return Line(self.states[moves:], self.moves[moves:], self.goal)


class Replay:
    """Plays lines through, one move after the other."""

    def __init__(self, layout: Layout, lanes: Lanes) -> None:
        self._layout, self._lanes = layout, lanes
        self._legal = np.zeros((len(layout.legal), WORDS), np.uint64)
        self._goals = np.zeros((1, LANES), np.uint8)

    def line(self, state: bytes, moves: Sequence[int]) -> Line | None:
        """The line of these moves; None where one is not legal, or they don't end the game."""
        layout, lanes = self._layout, self._lanes
        row: U64 = np.frombuffer(state, np.uint64)[np.newaxis].copy()
        number: I32 = np.zeros((1, 1), np.int32)
        states = []
        for move in moves:
            if self._see(row):
                return None
            kernels.legal_rows(layout, lanes, self._legal)
            if not self._legal[move, 0] & np.uint64(1):
                return None
            states.append(row.tobytes())
            number[0, 0] = move
            kernels.set_moves(layout, lanes, number, 1)
            lanes.active[:] = kernels.ALL
            kernels.advance(layout, lanes)
            kernels.save_states(layout, lanes, row, 1)
        if not self._see(row):
            kernels.legal_rows(layout, lanes, self._legal)
            if (self._legal[:, 0] & np.uint64(1)).any():
                return None
        kernels.read_goals(layout, lanes, self._goals)
        return Line(tuple(states), tuple(moves), int(self._goals[0, 0]))

    def _see(self, row: U64) -> bool:
        """Evaluate a position; whether the game is over."""
        kernels.load_states(self._layout, self._lanes, row, 1)
        kernels.see_position(self._layout, self._lanes)
        literal = self._layout.terminal
        return bool((int(self._lanes.values[literal >> 1, 0]) ^ literal) & 1)
