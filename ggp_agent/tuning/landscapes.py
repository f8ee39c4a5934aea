"""Synthetic combinatorial bandits, on which tuners are compared without any search.

A reward is that of a game: 1 or 0, with the landscape's value at the combination as probability.
All have four variables of 10, 9, 9 and 11 values and the link of K and Ref, as the paper's AP with
four parameters.  Points of the unit cube, for continuous tuners, have the values in equal steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp_agent.tuning.space import F64, I32, Space, read_space

LOW, HIGH = 0.3, 0.7
"""The values of the worst and the best combination."""

SPACE = "K,Ref,C,epsilon"
BLOCKS = 5
"""Interacting landscapes: groups of values per variable that behave alike."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """The probability of a win for every combination, before and after a change at half time."""

    space: Space
    before: F64
    """(combinations,) by code; nan where illegal"""
    after: F64
    """the same; `before` itself where nothing changes"""

    def at(self, progress: float) -> F64:
        """The one in force at a time between 0 and 1."""
        return self.before if progress < 0.5 else self.after

    def codes(self, picks: I32) -> NDArray[np.int64]:
        """(...,) the codes of combinations (..., d)."""
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(picks, -1, 0)), self.space.sizes))

    def nearest(self, points: F64) -> I32:
        """(..., d) the legal combinations that points of the unit cube stand for."""
        sizes = np.array(self.space.sizes)
        picks = np.minimum((points * sizes).astype(np.int32), sizes - 1).astype(np.int32)
        for i, a, j, b in self.space.links:
            picks[..., j][picks[..., i] == a] = b
            picks[..., j][(picks[..., i] != a) & (picks[..., j] == b)] = b - 1
        return picks


def separable(space: Space, random: np.random.Generator) -> Landscape:
    """Every value contributes for itself."""
    parts = [random.permuted(np.linspace(0, 1, size)) for size in space.sizes]
    value = sum(part[d] for part, d in zip(parts, _digits(space), strict=True))
    return _landscape(space, np.asarray(value))


def interacting(space: Space, random: np.random.Generator) -> Landscape:
    """What a value is worth depends on all the others, and nothing on its own.

    Values fall into blocks; what counts is the sum of the blocks' numbers, modulo how many there
    are.  On average over the values of any one of the variables all others are alike.
    """
    worth = random.permuted(np.linspace(0, 1, BLOCKS) ** 2)
    labels = [random.permuted(np.arange(size) % BLOCKS) for size in space.sizes]
    total = sum(label[d] for label, d in zip(labels, _digits(space), strict=True))
    return _landscape(space, worth[np.asarray(total) % BLOCKS])


def flat(space: Space, random: np.random.Generator) -> Landscape:
    """All combinations are alike."""
    return _landscape(space, np.full(space.combinations, 0.5), scaled=False)


def drifting(space: Space, random: np.random.Generator) -> Landscape:
    """An interacting landscape that gives way to another one at half time."""
    first, second = interacting(space, random), interacting(space, random)
    return Landscape(space, first.before, second.before)


LANDSCAPES: dict[str, Callable[[Space, np.random.Generator], Landscape]] = {
    "separable": separable,
    "interacting": interacting,
    "flat": flat,
    "drifting": drifting,
}


def make_landscape(name: str, seed: int) -> Landscape:
    """A landscape by name over the usual space."""
    return LANDSCAPES[name](read_space(SPACE), np.random.Generator(np.random.PCG64([seed, 6])))


def _digits(space: Space) -> tuple[NDArray[np.intp], ...]:
    return np.unravel_index(np.arange(space.combinations), space.sizes)


def _landscape(space: Space, values: F64, scaled: bool = True) -> Landscape:
    legal = space.legal_codes()
    table = np.full(space.combinations, np.nan)
    table[legal] = values[legal]
    if scaled:
        low, high = np.nanmin(table), np.nanmax(table)
        table = LOW + (HIGH - LOW) * (table - low) / (high - low)
    return Landscape(space, table, table)
