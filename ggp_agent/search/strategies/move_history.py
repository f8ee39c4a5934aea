"""The history of moves: how often each was played in simulations, and what it led to on average.

Per role, over tree and playout, no-ops too, every occurrence counted.  MAST (H. Finnsson,
Y. Björnsson, "Simulation-based approach to General Game Playing", 2008) and the Gibbs policy choose
by it in playouts, Progressive History values moves by it in the tree.

Letters: M moves of all roles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggp_agent.parameters import Parameter, Scope, column_of, declare
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.locks import HISTORY, acquire, release_lock
from ggp_agent.search.plain_tree import Average, JointMove, Move, RewardRange
from ggp_agent.search.played_moves import GOAL_BITS
from ggp_agent.search.random_numbers import random_places
from propnet.layout import I32, U64, Lanes, Layout
from propnet.vectors import any_lane, load, popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggp_agent.search.arrays import Arrays

declare(
    Parameter(
        "decay",
        0.2,
        "factor of the history's visit counts after each real move",
        high=1.0,
        source="Tak, Winands, Bjornsson: Decaying Simulation Strategies (2014), eq. (3)",
        discrete=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
        continuous=(0.0, 1.0),
        scope=Scope.MOVE,
        used_by=(("playout", "mast"), ("playout", "gibbs"), ("selection", "progressive_history")),
    ),
)
DECAY = column_of("decay")

UNSEEN = 100.0
"""The mean goal of a move that was never played."""

TIMES, GOALS = 0, 1


class MoveHistory(NamedTuple):
    """Statistics of moves, and the moves sorted by them."""

    sums: NDArray[np.float64]
    """(M, 2) how often a move was played, and the sum of the goals that it led to"""
    mean: NDArray[np.float32]
    """(M,) the mean goal, as of the last batch"""
    order: I32
    """(M,) every role's moves by falling mean"""
    ties: I32
    """(2 * M + 1,) the number of groups of moves of equal mean in `order`, and their bounds"""
    places: I32
    """(M,) room for random numbers"""


def new_move_history(moves: int) -> MoveHistory:
    """Nothing known of so many moves."""
    return MoveHistory(
        sums=np.zeros((moves, 2)),
        mean=np.full(moves, UNSEEN, np.float32),
        order=np.arange(moves, dtype=np.int32),
        ties=np.zeros(2 * moves + 1, np.int32),
        places=np.zeros(moves, np.int32),
    )


@kernel
def sort_moves(layout: Layout, history: MoveHistory) -> None:
    """Compute every move's mean, and sort every role's moves by it (they are nearly sorted)."""
    mean, order, ties = history.mean, history.order, history.ties
    for move in range(len(mean)):
        times = history.sums[move, TIMES]
        mean[move] = history.sums[move, GOALS] / times if times > 0.0 else UNSEEN
    groups = 0
    for role in range(len(layout.span) - 1):
        low, high = layout.span[role], layout.span[role + 1]
        for i in range(low + 1, high):
            move = order[i]
            k = i
            while k > low and mean[order[k - 1]] < mean[move]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = move
        start = low
        for i in range(low + 1, high + 1):
            if i == high or mean[order[i]] != mean[order[start]]:
                if i - start > 1:
                    ties[1 + 2 * groups], ties[2 + 2 * groups] = start, i
                    groups += 1
                start = i
    ties[0] = groups


@kernel
def shuffle_ties(history: MoveHistory, random: U64) -> None:
    """Put moves of equal mean in a random order."""
    order, ties, places = history.order, history.ties, history.places
    for group in range(ties[0]):
        low, high = ties[1 + 2 * group], ties[2 + 2 * group]
        random_places(random, places[: high - low])
        for i in range(high - low - 1, 0, -1):
            one, other = np.uint64(low + i), np.uint64(low + places[np.uint64(i)])
            order[one], order[other] = order[other], order[one]


@part
def learn_from_path(arrays: Arrays, count: int) -> None:
    """Count `count` moves that a simulation made in the tree, which `scratch` lists."""
    sums, scratch = arrays.history.sums, arrays.scratch
    for i in range(count):
        move = scratch.moves[i]
        sums[move, TIMES] += 1.0
        sums[move, GOALS] += 100.0 * np.float64(scratch.values[i])


@kernel
def learn_from_playouts(layout: Layout, lanes: Lanes, arrays: Arrays, locks: I32) -> None:
    """Count what playouts that are over, in lanes not active, have played."""
    moves, over, played = len(layout.legal), ~load(lanes.active, 0), arrays.played
    for role in range(len(layout.span) - 1):
        first = role * GOAL_BITS
        for move in range(layout.span[role], layout.span[role + 1]):
            times, total = 0, 0
            for plane in range(played.in_use[move]):
                here = load(played.planes, plane * moves + move) & over
                times += popcount(here) << plane
                for bit in range(GOAL_BITS):
                    goal = load(played.goal_bits, first + bit)
                    if any_lane(goal):
                        total += popcount(here & goal) << (plane + bit)
            if times > 0:
                acquire(locks, HISTORY)
                arrays.history.sums[move, TIMES] += times
                arrays.history.sums[move, GOALS] += total
                release_lock(locks, HISTORY)


def forget_after_move(layout: Layout, arrays: Arrays) -> None:
    """Move decay: counts times the role's factor, rounded; means stay."""
    factors = np.repeat(arrays.settings.of_move[:, DECAY], np.diff(layout.span))
    sums = arrays.history.sums
    times = sums[:, TIMES].copy()
    kept = np.floor(times * factors + 0.5)
    means = np.divide(sums[:, GOALS], times, out=np.zeros_like(times), where=times > 0)
    sums[:, TIMES], sums[:, GOALS] = kept, kept * means


def forget_all(arrays: Arrays) -> None:
    """A new game."""
    arrays.history.sums[:] = 0


class PlainMoveHistory:
    """The history for the plain search."""

    def __init__(self, ranges: Sequence[RewardRange]) -> None:
        """`ranges`: of the rewards, by role; they grow while the search goes on."""
        self._ranges = ranges
        self.averages: dict[tuple[int, Move], Average] = {}
        """by role and move: rewards in percent, not normalised"""

    def means(self, role: int, moves: Sequence[Move]) -> list[float]:
        """The moves' normalised mean rewards in percent."""
        known = [self.averages.get((role, move)) for move in moves]
        in_percent = self._ranges[role].normalise
        return [in_percent(average.mean, 100) if average else UNSEEN for average in known]

    def learn(self, moves: Sequence[JointMove], rewards: Sequence[float]) -> None:
        """Count the joint moves of a simulation; every role's reward, not normalised."""
        percents = [round(100 * reward, 9) for reward in rewards]  # so that GDL's goals are whole
        for joint in moves:
            for role, move in enumerate(joint):
                self.averages.setdefault((role, move), Average()).add(percents[role])

    def forget_after_move(self, of_move: NDArray[np.float64]) -> None:
        """Move decay by every role's factor (R, P)."""
        for key, average in list(self.averages.items()):
            kept = math.floor(average.count * of_move[key[0], DECAY] + 0.5)
            if kept == 0:
                del self.averages[key]
            else:
                self.averages[key] = Average(kept, kept * average.mean)
