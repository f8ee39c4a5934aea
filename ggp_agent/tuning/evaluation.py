"""Learning to evaluate states: logistic regression of what games brought over the fluents.

Letters: R roles, F fluents, N states.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.settings import F32, F64
from ggp_agent.tuning.self_play import Positions
from propnet.layout import unpack

MOST_VALUES = 12_000_000
"""Of N times F values no more are looked at."""
VALUES_PER_SECOND = 2_000_000
"""Nor more than so many for each second that there is; it takes a tenth of that."""
LEAST_STATES = 1000
STEPS = 60
PENALTY = 10.0
"""Of a squared weight, in units of the loss of one state (ridge, for fluents are seldom seen)."""
RARE = 0.002
"""Fluents that are true, or false, in a smaller share of the states say nothing."""


class Weights(NamedTuple):
    """A linear evaluation, see `ggp_agent.search.strategies.evaluation`."""

    weights: F32
    """(R, F)"""
    bias: F32
    """(R,)"""


def fit(
    positions: Positions, fluents: int, random: np.random.Generator, seconds: float = math.inf
) -> Weights | None:
    """The weights that tell best what games brought; None if there is too little to learn from.

    Takes a part of the `seconds` only: the less time there is, the fewer states are looked at.
    """
    values = int(min(MOST_VALUES, VALUES_PER_SECOND * max(0.0, seconds)))
    count = min(len(positions.states), values // max(1, fluents))
    if count < LEAST_STATES:
        return None
    chosen = random.choice(len(positions.states), count, replace=False)
    seen = unpack(np.array([positions.states[i] for i in chosen]), fluents)
    rewards = np.array([positions.rewards[i] for i in chosen], np.float32)
    shares = seen.mean(axis=0)
    used = np.flatnonzero((shares > RARE) & (shares < 1 - RARE))
    roles = rewards.shape[1]
    weights, bias = np.zeros((roles, fluents), np.float32), np.zeros(roles, np.float32)
    features = np.ascontiguousarray(seen[:, used], np.float32)
    for role in range(roles):
        found = _regress(features, rewards[:, role])
        weights[role, used], bias[role] = found[:-1], found[-1]
    return Weights(weights, bias)


def _regress(features: F32, rewards: F32) -> F64:
    """(F + 1,) weights and bias of a logistic regression; rewards are in [0, 1]."""

    def loss(weights: F64) -> tuple[float, F64]:
        raised = features @ weights[:-1].astype(np.float32) + np.float32(weights[-1])
        guesses: NDArray[np.float32] = 1 / (1 + np.exp(-np.clip(raised, -30, 30)))
        misses = guesses - rewards
        said = rewards * np.log(guesses + 1e-7) + (1 - rewards) * np.log(1 - guesses + 1e-7)
        ridge = PENALTY * weights[:-1]
        slope = np.append(features.T @ misses + ridge, misses.sum())
        return float(-said.sum() + 0.5 * (ridge * weights[:-1]).sum()), slope.astype(np.float64)

    from scipy.optimize import minimize  # takes a while to load, and few processes learn

    start = np.zeros(features.shape[1] + 1)
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
