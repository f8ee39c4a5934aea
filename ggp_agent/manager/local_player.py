"""A player run by the manager itself: one of our agents in a worker process, without HTTP."""

from __future__ import annotations

import time

from gdl.rules import RuleSheet
from ggp_agent.errors import PlayerError
from ggp_agent.player.match import AgentMaker, AgentMatch
from ggp_agent.player.search_totals import SearchTotals
from ggp_agent.player.tuning_record import TuningRecord
from ggp_agent.player.workers import WorkerPool
from ggp_agent.protocol.messages import Abort, Play, Start, Stop


class LocalPlayer:
    """`ggp_agent.manager.players.Player` for the agent of a pool; plays one match at a time.

    `sheet` is what the rules have been read to, for matches that are told in its own words.
    """

    cut_short = 0

    def __init__(
        self, name: str, pool: WorkerPool, seed: int, sheet: RuleSheet | None = None
    ) -> None:
        self.name = name
        self._pool, self._seed, self._sheet = pool, seed, sheet
        self._maker: AgentMaker | None = None
        self._match: AgentMatch | None = None
        self.totals = SearchTotals()
        self.tuning = TuningRecord()

    async def greet(self) -> None:
        """See `Player.greet`; it is here."""

    async def start(self, start: Start) -> None:
        """See `Player.start`."""
        came = time.monotonic()
        await self.close()
        if self._maker is None:
            self._maker = AgentMaker(self._pool, await self._pool.prepare(), self._seed)
        self._match = await self._maker.open(start, came, self._sheet)
        self.totals = self._match.totals  # stays when the match is closed
        self.tuning = self._match.tuning
        await self._match.start()

    async def play(self, play: Play) -> str:
        """See `Player.play`."""
        if self._match is None:
            raise PlayerError(f"{self.name} has not been told of match {play.match_id}")
        return await self._match.play(play.moves, time.monotonic())

    async def stop(self, stop: Stop) -> None:
        """See `Player.stop`."""
        await self.close()

    async def abort(self, abort: Abort) -> None:
        """See `Player.abort`."""
        await self.close()

    async def close(self) -> None:
        """See `Player.close`; the pool stays open."""
        match, self._match = self._match, None
        if match is not None:
            await match.close()
