"""The greatest of many changing values, found in logarithmic time: a tournament tree.

A tree over S places (a power of two) is an array (2 S,): places are the leaves S.. 2 S - 1, and
each inner node i has the greater of 2 i and 2 i + 1.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import part
from ggp_agent.tuning.random_numbers import Dice, below
from ggp_agent.tuning.space import F64

NOTHING = -1e30
"""The value of a place without any."""


def new_trees(trees: int, places: int) -> F64:
    """(trees, 2 S) trees without values."""
    size = 1 << max(1, (places - 1).bit_length())
    return np.full((trees, 2 * size), NOTHING)


@part
def play_all(tree: F64, places: int) -> None:
    """Fill the inner nodes above the first `places` leaves."""
    low = tree.shape[0] >> 2
    span = (places + 1) >> 1
    while low > 0:
        for node in range(low, low + span):
            tree[node] = max(tree[2 * node], tree[2 * node + 1])
        low >>= 1
        span = (span + 1) >> 1


@part
def replace(tree: F64, place: int, value: float) -> None:
    """Give a place another value."""
    node = (tree.shape[0] >> 1) + place
    tree[node] = value
    while node > 1:
        node >>= 1
        best = max(tree[2 * node], tree[2 * node + 1])
        if tree[node] == best:
            return
        tree[node] = best


@part
def winner(tree: F64, dice: Dice) -> int:
    """The place with the greatest value; ties are broken by a coin at every node."""
    size = tree.shape[0] >> 1
    node = 1
    while node < size:
        left, right = tree[2 * node], tree[2 * node + 1]
        node = 2 * node
        if right > left or (right == left and below(dice, 2) == 1):
            node += 1
    return node - size
