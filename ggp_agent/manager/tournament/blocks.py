"""The blocks of a tournament: one match for every assignment of two agents to the roles of a game.

They are what a sequential test looks at, in the order of the schedule whatever the order in which
matches ended, so that the verdict depends on nothing but the matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from ggp_agent.manager.tournament.design import Fixture
from ggp_agent.manager.tournament.results import MatchResult
from ggp_agent.statistics import Sprt, SprtState, agent_points


def block_scores(
    fixtures: Iterable[Fixture], results: Mapping[str, MatchResult], agent: str
) -> Iterator[Fraction]:
    """The agent's mean points in each block, up to the first block that isn't finished.

    `fixtures` in the order of the schedule, `results` by the fixtures' keys.  Games for one role,
    and blocks with a match that was aborted, are passed over.
    """
    contested = (fixture for fixture in fixtures if len(fixture.seats) > 1)
    for _, group in groupby(contested, key=lambda fixture: fixture.block):
        block = [results.get(fixture.key) for fixture in group]
        finished = [result for result in block if result is not None]
        if len(finished) < len(block):
            return
        if all(result.is_complete for result in finished):
            points = [agent_points(r.agents, r.goals)[agent] for r in finished]
            yield sum(points, Fraction(0)) / len(points)


@dataclass
class RunningTest:
    """A sequential test of the first agent that is asked again and again as results come in."""

    test: Sprt
    fixtures: tuple[Fixture, ...]
    agent: str
    state: SprtState

    @classmethod
    def of(cls, test: Sprt, fixtures: tuple[Fixture, ...], agent: str) -> RunningTest:
        """The test before any result."""
        return cls(test, fixtures, agent, test.evaluate([]))

    def update(self, results: Mapping[str, MatchResult]) -> SprtState:
        """The state with these results; the work is done only where a block has been finished."""
        scores = list(block_scores(self.fixtures, results, self.agent))
        if self.state.verdict == "undecided":
            for count in range(self.state.blocks + 1, len(scores) + 1):
                self.state = self.test.evaluate(scores[:count])
                if self.state.verdict != "undecided":
                    break
        return self.state
