"""A player run by the manager itself: one of our agents in a worker process, without HTTP."""

from __future__ import annotations

from ggp_agent.agents import Agent
from ggp_agent.errors import PlayerError
from ggp_agent.player.match import AgentMaker, AgentMatch
from ggp_agent.player.search_totals import Effort
from ggp_agent.player.tuning_record import Course
from ggp_agent.player.workers import WorkerPool
from ggp_agent.protocol.messages import Abort, Play, Start, Stop


class LocalPlayer:
    """`ggp_agent.manager.players.Player` for an agent; plays one match at a time."""

    cut_short = 0

    def __init__(self, agent: Agent, pool: WorkerPool, seed: int) -> None:
        self._agent = agent
        self._maker = AgentMaker(agent, pool, seed)
        self._match: AgentMatch | None = None
        self.effort = Effort()
        self.course = Course()

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._agent.name

    async def greet(self) -> None:
        """See `Player.greet`; it is here."""

    async def start(self, start: Start) -> None:
        """See `Player.start`."""
        await self.close()
        self._match = await self._maker.open(start)
        self.effort = self._match.effort  # stays when the match is closed
        self.course = self._match.course
        await self._match.start()

    async def play(self, play: Play) -> str:
        """See `Player.play`."""
        if self._match is None:
            raise PlayerError(f"{self.name} has not been told of match {play.match_id}")
        return await self._match.play(play.moves)

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
