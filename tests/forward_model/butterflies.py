"""A video game in little: a net on a grid, a butterfly that flutters about, thirty ticks."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random
from typing import NamedTuple

from forward_model.model import ForwardModel

SIZE, TICKS = 7, 30
STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0), "stay": (0, 0)}

Cell = tuple[int, int]


class Meadow(NamedTuple):
    tick: int
    net: Cell
    butterfly: Cell
    score: float


class Butterflies(ForwardModel[Meadow, str]):
    """The butterfly moves at random in every tick; when it is caught, another one comes.

    A catch brings 10, a move costs 0.1; nothing bounds the score.
    """

    role_names = ("net",)
    initial_state = Meadow(0, (0, 0), (SIZE // 2, SIZE // 2), 0.0)
    reward_bounds = (-inf, inf)

    def legal_moves(self, state: Meadow, role: int) -> tuple[str, ...]:
        return tuple(STEPS)

    def next_state(self, state: Meadow, joint_move: Sequence[str], random: Random) -> Meadow:
        (move,) = joint_move
        net, butterfly = _moved(state.net, move), state.butterfly
        score = state.score - (0.0 if move == "stay" else 0.1)
        if net != butterfly:
            butterfly = _moved(butterfly, random.choice(list(STEPS)))
        if net == butterfly:
            score += 10.0
            butterfly = (random.randrange(SIZE), random.randrange(SIZE))
        return Meadow(state.tick + 1, net, butterfly, score)

    def is_terminal(self, state: Meadow) -> bool:
        return state.tick == TICKS

    def rewards(self, state: Meadow) -> tuple[float, ...]:
        return (state.score,)

    def heuristic(self, state: Meadow) -> tuple[float, ...]:
        """A butterfly in the distance is worth something."""
        pairs = zip(state.net, state.butterfly, strict=True)
        return (state.score - sum(abs(a - b) for a, b in pairs),)

    def write_move(self, move: str) -> str:
        return move.upper()

    def read_move(self, text: str) -> str:
        return text.lower()


def _moved(cell: Cell, move: str) -> Cell:
    x, y = (min(SIZE - 1, max(0, a + b)) for a, b in zip(cell, STEPS[move], strict=True))
    return x, y
