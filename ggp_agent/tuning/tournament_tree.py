"""The greatest of many changing values, found in logarithmic time: a tournament tree.

A tree with S leaves (a power of two) is an array (2 S,): the leaves are nodes S.. 2 S - 1, and
each inner node i has the greater of 2 i and 2 i + 1.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import part
from ggp_agent.tuning.random_numbers import Generator, below
from ggp_agent.tuning.space import F64

EMPTY = -1e30
"""The value of a leaf without any."""


def new_trees(trees: int, leaves: int) -> F64:
    """(trees, 2 S) trees without values."""
    size = 1 << max(1, (leaves - 1).bit_length())
    return np.full((trees, 2 * size), EMPTY)


@part
def play_all(tree: F64, leaves: int) -> None:
    """Fill the inner nodes above the first `leaves` leaves."""
    low = tree.shape[0] >> 2
    span = (leaves + 1) >> 1
    while low > 0:
        for node in range(low, low + span):
            tree[node] = max(tree[2 * node], tree[2 * node + 1])
        low >>= 1
        span = (span + 1) >> 1


@part
def replace(tree: F64, leaf: int, value: float) -> None:
    """Give a leaf another value."""
    node = (tree.shape[0] >> 1) + leaf
    tree[node] = value
    while node > 1:
        node >>= 1
        best = max(tree[2 * node], tree[2 * node + 1])
        if tree[node] == best:
            return
        tree[node] = best


@part
def winner(tree: F64, random: Generator) -> int:
    """The leaf with the greatest value; ties are broken by a coin at every node."""
    size = tree.shape[0] >> 1
    node = 1
    while node < size:
        left, right = tree[2 * node], tree[2 * node + 1]
        node = 2 * node
        if right > left or (right == left and below(random, 2) == 1):
            node += 1
    return node - size
