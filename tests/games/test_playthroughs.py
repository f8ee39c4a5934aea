"""Kept random games as text: any change of what a rule sheet means shows here."""

from __future__ import annotations

import pytest

from ggp_agent.library.board_descriptions import LINE_WIDTH
from ggp_agent.library.games import find_game
from ggp_agent.library.playthroughs import playthrough
from tests.games.machines import GOLDEN, KEYS, machine_of


def _lines(key: str, seed: int) -> list[str]:
    game = find_game(key)
    return list(playthrough(machine_of(key), game.rule_sheet(), seed, game.board))


@pytest.mark.parametrize("key", KEYS)
def test_the_game_is_played_as_it_was(key: str) -> None:
    """If the rules were meant to change: see CONTRIBUTING.md for the command."""
    lines = (GOLDEN / "playthroughs" / f"{key}.txt").read_text(encoding="utf-8").splitlines()
    assert _lines(key, 1) == lines
    assert lines[-1].startswith("The game is over: ")


def test_a_playthrough_depends_on_its_seed_alone() -> None:
    assert _lines("connectFour", 5) == _lines("connectFour", 5) != _lines("connectFour", 6)


def test_long_lists_of_moves_are_wrapped() -> None:
    lines = _lines("chess", 2)
    assert any(line.startswith("  (move") for line in lines)
    assert max(map(len, lines)) <= LINE_WIDTH
