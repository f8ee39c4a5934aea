"""`ggp-agent games`, `show` and `playthrough`, and the page of the documentation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ggp_agent.cli import cli
from ggp_agent.cli import games as commands
from ggp_agent.library.games import find_game, games
from tests.games.machines import KEYS, machine_of

PAGE = Path(__file__).parents[2] / "docs" / "games.md"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def keys(*arguments: str) -> list[str]:
    result = run("games", *arguments)
    assert result.exit_code == 0
    return [line.split()[0] for line in result.stdout.splitlines()]


def test_games_are_filtered() -> None:
    assert keys() == list(KEYS)
    assert keys("--roles", "3") == [g.key for g in games() if g.roles == 3]
    assert keys("--kind", "simultaneous") == [g.key for g in games() if g.kind == "simultaneous"]
    assert keys("--general-sum", "--roles", "2", "--kind", "turn-taking") == [
        "gridGame2",
        "skirmish",
    ]
    assert keys("CHESS", "knights") == ["knightthrough", "maxKnights"]
    assert keys("no game has this in it") == []


def test_that_there_is_no_such_game_is_said() -> None:
    assert "no such game" in run("games", "--roles", "99").stderr
    assert run("games", "--roles", "99", "--json").output == ""


def test_the_page_of_the_documentation_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """If not: `ggp-agent games --page > docs/games.md`."""
    # the machines that other tests have made already
    sheets = {find_game(key).rule_sheet().source: key for key in KEYS}
    monkeypatch.setattr(
        commands, "state_machine", lambda sheet, _: machine_of(sheets[sheet.source])
    )
    result = run("games", "--page")
    assert result.exit_code == 0
    assert result.stdout == PAGE.read_text(encoding="utf-8")


def test_show_draws_the_start_position() -> None:
    result = run("show", "connectFour")
    assert result.exit_code == 0
    assert "Milton Bradley" in result.stdout
    assert "6  . . . . . . .\n" in result.stdout
    assert "control: red" in result.stdout


def test_show_plays_random_moves() -> None:
    first, second = (run("show", "ticTacToe", "--steps", "4", "--seed", "3") for _ in range(2))
    assert first.stdout == second.stdout
    assert first.stdout.count("X") == first.stdout.count("O") == 2
    assert "after 4 random moves, seed 3" in first.stdout


def test_show_ends_with_the_game() -> None:
    result = run("show", "ticTacToe", "--steps", "100", "--seed", "3", "--json")
    position = json.loads(result.stdout)["position"]
    assert position["terminal"] is True
    assert 5 <= position["step"] <= 9
    assert sum(position["goals"]) == 100


def test_show_draws_any_sheet(tmp_path: Path) -> None:
    sheet = tmp_path / "one.kif"
    sheet.write_text(
        "(role you) (init (cell 1 1 x)) (init (cell 2 2 o)) (init on) (legal you stop)"
        "(<= terminal (not (true on))) (goal you 100)"
    )
    result = run("show", str(sheet))
    assert result.exit_code == 0
    assert "2  . o\n1  x .\n   1 2\n" in result.stdout


def test_playthrough_is_that_of_either_reasoner() -> None:
    arguments = ("playthrough", "nim", "--seed", "4")
    result = run(*arguments)
    assert result.exit_code == 0
    assert result.stdout.startswith("; a random game, seed 4\n\nState 0\n")
    assert run(*arguments, "--reasoner", "prolog").stdout == result.stdout


@pytest.mark.parametrize("command", ["show", "playthrough"])
def test_an_unknown_game_is_an_error(command: str) -> None:
    assert run(command, "nonsense").exit_code != 0
