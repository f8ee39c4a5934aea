"""MAST: the mean goal of every move over all simulations (H. Finnsson, Y. Bjornsson, 2008).

Per role, over tree and playout, no-ops too, every occurrence counted.  What the playouts of a
batch have played is kept in bit planes, one row of lanes per move and bit of the count, and is
summed up by counting bits.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.flight import COUNT, GOAL_BITS, SUM, Flight
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.selection import random_below
from propnet.layout import I32, Lanes, Layout
from propnet.vectors import any_lane, load, popcount, store

UNSEEN = 100.0
"""The value of a move that was never played."""


@part
def highest(numbers: I32, count: int) -> int:
    """The highest of the first `count` numbers, none of them negative."""
    most = 0
    for i in range(count):
        most = max(most, numbers[i])
    return most


@kernel
def note_moves(layout: Layout, lanes: Lanes, flight: Flight) -> None:
    """Count the moves that were just chosen in the active lanes."""
    active, moves = load(lanes.active, 0), len(layout.legal)
    for move in range(moves):
        carry = load(lanes.values, layout.first_move + move) & active
        plane = 0
        while any_lane(carry):
            row = plane * moves + move
            plane += 1
            if plane > flight.top[move]:
                flight.top[move] = plane
                store(flight.planes, row, carry)
                break
            old = load(flight.planes, row)
            store(flight.planes, row, old ^ carry)
            carry &= old


@kernel
def add_playouts(layout: Layout, lanes: Lanes, flight: Flight, goal_rows: int) -> None:
    """Add what the planes hold of playouts that are over, in lanes not active, to the statistics.

    The goals' bits are in `masks[goal_rows:]`.
    """
    moves, over = len(layout.legal), ~load(lanes.active, 0)
    for role in range(len(layout.span) - 1):
        first = goal_rows + role * GOAL_BITS
        for move in range(layout.span[role], layout.span[role + 1]):
            count, total = 0, 0
            for plane in range(flight.top[move]):
                played = load(flight.planes, plane * moves + move) & over
                count += popcount(played) << plane
                for bit in range(GOAL_BITS):
                    goal = load(flight.masks, first + bit)
                    if any_lane(goal):
                        total += popcount(played & goal) << (plane + bit)
            flight.mast[move, COUNT] += count
            flight.mast[move, SUM] += total


@kernel
def forget_moves(layout: Layout, lanes: Lanes, flight: Flight) -> None:
    """Take what was counted in lanes that are not active out of the planes."""
    active, moves = load(lanes.active, 0), len(layout.legal)
    some = any_lane(active)
    for move in range(moves):
        planes, flight.top[move] = flight.top[move], 0
        for plane in range(planes if some else 0):
            row = plane * moves + move
            left = load(flight.planes, row) & active
            store(flight.planes, row, left)
            if any_lane(left):
                flight.top[move] = plane + 1


@kernel
def sort_moves(layout: Layout, flight: Flight) -> None:
    """Compute every move's value, and sort every role's moves by it (they are nearly sorted)."""
    quality, order, ties = flight.quality, flight.order, flight.ties
    for move in range(len(quality)):
        count = flight.mast[move, COUNT]
        quality[move] = flight.mast[move, SUM] / count if count > 0.0 else UNSEEN
    groups = 0
    for role in range(len(layout.span) - 1):
        low, high = layout.span[role], layout.span[role + 1]
        for i in range(low + 1, high):
            move = order[i]
            k = i
            while k > low and quality[order[k - 1]] < quality[move]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = move
        start = low
        for i in range(low + 1, high + 1):
            if i == high or quality[order[i]] != quality[order[start]]:
                if i - start > 1:
                    ties[1 + 2 * groups], ties[2 + 2 * groups] = start, i
                    groups += 1
                start = i
    ties[0] = groups


@kernel
def shuffle_ties(flight: Flight) -> None:
    """Put moves of equal value in a random order."""
    order, ties = flight.order, flight.ties
    for group in range(ties[0]):
        low, high = ties[1 + 2 * group], ties[2 + 2 * group]
        for i in range(high - 1, low, -1):
            other = low + random_below(flight.random, i - low + 1)
            order[i], order[other] = order[other], order[i]


def decay(flight: Flight, factor: float) -> None:
    """Forget a part after a real move: counts times `factor`, rounded; the means stay.

    "Move decay" of M. J. W. Tak, M. H. M. Winands, Y. Bjornsson (2014).
    """
    counts = flight.mast[:, COUNT].copy()
    kept = np.floor(counts * factor + 0.5)
    means = np.divide(flight.mast[:, SUM], counts, out=np.zeros_like(counts), where=counts > 0)
    flight.mast[:, COUNT], flight.mast[:, SUM] = kept, kept * means
