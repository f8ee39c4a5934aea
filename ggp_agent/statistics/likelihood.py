"""The likelihood of a mean, for scores between 0 and 1 that take few different values.

A sample is taken as draws from a multinomial distribution over its values and the two ends of the
scale, 0 and 1.  Of all such distributions with a given mean, the one under which the sample is
likeliest has the form p = f / (1 + l (s - mean)), with f the observed frequencies, s the values and
l a Lagrange multiplier (Owen, "Empirical Likelihood", 2001, section 2.9); an end that was not
observed takes what probability is left over.  With wins and losses only, this is the binomial
distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NEARLY_ONE = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class Sample:
    """Scores by value: `values` (k,) in [0, 1], ascending, and how often each came, `counts`."""

    values: Floats
    counts: Floats

    @classmethod
    def of(cls, scores: Iterable[Fraction | float]) -> Sample:
        """The sample of these scores.  Raises `ValueError` for none, or one outside [0, 1]."""
        counted = sorted(Counter(scores).items())
        if not counted or counted[0][0] < 0 or counted[-1][0] > 1:
            raise ValueError("a sample has one score at least, all of them from 0 to 1")
        values, counts = zip(*counted, strict=True)
        return cls(np.array(values, float), np.array(counts, float))

    @property
    def size(self) -> int:
        """The number of scores."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.counts @ self.values / self.counts.sum())


@dataclass(frozen=True, slots=True)
class Likeliest:
    """The likeliest distribution with a given mean.

    `probabilities` (k,) of the sample's values; `spare` is what an end of the scale gets that was
    not observed, and `end` which one, 0 or 1.
    """

    mean: float
    values: Floats
    probabilities: Floats
    spare: float
    end: float

    @property
    def variance(self) -> float:
        """The variance of one score."""
        within = self.probabilities @ (self.values - self.mean) ** 2
        return float(within + self.spare * (self.end - self.mean) ** 2)

    def log_likelihood(self, counts: Floats) -> float:
        """The logarithm of the sample's likelihood, up to a constant of the sample."""
        return float(counts @ np.log(self.probabilities))


def likeliest(sample: Sample, mean: float) -> Likeliest:
    """The distribution with this mean, 0 < mean < 1, under which the sample is likeliest."""
    values, frequencies = sample.values, sample.counts / sample.counts.sum()
    if values[0] > 0:
        shrunk = frequencies * mean / values
        if shrunk.sum() <= 1:
            return Likeliest(mean, values, shrunk, 1 - float(shrunk.sum()), 0.0)
    if values[-1] < 1:
        shrunk = frequencies * (1 - mean) / (1 - values)
        if shrunk.sum() <= 1:
            return Likeliest(mean, values, shrunk, 1 - float(shrunk.sum()), 1.0)
    return Likeliest(mean, values, _tilted(frequencies, values - mean), 0.0, 0.0)


def _tilted(frequencies: Floats, deviations: Floats) -> Floats:
    """The frequencies tilted to a mean deviation of 0; there are deviations of both signs."""

    def mean_deviation(multiplier: float) -> float:
        return float(np.sum(frequencies * deviations / (1 + multiplier * deviations)))

    from scipy.optimize import brentq  # takes long to load, and most commands don't need it

    low, high = -1 / deviations[-1], -1 / deviations[0]
    multiplier = brentq(mean_deviation, low * _NEARLY_ONE, high * _NEARLY_ONE, xtol=1e-14)
    tilted = frequencies / (1 + multiplier * deviations)
    return np.asarray(tilted / tilted.sum(), float)
