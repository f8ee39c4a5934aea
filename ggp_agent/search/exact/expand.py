"""Expanding states: those whose turn it is, with all their moves, in the lanes of the simulator."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.exact.goal_cost import see_parts
from ggp_agent.search.exact.intake import take_in
from ggp_agent.search.exact.queues import push
from ggp_agent.search.exact.space import (
    BEST,
    EXPANDED,
    FARTHEST,
    FOCUSED,
    FREE,
    FULL,
    GENERATED,
    NEAR_END,
    NO_STATE,
    NOW,
    STATES,
    SWEEPS,
    Space,
    add_state,
    find_place,
    key_of,
)
from ggp_agent.search.exact.taking import take, take_waiting
from ggp_agent.search.exact.weighing import count_moves, find_focus, find_prices, look_for_dead_ends
from ggp_agent.search.kernel import entry, kernel, part
from ggp_agent.search.memory import prefetch
from ggp_agent.search.tree import copy_state
from propnet import kernels
from propnet.layout import Lanes, Layout
from propnet.vectors import LANES, read, store

RUNNING, BETTER, EXHAUSTED, OUT_OF_MEMORY, TABLE_FULL = range(5)
"""Why `expand` returns: it has worked enough; a better end was found; every state has been
expanded; there is no more room for states; the table is half full."""

SWEEPS_OF_MOVE = 4
"""Evaluations of the network for a laneful of moves."""

_ONE = np.uint64(1)


@entry
def begin(space: Space) -> None:
    """Take the state in the first row of the work as the one to search from."""
    space.work.keys[0] = key_of(space, space.work.rows, 0)
    space.counters[NEAR_END] = FARTHEST
    place = find_place(space, space.work.rows, 0, space.work.keys[0])
    push(space.queues, FOCUSED, 0, add_state(space, 0, NO_STATE, -1, place))


@entry
def expand(layout: Layout, lanes: Lanes, space: Space, sweeps: int) -> int:
    """Expand states, for about so many evaluations of the network; see `RUNNING` for the result."""
    counters = space.counters
    best, last = counters[BEST], counters[SWEEPS] + sweeps
    while counters[SWEEPS] < last:
        if counters[FULL]:
            return OUT_OF_MEMORY
        if 2 * counters[STATES] > len(space.table):
            return TABLE_FULL
        count = take(space)
        if count < 0:
            return EXHAUSTED
        if count:
            space.work.waiting[0] = 0
            _expand_taken(layout, lanes, space, count)
            if counters[NOW] == FREE:
                count = take_waiting(space)
                _expand_taken(layout, lanes, space, count)
        if counters[BEST] > best:
            return BETTER
    return RUNNING


@part
def _load(layout: Layout, lanes: Lanes, space: Space, count: int) -> None:
    kernels.load_states(layout, lanes, space.work.rows, count)
    kernels.see_position(layout, lanes)


@kernel
def _expand_taken(layout: Layout, lanes: Lanes, space: Space, count: int) -> None:
    """Expand the first `count` of the states that were taken."""
    work, moves, pairs = space.work, len(layout.legal), 0
    for k in range(count):
        copy_state(work.rows, k, space.states, work.taken[k])
    _load(layout, lanes, space, count)
    kernels.legal_rows(layout, lanes, work.legal)
    for k in range(count):
        word, bit, legal = k >> 6, np.uint64(k & 63), 0
        for move in range(moves):
            legal += int(np.int64((work.legal[move, word] >> bit) & _ONE))
        if pairs + legal > LANES:  # the moves of one state stay together, if they can
            _develop(layout, lanes, space, pairs)
            pairs = 0
        for move in range(moves):
            if (work.legal[move, word] >> bit) & _ONE:
                if pairs == LANES:
                    _develop(layout, lanes, space, pairs)
                    pairs = 0
                work.source[pairs], work.moves[pairs, 0] = work.taken[k], move
                pairs += 1
        space.counters[GENERATED] += legal
    space.counters[EXPANDED] += count
    if pairs:
        _develop(layout, lanes, space, pairs)


@kernel
def _develop(layout: Layout, lanes: Lanes, space: Space, count: int) -> None:
    """Make the listed moves, and take in the states that follow."""
    work = space.work
    if count == 0:
        return
    for k in range(count):
        copy_state(work.rows, k, space.states, work.source[k])
    _load(layout, lanes, space, count)
    see_parts(layout, lanes, space.cost, work.before)
    kernels.set_moves(layout, lanes, work.moves, count)
    lanes.active[:] = kernels.ALL
    kernels.advance(layout, lanes)
    kernels.save_states(layout, lanes, work.rows, count)
    kernels.see_position(layout, lanes)
    space.counters[SWEEPS] += SWEEPS_OF_MOVE
    for k in range(count):
        work.keys[k] = key_of(space, work.rows, k)
        prefetch(space.table, np.int64(work.keys[k] & np.uint64(len(space.table) - 1)))
    count_moves(layout, lanes, space, count)
    store(work.ends, 0, read(lanes.values, layout.terminal))
    kernels.read_goals(layout, lanes, work.goals)
    see_parts(layout, lanes, space.cost, work.met)
    look_for_dead_ends(layout, lanes, space, count)
    find_prices(space, count)
    find_focus(space, count)
    for k in range(count):
        take_in(space, k)
