"""Roots that the formulas of selection want, looked up.

A logarithm would take longer than all the rest of a selection.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import part

ROOTS = 4096
"""Numbers whose roots are looked up."""


class Roots(NamedTuple):
    """Roots of small numbers."""

    log: NDArray[np.float32]
    """(ROOTS,) sqrt(ln n)"""
    inverse: NDArray[np.float32]
    """(ROOTS,) 1 / sqrt(n)"""


def new_roots() -> Roots:
    """The tables."""
    numbers = np.maximum(1, np.arange(ROOTS))
    return Roots(
        log=np.sqrt(np.log(numbers)).astype(np.float32),
        inverse=(np.float32(1.0) / np.sqrt(numbers.astype(np.float32))).astype(np.float32),
    )


@part
def root_of_log(roots: Roots, number: int) -> float:
    """sqrt(ln n); beyond the table ln n = ln(n / 2^k) + k ln 2, with an error of 1 / 8000."""
    if number < ROOTS:
        return roots.log[number]
    halvings = 0
    while number >= ROOTS:
        number >>= 1
        halvings += 1
    root = roots.log[number]
    return np.sqrt(root * root + np.float32(math.log(2.0)) * np.float32(halvings))


@part
def inverse_root(roots: Roots, number: int) -> float:
    """1 / sqrt(n)."""
    if number < ROOTS:
        return roots.inverse[number]
    return np.float32(1.0) / np.sqrt(np.float32(number))
