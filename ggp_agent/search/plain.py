"""The search in plain Python over any `StateMachine`: the reference that can be read in a minute.

It is what the native search does with one simulation in flight and one playout a leaf, and it
plays the rule sheets that only Prolog can handle.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from gdl.state_machine import CHANCE_ROLE, JointMove, Move, State, StateMachine
from ggp_agent.agents import Agent
from ggp_agent.thinking import Interrupted


@dataclass(slots=True)
class _Node:
    """A state's statistics: per role and legal move the number of visits and summed rewards."""

    moves: list[tuple[Move, ...]]
    counts: list[list[int]]
    rewards: list[list[float]]
    goals: tuple[int, ...] | None
    """only where the state is terminal"""
    visits: int = 0
    children: dict[tuple[int, ...], tuple[State, _Node]] = field(default_factory=dict)


class PlainSearch:
    """A `Thinker`: decoupled UCT, one simulation after the other."""

    def __init__(self, machine: StateMachine, role: int, agent: Agent, seed: int) -> None:
        self._machine, self._role, self._agent = machine, role, agent
        self._random = random.Random(seed)
        self._state = machine.initial_state
        self._root = self._node(self._state)
        self._simulations = 0

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`."""
        known = None if joint_move is None else self._child(joint_move)
        self._root = known[1] if known and known[0] == state else self._node(state)
        self._state, self._simulations = state, 0

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`; one simulation may overrun the deadline, so half of one is kept."""
        budget, longest = int(self._agent.number("simulations")), 0.0
        while self._root.goals is None and not interrupted():
            started = time.monotonic()
            if started + longest >= deadline or (budget and self._simulations >= budget):
                return
            if not self._simulate(deadline):
                return
            self._simulations += 1
            longest = max(longest, time.monotonic() - started)

    def choose(self) -> Move:
        """See `Thinker.choose`: the highest mean, ties at random."""
        counts, rewards = self._root.counts[self._role], self._root.rewards[self._role]
        means = [r / n if n else -1.0 for n, r in zip(counts, rewards, strict=True)]
        best = [i for i, mean in enumerate(means) if mean == max(means)]
        return self._root.moves[self._role][self._random.choice(best)]

    def root_statistics(self) -> tuple[list[Move], list[int], list[float]]:
        """Our role's moves at the root, how often each was selected, and its summed rewards."""
        root, role = self._root, self._role
        return list(root.moves[role]), list(root.counts[role]), list(root.rewards[role])

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return {"simulations": self._simulations, "root_visits": self._root.visits}

    def _child(self, joint_move: JointMove) -> tuple[State, _Node] | None:
        """What the tree knows of a joint move (which may be an illegal one) at the root."""
        choices = list(zip(self._root.moves, joint_move, strict=False))
        if self._root.goals is not None or not all(move in moves for moves, move in choices):
            return None
        return self._root.children.get(tuple(moves.index(move) for moves, move in choices))

    def _node(self, state: State) -> _Node:
        """A state's node; one in which a role has no move (faulty rules) counts as terminal."""
        terminal = self._machine.is_terminal(state)
        moves = [] if terminal else self._moves(state)
        goals = self._machine.goals(state) if terminal or not all(moves) else None
        return _Node(moves, [[0] * len(m) for m in moves], [[0.0] * len(m) for m in moves], goals)

    def _moves(self, state: State) -> list[tuple[Move, ...]]:
        return [self._machine.legal_moves(state, role) for role in range(len(self._machine.roles))]

    def _simulate(self, deadline: float) -> bool:
        """Selection, expansion, playout, backpropagation; False where the time ran out in it."""
        state, node = self._state, self._root
        path: list[tuple[_Node, tuple[int, ...]]] = []
        while node.goals is None and len(path) < self._agent.number("depth"):
            picks = tuple(self._select(node, role) for role in range(len(node.moves)))
            path.append((node, picks))
            if picks not in node.children:
                state = self._machine.next_state(state, self._joint(node, picks))
                node.children[picks] = (state, self._node(state))
                node = node.children[picks][1]
                break
            state, node = node.children[picks]
        goals = node.goals
        if goals is None:
            goals = self._playout(state, int(self._agent.number("depth")) - len(path), deadline)
        if goals is None:
            return False
        node.visits += 1
        for node, picks in path:
            node.visits += 1
            for role, pick in enumerate(picks):
                node.counts[role][pick] += 1
                node.rewards[role][pick] += goals[role] / 100
        return True

    def _select(self, node: _Node, role: int) -> int:
        counts, rewards = node.counts[role], node.rewards[role]
        if self._machine.roles[role] == CHANCE_ROLE:
            return self._random.randrange(len(counts))
        log_visits = math.log(max(1, node.visits))
        exploration, unvisited = self._agent.number("C"), self._agent.number("FPU")
        values = [
            r / n + exploration * math.sqrt(log_visits / n) if n else unvisited
            for n, r in zip(counts, rewards, strict=True)
        ]
        threshold = max(values) - self._agent.number("VO")
        return self._random.choice([i for i, v in enumerate(values) if v >= threshold])

    @staticmethod
    def _joint(node: _Node, picks: tuple[int, ...]) -> list[Move]:
        return [moves[pick] for moves, pick in zip(node.moves, picks, strict=True)]

    def _playout(self, state: State, steps: int, deadline: float) -> tuple[int, ...] | None:
        for _ in range(steps):
            if self._machine.is_terminal(state):
                break
            if time.monotonic() >= deadline:
                return None
            moves = self._moves(state)
            if not all(moves):
                break
            state = self._machine.next_state(state, [self._random.choice(m) for m in moves])
        return self._machine.goals(state)
