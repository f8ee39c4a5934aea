"""The processes that a tournament's matches run in, as the driver sees them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from ggp_agent.errors import TournamentError, WorkerError
from ggp_agent.manager.tournament.match_commands import (
    COMMANDS,
    REPLIES,
    Command,
    Done,
    Failed,
    IsWarm,
    Job,
    Reply,
    RunMatch,
    Warm,
)
from ggp_agent.manager.tournament.results import MatchResult
from ggp_agent.player.child_processes import ChildProcess
from ggp_agent.protocol.json_lines import Unreadable

PROGRAM = "ggp_agent.manager.tournament.match_process"
SETTLE_SECONDS = 180.0
"""How long a process may be silent beyond the clocks: it grounds rules and starts others."""
GOODBYE_SECONDS = 4.0
"""How long a match process may take to tell the players of a match that it is over."""

MatchProcess = ChildProcess[Command, Reply]
"""A process in which matches are run, one after the other."""


async def new_match_process(tuners: Sequence[str]) -> MatchProcess:
    """A warm process, with these tuners.

    Raises `TournamentError`: where none can be had, no match is to blame.
    """
    try:
        process = await ChildProcess.start(PROGRAM, COMMANDS, REPLIES)
    except WorkerError as error:
        raise TournamentError(str(error)) from error
    try:
        await _warm(process, tuners)
    except WorkerError as error:
        await process.end()
        raise TournamentError(f"a process to run matches in did not start: {error}") from error
    except BaseException:
        await process.end()
        raise
    return process


async def _warm(process: MatchProcess, tuners: Sequence[str]) -> None:
    """Wait until a process has loaded everything.  Raises `WorkerError` if it can't or ended."""
    await process.send(Warm(tuple(tuners)))
    async for reply in process.replies():
        match reply:
            case IsWarm():
                return
            case Failed(text) | Unreadable(text):
                raise WorkerError(text)
    raise WorkerError("the process ended while it was loading; see its messages above")


async def dismiss(process: MatchProcess) -> None:
    """End a process, after it has told the players of its match that this is over."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GOODBYE_SECONDS):
            await process.finish()
    await process.end()


async def run_on(process: MatchProcess, job: Job) -> MatchResult | Failed:
    """Have a process run a match.  Raises `WorkerError` where it dies or hangs."""
    patience = SETTLE_SECONDS + job.start_clock + len(job.seats) * (job.play_clock + 2)
    await process.send(RunMatch(job))
    replies = process.replies()
    while True:
        try:
            async with asyncio.timeout(patience):
                reply = await anext(replies)
        except TimeoutError:
            raise WorkerError(f"the process did not go on for {patience:g} s") from None
        except StopAsyncIteration:
            raise WorkerError("the process that ran the match died") from None
        match reply:
            case Done(result):
                return MatchResult.from_json(result)
            case Failed():
                return reply
            case Unreadable(text):
                raise WorkerError(text)
