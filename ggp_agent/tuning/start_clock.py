"""What to do with a long start clock: choose the parameters for the match by games of self-play.

From games of small searches, between agents that differ in how greedy playouts are, an evaluation
of states is learnt.  Whether what it says is backed up by minimax (`implicit_minimax`) is asked of
searches as large as the time allows, for in small ones there is little to back up; and not where
roles choose at once, for there is nothing.  In the end the evaluation is learnt anew from all
games.

How greedy playouts are to be is asked twice: of the small searches, in which all values play, and
of large ones, in which the agent's own value plays against the best of the others.  What wins small
searches need not win large ones, for in small ones any knowledge helps.  So the logarithm of the
odds in both is extrapolated, as a line over that of the simulations, to searches as they are in a
match.  But playouts that know less and win small searches nevertheless, clearly, will win large
ones all the more, and are chosen at once.

A value is changed if the odds of another are better than even by half of their standard error: with
no reason to expect either, that is the better guess.
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
from ggp_agent.search.parallel import threads_of
from ggp_agent.search.stopping import Interrupted
from ggp_agent.tuning.evaluation import Weights, fit
from ggp_agent.tuning.self_play import Scores, Size
from ggp_agent.tuning.self_play_crew import SelfPlayCrew

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
    """A parameter, and the values that play besides the agent's own."""

    parameter: str
    values: tuple[float, ...]
    less: float | None = None
    """the value with which simulations know least of the game, if small searches are asked"""


EPSILON = Question("epsilon", (0.2, 0.4, 0.7, 1.0), less=1.0)
MINIMAX = Question("minimax", (0.0, 0.5))

LEARNT, DECIDED, ENDED = 0.45, 0.75, 0.97
"""Shares of the time that are over when the evaluation is learnt, when it is decided whether it is
used, and when games end."""


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
    begin, crew = time.monotonic(), SelfPlayCrew(game, agent, seed, threads_of(agent))
    questions = _Questions(crew, begin, deadline, interrupted)
    random = np.random.Generator(np.random.PCG64([seed, 6]))

    def learnt() -> Weights | None:
        return fit(questions.games.positions, game.layout.fluents, random, deadline - begin)

    agent, greed = questions.ask_small(agent, EPSILON, LEARNT)
    report: dict[str, object] = {EPSILON.parameter: greed.report}
    weights = learnt()
    if weights is not None and questions.games.takes_turns:  # else nothing is backed up
        questions.games.evaluate_by(*weights)
        use = _not_asked(agent, MINIMAX)
        agent = questions.ask_large(agent, use, DECIDED)
        report[MINIMAX.parameter] = use.report
    agent = questions.ask_large(agent, greed, ENDED)
    weights = learnt() if agent.number(MINIMAX.parameter) else None
    report["seconds"] = round(time.monotonic() - begin, 2)
    return Choice(agent, weights, report)


@dataclass(slots=True)
class _Answer:
    """What small searches say to a question."""

    question: Question
    report: dict[str, object]
    best: float
    """of the values but the agent's own"""
    small: Scores | None
    """of the agent's own value and the best one, if they were asked"""
    is_open: bool
    """whether large searches are to decide"""


def _not_asked(agent: Agent, question: Question) -> _Answer:
    """What is known of a question with two values of which only large searches can tell."""
    own = agent.number(question.parameter)
    other = next(value for value in question.values if value != own)
    return _Answer(question, {"chosen": str(own)}, other, None, True)


class _Questions:
    """Questions that are put to games, in shares of a time."""

    def __init__(
        self, games: SelfPlayCrew, begin: float, end: float, interrupted: Interrupted
    ) -> None:
        """Readings of `time.monotonic()`: when the time began, and when it is over."""
        self.games = games
        self._begin, self._end, self._interrupted = begin, end, interrupted

    def _at(self, share: float) -> float:
        return self._begin + share * (self._end - self._begin)

    def ask_small(self, agent: Agent, question: Question, until: float) -> tuple[Agent, _Answer]:
        """Ask small searches until that share of the time is over."""
        own = agent.number(question.parameter)
        others = [value for value in question.values if value != own]
        entrants = [_with(agent, question, value) for value in (own, *others)]
        latest = (self._at(until) + self._end) / 2
        scores = self.games.play(entrants, SMALL, self._at(until), self._interrupted, latest)
        place = 1 + int(np.argmax(scores.means[1:]))
        best, has_played = others[place - 1], bool(self.games.finished_last)
        report: dict[str, object] = {
            "values": [str(value) for value in (own, *others)],
            **_told(SMALL, scores),
            "chosen": str(own),
        }
        few = Scores(scores.totals[[0, place]], scores.games[[0, place]])
        is_open = has_played and few.games.min() >= LEAST_GAMES
        answer = _Answer(question, report, best, few, is_open)
        if has_played and best == question.less and _lead(few) >= CLEAR_LEAD:
            report["chosen"], answer.is_open = str(best), False
            return entrants[place], answer
        return agent, answer

    def ask_large(self, agent: Agent, answer: _Answer, until: float) -> Agent:
        """Have large searches decide, until that share of the time is over."""
        if not answer.is_open:
            return agent
        other = _with(agent, answer.question, answer.best)
        size = _large(self.games, self._at(until) - time.monotonic())
        large = self.games.play([agent, other], size, self._at(until), self._interrupted)
        own = agent.number(answer.question.parameter)
        values = {"values": [str(own), str(answer.best)]}
        answer.report["large"] = {**values, **_told(size, large)}
        if large.games.min() < LEAST_GAMES:
            return agent
        if answer.small is None:
            odds, variance = _log_odds(large)
            error = math.sqrt(variance)
        else:
            odds, error = extrapolated(answer.small, SMALL.simulations, large, size.simulations)
        answer.report["log_odds"] = [round(odds, 2), round(error, 2)]
        if odds <= NEEDED_ERRORS * error:
            return agent
        answer.report["chosen"] = str(answer.best)
        return other


def _with(agent: Agent, question: Question, value: float) -> Agent:
    return agent.with_settings([f"{question.parameter}={value}"])


def _lead(scores: Scores) -> float:
    """By how many standard errors the second of two entrants scored more than the first."""
    means, games = scores.means, np.maximum(1.0, scores.games)
    return float(means[1] - means[0]) / math.sqrt((0.25 / games).sum())


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


def _large(games: SelfPlayCrew, seconds: float) -> Size:
    """Searches as large as the time allows, by what the last games took."""
    searches = max(1.0, games.searches_per_game) * WANTED_GAMES
    simulations = int(games.simulations_per_second * seconds / searches) // 32 * 32
    if simulations < SLOW:  # batches have to be full
        return Size(max(SMALL.simulations, simulations), 4 * LARGE_GAMES, apart=False)
    return Size(min(LARGEST, simulations), LARGE_GAMES)


def _told(size: Size, scores: Scores) -> dict[str, object]:
    return {
        "simulations": size.simulations,
        "percent": [round(100 * mean, 1) for mean in scores.means.tolist()],
        "games": [int(count) for count in scores.games.tolist()],
    }
