"""What is known of the states that follow from some, by lane: dead ends, prices, the focus."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.exact.goal_cost import price_of
from ggp_agent.search.exact.queues import push
from ggp_agent.search.exact.relaxed import find_dead_ends
from ggp_agent.search.exact.space import (
    BEST,
    CHECKED,
    DEAD,
    EXPANDED,
    FREE,
    MOST_MOVES,
    SHIFT,
    SWEEPS,
    Space,
)
from ggp_agent.search.kernel import kernel, part
from propnet.layout import ALL, U64, Lanes, Layout
from propnet.vectors import LANES, WORDS, lowest_bit, read, splat, store

SURE = 4096
"""States of which all are looked at for dead ends; later only as long as there are some."""
SELDOM = 64
"""One round in so many, where there are hardly any."""

_ONE = np.uint64(1)


@part
def is_in(row: U64, lane: int) -> bool:
    """Whether a row of lanes, (1 or more, WORDS) of which it is the first, has the lane."""
    return bool((row[0, lane >> 6] >> np.uint64(lane & 63)) & _ONE != np.uint64(0))


@kernel
def count_moves(layout: Layout, lanes: Lanes, space: Space, count: int) -> None:
    """How many moves are legal in every lane."""
    counts, row = space.work.counts, lanes.ended
    counts[:] = 0
    for move in range(len(layout.legal)):
        store(row, 0, read(lanes.values, layout.legal[move]))
        for word in range((count + 63) >> 6):
            bits = row[0, word]
            while bits != np.uint64(0):
                counts[64 * word + lowest_bit(bits)] += 1
                bits &= bits - _ONE


@kernel
def look_for_dead_ends(layout: Layout, lanes: Lanes, space: Space, count: int) -> None:
    """Leave in `relaxed.alive` the lanes that are to be kept."""
    counters, alive = space.counters, space.relaxed.alive
    store(alive, 0, splat(ALL))
    if len(space.relaxed.true) == 1:
        return
    checked = counters[CHECKED]
    rare = checked >= SURE and counters[DEAD] * 32 < checked
    if rare and (counters[EXPANDED] & (SELDOM - 1)) != 0:
        return
    for word in range(WORDS):
        alive[1, word] = _first_lanes(count - 64 * word) & ~space.work.ends[0, word]
    counters[SWEEPS] += find_dead_ends(layout, lanes, space.relaxed, counters[BEST])
    for k in range(count):
        if not is_in(space.work.ends, k):
            counters[CHECKED] += 1
            if not is_in(alive, k):
                counters[DEAD] += 1


@kernel
def find_prices(space: Space, count: int) -> None:
    """What the goal costs in the lanes: of a large circuit, the parts that are missing."""
    work, parts = space.work, len(space.cost.parts)
    if len(space.cost.fluent):
        for k in range(count):
            if not is_in(work.ends, k):
                work.prices[k] = price_of(space.cost, work.rows, k)
        return
    work.prices[:] = parts
    for k in range(parts):
        for word in range((count + 63) >> 6):
            bits = work.met[k, word]
            while bits != np.uint64(0):
                work.prices[64 * word + lowest_bit(bits)] -= 1
                bits &= bits - _ONE


@kernel
def find_focus(space: Space, count: int) -> None:
    """Which moves bring about a part of the goal, of the parts that are missing the one that the
    fewest moves can.

    Where a goal has many parts that get in each other's way (every square filled, no two alike),
    that is where to go on: the most constrained variable first.  Counted is, too, how many moves
    there are that don't lose at once.
    """
    work, parts, alive, groups = space.work, len(space.cost.parts), space.relaxed.alive, 0
    work.focused[:] = 0
    for k in range(count):
        if k == 0 or work.source[k] != work.source[k - 1]:
            work.survivors[groups], work.chosen[groups] = 0, -1
            for number in range(parts):
                work.ways[groups, number] = 0
            groups += 1
        work.group[k] = groups - 1
        if not is_in(work.ends, k) and is_in(alive, k):
            work.survivors[groups - 1] += 1
    first = 0
    for group in range(groups):
        while work.group[first] != group:
            first += 1
        state, survivors = work.source[first], min(MOST_MOVES, int(work.survivors[group]))
        if survivors > 0:
            distance = int(space.distance[state])
            push(space.queues, FREE, (distance << SHIFT) + MOST_MOVES - survivors, state)
    if parts < 2:
        return
    for number in range(parts):
        for word in range((count + 63) >> 6):
            bits = _news(space, number, word, count)
            while bits != np.uint64(0):
                work.ways[work.group[64 * word + lowest_bit(bits)], number] += 1
                bits &= bits - _ONE
    for group in range(groups):
        fewest = LANES + 1
        for number in range(parts):
            if 0 < work.ways[group, number] < fewest:
                work.chosen[group], fewest = number, work.ways[group, number]
    for number in range(parts):
        for word in range((count + 63) >> 6):
            bits = _news(space, number, word, count)
            while bits != np.uint64(0):
                lane = 64 * word + lowest_bit(bits)
                bits &= bits - _ONE
                if work.chosen[work.group[lane]] == number:
                    work.focused[lane] = 1


@part
def _news(space: Space, number: int, word: int, count: int) -> np.uint64:
    """Of a word of lanes those where a part of the goal holds now, and there is a way on."""
    work = space.work
    lanes = work.met[number, word] & ~work.before[number, word]
    lanes &= space.relaxed.alive[0, word] & ~work.ends[0, word]
    return lanes & _first_lanes(count - 64 * word)


@part
def _first_lanes(count: int) -> np.uint64:
    """A word of lanes with the first ones set, `count` of them."""
    if count >= 64:
        return ALL
    return (_ONE << np.uint64(max(0, count))) - _ONE
