"""Priority queues of states for kernels: buckets by priority, the lowest first, the newest of one.

Which buckets hold anything is kept in three levels of bits.  A state may be in several queues, and
more than once; whoever takes it out looks whether it is still of interest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import kernel
from propnet.layout import ALL, I32, I64, U64
from propnet.vectors import lowest_bit

BUCKETS = 1 << 18
NONE_LEFT = -1

_ONE = np.uint64(1)
_USED, _FREE = 0, 1


class Queues(NamedTuple):
    """Several queues over one stock of entries."""

    heads: I32
    """(Q, BUCKETS) first entry"""
    bits: U64
    """(Q, BUCKETS / 64) buckets that hold anything"""
    groups: U64
    """(Q, BUCKETS / 64^2) words of `bits` that are not 0"""
    whole: U64
    """(Q, 1) words of `groups` that are not 0"""
    state: I32
    """(E,) number of the state"""
    after: I32
    """(E,) next entry of the bucket, or of the list of free ones"""
    counters: I64
    """(2,) entries that were ever in use, the first of those that are free"""


def new_queues(queues: int, entries: int) -> Queues:
    """Empty queues for so many entries."""
    made = Queues(
        heads=np.empty((queues, BUCKETS), np.int32),
        bits=np.zeros((queues, BUCKETS >> 6), np.uint64),
        groups=np.zeros((queues, BUCKETS >> 12), np.uint64),
        whole=np.zeros((queues, 1), np.uint64),
        state=np.empty(entries, np.int32),
        after=np.empty(entries, np.int32),
        counters=np.zeros(2, np.int64),
    )
    empty_queues(made)
    return made


def empty_queues(queues: Queues) -> None:
    """Take everything out."""
    for levels in (queues.bits, queues.groups, queues.whole):
        levels[:] = 0
    queues.heads[:] = NONE_LEFT
    queues.counters[_USED], queues.counters[_FREE] = 0, NONE_LEFT


@kernel
def push(queues: Queues, queue: int, priority: int, state: int) -> None:
    """Put a state in; where there is no room for an entry, it is left out."""
    counters = queues.counters
    entry = counters[_FREE]
    if entry != NONE_LEFT:
        counters[_FREE] = queues.after[entry]
    elif counters[_USED] < len(queues.state):
        entry = counters[_USED]
        counters[_USED] += 1
    else:
        return
    head = queues.heads[queue, priority]
    queues.state[entry], queues.after[entry] = state, head
    queues.heads[queue, priority] = entry
    if head == NONE_LEFT:
        queues.bits[queue, priority >> 6] |= _ONE << np.uint64(priority & 63)
        queues.groups[queue, priority >> 12] |= _ONE << np.uint64((priority >> 6) & 63)
        queues.whole[queue, 0] |= _ONE << np.uint64(priority >> 12)


@kernel
def lowest(queues: Queues, queue: int, start: int) -> int:
    """The lowest priority from `start` on of which there is any state; NONE_LEFT for none."""
    bits = queues.bits[queue, start >> 6] & (ALL << np.uint64(start & 63))
    if bits != np.uint64(0):
        return (start & ~63) | lowest_bit(bits)
    middle = start >> 6
    bits = queues.groups[queue, start >> 12] & (ALL << np.uint64(middle & 63))
    bits &= ~(_ONE << np.uint64(middle & 63))
    if bits != np.uint64(0):
        middle = (middle & ~63) | lowest_bit(bits)
        return (middle << 6) | lowest_bit(queues.bits[queue, middle])
    high = start >> 12
    bits = queues.whole[queue, 0] & (ALL << np.uint64(high)) & ~(_ONE << np.uint64(high))
    if bits == np.uint64(0):
        return NONE_LEFT
    middle = (lowest_bit(bits) << 6) | lowest_bit(queues.groups[queue, lowest_bit(bits)])
    return (middle << 6) | lowest_bit(queues.bits[queue, middle])


@kernel
def pop(queues: Queues, queue: int, start: int) -> int:
    """Take out the newest state of the lowest priority from `start` on, or else of the lowest.

    NONE_LEFT where the queue is empty.
    """
    priority = lowest(queues, queue, start)
    if priority == NONE_LEFT:
        priority = lowest(queues, queue, 0)
        if priority == NONE_LEFT:
            return NONE_LEFT
    middle, high = priority >> 6, priority >> 12
    entry = queues.heads[queue, priority]
    head = queues.after[entry]
    queues.heads[queue, priority] = head
    queues.after[entry] = queues.counters[_FREE]
    queues.counters[_FREE] = entry
    if head == NONE_LEFT:
        queues.bits[queue, middle] &= ~(_ONE << np.uint64(priority & 63))
        if queues.bits[queue, middle] == np.uint64(0):
            queues.groups[queue, high] &= ~(_ONE << np.uint64(middle & 63))
            if queues.groups[queue, high] == np.uint64(0):
                queues.whole[queue, 0] &= ~(_ONE << np.uint64(high))
    return int(queues.state[entry])
