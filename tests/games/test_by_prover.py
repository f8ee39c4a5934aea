"""Small games against themselves in Python, by a prover that is as simple as can be.

Along random games both must agree on legal moves, the end and the goals, and the fluents and moves
must be in `base` and `input`.  These tests stand on nothing but `gdl.rules`.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from gdl.rules import Term, arguments_of
from gdl.state_machine import order
from ggp_agent.library.games import find_game
from tests.games.references import PYTHON_GAMES, EightPuzzle, LineGame, PythonGame, won
from tests.naive import Prover

PLAYOUTS = {
    "breakthrough": 2,
    "connectFour": 5,
    "eightPuzzle": 3,
    "nim": 10,
    "rockPaperScissors": 20,
    "ticTacToe": 30,
    "ticTacToe3Player": 6,
}
"""How many random games are compared."""


@pytest.mark.parametrize("key", PLAYOUTS)
def test_rule_sheets_play_as_the_game_does(key: str) -> None:
    game = PYTHON_GAMES[key]
    prover = Prover(find_game(key).rule_sheet())
    for seed in range(PLAYOUTS[key]):
        _compare(prover, game, random.Random(seed))


@pytest.mark.parametrize(
    ("key", "relation"),
    [("connectFour", "disc"), ("ticTacToe", "mark"), ("ticTacToe3Player", "mark")],
)
def test_every_line_wins_and_a_line_with_a_hole_does_not(key: str, relation: str) -> None:
    """Random games reach too few of the lines."""
    game = PYTHON_GAMES[key]
    assert isinstance(game, LineGame)
    prover = Prover(find_game(key).rule_sheet())
    for number, line in enumerate(game.lines):
        winner = number % game.roles
        pieces = [(relation, str(x + 1), str(y + 1), prover.roles[winner]) for x, y in line]
        whole, holed = frozenset[Term](pieces), frozenset[Term](pieces[:1] + pieces[2:])
        assert prover.is_terminal(whole)
        assert prover.goals(whole) == [{str(goal)} for goal in won(winner, game.roles, 0)]
        assert not prover.is_terminal(holed)


@pytest.mark.parametrize(("survivor", "goals"), [("white", ["100", "0"]), ("black", ["0", "100"])])
def test_a_side_without_pawns_has_lost(survivor: str, goals: list[str]) -> None:
    prover = Prover(find_game("breakthrough").rule_sheet())
    both = frozenset[Term]({("pawn", "d", "4", "white"), ("pawn", "e", "5", "black")})
    assert not prover.is_terminal(both)
    alone = frozenset(pawn for pawn in both if pawn[-1] == survivor)
    assert prover.is_terminal(alone)
    assert prover.goals(alone) == [{goal} for goal in goals]


def test_the_eight_puzzle_can_be_solved_in_eighteen_moves() -> None:
    game = EightPuzzle()
    prover = Prover(find_game("eightPuzzle").rule_sheet())
    solution = _shortest_solution(game)
    assert len(solution) == 18
    state = frozenset(prover.all(("init", "?answer")))
    for tile in solution:
        assert not prover.is_terminal(state)
        state = frozenset(prover.all(("next", "?answer"), state, ("slide", tile)))
    assert prover.is_terminal(state)
    assert prover.goals(state) == [{"100"}]


def _compare(prover: Prover, game: PythonGame, rng: random.Random) -> None:
    """Play one random game on both sides, and hold fluents and moves against base and input."""
    base = prover.all(("base", "?answer"))
    inputs = [prover.all(("input", role, "?answer")) for role in prover.roles]
    fluents, state = frozenset(prover.all(("init", "?answer"))), game.initial
    while True:
        assert fluents <= base
        assert prover.goals(fluents) == [{str(goal)} for goal in game.goals(state)]
        assert prover.is_terminal(fluents) == game.is_terminal(state)
        if game.is_terminal(state):
            break
        legal = prover.legal(fluents)
        assert legal == game.legal(state)
        assert all(legal), "a role without a legal move"
        assert all(moves <= known for moves, known in zip(legal, inputs, strict=True))
        joint_move = tuple(_choice(rng, moves) for moves in legal)
        fluents = frozenset(prover.all(("next", "?answer"), fluents, *joint_move))
        state = game.next(state, joint_move)


def _choice(rng: random.Random, moves: set[Term]) -> Term:
    return rng.choice(sorted(moves, key=order))


def _shortest_solution(game: EightPuzzle) -> list[str]:
    """Breadth first, the step count left aside."""
    paths: dict[Any, list[str]] = {game.initial[0]: []}
    for tiles in (queue := [game.initial[0]]):
        if game.is_terminal((tiles, 0)):
            return paths[tiles]
        for move in sorted(game.legal((tiles, 0))[0]):
            following, _ = game.next((tiles, 0), (move,))
            if following not in paths:
                paths[following] = [*paths[tiles], str(arguments_of(move)[0])]
                queue.append(following)
    raise AssertionError("there is no solution")
