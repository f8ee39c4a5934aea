"""Ground terms as numbers: equal terms have equal numbers, atoms are terms, too.

Term 0 is none.  The *functor* of a term is a name with an arity; what functors there are is known
from the rules, so their numbers come from Python.
"""

from __future__ import annotations

import numpy as np

from gdl.instantiation.memory import (
    CAPACITY,
    EXHAUSTED,
    I32,
    LENGTH,
    START,
    Memory,
    extend,
    mix,
    take,
)
from gdl.kernel_cache import kernel

TERMS, ARGUMENTS, STATUS, TABLE = 0, 1, 2, 3
"""Regions: (functor, place of the first argument) of each term; arguments; status; hash table."""

UNKNOWN, POSSIBLE, CERTAIN = 0, 1, 2
"""Status of a term as an atom: not derived, holds in some states, holds in every state."""


@kernel
def _key(functor: int, arguments: I32, first: int, count: int) -> np.uint64:
    key = mix(0, functor)
    for i in range(count):
        key = mix(key, arguments[first + i])
    return key ^ (key >> np.uint64(32))


@kernel
def _slot(memory: Memory, functor: int, arguments: I32, first: int, count: int) -> int:
    """Where in the hash table a term is or would be; `first` is a place in `arguments`."""
    arena = memory.arena
    table, mask = memory.regions[TABLE, START], memory.regions[TABLE, CAPACITY] - 1
    terms, own = memory.regions[TERMS, START], memory.regions[ARGUMENTS, START]
    slot = np.int64(_key(functor, arguments, first, count)) & mask
    while True:
        term = arena[table + slot]
        if term == 0:
            return slot
        if arena[terms + 2 * term] == functor:
            place = own + arena[terms + 2 * term + 1]
            same = True
            for i in range(count):
                same &= arena[place + i] == arguments[first + i]
            if same:
                return slot
        slot = (slot + 1) & mask


@kernel
def _grow_table(memory: Memory, arity: I32) -> None:
    capacity = 2 * memory.regions[TABLE, CAPACITY]
    take(memory, TABLE, capacity)
    if memory.state[EXHAUSTED]:
        return
    table = memory.regions[TABLE, START]
    memory.arena[table : table + capacity] = 0
    terms, own = memory.regions[TERMS, START], memory.regions[ARGUMENTS, START]
    for term in range(1, memory.regions[STATUS, LENGTH]):
        functor = memory.arena[terms + 2 * term]
        first = own + memory.arena[terms + 2 * term + 1]
        slot = _slot(memory, functor, memory.arena, first, arity[functor])
        memory.arena[table + slot] = term


@kernel
def find(memory: Memory, functor: int, arguments: I32, count: int) -> int:
    """The number of a term, 0 where there is none."""
    slot = _slot(memory, functor, arguments, 0, count)
    return memory.arena[memory.regions[TABLE, START] + slot]


@kernel
def intern(memory: Memory, arity: I32, functor: int, arguments: I32) -> int:
    """The number of a term, a new one where there is none; 0 where memory is exhausted."""
    count = arity[functor]
    slot = _slot(memory, functor, arguments, 0, count)
    known = memory.arena[memory.regions[TABLE, START] + slot]
    if known:
        return known
    term = memory.regions[STATUS, LENGTH]
    first = memory.regions[ARGUMENTS, LENGTH]
    row = extend(memory, TERMS, 2)
    place = extend(memory, ARGUMENTS, count)
    status = extend(memory, STATUS, 1)
    if memory.state[EXHAUSTED]:
        return 0
    memory.arena[row] = functor
    memory.arena[row + 1] = first
    for i in range(count):
        memory.arena[place + i] = arguments[i]
    memory.arena[status] = UNKNOWN
    memory.arena[memory.regions[TABLE, START] + slot] = term
    if 2 * term > memory.regions[TABLE, CAPACITY]:
        _grow_table(memory, arity)
    return term


@kernel
def begin(memory: Memory, arity: I32, constants: I32) -> None:
    """Set the regions up; the functors `constants`, without arguments, become terms 1, 2, ..."""
    take(memory, TABLE, 1024)
    if memory.state[EXHAUSTED]:
        return
    table = memory.regions[TABLE, START]
    memory.arena[table : table + 1024] = 0
    for region, count in ((TERMS, 2), (STATUS, 1)):
        place = extend(memory, region, count)
        memory.arena[place : place + count] = 0
    for functor in constants:
        intern(memory, arity, functor, constants)
