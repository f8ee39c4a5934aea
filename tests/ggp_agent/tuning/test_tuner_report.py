"""What is reported of tuning: per move by the search, in match records, and by `tuning-report`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ggp_agent.agents import find_agent
from ggp_agent.cli import cli
from ggp_agent.errors import GameError
from ggp_agent.library.games import find_game
from ggp_agent.manager.record_validation import validate
from ggp_agent.manager.runner import MatchSetup, run_match
from ggp_agent.manager.tournament.in_process_player import InProcessPlayer
from ggp_agent.player.tuning_record import TuningRecord
from ggp_agent.search.native import NativeSearch
from ggp_agent.tuning.record_report import plot, read_role_reports
from ggp_agent.tuning.self_adaptive import adaptive
from tests.ggp_agent.search.positions import machine_of, search_on


def tuning_after(name: str, *settings: str) -> dict[str, Any]:
    """What 200 simulations of tic-tac-toe teach, 8 in flight."""
    agent = find_agent(name).with_settings(
        ["simulations=200", "in_flight=8", "ramp=0", "memory=16", *settings]
    )
    tuner = adaptive(agent, 2, 8, seed=1)
    search = NativeSearch(machine_of("ticTacToe").compiled, 0, agent, 1, tuner)
    search_on(search)
    report = json.loads(json.dumps(search.report()))
    assert report["simulations"] == 200
    return dict(report["tuning"])


def test_samples_and_means_of_values_and_combinations() -> None:
    tuning = tuning_after("ap-ntbea", "tune=K=0,100,Ref=0,50")
    assert (tuning["tuner"], tuning["parameters"]) == ("ntbea", ["K", "Ref"])
    assert len(tuning["roles"]) == 2
    for role in tuning["roles"]:
        assert role["samples"] == 200
        assert role["values"]["K"]["values"] == ["0", "100"]
        assert role["values"]["Ref"]["values"] == ["0", "50", "unused"]
        for table in (*role["values"].values(), role["combinations"]):
            assert sum(table["samples"]) == 200
            total = np.dot(table["samples"], table["means"])
            assert total == pytest.approx(200 * role["mean"], abs=5)
        table = role["combinations"]
        assert table["samples"] == sorted(table["samples"], reverse=True)
        assert set(table["values"]) <= {"K=0 Ref=unused", "K=100 Ref=0", "K=100 Ref=50"}
        assert role["favourite"] == table["values"][0]
    assert tuning["roles"][0]["mean"] + tuning["roles"][1]["mean"] == pytest.approx(100, abs=0.1)


def test_of_continuous_domains_the_distribution_is_reported() -> None:
    (first, second) = tuning_after("sp-cmaes", "tune=C,epsilon")["roles"]
    assert first["samples"] == second["samples"] == 200
    assert set(first["distribution"]) == {"C", "epsilon"}
    for parameter in first["distribution"].values():
        assert 0 <= parameter["middle"] <= 1
        assert 0.001 < parameter["spread"] < 2
    assert first["favourite"].startswith("C=")


def test_which_parameters_are_tuned_is_reported_from_move_to_move(tmp_path: Path) -> None:
    course = TuningRecord()
    for _ in range(3):
        course.add({"tuning": tuning_after("ap-choosing", "tune=4")})
    known = course.as_json()
    assert len(known["course_of_tuned"]) == 3
    names = set(known["course_of_tuned"][0][0].split())
    assert names <= {"K", "Ref", "C", "epsilon", "none"}
    record, trace = tmp_path / "record.json", tmp_path / "trace.jsonl"
    record.write_text(json.dumps({"x-tuning": {"0": known}, "playerNamesFromHost": ["me"]}))
    line = json.dumps({"match": "m", "role": "x", "number": 1, "tuning": course.last})
    trace.write_text(f"{line}\n{line}\n")
    for path, moves in ((record, "moves 1 to 3"), (trace, "moves 1 to 2")):
        shown = CliRunner().invoke(cli, ["tuning-report", "--no-plot", str(path)])
        assert shown.exit_code == 0, shown.output
        (report, _) = read_role_reports(path)
        (stretch,) = report.stretches()
        assert stretch[2] == f"{report.course[0]}; most tuned: {known['course_of_tuned'][0][0]}"
        assert f"{moves}: {stretch[2]}" in shown.output
        assert sum(samples for _, samples, _ in report.tables["how many tuned"]) == 200
        assert [name for name, _, _ in report.tables["tuned"]] == ["K", "Ref", "C", "epsilon"]


def test_without_tuning_nothing_is_reported() -> None:
    agent = find_agent("ap").with_settings(["simulations=20", "memory=16"])
    search = NativeSearch(machine_of("ticTacToe").compiled, 0, agent, 1)
    search_on(search)
    assert "tuning" not in search.report()
    course = TuningRecord()
    course.add(search.report())
    assert course.as_json() == {}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of two tuned agents and its record."""
    folder = tmp_path_factory.mktemp("records")
    game = find_game("ticTacToe")
    sheet = game.rule_sheet()
    machine = machine_of("ticTacToe")
    setup = MatchSetup(
        match_id="tuned",
        game="ticTacToe",
        game_url="file:///ticTacToe/v0/",
        sheet=sheet,
        machine=machine,
        start_clock=60,
        play_clock=60,
        seed=1,
    )
    settings = ["simulations=100", "in_flight=4", "memory=16"]
    players = [
        InProcessPlayer(find_agent(name).with_settings(settings), sheet, machine, seed)
        for seed, name in enumerate(("sp-nmc", "ap-cmaes"))
    ]
    result = asyncio.run(run_match(setup, players))
    assert result.goals is not None
    return result.save(folder)


