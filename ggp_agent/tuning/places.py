"""The places of combinations in flight: which simulations share one, and which are free.

Letters as in `model`; a simulation is the number of its place in the search's flight.  Rewards come
simulation by simulation, the earlier ones first or not; tuners are told their sums by place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import direct, entry
from ggp_agent.tuning.space import F32, F64, I32

NOWHERE = -1


class Places(NamedTuple):
    """Where the combinations in flight are."""

    of: I32
    """(B,) the place of every simulation's combination"""
    left: I32
    """(B,) by place, simulations whose rewards are still to come"""
    free: I32
    """(B + 1,) the free places, and how many there are"""
    row: I32
    """(B,) by place, its row in what follows; NOWHERE for none"""
    chosen: I32
    """(B,) the places asked for or told about last"""
    weights: I32
    """(B,) how many simulations it was at each of these"""
    totals: F64
    """(B, R) the sums of their rewards"""


def new_places(roles: int, most: int) -> Places:
    """All places free, for at most `most` simulations in flight."""
    return Places(
        of=np.zeros(most, np.int32),
        left=np.zeros(most, np.int32),
        free=np.append(np.arange(most), most).astype(np.int32),
        row=np.full(most, NOWHERE, np.int32),
        chosen=np.zeros(most, np.int32),
        weights=np.zeros(most, np.int32),
        totals=np.zeros((most, roles)),
    )


@direct
@entry
def take(places: Places, simulations: I32, share: int) -> int:
    """Choose a free place for each `share` of the simulations; returns how many these are."""
    last, count = len(places.of), 0
    for first in range(0, len(simulations), share):
        places.free[last] -= 1
        place, weight = places.free[places.free[last]], min(share, len(simulations) - first)
        for i in range(first, first + weight):
            places.of[simulations[i]] = place
        places.chosen[count], places.weights[count], places.left[place] = place, weight, weight
        count += 1
    return count


@direct
@entry
def bring(places: Places, simulations: I32, rewards: F32) -> int:
    """Sum up what simulations (n,) brought by the places of combinations; returns how many.

    `rewards` (B, R) are by simulation.  Places of which all is known are free then.
    """
    last, count = len(places.of), 0
    for simulation in simulations:
        place = places.of[simulation]
        row = places.row[place]
        if row == NOWHERE:
            row = count
            count += 1
            places.row[place], places.chosen[row], places.weights[row] = row, place, 0
            places.totals[row, :] = 0.0
        places.weights[row] += 1
        for role in range(rewards.shape[1]):
            places.totals[row, role] += rewards[simulation, role]
    for row in range(count - 1, -1, -1):
        place = places.chosen[row]
        places.row[place] = NOWHERE
        places.left[place] -= places.weights[row]
        if places.left[place] == 0:
            places.free[places.free[last]] = place
            places.free[last] += 1
    return count
