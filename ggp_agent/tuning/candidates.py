"""Mean rewards of numbered candidates, for tuners that evaluate in rounds; sorting by them.

Letters as in `model`; N candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.model import Model, note_rewards
from ggp_agent.tuning.space import F64, I32

SUM, COUNT = range(2)


class Scores(NamedTuple):
    """What candidates have brought so far."""

    table: F64
    """(R, N, 2) summed rewards, rewards known"""
    candidate: I32
    """(B, R) the candidate at a place"""
    born: I32
    """(B, R) the generation of that candidate"""
    generation: I32
    """(R,) of the candidates now; what rewards come later for those before don't count"""


def new_scores(roles: int, candidates: int, most: int) -> Scores:
    """Nothing known of anything."""
    return Scores(
        table=np.zeros((roles, candidates, 2)),
        candidate=np.zeros((most, roles), np.int32),
        born=np.zeros((most, roles), np.int32),
        generation=np.zeros(roles, np.int32),
    )


@part
def put_candidate(scores: Scores, place: int, role: int, candidate: int) -> None:
    """A candidate of the present generation is evaluated at a place."""
    scores.candidate[place, role] = candidate
    scores.born[place, role] = scores.generation[role]


@part
def next_generation(scores: Scores, role: int) -> None:
    """All candidates are replaced by new ones."""
    scores.table[role, :, :] = 0.0
    scores.generation[role] += 1


@direct
@entry
def tell_candidates(model: Model, scores: Scores, places: I32, totals: F64, weights: I32) -> None:
    """See `DiscreteTuner.tell`; what comes after a candidate's generation is no score of it."""
    note_rewards(model, places, totals, weights)
    for told in range(len(places)):
        for role in range(scores.table.shape[0]):
            place = places[told]
            if scores.born[place, role] == scores.generation[role]:
                row = scores.table[role, scores.candidate[place, role]]
                row[SUM] += totals[told, role]
                row[COUNT] += weights[told]


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
