"""Elo-like ratings of several agents from their points against each other.

The model is Bradley's and Terry's, fitted by choix (I-LSR: Maystre, Grossglauser, "Fast and
Accurate Inference of Plackett-Luce Models", 2015).  Shared points count as parts of wins.  Every
pair that met is given one drawn match more, which keeps the rating of an agent that won (or lost)
everything finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

ELO = 400 / math.log(10)
"""Elo points per unit of the logistic scale."""

_PRIOR_DRAWS = 1.0
_ITERATIONS = 10_000

PairScore = tuple[str, str, Fraction | float]
"""A match: one agent, the other one, and the points of the first, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Rating:
    """An agent's rating in Elo points, 0 being the mean of all; `error` is half a 95 % interval."""

    agent: str
    elo: float
    error: float


def rate(agents: Sequence[str], matches: Iterable[PairScore]) -> list[Rating]:
    """The agents' ratings, best first.

    Raises `ValueError` where the matches don't connect all agents with each other.
    """
    import choix  # takes long to load, and most commands don't need it

    points = _points(agents, matches)
    played = points + points.T
    if len(agents) < 2 or not _connected(played):
        raise ValueError("ratings need matches that connect all agents with each other")
    prior = np.where(played > 0, _PRIOR_DRAWS / 2, 0.0)
    fitted = choix.ilsr_pairwise_dense(points + prior, max_iter=_ITERATIONS)
    elo = ELO * (fitted - fitted.mean())
    errors = NormalDist().inv_cdf(0.975) * ELO * _standard_errors(fitted, played + 2 * prior)
    ratings = (Rating(*row) for row in zip(agents, elo.tolist(), errors.tolist(), strict=True))
    return sorted(ratings, key=lambda rating: -rating.elo)


def _points(agents: Sequence[str], matches: Iterable[PairScore]) -> NDArray[np.float64]:
    """Points (agents, agents): of the row's agent against the column's."""
    number = {agent: i for i, agent in enumerate(agents)}
    points = np.zeros((len(agents), len(agents)))
    for one, other, score in matches:
        points[number[one], number[other]] += float(score)
        points[number[other], number[one]] += 1 - float(score)
    return points


def _connected(played: NDArray[np.float64]) -> bool:
    reached, before = np.arange(len(played)) == 0, 0
    while reached.sum() > before:
        before = int(reached.sum())
        reached = reached | (played[reached] > 0).any(axis=0)
    return bool(reached.all())


def _standard_errors(
    fitted: NDArray[np.float64], played: NDArray[np.float64]
) -> NDArray[np.float64]:
    """From the Fisher information of the fit, for ratings relative to their mean."""
    chance = 1 / (1 + np.exp(fitted[None, :] - fitted[:, None]))
    weights = played * chance * (1 - chance)
    information = np.diag(weights.sum(axis=1)) - weights
    return np.asarray(np.sqrt(np.diag(np.linalg.pinv(information))), float)
