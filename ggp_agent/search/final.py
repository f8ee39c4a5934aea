"""The final choice: which move is played, by what the search has found out.

A move that is proven to bring all that can be had is played, at once if one ends the game; a move
that is proven to bring less than another is not.  Among the others it is the highest mean (the
papers' rule), mixed with the minimax value where selection goes by that, too, or the most visits,
ties at random.  The mean of a move that was selected much less
often than another is no estimate: after a long search it rests on a handful of early playouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gdl.state_machine import Move

LEAST_SHARE = 0.01
"""The mean of a move counts if it has so many visits for one of the move with the most."""


@dataclass(frozen=True, slots=True)
class RootMove:
    """A move at the root and what is known of it."""

    move: Move
    visits: int = 0
    """times selected"""
    total: float = 0.0
    """sum of the rewards, each in [0, 1]"""
    low: int = 0
    """the goal that it brings at least"""
    high: int = 100
    """the goal that it brings at most"""
    ends: bool = False
    """whether it is proven and ends the game at once"""
    value: float = 0.0
    """its value in [0, 1] by implicit minimax backups"""
    weight: float = 0.0
    """how much that counts beside the mean; 0 where there is none"""

    @property
    def mean(self) -> float:
        """The mean reward; -1 where there is none."""
        return self.total / self.visits if self.visits else -1.0

    @property
    def estimate(self) -> float:
        """The mean and the value as selection mixes them; -1 where there is no mean."""
        return self.mean + self.weight * (self.value - self.mean) if self.visits else -1.0


class Dice(Protocol):
    """What is needed of a random generator."""

    def random(self) -> float:
        """A number in [0, 1)."""


def choose_move(moves: Sequence[RootMove], rule: str, dice: Dice) -> Move:
    """The move to play; `rule` is `mean` or `visits`."""
    certain = max(move.low for move in moves)
    candidates = [move for move in moves if move.high >= certain]
    if certain > 0 and all(move.high <= certain for move in moves):
        candidates = [move for move in moves if move.low == certain]
        candidates = [move for move in candidates if move.ends] or candidates
    if any(move.high > 0 for move in candidates):
        candidates = [move for move in candidates if move.high > 0]
    most = max(move.visits for move in candidates)
    candidates = [
        move for move in candidates if move.visits >= LEAST_SHARE * most or is_exact(move)
    ]
    values = [_value(move, rule) for move in candidates]
    best = [move for move, value in zip(candidates, values, strict=True) if value == max(values)]
    return best[int(dice.random() * len(best))].move


def is_exact(move: RootMove) -> bool:
    """Whether it is proven what a move brings."""
    return move.low == move.high


def _value(move: RootMove, rule: str) -> float:
    """What counts; a proven score counts more than a mean that is an estimate of it."""
    if rule == "visits":
        return move.visits
    if move.visits and is_exact(move):
        return move.low / 100
    return move.estimate
