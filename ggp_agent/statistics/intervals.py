"""Confidence intervals of mean scores between 0 and 1.

One mean: the score interval of a multinomial mean (Agresti, Ryu, "Pseudo-score confidence intervals
for parameters in discrete statistical models", Biometrika 2010): all means that a score test does
not reject, with the variance of the likeliest distribution that has the mean.  For wins and losses
only it is Wilson's interval; shared points make it narrower; it never leaves [0, 1] and has a
length even where all scores are the same.

The average of several means (the games of a tournament): MOVER, the method of variance estimates
recovery (Zou, Donner, "Construction of confidence limits about effect measures", Statistics in
Medicine 2008), from the intervals of the means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from ggp_agent.statistics.likelihood import Sample, likeliest

METHOD = (
    "score interval of a multinomial mean (Wilson's interval where no points are shared); "
    "over games: MOVER"
)
"""The name of the method, for those who print intervals."""

_EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its confidence limits, `low` <= `value` <= `high`."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """The interval in another unit, such as percent."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)


def mean_interval(scores: Iterable[Fraction | float], confidence: float = 0.95) -> Interval:
    """The mean of independent scores in [0, 1] and its interval.

    Scores of matches with the roles assigned in turn are slightly less spread than independent
    ones, which makes the interval a cautious one.  Raises `ValueError` for no scores.
    """
    from scipy.optimize import brentq  # takes long to load, and most commands don't need it

    sample = Sample.of(scores)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    mean = sample.mean

    def rejection(candidate: float) -> float:
        """Positive where the score test rejects the candidate."""
        distance = sample.size * (mean - candidate) ** 2
        return distance - z * z * likeliest(sample, candidate).variance

    low = high = mean
    if mean > 0:
        low = float(brentq(rejection, mean * _EDGE, mean * (1 - _EDGE)))
    if mean < 1:
        high = float(brentq(rejection, mean + (1 - mean) * _EDGE, 1 - (1 - mean) * _EDGE))
    return Interval(mean, low, high)


def average_interval(intervals: Sequence[Interval]) -> Interval:
    """The plain average of independent estimates.  Raises `ValueError` for none."""
    if not intervals:
        raise ValueError("there is nothing to average")
    count = len(intervals)
    value = sum(interval.value for interval in intervals) / count
    below = math.sqrt(sum((i.value - i.low) ** 2 for i in intervals)) / count
    above = math.sqrt(sum((i.high - i.value) ** 2 for i in intervals)) / count
    return Interval(value, value - below, value + above)
