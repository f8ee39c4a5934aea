"""What to do with a long start clock: choose the parameters for the match by games of self-play.

First small searches play with more and with less greedy playouts: which of them wins differs from
game to game, and already shows in searches of a few dozen simulations.  From these games an
evaluation of states is learnt, and larger searches play with playouts that are cut and evaluated:
whether these win can't be seen in small ones, where any knowledge helps.  What is chosen has to
have won games; in doubt, everything stays as it is.

In each stage half of the entrants that score worst leave when half of its time is over (successive
halving).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Stage:
    """A question that is put to self-play."""

    name: str
    values: tuple[float, ...]
    most: int
    """simulations per move, at most"""
    share: float
    """of the time"""
    least_lead: float
    """what an entrant has to score more than the agent's own value, in standard errors"""


STAGES = (
    Stage("epsilon", (0.2, 0.4, 0.7, 1.0), 64, 0.35, 2.0),
    Stage("cut", (math.inf, 3.0, 8.0), 1024, 0.65, 2.0),
)
LEAST_SIMULATIONS = 64
WANTED_GAMES = 120
"""A stage's searches are so large that so many games come to an end in its time."""
GAMES_AT_ONCE = 16
"""of large searches: there must be time for the first ones to end"""


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
    begin = time.monotonic()
    games = SelfPlayGames(game, agent, seed)
    random = np.random.Generator(np.random.PCG64([seed, 6]))
    weights: Weights | None = None
    report: dict[str, object] = {}
    end = begin
    for stage in STAGES:
        end += stage.share * (deadline - begin)
        if stage.name == "cut":
            seconds = deadline - time.monotonic()
            weights = fit(games.positions, game.layout.fluents, random, seconds)
            if weights is None:
                break
            games.evaluate_by(*weights)
        entrants = _entrants(agent, stage)
        size = _size(games, stage, end - time.monotonic())
        scores, left = _contest(games, entrants, size, end, interrupted)
        agent = entrants[_winner(scores, left, stage.least_lead)]
        report[stage.name] = {
            "values": [str(entrant[stage.name]) for entrant in entrants],
            "percent": [round(100 * mean, 1) for mean in scores.means.tolist()],
            "games": [int(count) for count in scores.games.tolist()],
            "simulations": size.simulations,
            "chosen": str(agent[stage.name]),
        }
        if interrupted():
            break
    report["seconds"] = round(time.monotonic() - begin, 2)
    return Choice(agent, weights, report)


def _size(games: SelfPlayGames, stage: Stage, seconds: float) -> Size:
    """Searches as large as the time allows, by what the last stage took."""
    if not games.finished or stage.most == LEAST_SIMULATIONS:
        return Size(LEAST_SIMULATIONS)
    rate = games.searches_per_second * LEAST_SIMULATIONS * seconds
    simulations = int(rate / (games.searches_per_game * WANTED_GAMES)) // 32 * 32
    return Size(max(LEAST_SIMULATIONS, min(stage.most, simulations)), GAMES_AT_ONCE)


def _entrants(agent: Agent, stage: Stage) -> list[Agent]:
    """The agent with each of the values; its own value comes first."""
    own = agent.number(stage.name)
    others = [value for value in stage.values if value != own]
    return [agent, *(agent.with_settings([f"{stage.name}={value}"]) for value in others)]


def _contest(
    games: SelfPlayGames,
    entrants: Sequence[Agent],
    size: Size,
    end: float,
    interrupted: Interrupted,
) -> tuple[Scores, list[int]]:
    """What all entrants scored, and who was left; the agent's own value, the first, always is."""
    begin = time.monotonic()
    totals, counts = np.zeros(len(entrants)), np.zeros(len(entrants))
    left = list(range(len(entrants)))
    rounds = max(1, len(entrants) // 2)
    for number in range(rounds):
        until = begin + (end - begin) * (number + 1) / rounds
        scores = games.play([entrants[i] for i in left], size, until, interrupted)
        totals[left] += scores.totals
        counts[left] += scores.games
        means = Scores(totals, counts).means.tolist()
        ranked = sorted(left[1:], key=means.__getitem__, reverse=True)
        left = [0, *ranked[: max(1, len(left) // 2 - 1)]]
    return Scores(totals, counts), left


def _winner(scores: Scores, left: Sequence[int], least_lead: float) -> int:
    """The best of those that are left and score clearly more than the first, or the first."""
    means, variances = scores.means, 0.25 / np.maximum(1.0, scores.games)
    best = max(left, key=lambda i: means[i])
    lead = (means[best] - means[0]) / math.sqrt(variances[best] + variances[0])
    return best if lead >= least_lead else 0
