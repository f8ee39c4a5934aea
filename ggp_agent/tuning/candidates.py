"""Mean rewards of numbered candidates, for tuners that evaluate in rounds; sorting by them.

Letters as in `model`; N candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.model import Model, note_rewards
from ggp_agent.tuning.space import F64, I32

REWARDS, SAMPLES = range(2)
"""Columns of `table`: summed rewards, and of how many simulations."""


class CandidateRewards(NamedTuple):
    """What candidates have brought so far."""

    table: F64
    """(R, N, 2) see REWARDS"""
    candidate: I32
    """(B, R) the candidate in a slot"""
    born: I32
    """(B, R) the generation of that candidate"""
    generation: I32
    """(R,) of the candidates now; later rewards of those before don't count"""


def new_rewards(roles: int, candidates: int, slots: int) -> CandidateRewards:
    """Nothing known of anything."""
    return CandidateRewards(
        table=np.zeros((roles, candidates, 2)),
        candidate=np.zeros((slots, roles), np.int32),
        born=np.zeros((slots, roles), np.int32),
        generation=np.zeros(roles, np.int32),
    )


@part
def put_candidate(rewards: CandidateRewards, slot: int, role: int, candidate: int) -> None:
    """A candidate of the present generation is evaluated in a slot."""
    rewards.candidate[slot, role] = candidate
    rewards.born[slot, role] = rewards.generation[role]


@part
def next_generation(rewards: CandidateRewards, role: int) -> None:
    """All candidates are replaced by new ones."""
    rewards.table[role, :, :] = 0.0
    rewards.generation[role] += 1


@direct
@entry
def tell_candidates(
    model: Model, rewards: CandidateRewards, slots: I32, totals: F64, weights: I32
) -> None:
    """See `ValueTuner.tell`; what comes after a candidate's generation does not count for it."""
    note_rewards(model, slots, totals, weights)
    for i in range(len(slots)):
        for role in range(rewards.table.shape[0]):
            slot = slots[i]
            if rewards.born[slot, role] == rewards.generation[role]:
                row = rewards.table[role, rewards.candidate[slot, role]]
                row[REWARDS] += totals[i, role]
                row[SAMPLES] += weights[i]


@part
def mean_of(rewards: CandidateRewards, role: int, candidate: int) -> float:
    """Mean reward; 0 where none is known."""
    row = rewards.table[role, candidate]
    return row[REWARDS] / row[SAMPLES] if row[SAMPLES] > 0.0 else 0.0


@part
def sort_by_mean(rewards: CandidateRewards, role: int, order: I32, count: int, first: int) -> None:
    """Sort entries (candidates less `first`) by falling mean reward.

    By insertion with falling gaps (D. Shell, 1959); shuffled before, ties are in random order.
    """
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            moving = order[i]
            mean = mean_of(rewards, role, first + moving)
            j = i
            while j >= gap and mean_of(rewards, role, first + order[j - gap]) < mean:
                order[j] = order[j - gap]
                j -= gap
            order[j] = moving
        gap //= 3
