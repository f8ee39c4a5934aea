"""Whose turn it is to be expanded.

Several queues take turns (alternation of open lists; G. Röger, M. Helmert: The More, the Merrier,
2010) over one table of states: the order in which states were found, and six kinds of greed.
Whichever queue a state is taken from, it is expanded once, unless it is reached anew by fewer
steps; but for the queues that go on with what follows from their states, see `FOLLOWED`.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.exact.queues import NONE_LEFT, pop
from ggp_agent.search.exact.space import (
    CURSOR,
    EXPANDED,
    EXPANDED_ONCE,
    FAR_END,
    FOCUSED,
    FOLLOWED,
    FREE,
    GENERATED,
    IN_FOCUS,
    NEAR_END,
    NOW,
    QUEUES,
    ROUND,
    SHIFT,
    STATES,
    SWEEPS,
    TURN,
    Space,
)
from ggp_agent.search.kernel import kernel
from propnet.vectors import LANES


@kernel
def take(space: Space) -> int:
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
    return (counters[NEAR_END] + drawn) << SHIFT


@kernel
def take_waiting(space: Space) -> int:
    """Take the states that follow from those just expanded: they are to be compared."""
    work, count = space.work, space.work.waiting[0]
    for k in range(count):
        state = work.waiting[1 + k]
        work.taken[k] = state
        space.expanded[state] |= np.uint8(EXPANDED_ONCE)
    return count
