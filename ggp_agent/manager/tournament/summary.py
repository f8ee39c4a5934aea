"""What the results of matches add up to, per game and agent and over all games.

Win percentages are those of the SA-MCTS paper: the mean share of one point a match, split among the
best; over all games the mean of the games' percentages, each game counting the same.  A game for
one role is not won against anybody: it has mean goals only.  Matches that were aborted don't count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any

from ggp_agent.manager.tournament.blocks import block_scores
from ggp_agent.manager.tournament.design import match_id, schedule
from ggp_agent.manager.tournament.results import ERROR_KINDS, MatchResult
from ggp_agent.player.search_totals import SearchTotals
from ggp_agent.statistics import (
    Interval,
    Rating,
    Sprt,
    SprtState,
    agent_points,
    average_interval,
    mean_interval,
    rate,
)

FAIR_SHARE = 0.9
"""Less of a core than this while thinking, and the machine was too loaded for the match."""


@dataclass(frozen=True, slots=True)
class Line:
    """An agent in a game, or (`game` None) over all games.

    `win` and `goal` are percentages and goals, both 0 to 100, with 95 % intervals; `length` is the
    mean number of joint moves; rates are per second of thinking, None for who doesn't tell.
    """

    game: str | None
    agent: str
    matches: int
    win: Interval | None
    goal: Interval
    length: float
    simulations_per_second: float | None
    nodes_per_second: float | None
    errors: Mapping[str, int]


def played(
    results: Iterable[MatchResult], agent: str, against: str | None = None
) -> list[MatchResult]:
    """The complete matches of an agent, or only those against another one."""
    return [
        result
        for result in results
        if result.is_complete
        and agent in result.agents
        and (against is None or against in result.agents)
    ]


def agents_of(results: Iterable[MatchResult]) -> list[str]:
    """The agents in the order in which they appear."""
    return list(dict.fromkeys(agent for result in results for agent in result.agents))


def games_of(results: Iterable[MatchResult]) -> list[str]:
    """The games in the order in which they appear."""
    return list(dict.fromkeys(result.game for result in results))


def summarize(results: Sequence[MatchResult], against: str | None = None) -> list[Line]:
    """A line per game and agent, then one per agent over all games.

    `against` leaves only matches of that agent, and the lines of its opponents.
    """
    lines: list[Line] = []
    agents = [agent for agent in agents_of(results) if agent != against]
    for game in games_of(results):
        of_game = [result for result in results if result.game == game]
        for agent in agents:
            matches = played(of_game, agent, against)
            if matches:
                lines.append(_line(game, agent, matches))
    for agent in agents:
        own = [line for line in lines if line.agent == agent]
        if own:
            lines.append(_overall(agent, own, played(results, agent, against)))
    return lines


def versus(results: Sequence[MatchResult], agent: str, other: str) -> Interval | None:
    """The agent's win percentage against another one over all games; None if they never met."""
    wins = [
        line.win
        for line in summarize([*results], against=other)
        if line.agent == agent and line.game is None
    ]
    return wins[0] if wins else None


def ratings(results: Sequence[MatchResult]) -> list[Rating]:
    """The agents' ratings, best first.  Raises `ValueError` where they can't be compared."""
    met = [result for result in results if result.is_complete and len(set(result.agents)) == 2]
    pairs = []
    for result in met:
        (one, points), (other, _) = agent_points(result.agents, result.goals).items()
        pairs.append((one, other, points))
    return rate(agents_of(met), pairs)


def state_of_test(header: Mapping[str, Any], results: Iterable[MatchResult]) -> SprtState | None:
    """Where the sequential test of a tournament stands; None where it has none."""
    if not header.get("sprt"):
        return None
    h0, h1, alpha, beta = header["sprt"]
    roles = {key: len(game["roles"]) for key, game in header["games"].items()}
    agents = [agent["name"] for agent in header["agents"]]
    fixtures = list(schedule(roles, len(agents), header["matches"]))
    by_id = {result.match: result for result in results}
    done = {
        fixture.key: by_id[identity]
        for fixture in fixtures
        if (identity := match_id(header["name"], fixture)) in by_id
    }
    return Sprt(h0 / 100, h1 / 100, alpha, beta).run(block_scores(fixtures, done, agents[0]))


def warnings(results: Sequence[MatchResult]) -> list[str]:
    """What a reader of the numbers should know, one line each."""
    found = []
    aborted = [result for result in results if not result.is_complete]
    if aborted:
        found.append(
            f"{len(aborted)} matches could not be played and don't count; the first: "
            f"{aborted[0].match}: {aborted[0].aborted}"
        )
    timed = [result for result in results if result.by_clock]
    starved = [r for r in timed if r.cpu_share is not None and r.cpu_share < FAIR_SHARE]
    if starved:
        found.append(
            f"the machine was too loaded in {len(starved)} of {len(timed)} matches by the clock: "
            f"agents had a core for less than {FAIR_SHARE:.0%} of their thinking time; the results "
            "are in doubt"
        )
    cut = sum(result.cut_short for result in results)
    if cut:
        found.append(
            f"the clock cut {cut} moves short of their simulations; lengthen the play clock"
        )
    return found


def _line(game: str | None, agent: str, matches: Sequence[MatchResult]) -> Line:
    totals = [one for result in matches for one in _totals_of(result, agent)]
    contested = all(len(result.agents) > 1 for result in matches)
    points = [agent_points(result.agents, result.goals)[agent] for result in matches]
    return Line(
        game,
        agent,
        len(matches),
        mean_interval(points).scaled(100) if contested else None,
        mean_interval([_goal(result, agent) for result in matches]).scaled(100),
        fmean(result.moves for result in matches),
        _rate(totals, "simulations"),
        _rate(totals, "nodes"),
        _errors(agent, matches),
    )


def _overall(agent: str, lines: Sequence[Line], matches: Sequence[MatchResult]) -> Line:
    totals = [one for result in matches for one in _totals_of(result, agent)]
    wins = [line.win for line in lines if line.win is not None]
    return Line(
        None,
        agent,
        len(matches),
        average_interval(wins) if wins else None,
        average_interval([line.goal for line in lines]),
        fmean(result.moves for result in matches),
        _rate(totals, "simulations"),
        _rate(totals, "nodes"),
        _errors(agent, matches),
    )


def _seats_of(result: MatchResult, agent: str) -> list[int]:
    return [seat for seat, name in enumerate(result.agents) if name == agent]


def _totals_of(result: MatchResult, agent: str) -> list[SearchTotals]:
    totals = (result.totals[s] for s in _seats_of(result, agent) if s < len(result.totals))
    return [one for one in totals if one is not None]


def _goal(result: MatchResult, agent: str) -> Fraction:
    """The mean goal of the agent's roles, as a part of 1."""
    goals = [result.goals[seat] for seat in _seats_of(result, agent)]
    return Fraction(sum(goals), 100 * len(goals))


def _rate(totals: Sequence[SearchTotals], what: str) -> float | None:
    total = sum(getattr(one, what) for one in totals)
    seconds = sum(one.seconds for one in totals)
    return total / seconds if total and seconds else None


def _errors(agent: str, matches: Sequence[MatchResult]) -> dict[str, int]:
    return {
        kind: sum(
            result.errors[kind][seat]
            for result in matches
            if kind in result.errors
            for seat in _seats_of(result, agent)
        )
        for kind in ERROR_KINDS
    }
