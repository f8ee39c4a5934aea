"""Selection: which move a role takes in a node of the tree.

UCT (L. Kocsis, C. Szepesvári, 2006): the move with the highest mean + C·sqrt(ln N / n).  A move
that was never tried counts as the first-play urgency.  Among moves within VO of the best value one
is drawn uniformly, so that ties are broken at random.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ggp_agent.search.tree import Tree
from propnet.layout import U64


class SelectionParameters(NamedTuple):
    """What the UCT formula needs, on the scale on which rewards lie in [0, 1]."""

    exploration: float
    """C"""
    first_play_urgency: float
    value_offset: float
    """VO"""
    chance: int = -1
    """number of the role that stands for chance and draws its moves uniformly; -1: none"""


@njit(cache=True, nogil=True)
def random_below(random: U64, bound: int) -> int:
    """A uniform integer below `bound`; splitmix64 (S. Vigna, 2015) on `random` (1,)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    # 32 bits times a small bound: the bias is below bound / 2^32
    return int(((word >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def select_move(
    tree: Tree, node: int, role: int, parameters: SelectionParameters, random: U64
) -> int:
    """The entry of the move that a role takes in an open node."""
    low, high = tree.first[node, role], tree.first[node, role + 1]
    if high - low == 1:
        return low
    if role == parameters.chance:
        return low + random_below(random, high - low)
    log_visits = math.log(max(1, tree.visits[node]))
    best = -1.0
    for entry in range(low, high):
        best = max(best, _value(tree, entry, log_visits, parameters))
    threshold = best - parameters.value_offset
    chosen, candidates = low, 0
    for entry in range(low, high):
        if _value(tree, entry, log_visits, parameters) >= threshold:
            candidates += 1
            if random_below(random, candidates) == 0:
                chosen = entry
    return chosen


@njit(cache=True, nogil=True, inline="always")
def _value(tree: Tree, entry: int, log_visits: float, parameters: SelectionParameters) -> float:
    count = tree.tries[entry]
    if count == 0:
        return parameters.first_play_urgency
    mean = tree.reward[entry] / count
    return mean + parameters.exploration * math.sqrt(log_visits / count)
