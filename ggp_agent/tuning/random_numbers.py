"""Dice for kernels, on the generators of `Model.random`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import part
from ggp_agent.search.random_numbers import random_below, random_real, random_word
from ggp_agent.tuning.space import I32

Dice = NDArray[np.uint64]
"""(1,) a generator"""


@part
def below(dice: Dice, bound: int) -> int:
    """A uniform integer below `bound`."""
    return random_below(dice, bound)


@part
def two_below(dice: Dice, first: int, second: I32) -> tuple[int, int]:
    """A uniform i < `first`, and a uniform integer below `second[i]`, of one word."""
    word = random_word(dice)
    half = np.uint64(32)
    i = np.int64(((word >> half) * np.uint64(first)) >> half)
    low = word & np.uint64(0xFFFFFFFF)
    return i, np.int64((low * np.uint64(second[i])) >> half)  # type: ignore[return-value]


@part
def chance(dice: Dice, probability: float) -> bool:
    """True with this probability."""
    return bool(random_real(dice) < probability)


@part
def real(dice: Dice) -> float:
    """A uniform number in [0, 1)."""
    return float(random_real(dice))


@part
def shuffle(order: I32, count: int, dice: Dice) -> None:
    """Shuffle the first `count` entries."""
    for i in range(count - 1, 0, -1):
        j = below(dice, i + 1)
        order[i], order[j] = order[j], order[i]
