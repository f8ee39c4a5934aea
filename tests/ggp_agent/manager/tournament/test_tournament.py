"""Whole tournaments: killed and resumed, with players that crash, hang or talk nonsense."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gdl.state_machine import State, StateMachine
from ggp_agent.errors import TournamentError, WorkerError
from ggp_agent.library.games import find_game
from ggp_agent.manager.record_validation import validate
from ggp_agent.manager.tournament import (
    MatchResult,
    Plan,
    check_settings,
    driver,
    make_plan,
    match_processes,
    read_results,
    run_tournament,
)
from ggp_agent.manager.tournament.contestants import Contestant
from ggp_agent.manager.tournament.in_process_player import InProcessPlayer
from ggp_agent.manager.tournament.match_commands import (
    COMMANDS,
    REPLIES,
    Command,
    Failed,
    Job,
    Reply,
    RunMatch,
    Step,
)
from ggp_agent.manager.tournament.summary import summarize
from ggp_agent.mind.warming import warm_up
from ggp_agent.protocol.messages import Play, Start
from ggp_agent.statistics import split_point
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.manager.tournament.rude_players import (
    hanging,
    heads,
    nonsense,
    polite,
    serving,
)
from tests.ggp_agent.processes import (
    GUARD,
    children_of,
    command_line,
    descendants_of,
    is_running,
    wait_until,
)

CHANGING = ("randomToken", "startTime", "stateTimes", "x-thinkingTimes")
"""What two runs of the same match have different."""

ONE_MOVE = """
(role a) (role b) (init start)
(<= (legal ?r heads) (role ?r)) (<= (legal ?r tails) (role ?r))
(<= (next over) (true start)) (<= (next same) (does a ?m) (does b ?m))
(<= terminal (true over))
(<= (goal a 100) (true same)) (<= (goal b 0) (true same))
(<= (goal a 0) (not (true same))) (<= (goal b 100) (not (true same)))
"""


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    warm_up()  # or else every process compiles them for itself


def plan_for(directory: Path, **values: Any) -> Plan:
    return make_plan(check_settings({"seed": 3, "directory": str(directory), **values}, "test"))


def played(plan: Plan, **more: Any) -> list[MatchResult]:
    async def run() -> list[MatchResult]:
        async with asyncio.timeout(GUARD):
            return await run_tournament(plan, **more)

    return asyncio.run(run())


def outcomes(directory: Path) -> dict[str, Any]:
    """Per match what must not depend on when and where it was played; records are validated."""
    found = {}
    results = read_results(directory / "results.jsonl")[1]
    for result in results:
        record = json.loads((directory / "records" / f"{result.match}.json").read_text())
        assert validate(record) == []
        same = {key: value for key, value in record.items() if key not in CHANGING}
        found[result.match] = (result.goals, result.agents, result.seed, same)
    assert len(found) == len(results), "a match is there twice"
    return found


@pytest.mark.slow
class TestInterruptions:
    GAMES = ("ticTacToe", "nim", "rockPaperScissors", "ticTacToe3Player")
    SIZE = 3 * 12 + 12

    def test_killed_three_times_is_as_if_nothing_had_happened(self, tmp_path: Path) -> None:
        whole, parts = tmp_path / "whole", tmp_path / "parts"
        settings = {"games": list(self.GAMES), "agents": ["random", "x=random"], "matches": 12}
        played(plan_for(whole, **settings))
        self.interrupted(parts, 5, signal.SIGKILL, cores=2)
        self.interrupted(parts, 15, signal.SIGKILL, cores=1)
        self.interrupted(parts, 25, signal.SIGINT, cores=1)
        left = self.command(parts, "--resume", str(parts), "--format", "json")
        text, _ = left.communicate(timeout=GUARD)
        assert left.returncode == 0
        assert len(outcomes(parts)) == self.SIZE
        assert outcomes(parts) == outcomes(whole)
        rows = json.loads(text)["rows"]
        assert [row["matches"] for row in rows if row["game"] == "all games"] == [48, 48]

    def interrupted(self, directory: Path, least: int, number: signal.Signals, cores: int) -> None:
        """Run the tournament until so many matches are done, and interrupt it."""
        games = ",".join(self.GAMES)
        run = self.command(
            directory,
            *("--games", games, "--agents", "random x=random", "--matches", "12"),
            *("--seed", "3", "--directory", str(directory), "--cores", str(cores)),
        )
        assert wait_until(lambda: self.lines(directory) > least)
        below = descendants_of(run.pid)
        run.send_signal(number)
        _, said = run.communicate(timeout=GUARD)
        assert self.lines(directory) <= self.SIZE, "it was done before"
        assert wait_until(lambda: not any(map(is_running, below)))
        if number == signal.SIGINT:
            assert run.returncode == 130
            assert f"resume with: ggp-agent tournament --resume {directory}" in said

    @staticmethod
    def command(directory: Path, *arguments: str) -> subprocess.Popen[str]:
        main = "from ggp_agent.cli import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", main, "tournament", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @staticmethod
    def lines(directory: Path) -> int:
        path = directory / "results.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def test_processes_that_die_cost_no_match(self, tmp_path: Path) -> None:
        """Their match is run again, with every agent in a process of its own."""
        killed: list[int] = []

        def kill_a_process(progress: driver.Progress) -> None:
            processes = [
                p for p in children_of(os.getpid()) if match_processes.PROGRAM in command_line(p)
            ]
            if progress.done == 2:
                killed.append(processes[0])
                os.kill(processes[0], signal.SIGKILL)

        plan = plan_for(tmp_path, games=["nim"], agents=["random", "legal"], matches=4, cores=1)
        results = played(plan, on_progress=kill_a_process)
        assert len(killed) == 1
        assert len(outcomes(tmp_path)) == len(results) == 4
        assert all(result.is_complete and not result.errors for result in results)


def test_the_win_percentage_agrees_with_the_exact_one(tmp_path: Path) -> None:
    """Random moves against the first legal one, in tic-tac-toe: all games weighed by chance."""
    plan = plan_for(tmp_path, games=["ticTacToe"], agents=["random", "legal"], matches=80, cores=1)
    results = played(plan)
    (line,) = [x for x in summarize(results) if (x.game, x.agent) == ("ticTacToe", "random")]
    machine = PropnetStateMachine.from_rules(find_game("ticTacToe").rule_sheet())
    exact = 50 * sum(_expected_points(machine, role) for role in (0, 1))
    assert line.win is not None and line.matches == 80
    assert line.win.low <= exact <= line.win.high
    assert line.win.high - line.win.low < 25


def _expected_points(machine: StateMachine, role: int) -> float:
    """The mean share of the role that moves at random, the other making the first legal move."""
    known: dict[State, float] = {}

    def value(state: State) -> float:
        if machine.is_terminal(state):
            return float(split_point(machine.goals(state))[role])
        if state not in known:
            first = machine.legal_moves(state, 1 - role)[0]
            means = []
            for move in machine.legal_moves(state, role):
                joint = (move, first) if role == 0 else (first, move)
                means.append(value(machine.next_state(state, joint)))
            known[state] = sum(means) / len(means)
        return known[state]

    return value(machine.initial_state)


def test_the_same_seed_gives_the_same_matches_move_for_move(tmp_path: Path) -> None:
    """With a fixed number of simulations, one in flight, on one core or two."""
    agents = ["a=uct:in_flight=1:memory=64", "b=uct:in_flight=1:C=0.6:memory=64"]
    settings = {"games": ["connectFour"], "agents": agents, "matches": 4, "simulations": 30}
    played(plan_for(tmp_path / "one", **settings, cores=1))
    played(plan_for(tmp_path / "two", **settings, cores=2))
    matches = outcomes(tmp_path / "one")
    assert matches == outcomes(tmp_path / "two")
    assert len({json.dumps(match[3]["moves"]) for match in matches.values()}) == 4
    results = read_results(tmp_path / "one" / "results.jsonl")[1]
    assert not any(result.cut_short for result in results)
    totals = [one for result in results for one in result.totals if one is not None]
    assert all(0 < one.simulations <= 30 * one.moves for one in totals)


@pytest.mark.slow
class TestRudePlayers:
    @pytest.fixture
    def game(self, tmp_path: Path) -> str:
        path = tmp_path / "oneMove.kif"
        path.write_text(ONE_MOVE)
        return str(path)

    def test_nonsense_and_hanging_cost_moves_only(self, tmp_path: Path, game: str) -> None:
        with serving(nonsense) as one, serving(hanging) as two:
            agents = [f"nonsense={one.url}", f"hanging={two.url}"]
            plan = plan_for(tmp_path / "t", games=[game], agents=agents, matches=2, play_clock=0.1)
            results = played(plan)
        assert [result.agents for result in results] == [
            ("nonsense", "hanging"),
            ("hanging", "nonsense"),
        ]
        assert [dict(result.errors) for result in results] == [
            {"TO": (0, 1), "IL": (1, 0)},
            {"TO": (1, 0), "IL": (0, 1)},
        ]
        assert all(result.is_complete and result.by_clock for result in results)

    def test_one_that_disappears_costs_its_moves_only(self, tmp_path: Path, game: str) -> None:
        with serving(heads) as server, serving(heads) as other:
            agents = [f"gone={server.url}", f"there={other.url}"]
            plan = plan_for(tmp_path / "t", games=[game], agents=agents, matches=4)

            def disappear(progress: driver.Progress) -> None:
                if progress.done == 2:
                    server.close()

            results = played(plan, on_progress=disappear)
        assert len(results) == 4 and all(result.is_complete for result in results)
        assert [sum(map(sum, result.errors.values())) for result in results] == [0, 0, 2, 2]
        assert {kind for result in results for kind in result.errors} == {"CE"}

    def test_one_that_is_not_there_at_the_start_is_an_error(
        self, tmp_path: Path, game: str
    ) -> None:
        with serving(polite) as server:
            url = server.url
        plan = plan_for(tmp_path / "t", games=[game], agents=[f"gone={url}", "random"], matches=4)
        with pytest.raises(Exception, match="no player at"):
            played(plan)

    def test_one_that_is_still_in_a_match_of_ours_is_told(self, tmp_path: Path, game: str) -> None:
        """The run before was killed, and has left the record of an unfinished match behind."""
        aborted = threading.Event()

        def busy(body: str) -> str:
            if "ABORT tournament.oneMove.0001.1-2" in body:
                aborted.set()
            if "INFO" in body and not aborted.is_set():
                return "( ( name x ) ( status busy ) )"
            return heads(body)

        with serving(busy) as server, serving(heads) as other:
            agents = [f"x={server.url}", f"y={other.url}"]
            plan = plan_for(tmp_path / "t", games=[game], agents=agents, matches=2)
            with pytest.raises(TournamentError, match="busy with another match"):
                played(plan)
            plan.records_path.mkdir()
            (plan.records_path / "tournament.oneMove.0001.1-2.json").write_text("{}")
            results = played(plan)
        assert len(results) == 2 and not any(result.errors for result in results)


def test_rules_that_cannot_be_played_end_their_matches_only(tmp_path: Path) -> None:
    stuck, fine = tmp_path / "stuck.kif", tmp_path / "fine.kif"
    stuck.write_text(
        ONE_MOVE.replace("(<= (legal ?r tails) (role ?r))", "").replace("?r heads", "a heads")
    )
    fine.write_text(ONE_MOVE)
    plan = plan_for(
        tmp_path / "t",
        games=[str(stuck), str(fine)],
        agents=["random", "legal"],
        matches=2,
        cores=1,
    )
    results = played(plan)
    assert [result.is_complete for result in results] == [False, False, True, True]
    assert "role b has no legal move" in results[0].aborted
    assert played(plan) == results, "they are not tried again"
    assert [line.matches for line in summarize(results) if line.game is None] == [2, 2]


def test_a_host_that_does_not_go_on_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        async def send(self, command: Command) -> None:
            assert isinstance(command, RunMatch)

        async def replies(self) -> AsyncIterator[Reply]:
            yield Step()
            await asyncio.Event().wait()

    monkeypatch.setattr(match_processes, "SETTLE_SECONDS", 0.05)
    job = Job(
        match_id="m",
        tournament="t",
        game="g",
        game_url="http://example.org/g/v0/",
        rules=ONE_MOVE,
        round=0,
        seed=1,
        seats=(),
        simulations=0,
        start_clock=0.01,
        play_clock=0.01,
        scramble=False,
        records="records",
        by_clock=False,
        isolated=False,
    )
    assert COMMANDS.read(COMMANDS.write(RunMatch(job))) == RunMatch(job)
    with pytest.raises(WorkerError, match=r"did not go on for 0\.06 s"):
        asyncio.run(match_processes.run_on(Silent(), job))  # type: ignore[arg-type]


def test_a_command_that_is_none_is_answered() -> None:
    done = subprocess.run(
        [sys.executable, "-m", match_processes.PROGRAM],
        input='{"kind": "Dance"}\n{"kind": "RunMatch", "job": {"match_id": "m"}}\nnonsense\n',
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    replies = [REPLIES.read(line) for line in done.stdout.splitlines()]
    assert [type(reply) for reply in replies] == [Failed, Failed, Failed]
    assert not any(isinstance(reply, Failed) and reply.hopeless for reply in replies)


class TestCoresAndTests:
    @pytest.mark.parametrize(
        ("agent", "matches"), [("uct", 2), ("uct:threads=3", 1), ("uct:threads=2:seconds=0.1", 2)]
    )
    def test_an_agent_that_thinks_by_the_clock_owns_its_cores(
        self, agent: str, matches: int, tmp_path: Path
    ) -> None:
        """Four cores, of which a match takes those of both agents; or the most, by budgets."""
        running: list[int] = []
        real = driver._Run._play

        async def watched(self: driver._Run, *arguments: Any) -> MatchResult:
            running.append(self.cores)
            return MatchResult(
                match=self.plan.match_id(arguments[0]),
                game="nim",
                round=arguments[0].round,
                seed=0,
                roles=("first", "second"),
                agents=tuple(seat.name for seat in arguments[1]),
                goals=(100, 0),
            )

        other = "x=uct:seconds=0.1" if "seconds" in agent else "x=uct"
        plan = plan_for(tmp_path, games=["nim"], agents=[f"a={agent}", other], matches=8, cores=4)
        driver._Run._play = watched  # type: ignore[method-assign]
        try:
            asyncio.run(_start_once(plan, tmp_path))
        finally:
            driver._Run._play = real  # type: ignore[method-assign]
        assert len(running) == matches

    def test_the_sequential_test_stops_it_early(self, tmp_path: Path) -> None:
        plan = plan_for(
            tmp_path,
            games=["nim"],
            agents=["uct:in_flight=1:memory=64", "random"],
            simulations=40,
            matches=400,
            sprt=[50, 70],
            alpha=0.1,
            beta=0.1,
            cores=1,
        )
        seen: list[driver.Progress] = []
        results = played(plan, on_progress=seen.append)
        assert seen[-1].test is not None and seen[-1].test.verdict == "h1"
        assert 2 * seen[-1].test.blocks <= len(results) < 60
        assert played(plan) == results, "what is decided stays decided"


async def _start_once(plan: Plan, directory: Path) -> None:
    """Start what may run at once on free cores, and let it end."""
    file = driver.ResultsFile(plan.results_path, plan.header())
    run = driver._Run(plan, file, None)
    await asyncio.gather(*run._startable())
    file.close()


class TestInProcessPlayer:
    def test_a_budget_that_the_clock_cuts_short_is_noticed(self) -> None:
        sheet = find_game("connectFour").rule_sheet()
        machine = PropnetStateMachine.from_rules(sheet)
        agent = Contestant.parse("uct:in_flight=1:memory=64").as_agent(10**8)
        player = InProcessPlayer(agent, sheet, machine, seed=1)

        async def play() -> str:
            await player.start(Start("m", "red", find_game("connectFour").text(), 2, 2))
            return await player.play(Play("m", None))

        started = time.monotonic()
        assert asyncio.run(play()).startswith("(drop")
        assert time.monotonic() - started < GUARD
        assert player.cut_short == 1 and player.totals.simulations > 0

    def test_seconds_are_a_budget_too(self) -> None:
        sheet = find_game("connectFour").rule_sheet()
        contestant = Contestant.parse("uct:seconds=0.05:memory=64")
        assert not contestant.needs_clock() and contestant.cores() == 1
        machine = PropnetStateMachine.from_rules(sheet)
        player = InProcessPlayer(contestant.as_agent(), sheet, machine, seed=1)

        async def play() -> str:
            await player.start(Start("m", "red", find_game("connectFour").text(), 1000, 1000))
            return await player.play(Play("m", None))

        started = time.monotonic()
        assert asyncio.run(play()).startswith("(drop")
        assert time.monotonic() - started < GUARD
        assert player.cut_short == 0 and player.totals.simulations > 0
