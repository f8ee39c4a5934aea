"""A sequential test: stop a comparison of two agents as soon as the question is decided.

Wald's sequential probability ratio test of "the mean score is `h0`" against "it is `h1`", with the
likelihood of a mean over the scores seen (`likelihood`), which needs to know nothing of draws.  One
observation is the mean score of a block, that is of one match for every assignment of the agents to
the roles of a game, so that a role that always wins says nothing about the agents.  The approach is
that of M. Van den Bergh for engine testing, "Comments on normalized Elo" (generalised SPRT with
paired games).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from ggp_agent.statistics.likelihood import Sample, likeliest


class Verdict(StrEnum):
    """What the test says so far."""

    UNDECIDED = "undecided"
    H0 = "h0"
    H1 = "h1"


@dataclass(frozen=True, slots=True)
class SprtState:
    """The log-likelihood ratio after so many blocks, and between which bounds it is undecided."""

    blocks: int
    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """What the test says."""
        if self.ratio >= self.high:
            return Verdict.H1
        return Verdict.H0 if self.ratio <= self.low else Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class Sprt:
    """The test of mean score `h0` against `h1`, 0 < h0 < h1 < 1.

    `alpha` is the chance of finding for h1 where h0 is true, `beta` that of finding for h0 where
    h1 is true; both hold approximately.  Raises `ValueError` for values that make no test.
    """

    h0: float = 0.5
    h1: float = 0.55
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Refuse what is no test."""
        if not 0 < self.h0 < self.h1 < 1:
            raise ValueError(f"the mean scores must be 0 < h0 < h1 < 1, not {self.h0}, {self.h1}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError("the chances of error must be more than 0 and less than 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds of the log-likelihood ratio."""
        low = math.log(self.beta / (1 - self.alpha))
        return low, math.log((1 - self.beta) / self.alpha)

    def evaluate(self, blocks: Iterable[Fraction | float]) -> SprtState:
        """The state after these blocks' mean scores, as if it had been looked at only now."""
        scores = list(blocks)
        low, high = self.bounds
        if not scores:
            return SprtState(0, 0.0, low, high)
        sample = Sample.of(scores)
        ratio = likeliest(sample, self.h1).log_likelihood(sample.counts)
        ratio -= likeliest(sample, self.h0).log_likelihood(sample.counts)
        return SprtState(len(scores), ratio, low, high)

    def run(self, blocks: Iterable[Fraction | float]) -> SprtState:
        """The state at the first block that decides the test, or after all of them."""
        seen: list[Fraction | float] = []
        state = self.evaluate(seen)
        for score in blocks:
            seen.append(score)
            state = self.evaluate(seen)
            if state.verdict is not Verdict.UNDECIDED:
                break
        return state
