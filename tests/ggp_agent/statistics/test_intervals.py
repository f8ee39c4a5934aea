"""Intervals: agreement with Wilson's, extremes, and how often they hold the true value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from ggp_agent.statistics import Interval, average_interval, mean_interval


def scores(counts: tuple[int, ...], values: tuple[float, ...]) -> list[float]:
    return [value for count, value in zip(counts, values, strict=True) for _ in range(count)]


@pytest.mark.parametrize(("wins", "matches"), [(0, 1), (7, 10), (10, 10), (0, 40), (250, 500)])
def test_wins_and_losses_give_wilsons_interval(wins: int, matches: int) -> None:
    found = mean_interval([1] * wins + [0] * (matches - wins))
    wilson = binomtest(wins, matches).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=1e-6)


def test_all_drawn_by_hand() -> None:
    """The likeliest distribution with mean m < 1/2 has 2m draws and 1 - 2m losses: its variance is
    m (1/2 - m), and n (1/2 - m)^2 = z^2 m (1/2 - m) at m = n / 2 / (n + z^2)."""
    found, z = mean_interval([0.5] * 10), 1.959964
    assert found.low == pytest.approx(5 / (10 + z * z), abs=1e-6)
    assert found.high == pytest.approx(1 - found.low, abs=1e-6)


def test_draws_make_it_narrower_than_wins_and_losses() -> None:
    drawn = mean_interval(scores((10, 20, 10), (0, 0.5, 1)))
    decided = mean_interval([0] * 20 + [1] * 20)
    assert drawn.value == decided.value == 0.5
    assert decided.low < drawn.low < 0.5 < drawn.high < decided.high


def test_is_a_mirror_image_of_itself() -> None:
    values = (0, 1 / 3, 0.5, 2 / 3, 1)
    found = mean_interval(scores((1, 4, 2, 0, 9), values))
    mirrored = mean_interval(scores((9, 0, 2, 4, 1), values))
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low))


def test_more_confidence_takes_more_room() -> None:
    sample = scores((3, 2, 5), (0, 0.5, 1))
    narrow, wide = mean_interval(sample, 0.8), mean_interval(sample, 0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("wrong", [[], [1.5], [-0.1, 0.5]])
def test_refuses_what_are_no_scores(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        mean_interval(wrong)


def test_coverage_of_one_mean_computed_over_all_outcomes() -> None:
    """24 matches won, drawn or lost: the chance that the interval holds the true mean."""
    n, values = 24, (0.0, 0.5, 1.0)
    outcomes = [(lost, n - lost - won, won) for lost in range(n + 1) for won in range(n + 1 - lost)]
    intervals = [mean_interval(scores(outcome, values)) for outcome in outcomes]
    coverage = []
    for won in (0.05, 0.2, 0.35, 0.5, 0.7, 0.9):
        for drawn in (0.0, 0.1, 0.3, 0.6, 0.9):
            if won + drawn <= 1:
                chances = (1 - won - drawn, drawn, won)
                mean = won + drawn / 2
                held = [i.low <= mean <= i.high for i in intervals]
                coverage.append(float(np.dot(held, [_chance(o, chances) for o in outcomes])))
    assert np.mean(coverage) == pytest.approx(0.95, abs=0.015)
    assert min(coverage) > 0.91


def _chance(outcome: tuple[int, ...], chances: tuple[float, ...]) -> float:
    ways = math.factorial(sum(outcome)) / math.prod(map(math.factorial, outcome))
    return ways * math.prod(max(p, 0.0) ** k for p, k in zip(chances, outcome, strict=True))


def test_coverage_of_an_average_by_simulation() -> None:
    """Five games of different balance, 60 matches each, 2,000 tournaments."""
    won, drawn = np.array([0.5, 0.9, 0.3, 0.95, 0.4]), np.array([0, 0, 0.4, 0.05, 0.2])
    chances = np.stack([1 - won - drawn, drawn, won], axis=1).clip(0, 1)
    values = (0.0, 0.5, 1.0)
    truth = float((chances @ values).mean())
    rng, held = np.random.default_rng(1), 0
    known: dict[tuple[int, ...], Interval] = {}
    for _ in range(2000):
        games = []
        for outcome in (tuple(rng.multinomial(60, p).tolist()) for p in chances):
            if outcome not in known:
                known[outcome] = mean_interval(scores(outcome, values))
            games.append(known[outcome])
        interval = average_interval(games)
        held += interval.low <= truth <= interval.high
    assert 0.935 < held / 2000 < 0.975


def test_average_of_one_is_the_same_and_of_equal_ones_shorter() -> None:
    one = Interval(0.5, 0.3, 0.6)
    assert average_interval([one]).low == pytest.approx(0.3)
    four = average_interval([one] * 4)
    assert (four.low, four.value, four.high) == pytest.approx((0.4, 0.5, 0.55))
    with pytest.raises(ValueError, match="nothing"):
        average_interval([])
