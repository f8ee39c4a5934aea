"""Random numbers for kernels, of the generators of `Model.random`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import part
from ggp_agent.search.random_numbers import random_below, random_real, random_word
from ggp_agent.tuning.space import I32

Generator = NDArray[np.uint64]
"""(1,) a generator"""


@part
def below(random: Generator, bound: int) -> int:
    """A uniform integer below `bound`."""
    return random_below(random, bound)


@part
def two_below(random: Generator, first: int, second: I32) -> tuple[int, int]:
    """A uniform i < `first`, and a uniform integer below `second[i]`, of one word."""
    word = random_word(random)
    half = np.uint64(32)
    i = np.int64(((word >> half) * np.uint64(first)) >> half)
    low = word & np.uint64(0xFFFFFFFF)
    return i, np.int64((low * np.uint64(second[i])) >> half)  # type: ignore[return-value]


@part
def chance(random: Generator, probability: float) -> bool:
    """True with this probability."""
    return bool(random_real(random) < probability)


@part
def real(random: Generator) -> float:
    """A uniform number in [0, 1)."""
    return float(random_real(random))


@part
def shuffle(order: I32, count: int, random: Generator) -> None:
    """Shuffle the first `count` entries."""
    for i in range(count - 1, 0, -1):
        j = below(random, i + 1)
        order[i], order[j] = order[j], order[i]
