"""A match as the player lives it: with workers made up by the test, and with real ones."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from gdl.rules import RuleSheet, read_term, write_term
from ggp_agent.errors import MessageError, WorkerError
from ggp_agent.library.games import find_game
from ggp_agent.mind.agents import read_agent
from ggp_agent.mind.search_factory import profile_of
from ggp_agent.player import match as match_module
from ggp_agent.player.match import AgentMaker, AgentMatch
from ggp_agent.player.workers import WorkerPool
from ggp_agent.protocol.messages import Start
from ggp_agent.protocol.worker_commands import (
    Command,
    Failed,
    FindMove,
    FoundMove,
    IsReady,
    Reply,
    SafeMove,
    StartMatch,
)
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.processes import GUARD, descendants_of, is_running

TTT = find_game("ticTacToe").text()
UCT = "uct:simulations=200:memory=16:margin=0.1"
RANDOM = "random"


def start_message(
    role: str = "x", rules: str = TTT, start_clock: float = 0.2, play_clock: float = 0.4
) -> Start:
    return Start("m", role, rules, start_clock, play_clock)


class FakeWorker:
    """Notes what it is sent and says what the test makes it say."""

    _numbers = itertools.count(1)

    def __init__(self) -> None:
        self.pid = next(self._numbers)
        self.sent: list[Any] = []
        self.ended = 0
        self.deaf = False
        self._replies: asyncio.Queue[Reply | None] = asyncio.Queue()
        self.obey: Callable[[Command], None] = lambda command: None

    def say(self, reply: Reply) -> None:
        self._replies.put_nowait(reply)

    def die(self) -> None:
        self._replies.put_nowait(None)

    async def send(self, command: Command) -> None:
        self.sent.append(command)
        if self.deaf:
            await asyncio.Event().wait()
        self.obey(command)

    async def replies(self) -> AsyncIterator[Reply]:
        while (reply := await self._replies.get()) is not None:
            yield reply

    async def end(self) -> None:
        self.ended += 1


class FakePool:
    """Hands out fake workers, each prepared by the test."""

    agent = UCT

    def __init__(self, prepare: Callable[[FakeWorker], None] = lambda worker: None) -> None:
        self.prepare = prepare
        self.workers: list[FakeWorker] = []
        self.failures = 0

    async def take(self) -> FakeWorker:
        if self.failures:
            self.failures -= 1
            raise WorkerError("no more processes")
        worker = FakeWorker()
        self.prepare(worker)
        self.workers.append(worker)
        return worker

    async def release(self, worker: FakeWorker) -> None:
        await worker.end()

    async def close(self) -> None:
        pass

    @property
    def worker(self) -> FakeWorker:
        return self.workers[-1]


def ready_at_once(worker: FakeWorker) -> None:
    """A worker that is ready as soon as it is told to start, and then says no more."""
    worker.say(IsReady("Fake"))
    worker.say(SafeMove(None, "(place 1 1)"))


def says_when_asked(worker: FakeWorker, reply: Callable[[FindMove], Reply]) -> None:
    """Have a worker answer every PLAY."""
    worker.obey = lambda command: (
        worker.say(reply(command)) if isinstance(command, FindMove) else None
    )


def maker_for(pool: FakePool | WorkerPool, agent: str = UCT) -> AgentMaker:
    return AgentMaker(pool, profile_of(read_agent(agent)), seed=1)  # type: ignore[arg-type] # fake


async def opened(pool: FakePool | WorkerPool, agent: str = UCT, **start: Any) -> AgentMatch:
    return await maker_for(pool, agent).open(start_message(**start), time.monotonic())


async def play(match: AgentMatch, moves: tuple[str, ...] | None) -> str:
    """PLAY, which comes now."""
    return await match.play(moves, time.monotonic())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(GUARD):
        while not condition():
            await asyncio.sleep(0.01)


def run(session: Coroutine[Any, Any, None]) -> None:
    async def guarded() -> None:
        async with asyncio.timeout(2 * GUARD):
            await session

    asyncio.run(guarded())


class TestStart:
    def test_the_worker_is_told_everything(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool)
            before = time.monotonic()
            await match.start()
            command = pool.worker.sent[0]
            assert isinstance(command, StartMatch)
            assert (command.role, command.rules, command.history) == ("x", TTT, ())
            assert command.agent == UCT
            assert before - 5 < command.by < before + 0.2
            await match.close()

        run(session())

    def test_searching_agents_use_the_whole_clock(self) -> None:
        async def session() -> None:
            agent = UCT + ":simulations=0"
            match = await opened(FakePool(ready_at_once), agent, start_clock=0.6)
            before = time.monotonic()
            await match.start()
            assert time.monotonic() - before > 0.3
            await match.close()

        run(session())

    @pytest.mark.parametrize("agent", [UCT, RANDOM], ids=lambda agent: agent.partition(":")[0])
    def test_without_a_clock_to_use_they_are_ready_at_once(self, agent: str) -> None:
        """One has a budget of simulations, the other doesn't think."""

        async def session() -> None:
            match = await opened(FakePool(ready_at_once), agent, start_clock=10 * GUARD)
            await match.start()
            await match.close()

        run(session())

    @pytest.mark.parametrize("agent", [UCT, RANDOM], ids=lambda agent: agent.partition(":")[0])
    def test_a_worker_that_is_never_ready_does_not_hold_up_the_answer(self, agent: str) -> None:
        async def session() -> None:
            match = await opened(FakePool(), agent)
            await match.start()
            await match.close()

        run(session())

    def test_a_role_that_is_not_there_is_refused(self) -> None:
        async def session() -> None:
            with pytest.raises(MessageError, match=r"Z is not a role.*x o"):
                await opened(FakePool(), role="Z")

        run(session())

    def test_matches_of_one_maker_have_different_dice(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            maker = maker_for(pool, RANDOM)
            for _ in range(3):
                match = await maker.open(start_message(), time.monotonic())
                await match.start()
                await match.close()
            assert len({worker.sent[0].seed for worker in pool.workers}) == 3

        run(session())


class TestAnswers:
    def test_the_workers_move_is_the_answer(self) -> None:
        async def session() -> None:
            def prepare(worker: FakeWorker) -> None:
                ready_at_once(worker)
                says_when_asked(worker, lambda asked: FoundMove(asked.request, "(place 2 2)"))

            match = await opened(FakePool(prepare), play_clock=10 * GUARD)
            await match.start()
            assert await play(match, None) == "(place 2 2)"
            assert await play(match, ("(place 2 2)", "noop")) == "(place 2 2)"
            await match.close()

        run(session())

    def test_the_clocks_run_from_when_the_messages_came(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            came = time.monotonic() - 1000
            match = await maker_for(pool).open(start_message(start_clock=1500.0), came)
            await match.start()
            assert pool.worker.sent[0].by == pytest.approx(came + 1499.9)
            await match.close()
            match = await opened(pool, play_clock=1500.0)
            await match.start()
            playing = asyncio.create_task(match.play(None, came))
            await until(lambda: len(pool.worker.sent) == 2)
            assert pool.worker.sent[1].by == pytest.approx(came + 1499.9)
            pool.worker.say(FoundMove(0, "(place 2 2)"))
            assert await playing == "(place 2 2)"
            assert await match.play(None, came - 1000) == "(place 1 1)"  # time is up already
            await match.close()

        run(session())

    def test_the_deadline_leaves_a_margin(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool, play_clock=2.0)
            await match.start()
            before = time.monotonic()
            playing = asyncio.create_task(play(match, None))
            await until(lambda: len(pool.worker.sent) == 2)
            assert before + 1.8 < pool.worker.sent[1].by < time.monotonic() + 1.9
            playing.cancel()
            await match.close()

        run(session())

    def test_a_late_worker_is_answered_for_by_the_safe_move(self) -> None:
        async def session() -> None:
            match = await opened(FakePool(ready_at_once))
            await match.start()
            assert await play(match, None) == "(place 1 1)"
            await match.close()

        run(session())

    def test_a_margin_longer_than_the_clock_is_not_waited_for(self) -> None:
        async def session() -> None:
            agent = "uct:margin=60"
            match = await opened(FakePool(ready_at_once), agent, play_clock=2.0)
            await match.start()
            before = time.monotonic()
            assert await play(match, None) == "(place 1 1)"
            assert time.monotonic() - before < 20  # a guard; the margin would take 46 s
            await match.close()

        run(session())

    def test_the_safe_move_of_an_earlier_state_is_not_played(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool)
            await match.start()
            await play(match, None)
            # late, and for the first PLAY, when the second has come
            playing = asyncio.create_task(play(match, ("(place 2 2)", "noop")))
            await until(lambda: pool.worker.sent[-1].moves is not None)
            pool.worker.say(SafeMove(0, "(place 2 2)"))
            pool.worker.say(SafeMove(1, "(place 3 3)"))
            assert await playing == "(place 3 3)"
            playing = asyncio.create_task(play(match, ("noop", "(place 1 1)")))
            await until(lambda: pool.worker.sent[-1].moves == ("noop", "(place 1 1)"))
            pool.worker.say(SafeMove(1, "(place 2 1)"))
            assert await playing == "noop"
            await match.close()

        run(session())

    def test_without_any_legal_move_the_last_resort_is_noop(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(match_module, "HOPELESS", 0.0)

        async def session() -> None:
            match = await opened(FakePool())
            await match.start()
            assert await play(match, None) == "noop"
            await match.close()

        run(session())

    def test_a_failure_is_answered_at_once_by_the_safe_move(self) -> None:
        async def session() -> None:
            def prepare(worker: FakeWorker) -> None:
                ready_at_once(worker)
                says_when_asked(worker, lambda asked: Failed("no idea"))

            match = await opened(FakePool(prepare), play_clock=10 * GUARD)
            await match.start()
            assert await play(match, None) == "(place 1 1)"
            await match.close()

        run(session())

    def test_a_worker_that_does_not_read_cannot_hold_up_the_answer(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool)
            await match.start()
            pool.worker.deaf = True
            assert await play(match, None) == "(place 1 1)"
            await match.close()

        run(session())

    @pytest.mark.parametrize(
        "moves", [("noop",), ("noop", "noop", "noop"), (), ("noop", "(("), ("noop", "a b")]
    )
    def test_a_broken_joint_move_is_refused(self, moves: tuple[str, ...]) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool)
            await match.start()
            with pytest.raises(MessageError):
                await play(match, moves)
            assert await play(match, None) == "(place 1 1)"  # as if it had not been
            assert [type(command) for command in pool.worker.sent] == [StartMatch, FindMove]
            await match.close()

        run(session())


class TestSupervision:
    def test_another_worker_takes_over_with_the_history(self) -> None:
        async def session() -> None:
            def prepare(worker: FakeWorker) -> None:
                ready_at_once(worker)
                says_when_asked(worker, lambda asked: FoundMove(asked.request, "(place 1 1)"))

            pool = FakePool(prepare)
            match = await opened(pool)
            await match.start()
            joint_moves = [("(place 1 1)", "noop"), ("noop", "(place 2 2)")]
            for moves in (None, *joint_moves):
                await play(match, moves)
            pool.worker.die()
            await until(lambda: len(pool.workers) == 2 and bool(pool.worker.sent))
            assert list(pool.worker.sent[0].history) == joint_moves
            assert pool.workers[0].ended == 1
            await match.close()
            assert pool.workers[1].ended == 1

        run(session())

    def test_it_is_asked_what_the_dead_one_left_open(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool, play_clock=10 * GUARD)
            await match.start()
            playing = asyncio.create_task(play(match, ("(place 1 1)", "noop")))
            await until(lambda: len(pool.worker.sent) == 2)
            pool.worker.die()
            await until(lambda: len(pool.workers) == 2 and len(pool.worker.sent) == 2)
            start, asked = pool.worker.sent
            # the joint move once, not twice
            assert (start.history, asked.moves) == ((("(place 1 1)", "noop"),), None)
            pool.worker.say(FoundMove(asked.request, "noop"))
            assert await playing == "noop"
            await match.close()

        run(session())

    def test_moves_that_nobody_answered_are_history_as_well(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(match_module, "HOPELESS", 0.0)

        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool)
            await match.start()
            joint_moves = [("(place 1 1)", "noop"), ("noop", "(place 2 2)")]
            for moves in (None, *joint_moves):
                await play(match, moves)
            pool.worker.die()
            await until(lambda: len(pool.workers) == 2 and bool(pool.worker.sent))
            assert list(pool.worker.sent[0].history) == joint_moves
            await match.close()

        run(session())

    def test_workers_that_always_die_are_given_up(self) -> None:
        async def session() -> None:
            pool = FakePool(FakeWorker.die)
            match = await opened(pool, RANDOM)
            await match.start()
            await until(lambda: len(pool.workers) == 1 + match_module.MAX_RESTARTS)
            assert await play(match, None)
            await match.close()
            assert all(worker.ended == 1 for worker in pool.workers)

        run(session())

    def test_a_pool_without_workers_is_asked_again(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            pool.failures = 2
            match = await opened(pool, RANDOM, start_clock=10 * GUARD)
            await match.start()
            assert len(pool.workers) == 1
            await match.close()

        run(session())


class TestClose:
    def test_may_come_twice(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool)
            await match.start()
            await match.close()
            await match.close()
            assert pool.worker.ended == 1

        run(session())

    def test_may_come_before_start(self) -> None:
        async def session() -> None:
            pool = FakePool(ready_at_once)
            match = await opened(pool)
            await match.close()
            await match.start()
            await asyncio.sleep(0.05)
            assert pool.workers == []

        run(session())

    def test_may_come_during_start(self) -> None:
        async def session() -> None:
            pool = FakePool()
            match = await opened(pool, start_clock=10 * GUARD)
            starting = asyncio.create_task(match.start())
            await until(lambda: bool(pool.workers))
            await match.close()
            assert pool.worker.ended == 1
            starting.cancel()

        run(session())

    def test_may_come_while_the_worker_is_being_told_the_rules(self) -> None:
        async def session() -> None:
            def deaf(worker: FakeWorker) -> None:
                worker.deaf = True

            pool = FakePool(deaf)
            match = await opened(pool)
            starting = asyncio.create_task(match.start())
            await until(lambda: bool(pool.workers) and bool(pool.worker.sent))
            await match.close()
            assert pool.worker.ended == 1
            await starting

        run(session())


# --- With real workers ---------------------------------------------------------------------------


class RealMatch:
    """A match of tic-tac-toe with real workers, in which x makes the first legal move."""

    def __init__(self, match: AgentMatch) -> None:
        self.match = match
        self.machine = PropnetStateMachine.from_rules(RuleSheet.from_text(TTT))
        self.state = self.machine.initial_state
        self.last: tuple[str, str] | None = None

    @property
    def is_over(self) -> bool:
        return self.machine.is_terminal(self.state)

    @property
    def worker_id(self) -> int:
        worker = self.match._worker
        assert worker is not None
        return worker.pid

    async def turn(self) -> str:
        """One PLAY; the answer, which is legal."""
        answer = await play(self.match, self.last)
        return self.take(answer)

    def take(self, answer: str) -> str:
        move = read_term(answer)
        assert move in self.machine.legal_moves(self.state, 1), f"illegal: {answer}"
        opponent = self.machine.legal_moves(self.state, 0)[0]
        self.state = self.machine.next_state(self.state, (opponent, move))
        self.last = (write_term(opponent), answer)
        return answer


def with_real_workers(
    session: Callable[[RealMatch], Coroutine[Any, Any, None]], agent: str = UCT, **start: Any
) -> None:
    """Run a session of a match; afterwards no process may be left."""

    async def whole() -> None:
        before = set(descendants_of(os.getpid()))
        pool = WorkerPool(agent)
        await pool.prepare()
        match = await opened(pool, agent, role="o", **{"start_clock": 5.0, **start})
        try:
            await match.start()
            await session(RealMatch(match))
        finally:
            await match.close()
            await pool.close()
        assert set(descendants_of(os.getpid())) <= before

    run(whole())


@pytest.mark.slow
class TestRealWorkers:
    def test_a_match(self) -> None:
        async def session(match: RealMatch) -> None:
            while not match.is_over:
                await match.turn()

        with_real_workers(session, play_clock=10.0)

    def test_a_search_without_a_budget_answers_within_the_clock(self) -> None:
        agent = "uct:memory=64"

        async def session(match: RealMatch) -> None:
            while not match.is_over:
                before = time.monotonic()
                await match.turn()
                assert time.monotonic() - before < 10  # a guard; the play clock is one second

        with_real_workers(session, agent, start_clock=1.0, play_clock=1.0)

    def test_a_killed_worker_is_replaced_in_mid_match(self) -> None:
        async def session(match: RealMatch) -> None:
            killed = 0
            while not match.is_over:
                await match.turn()
                if killed < 2:
                    os.kill(match.worker_id, signal.SIGKILL)
                    killed += 1
            assert killed == 2

        with_real_workers(session, play_clock=60.0)

    def test_a_worker_killed_while_it_thinks_is_replaced(self) -> None:
        agent = "uct:memory=64"

        async def session(match: RealMatch) -> None:
            await match.turn()
            thinking = asyncio.create_task(play(match.match, match.last))
            await until(lambda: match.match._latest == 1 and match.match._safe is not None)
            victim = match.worker_id
            os.kill(victim, signal.SIGKILL)
            match.take(await thinking)
            assert match.worker_id != victim
            while not match.is_over:
                await match.turn()

        with_real_workers(session, agent, start_clock=1.0, play_clock=4.0)

    def test_a_stopped_worker_is_answered_for_by_the_safe_move(self) -> None:
        agent = "uct:memory=64"

        async def session(match: RealMatch) -> None:
            await match.turn()
            thinking = asyncio.create_task(play(match.match, match.last))
            await until(lambda: match.match._latest == 1 and match.match._safe is not None)
            worker_id = match.worker_id
            os.kill(worker_id, signal.SIGSTOP)
            try:
                assert match.take(await thinking) == "(place 1 2)"
            finally:
                os.kill(worker_id, signal.SIGCONT)
            while not match.is_over:
                await match.turn()
            assert match.worker_id == worker_id

        with_real_workers(session, agent, start_clock=1.0, play_clock=3.0)

    def test_the_same_play_again_gets_the_same_answer(self) -> None:
        async def session(match: RealMatch) -> None:
            first = await play(match.match, None)
            assert await play(match.match, None) == first
            match.take(first)
            moves = match.last
            answers = {await play(match.match, moves) for _ in range(4)}
            assert len(answers) == 1
            match.take(answers.pop())
            while not match.is_over:
                await match.turn()

        with_real_workers(session, "random", play_clock=30.0)

    def test_close_ends_everything_at_any_time(self) -> None:
        async def session() -> None:
            before = set(descendants_of(os.getpid()))
            pool = WorkerPool(UCT, spares=0)
            for wait in (0.0, 0.05, 1.0):
                match = await opened(pool, start_clock=60.0)
                starting = asyncio.create_task(match.start())
                await asyncio.sleep(wait)
                await match.close()
                starting.cancel()
            await pool.close()
            left = set(descendants_of(os.getpid())) - before
            assert not [pid for pid in left if is_running(pid)]

        run(session())
