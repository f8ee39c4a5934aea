"""An agent that plays inside the process which runs the match: nothing but the agent decides.

That is for budgets of simulations or of seconds: no process to start for each match, no clock to
wait for, and, with simulations, the same seed gives the same moves.  Where the clock decides,
`ggp_agent.manager.local_player` plays.
"""

from __future__ import annotations

import time

from gdl.rules import RuleSheet, read_term
from gdl.state_machine import StateMachine
from ggp_agent.agents import Agent
from ggp_agent.errors import PlayerError
from ggp_agent.mind.match_state import MatchState
from ggp_agent.mind.prepared import uses_start_clock
from ggp_agent.mind.stopwatch import Stopwatch
from ggp_agent.player.clock import MatchClock
from ggp_agent.player.search_totals import SearchTotals
from ggp_agent.player.tuning_record import TuningRecord
from ggp_agent.protocol.messages import Abort, Play, Start, Stop

MOST_OF_IT = 0.8
"""Who stops after this share of the time, the simulations not done, was stopped by the clock."""


class InProcessPlayer:
    """`ggp_agent.manager.players.Player` for an agent; one match at a time, not scrambled.

    It thinks within `play`, and within `start` if it plays against itself first, which holds up
    everything else in the process.  The machine stays open.
    """

    def __init__(self, agent: Agent, sheet: RuleSheet, machine: StateMachine, seed: int) -> None:
        self.name = agent.name
        self.totals = SearchTotals()
        self.tuning = TuningRecord()
        self.cut_short = 0
        """See `Player.cut_short`."""
        self._agent, self._sheet, self._machine, self._seed = agent, sheet, machine, seed
        self._stopwatch = Stopwatch()
        self._play_clock = 0.0
        self._match: MatchState | None = None

    async def greet(self) -> None:
        """See `Player.greet`; it is here."""

    async def start(self, start: Start) -> None:
        """See `Player.start`."""
        self._play_clock = start.play_clock
        self._match = MatchState(self._sheet, read_term(start.role), self._agent, self._seed)
        self._match.use(self._machine)
        if uses_start_clock(self._agent):
            margin = self._agent.number("margin")
            by = MatchClock(time.monotonic(), start.start_clock).answer_by(margin)
            self._match.think(by)

    async def play(self, play: Play) -> str:
        """See `Player.play`."""
        if self._match is None:
            raise PlayerError(f"{self.name} has not been told of match {play.match_id}")
        by = MatchClock(time.monotonic(), self._play_clock).answer_by(self._agent.number("margin"))
        if play.moves is not None:
            self._match.advance(tuple(map(read_term, play.moves)))
        if len(self._match.own_moves()) > 1:
            self._think(self._match, by)
        return self._match.write(self._match.choose())

    async def stop(self, stop: Stop) -> None:
        """See `Player.stop`."""
        self._match = None

    async def abort(self, abort: Abort) -> None:
        """See `Player.abort`."""
        self._match = None

    async def close(self) -> None:
        """See `Player.close`."""
        self._match = None

    def _think(self, match: MatchState, by: float) -> None:
        assert match.thinker is not None
        begun = time.monotonic()
        with self._stopwatch.running():
            match.thinker.think(by, lambda: False)
        report = {**match.thinker.report(), **self._stopwatch.lap()}
        if not self._machine.in_process:
            del report["cpu_s"]
        before = self.totals.simulations
        self.totals.add(report)
        self.tuning.add(report)
        done = self.totals.simulations - before
        # a search stops a little before its deadline, where one more batch would overrun it
        out_of_time = time.monotonic() - begun > MOST_OF_IT * (by - begun)
        if out_of_time and done < self._agent.number("simulations"):
            self.cut_short += 1
