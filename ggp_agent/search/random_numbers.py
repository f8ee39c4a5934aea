"""Random numbers for kernels, from a generator that is an array."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import part
from propnet.layout import I32, U64

STEP = np.uint64(0x9E3779B97F4A7C15)
"""By which the generator's state goes on."""


@part
def random_word(random: U64) -> np.uint64:
    """64 random bits; splitmix64 (S. Vigna, 2015) on `random` (1,)."""
    random[0] += STEP
    return _mixed(random[0])


@part
def _mixed(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@part
def random_below(random: U64, bound: int) -> int:
    """A uniform integer below `bound`."""
    return _below(random_word(random), bound)


@part
def _below(word: np.uint64, bound: int) -> int:
    # 32 bits times a small bound: the bias is below bound / 2^32
    drawn = ((word >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)
    return int(np.int64(drawn))  # signed, for numba compares signed and unsigned as doubles


@part
def random_places(random: U64, places: I32) -> None:
    """For each i below n, from n - 1 down to 1, a uniform number up to i: `places` (n,).

    The same as `random_below` time and again; here the compiler can compute several at once.
    """
    count, last = len(places), random[0] + STEP * np.uint64(len(places))
    for i in range(1, count):
        places[np.uint64(i)] = _below(_mixed(last - STEP * np.uint64(i)), i + 1)
    random[0] = last - STEP


@part
def random_real(random: U64) -> float:
    """A uniform number in [0, 1)."""
    return np.float64(random_word(random) >> np.uint64(11)) * 2.0**-53
