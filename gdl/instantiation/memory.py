"""Growing arrays in one block of memory, so that compiled code can make room by itself.

The block (the *arena*) is reserved at once and taken from the machine page by page as it is used.
A *region* is a growing array in it; one that has no room left moves to a place of twice the size.
When the arena is used up, `EXHAUSTED` is set and nothing is written any more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

START, CAPACITY, LENGTH = 0, 1, 2
"""Columns of `Memory.regions`."""
FREE, EXHAUSTED = 0, 1
"""Entries of `Memory.state`."""

SMALLEST = 16
"""Room that a new region gets, in numbers; a power of two, for hash tables' sake."""


class Memory(NamedTuple):
    """The arena and its regions."""

    arena: I32
    """(numbers,)"""
    regions: I64
    """(most regions, 3) where a region starts, what it has room for, how much of it is used"""
    state: I64
    """(2,) numbers taken from the arena, whether more was asked for than there is"""

    def content(self, region: int) -> I32:
        """A copy of what is in a region."""
        start, _, length = self.regions[region]
        return self.arena[start : start + length].copy()


def new_memory(numbers: int, regions: int) -> Memory:
    """An empty arena for so many 32-bit numbers, in at most so many regions."""
    return Memory(
        np.empty(numbers, np.int32), np.zeros((regions, 3), np.int64), np.zeros(2, np.int64)
    )


@kernel
def take(memory: Memory, region: int, capacity: int) -> None:
    """Give a region a new place of that capacity; its content is not moved."""
    begin = memory.state[FREE]
    if begin + capacity > len(memory.arena):
        memory.state[EXHAUSTED] = 1
        return
    memory.state[FREE] = begin + capacity
    memory.regions[region, START] = begin
    memory.regions[region, CAPACITY] = capacity


@kernel
def extend(memory: Memory, region: int, count: int) -> int:
    """Make a region `count` numbers longer; where in the arena these are, or -1."""
    length = memory.regions[region, LENGTH]
    capacity = memory.regions[region, CAPACITY]
    if length + count > capacity:
        old = memory.regions[region, START]
        take(memory, region, max(2 * capacity, length + count, SMALLEST))
        if memory.state[EXHAUSTED]:
            return -1
        new = memory.regions[region, START]
        for i in range(length):
            memory.arena[new + i] = memory.arena[old + i]
    memory.regions[region, LENGTH] = length + count
    return memory.regions[region, START] + length


@kernel
def append(memory: Memory, region: int, number: int) -> None:
    """Put a number at the end of a region."""
    place = extend(memory, region, 1)
    if place >= 0:
        memory.arena[place] = number


@kernel
def mix(key: int, number: int) -> np.uint64:
    """One more number in a hash value."""
    mixed = (np.uint64(key) ^ np.uint64(number)) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))
