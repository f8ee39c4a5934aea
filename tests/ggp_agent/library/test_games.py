"""The library finds its games and those at a path; `tests/games` looks at the games themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import RuleSheetError
from ggp_agent.errors import GameError
from ggp_agent.library.games import Game, find_game, games

SHEET = "(role you) (init on) (legal you stop) (<= terminal (not (true on))) (goal you 100)"


# ------------------------------------------------------------------------------- finding games


def test_the_library_has_our_games_sorted_by_key() -> None:
    keys = [game.key for game in games()]
    assert keys == sorted(keys, key=str.lower)
    assert {"connectFour", "nim", "ticTacToe"} <= set(keys)


@pytest.mark.parametrize("key", ["connectFour", "CONNECTFOUR", "connectfour"])
def test_a_key_is_found_in_any_case(key: str) -> None:
    assert find_game(key).key == "connectFour"


def test_a_close_key_is_suggested() -> None:
    with pytest.raises(GameError, match=r"conectfour.*did you mean connectFour.*ggp-agent games"):
        find_game("conectfour")


def test_an_unlike_key_gets_no_suggestion() -> None:
    with pytest.raises(GameError) as caught:
        find_game("zzzzzz")
    assert "did you mean" not in str(caught.value)
    assert "`ggp-agent games`" in str(caught.value)


def test_a_lone_rule_sheet_is_a_game_without_metadata(tmp_path: Path) -> None:
    sheet = tmp_path / "one.kif"
    sheet.write_text("\ufeff" + SHEET, encoding="utf-8")
    game = find_game(str(sheet))
    assert game == Game(key="one", name="one", path=sheet)
    assert game.text() == SHEET
    assert game.rule_sheet().roles == ("you",)


def test_a_rule_sheet_takes_the_metadata_that_name_it(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"rulesheet": "one.kif", "gameName": "One"})
    (folder / "two.kif").write_text(SHEET)
    assert find_game(str(folder / "one.kif")).name == "One"
    assert find_game(str(folder / "two.kif")).name == "two"


def test_a_folder_is_a_game(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"rulesheet": "one.kif", "description": "one.txt", "version": 3})
    (folder / "one.txt").write_text("Stop at once.\n")
    game = find_game(str(folder))
    assert (game.key, game.name, game.description) == ("myGame", "myGame", "Stop at once.")
    assert (game.roles, game.kind, game.constant_sum, game.board) == (None, None, None, None)


def test_a_folder_without_metadata_needs_a_single_rule_sheet(tmp_path: Path) -> None:
    with pytest.raises(GameError, match="no rule sheet"):
        find_game(str(tmp_path))
    (tmp_path / "one.kif").write_text(SHEET)
    assert find_game(str(tmp_path)).path == tmp_path / "one.kif"
    (tmp_path / "two.kif").write_text(SHEET)
    with pytest.raises(GameError, match="2 rule sheets"):
        find_game(str(tmp_path))


def test_a_description_may_stand_in_the_metadata_itself(tmp_path: Path) -> None:
    text = "Stop at once. " * 50
    folder = _folder(tmp_path, {"rulesheet": "one.kif", "description": text})
    assert find_game(str(folder)).description == text.strip()


@pytest.mark.parametrize(
    "name", ["", "nowhere/one.kif", "one.kif", "a" * 5000, "null\0character", os.devnull, "a\nb"]
)
def test_what_is_no_game_is_one_line(name: str) -> None:
    with pytest.raises(GameError) as caught:
        find_game(name)
    assert len(str(caught.value).splitlines()) == 1


def test_an_unreadable_rule_sheet_is_one_line(tmp_path: Path) -> None:
    sheet = tmp_path / "one.kif"
    sheet.write_text(SHEET)
    game = find_game(str(sheet))
    sheet.unlink()
    with pytest.raises(GameError, match=r"cannot read .*one\.kif: No such file"):
        game.rule_sheet()


def test_a_malformed_rule_sheet_says_where(tmp_path: Path) -> None:
    sheet = tmp_path / "one.kif"
    sheet.write_text("(role you)\n(role")
    with pytest.raises(RuleSheetError, match=r"one\.kif:2:1: unbalanced"):
        find_game(str(sheet)).rule_sheet()


@pytest.mark.parametrize(
    ("metadata", "complaint"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        ([], "must be a JSON object"),
        ({}, "'rulesheet' is missing"),
        ({"rulesheet": 7}, "'rulesheet' must be text"),
        ({"rulesheet": "other.kif"}, "'other.kif' is not a file"),
        ({"rulesheet": "."}, "'.' is not a file"),
        ({"rulesheet": "a\0b"}, "is not a file"),
        ({"gameName": ["One"]}, "'gameName' must be text"),
        ({"x-roles": "2"}, "'x-roles' must be a whole number"),
        ({"x-roles": True}, "'x-roles' must be a whole number"),
        ({"x-roles": 0}, "'x-roles' must be a whole number"),
        ({"x-kind": "chess-like"}, "'x-kind' must be one of turn-taking, simultaneous"),
        ({"x-constantSum": "yes"}, "'x-constantSum' must be true or false"),
        ({"x-board": 3}, "'x-board': must be an object"),
    ],
)
def test_broken_metadata_name_the_file_and_the_trouble(
    tmp_path: Path, metadata: Any, complaint: str
) -> None:
    if isinstance(metadata, dict) and metadata and "rulesheet" not in metadata:
        metadata = {"rulesheet": "one.kif", **metadata}
    folder = _folder(tmp_path, metadata)
    with pytest.raises(GameError) as caught:
        find_game(str(folder))
    message = str(caught.value)
    assert message.startswith(f"{folder / 'METADATA'}: ")
    assert complaint in message
    assert len(message.splitlines()) == 1


def _folder(tmp_path: Path, metadata: Any) -> Path:
    folder = tmp_path / "myGame"
    folder.mkdir()
    (folder / "one.kif").write_text(SHEET)
    if isinstance(metadata, bytes):
        (folder / "METADATA").write_bytes(metadata)
    else:
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        (folder / "METADATA").write_text(text)
    return folder
