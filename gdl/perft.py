"""Perft: count the joint-move sequences of each length, to compare reasoners and rule sheets.

The name and the habit are chess programming's ("performance test", the number of leaf nodes of the
move tree).  Equal states are counted together, so that transpositions cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress, product
from typing import NamedTuple

from gdl.state_machine import JointMove, State, StateMachine

BATCH = 512
"""States whose successors are computed together."""


class PerftLine(NamedTuple):
    """The sequences of `depth` joint moves from the initial state; terminal states end them."""

    depth: int
    sequences: int
    terminal: int
    """how many of them end in a terminal state"""
    states: int
    """the different states at their ends"""

    def __str__(self) -> str:
        return f"{self.depth} {self.sequences} {self.terminal}"


def perft(machine: StateMachine, depth: int) -> Iterator[PerftLine]:
    """One line per depth from 1; stops early where all games have ended."""
    initial = machine.initial_state
    reached: Counter[State] = Counter() if machine.is_terminal(initial) else Counter({initial: 1})
    for length in range(1, depth + 1):
        following: Counter[State] = Counter()
        for states in _batches(list(reached)):
            for origin, state in _successors(machine, states):
                following[state] += reached[origin]
        if not following:
            return
        different = list(following)
        ended = set(compress(different, machine.are_terminal(different)))
        terminal = sum(following[state] for state in ended)
        yield PerftLine(length, following.total(), terminal, len(following))
        reached = Counter({s: count for s, count in following.items() if s not in ended})


def _batches(states: Sequence[State]) -> Iterator[Sequence[State]]:
    for first in range(0, len(states), BATCH):
        yield states[first : first + BATCH]


def _successors(machine: StateMachine, states: Sequence[State]) -> Iterator[tuple[State, State]]:
    """Pairs of a state and the one that follows by a joint move, for all legal joint moves."""
    legal = [machine.legal_moves_of(states, role) for role in range(len(machine.roles))]
    origins: list[State] = []
    joint_moves: list[JointMove] = []
    for state, moves in zip(states, zip(*legal, strict=True), strict=True):
        for joint_move in product(*moves):
            origins.append(state)
            joint_moves.append(joint_move)
    return zip(origins, machine.next_states(origins, joint_moves), strict=True)
