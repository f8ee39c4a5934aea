"""Proven scores: sound against full game-tree search, and no win or loss in one move is missed."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest

from gdl.state_machine import JointMove, Move, State
from ggp_agent.agents import find_agent
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.tree import OPEN, SOLVED
from tests.ggp_agent.search.positions import (
    SEQUENTIAL,
    machine_of,
    native,
    nodes_of,
    position,
    search_on,
)

SOLVER = {"solver": "on"}


@cache
def minimax(game: str, state: State) -> tuple[int, ...]:
    """Every role's score where each role in turn plays for its own; games with one mover."""
    machine = machine_of(game)
    if machine.is_terminal(state):
        return machine.goals(state)
    moves = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
    mover = max(range(len(moves)), key=lambda role: len(moves[role]))
    scores = [minimax(game, machine.next_state(state, joint)) for joint in product(*moves)]
    return max(scores, key=lambda score: score[mover])


def bounds(search: NativeSearch) -> dict[State, list[tuple[int, int]]]:
    """Every role's proven bounds in all nodes."""
    tree = search._tree
    return {
        tree.states[n].tobytes(): [tuple(pair) for pair in tree.scores[n].tolist()]
        for n in range(int(tree.counters[1]))
        if tree.nodes["kind"][n] != 0
    }


# Decision 23
@pytest.mark.parametrize("settings", [SEQUENTIAL, {}], ids=["sequential", "batches"])
def test_bounds_of_a_two_player_game_hold_the_minimax_score(settings: dict[str, int]) -> None:
    game = "ticTacToe"
    start = position(game, "(control x) (mark 2 2 x) (mark 1 1 o) (mark 3 3 x) (mark 1 3 o)")
    search = native(game, simulations=8000, solver="on", C=1.0, **settings)
    search_on(search, start)
    proven = 0
    for state, pairs in bounds(search).items():
        score = minimax(game, state)
        for role, (low, high) in enumerate(pairs):
            assert low <= score[role] <= high
            proven += low == high
    assert proven > 40
    low, high = search.score_bounds()
    assert low == high == minimax(game, start)[0]


def test_a_finished_tree_stops_the_search() -> None:
    search = native("ticTacToe", simulations=10**6, solver="on", C=1.0)
    start = "(control x) (mark 2 2 x) (mark 1 1 o) (mark 3 3 x) (mark 1 3 o)"
    search_on(search, position("ticTacToe", start))
    assert search.trace().simulations < 10**5
    assert search._tree.nodes["kind"][search._root] in (OPEN, SOLVED)


def test_without_the_solver_nothing_is_proven() -> None:
    search = native("ticTacToe", simulations=3000)
    search_on(search)
    assert all(node.kind != SOLVED for node in nodes_of(search).values())
    assert search.trace().simulations == 3000
    for name in ("sp", "ap", "uct"):
        assert find_agent(name)["solver"] == "off"


def walk(game: str, seed: int, steps: int) -> State:
    """A state that random play reaches; never a terminal one."""
    machine, rng = machine_of(game), random.Random(seed)
    state = machine.initial_state
    for _ in range(steps):
        joint = [rng.choice(machine.legal_moves(state, r)) for r in range(len(machine.roles))]
        following = machine.next_state(state, joint)
        if machine.is_terminal(following):
            break
        state = following
    return state


def joint_moves(game: str, state: State) -> list[JointMove]:
    machine = machine_of(game)
    return list(product(*(machine.legal_moves(state, r) for r in range(len(machine.roles)))))


def wins_at_once(game: str, state: State, role: int) -> set[Move]:
    """The role's moves that end the game with 100 for it, whatever the others do."""
    machine, wins = machine_of(game), {}
    for joint in joint_moves(game, state):
        following = machine.next_state(state, joint)
        won = machine.is_terminal(following) and machine.goals(following)[role] == 100
        wins[joint[role]] = wins.get(joint[role], True) and won
    return {move for move, always in wins.items() if always}


@cache
def tactical_positions(game: str, steps: int, wanted: int) -> list[tuple[State, int, set[Move]]]:
    """(state, role to move, the only moves that are not blunders), found by search to depth 2."""
    machine, found = machine_of(game), []
    for seed in range(3000):
        state = walk(game, seed, steps + seed % 7)
        moves = [machine.legal_moves(state, role) for role in (0, 1)]
        role = 0 if len(moves[0]) > 1 else 1
        if len(moves[role]) < 2:
            continue
        wins = wins_at_once(game, state, role)
        if wins:
            found.append((state, role, wins))
        else:
            safe = {
                joint[role]
                for joint in joint_moves(game, state)
                if not wins_at_once_by_other(game, machine.next_state(state, joint), 1 - role)
            }
            if 0 < len(safe) < len(moves[role]) and not is_lost(game, state, role):
                found.append((state, role, safe))
        if len(found) == wanted:
            break
    return found


