"""Lines: the moves of a one-player game to its end, what they bring, and whether that is so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propnet import kernels
from propnet.layout import I32, U64, Lanes, Layout
from propnet.vectors import LANES, WORDS

SAMPLED = 64
"""Random lines of which the best is taken."""


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

    def best_of(
        self, state: bytes, prefix: Sequence[int], dice: np.random.Generator, longest: int
    ) -> Line | None:
        """The best of SAMPLED lines that begin with these moves and go on with random ones.

        None where no line has ended after the `longest` number of moves.
        """
        layout, lanes = self._layout, self._lanes
        rows: U64 = np.repeat(np.frombuffer(state, np.uint64)[np.newaxis], SAMPLED, axis=0)
        goes_on, best, chosen = np.ones(SAMPLED, np.bool_), -1, list[int]()
        history: list[I32] = []
        for step in range(longest + 1):
            kernels.load_states(layout, lanes, rows, SAMPLED)
            kernels.see_position(layout, lanes)
            kernels.legal_rows(layout, lanes, self._legal)
            legal = _bits(self._legal)
            literal = layout.terminal
            ends = _bits(lanes.values[literal >> 1 : (literal >> 1) + 1])[0] ^ bool(literal & 1)
            ended = goes_on & (ends | ~legal.any(axis=0))
            if ended.any():
                kernels.read_goals(layout, lanes, self._goals)
                goals = np.where(ended, self._goals[0, :SAMPLED].astype(np.int64), -1)
                if goals.max() > best:
                    lane = int(goals.argmax())
                    best, chosen = int(goals[lane]), [int(moves[lane, 0]) for moves in history]
            goes_on &= ~ended
            if not goes_on.any():
                break
            if step < len(prefix):
                moves = np.full((SAMPLED, 1), prefix[step], np.int32)
            else:
                drawn = (legal * (1.0 + dice.random(legal.shape))).argmax(axis=0)
                moves = drawn.astype(np.int32)[:, np.newaxis].copy()
            history.append(moves)
            kernels.set_moves(layout, lanes, moves, SAMPLED)
            lanes.active[:] = kernels.ALL
            kernels.advance(layout, lanes)
            kernels.save_states(layout, lanes, rows, SAMPLED)
        return self.line(state, chosen) if best >= 0 else None

    def _see(self, row: U64) -> bool:
        """Evaluate a position; whether the game is over."""
        kernels.load_states(self._layout, self._lanes, row, 1)
        kernels.see_position(self._layout, self._lanes)
        literal = self._layout.terminal
        return bool((int(self._lanes.values[literal >> 1, 0]) ^ literal) & 1)


def _bits(rows: U64) -> NDArray[np.bool_]:
    """(n, WORDS) rows of lanes as (n, SAMPLED) truth values."""
    octets = np.ascontiguousarray(rows[:, : SAMPLED // 64]).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little").astype(np.bool_)
