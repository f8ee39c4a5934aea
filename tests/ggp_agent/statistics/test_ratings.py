"""Ratings: what two agents' points mean, several agents, agents that never met."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ggp_agent.statistics import rate


def test_two_agents_have_the_elo_of_their_score() -> None:
    """75 of 100 points, and half a point each by the drawn match that is added."""
    best, other = rate(
        ["b", "a"], [("a", "b", 1)] * 70 + [("a", "b", 0.5)] * 10 + [("a", "b", 0)] * 20
    )
    assert (best.agent, other.agent) == ("a", "b")
    expected = 400 * math.log10(75.5 / 25.5)
    assert best.elo - other.elo == pytest.approx(expected, abs=0.01)
    assert best.elo + other.elo == pytest.approx(0, abs=0.01)


def test_an_agent_that_never_lost_has_a_finite_rating() -> None:
    best, other = rate(["a", "b"], [("a", "b", 1)] * 10)
    assert 400 < best.elo - other.elo < 700
    assert best.error > 100


def test_true_strengths_are_found_within_the_errors() -> None:
    """In 200 tournaments of four agents, 95 % of all ratings are to be within their errors."""
    strengths = np.array([200.0, 50.0, -50.0, -200.0])
    rng, held, names = np.random.default_rng(3), 0, ["a", "b", "c", "d"]
    for _ in range(200):
        matches = []
        for i in range(4):
            for j in range(i):
                chance = 1 / (1 + 10 ** ((strengths[j] - strengths[i]) / 400))
                matches += [(names[i], names[j], float(x)) for x in rng.random(60) < chance]
        for rating in rate(names, matches):
            held += abs(rating.elo - strengths[names.index(rating.agent)]) <= rating.error
    assert held / 800 == pytest.approx(0.95, abs=0.025)


def test_agents_that_never_met_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="connect"):
        rate(["a", "b", "c", "d"], [("a", "b", 1), ("c", "d", 1)])
    with pytest.raises(ValueError, match="connect"):
        rate(["a"], [])
