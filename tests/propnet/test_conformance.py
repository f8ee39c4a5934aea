"""Propnet and Prolog agree on whole games: our own, and public sheets where they are there."""

from __future__ import annotations

from contextlib import closing

import pytest

from gdl.grounding import WAYS, ground
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from ggp_agent.library.games import Game, games
from propnet.machine import PropnetStateMachine
from propnet.network import compile_network
from tests.conformance import assert_agree, shared_sheet

SHARED = {
    "ticTacToe": (3, 20),
    "connectFour": (2, 50),
    "breakthrough": (1, 80),
    "chinook": (1, 30),
    "battle": (2, 30),
    "ttcc4": (1, 40),
    "tictactoe_3player": (2, 40),
    "pentago": (2, 40),
    "reversi": (1, 80),
    "eightPuzzle": (1, 40),
    "quad_7x7": (1, 20),
    "cubicup_3player": (1, 90),
}
"""Name → playouts and steps each; as many as take a few seconds with Prolog."""

SMALL = {"breakthrough", "connectFour", "eightPuzzle", "nim", "rockPaperScissors", "ticTacToe"}

SLOW = {"pancakes88": (1, 30), "chineseCheckers3": (1, 60), "linesOfAction": (1, 10)}


def _agree(sheet: RuleSheet, playouts: int, steps: int) -> int:
    propnet = PropnetStateMachine.from_rules(sheet, seconds=240)
    with closing(PrologStateMachine(sheet, seconds=120)) as prolog:
        return assert_agree(propnet, prolog, playouts=playouts, steps=steps)


@pytest.mark.parametrize("game", games(), ids=lambda game: game.key)
def test_own_games(game: Game) -> None:
    """Prolog takes long for the larger ones; `tests/games` looks at them more closely."""
    playouts, steps = (2, 40) if game.key in SMALL else (1, 8)
    assert _agree(game.rule_sheet(), playouts, steps) > 2


@pytest.mark.parametrize("name", SHARED)
def test_shared_sheets(name: str) -> None:
    assert _agree(shared_sheet(name), *SHARED[name]) > 2


@pytest.mark.parametrize("name", SHARED)
def test_both_ways_of_grounding_give_the_same_game(name: str) -> None:
    sheet = shared_sheet(name)
    programs = [ground(sheet, seconds=240, ways=[way]) for way in WAYS]
    plain, magic = (PropnetStateMachine(compile_network(program)) for program in programs)
    assert assert_agree(plain, magic, playouts=2, steps=40) > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_large_shared_sheets(name: str) -> None:
    assert _agree(shared_sheet(name), *SLOW[name]) > 2
