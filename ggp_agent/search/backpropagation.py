"""Stage 4, backpropagation: rewards go to the moves on the path, and to what strategies learn."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.arrays import Arrays
from ggp_agent.search.descent import entry_of
from ggp_agent.search.kernel import fast_part, kernel, part
from ggp_agent.search.locks import HISTORY, SHARED, acquire, release_lock
from ggp_agent.search.memory import (
    UNIT,
    get_double,
    get_float,
    get_int,
    prefetch,
    put_double,
    put_float,
    put_int,
)
from ggp_agent.search.slots import MOVER, NODE, PICKS, PLAYED, PLAYING, STATISTICS
from ggp_agent.search.strategies import dispatch, implicit_minimax
from ggp_agent.search.strategies.implicit_minimax import mean_of_rewards
from ggp_agent.search.tree import CLOSED, NO_NODE, OPEN, SEVERAL, TOTAL, VISITS, Tree

EXACT = 1 << 20
"""Visits up to which single precision can tell how many of them have told their rewards."""


@part
def set_rewards(tree: Tree, arrays: Arrays, simulations: int, playouts: int) -> None:
    """Every simulation's rewards: the mean goals of its playouts, or the scores of its leaf."""
    for slot in range(simulations):
        if arrays.slots.stage[slot] != PLAYED:
            continue
        leaf = arrays.slots.leaf[slot]
        known = leaf != NO_NODE and tree.nodes[leaf].kind != OPEN
        for role in range(len(tree.best)):
            if known:
                reward = tree.scores[leaf, role, 0] / 100.0
            else:
                total = 0
                for lane in range(slot * playouts, (slot + 1) * playouts):
                    total += arrays.played.goals[role, lane]
                reward = total / (100.0 * playouts)
            arrays.slots.rewards[slot, role] = reward


@fast_part
def _refresh_mean(words, mean: int, total: float, visits: int) -> None:  # type: ignore[no-untyped-def]
    """Compute the mean of a move anew, unless the move is closed.

    Visits are counted when they begin, so the mean is right once the last one in flight has told
    its reward; nobody reads it before.
    """
    if get_float(words, mean) > np.float32(CLOSED * 0.5):
        put_float(words, mean, np.float32(total) / np.float32(visits))


@fast_part
def _completed(known: float, before: float, visits: int) -> int:
    """How many simulations have told their rewards of a move, this one included.

    The other threads' that are in flight are among its visits, but are nowhere counted: how many
    told before follows from the sum of rewards `before` and the `known` mean.  Nobody knows where
    all were 0, and single precision can't tell where there are many; those in flight don't matter
    then.
    """
    if known > np.float32(0.0) and visits < EXACT:
        return min(int(before / known + 1.5), visits)
    return visits


@part
def _count_playing(tree: Tree, arrays: Arrays, simulations: int, number: int) -> None:
    """Add to the visits of the moves on the paths of simulations that still play."""
    words = tree.pool.words
    for slot in range(simulations):
        if arrays.slots.stage[slot] == PLAYING:
            for level in range(arrays.slots.depth[slot]):
                for role in range(len(tree.best)):
                    visits = entry_of(arrays, slot, level, role) + VISITS
                    put_int(words, visits, get_int(words, visits) + number)


@part
def _fetch_path(tree: Tree, arrays: Arrays, slot: int) -> None:
    """Have what a simulation will write on its path under way."""
    path = arrays.slots.path
    for level in range(arrays.slots.depth[slot]):
        role = max(0, path[slot, level, MOVER])
        block = np.int64(path[slot, level, STATISTICS]) * UNIT
        prefetch(tree.pool.words, block + path[slot, level, PICKS + role])
        prefetch(tree.pool.words, entry_of(arrays, slot, level, role))


@part
def _back_up(tree: Tree, arrays: Arrays, slot: int) -> None:
    """Add a simulation's rewards to the moves on its path, and back up the value of its leaf."""
    words, roles, path = tree.pool.words, len(tree.best), arrays.slots.path
    used, chance = implicit_minimax.is_used(tree, arrays), arrays.options.chance
    child = arrays.slots.leaf[slot] if used else NO_NODE
    for level in range(arrays.slots.depth[slot] - 1, -1, -1):
        mover = path[slot, level, MOVER]
        if mover in (SEVERAL, chance):
            child = NO_NODE
        block = np.int64(path[slot, level, STATISTICS]) * UNIT
        for role in range(roles):
            entry = entry_of(arrays, slot, level, role)
            before = get_double(words, entry + TOTAL)
            total = before + arrays.slots.rewards[slot, role]
            put_double(words, entry + TOTAL, total)
            if role == mover or mover == SEVERAL:
                mean = block + path[slot, level, PICKS + role]
                visits = get_int(words, entry + VISITS)
                if tree.locks[SHARED] != 0:
                    known = mean_of_rewards(tree, arrays, slot, level, role, before)
                    visits = _completed(known, before, visits)
                _refresh_mean(words, mean, total, visits)
                if child != NO_NODE:
                    implicit_minimax.back_up(tree, arrays, slot, level, child)
                if used:
                    implicit_minimax.mix_in(tree, arrays, slot, level, role, visits)
        if child != NO_NODE:
            child = path[slot, level, NODE]


@part
def _list_path(arrays: Arrays, slot: int, roles: int) -> None:
    """List the moves that a simulation made in the tree, level by level, with its rewards."""
    scratch = arrays.scratch
    for level in range(arrays.slots.depth[slot]):
        for role in range(roles):
            i = level * roles + role
            scratch.moves[i] = arrays.slots.path[slot, level, PICKS + roles + role]
            scratch.times[i] = np.float32(1.0)
            scratch.values[i] = arrays.slots.rewards[slot, role]


@kernel
def back_up(tree: Tree, arrays: Arrays, simulations: int) -> None:
    """Add what the simulations that are over have brought to the statistics of their paths."""
    learns, alone = dispatch.counts_moves(arrays), tree.locks[SHARED] == 0
    if alone:
        _count_playing(tree, arrays, simulations, -1)
    for slot in range(simulations):
        if slot + 1 < simulations:
            _fetch_path(tree, arrays, slot + 1)
        if arrays.slots.stage[slot] == PLAYED:
            _back_up(tree, arrays, slot)
            if learns:
                _list_path(arrays, slot, len(tree.best))
                acquire(tree.locks, HISTORY)
                dispatch.learn_from_path(tree, arrays, slot)
                release_lock(tree.locks, HISTORY)
    if alone:
        _count_playing(tree, arrays, simulations, 1)
