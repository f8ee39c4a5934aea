"""The command line: what it prints, what it returns, and what it says when something is wrong."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ggp_agent import cli
from ggp_agent.agents import AGENTS
from ggp_agent.library import games as library
from ggp_agent.manager.record_validation import validate
from ggp_agent.parameters import PARAMETERS
from ggp_agent.player.workers import MODULE as WORKER
from tests.ggp_agent.processes import (
    GUARD,
    command_line,
    descendants_of,
    is_running,
    own_children,
    wait_until,
)

COMMAND = "import sys; sys.argv[0] = 'ggp-agent'; from ggp_agent.cli import main; main()"


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def complaint(self) -> str:
        """The one line that a command that failed has written."""
        assert self.out == ""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("error: ")
        return self.err


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run a command line in this process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level

    def run(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["ggp-agent", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        captured = capsys.readouterr()
        assert isinstance(exit_.value.code, int)
        assert "Traceback" not in captured.err
        return Outcome(exit_.value.code, captured.out, captured.err)

    yield run
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("ggp_agent").setLevel(logging.NOTSET)


COMMANDS = [
    ("serve",), ("info",), ("warm",), ("match",), ("check",), ("perft",), ("bench",),
    ("bench", "simulate"), ("bench", "search"), ("games",), ("show",),
    ("playthrough",), ("agents",), ("analyze",), ("tuning-report",), ("bench", "tuning"),
    ("bench", "tactics"), ("bench", "find-tactics"),
]  # fmt: skip


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
    @pytest.mark.parametrize("option", ["--help", "-h"])
    def test_every_command_explains_itself(
        self, run: Run, command: tuple[str, ...], option: str
    ) -> None:
        outcome = run(*command, option)
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.startswith(f"Usage: ggp-agent {' '.join(command)}")
        assert len(outcome.lines) > 4

    def test_all_commands_are_listed(self, run: Run) -> None:
        outcome = run("--help")
        assert outcome.code == 0
        for command in COMMANDS:
            assert re.search(rf"^  {command[0]} +\w", outcome.out, re.MULTILINE)

    def test_without_a_command_the_help_is_shown(self, run: Run) -> None:
        outcome = run()
        assert outcome.code in (0, 2)
        assert (outcome.out + outcome.err).startswith("Usage: ggp-agent")
        assert "error" not in outcome.err

    def test_version(self, run: Run) -> None:
        assert re.search(r"\d+\.\d+", run("--version").out)

    @pytest.mark.parametrize(
        "arguments", [("nonsense",), ("match",), ("perft", "nim"), ("games", "--nonsense")]
    )
    def test_wrong_use_is_one_line_and_says_where_help_is(
        self, run: Run, arguments: tuple[str, ...]
    ) -> None:
        outcome = run(*arguments)
        assert outcome.code == 2
        assert "--help" in outcome.complaint


class TestLists:
    def test_games(self, run: Run) -> None:
        outcome = run("games")
        assert (outcome.code, outcome.err) == (0, "")
        assert [line.split()[0] for line in outcome.lines] == [g.key for g in library.games()]

    def test_games_as_json(self, run: Run) -> None:
        games = {game["key"]: game for game in map(json.loads, run("games", "--json").lines)}
        assert set(games) == {game.key for game in library.games()}
        assert games["ticTacToe3Player"]["roles"] == 3
        assert Path(games["nim"]["path"]).is_file()

    def test_agents(self, run: Run) -> None:
        outcome = run("agents")
        assert (outcome.code, outcome.err) == (0, "")
        for name in (*AGENTS, *PARAMETERS):
            assert re.search(rf"^  {name} ", outcome.out, re.MULTILINE)

    def test_agents_as_json(self, run: Run) -> None:
        listed = json.loads(run("agents", "--json").out)
        assert [agent["name"] for agent in listed["agents"]] == list(AGENTS)
        parameters = {parameter["name"]: parameter for parameter in listed["parameters"]}
        assert set(parameters) == set(PARAMETERS)
        assert (parameters["C"]["default"], parameters["C"]["high"]) == (0.2, 10.0)
        assert parameters["simulations"]["high"] is None  # JSON knows no infinity


class TestAgents:
    def test_one_agents_values(self, run: Run) -> None:
        outcome = run("agents", "ap")
        assert (outcome.code, outcome.err) == (0, "")
        assert re.search(r"^  selection +grave ", outcome.out, re.MULTILINE)
        assert "Table I" in outcome.out

    def test_an_unknown_agent(self, run: Run) -> None:
        outcome = run("agents", "alphaZero")
        assert outcome.code == 2 and "alphaZero" in outcome.err

    def test_json_has_the_tuners_domains(self, run: Run) -> None:
        listed = json.loads(run("agents", "--json").out)["parameters"]
        parameters = {parameter["name"]: parameter for parameter in listed}
        assert parameters["K"]["discrete"][-1] == "inf"
        assert (parameters["K"]["scope"], parameters["memory"]["scope"]) == ("simulation", "match")


class TestAnalyze:
    def test_shows_what_was_found(self, run: Run) -> None:
        moves = "((place 2 2) noop) (noop (place 2 1)) ((place 1 1) noop) (noop (place 3 3))"
        outcome = run(
            "analyze", "ticTacToe", "--moves", moves, "--set", "memory=64", "--seed", "1",
            "--set", "simulations=20000", "--set", "C=1", "--seconds", "60",
        )  # fmt: skip
        assert (outcome.code, outcome.err) == (0, "")
        assert "x to move" in outcome.out and "100..100" in outcome.out
        assert outcome.lines[-1].startswith("plays (place ")

    def test_as_json(self, run: Run) -> None:
        outcome = run(
            "analyze", "connectFour", "--agent", "ap", "--set", "memory=64", "--json",
            "--set", "simulations=500", "--seconds", "60", "--role", "red",
        )  # fmt: skip
        found = json.loads(outcome.out)
        assert found["simulations"] == 500 and found["game"] == "connectFour"
        assert sum(move["visits"] for move in found["moves"]) == 500
        assert found["variation"] and found["seed"] >= 0

    @pytest.mark.parametrize(
        ("arguments", "code", "word"),
        [
            (("--moves", "((place 9 9) noop)"), 1, "not legal"),
            (("--moves", "((place 1 1))"), 1, "2 moves"),
            (("--moves", "((place 1 1"), 2, "unbalanced"),
            (("--role", "z"), 1, "not a role"),
            (("--set", "C=99"), 2, "C=99"),
        ],
    )
    def test_what_it_refuses(
        self, run: Run, arguments: tuple[str, ...], code: int, word: str
    ) -> None:
        outcome = run("analyze", "ticTacToe", *arguments)
        assert outcome.code == code and word in outcome.err


class TestBenchSearch:
    @pytest.mark.parametrize("threads", [1, 2])
    def test_as_json(self, threads: int, run: Run) -> None:
        outcome = run(
            "bench", "search", "nim", "--agent", "sp", "--set", "memory=64", "--json",
            "--seconds", "0.05", "--positions", "2", "--seed", "1", "--set", f"threads={threads}",
        )  # fmt: skip
        assert (outcome.code, outcome.err) == (0, "")
        found = json.loads(outcome.out)
        keys = {"game", "agent", "nodes_per_s", "simulations_per_s", "simulations"}
        assert keys | {"tree_nodes", "peak_mb"} <= set(found)
        assert (found["game"], found["agent"], found["positions"]) == ("nim", "sp", 2)
        assert found["nodes_per_s"] > 0 and found["simulations"] > 0
        assert found["threads"] == threads


class TestBenchTactics:
    FEW = ("bench", "tactics", "--game", "ticTacToe", "--game", "NIM", "--set", "memory=64")

    def test_a_table_for_each_budget(self, run: Run) -> None:
        outcome = run(*self.FEW, "--simulations", "200", "--seconds", "0.01", "--seed", "1")
        assert (outcome.code, outcome.err) == (0, "")
        tables = outcome.out.split("| 200 simulations ")
        assert len(tables) == 2 and "| 0.01 s " in tables[0]
        for table in tables:
            assert re.search(r"\| ticTacToe +\|", table) and re.search(r"\| nim +\|", table)
            assert re.search(r"\| all games +\|.* \d+/24 .*\[\d+\.\d, \d+\.\d\]", table)

    def test_the_same_seed_gives_the_same_choices(self, run: Run) -> None:
        command = (*self.FEW, "--simulations", "100", "--seed", "7", "--json")
        found = run(*command).out
        assert run(*command).out == found
        attempts = [json.loads(line) for line in found.splitlines()]
        assert len(attempts) == 24 and {a["game"] for a in attempts} == {"ticTacToe", "nim"}
        assert all(0 < a["simulations"] <= 100 for a in attempts)

    @pytest.mark.parametrize("agent", ["random", "legal"])
    def test_an_agent_that_does_not_think(self, run: Run, agent: str) -> None:
        outcome = run("bench", "tactics", "--game", "nim", "--agent", agent, "--seed", "1")
        assert outcome.code == 0 and "| 1 s " in outcome.out

    @pytest.mark.parametrize(
        ("arguments", "code", "word"),
        [
            (("--game", "sudoku"), 1, "no positions of sudoku"),
            (("--game", "nonsense"), 1, "nonsense"),
            (("--seconds", "0"), 2, "--seconds"),
            (("--simulations", "0"), 2, "--simulations"),
            (("--set", "C=99"), 2, "C=99"),
        ],
    )
    def test_what_it_refuses(
        self, run: Run, arguments: tuple[str, ...], code: int, word: str
    ) -> None:
        outcome = run("bench", "tactics", *arguments)
        assert outcome.code == code and word in outcome.complaint

    def test_an_interruption_shows_what_was_found(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from ggp_agent.tactics.solving import Examination

        attempt, calls = Examination.attempt, []

        def interrupted(*arguments: Any) -> Any:
            calls.append(arguments)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return attempt(*arguments)

        monkeypatch.setattr(Examination, "attempt", interrupted)
        outcome = run(*self.FEW, "--simulations", "50", "--seed", "1")
        assert (outcome.code, outcome.err.strip()) == (130, "interrupted")
        assert re.search(r"\| all games +\|.* \d/2 ", outcome.out)

    def test_finding_some(self, run: Run, tmp_path: Path) -> None:
        few = ("bench", "find-tactics", "ticTacToe", "--count", "2", "--random-games", "6")
        printed = run(*few)
        assert printed.code == 0 and printed.err == "ticTacToe: 2 positions\n"
        assert [json.loads(line)["game"] for line in printed.lines] == ["ticTacToe"] * 2
        written = run(*few, "--folder", tmp_path)
        assert written.code == 0 and written.out == ""
        assert (tmp_path / "ticTacToe.jsonl").read_text() == printed.out

    def test_proving_the_suite_again(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        check = ("bench", "find-tactics", "ticTacToe", "--check")
        outcome = run(*check)
        assert (outcome.code, outcome.out) == (0, "ticTacToe: 12 positions looked at\n")
        monkeypatch.setattr("ggp_agent.cli.bench_tactics.is_proven", lambda *_: False)
        outcome = run(*check)
        assert outcome.code == 1 and "ticTacToe, line 12: not what is proven" in outcome.err
        assert outcome.err.endswith("error: 12 positions are wrong\n")


class TestCheck:
    def test_a_good_sheet(self, run: Run) -> None:
        outcome = run("check", "ticTacToe", library.find_game("nim").path)
        assert (outcome.code, outcome.err) == (0, "")
        assert len(outcome.lines) == 2
        assert "ok; roles x o" in outcome.lines[0]

    @pytest.mark.parametrize(
        ("text", "place", "word"),
        [
            ("(role x)\n(init (cell 1 1 b)\n", "2:1", "unbalanced"),
            ("(role x)\r\n\r\n   (init a))", "3:12", "unbalanced"),
            ("", "1:1", "no rules"),
            ("; only a comment\n", "1", "no rules"),
        ],
    )
    def test_a_broken_sheet_is_shown_with_its_place(
        self, run: Run, tmp_path: Path, text: str, place: str, word: str
    ) -> None:
        file = tmp_path / "broken.kif"
        file.write_bytes(text.encode())
        outcome = run("check", file)
        assert (outcome.code, outcome.out) == (1, "")
        first = outcome.err.splitlines()[0]
        assert f"{file}:{place}" in first and word in first

    def test_as_json(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "broken.kif"
        file.write_text("(role x")
        outcome = run("check", "--json", "ticTacToe", file)
        good, bad = map(json.loads, outcome.lines)
        assert outcome.code == 1
        assert (good["ok"], good["roles"], bad["ok"]) == (True, ["x", "o"], False)
        assert good["gates"] > 0

    def test_a_missing_file(self, run: Run, tmp_path: Path) -> None:
        outcome = run("check", tmp_path / "no.kif")
        assert outcome.code == 1
        assert "no such file" in outcome.complaint

    def test_a_directory_without_a_sheet(self, run: Run, tmp_path: Path) -> None:
        outcome = run("check", tmp_path)
        assert outcome.code == 1
        assert "no rule sheet" in outcome.complaint

    def test_a_file_that_may_not_be_read(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "x.kif"
        file.symlink_to(file)  # even for the superuser
        outcome = run("check", file)
        assert outcome.code == 1
        assert str(file) in outcome.complaint


class TestPerft:
    def test_both_reasoners_print_the_same_lines(self, run: Run) -> None:
        for game, depth in (("ticTacToe", "4"), ("rockPaperScissors", "2"), ("nim", "3")):
            propnet = run("perft", game, depth)
            prolog = run("perft", game, depth, "--reasoner", "prolog")
            assert (propnet.code, prolog.code) == (0, 0)
            assert propnet.out == prolog.out
            assert len(propnet.lines) == int(depth)

    def test_tic_tac_toe(self, run: Run) -> None:
        assert run("perft", "ticTacToe", "5").lines == [
            "1 9 0", "2 72 0", "3 504 0", "4 3024 0", "5 15120 1440",
        ]  # fmt: skip

    def test_as_json(self, run: Run) -> None:
        lines = list(map(json.loads, run("perft", "ticTacToe", "2", "--json").lines))
        assert lines[1] == {"depth": 2, "sequences": 72, "terminal": 0, "states": 72}

    def test_an_unknown_reasoner(self, run: Run) -> None:
        outcome = run("perft", "ticTacToe", "2", "--reasoner", "oracle")
        assert outcome.code == 2
        assert "oracle" in outcome.complaint

    def test_an_empty_file(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "empty.kif"
        file.touch()
        outcome = run("perft", file, "2")
        assert outcome.code == 1
        assert "empty" in outcome.complaint


class TestBench:
    def test_simulate_as_json(self, run: Run) -> None:
        outcome = run(
            "bench", "simulate", "ticTacToe", "nim", "--seconds", "0.05", "--runs", "2", "--json"
        )
        assert (outcome.code, outcome.err) == (0, "")
        first, second = map(json.loads, outcome.lines)
        assert (first["game"], second["game"]) == ("ticTacToe", "nim")
        numbers = (
            "gates edges parse_s ground_s network_s compile_s transitions_per_s threads "
            "transitions_per_s_min transitions_per_s_max transitions_per_cpu_s playouts_per_s "
            "mean_length peak_mb seed"
        )
        for key in numbers.split():
            assert isinstance(first[key], int | float), key
        assert first["kernel"] == "compiled" and first["compile_s"] > 0
        assert first["transitions_per_s_min"] <= first["transitions_per_s"]
        assert first["transitions_per_s"] <= first["transitions_per_s_max"]
        assert 5 <= first["mean_length"] <= 9
        assert sum(first["mean_goals"]) == pytest.approx(100)

    def test_simulate_with_the_interpreter_in_two_threads(self, run: Run) -> None:
        outcome = run(
            "bench", "simulate", "ticTacToe", "--kernel", "interpreted", "--threads", "2",
            "--seconds", "0.05", "--runs", "1", "--json",
        )  # fmt: skip
        result = json.loads(outcome.out)
        assert (result["kernel"], result["threads"], result["compile_s"]) == ("interpreted", 2, 0)

    def test_simulate_for_people(self, run: Run) -> None:
        short = ("--seconds", "0.02", "--runs", "1", "--width", "2")
        outcome = run("bench", "simulate", "ticTacToe", *short)
        assert (outcome.code, len(outcome.lines)) == (0, 2)
        assert outcome.lines[1].startswith("ticTacToe ")
        outcome = run("bench", "simulate", "ticTacToe", *short, "--markdown")
        head, rule, line = outcome.lines
        assert line.startswith("| ticTacToe | ")
        assert head.count("|") == rule.count("|") == line.count("|")

    def test_an_unknown_game(self, run: Run) -> None:
        outcome = run("bench", "simulate", "noSuchGame", "--json")
        assert outcome.code == 1
        assert "noSuchGame" in outcome.complaint


QUICK = ("--start-clock", "5", "--play-clock", "20")


class TestMatch:
    def test_between_two_agents(self, run: Run, tmp_path: Path) -> None:
        before = own_children()
        outcome = run(
            "match", "ticTacToe", "uct:simulations=50:memory=16", "random", *QUICK,
            "--start-clock", "1", "--record", tmp_path, "--seed", "7",
        )  # fmt: skip
        assert outcome.code == 0
        assert "0 errors, seed 7" in outcome.lines[-1]
        assert re.search(r"^Move 1: x \(place . .\)", outcome.out, re.MULTILINE)
        (file,) = tmp_path.glob("*.json")
        record = json.loads(file.read_text())
        assert validate(record) == []
        assert record["isCompleted"] and record["playerNamesFromHost"] == ["uct", "random"]
        assert own_children() <= before

    def test_the_result_only(self, run: Run, tmp_path: Path) -> None:
        outcome = run(
            "match", "eightPuzzle", "legal", *QUICK, "--record", tmp_path, "--quiet"
        )  # fmt: skip
        assert outcome.code == 0
        assert "legal scores" in outcome.out
        assert len(outcome.lines) == 3

    def test_as_json(self, run: Run, tmp_path: Path) -> None:
        outcome = run(
            "match", "rockPaperScissors", "random", "legal", *QUICK, "--record", tmp_path,
            "--json", "--scramble",
        )  # fmt: skip
        record = json.loads(outcome.out)
        path = Path(record.pop("x-record"))
        assert validate(record) == []
        assert json.loads(path.read_text())["matchId"] == record["matchId"]
        assert record["scrambled"] and record["isCompleted"]
        assert not any(any(row) for row in record["errors"])

    def test_the_same_seed_gives_the_same_match(self, run: Run, tmp_path: Path) -> None:
        moves = []
        for seed in ("3", "3", "4"):
            outcome = run(
                "match", "ticTacToe", "random", "random", *QUICK, "--record", tmp_path, "--json",
                "--seed", seed,
            )  # fmt: skip
            moves.append(json.loads(outcome.out)["moves"])
        assert moves[0] == moves[1] != moves[2]

    @pytest.mark.parametrize(
        ("arguments", "code", "words"),
        [
            (("ticTacToe", "random"), 1, ["2 player", "1 given"]),
            (("ticTacToe", "random", "random", "random"), 1, ["2 player", "3 given"]),
            (("ticTacTo", "random", "random"), 1, ["unknown game", "ticTacToe"]),
            (("no/such.kif", "random"), 1, ["no such file"]),
            (("ticTacToe", "random", "alphaZero"), 2, ["alphaZero", "uct, random, legal"]),
            (("ticTacToe", "random", "uct:C=99"), 2, ["C=99", "[0, 10]"]),
            (("ticTacToe", "random", "uct:fast"), 2, ["fast", "KEY=VALUE"]),
            (("ticTacToe", "random", "ftp://x"), 1, ["ftp://x", "http://HOST:PORT"]),
            (
                ("nim", "random", "random", "--start-clock", "0"),
                2,
                ["--start-clock", "more than 0"],
            ),
            (("nim", "random", "random", "--play-clock", "-1"), 2, ["--play-clock"]),
            (("nim", "random", "random", "--play-clock", "nan"), 2, ["--play-clock"]),
            (("nim", "random", "random", "--play-clock", "inf"), None, ["play", "clock"]),
            (("nim", "random", "random", "--seed", "-1"), 2, ["--seed"]),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
    )
    def test_what_cannot_be_played_is_one_line(
        self, run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int | None,
        words: list[str],
    ) -> None:  # fmt: skip
        outcome = run("match", *arguments, "--record", tmp_path)
        assert outcome.code == code if code is not None else outcome.code in (1, 2)
        assert all(word in outcome.complaint for word in words)
        assert list(tmp_path.iterdir()) == []

    def test_a_player_out_of_reach_is_one_line(self, run: Run, tmp_path: Path) -> None:
        url = f"http://127.0.0.1:{free_port()}"
        outcome = run("match", "ticTacToe", "random", url, "--record", tmp_path)
        assert outcome.code == 1
        assert url in outcome.complaint
        assert list(tmp_path.iterdir()) == []

    def test_a_record_that_cannot_be_written_is_one_line(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.touch()
        outcome = run("match", "nim", "legal", "legal", *QUICK, "--record", file / "below")
        assert outcome.code == 1
        assert "cannot write" in outcome.complaint

    def test_rules_where_a_role_gets_stuck_are_one_line(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "stuck.kif"
        file.write_text(
            "(role a) (init on) (<= (legal a go) (true on)) (<= (next off) (true on))"
            "(<= terminal (true over)) (<= (next over) (true never)) (goal a 0)"
        )
        outcome = run("match", file, "legal", *QUICK, "--record", tmp_path, "--quiet")
        assert outcome.code == 1
        assert "no legal move" in outcome.complaint

    def test_roles_that_rules_derive(self, run: Run, tmp_path: Path) -> None:
        """One role is a fact, the other isn't: there are two players."""
        file = tmp_path / "derived.kif"
        file.write_text(
            "(role a) (player b) (<= (role ?p) (player ?p)) (init 1) (<= (legal ?p go) (role ?p))"
            "(<= (next 2) (true 1)) (<= (next 3) (true 2)) (<= terminal (true 3))"
            "(<= (goal ?p 50) (role ?p))"
        )
        outcome = run("match", file, "legal", "random", *QUICK, "--record", tmp_path, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        record = json.loads(outcome.out)
        assert record["moves"] == [["go", "go"], ["go", "go"]]
        assert record["errors"] == [["", ""]] * 3


class TestServe:
    def test_a_port_in_use_is_one_line(self, run: Run) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            outcome = run("serve", "--host", "127.0.0.1", "--port", taken.getsockname()[1])
        assert outcome.code == 1
        (complaint,) = [line for line in outcome.err.splitlines() if line.startswith("error")]
        assert str(taken) not in complaint and "port" in complaint

    @pytest.mark.parametrize(
        "arguments",
        [
            ("--agent", "nobody"),
            ("--set", "C=99"),
            ("--set", "nothing"),
            ("--tune", "C"),
            ("--agent", "random", "--tuner", "nmc"),
            ("--port", "65536"),
        ],
        ids=" ".join,
    )
    def test_wrong_options_are_one_line(self, run: Run, arguments: tuple[str, ...]) -> None:
        outcome = run("serve", "--port", "0", *arguments)
        assert (outcome.code, outcome.out) == (2, "")
        complaint = outcome.err.splitlines()[-1]
        assert complaint.startswith("error: ") and complaint.endswith("--help`)")
        assert outcome.err.count("error: ") == 1 and "Traceback" not in outcome.err

    def test_info_without_a_server_is_one_line(self, run: Run) -> None:
        outcome = run("info", f"http://127.0.0.1:{free_port()}")
        assert outcome.code == 1
        assert "no player" in outcome.complaint


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Background:
    """A command in a process of its own, its output in a file; ends with the `with` block."""

    def __init__(self, folder: Path, *arguments: str | Path) -> None:
        self._log = folder / "log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, *map(str, arguments)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # signals of a test reach it alone
            )

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def output(self) -> str:
        return self._log.read_text()

    def has_said(self, text: str) -> bool:
        return wait_until(lambda: text in self.output or self.process.poll() is not None) and (
            text in self.output
        )

    def has_workers(self) -> bool:
        """Wait until it has started its first worker."""
        return wait_until(
            lambda: any(
                f"-m {WORKER}" in command_line(pid) for pid in descendants_of(self.process.pid)
            )
        )

    def end_by(self, number: signal.Signals, *, group: bool = False) -> int:
        """Send a signal; the exit code, after which no process of it may be left."""
        family = descendants_of(self.process.pid)
        assert family, "it has no workers"
        if group:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        code = self.process.wait(GUARD)
        assert wait_until(lambda: not any(map(is_running, family)), 20)
        assert "Traceback" not in self.output
        return code


