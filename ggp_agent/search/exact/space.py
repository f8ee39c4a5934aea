"""The states that an exact search has found: a table of packed states, and how each was reached.

Letters: N states at most, W words of a packed state, M moves, K nodes of the goal's circuit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.exact.goal_cost import Cost, cost_of
from ggp_agent.search.exact.novelty import new_seen
from ggp_agent.search.exact.queues import Queues, empty_queues, new_queues
from ggp_agent.search.exact.relaxed import Relaxed, new_relaxed
from ggp_agent.search.kernel import entry, kernel, part
from propnet.layout import I32, I64, U64, Layout, pack
from propnet.vectors import LANES, WORDS, rows

NO_STATE = -1

(
    STATES,
    CURSOR,
    EXPANDED,
    GENERATED,
    BEST,
    END,
    TURN,
    ROUND,
    CHECKED,
    DEAD,
    FULL,
    SWEEPS,
    NOW,
    NEAR_END,
    FAR_END,
) = range(15)
"""What `counters` holds: states in the table; up to which all have been expanded; how many have
been; moves made; the highest goal at an end that was found, and the state of that; the queue whose
turn it is, and how often all had theirs; states looked at for dead ends, and those that are;
whether there is no more room; how often the network was evaluated, the measure of work; the queue
whose states are expanded; and the least and the greatest distance of a state."""

EXPANDED_ONCE, IN_FOCUS, FOLLOWED, IS_END = 1, 2, 4, 8
"""Bits of `expanded`: from any queue; from that of the focused search; and all that follow.  Ends
of the game have a bit of their own, and are not in the table."""

NOVEL, NEAR, RICH, FREE, BOUND, FOCUSED = range(6)
"""The queues beside the order in which states were found.  First comes, of each: what is new; what
costs least to the highest goal; where the present goals are highest; of such states those with many
moves, or with few; and the parts of the goal that few moves can bring about."""
QUEUES = 6
FARTHEST, MOST_MOVES, SHIFT = 511, 511, 9
"""The greatest distance and number of moves that priorities tell apart, and bits for the latter."""
ENTRIES = 5
"""Entries of queues per state, on average; who gets none waits for his turn by age."""

MOST_STATES = 1 << 29
SMALLEST_TABLE = 1 << 20
GROWTH = 4
"""A table that is half full is replaced by one so many times as large."""

_TAG = np.uint64(0xFFFFFFFF00000000)
_NUMBER = np.uint64(0x00000000FFFFFFFF)


class Work(NamedTuple):
    """What is known of the states that are being expanded, and of those that follow."""

    taken: I32
    """(LANES,) the states that are expanded"""
    waiting: I32
    """(1 + LANES,) how many states are to be expanded with them, and these"""
    source: I32
    """(LANES,) by following state, the one from which it follows"""
    moves: I32
    """(LANES, 1) and by which move"""
    rows: U64
    """(LANES, W) the states"""
    keys: U64
    """(LANES,) their hashes"""
    legal: U64
    """(M, WORDS)"""
    counts: I32
    """(LANES,) legal moves"""
    goals: NDArray[np.uint8]
    """(1, LANES)"""
    ends: U64
    """(1, WORDS) those that are terminal"""
    prices: I32
    """(LANES,) what the goal costs"""
    before: U64
    """(C, WORDS) the parts of the goal that hold in the states before the moves"""
    met: U64
    """(C, WORDS) and those that hold after them"""
    group: I32
    """(LANES,) following states of one state have one number"""
    survivors: I32
    """(LANES,) by that number, how many of them are neither ends nor dead ends"""
    ways: I32
    """(LANES, C) and how many have a part of the goal that did not hold before"""
    chosen: I32
    """(LANES,) and the part that fewest have, -1 for none"""
    focused: NDArray[np.uint8]
    """(LANES,) whether the move brought about the part of the goal that fewest can"""


class Space(NamedTuple):
    """All that a search of one game has; nothing is allocated while it works."""

    states: U64
    """(N, W)"""
    parent: I32
    """(N,) the state from which it was reached first, or with the fewest steps"""
    move: I32
    """(N,) by which move"""
    depth: I32
    """(N,) after how many moves"""
    distance: NDArray[np.int16]
    """(N,) how far it is from the highest goal"""
    expanded: NDArray[np.uint8]
    """(N,)"""
    mask: U64
    """(W,) the fluents in which different states differ"""
    table: U64
    """(power of two,) half a hash, and the number of a state plus 1; 0 where there is none"""
    queues: Queues
    seen: U64
    """see `novelty`"""
    cost: Cost
    relaxed: Relaxed
    work: Work
    highest: int
    """the highest goal that the rules have"""
    counters: I64
    """(15,) see STATES"""


def bytes_per_state(words: int) -> int:
    """Bytes that a state takes, with its entries in queues and the table."""
    return 8 * words + 3 * 4 + 3 + ENTRIES * 8 + 2 * GROWTH * 8


def new_space(layout: Layout, memory: int) -> Space:
    """An empty space that takes `memory` bytes at most when it is full."""
    words, moves = len(layout.initial), len(layout.legal)
    count = max(LANES, min(MOST_STATES, memory // bytes_per_state(words)))
    highest = int(layout.goal_value.max(initial=0))
    best = [int(g) for g, v in zip(layout.goals, layout.goal_value, strict=True) if v == highest]
    cost = cost_of(layout, best)
    work = Work(
        taken=np.zeros(LANES, np.int32),
        waiting=np.zeros(1 + LANES, np.int32),
        source=np.zeros(LANES, np.int32),
        moves=np.zeros((LANES, 1), np.int32),
        rows=np.zeros((LANES, words), np.uint64),
        keys=np.zeros(LANES, np.uint64),
        legal=np.zeros((moves, WORDS), np.uint64),
        counts=np.zeros(LANES, np.int32),
        goals=np.zeros((1, LANES), np.uint8),
        ends=rows(1),
        prices=np.zeros(LANES, np.int32),
        before=rows(len(cost.parts)),
        met=rows(len(cost.parts)),
        group=np.zeros(LANES, np.int32),
        survivors=np.zeros(LANES, np.int32),
        ways=np.zeros((LANES, len(cost.parts)), np.int32),
        chosen=np.zeros(LANES, np.int32),
        focused=np.zeros(LANES, np.uint8),
    )
    return Space(
        states=np.empty((count, words), np.uint64),  # pages are touched as they are needed
        parent=np.empty(count, np.int32),
        move=np.empty(count, np.int32),
        depth=np.empty(count, np.int32),
        distance=np.empty(count, np.int16),
        expanded=np.empty(count, np.uint8),
        mask=np.zeros(words, np.uint64),
        table=_first_table(moves),
        queues=new_queues(QUEUES, ENTRIES * count),
        seen=new_seen(layout.fluents, words),
        cost=cost,
        relaxed=new_relaxed(layout),
        work=work,
        highest=highest,
        counters=np.zeros(15, np.int64),
    )


def _first_table(moves: int) -> U64:
    """A table for the beginning: half of it is room for what may follow from states at once."""
    return np.zeros(max(SMALLEST_TABLE, 1 << (4 * LANES * moves).bit_length()), np.uint64)


def with_larger_table(space: Space) -> Space:
    """The space with an empty table that is larger; see `fill_table`."""
    return space._replace(table=np.zeros(GROWTH * len(space.table), np.uint64))


@entry
def fill_table(space: Space, first: int, last: int) -> None:
    """Put states into a table that does not have them yet."""
    for state in range(first, last):
        if space.expanded[state] == IS_END:
            continue
        key = key_of(space, space.states, state)
        place = find_place(space, space.states, state, key)
        space.table[place] = (key & _TAG) | np.uint64(state + 1)


def emptied(space: Space, ignored: NDArray[np.bool_]) -> Space:
    """The space without states, where those that differ in `ignored` (F,) fluents alone are one."""
    space.mask[:] = pack(~ignored[np.newaxis])[0]
    empty_queues(space.queues)
    space.counters[:] = 0
    table, seen = _first_table(len(space.work.legal)), np.zeros_like(space.seen)
    return space._replace(table=table, seen=seen)


@part
def key_of(space: Space, states: U64, row: int) -> np.uint64:
    """A hash of the packed state in a row."""
    key = np.uint64(0x9E3779B97F4A7C15)
    for word in range(states.shape[1]):
        key = (key ^ (states[row, word] & space.mask[word])) * np.uint64(0xD6E8FEB86659FD93)
        key ^= key >> np.uint64(32)
    key *= np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))


@kernel
def find_place(space: Space, states: U64, row: int, key: np.uint64) -> int:
    """The place in the table that has the state, or where it would be."""
    last = len(space.table) - 1
    place = int(np.int64(key & np.uint64(last)))
    while space.table[place] != np.uint64(0):
        found = space.table[place]
        if found & _TAG == key & _TAG:
            number, same = np.int64(found & _NUMBER) - 1, True
            for word in range(states.shape[1]):
                difference = space.states[number, word] ^ states[row, word]
                same = same and difference & space.mask[word] == np.uint64(0)
            if same:
                return place
        place = (place + 1) & last
    return place


@part
def state_at(space: Space, place: int) -> int:
    """The state at a place of the table, or NO_STATE."""
    return int(np.int64(space.table[place] & _NUMBER)) - 1


@part
def add_state(space: Space, row: int, source: int, move: int, place: int) -> int:
    """Add the state in a row of the work; `place`: where in the table, -1 for nowhere.

    NO_STATE where there is no room.
    """
    counters = space.counters
    state = counters[STATES]
    if state == len(space.parent):
        counters[FULL] = 1
        return NO_STATE
    counters[STATES] += 1
    if place >= 0:
        space.table[place] = (space.work.keys[row] & _TAG) | np.uint64(state + 1)
    space.expanded[state], space.distance[state] = 0, 0
    reach(space, row, state, source, move)
    return int(state)


@part
def reach(space: Space, row: int, state: int, source: int, move: int) -> None:
    """A state is reached from another one, as it is in a row of the work."""
    space.parent[state], space.move[state] = source, move
    space.depth[state] = 0 if source == NO_STATE else space.depth[source] + 1
    for word in range(space.states.shape[1]):
        space.states[state, word] = space.work.rows[row, word]


def line_to(space: Space, state: int) -> list[int]:
    """The numbers of the moves from the first state to this one."""
    moves: list[int] = []
    while space.parent[state] != NO_STATE:
        moves.append(int(space.move[state]))
        state = int(space.parent[state])
    return moves[::-1]
