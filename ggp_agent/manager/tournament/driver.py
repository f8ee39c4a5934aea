"""Playing a tournament: matches in parallel, results as they come, whatever dies on the way.

An agent that thinks owns its core. A match in which nobody thinks by the clock runs in one process
(a match process), agents thinking one after the other, and takes one core. Where the clock decides,
every agent has a process of its own and the match takes as many cores as it has agents that think
on this machine (more for those with several threads): in the opponent's time they may wait, but
during the start clock, and wherever moves are simultaneous, all of them think.

A match process that dies or hangs is replaced, and its match run again with every agent in a
process of its own, so that the one to blame loses moves and nothing else. A match that can't be
played at all, by faulty rules, is recorded as aborted and not tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from gdl.errors import GgpError
from ggp_agent.errors import TournamentError, WorkerError
from ggp_agent.manager.players import HttpPlayer
from ggp_agent.manager.tournament.blocks import RunningTest
from ggp_agent.manager.tournament.contestants import Contestant
from ggp_agent.manager.tournament.design import Fixture
from ggp_agent.manager.tournament.match_commands import Failed, Job
from ggp_agent.manager.tournament.match_processes import (
    GOODBYE_SECONDS,
    MatchProcess,
    dismiss,
    new_match_process,
    run_on,
)
from ggp_agent.manager.tournament.plan import Plan
from ggp_agent.manager.tournament.results import (
    MatchResult,
    ResultsFile,
    has_results,
    read_results,
    without_repeats,
)
from ggp_agent.protocol.messages import Abort
from ggp_agent.statistics import SprtState, Verdict

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """How far a tournament is.  `result` is the one that has just come in, None at the start."""

    done: int
    total: int
    result: MatchResult | None
    test: SprtState | None


async def run_tournament(
    plan: Plan, on_progress: Callable[[Progress], None] | None = None
) -> list[MatchResult]:
    """Play what is missing of a tournament and return the results of all matches, as they ended.

    May be cancelled, and begun again with the same plan, at any time.  Raises `TournamentError`
    where the folder holds the results of another tournament or a player can't be reached at the
    start.
    """
    if has_results(plan.results_path):
        differences = plan.differences(read_results(plan.results_path)[0])
        if differences:
            raise TournamentError(
                f"{plan.results_path} belongs to another tournament ({'; '.join(differences)}); "
                "choose another folder or name"
            )
    file = ResultsFile(plan.results_path, plan.header())
    try:
        return await _Run(plan, file, on_progress).run()
    finally:
        file.close()


class _Run:
    """One run of a tournament, from a start or resumption to the end or interruption."""

    def __init__(
        self, plan: Plan, file: ResultsFile, on_progress: Callable[[Progress], None] | None
    ) -> None:
        self.plan, self.file, self.on_progress = plan, file, on_progress
        self.results = without_repeats(read_results(file.path)[1])
        self.keys = {plan.match_id(fixture): fixture.key for fixture in plan.fixtures}
        self.done = {self.keys[r.match]: r for r in self.results if r.match in self.keys}
        self.pending = [fixture for fixture in plan.fixtures if fixture.key not in self.done]
        self.cores = max(1, plan.cores)
        self.idle: list[MatchProcess] = []
        self.urls_in_use: set[str] = set()
        self.test: RunningTest | None = None
        if plan.sprt is not None:
            self.test = RunningTest.of(plan.sprt, plan.fixtures, plan.agents[0].name)
            self.test.update(self.done)

    async def run(self) -> list[MatchResult]:
        self._tell(None)
        if self._wanted():
            await _greet(self.plan)
        running: set[asyncio.Task[MatchResult]] = set()
        try:
            while running or self._wanted():
                for work in self._startable():
                    running.add(asyncio.create_task(work))
                finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    self._enter(task.result())
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await asyncio.gather(*(process.end() for process in self.idle))
        return self.results

    # --- Which match comes next ----------------------------------------------------------------

    def _wanted(self) -> bool:
        """Whether more matches are to be started."""
        decided = self.test is not None and self.test.state.verdict is not Verdict.UNDECIDED
        return bool(self.pending) and not decided

    def _startable(self) -> Iterator[Any]:
        """Matches for the cores and players that are free, in the order of the schedule.

        One whose player is busy is overtaken by those behind it; one that needs more cores is not,
        for it might wait for ever.
        """
        waiting: list[Fixture] = []
        while self._wanted():
            fixture = self.pending.pop(0)
            seats = self._seats(fixture)
            if seats is None:
                waiting.append(fixture)
                continue
            need = min(self.plan.cores, self._cores_for(seats))
            if need > self.cores:
                waiting.append(fixture)
                break
            self.cores -= need
            urls = {url for seat in seats for url in seat.urls}
            self.urls_in_use |= urls
            yield self._play(fixture, seats, need, urls)
        self.pending[:0] = waiting

    def _seats(self, fixture: Fixture) -> tuple[Contestant, ...] | None:
        """The contestants by role, a free URL for each of those over HTTP; None if none is free."""
        taken = set(self.urls_in_use)
        seats = []
        for number in fixture.seats:
            contestant = self.plan.agents[number]
            if contestant.urls:
                free = [url for url in contestant.urls if url not in taken]
                if not free:
                    return None
                taken.add(free[0])
                contestant = dataclasses.replace(contestant, urls=(free[0],))
            seats.append(contestant)
        return tuple(seats)

    def _by_clock(self, seats: tuple[Contestant, ...]) -> bool:
        return any(seat.needs_clock(self.plan.simulations) for seat in seats)

    def _cores_for(self, seats: tuple[Contestant, ...]) -> int:
        thinking = [seat.cores() for seat in seats]
        if not self._by_clock(seats):
            return max(1, *thinking)  # one after the other
        return self.plan.cores_per_match or max(1, sum(thinking))

    # --- Playing a match -----------------------------------------------------------------------

    async def _play(
        self, fixture: Fixture, seats: tuple[Contestant, ...], cores: int, urls: set[str]
    ) -> MatchResult:
        """Play a match, again with isolated agents where the process that ran it failed."""
        isolated = self.plan.scramble or self._by_clock(seats)
        try:
            job = self._job(fixture, seats, isolated)
            outcome = await self._attempt(job)
            if isinstance(outcome, Failed) and not outcome.hopeless:
                log.warning("match %s is run again: %s", job.match_id, outcome.text)
                job = self._job(fixture, seats, isolated=True)
                outcome = await self._attempt(job)
            return self._aborted(job, outcome) if isinstance(outcome, Failed) else outcome
        finally:
            self.cores += cores
            self.urls_in_use -= urls

    async def _attempt(self, job: Job) -> MatchResult | Failed:
        try:
            async with self._match_process() as process:
                outcome = await run_on(process, job)
                if isinstance(outcome, Failed) and not outcome.hopeless:
                    raise WorkerError(outcome.text)
                return outcome
        except WorkerError as error:
            return Failed(str(error), hopeless=False)

    @contextlib.asynccontextmanager
    async def _match_process(self) -> AsyncIterator[MatchProcess]:
        """A warm process; one whose match did not end well is not used again."""
        process = self.idle.pop() if self.idle else await new_match_process(self.plan.tuners)
        try:
            yield process
        except asyncio.CancelledError:
            await dismiss(process)
            raise
        except BaseException:
            await process.end()
            raise
        self.idle.append(process)

    def _job(self, fixture: Fixture, seats: tuple[Contestant, ...], isolated: bool) -> Job:
        plan, game = self.plan, self.plan.game(fixture.game)
        return Job(
            match_id=plan.match_id(fixture),
            tournament=plan.name,
            game=game.key,
            game_url=game.url,
            rules=game.text,
            round=fixture.round,
            seed=fixture.seed(plan.seed),
            seats=seats,
            simulations=plan.simulations,
            start_clock=plan.start_clock,
            play_clock=plan.play_clock,
            scramble=plan.scramble,
            records=str(plan.records_path),
            by_clock=self._by_clock(seats),
            isolated=isolated,
        )

    def _aborted(self, job: Job, failure: Failed) -> MatchResult:
        return MatchResult(
            match=job.match_id,
            game=job.game,
            round=job.round,
            seed=job.seed,
            roles=self.plan.game(job.game).roles,
            agents=tuple(seat.name for seat in job.seats),
            aborted=failure.text,
        )

    def _enter(self, result: MatchResult) -> None:
        self.file.append(result)
        self.results.append(result)
        self.done[self.keys[result.match]] = result
        if self.test is not None:
            self.test.update(self.done)
        self._tell(result)

    def _tell(self, result: MatchResult | None) -> None:
        if self.on_progress is not None:
            state = self.test.state if self.test else None
            self.on_progress(Progress(len(self.done), len(self.plan.fixtures), result, state))


async def _greet(plan: Plan) -> None:
    """See that the players over HTTP are there and free.

    One may still be in a match of a run that was killed: it is told that this has been aborted.
    """
    for contestant in plan.agents:
        for url in contestant.urls:
            player = HttpPlayer(url, contestant.name)
            if await player.info() != "busy":
                continue
            for match_id in _unfinished(plan):
                with contextlib.suppress(GgpError, TimeoutError):
                    async with asyncio.timeout(GOODBYE_SECONDS):
                        await player.abort(Abort(match_id))
            if await player.info() == "busy":
                raise TournamentError(f"the player at {url} is busy with another match")


def _unfinished(plan: Plan) -> list[str]:
    """The ids of matches that have a record and no result."""
    finished = {result.match for result in read_results(plan.results_path)[1]}
    records = plan.records_path.glob("*.json")
    return [record.stem for record in records if record.stem not in finished]
