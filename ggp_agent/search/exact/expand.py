"""Expanding states: those whose turn it is, with all their moves, in the lanes of the simulator.

Several queues take turns (alternation of open lists; G. Röger, M. Helmert: The More, the Merrier,
2010) over one table of states: the order in which states were found, and four kinds of greed.
Whichever queue a state is taken from, it is expanded once, unless it is reached anew by fewer
steps.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.exact.goal_cost import price_of, see_parts
from ggp_agent.search.exact.novelty import novelty_of
from ggp_agent.search.exact.queues import BUCKETS, NONE_LEFT, pop, push
from ggp_agent.search.exact.relaxed import find_dead_ends
from ggp_agent.search.exact.space import (
    BEST,
    BOUND,
    CHECKED,
    CURSOR,
    DEAD,
    END,
    FAR_END,
    EXPANDED,
    EXPANDED_ONCE,
    FOCUSED,
    FOLLOWED,
    FREE,
    FULL,
    GENERATED,
    IN_FOCUS,
    NEAR,
    NEAR_END,
    NO_STATE,
    NOVEL,
    NOW,
    QUEUES,
    RICH,
    ROUND,
    STATES,
    SWEEPS,
    TURN,
    Space,
    add_state,
    find_place,
    key_of,
    reach,
    state_at,
)
from ggp_agent.search.kernel import entry, kernel, part
from ggp_agent.search.memory import prefetch
from ggp_agent.search.tree import copy_state
from propnet import kernels
from propnet.layout import ALL, Lanes, Layout
from propnet.vectors import LANES, WORDS, load, lowest_bit, read, splat, store

RUNNING, BETTER, EXHAUSTED, OUT_OF_MEMORY = range(4)
"""Why `expand` returns: it has worked enough; a better end was found; every state has been
expanded; there is no more room for states."""

SWEEPS_OF_MOVE = 4
"""Evaluations of the network for a laneful of moves."""

SURE = 4096
"""States of which all are looked at for dead ends; later only as long as there are some."""
SELDOM = 64
"""One round in so many, where there are hardly any."""

_ONE = np.uint64(1)
_FARTHEST, _MOST_MOVES, _SHIFT = 511, 511, 9


@entry
def begin(space: Space) -> None:
    """Take the state in the first row of the work as the one to search from."""
    space.work.keys[0] = key_of(space, space.work.rows, 0)
    space.counters[NEAR_END] = _FARTHEST
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
        count = _take(space)
        if count < 0:
            return EXHAUSTED
        if count:
            space.work.waiting[0] = 0
            _expand_taken(layout, lanes, space, count)
            if counters[NOW] == FREE:
                count = _take_waiting(space)
                _expand_taken(layout, lanes, space, count)
        if counters[BEST] > best:
            return BETTER
    return RUNNING


@kernel
def _take(space: Space) -> int:
    """Take states that are to be expanded from the next queue; -1 where no state is left."""
    counters, work = space.counters, space.work
    branching = 1 + counters[GENERATED] // max(1, counters[EXPANDED])
    wanted = max(1, LANES // branching)
    turn = counters[TURN]
    counters[SWEEPS] += 1  # whatever comes of it
    counters[NOW] = turn
    done, undone = np.uint8(EXPANDED_ONCE), np.uint8(EXPANDED_ONCE)
    if turn == FOCUSED:  # what others have expanded is not focused
        done, undone = np.uint8(EXPANDED_ONCE | IN_FOCUS), np.uint8(IN_FOCUS)
    elif turn == FREE:  # here all have been expanded, but not what follows from them
        done, undone = np.uint8(FOLLOWED), np.uint8(FOLLOWED)
    counters[TURN] = (turn + 1) % (QUEUES + 1)
    counters[ROUND] += turn == QUEUES
    count, start = 0, 0
    if turn == FREE and counters[ROUND] & 1:
        start = _any_distance(space)
    while count < wanted:
        if turn < QUEUES:
            state = pop(space.queues, turn, start)
            if state == NONE_LEFT:
                return count
        else:
            state = counters[CURSOR]
            if state == counters[STATES]:
                return count if count else -1
            counters[CURSOR] += 1
        if space.expanded[state] & undone == 0:
            space.expanded[state] |= done
            work.taken[count] = state
            count += 1
    return count


@kernel
def _any_distance(space: Space) -> int:
    """Where in the queue states of a distance begin that is drawn among those of states so far.

    Who always takes the nearest is caught where all of these lead nowhere (type-based exploration;
    F. Xie et al., 2014).
    """
    counters = space.counters
    mixed = np.uint64(counters[ROUND]) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    drawn = np.int64(mixed >> np.uint64(40)) % (counters[FAR_END] - counters[NEAR_END] + 1)
    return (counters[NEAR_END] + drawn) << _SHIFT


@kernel
def _take_waiting(space: Space) -> int:
    """Take the states that follow from those just expanded: they are to be compared."""
    work, count = space.work, space.work.waiting[0]
    for k in range(count):
        state = work.waiting[1 + k]
        work.taken[k] = state
        space.expanded[state] |= np.uint8(EXPANDED_ONCE)
    return count


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
            legal += np.int64((work.legal[move, word] >> bit) & _ONE)
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
    _count_moves(layout, lanes, space, count)
    store(work.ends, 0, read(lanes.values, layout.terminal))
    kernels.read_goals(layout, lanes, work.goals)
    see_parts(layout, lanes, space.cost, work.met)
    _look_for_dead_ends(layout, lanes, space, count)
    _find_prices(space, count)
    _find_focus(space, count)
    for k in range(count):
        _take_in(space, k)


@part
def _is_in(row, lane: int) -> bool:  # type: ignore[no-untyped-def] # an array of lanes
    return (row[0, lane >> 6] >> np.uint64(lane & 63)) & _ONE != np.uint64(0)


@kernel
def _count_moves(layout: Layout, lanes: Lanes, space: Space, count: int) -> None:
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
def _look_for_dead_ends(layout: Layout, lanes: Lanes, space: Space, count: int) -> None:
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
        if not _is_in(space.work.ends, k):
            counters[CHECKED] += 1
            if not _is_in(alive, k):
                counters[DEAD] += 1


@kernel
def _find_prices(space: Space, count: int) -> None:
    """What the goal costs in the lanes: of a large circuit, the parts that are missing."""
    work, parts = space.work, len(space.cost.parts)
    if len(space.cost.fluent):
        for k in range(count):
            if not _is_in(work.ends, k):
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
def _find_focus(space: Space, count: int) -> None:
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
        if not _is_in(work.ends, k) and _is_in(alive, k):
            work.survivors[groups - 1] += 1
    first = 0
    for group in range(groups):
        while work.group[first] != group:
            first += 1
        state, survivors = work.source[first], min(_MOST_MOVES, np.int64(work.survivors[group]))
        if survivors > 0:
            distance = np.int64(space.distance[state])
            push(space.queues, FREE, (distance << _SHIFT) + _MOST_MOVES - survivors, state)
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


@kernel
def _take_in(space: Space, lane: int) -> None:
    """Take in the state of a lane: an end, a new state, one that is known."""
    work, counters = space.work, space.counters
    source, move = work.source[lane], work.moves[lane, 0]
    if _is_in(work.ends, lane) or work.counts[lane] == 0:
        if work.goals[0, lane] > counters[BEST]:
            end = add_state(space, lane, source, move, -1)
            if end != NO_STATE:
                space.expanded[end] = EXPANDED_ONCE
                counters[BEST], counters[END] = np.int64(work.goals[0, lane]), end
        return
    if not _is_in(space.relaxed.alive, lane):
        return
    place = find_place(space, work.rows, lane, work.keys[lane])
    state = state_at(space, place)
    if state == NO_STATE:
        state = add_state(space, lane, source, move, place)
        if state != NO_STATE:
            _queue_up(space, lane, state)
    elif space.depth[state] > space.depth[source] + 1:
        reach(space, lane, state, source, move)
        space.expanded[state] = 0
        counters[CURSOR] = min(counters[CURSOR], state)
        _queue_up(space, lane, state)
    else:
        _focus(space, lane, state)
    if state != NO_STATE and counters[NOW] == FREE and space.expanded[state] == 0:
        waiting = work.waiting[0]
        if waiting < LANES:  # a state may be there twice
            work.waiting[0], work.waiting[1 + waiting] = waiting + 1, state


@kernel
def _queue_up(space: Space, lane: int, state: int) -> None:
    """Put a state into the queues."""
    work, queues = space.work, space.queues
    price = min(_FARTHEST, np.int64(work.prices[lane]))
    short = max(0, space.highest - np.int64(work.goals[0, lane]))
    distance = min(_FARTHEST, price + short)
    moves = min(_MOST_MOVES, np.int64(work.counts[lane]))
    space.distance[state] = distance
    space.counters[NEAR_END] = min(space.counters[NEAR_END], distance)
    space.counters[FAR_END] = max(space.counters[FAR_END], distance)
    novelty = novelty_of(space.seen, distance, space.states, state, space.mask)
    push(queues, NOVEL, (novelty << _SHIFT) + distance, state)
    push(queues, NEAR, (price << _SHIFT) + novelty, state)
    push(queues, RICH, (short << _SHIFT) + novelty, state)
    push(queues, BOUND, (distance << _SHIFT) + moves, state)
    _focus(space, lane, state)


@part
def _moves(space: Space, lane: int) -> int:
    """How much freedom there is: moves here, and, of those where it comes from, the good ones."""
    survivors = space.work.survivors[space.work.group[lane]]
    return min(_MOST_MOVES, np.int64(space.work.counts[lane]) + np.int64(survivors))


@kernel
def _focus(space: Space, lane: int, state: int) -> None:
    """Go on with a state in the focused search, where it came from that and leads on in it."""
    if space.counters[NOW] != FOCUSED or not space.work.focused[lane]:
        return
    if space.expanded[state] & np.uint8(IN_FOCUS):
        return
    depth = min(_FARTHEST, np.int64(space.depth[state]))
    priority = ((_FARTHEST - depth) << _SHIFT) + _MOST_MOVES - _moves(space, lane)
    push(space.queues, FOCUSED, priority, state)


assert (_FARTHEST << _SHIFT) + _MOST_MOVES < BUCKETS
