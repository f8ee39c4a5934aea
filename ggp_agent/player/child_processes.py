"""A child process that is told commands and gives replies, both as dataclasses on JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

from ggp_agent.errors import WorkerError
from ggp_agent.protocol.json_lines import LINE_LIMIT, Unreadable, Vocabulary
from ggp_agent.system.child_process import LOG_LEVEL

Command = TypeVar("Command")
Reply = TypeVar("Reply")


class ChildProcess(Generic[Command, Reply]):
    """One process that runs a module of ours; `send` commands, iterate over `replies`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        commands: Vocabulary[Command],
        replies: Vocabulary[Reply],
    ) -> None:
        self._process, self._commands, self._replies = process, commands, replies

    @classmethod
    async def start(
        cls, module: str, commands: Vocabulary[Command], replies: Vocabulary[Reply]
    ) -> ChildProcess[Command, Reply]:
        """Start a process.  Raises `WorkerError` if that is impossible."""
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
                env={**os.environ, LOG_LEVEL: logging.getLevelName(_log_level())},
            )
        except OSError as error:
            raise WorkerError(f"cannot start a worker process: {error}") from error
        return cls(process, commands, replies)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def send(self, command: Command) -> None:
        """Send a command.  Raises `WorkerError` if the process is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(self._commands.write(command).encode())
            await self._process.stdin.drain()
        except OSError as error:
            raise WorkerError("the worker process is gone") from error

    async def replies(self) -> AsyncIterator[Reply | Unreadable]:
        """What the process says, until it ends."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            yield self._replies.read(line)

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