@pytest.mark.slow
class TestSignals:
    @pytest.mark.parametrize("group", [True, False], ids=["terminal", "process"])
    def test_ctrl_c_aborts_a_match_and_keeps_its_record(self, tmp_path: Path, group: bool) -> None:
        """Ctrl-C at a terminal reaches the whole group, kill -INT the process alone."""
        records = tmp_path / "records"
        with Background(
            tmp_path, "match", "connectFour", "uct", "uct", "--start-clock", "1", "--play-clock",
            "5", "--record", records,
        ) as match:  # fmt: skip
            assert match.has_said("Move 1")
            assert match.end_by(signal.SIGINT, group=group) == 130
            assert match.output.splitlines()[-1] == "interrupted"
        (file,) = records.glob("*.json")
        record = json.loads(file.read_text())
        assert validate(record) == []
        assert record["isAborted"] and not record["isCompleted"]
        assert len(record["moves"]) >= 1

    def test_ctrl_c_before_the_match_begins(self, tmp_path: Path) -> None:
        with Background(
            tmp_path, "match", "connectFour", "uct", "uct", "--record", tmp_path / "records"
        ) as match:
            assert match.has_workers()
            assert match.end_by(signal.SIGINT, group=True) == 130
        assert not (tmp_path / "records").exists()

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_server_ends_cleanly(self, tmp_path: Path, number: signal.Signals) -> None:
        port = free_port()
        with Background(
            tmp_path, "serve", "--host", "127.0.0.1", "--port", str(port), "--name", "ann"
        ) as server:
            assert server.has_said("is ready on port")
            asked = subprocess.run(
                [sys.executable, "-c", COMMAND, "info", f"http://127.0.0.1:{port}"],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (asked.returncode, asked.stdout) == (0, "ann: available\n")
            assert server.end_by(number) == 0
            assert "is closing" in server.output

    def test_a_server_that_is_still_loading_ends_as_well(self, tmp_path: Path) -> None:
        with Background(tmp_path, "serve", "--port", str(free_port())) as server:
            assert server.has_workers()
            server.end_by(signal.SIGTERM)

    def test_a_killed_server_takes_its_workers_along(self, tmp_path: Path) -> None:
        with Background(tmp_path, "serve", "--port", str(free_port())) as server:
            assert server.has_said("is ready on port")
            assert server.end_by(signal.SIGKILL) == -signal.SIGKILL

    def test_output_that_nobody_reads_is_no_error(self, tmp_path: Path) -> None:
        """`ggp-agent games | head -1`."""
        done = subprocess.run(
            ["bash", "-c", f'"{sys.executable}" -c "$0" agents | head -1; exit ${{PIPESTATUS[0]}}',
             COMMAND],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout == "Agents:\n"
        assert done.stderr == ""
