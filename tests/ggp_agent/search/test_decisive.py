"""Decisive moves: what playouts do with them, and what is proven by them in the tree."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ggp_agent.search.memory import NO_BLOCK
from ggp_agent.search.tree import FRESH, SOLVED, TERMINAL
from tests.conformance import wins_by_rules
from tests.ggp_agent.search.positions import SEQUENTIAL, machine_of, native, position, search_on

LINE = "(mark 1 1 x) (mark 1 3 o) (mark 2 3 o)"
"""o is to complete a line at 3 3."""


@pytest.mark.parametrize("policy", ["uniform", "mast", "gibbs"])
def test_whoever_can_win_does_under_every_policy(policy: str) -> None:
    """After any move of x but the one in between, o completes its line in every playout."""
    search = native("ticTacToe", playout=policy, decisive="wins", FPU=2.0, **SEQUENTIAL)
    search_on(search, position("ticTacToe", f"{LINE} (control x)"), 12)
    totals = {move.move: move.total for move in search.root_moves() if move.visits}
    assert len(totals) == 6
    assert totals.pop(("place", "3", "3")) > 0
    assert not any(totals.values())


# Decision 55
def test_new_states_in_which_somebody_wins_at_once_are_proven() -> None:
    search = native("ticTacToe", decisive="wins", solver="on", simulations=3000)
    search_on(search)
    tree, machine = search.tree, machine_of("ticTacToe")
    kinds = tree.nodes["kind"][: int(tree.counters[FRESH])]
    winners = 0
    for node in range(len(kinds)):
        if kinds[node] in (SOLVED, TERMINAL):
            continue
        state = tree.states[node].tobytes()
        if node != search._root and not machine.is_terminal(state):
            mover = int(tree.nodes["mover"][node])
            winners += (
                bool(wins_by_rules(machine, state, mover)) and tree.scores[node, mover, 0] < 100
            )
    assert winners == 0
    assert (kinds == SOLVED).any()


def test_a_move_that_lets_the_other_win_is_closed_at_once() -> None:
    """All replies to a line of two but the one in its way are lost, and soon get no more visits."""
    state = position("ticTacToe", "(mark 1 1 x) (mark 2 1 x) (mark 1 3 o) (control o)")
    search = native("ticTacToe", 1, decisive="wins", solver="on", FPU=2.0, **SEQUENTIAL)
    search_on(search, state, 1000)
    for move in search.root_moves():
        if move.move != ("place", "3", "1"):
            assert (move.low, move.high) == (0, 0)
            assert move.visits <= 9


def test_the_root_finds_the_move_that_its_proof_stands_for() -> None:
    search = native("ticTacToe", 0, decisive="wins", solver="on", FPU=2.0, **SEQUENTIAL)
    before = position("ticTacToe", "(mark 1 1 x) (mark 2 1 x) (mark 1 3 o) (control o)")
    search_on(search, before, 50)
    machine = machine_of("ticTacToe")
    joint = ("noop", ("place", "2", "3"))
    search.enter(machine.next_state(before, joint), joint)
    assert search.trace().low == 100
    search_on(search, simulations=100)
    assert search.choose() == ("place", "3", "1")


DICE = """
    (role random) (role a) (role b) (init (turn random)) (number 1) (number 2)
    (<= (legal random (roll ?n)) (true (turn random)) (number ?n))
    (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
    (<= (legal ?r (take ?n)) (true (turn ?r)) (distinct ?r random) (number ?n))
    (<= (next (turn a)) (true (turn random)) (does random (roll 1)))
    (<= (next (turn b)) (true (turn random)) (does random (roll 2)))
    (<= (next (won ?r)) (does ?r (take 2))) (<= (next (lost ?r)) (does ?r (take 1)))
    (<= over (true (won ?r))) (<= over (true (lost ?r))) (<= terminal over)
    (<= (goal ?r 100) (true (won ?r)) (distinct ?r random))
    (<= (goal a 100) (true (lost b))) (<= (goal b 100) (true (lost a)))
    (<= (goal a 0) (true (lost a))) (<= (goal b 0) (true (lost b)))
    (<= (goal a 0) (true (won b))) (<= (goal b 0) (true (won a))) (goal random 100)
"""


def test_who_wins_takes_from_the_rival_not_from_chance() -> None:
    search = native(DICE, 1, decisive="wins", solver="on", FPU=2.0, **SEQUENTIAL)
    search_on(search, simulations=60)
    tree = search.tree
    solved = np.flatnonzero(tree.nodes["kind"][: int(tree.counters[FRESH])] == SOLVED)
    assert len(solved)
    for node in solved:
        mover = int(tree.nodes["mover"][node])
        assert tree.scores[node, mover].tolist() == [100, 100]
        assert tree.scores[node, 3 - mover].tolist() == [0, 0]


@pytest.mark.parametrize("game", ["ticTacToe", "connectFour", "breakthrough", "connectFive"])
def test_what_is_proven_is_so(game: str) -> None:
    """A node that was solved for its mover as it was added has a move by which it wins."""
    machine, dice = machine_of(game), random.Random(5)
    search = native(game, decisive="blocks", solver="on", FPU=2.0, memory=64)
    checked = 0
    for _ in range(8):
        line, state = [], machine.initial_state
        while not machine.is_terminal(state):
            line.append(state)
            joint = [dice.choice(machine.legal_moves(state, role)) for role in range(2)]
            state = machine.next_state(state, tuple(joint))
        search_on(search, line[-min(5, len(line))], 2000)
        tree = search.tree
        kinds = tree.nodes["kind"][: int(tree.counters[FRESH])]
        for node in np.flatnonzero(kinds == SOLVED)[:100]:
            mover = int(tree.nodes["mover"][node])
            if tree.nodes["stats"][node] == NO_BLOCK and tree.scores[node, mover, 0] == 100:
                assert wins_by_rules(machine, tree.states[node].tobytes(), mover)
                checked += 1
    assert checked
