"""What strategies are to the plain search: objects with hooks, made anew for every game."""

# ruff: noqa: B027  # hooks do nothing where a strategy has no use for them
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from ggp_agent.agents import Agent
from ggp_agent.search.plain_tree import (
    Average,
    JointMove,
    Move,
    Node,
    Position,
    RewardRange,
    Values,
)
from ggp_agent.search.settings import Settings

if TYPE_CHECKING:
    from ggp_agent.search.strategies.move_history import PlainMoveHistory


@dataclass(frozen=True, slots=True)
class PlainGame:
    """What all strategies of a search share."""

    agent: Agent
    ranges: Sequence[RewardRange]
    """of the rewards, by role; they grow while the search goes on"""
    settings: Settings
    """with one row"""
    history: PlainMoveHistory


class PlainPlayout(ABC):
    """Chooses the moves of playouts, and of nodes with fewer than T visits."""

    def __init__(self, game: PlainGame) -> None:
        self._game = game

    @abstractmethod
    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """One of a role's legal moves; `settings` (P,) are the role's."""


class PlainSelection(ABC):
    """Says which value selection goes by in the tree."""

    def __init__(self, game: PlainGame) -> None:
        self._game = game

    def begin(self, root: Position) -> None:
        """A simulation begins."""

    def arrive(self, position: Position, settings: Values) -> None:
        """The simulation is in this position; `settings` (R, P)."""

    @abstractmethod
    def value(self, role: int, node: Node, place: int, settings: Values) -> float:
        """The value of a role's move, by its place; `settings` (P,) are the role's."""

    def learn(
        self, position: Position, level: int, moves: Sequence[JointMove], rewards: Sequence[float]
    ) -> None:
        """A simulation came through a position, before its joint moves[level].

        Called for all positions on its path, from the root down, visits being counted already;
        rewards are not normalised.
        """


def exploration(node: Node, own: Average, c: float) -> float:
    """UCT's C · sqrt(ln N / n)."""
    return c * math.sqrt(math.log(max(1, node.visits)) / own.count)


def draw_among_best(values: Sequence[float], offset: float, random: Random) -> int:
    """The place of a value that is no more than `offset` below the highest."""
    threshold = max(values) - offset
    return random.choice([i for i, value in enumerate(values) if value >= threshold])
