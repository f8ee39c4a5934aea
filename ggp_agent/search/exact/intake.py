"""Taking in the states that follow: ends, new ones that are put into queues, and known ones."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.exact.novelty import novelty_of
from ggp_agent.search.exact.queues import BUCKETS, push
from ggp_agent.search.exact.space import (
    BEST,
    BOUND,
    CURSOR,
    END,
    FAR_END,
    FARTHEST,
    FOCUSED,
    FREE,
    IN_FOCUS,
    IS_END,
    MOST_MOVES,
    NEAR,
    NEAR_END,
    NO_STATE,
    NOVEL,
    NOW,
    RICH,
    SHIFT,
    Space,
    add_state,
    find_place,
    reach,
    state_at,
)
from ggp_agent.search.exact.weighing import is_in
from ggp_agent.search.kernel import kernel, part
from propnet.vectors import LANES


@kernel
def take_in(space: Space, lane: int) -> None:
    """Take in the state of a lane: an end, a new state, one that is known."""
    work, counters = space.work, space.counters
    source, move = work.source[lane], work.moves[lane, 0]
    if is_in(work.ends, lane) or work.counts[lane] == 0:
        if work.goals[0, lane] > counters[BEST]:
            end = add_state(space, lane, source, move, -1)
            if end != NO_STATE:
                space.expanded[end] = IS_END
                counters[BEST], counters[END] = int(np.int64(work.goals[0, lane])), end
        return
    if not is_in(space.relaxed.alive, lane):
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
    price = min(FARTHEST, int(work.prices[lane]))
    short = max(0, space.highest - int(np.int64(work.goals[0, lane])))
    distance = min(FARTHEST, price + short)
    moves = min(MOST_MOVES, int(work.counts[lane]))
    space.distance[state] = distance
    space.counters[NEAR_END] = min(space.counters[NEAR_END], distance)
    space.counters[FAR_END] = max(space.counters[FAR_END], distance)
    novelty = novelty_of(space.seen, distance, space.states, state, space.mask)
    push(queues, NOVEL, (novelty << SHIFT) + distance, state)
    push(queues, NEAR, (price << SHIFT) + novelty, state)
    push(queues, RICH, (short << SHIFT) + novelty, state)
    push(queues, BOUND, (distance << SHIFT) + moves, state)
    _focus(space, lane, state)


@part
def _moves(space: Space, lane: int) -> int:
    """How much freedom there is: moves here, and, of those where it comes from, the good ones."""
    survivors = space.work.survivors[space.work.group[lane]]
    return min(MOST_MOVES, int(space.work.counts[lane]) + int(survivors))


@kernel
def _focus(space: Space, lane: int, state: int) -> None:
    """Go on with a state in the focused search, where it came from that and leads on in it."""
    if space.counters[NOW] != FOCUSED or not space.work.focused[lane]:
        return
    if space.expanded[state] & np.uint8(IN_FOCUS):
        return
    depth = min(FARTHEST, int(space.depth[state]))
    priority = ((FARTHEST - depth) << SHIFT) + MOST_MOVES - _moves(space, lane)
    push(space.queues, FOCUSED, priority, state)


assert (FARTHEST << SHIFT) + MOST_MOVES < BUCKETS
