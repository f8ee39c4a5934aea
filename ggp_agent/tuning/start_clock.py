"""What to do with a long start clock: choose the parameters for the match by games of self-play.

First it is asked how greedy playouts are to be.  From the games that are played for that an
evaluation of states is learnt, and then it is asked whether playouts are to be cut and evaluated.

A question is put twice: to small searches, in which all values play, and to searches as large as
the time allows, in which the agent's own value plays against the best of the others.  What wins
small searches need not win large ones, for in small ones any knowledge helps.  So the logarithm of
the odds in both is extrapolated, as a line over that of the simulations, to searches as they are in
a match, and the value is changed if the odds there are better than even by half of their standard
error: with no reason to expect either, that is the better guess.  But simulations that know less
and win small searches nevertheless, clearly, will win large ones all the more, and are chosen at
once.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.parameters import Parameter, declare
from ggp_agent.search.stopping import Interrupted
from ggp_agent.tuning.evaluation import Weights, fit
from ggp_agent.tuning.self_play import Scores, SelfPlayGames, Size

declare(
    Parameter(
        "self_play",
        0.0,
        "most of the start clock for games of self-play, which choose parameters for the match; "
        "inf: no more than the agent's budget per move, if it has one",
        infinite=True,
        unit="s",
    ),
)

LEAST_SECONDS = 2.0
"""With less there is no self-play."""
SEARCH_SHARE = 0.15
"""Of the start clock, for the search that comes after it."""


SMALL = Size(simulations=64, games=64, apart=False)
SMALL_SHARE = 0.3
"""Of a question's time, for small searches."""
LARGE_GAMES = 4
"""Games of large searches at once: there must be time for the first ones to end."""
LARGEST = 4096
"""simulations of a large search, at most"""
SLOW = 512
"""simulations; where there is no time for as many, all share a history as in small searches"""
WANTED_GAMES = 24
"""Large searches are so large that so many games come to an end in their time."""
MATCH_SIMULATIONS = 30_000
"""per move, for which is asked"""
LEAST_GAMES = 8
CLEAR_LEAD = 2.0
"""In standard errors; it is enough for a value that knows less."""
NEEDED_ERRORS = 0.5
"""Standard errors by which the odds have to be better than even."""


class Question(NamedTuple):
    """A parameter, the values that play besides the agent's own, and the share of the time."""

    parameter: str
    values: tuple[float, ...]
    share: float
    less: float
    """the value with which simulations know least of the game"""


QUESTIONS = (
    Question("epsilon", (0.2, 0.4, 0.7, 1.0), 0.5, less=1.0),
    Question("cut", (math.inf, 3.0, 8.0), 0.5, less=math.inf),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What self-play has found."""

    agent: Agent
    evaluation: Weights | None
    report: dict[str, object]
    """as JSON values"""


def choose_by_self_play(
    game: CompiledModel, agent: Agent, seed: int, deadline: float, interrupted: Interrupted
) -> Choice:
    """Play until the deadline, a reading of `time.monotonic()`, and choose what won."""
    begin = end = time.monotonic()
    games = SelfPlayGames(game, agent, seed)
    random = np.random.Generator(np.random.PCG64([seed, 6]))
    weights: Weights | None = None
    report: dict[str, object] = {}
    for question in QUESTIONS:
        end += question.share * (deadline - begin)
        if question.parameter == "cut":
            seconds = deadline - time.monotonic()
            weights = fit(games.positions, game.layout.fluents, random, seconds)
            if weights is None:
                break
            games.evaluate_by(*weights)
        agent, report[question.parameter] = _answer(games, agent, question, end, interrupted)
    report["seconds"] = round(time.monotonic() - begin, 2)
    return Choice(agent, weights, report)


def _answer(
    games: SelfPlayGames, agent: Agent, question: Question, end: float, interrupted: Interrupted
) -> tuple[Agent, dict[str, object]]:
    """The agent with the value that is to be preferred, and what speaks for it."""
    own = agent.number(question.parameter)
    others = [value for value in question.values if value != own]
    entrants = [agent.with_settings([f"{question.parameter}={value}"]) for value in (own, *others)]
    now = time.monotonic()
    until = now + SMALL_SHARE * (end - now)
    small = games.play(entrants, SMALL, until, interrupted, latest=(until + end) / 2)
    best = 1 + int(np.argmax(small.means[1:]))
    report: dict[str, object] = {
        "values": [str(value) for value in (own, *others)],
        **_told(SMALL, small),
        "chosen": str(own),
    }
    if not games.finished_last:
        return agent, report
    if others[best - 1] == question.less and _lead(small, best) >= CLEAR_LEAD:
        report["chosen"] = str(others[best - 1])
        return entrants[best], report
    size = _large(games, end - time.monotonic())
    large = games.play([agent, entrants[best]], size, end, interrupted)
    report["large"] = {"values": [str(own), str(others[best - 1])], **_told(size, large)}
    small = Scores(small.totals[[0, best]], small.games[[0, best]])
    if min(large.games.min(), small.games.min()) < LEAST_GAMES:
        return agent, report
    odds, error = extrapolated(small, SMALL.simulations, large, size.simulations)
    report["log_odds"] = [round(odds, 2), round(error, 2)]
    if odds <= NEEDED_ERRORS * error:
        return agent, report
    report["chosen"] = str(others[best - 1])
    return entrants[best], report


def _lead(scores: Scores, other: int) -> float:
    """By how many standard errors another entrant scored more than the first."""
    means, games = scores.means, scores.games[[0, other]]
    return float(means[other] - means[0]) / math.sqrt((0.25 / np.maximum(1.0, games)).sum())


def extrapolated(small: Scores, few: int, large: Scores, many: int) -> tuple[float, float]:
    """Logarithm of the odds of the second of two entrants in a match, and its standard error.

    It is a line through what they are in searches of `few` and of `many` simulations.
    """
    reach = 0.0
    if many > few:
        reach = math.log(MATCH_SIMULATIONS / many) / math.log(many / few)
    (near, near_variance), (far, far_variance) = _log_odds(large), _log_odds(small)
    odds = near + reach * (near - far)
    return odds, math.sqrt((1 + reach) ** 2 * near_variance + reach**2 * far_variance)


def _log_odds(scores: Scores) -> tuple[float, float]:
    """Of the second of two entrants, with its variance; half a point more for both."""
    own, other = (scores.totals + 0.5) / (scores.games + 1)
    share = other / (own + other)
    return math.log(share / (1 - share)), 1 / (scores.games.min() * share * (1 - share))


def _large(games: SelfPlayGames, seconds: float) -> Size:
    """Searches as large as the time allows, by what the last games took."""
    rate = games.searches_per_second * SMALL.simulations * seconds
    simulations = int(rate / (games.searches_per_game * WANTED_GAMES)) // 32 * 32
    if simulations < SLOW:  # batches have to be full
        return Size(max(SMALL.simulations, simulations), 4 * LARGE_GAMES, apart=False)
    return Size(min(LARGEST, simulations), LARGE_GAMES)


def _told(size: Size, scores: Scores) -> dict[str, object]:
    return {
        "simulations": size.simulations,
        "percent": [round(100 * mean, 1) for mean in scores.means.tolist()],
        "games": [int(count) for count in scores.games.tolist()],
    }
