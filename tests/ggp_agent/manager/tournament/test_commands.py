"""The commands `tournament` and `results`, and the script that shows the same in Python."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

from gdl.errors import GgpError
from ggp_agent.cli import cli
from ggp_agent.manager.tournament.results import MatchResult, ResultsFile
from ggp_agent.mind.warming import warm_up

HEADER = {
    "name": "t",
    "games": {"nim": {"roles": ["first", "second"]}},
    "agents": [{"name": "a", "agent": "uct"}, {"name": "b", "agent": "random"}],
    "matches": 4,
    "sprt": [50, 60, 0.05, 0.05],
}


def written(directory: Path, name: str = "t") -> Path:
    """A folder with the results of four matches, three of them won by a."""
    file = ResultsFile(directory / "results.jsonl", {**HEADER, "name": name})
    for number, goals in enumerate(((100, 0), (0, 100), (100, 0), (100, 0))):
        seats = ("a", "b") if number % 2 == 0 else ("b", "a")
        match = f"{name}.nim.000{number // 2 + 1}.{'1-2' if seats[0] == 'a' else '2-1'}"
        file.append(
            MatchResult(
                match=match,
                game="nim",
                round=number // 2,
                seed=number,
                roles=("first", "second"),
                agents=seats,
                goals=goals,
                moves=9,
            )
        )
    file.close()
    return directory


def output(*arguments: str | Path) -> str:
    outcome = CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


class TestResults:
    def test_a_table_with_its_method_and_the_sequential_test(self, tmp_path: Path) -> None:
        text = output("results", written(tmp_path))
        assert "75.0 [30.1, 95.4]" in text  # Wilson's interval of 3 in 4
        assert "score interval" in text and "sequential test of a: undecided after 2 blocks" in text

    def test_several_files_add_up(self, tmp_path: Path) -> None:
        one, two = written(tmp_path / "1", "t1"), written(tmp_path / "2", "t2") / "results.jsonl"
        rows = json.loads(output("results", one, two, "--format", "json"))["rows"]
        assert [row["matches"] for row in rows] == [8, 8, 8, 8]

    @pytest.mark.parametrize("layout", ["summary", "games", "versus", "ratings"])
    @pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json"])
    def test_every_layout_in_every_format(self, tmp_path: Path, layout: str, form: str) -> None:
        text = output("results", written(tmp_path), "--table", layout, "--format", form)
        assert "a" in text and text.endswith("\n")

    def test_against_one_agent(self, tmp_path: Path) -> None:
        text = output(
            "results", written(tmp_path), "--table", "games", "--against", "b", "--format", "csv"
        )
        assert text.splitlines()[0] == "game,a,a_low,a_high"

    def test_what_is_wrong(self, tmp_path: Path) -> None:
        written(tmp_path / "1")
        written(tmp_path / "2")
        run = CliRunner().invoke
        same = run(cli, ["results", str(tmp_path / "1"), str(tmp_path / "2")])
        assert isinstance(same.exception, GgpError) and "twice" in str(same.exception)
        nobody = run(cli, ["results", str(tmp_path / "1"), "--against", "c"])
        assert nobody.exit_code == 2 and "there are a, b" in nobody.output
        ResultsFile(tmp_path / "3" / "results.jsonl", HEADER).close()
        empty = run(cli, ["results", str(tmp_path / "3")])
        assert isinstance(empty.exception, GgpError) and "no results yet" in str(empty.exception)


class TestTournament:
    @pytest.mark.parametrize(
        ("arguments", "what"),
        [
            ([], "there are no games"),
            (["--games", "nim", "--agents", "uct nobody"], "command line: agent nobody: unknown"),
            (["--games", "nim", "--agents", "uct random", "--alpha", "0.7"], "'alpha' must be"),
            (["--games", "nim", "--agents", "uct random", "--sprt", "60", "50"], "H0 < H1"),
            (["--resume", "/nowhere"], "cannot read /nowhere/results.jsonl"),
        ],
    )
    def test_wrong_settings_are_errors(self, arguments: list[str], what: str) -> None:
        outcome = CliRunner().invoke(cli, ["tournament", *arguments])
        assert isinstance(outcome.exception, GgpError)
        assert what in str(outcome.exception)

    def test_flags_go_before_the_config_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("c.toml").write_text('games = ["nim"]\nagents = ["random", "legal"]\nmatches = 50\n')
        rows = json.loads(
            output("tournament", "c.toml", "--matches=2", "--cores=1", "--format=json", "--quiet")
        )
        assert [row["matches"] for row in rows["rows"]] == [2, 2, 2, 2]
        assert len(list(Path("tournaments/c/records").iterdir())) == 2
        other = CliRunner().invoke(cli, ["tournament", "c.toml", "--scramble"])
        assert "scramble was False, now True" in str(other.exception)


def test_the_script_in_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    warm_up()  # or else every process compiles the kernels for itself
    runpy.run_path(str(Path(__file__).parents[4] / "docs" / "tournaments.py"))
    said = capsys.readouterr().out
    assert "36 of 36 matches" in said and "records of the matches: 36" in said
