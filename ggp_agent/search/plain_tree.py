"""The tree of the plain search: what is known of states, and of what roles can tell of them.

A role's statistics belong to what it observes, so that it can't use what it can't see; every role
has its own (P. I. Cowling, E. J. Powley, D. Whitehouse, "Information Set Monte Carlo Tree Search",
2012, MO-ISMCTS).  With perfect information, this is one node with every role's statistics a state.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forward_model.model import AnyModel

STEPS_KEPT = 2
"""What was not visited for more real moves than this is forgotten."""

Move = Any
JointMove = Sequence[Any]
State = Any
Values = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
"""(R, COLUMNS) parameters of a simulation, or (COLUMNS,) those of one role."""


@dataclass(slots=True)
class Average:
    """A count and a sum."""

    count: float = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        """One more value."""
        self.count += 1
        self.total += value

    @property
    def mean(self) -> float:
        """The mean; there must be one."""
        return self.total / self.count


class RewardRange:
    """Between which values a role's rewards are: the model's bounds, or else those seen so far."""

    def __init__(self, low: float, high: float) -> None:
        self.low = low if low > -np.inf else np.inf
        self.high = high if high < np.inf else -np.inf

    def widen(self, reward: float) -> None:
        """A reward that was seen."""
        self.low, self.high = min(self.low, reward), max(self.high, reward)

    def normalise(self, total: float, count: float = 1) -> float:
        """The sum of so many rewards if each is mapped to [0, 1]; half while all are alike."""
        if not self.low < self.high:
            return count / 2
        return (total - count * self.low) / (self.high - self.low)


@dataclass(slots=True)
class Node:
    """What a role knows in the states that it can't tell apart, per legal move."""

    moves: tuple[Move, ...]
    statistics: list[Average]
    """rewards by move, not normalised"""
    amaf: dict[Move, Average] | None = None
    """rewards by move of this or any later state, where there is a table"""
    visits: int = 0
    step: int = 0
    """the number of real moves at the last visit"""


@dataclass(slots=True)
class Position:
    """A state."""

    state: State
    nodes: list[Node]
    """by role"""
    rewards: tuple[float, ...] | None
    """only where the game is over"""
    step: int = 0


@dataclass(slots=True)
class Simulation:
    """One way from the root to the end of the game."""

    settings: Values
    path: list[tuple[Position, tuple[int, ...]]] = field(default_factory=list)
    """positions and the roles' picks in them"""
    playout: list[JointMove] = field(default_factory=list)

    def moves(self) -> list[JointMove]:
        """All joint moves, of the path and of the playout."""
        return [*(joint_move(position, picks) for position, picks in self.path), *self.playout]


class PlainTree:
    """Positions by state, nodes by role and observation."""

    def __init__(self, model: AnyModel) -> None:
        self._model = model
        self._positions: dict[State, Position] = {}
        self.nodes: list[dict[Hashable, Node]] = [{} for _ in model.role_names]
        """by role"""
        self._step = 0

    def next_step(self) -> None:
        """A real move was made: what has not been visited for long is dropped."""
        self._step += 1
        self._positions = {s: p for s, p in self._positions.items() if self._is_kept(p)}
        self.nodes = [{o: n for o, n in known.items() if self._is_kept(n)} for known in self.nodes]

    def visit(self, state: State) -> tuple[Position, bool]:
        """The position of a state; whether a role has not known it, or one that looks like it."""
        position, new = self._positions.get(state), False
        if position is None or not self._is_kept(position):
            position, new = self._add(state)
        position.step = self._step
        for node in position.nodes:
            node.step = self._step
        return position, new

    def _add(self, state: State) -> tuple[Position, bool]:
        """A new position; one in which a role has no move (faulty rules) counts as terminal."""
        terminal, new = self._model.is_terminal(state), False
        nodes = []
        for role, known in enumerate(self.nodes):
            observation = self._model.observation(state, role)
            node = known.get(observation)
            if node is None or not self._is_kept(node):
                moves = () if terminal else self._model.legal_moves(state, role)
                node = known[observation] = Node(moves, [Average() for _ in moves])
                new = True
            nodes.append(node)
        over = terminal or not all(node.moves for node in nodes)
        rewards = self._model.rewards(state) if over else None
        position = self._positions[state] = Position(state, nodes, rewards)
        return position, new

    def _is_kept(self, known: Position | Node) -> bool:
        return known.step >= self._step - STEPS_KEPT


def joint_move(position: Position, picks: tuple[int, ...]) -> JointMove:
    """The moves that the roles picked, by their places among the legal ones."""
    pairs = zip(position.nodes, picks, strict=True)
    return tuple(node.moves[pick] for node, pick in pairs)
