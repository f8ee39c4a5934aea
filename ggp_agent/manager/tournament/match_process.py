"""The process that runs matches of a tournament, to be started with `python -m`.

It reads commands and writes replies (see `match_commands`), one per line.

The end of standard input aborts the match that is running: its players over HTTP are told.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import compress
from pathlib import Path

from gdl.errors import GgpError
from gdl.rules import RuleSheet
from gdl.state_machine import CHANCE_ROLE, StateMachine
from ggp_agent.manager.local_player import LocalPlayer
from ggp_agent.manager.match_setup import MatchSetup
from ggp_agent.manager.players import HttpPlayer, Player
from ggp_agent.manager.record import MatchRecord
from ggp_agent.manager.referee import referee_machine
from ggp_agent.manager.runner import run_match
from ggp_agent.manager.tournament.in_process_player import InProcessPlayer
from ggp_agent.manager.tournament.match_commands import (
    COMMANDS,
    REPLIES,
    Done,
    Failed,
    IsWarm,
    Job,
    Reply,
    RunMatch,
    Step,
    Warm,
)
from ggp_agent.manager.tournament.results import MatchResult, count_errors
from ggp_agent.mind.warming import warm_up
from ggp_agent.player.workers import WorkerPool
from ggp_agent.protocol.json_lines import LINE_LIMIT, Unreadable
from ggp_agent.system.child_process import begin_as_child

Say = Callable[[Reply], None]

log = logging.getLogger(__name__)


class MatchRunner:
    """Runs one match after the other; keeps the reasoners of the games."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._games: dict[str, tuple[RuleSheet, StateMachine]] = {}

    async def run(self, job: Job) -> None:
        """Run a match and say how it went."""
        try:
            result = await self._run(job)
        except GgpError as error:
            log.warning("match %s: %s", job.match_id, error)
            self._say(Failed(str(error), hopeless=True))
        except Exception as error:
            log.exception("match %s", job.match_id)
            self._say(Failed(f"{type(error).__name__}: {error}", hopeless=False))
        else:
            self._say(Done(result.as_json()))

    def close(self) -> None:
        """Let the reasoners go."""
        for _, machine in self._games.values():
            machine.close()

    async def _run(self, job: Job) -> MatchResult:
        started, begun = datetime.now(UTC), time.monotonic()
        sheet, machine = await asyncio.to_thread(self._reasoner, job)
        pools = [WorkerPool(seat.agent_text(job.simulations), spares=0) for seat in job.seats]
        seats = [_seat(job, number, sheet, machine, pool) for number, pool in enumerate(pools)]
        try:
            if job.isolated:
                local = [not seat.urls for seat in job.seats]
                await asyncio.gather(*(pool.prepare() for pool in compress(pools, local)))
                begun = time.monotonic()
            record = await run_match(
                _setup(job, sheet, machine),
                seats,
                record_directory=job.records if job.isolated else None,
                on_step=lambda event: self._say(Step()),
            )
        finally:
            await asyncio.gather(*(seat.close() for seat in seats))
            await asyncio.gather(*(pool.close() for pool in pools))
        record.save(job.records)
        seconds = round(time.monotonic() - begun, 3)
        return _result(
            job, [sheet.write(role) for role in machine.roles], record, seats, seconds, started
        )

    def _reasoner(self, job: Job) -> tuple[RuleSheet, StateMachine]:
        if job.game not in self._games:
            sheet = RuleSheet.from_text(job.rules, job.game)
            self._games[job.game] = sheet, referee_machine(sheet)
        return self._games[job.game]


def _seat(
    job: Job, number: int, sheet: RuleSheet, machine: StateMachine, pool: WorkerPool
) -> Player:
    contestant = job.seats[number]
    if contestant.urls:
        return HttpPlayer(contestant.urls[0], contestant.name)
    seed = (job.seed + number) % 2**32
    if job.isolated:
        return LocalPlayer(contestant.name, pool, seed, None if job.scramble else sheet)
    return InProcessPlayer(contestant.as_agent(job.simulations), sheet, machine, seed)


def _setup(job: Job, sheet: RuleSheet, machine: StateMachine) -> MatchSetup:
    return MatchSetup(
        match_id=job.match_id,
        game=job.game,
        game_url=job.game_url,
        sheet=sheet,
        machine=machine,
        start_clock=job.start_clock,
        play_clock=job.play_clock,
        seed=job.seed,
        scramble=job.scramble,
        tournament=job.tournament,
    )


def _result(
    job: Job,
    roles: Sequence[str],
    record: MatchRecord,
    players: Sequence[Player],
    seconds: float,
    started: datetime,
) -> MatchResult:
    seated = [i for i, role in enumerate(roles) if role.lower() != CHANCE_ROLE]
    goals = record.goals or ()
    return MatchResult(
        match=job.match_id,
        game=job.game,
        round=job.round,
        seed=job.seed,
        roles=tuple(roles[i] for i in seated),
        agents=tuple(seat.name for seat in job.seats),
        goals=tuple(goals[i] for i in seated),
        moves=len(record.moves),
        errors=count_errors(record.errors, seated),
        totals=tuple(player.totals for player in players),
        by_clock=job.by_clock,
        cut_short=sum(player.cut_short for player in players),
        seconds=seconds,
        load=round(os.getloadavg()[0] / (os.cpu_count() or 1), 2),
        started=started.isoformat(timespec="seconds"),
    )


async def _serve(say: Say) -> None:
    """Carry out commands until standard input ends."""
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    runner = MatchRunner(say)
    running: asyncio.Task[None] | None = None
    while line := await reader.readline():
        match COMMANDS.read(line):
            case Warm(tuners):
                warm_up(tuners)
                say(IsWarm())
            case RunMatch(job):
                Path(job.records).mkdir(parents=True, exist_ok=True)
                running = asyncio.create_task(runner.run(job))
            case Unreadable(text):
                say(Failed(text, hopeless=False))
    if running is not None:
        running.cancel()
        await asyncio.wait({running})
    runner.close()


def main() -> None:
    """Serve the process that started this one."""
    replies = begin_as_child()

    def say(reply: Reply) -> None:
        with contextlib.suppress(OSError):
            replies.write(REPLIES.write(reply))
            replies.flush()

    asyncio.run(_serve(say))


if __name__ == "__main__":
    main()
    os._exit(0)  # threads may still be waiting for a grounder, which dies with us
