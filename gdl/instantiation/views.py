"""Views: the atoms of a relation that match a pattern, as rows that can be looked up by columns.

A body literal `(true (cell ?x 1 ?c))` reads the view `(true (cell _ _ _))`: one row per atom of
this shape, with the atom's number and then a column per `_`.  Constants and variables that are
known by then are looked up in an *index* over their columns: a hash table of the newest row per
key, and per row the next older one of the same key.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gdl.instantiation.memory import (
    CAPACITY,
    EXHAUSTED,
    I32,
    I64,
    LENGTH,
    START,
    Memory,
    append,
    extend,
    mix,
    take,
)
from gdl.instantiation.terms import ARGUMENTS, TERMS
from gdl.kernel_cache import kernel

SHAPE, COLUMNS, REGION, NEWEST_INDEX, NEXT_VIEW = 0, 1, 2, 3, 4
"""Columns of `Tables.views`."""
OLD, CURRENT = 0, 1
"""Columns of `Tables.ends`."""


class Tables(NamedTuple):
    """What is known from the rules."""

    arity: I32
    """(functors,)"""
    view_of: I32
    """(functors,) the first view of a relation, -1 for none"""
    views: I32
    """(views, 5) place of the shape in `code`, number of columns, region, place of the newest
    index in `code` (0: none), next view of the same relation (-1: none)

    A shape is: number of steps; per step functor, slot of the term, slot of its first argument,
    number of arguments; then the slot of each column.  Slot 0 is the atom.
    An index is: place of the next index; region of the hash table; region of the older rows;
    number of columns; the columns.
    """
    ends: I64
    """(views, 2) the rows before OLD were there in the last round, those before CURRENT are now"""
    code: I32
    """(numbers,) shapes, indexes and plans"""


@kernel
def _index_slot(memory: Memory, tables: Tables, view: int, index: int, key: I32) -> int:
    """Where in an index's hash table a key is or would be."""
    arena, code = memory.arena, tables.code
    count, width = code[index + 3], tables.views[view, COLUMNS] + 1
    rows = memory.regions[tables.views[view, REGION], START]
    table = memory.regions[code[index + 1], START]
    mask = memory.regions[code[index + 1], CAPACITY] - 1
    hashed = np.uint64(count)
    for i in range(count):
        hashed = mix(hashed, key[i])
    slot = np.int64(hashed ^ (hashed >> np.uint64(32))) & mask
    while True:
        row = arena[table + slot]
        if row < 0:
            return slot
        same = True
        for i in range(count):
            same &= arena[rows + row * width + 1 + code[index + 4 + i]] == key[i]
        if same:
            return slot
        slot = (slot + 1) & mask


@kernel
def newest_row(memory: Memory, tables: Tables, view: int, index: int, key: I32) -> int:
    """The newest row with that key, -1 for none."""
    slot = _index_slot(memory, tables, view, index, key)
    return memory.arena[memory.regions[tables.code[index + 1], START] + slot]


@kernel
def _new_table(memory: Memory, region: int, capacity: int) -> None:
    take(memory, region, capacity)
    if not memory.state[EXHAUSTED]:
        start = memory.regions[region, START]
        memory.arena[start : start + capacity] = -1


@kernel
def _key_of_row(memory: Memory, tables: Tables, view: int, index: int, row: int, key: I32) -> None:
    width = tables.views[view, COLUMNS] + 1
    place = memory.regions[tables.views[view, REGION], START] + row * width + 1
    for i in range(tables.code[index + 3]):
        key[i] = memory.arena[place + tables.code[index + 4 + i]]


@kernel
def _put(memory: Memory, tables: Tables, view: int, index: int, row: int, key: I32) -> None:
    """Enter a row, the newest, into an index; the table's LENGTH counts its keys."""
    table, older = tables.code[index + 1], tables.code[index + 2]
    if 2 * memory.regions[table, LENGTH] >= memory.regions[table, CAPACITY]:
        old, capacity = memory.regions[table, START], memory.regions[table, CAPACITY]
        _new_table(memory, table, 2 * capacity)
        if memory.state[EXHAUSTED]:
            return
        for i in range(capacity):
            other = memory.arena[old + i]
            if other >= 0:
                _key_of_row(memory, tables, view, index, other, key)
                slot = _index_slot(memory, tables, view, index, key)
                memory.arena[memory.regions[table, START] + slot] = other
    _key_of_row(memory, tables, view, index, row, key)
    slot = memory.regions[table, START] + _index_slot(memory, tables, view, index, key)
    if memory.arena[slot] < 0:
        memory.regions[table, LENGTH] += 1
    append(memory, older, memory.arena[slot])
    memory.arena[slot] = row


@kernel
def add_index(memory: Memory, tables: Tables, view: int, index: int, key: I32) -> None:
    """Make an index that is described in `code`, for the rows that there are and those to come."""
    _new_table(memory, tables.code[index + 1], 16)
    if memory.state[EXHAUSTED]:
        return
    width = tables.views[view, COLUMNS] + 1
    rows = memory.regions[tables.views[view, REGION], LENGTH] // width
    for row in range(rows):
        _put(memory, tables, view, index, row, key)
    tables.views[view, NEWEST_INDEX] = index


@kernel
def _matches(memory: Memory, code: I32, shape: int, slots: I32) -> bool:
    """Take the term in slot 0 apart; False where it hasn't the shape."""
    terms, arguments = memory.regions[TERMS, START], memory.regions[ARGUMENTS, START]
    for step in range(code[shape]):
        place = shape + 1 + 4 * step
        term, slot = slots[code[place + 1]], code[place + 2]
        if memory.arena[terms + 2 * term] != code[place]:
            return False
        first = arguments + memory.arena[terms + 2 * term + 1]
        for i in range(code[place + 3]):
            slots[slot + i] = memory.arena[first + i]
    return True


@kernel
def add_atom(memory: Memory, tables: Tables, atom: int, slots: I32, key: I32) -> None:
    """Enter a new atom into the views of its relation; `slots` and `key` are room to work in."""
    code, arena = tables.code, memory.arena
    functor = arena[memory.regions[TERMS, START] + 2 * atom]
    view = tables.view_of[functor]
    while view >= 0:
        shape, columns = tables.views[view, SHAPE], tables.views[view, COLUMNS]
        slots[0] = atom
        if _matches(memory, code, shape, slots):
            region = tables.views[view, REGION]
            row = memory.regions[region, LENGTH] // (columns + 1)
            place = extend(memory, region, columns + 1)
            if place < 0:
                return
            arena[place] = atom
            first = shape + 1 + 4 * code[shape]
            for i in range(columns):
                arena[place + 1 + i] = slots[code[first + i]]
            index = tables.views[view, NEWEST_INDEX]
            while index:
                _put(memory, tables, view, index, row, key)
                index = code[index]
        view = tables.views[view, NEXT_VIEW]
