"""Random numbers for kernels, from a generator that is an array."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import part
from propnet.layout import U64


@part
def random_word(random: U64) -> np.uint64:
    """64 random bits; splitmix64 (S. Vigna, 2015) on `random` (1,)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@part
def random_below(random: U64, bound: int) -> int:
    """A uniform integer below `bound`."""
    # 32 bits times a small bound: the bias is below bound / 2^32
    drawn = ((random_word(random) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)
    return int(np.int64(drawn))  # signed, for numba compares signed and unsigned as doubles


@part
def random_real(random: U64) -> float:
    """A uniform number in [0, 1)."""
    return np.float64(random_word(random) >> np.uint64(11)) * 2.0**-53
