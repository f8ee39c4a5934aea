"""Worker processes as the server sees them: started ahead of need, warm, one spare in reserve.

A worker (`ggp_agent.mind`) thinks about one match and is then thrown away, so that no match can
leave anything behind.  Starting one takes a second or more (imports, kernels), hence the spare.
"""

from __future__ import annotations

import asyncio

from ggp_agent.errors import ParameterError, WorkerError
from ggp_agent.player.child_processes import ChildProcess
from ggp_agent.protocol.json_lines import Unreadable
from ggp_agent.protocol.worker_commands import (
    COMMANDS,
    REPLIES,
    AgentProfile,
    BadAgent,
    Command,
    Failed,
    IsWarm,
    Reply,
    Warm,
)

MODULE = "ggp_agent.mind"
"""What a worker process runs."""

WorkerProcess = ChildProcess[Command, Reply]


async def start_worker() -> WorkerProcess:
    """A worker process that has been told nothing yet.  Raises `WorkerError`."""
    return await ChildProcess.start(MODULE, COMMANDS, REPLIES)


async def warm_worker(worker: WorkerProcess, agent: str) -> AgentProfile:
    """Have a worker load everything for an agent, and say what the server must know of it.

    Raises `ParameterError` where the text describes no agent, `WorkerError` if it can't be done.
    """
    await worker.send(Warm(agent))
    async for reply in worker.replies():
        match reply:
            case IsWarm(profile):
                return profile
            case BadAgent(text):
                raise ParameterError(text)
            case Failed(text) | Unreadable(text):
                raise WorkerError(text)
    raise WorkerError("the worker process ended while it was loading; see its messages above")


class WorkerPool:
    """Hands out workers that are warm for one agent; always has one more in preparation.

    Use `take` for a worker and `release` to end it.  `spares` 0 keeps none in reserve, for those
    who know how many they need.
    """

    def __init__(self, agent: str, spares: int = 1) -> None:
        self.agent = agent
        self._spares = spares
        self._reserve: list[asyncio.Task[tuple[WorkerProcess, AgentProfile]]] = []
        self._taken: set[WorkerProcess] = set()
        self._closed = False

    async def prepare(self, count: int = 1) -> AgentProfile:
        """Wait for `count` warm workers, at least one; what they say of the agent.

        Raises `ParameterError` where the text describes no agent, `WorkerError` if they can't be
        started.
        """
        self._refill(count)
        warm = [await asyncio.shield(task) for task in self._reserve[:count]]
        return warm[0][1]

    async def take(self) -> WorkerProcess:
        """A warm worker.  Raises as `prepare`."""
        if self._closed:
            raise WorkerError("the pool of workers has been closed")
        self._refill(1)
        task = self._reserve.pop(0)
        try:
            worker, _ = await asyncio.shield(task)
        except asyncio.CancelledError:
            self._reserve.insert(0, task)
            raise
        self._taken.add(worker)
        return worker

    async def release(self, worker: WorkerProcess) -> None:
        """End a worker that was taken; begins to prepare the next spare."""
        self._taken.discard(worker)
        await worker.end()
        self._refill()

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        for task in self._reserve:
            task.cancel()
        for outcome in await asyncio.gather(*self._reserve, return_exceptions=True):
            if isinstance(outcome, tuple):
                await outcome[0].end()
        for worker in list(self._taken):
            await worker.end()
        self._taken.clear()

    def _refill(self, least: int = 0) -> None:
        while not self._closed and len(self._reserve) < max(self._spares, least):
            self._reserve.append(asyncio.create_task(self._warm_worker()))

    async def _warm_worker(self) -> tuple[WorkerProcess, AgentProfile]:
        worker = await start_worker()
        try:
            return worker, await warm_worker(worker, self.agent)
        except BaseException:
            await worker.end()
            raise
