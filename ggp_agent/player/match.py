"""A match as the player lives it: clocks, the worker that thinks, and an answer in any case.

The match itself never thinks; it passes messages on to a worker process and watches the clock.  If
the worker is late, the answer is the legal move that it named when the state was entered; if it
dies, another one takes over and catches up from the history of joint moves.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
from dataclasses import replace

from gdl.errors import GgpError
from gdl.rules import RuleSheet
from ggp_agent.errors import MessageError, WorkerError
from ggp_agent.player.clock import Margin, MatchClock, seconds_until
from ggp_agent.player.log_lines import one_line, write_trace
from ggp_agent.player.rule_sheets import read_rules, stated_roles
from ggp_agent.player.search_totals import SearchTotals
from ggp_agent.player.tuning_record import TuningRecord
from ggp_agent.player.workers import WorkerPool, WorkerProcess
from ggp_agent.protocol.json_lines import Unreadable
from ggp_agent.protocol.messages import Start, move_term
from ggp_agent.protocol.worker_commands import (
    AgentProfile,
    Command,
    Failed,
    FindMove,
    FoundMove,
    IsReady,
    Reply,
    SafeMove,
    StartMatch,
)

log = logging.getLogger(__name__)

LATE_SHARE = 0.75
"""Share of the margin that is waited for a worker that is late, before the safe move goes out."""
HOPELESS = 0.8
"""Seconds beyond the play clock (managers allow one) to wait where no legal move is known."""
MAX_RESTARTS = 3


class AgentMatch:
    """One match of one agent: `match_keeper.PlayerMatch`, and what a local player plays."""

    def __init__(
        self,
        start: Start,
        came: float,
        sheet: RuleSheet,
        pool: WorkerPool,
        seed: int,
        margin: Margin,
        uses_clock: bool,
    ) -> None:
        self._start, self._sheet, self._pool = start, sheet, pool
        self._seed, self._margin, self._uses_clock = seed, margin, uses_clock
        self._clock = MatchClock(came, start.start_clock)
        self._roles = stated_roles(sheet)
        self._history: list[tuple[str, ...]] = []
        self._safe: str | None = None
        self._ready = asyncio.Event()
        self._requests = itertools.count()
        self._latest: int | None = None
        self._waiting: dict[int, asyncio.Future[str]] = {}
        self._pending: FindMove | None = None
        self._last_answer: str | None = None
        self._worker: WorkerProcess | None = None
        self._minder: asyncio.Task[None] | None = None
        self._closed = False
        self.totals = SearchTotals()
        self.tuning = TuningRecord()

    async def start(self) -> None:
        """Think during the start clock; returns when it is time to answer `ready`."""
        if self._closed:
            return
        by = self._clock.answer_by(self._margin.seconds)
        self._minder = asyncio.create_task(self._mind(by))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds_until(by)):
                await self._ready.wait()
                if self._uses_clock:
                    await asyncio.sleep(seconds_until(by))

    async def play(self, moves: tuple[str, ...] | None, came: float) -> str:
        """Our move, in time whatever happens.  Raises `MessageError` for a broken joint move."""
        clock = MatchClock(came, self._start.play_clock)
        self._check(moves)
        if moves is not None:
            self._safe = None  # it was for the state before
            self._history.append(moves)
        by = clock.answer_by(self._margin.seconds)
        late = by + LATE_SHARE * (clock.end - by)
        request = self._latest = next(self._requests)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[request] = answer
        self._pending = FindMove(request, moves, by)
        try:
            await self._send(self._pending, late)
            await asyncio.wait({answer}, timeout=seconds_until(late))
            if not answer.done() and self._safe is None:
                await asyncio.wait({answer}, timeout=seconds_until(clock.end + HOPELESS))
        finally:
            del self._waiting[request]
        self._margin.answered(by)
        return self._outcome(answer)

    async def stop(self, moves: tuple[str, ...] | None) -> None:
        """The match is over; the last joint move tells us nothing that we need."""

    async def close(self) -> None:
        """Let the worker go; may be called again."""
        self._closed = True
        if self._minder is not None:
            self._minder.cancel()
            await asyncio.wait({self._minder})
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await self._pool.release(worker)

    def _check(self, moves: tuple[str, ...] | None) -> None:
        if moves is None:
            return
        if self._roles and len(moves) != len(self._roles):
            raise MessageError(
                f"the joint move has {len(moves)} moves, but the game has "
                f"{len(self._roles)} roles: {' '.join(map(self._sheet.write, self._roles))}"
            )
        for move in moves:
            move_term(move)

    def _outcome(self, answer: asyncio.Future[str]) -> str:
        if answer.done() and answer.exception() is None:
            self._last_answer = answer.result()
            return self._last_answer
        reason = answer.exception() if answer.done() else "it is late"
        if self._safe is not None:
            log.warning("the worker has no answer (%s); playing %s", reason, self._safe)
            return self._safe
        log.error("the worker has no answer (%s) and no legal move is known", reason)
        return self._last_answer or "noop"

    async def _send(self, command: Command, until: float) -> None:
        """Send a command; one that hangs reads nothing, and must not keep us waiting."""
        if self._worker is not None:
            with contextlib.suppress(TimeoutError, WorkerError):  # its minder notices the latter
                async with asyncio.timeout(seconds_until(until)):
                    await self._worker.send(command)

    async def _mind(self, ready_by: float) -> None:
        """Keep a worker at work on the match; another one where it dies."""
        for attempt in range(1 + MAX_RESTARTS):
            try:
                self._worker = await self._pool.take()
                pending = self._pending
                await self._worker.send(self._start_command(ready_by if attempt == 0 else 0.0))
                if pending is not None:  # its joint move is in the history
                    await self._worker.send(replace(pending, moves=None))
                await self._listen(self._worker)
                log.error("the worker process of match %s died", self._start.match_id)
            except GgpError as error:
                log.error("match %s: %s", self._start.match_id, error)
            if self._worker is not None:
                worker, self._worker = self._worker, None
                await self._pool.release(worker)

    def _start_command(self, by: float) -> StartMatch:
        return StartMatch(
            rules=self._start.rules,
            role=self._start.role,
            agent=self._pool.agent,
            seed=self._seed,
            history=tuple(self._history),
            by=by,
        )

    async def _listen(self, worker: WorkerProcess) -> None:
        async for reply in worker.replies():
            self._take(reply)

    def _take(self, reply: Reply | Unreadable) -> None:
        match reply:
            case IsReady(reasoner):
                log.info("match %s: %s", self._start.match_id, reasoner)
                self._ready.set()
            case SafeMove(request, move):
                if request == self._latest:  # or else it is one of an earlier state
                    self._safe = move
            case FoundMove():
                self.totals.add(reply.report)
                self.tuning.add(reply.report)
                self._settle(reply.request, reply.move)
                self._trace(reply)
            case Failed(text) | Unreadable(text):
                self._fail(WorkerError(text))

    def _trace(self, found: FoundMove) -> None:
        """Log what the search found: a line for people, JSON for machines."""
        number = len(self._history) + 1
        log.info("move %d: %s; %s", number, found.move, one_line(found.report))
        about = {"match": self._start.match_id, "role": self._start.role}
        write_trace({**about, "number": number, "move": found.move, **found.report})

    def _settle(self, request: int, move: str) -> None:
        if self._pending is not None and self._pending.request == request:
            self._pending = None
        answer = self._waiting.get(request)
        if answer is not None and not answer.done():
            answer.set_result(move)

    def _fail(self, error: WorkerError) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)


class AgentMaker:
    """Opens matches for the agent of a pool; `ggp_agent.player.match_keeper.MatchMaker`.

    `profile` is what the workers say of the agent, once one of them is warm.
    """

    def __init__(self, pool: WorkerPool, profile: AgentProfile, seed: int) -> None:
        self._pool = pool
        self._uses_clock = profile.uses_clock
        self._seeds = random.Random(seed)
        self._margin = Margin(profile.margin)

    async def open(self, start: Start, came: float, sheet: RuleSheet | None = None) -> AgentMatch:
        """A match for these rules, whose START came at a moment; `sheet` where they are read.

        Raises `GgpError` if they can't be read or lack the role.
        """
        if sheet is None:
            sheet = await asyncio.to_thread(read_rules, start.rules)
        role, roles_there = move_term(start.role), stated_roles(sheet)
        if roles_there and role not in roles_there:
            roles = " ".join(map(sheet.write, roles_there))
            raise MessageError(f"{start.role} is not a role of the rules; roles: {roles}")
        seed = self._seeds.randrange(2**32)  # no two matches with the same dice
        return AgentMatch(start, came, sheet, self._pool, seed, self._margin, self._uses_clock)

    async def close(self) -> None:
        """End the workers."""
        await self._pool.close()
