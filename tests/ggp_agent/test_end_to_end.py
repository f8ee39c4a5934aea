"""Whole matches: our servers over HTTP under one-second clocks, and how strong they play."""

from __future__ import annotations

import asyncio
import os
import statistics
import threading
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvloop

from gdl.rules import RuleSheet
from ggp_agent.library.games import find_game
from ggp_agent.manager.match_setup import MatchSetup, new_match_id
from ggp_agent.manager.players import HttpPlayer
from ggp_agent.manager.record import MatchRecord
from ggp_agent.manager.record_validation import validate
from ggp_agent.manager.runner import run_match
from ggp_agent.mind.warming import warm_up
from ggp_agent.player.match import AgentMaker
from ggp_agent.player.server import AgentServer
from ggp_agent.player.workers import WorkerPool
from ggp_agent.protocol.messages import Abort, Play, Start, Stop
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.processes import GUARD, own_children
from tests.ggp_agent.search.arena import goals_against_random

T = TypeVar("T")

SHEETS = Path(
    os.environ.get("GGP_RULESHEETS") or Path(__file__).parents[3] / "shared" / "rulesheets"
)
SHARED = [
    "ticTacToe",
    "connectFour",
    "breakthrough",
    "chinook",
    "battle",
    "ttcc4",
    "tictactoe_3player",
    "pentago",
    "reversi",
    "eightPuzzle",
    "pancakes88",
    "quad_7x7",
    "chineseCheckers3",
]
OWN = [
    "biddingTicTacToe",
    "breakthrough",
    "connectFour",
    "eightPuzzle",
    "farmers",
    "nim",
    "rockPaperScissors",
    "ticTacToe3Player",
    "ttcc4",
]
"""A game of the library of every kind."""
SERVERS = 4
"""Roles of the largest game."""

QUICK = "uct:simulations=3000:memory=256"


