"""Mean rewards of numbered candidates, for tuners that evaluate in rounds; sorting by them.

Letters as in `model`; N candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.model import number_of, total_of, weight_of
from ggp_agent.tuning.space import F32, F64, I32

SUM, COUNT = range(2)


class Scores(NamedTuple):
    """What candidates have brought so far."""

    table: F64
    """(R, N, 2) summed rewards, rewards known"""
    candidate: I32
    """(B, R) the candidate that a combination in flight is"""


def new_scores(roles: int, candidates: int, most: int) -> Scores:
    """Nothing known of anything."""
    return Scores(np.zeros((roles, candidates, 2)), np.zeros((most, roles), np.int32))


@direct
@entry
def tell_scores(scores: Scores, rewards: F32, count: int, share: int) -> None:
    """(count, R) the rewards of the simulations in flight; see `model` for shares."""
    for combination in range(number_of(count, share)):
        for role in range(scores.table.shape[0]):
            row = scores.table[role, scores.candidate[combination, role]]
            row[SUM] += total_of(rewards, role, combination, count, share)
            row[COUNT] += weight_of(combination, count, share)


@part
def mean_of(scores: Scores, role: int, candidate: int) -> float:
    """Mean reward; 0 where none is known."""
    row = scores.table[role, candidate]
    return row[SUM] / row[COUNT] if row[COUNT] > 0.0 else 0.0


@part
def sort_by_mean(scores: Scores, role: int, order: I32, count: int, first: int) -> None:
    """Sort entries (candidates less `first`) by falling mean reward.

    By insertion with falling gaps (D. Shell, 1959); shuffled before, ties are in random order.
    """
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            moving = order[i]
            mean = mean_of(scores, role, first + moving)
            j = i
            while j >= gap and mean_of(scores, role, first + order[j - gap]) < mean:
                order[j] = order[j - gap]
                j -= gap
            order[j] = moving
        gap //= 3
