"""The slots of simulations in flight: how far each has come, and its path through the tree.

Letters: B slots, D the depth limit, R roles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import part
from ggp_agent.search.memory import aligned
from ggp_agent.search.settings import Settings, add_rewards, free_rows, give_rows
from propnet.layout import I32, U64

I8 = NDArray[np.int8]

IDLE, SELECTING, AT_LEAF, PLAYING, PLAYED, COMPLETED = range(6)
"""Stages of a simulation: its slot is not in use; it walks down the tree; it has come to its leaf;
its playout goes on; its playout is over; its rewards have been backed up."""

NODE, STATISTICS, MOVE_COUNT, MOVER, AMAF_TABLE, PICKS = range(6)
"""What `path` holds of a step: the node that was left, its block of statistics, its number of
moves m, its mover and its AMAF table; from PICKS on the place of every role's pick in the node's
moves, and behind that the numbers of these moves."""


class Slots(NamedTuple):
    """What every simulation in flight has."""

    stage: I8
    """(B,) see IDLE"""
    root: I32
    """(B,) the node at which a simulation begins"""
    path: I32
    """(B, D, PICKS + 2 R) the steps from the root to the leaf, see NODE: all that is needed to back
    a reward up, but for the statistics themselves"""
    depth: I32
    """(B,) edges from the root to the leaf"""
    length: I32
    """(B,) moves from the root to where the playout begins or goes on"""
    leaf: I32
    """(B,) the node reached, on the way down the edge to it; at the end that of the leaf, or
    NO_NODE if there was no room"""
    states: U64
    """(B, state_words) the states from which playouts start, or go on"""
    rewards: NDArray[np.float32]
    """(B, R) in [0, 1]"""
    waiting: I32
    """(2, B) slots whose simulations are on their way down, and of those at a new state"""
    idle: I32
    """(B,) the slots that are idle, in order, and then those that were before"""
    bound: I32
    """(1,) slots up to the last one that is in use"""


def new_slots(most: int, limit: int, roles: int, state_words: int) -> Slots:
    """Slots for so many simulations, each of at most `limit` moves."""
    step = PICKS + 2 * roles
    return Slots(
        stage=np.zeros(most, np.int8),
        root=np.zeros(most, np.int32),
        path=aligned(most * limit * step, np.dtype(np.int32)).reshape(most, limit, step),
        depth=np.zeros(most, np.int32),
        length=np.zeros(most, np.int32),
        leaf=np.zeros(most, np.int32),
        states=np.zeros((most, state_words), np.uint64),
        rewards=np.zeros((most, roles), np.float32),
        waiting=np.zeros((2, most), np.int32),
        idle=np.arange(most, dtype=np.int32),
        bound=np.zeros(1, np.int32),
    )


@part
def begin_simulations(slots: Slots, settings: Settings, count: int, share: int) -> int:
    """Begin simulations in the first `count` idle slots; each `share` of them have one row.

    Returns how many slots there are up to the last one that is in use.
    """
    bound = slots.bound[0]
    for i in range(count):
        slots.stage[slots.idle[i]] = SELECTING
        bound = max(bound, slots.idle[i] + 1)
    give_rows(settings, slots.idle, count, share)
    slots.bound[0] = bound
    return bound


@part
def end_simulations(slots: Slots, settings: Settings, begun: int) -> tuple[int, int]:
    """Sum up what the completed simulations brought; list all slots that are idle then.

    `begun` is how many simulations of the batch are new.  Returns how many are completed, and how
    many rows of settings these had.
    """
    completed, rewarded, bound = 0, 0, slots.bound[0]
    slots.bound[0] = 0
    for slot in range(bound):
        if slots.stage[slot] == COMPLETED:
            slots.stage[slot] = IDLE
            rewarded = add_rewards(settings, slot, slots.rewards, rewarded)
            completed += 1
        elif slots.stage[slot] != IDLE:
            slots.bound[0] = slot + 1
    whole = completed == bound and begun == bound  # the lists were and are those of all
    if not whole:
        idle = 0
        for slot in range(len(slots.stage)):
            if slots.stage[slot] == IDLE:
                slots.idle[idle] = slot
                idle += 1
    free_rows(settings, rewarded, not whole)
    return completed, rewarded
