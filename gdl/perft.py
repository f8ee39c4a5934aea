"""Perft: count the joint-move sequences of each length, to compare reasoners and rule sheets.

The name and the habit are chess programming's ("performance test", the number of leaf nodes of the
move tree).  Equal states are counted together, so that transpositions cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from gdl.state_machine import State, StateMachine


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
        for state, count in reached.items():
            moves = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
            for joint_move in product(*moves):
                following[machine.next_state(state, joint_move)] += count
        if not following:
            return
        ended = {state for state in following if machine.is_terminal(state)}
        terminal = sum(following[state] for state in ended)
        yield PerftLine(length, following.total(), terminal, len(following))
        reached = Counter({s: count for s, count in following.items() if s not in ended})
