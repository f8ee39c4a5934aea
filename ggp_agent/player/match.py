"""A match as the player lives it: clocks, the worker that thinks, and an answer in any case.

The match itself never thinks; it passes messages on to a worker process and watches the clock.  If
the worker is late, the answer is the legal move that it named when the state was entered; if it
dies, another one takes over and catches up from the history of joint moves.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import random
import time
from pathlib import Path
from typing import Any

from gdl.errors import GgpError
from gdl.rules import RuleSheet, Term, name_of
from ggp_agent.agents import Agent
from ggp_agent.errors import MessageError, WorkerError
from ggp_agent.mind.worker import agent_fields
from ggp_agent.player.clock import Margin, answer_by
from ggp_agent.player.log_lines import one_line
from ggp_agent.player.search_totals import Effort
from ggp_agent.player.tuning_record import Course
from ggp_agent.player.workers import WorkerPool, WorkerProcess
from ggp_agent.protocol.messages import Start, move_term

log = logging.getLogger(__name__)
traces = logging.getLogger("ggp_agent.trace")
"""One JSON object per move: what the search found (see `ggp_agent.search.trace`)."""
traces.propagate = False
traces.addHandler(logging.NullHandler())


def write_traces(path: Path) -> None:
    """Append the traces of all matches of this process to a file.  Raises `MessageError`."""
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise MessageError(f"cannot write traces: {error}") from error
    traces.addHandler(handler)
    traces.setLevel(logging.INFO)


PATIENCE = 0.75
"""Share of the margin that is waited for a worker that is late, before the safe move goes out."""
HOPELESS = 0.8
"""Seconds beyond the play clock (managers allow one) to wait where no legal move is known."""
MAX_RESTARTS = 3


class AgentMatch:
    """One match of one agent: `server.PlayerMatch`, and what a local player plays."""

    def __init__(
        self,
        start: Start,
        received: float,
        sheet: RuleSheet,
        agent: Agent,
        pool: WorkerPool,
        seed: int,
        margin: Margin | None = None,
    ) -> None:
        self._start, self._sheet, self._agent, self._pool = start, sheet, agent, pool
        self._margin = margin or Margin(agent.number("margin"))
        self._seed = seed
        self._received = received
        self._roles = stated_roles(sheet)
        self._history: list[tuple[str, ...]] = []
        self._safe: str | None = None
        self._ready = asyncio.Event()
        self._requests = itertools.count()
        self._latest: int | None = None
        self._waiting: dict[int, asyncio.Future[str]] = {}
        self._pending: dict[str, Any] | None = None
        self._last_answer: str | None = None
        self._worker: WorkerProcess | None = None
        self._minder: asyncio.Task[None] | None = None
        self._closed = False
        self.effort = Effort()
        self.course = Course()

    async def start(self) -> None:
        """Think during the start clock; returns when it is time to answer `ready`."""
        if self._closed:
            return
        by = answer_by(self._received, self._start.start_clock, self._margin.seconds)
        self._minder = asyncio.create_task(self._mind(by))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, by - time.monotonic())):
                await self._ready.wait()
                if self._agent["strategy"] in ("random", "legal") or self._agent["simulations"]:
                    return  # nothing to think about, or as much of it whatever the clock says
                await asyncio.sleep(max(0.0, by - time.monotonic()))

    async def play(self, moves: tuple[str, ...] | None) -> str:
        """Our move, in time whatever happens.  Raises `MessageError` for a broken joint move."""
        received, clock = time.monotonic(), self._start.play_clock
        self._check(moves)
        if moves is not None:
            self._safe = None  # it was for the state before
            self._history.append(moves)
        by = answer_by(received, clock, self._margin.seconds)
        patience = by + PATIENCE * (received + clock - by)
        request = self._latest = next(self._requests)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[request] = answer
        self._pending = {"do": "play", "id": request, "moves": moves, "by": by}
        try:
            await self._send(self._pending, patience)
            await asyncio.wait({answer}, timeout=patience - time.monotonic())
            if not answer.done() and self._safe is None:
                await asyncio.wait({answer}, timeout=received + clock + HOPELESS - time.monotonic())
        finally:
            del self._waiting[request]
        self._margin.note(time.monotonic() - by)
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

    async def _send(self, command: dict[str, Any], until: float) -> None:
        """Send a command; one that hangs reads nothing, and must not keep us waiting."""
        if self._worker is not None:
            with contextlib.suppress(TimeoutError, WorkerError):  # its minder notices the latter
                async with asyncio.timeout(until - time.monotonic()):
                    await self._worker.send(**command)

    async def _mind(self, ready_by: float) -> None:
        """Keep a worker at work on the match; another one where it dies."""
        for attempt in range(1 + MAX_RESTARTS):
            try:
                self._worker = await self._pool.take()
                pending = self._pending
                await self._worker.send(
                    do="start",
                    rules=self._start.rules,
                    role=self._start.role,
                    agent=agent_fields(self._agent),
                    seed=self._seed,
                    history=self._history,
                    by=ready_by if attempt == 0 else 0.0,
                )
                if pending is not None:  # its joint move is in the history
                    await self._worker.send(**{**pending, "moves": None})
                await self._listen(self._worker)
                log.error("the worker process of match %s died", self._start.match_id)
            except GgpError as error:
                log.error("match %s: %s", self._start.match_id, error)
            if self._worker is not None:
                worker, self._worker = self._worker, None
                await self._pool.release(worker)

    async def _listen(self, worker: WorkerProcess) -> None:
        async for reply in worker.replies():
            match reply["say"]:
                case "ready":
                    log.info("match %s: %s", self._start.match_id, reply["reasoner"])
                    self._ready.set()
                case "safe":
                    self._note_safe(reply["id"], reply["move"])
                case "move":
                    self.effort.add(reply.get("report", {}))
                    self.course.add(reply.get("report", {}))
                    self._settle(reply["id"], reply["move"])
                    self._trace(reply)
                case "failed":
                    self._fail(WorkerError(reply["text"]))

    def _note_safe(self, request: int | None, move: str) -> None:
        """A legal move of the state in which the worker was at that request (None: the first)."""
        if request == self._latest:
            self._safe = move

    def _trace(self, reply: dict[str, Any]) -> None:
        """Log what the search found: a line for people, JSON for machines."""
        move, report = reply["move"], reply.get("report") or {}
        number = len(self._history) + 1
        log.info("move %d: %s; %s", number, move, one_line(report))
        about = {"match": self._start.match_id, "role": self._start.role}
        traces.info(json.dumps({**about, "number": number, "move": move, **report}))

    def _settle(self, request: int, move: str) -> None:
        if self._pending is not None and self._pending["id"] == request:
            self._pending = None
        answer = self._waiting.get(request)
        if answer is not None and not answer.done():
            answer.set_result(move)

    def _fail(self, error: WorkerError) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)


def stated_roles(sheet: RuleSheet) -> tuple[Term, ...]:
    """The roles where facts alone name them; () where only a reasoner can tell."""
    derived = any(rule.body and name_of(rule.head) == "role" for rule in sheet.rules)
    return () if derived else sheet.roles


class AgentMaker:
    """Opens matches for one agent; `ggp_agent.player.server.MatchMaker`."""

    def __init__(self, agent: Agent, pool: WorkerPool, seed: int) -> None:
        self._agent, self._pool = agent, pool
        self._seeds = random.Random(seed)
        self._margin = Margin(agent.number("margin"))

    async def open(self, start: Start) -> AgentMatch:
        """A match for these rules.  Raises `GgpError` if they can't be read or lack the role."""
        received = time.monotonic()
        sheet = await asyncio.to_thread(RuleSheet.from_text, start.rules, "rules")
        role, roles_there = move_term(start.role), stated_roles(sheet)
        if roles_there and role not in roles_there:
            roles = " ".join(map(sheet.write, roles_there))
            raise MessageError(f"{start.role} is not a role of the rules; roles: {roles}")
        seed = self._seeds.randrange(2**32)  # no two matches with the same dice
        return AgentMatch(start, received, sheet, self._agent, self._pool, seed, self._margin)

    async def close(self) -> None:
        """End the workers."""
        await self._pool.close()
