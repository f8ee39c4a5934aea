"""Synthetic combinatorial bandits, on which tuners are compared without any search.

A reward is that of a game: 1 or 0, with the landscape's value at the combination, 0.3 to 0.7, as
probability.  The spaces are those of the paper's SP with two parameters and AP with four and six
(Sironi, Liu, Winands 2020, Table I).  Continuous tuners see a variable's values in equal steps of
the unit interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp_agent.tuning.space import F64, I32, Space, read_space

LOW, HIGH = 0.3, 0.7
"""The values of the worst and the best combination."""
TRAP = 0.6
"""The best value of a trap for those who are not in it."""
KEYS = 3
"""One in so many values of a variable is a key to the trap."""

NEEDED = 2
"""Variables that need tuning where few do."""

SPACES = {2: "C,epsilon", 4: "K,Ref,C,epsilon", 6: "K,Ref,C,epsilon,VO,T"}
"""By number of variables."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """The probability of a win for every combination, at the beginning and at the end."""

    space: Space
    first: F64
    """(combinations,) by code; nan where illegal"""
    last: F64
    """the same; `first` itself where nothing changes"""

    def at(self, progress: float) -> F64:
        """The values at a time between 0 and 1: they change steadily."""
        if self.last is self.first:
            return self.first
        return (1 - progress) * self.first + progress * self.last

    def codes(self, picks: I32) -> NDArray[np.int64]:
        """(...,) the codes of combinations (..., d)."""
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(picks, -1, 0)), self.space.sizes))


def separable(space: Space, random: np.random.Generator) -> Landscape:
    """Every value contributes for itself: uniformly random worths, whose mean counts."""
    return _landscape(space, _scaled(_mean_worth(space, random), space, HIGH))


def parity(space: Space, random: np.random.Generator) -> Landscape:
    """Exclusive or: half of each variable's values have a bit; an odd number of bits wins.

    On average over any other variable all values of a variable are alike (but for odd numbers of
    values), and half of the combinations are best.
    """
    bits = [random.permuted(np.arange(size) % 2) for size in space.sizes]
    odd = sum(bit[d] for bit, d in zip(bits, _digits(space), strict=True)) % 2
    return _landscape(space, np.where(odd == 1, HIGH, LOW))


def trap(space: Space, random: np.random.Generator) -> Landscape:
    """Separable, but the values that are worth nothing for themselves are best together.

    A third of each variable's values are keys.  A combination of keys alone wins most; for all
    others a key is the worst that there is (deceptive: Deb, Goldberg 1993).
    """
    keys = [random.permuted(np.arange(size) % KEYS == 0) for size in space.sizes]
    digits = _digits(space)
    total = np.zeros(space.combinations)
    for key, d in zip(keys, digits, strict=True):
        total += np.where(key, 0.0, random.random(len(key)))[d]
    values = _scaled(total, space, TRAP)
    values[np.all([key[d] for key, d in zip(keys, digits, strict=True)], axis=0)] = HIGH
    return _landscape(space, values)


def flat(space: Space, random: np.random.Generator) -> Landscape:
    """All combinations are alike."""
    return _landscape(space, np.full(space.combinations, (LOW + HIGH) / 2))


def drifting(space: Space, random: np.random.Generator) -> Landscape:
    """A separable landscape that turns steadily into another one."""
    before, after = separable(space, random), separable(space, random)
    return Landscape(space, before.first, after.first)


def sparse(space: Space, random: np.random.Generator) -> Landscape:
    """Separable, but only few variables need tuning: the others' defaults are their best values.

    `NEEDED` variables, drawn at random, have uniformly random worths like those of `separable`; of
    the others the default has the highest worth there can be, 1.
    """
    needed = random.permutation(len(space.sizes))[:NEEDED]
    total = np.zeros(space.combinations)
    for i, (size, d) in enumerate(zip(space.sizes, _digits(space), strict=True)):
        worths = random.random(size)
        if i not in needed:
            worths[space.defaults[i]] = 1.0
        total += worths[d]
    return _landscape(space, _scaled(total, space, HIGH))


LANDSCAPES: dict[str, Callable[[Space, np.random.Generator], Landscape]] = {
    "separable": separable,
    "parity": parity,
    "trap": trap,
    "flat": flat,
    "drifting": drifting,
    "sparse": sparse,
}


def make_landscape(name: str, variables: int, seed: int) -> Landscape:
    """A landscape by name over the space with so many variables."""
    space = read_space(SPACES[variables])
    return LANDSCAPES[name](space, np.random.Generator(np.random.PCG64([seed, 6])))


def _digits(space: Space) -> tuple[NDArray[np.intp], ...]:
    return np.unravel_index(np.arange(space.combinations), space.sizes)


def _mean_worth(space: Space, random: np.random.Generator) -> F64:
    total = np.zeros(space.combinations)
    for size, d in zip(space.sizes, _digits(space), strict=True):
        total += random.random(size)[d]
    return total


def _scaled(values: F64, space: Space, high: float) -> F64:
    """The values such that those of legal combinations go from LOW to `high`."""
    legal = values[space.legal_codes()]
    low, top = legal.min(), legal.max()
    return np.asarray(LOW + (high - LOW) * (values - low) / (top - low))


def _landscape(space: Space, values: F64) -> Landscape:
    table = np.full(space.combinations, np.nan)
    legal = space.legal_codes()
    table[legal] = values[legal]
    return Landscape(space, table, table)
