"""The process that runs matches of a tournament, to be started with `python -m`.

It reads commands and writes replies as JSON objects, one per line.  Commands (`"do"`): `warm`, and
`match` (see `Job`).  Replies (`"say"`): `warm`; `step` whenever a match has gone on, so that one
that hangs is noticed; `done` with the `result`; `failed` with the reason as `text`, and whether
the match can't be played at all (`hopeless`) or the process was to blame.

The end of standard input aborts the match that is running: its players over HTTP are told.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gdl.errors import GgpError
from gdl.rules import RuleSheet
from gdl.state_machine import CHANCE_ROLE, StateMachine
from ggp_agent.agents import tuners_of
from ggp_agent.manager.local_player import LocalPlayer
from ggp_agent.manager.match_setup import MatchSetup
from ggp_agent.manager.players import HttpPlayer, Player
from ggp_agent.manager.record import MatchRecord
from ggp_agent.manager.referee import referee_machine
from ggp_agent.manager.runner import run_match
from ggp_agent.manager.tournament.in_process_player import InProcessPlayer
from ggp_agent.manager.tournament.job import Job
from ggp_agent.manager.tournament.results import MatchResult, count_errors
from ggp_agent.mind.warming import warm_up
from ggp_agent.player.search_totals import Effort
from ggp_agent.player.workers import LINE_LIMIT, WorkerPool
from ggp_agent.system.child_process import die_with_parent

Say = Callable[..., None]

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
            self._say(say="failed", hopeless=True, text=str(error))
        except Exception as error:
            log.exception("match %s", job.match_id)
            self._say(say="failed", hopeless=False, text=f"{type(error).__name__}: {error}")
        else:
            self._say(say="done", result=result.as_json())

    def close(self) -> None:
        """Let the reasoners go."""
        for _, machine in self._games.values():
            machine.close()

    async def _run(self, job: Job) -> MatchResult:
        started, begun = datetime.now(UTC), time.monotonic()
        sheet, machine = await asyncio.to_thread(self._reasoner, job)
        here = [seat.as_agent() for seat in job.seats if not seat.urls]
        pool = WorkerPool(spares=0, tuners=tuners_of(here))
        seats = [_seat(job, number, sheet, machine, pool) for number in range(len(job.seats))]
        try:
            if job.isolated:
                await pool.prepare(len(here))
                begun = time.monotonic()
            record = await run_match(
                _setup(job, sheet, machine),
                seats,
                record_directory=job.records if job.isolated else None,
                on_step=lambda event: self._say(say="step"),
            )
        finally:
            await asyncio.gather(*(seat.close() for seat in seats))
            await pool.close()
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
    agent, seed = contestant.as_agent(job.simulations), (job.seed + number) % 2**32
    if job.isolated:
        return LocalPlayer(agent, pool, seed)
    return InProcessPlayer(agent, sheet, machine, seed)


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
    efforts: list[Effort | None] = [getattr(player, "effort", None) for player in players]
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
        effort=tuple(efforts),
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
        command = json.loads(line)
        if command["do"] == "warm":
            warm_up(command["tuners"])
            say(say="warm")
        else:
            Path(command["job"]["records"]).mkdir(parents=True, exist_ok=True)
            running = asyncio.create_task(runner.run(Job.from_json(command["job"])))
    if running is not None:
        running.cancel()
        await asyncio.wait({running})
    runner.close()


def main() -> int:
    """Serve the process that started this one."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    logging.basicConfig(
        level=os.environ.get("GGP_AGENT_LOG", "WARNING"),
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s",
    )
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(**reply: Any) -> None:
        with contextlib.suppress(OSError):
            replies.write(json.dumps(reply) + "\n")
            replies.flush()

    asyncio.run(_serve(say))
    return 0


if __name__ == "__main__":
    code = main()
    os._exit(code)  # threads may still be waiting for a grounder, which dies with us
