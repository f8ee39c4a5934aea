"""Worker processes as the server sees them: start, talk to, end; one warm spare in reserve.

A worker (`ggp_agent.mind.worker`) thinks about one match and is then thrown away, so that no match
can leave anything behind.  Starting one takes a second or more (imports, kernels), hence the spare.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

from ggp_agent.errors import WorkerError

log = logging.getLogger(__name__)

LINE_LIMIT = 16 * 2**20


class WorkerProcess:
    """One process; `send` commands, iterate over `replies`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(
        cls, module: str = "ggp_agent.mind.worker", tuners: Sequence[str] = ()
    ) -> WorkerProcess:
        """Start a process and let it warm up.  Raises `WorkerError` if that is impossible.

        `module` is what the process runs; it must understand the command `warm`, with the tuners
        that are to be loaded, too.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # the current folder's files are none of ours
                "-m",
                module,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LINE_LIMIT,
                start_new_session=True,  # Ctrl-C is for us; it would kill a worker being loaded
                env={**os.environ, "GGP_AGENT_LOG": logging.getLevelName(_log_level())},
            )
        except OSError as error:
            raise WorkerError(f"cannot start a worker process: {error}") from error
        worker = cls(process)
        try:
            await worker.send(do="warm", tuners=list(tuners))
        except BaseException:
            await worker.end()
            raise
        return worker

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def send(self, **command: Any) -> None:
        """Send a command.  Raises `WorkerError` if the process is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            await self._process.stdin.drain()
        except OSError as error:
            raise WorkerError("the worker process is gone") from error

    async def replies(self) -> AsyncIterator[dict[str, Any]]:
        """The worker's replies, until the process ends."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            yield json.loads(line)

    async def warm(self) -> None:
        """Wait until the worker has loaded everything.  Raises `WorkerError` if it ended first."""
        async for reply in self.replies():
            if reply["say"] == "warm":
                return
        raise WorkerError("the worker process ended while it was loading; see its messages above")

    async def finish(self) -> None:
        """Tell the process that no more commands will come, and wait until it has ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    async def end(self) -> None:
        """Kill the process."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


def _log_level() -> int:
    return logging.getLogger("ggp_agent").getEffectiveLevel()


class WorkerPool:
    """Hands out warm workers; always has one more in preparation.

    Use `take` for a worker and `release` to end it.  `spares` 0 keeps none in reserve, for those
    who know how many they need.  `tuners` are loaded ahead of the match, too.
    """

    def __init__(self, spares: int = 1, tuners: Sequence[str] = ()) -> None:
        self._spares, self._tuners = spares, tuners
        self._reserve: list[asyncio.Task[WorkerProcess]] = []
        self._taken: set[WorkerProcess] = set()
        self._closed = False

    async def prepare(self, count: int = 1) -> None:
        """Wait for `count` warm workers.  Raises `WorkerError` if they can't be started."""
        self._refill(count)
        for task in self._reserve[:count]:
            await asyncio.shield(task)

    async def take(self) -> WorkerProcess:
        """A warm worker.  Raises `WorkerError` if it can't be started."""
        if self._closed:
            raise WorkerError("the pool of workers has been closed")
        self._refill(1)
        task = self._reserve.pop(0)
        try:
            worker = await asyncio.shield(task)
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
            if isinstance(outcome, WorkerProcess):
                await outcome.end()
        for worker in list(self._taken):
            await worker.end()
        self._taken.clear()

    def _refill(self, least: int = 0) -> None:
        while not self._closed and len(self._reserve) < max(self._spares, least):
            self._reserve.append(asyncio.create_task(self._warm_worker()))

    async def _warm_worker(self) -> WorkerProcess:
        worker = await WorkerProcess.start(tuners=self._tuners)
        try:
            await worker.warm()
        except BaseException:
            await worker.end()
            raise
        return worker
