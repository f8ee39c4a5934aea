"""Our agents as players of the manager, without HTTP."""

from __future__ import annotations

import asyncio

import pytest

from gdl import rules as rules_module
from gdl.kif import Node, Source
from gdl.rules import RuleSheet
from ggp_agent.errors import MessageError, PlayerError
from ggp_agent.library.games import find_game
from ggp_agent.manager.local_player import LocalPlayer
from ggp_agent.player.workers import WorkerPool
from ggp_agent.protocol.messages import Abort, Play, Start, Stop
from tests.ggp_agent.processes import GUARD, own_children

TTT = find_game("ticTacToe").text()


def start(match_id: str = "m", role: str = "x", rules: str = TTT) -> Start:
    return Start(match_id, role, rules, 30.0, 30.0)


def test_plays_one_match_after_the_other_and_leaves_nothing_behind() -> None:
    async def session() -> None:
        before = own_children()
        pool = WorkerPool("legal")
        player = LocalPlayer("legal", pool, seed=1)
        assert player.name == "legal"
        async with asyncio.timeout(2 * GUARD):
            await player.start(start("one"))
            assert await player.play(Play("one", None)) == "(place 1 1)"
            assert await player.play(Play("one", ("(place 1 1)", "noop"))) == "noop"
            await player.stop(Stop("one", ("noop", "(place 2 2)")))
            await player.start(start("two", "o"))
            assert await player.play(Play("two", None)) == "noop"
            await player.abort(Abort("two"))
            # the manager that forgets to end a match
            await player.start(start("three"))
            await player.start(start("four"))
            assert await player.play(Play("four", None)) == "(place 1 1)"
            await player.close()
            await player.close()
        await pool.close()
        assert own_children() <= before

    asyncio.run(session())


def test_two_players_share_a_pool() -> None:
    async def session() -> None:
        pool = WorkerPool("legal", spares=0)
        players = [LocalPlayer("legal", pool, seed) for seed in (1, 2)]
        async with asyncio.timeout(2 * GUARD):
            await asyncio.gather(
                *(p.start(start("m", role)) for p, role in zip(players, "xo", strict=True))
            )
            answers = await asyncio.gather(*(player.play(Play("m", None)) for player in players))
            await asyncio.gather(*(player.close() for player in players))
            await pool.close()
        assert answers == ["(place 1 1)", "noop"]

    asyncio.run(session())


def test_a_match_it_has_not_been_told_of_is_an_error() -> None:
    async def session() -> None:
        pool = WorkerPool("legal", spares=0)
        player = LocalPlayer("legal", pool, seed=1)
        with pytest.raises(PlayerError, match="match m"):
            await player.play(Play("m", None))
        with pytest.raises(MessageError):
            await player.start(start(role="nobody"))
        await player.close()
        await pool.close()

    asyncio.run(session())


def test_rules_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at all where the manager has read them, and once for several players else."""
    sheet = RuleSheet.from_text(TTT)
    read, texts = rules_module.read, []

    def noting(source: Source) -> tuple[Node, ...]:
        texts.append(source.text)
        return read(source)

    async def session() -> None:
        pool = WorkerPool("legal", spares=0)
        async with asyncio.timeout(2 * GUARD):
            player = LocalPlayer("legal", pool, 1, sheet)
            await player.start(start())
            assert TTT not in texts
            await player.close()
            for seed in (1, 2):
                player = LocalPlayer("legal", pool, seed)
                await player.start(start(rules=TTT + "; in other words"))
                await player.close()
            assert texts.count(TTT + "; in other words") == 1
            await pool.close()

    monkeypatch.setattr(rules_module, "read", noting)
    asyncio.run(session())