def test_records_have_the_course(record: Path) -> None:
    values = json.loads(record.read_text())
    assert validate(values) == []
    first, second = values["x-tuning"]["0"], values["x-tuning"]["1"]
    assert (first["tuner"], second["tuner"]) == ("nmc", "cmaes")
    assert len(first["course"]) >= 3
    assert all(len(favourites) == 2 for favourites in first["course"])
    assert first["roles"][0]["favourite"] == first["course"][-1][0]
    assert first["roles"][0]["samples"] == 100 * len(first["course"])


def test_the_report_prints_tables_and_draws(record: Path) -> None:
    result = CliRunner().invoke(cli, ["tuning-report", str(record)])
    assert result.exit_code == 0, result.output
    assert "sp-nmc as role 1, for role 2: nmc" in result.output
    assert "epsilon" in result.output
    assert "move" in result.output and "±" in result.output
    assert record.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    reports = json.loads(
        CliRunner().invoke(cli, ["tuning-report", "--no-plot", "--json", str(record)]).stdout
    )
    assert [t["tuner"] for t in reports] == ["nmc", "nmc", "cmaes", "cmaes"]


def test_traces_are_read_too(tmp_path: Path) -> None:
    lines = []
    for move, most in ((1, "C=0.1"), (2, "C=0.2"), (3, "C=0.2")):
        table = {"values": ["0.1", "0.2"], "samples": [move, 3], "means": [50.0, 60.0]}
        role = {"samples": move + 3, "mean": 55.0, "favourite": most, "values": {"C": table}}
        tuning = {"tuner": "mab", "parameters": ["C"], "roles": [role]}
        lines.append({"match": "m", "role": "x", "number": move, "tuning": tuning})
    lines.append({"match": "n", "role": "o", "number": 1})
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    (report,) = read_role_reports(path)
    assert report.tables == {"C": [("0.1", 3, 50.0), ("0.2", 3, 60.0)]}
    assert report.stretches() == [(1, 1, "C=0.1"), (2, 3, "C=0.2")]
    plot([report], tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    with pytest.raises(GameError, match="plot"):
        plot([report], tmp_path / "no" / "plot.png")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "neither"),
        ("{}", "nothing about tuning"),
        ('{"x-tuning": {"0": {}}, "playerNamesFromHost": ["a"]}', "can't be read"),
        ('{"x-tuning": {"7": {}}, "playerNamesFromHost": ["a"]}', "can't be read"),
        ("[1]", "can't be read"),
        ('{"tuning": {}, "match": "m", "role": "x"}', "can't be read"),
    ],
)
def test_what_can_not_be_read_is_an_error(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(GameError, match=words):
        read_role_reports(path)