def is_lost(game: str, state: State, role: int) -> bool:
    """Whether nothing can save the role, as far as that can be known in a test."""
    return game == "ticTacToe" and minimax(game, state)[role] == 0


def wins_at_once_by_other(game: str, state: State, role: int) -> bool:
    machine = machine_of(game)
    if machine.is_terminal(state):
        return machine.goals(state)[role] == 100
    return bool(wins_at_once(game, state, role))


@pytest.mark.parametrize(("game", "steps"), [("ticTacToe", 3), ("connectFour", 8)])
@pytest.mark.parametrize("agent", ["uct", "sp", "ap", "default"])
def test_no_win_and_no_loss_in_one_move_is_missed(game: str, steps: int, agent: str) -> None:
    positions = tactical_positions(game, steps, 25)
    assert len(positions) == 25
    settings = find_agent(agent).settings
    for number, (state, role, good) in enumerate(positions):
        search = native(game, role, number, simulations=4000, **settings)
        search_on(search, state)
        chosen = search.choose()
        if chosen not in good:  # unless it wins later, which only our own agent minds
            assert agent != "default" and game == "ticTacToe"
            joint = ["noop", "noop"]
            joint[role] = chosen
            following = machine_of(game).next_state(state, joint)
            assert minimax(game, following)[role] == minimax(game, state)[role] == 100


SIMULTANEOUS = """
; Both choose at once.  `safe` brings 60 whatever the other does, `bold` 100 or 0.
(role left) (role right) (init start)
(legal left safe) (legal left bold) (legal right up) (legal right down)
(<= (next s) (does left safe)) (<= (next w) (does left bold) (does right up))
(<= (next l) (does left bold) (does right down))
(<= terminal (not (true start)))
(<= (goal left 60) (true s)) (<= (goal left 100) (true w)) (<= (goal left 0) (true l))
(<= (goal right 40) (true s)) (<= (goal right 0) (true w)) (<= (goal right 100) (true l))
"""


# Decision 23
def test_simultaneous_moves_prove_only_what_one_move_brings_whatever_the_others_do() -> None:
    left, right = (native(SIMULTANEOUS, role, simulations=300, solver="on") for role in (0, 1))
    search_on(left)
    search_on(right)
    assert left.score_bounds() == (60, 100)
    assert right.score_bounds() == (40, 100)
    assert left._tree.nodes["kind"][left._root] == OPEN


def test_rock_paper_scissors_is_never_proven() -> None:
    search = native("rockPaperScissors", simulations=20000, solver="on")
    search_on(search)
    assert search.trace().simulations == 20000
    low, high = search.score_bounds()
    assert low <= 50 <= high and low < high


GIFT = """
; `a` gives the prize to `b` or to `c`, which costs it nothing; nobody can be sure of it.
(role a) (role b) (role c) (init start)
(legal a b) (legal a c) (legal b noop) (legal c noop)
(<= (next (has ?p)) (does a ?p))
(<= terminal (not (true start)))
(goal a 50) (<= (goal ?p 100) (true (has ?p))) (<= (goal b 0) (true (has c)))
(<= (goal c 0) (true (has b)))
"""


# Decision 23
def test_three_roles_count_on_their_own_scores_only() -> None:
    found = []
    for role in range(3):
        search = native(GIFT, role, simulations=50, solver="on", **SEQUENTIAL)
        search_on(search)
        found.append(search.score_bounds())
    assert found == [(50, 50), (0, 100), (0, 100)]


COIN = """
; The gambler bets on a coin or takes 40; the coin is chance's.
(role random) (role gambler) (init start)
(legal random heads) (legal random tails)
(<= (legal gambler bet) (true start)) (<= (legal gambler take) (true start))
(<= (next w) (does gambler bet) (does random heads))
(<= (next l) (does gambler bet) (does random tails)) (<= (next t) (does gambler take))
(<= terminal (not (true start))) (goal random 0)
(<= (goal gambler 100) (true w)) (<= (goal gambler 0) (true l)) (<= (goal gambler 40) (true t))
"""


# Decision 23
def test_chance_may_do_anything() -> None:
    search = native(COIN, 1, simulations=400, solver="on", C=0.7)
    search_on(search)
    assert search.score_bounds() == (40, 100)
    assert search.choose() == "bet"  # worth 50 on average
