"""Exact search of puzzles: optimal by a plain reference, and honest about what is proven."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from gdl.rules import write_term
from ggp_agent.search.exact.counters import step_fluents
from ggp_agent.search.exact.goal_cost import cost_of
from ggp_agent.search.exact.relaxed import ANY, new_relaxed
from ggp_agent.search.exact.search import ExactSearch
from ggp_agent.search.exact.space import bytes_per_state
from propnet.machine import PropnetStateMachine
from propnet.vectors import LANES
from tests.ggp_agent.search.positions import machine_of
from tests.ggp_agent.search.puzzles import BUTTONS, LATE, QUEENS, best_of_all, random_puzzle

MEMORY = 2**24


def searched(game: str, memory: int = MEMORY) -> ExactSearch:
    search = ExactSearch(machine_of(game).compiled, memory)
    while not search.is_over:
        search.work()
    return search


def played(machine: PropnetStateMachine, search: ExactSearch) -> int:
    """The goal at the end of the search's line, by the state machine."""
    assert search.line is not None
    state = machine.initial_state
    for before, number in zip(search.line.states, search.line.moves, strict=True):
        assert state == before and not machine.is_terminal(state)
        move = machine.network.moves[0][number]
        assert move in machine.legal_moves(state, 0)
        state = machine.next_state(state, [move])
    assert machine.is_terminal(state)
    return machine.goals(state)[0]


@pytest.mark.parametrize(
    ("game", "goal"), [(BUTTONS, 100), (LATE, 70), (QUEENS, 100), ("statespace", 100)]
)
def test_the_best_line_is_found_and_proven(game: str, goal: int) -> None:
    search = searched(game)
    assert search.is_proven and search.line is not None
    assert search.line.goal == goal == played(machine_of(game), search)


# Decision 44
@pytest.mark.parametrize("seed", range(25))
def test_nothing_is_better_than_what_is_proven(seed: int) -> None:
    """Among these are puzzles in which it is of use to be late."""
    game = random_puzzle(seed)
    search = searched(game)
    assert search.is_proven and search.line is not None
    assert search.line.goal == best_of_all(game) == played(machine_of(game), search)


# Decision 45
def test_from_another_state_and_with_a_line_that_is_to_be_surpassed() -> None:
    machine, search = machine_of(BUTTONS), searched(BUTTONS)
    assert search.line is not None
    rest = search.line.after(1)
    search.start(rest.states[0])
    while not search.is_over:
        search.work()
    assert search.line is not None and len(search.line.moves) >= len(rest.moves)
    assert search.replayed(rest.states[0], rest.moves) == rest
    assert search.replayed(rest.states[0], rest.moves[:-1]) is None
    assert search.replayed(machine.initial_state, rest.moves) is None


def test_fluents_that_count_steps() -> None:
    for game, names in ((BUTTONS, "step"), (LATE, "step"), (QUEENS, "none")):
        machine = machine_of(game)
        steps = step_fluents(machine.layout)
        counted = [write_term(machine.network.fluents[i]) for i in np.flatnonzero(steps)]
        assert all(names in fluent for fluent in counted)
        assert len(counted) == sum("step" in write_term(f) for f in machine.network.fluents)


def test_a_fluent_that_comes_and_goes_counts_nothing() -> None:
    game = BUTTONS + "(init tick) (<= (next tock) (true tick)) (<= (next tick) (true tock))"
    game += "(<= (goal robot 50) (true tick) (true tock)) (<= terminal (true tock) (true tick))"
    machine = machine_of(game)
    names = [write_term(f) for f in machine.network.fluents]
    assert not any(step_fluents(machine.layout)[names.index(name)] for name in ("tick", "tock"))


def test_by_which_moves_fluents_can_change() -> None:
    machine = machine_of(QUEENS)
    relaxed = new_relaxed(machine.layout)
    moves = [write_term(move) for move in machine.network.moves[0]]
    for number, fluent in enumerate(machine.network.fluents):
        put = write_term(fluent).replace("queen", "put")
        off = relaxed.changers[relaxed.first[number] : relaxed.first[number + 1]]
        on = number + machine.layout.fluents
        assert [moves[k] for k in off if k != ANY] == [put]
        assert relaxed.first[on] == relaxed.first[on + 1]  # once there, a queen stays


def test_the_parts_of_a_goal() -> None:
    machine = machine_of(BUTTONS)
    layout = machine.layout
    highest = layout.goals[layout.goal_value == 100]
    cost = cost_of(layout, highest.tolist())
    assert len(cost.parts) == 3


def test_dead_ends_are_left_out() -> None:
    assert searched(QUEENS).dead > 0


def test_memory_is_limited() -> None:
    machine = machine_of("eightPuzzle")
    memory = 4 * LANES * bytes_per_state(len(machine.layout.initial))
    search = searched("eightPuzzle", memory)
    assert search.is_over and not search.is_proven
    assert search.states == 4 * LANES


def test_slices_make_no_difference() -> None:
    one, other = (ExactSearch(machine_of("lightsOut").compiled, MEMORY) for _ in range(2))
    while not one.is_over:
        one.work(1)
    while not other.is_over:
        other.work(1000)
    assert one.line == other.line and one.generated == other.generated


def test_a_table_that_grows_makes_no_difference() -> None:
    one, other = (ExactSearch(machine_of("eightPuzzle").compiled, MEMORY) for _ in range(2))
    while not one.is_over:
        one.work(20)
    for _ in range(3):
        other.work(20)
        other.grow()
    while not other.is_over:
        other.work(20)
    assert one.line == other.line and one.generated == other.generated


PLAIN = """
from ggp_agent.search.exact.search import ExactSearch
from tests.ggp_agent.search.positions import machine_of
from tests.ggp_agent.search.puzzles import BUTTONS, LATE
for game in (BUTTONS, LATE):
    search = ExactSearch(machine_of(game).compiled, 2**20)
    while not search.is_over:
        search.work()
    print(search.line.goal, *search.line.moves, search.expanded, search.generated)
"""


@pytest.mark.slow
def test_the_same_without_numba() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PLAIN],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
            timeout=280,
            check=True,
        ).stdout
        for off in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