class Servers:
    """Agent servers on a loop in a thread of their own, as if they ran elsewhere."""

    def __init__(self, *agents: str) -> None:
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._pools = [WorkerPool(agent) for agent in agents]
        self._servers = [self._wait(self._start(*each)) for each in enumerate(self._pools)]

    @property
    def players(self) -> list[HttpPlayer]:
        """Players at the servers, once these have warm workers and no match."""
        self._wait(self._prepare())
        return [HttpPlayer(f"http://127.0.0.1:{server.port}") for server in self._servers]

    def close(self) -> None:
        self._wait(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(GUARD)
        self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(GUARD)

    async def _start(self, seed: int, pool: WorkerPool) -> AgentServer:
        profile = await pool.prepare()
        maker = AgentMaker(pool, profile, seed)
        server = AgentServer(maker, name=profile.name, host="127.0.0.1", port=0)
        await server.start()
        return server

    async def _prepare(self) -> None:
        for pool in self._pools:
            await pool.prepare()

    async def _close(self) -> None:
        for server in self._servers:
            await server.close()


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """A server for each role, the first one searching, the others in turn random and searching."""
    warm_up()  # or else every worker compiles the kernels for itself
    before = own_children()
    servers = Servers(*(QUICK if i != 1 else "random" for i in range(SERVERS)))
    yield servers
    servers.close()
    assert own_children() <= before


def sheet_at(path: Path) -> RuleSheet:
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return RuleSheet.from_file(path)


def match_of(sheet: RuleSheet, servers: Servers, first: int = 0, **changes: Any) -> MatchRecord:
    """A match under one-second clocks; the roles are played by the servers from `first` on."""
    machine = PropnetStateMachine.from_rules(sheet)
    name = Path(sheet.source.name).stem
    setup = MatchSetup(
        **{
            "match_id": new_match_id(name),
            "game": name,
            "game_url": f"http://games.example.org/base/games/{name}/v0/",
            "sheet": sheet,
            "machine": machine,
            "start_clock": 1.0,
            "play_clock": 1.0,
            "seed": 1,
            **changes,
        }
    )
    players = servers.players
    seats = [players[(first + role) % SERVERS] for role in range(len(machine.roles))]

    async def match() -> MatchRecord:
        async with asyncio.timeout(GUARD):
            return await run_match(setup, seats)

    return asyncio.run(match())


def assert_clean(record: MatchRecord) -> None:
    """Played to the end, a valid record, and no error of any player in it."""
    assert validate(record.as_json()) == []
    assert record.is_completed
    errors = [
        (step, role, error)
        for step, row in enumerate(record.errors)
        for role, error in enumerate(row)
        if error
    ]
    assert not errors, f"{errors}; thinking times {record.thinking_times}"


@pytest.mark.slow
class TestMatches:
    @pytest.mark.parametrize("key", OWN)
    def test_a_game_of_the_library(self, servers: Servers, key: str) -> None:
        assert_clean(match_of(find_game(key).rule_sheet(), servers))

    @pytest.mark.parametrize("name", SHARED)
    def test_a_shared_rule_sheet(self, servers: Servers, name: str) -> None:
        assert_clean(match_of(sheet_at(SHEETS / f"{name}.kif"), servers))

    @pytest.mark.parametrize("key", ["connectFour", "eightPuzzle"])
    def test_scrambled(self, servers: Servers, key: str) -> None:
        record = match_of(find_game(key).rule_sheet(), servers, scramble=True, seed=5)
        assert_clean(record)
        assert record.scrambled
        assert not any("scrambled" in move for row in record.moves for move in row)

    def test_upper_case_rules_get_upper_case_moves(self, servers: Servers) -> None:
        sheet = RuleSheet.from_text(find_game("breakthrough").text().upper(), "BREAKTHROUGH")
        record = match_of(sheet, servers, match_id="A_Match")
        assert_clean(record)
        assert all(move == move.upper() for row in record.moves for move in row)

    def test_two_searching_servers_at_once(self, servers: Servers) -> None:
        """They share the machine and nothing else."""
        record = match_of(find_game("connectFour").rule_sheet(), servers, first=2)
        assert_clean(record)

    def test_one_match_after_the_other_on_the_same_server(self, servers: Servers) -> None:
        for seed in range(3):
            record = match_of(find_game("rockPaperScissors").rule_sheet(), servers, seed=seed)
            assert_clean(record)


@pytest.fixture(scope="module")
def searching() -> Iterator[Servers]:
    """A server that uses the whole of its clocks; its tree grows too slowly to be full before."""
    servers = Servers("uct:memory=1024:in_flight=1")
    yield servers
    servers.close()


@pytest.mark.slow
class TestWhileItSearches:
    def test_info_is_answered_at_once(self, searching: Servers) -> None:
        async def session(player: HttpPlayer) -> list[float]:
            rules = find_game("breakthrough").text() + "\n"
            start = Start("m", "white", rules, 5.0, 5.0)
            starting = asyncio.create_task(player.start(start))
            while await player.info() != "busy":
                await asyncio.sleep(0.05)
            times = []
            for message in (starting, player.play(Play("m", None))):
                task = asyncio.ensure_future(message)
                for _ in range(12):
                    before = time.monotonic()
                    assert await player.info() == "busy"
                    times.append(time.monotonic() - before)
                    await asyncio.sleep(0.15)
                assert not task.done(), "it was to search meanwhile"
                await task
            await player.abort(Abort("m"))
            assert await player.info() == "available"
            return times

        (player,) = searching.players
        assert statistics.median(asyncio.run(session(player))) < 0.1

    def test_a_match_may_end_while_it_searches(self, searching: Servers) -> None:
        async def session(player: HttpPlayer) -> None:
            rules = find_game("nim").text() + "\n"
            for end in (Stop("m", None), Abort("m")):
                await player.start(Start("m", "first", rules, 1.0, 30.0))
                playing = asyncio.create_task(player.play(Play("m", None)))
                await asyncio.sleep(0.3)
                async with asyncio.timeout(GUARD / 4):
                    await (player.stop(end) if isinstance(end, Stop) else player.abort(end))
                    assert await playing == "busy"
                    assert await player.info() == "available"

        (player,) = searching.players
        asyncio.run(session(player))


class TestStrength:
    """Ten games in each role against random moves, 500 simulations a move."""

    def test_never_loses_tic_tac_toe(self) -> None:
        for role in (0, 1):
            assert min(goals_against_random("ticTacToe", role, 10, simulations=500)) >= 50

    @pytest.mark.slow
    @pytest.mark.parametrize("game", ["connectFour", "breakthrough"])
    def test_wins_nearly_always(self, game: str) -> None:
        goals = [
            g for role in (0, 1) for g in goals_against_random(game, role, 10, simulations=500)
        ]
        assert goals.count(100) >= 19
