"""Runs plans: finds the instances of a rule's body one literal at a time, and emits ground rules.

A *plan* is a rule whose body literals have been put in an order (`gdl.instantiation.plans`),
written as numbers.  Its *slots* hold the terms that variables stand for.  A number that names a
term is a slot where it is positive and the constant term -n where it is negative.  The steps:

- SCAN: the rows of a view that agree with what is known; binds slots,
- COMPARE: whether two terms are the same, or not,
- BUILD: a term of a functor and arguments; where it is only to be found, none (0) may be the
  result,
- NEGATED: a negated atom of a slot; fails where the atom is certain,
- EMIT: the head's atom holds where the literals that the steps have put into slots do.

Rows that a plan adds are not seen by it; a later round sees them (semi-naive evaluation, see
F. Bancilhon, R. Ramakrishnan, "An Amateur's Introduction to Recursive Query Processing
Strategies", 1986): then one literal reads the new rows only, those before it the old ones, those
behind it both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gdl.instantiation.memory import EXHAUSTED, I32, I64, LENGTH, START, Memory, append
from gdl.instantiation.terms import CERTAIN, POSSIBLE, STATUS, UNKNOWN, find, intern
from gdl.instantiation.views import (
    COLUMNS,
    CURRENT,
    OLD,
    REGION,
    Tables,
    add_atom,
    newest_row,
)
from gdl.kernel_cache import kernel

HEADS, OFFSETS, BODIES = 4, 5, 6
"""Regions of the ground rules: heads; where each body ends in BODIES; literals, negative if
negated."""
FIRST_VIEW_REGION = 7

SCAN, COMPARE, BUILD, NEGATED, EMIT = 0, 1, 2, 3, 4
ALL_ROWS, OLD_ROWS, NEW_ROWS = 0, 1, 2

PLAN, LEVEL, RUNNING, BUDGET = 0, 1, 2, 3
"""Entries of `Work.control`: number of the plan whose turn it is, how many scans are open in it,
whether it was interrupted, rows that may be looked at until the caller is asked again."""


class Work(NamedTuple):
    """Where a plan has got to, so that it can be interrupted and taken up again."""

    control: I64
    """(4,)"""
    slots: I32
    """(slots,) the terms that variables stand for, and literals"""
    scans: I64
    """(scans, 2) per open scan: its place in the code, the next row"""
    scratch: I32
    """(slots,) for taking terms apart"""
    key: I32
    """(columns,) for building terms and keys"""


@kernel
def evaluate(
    memory: Memory, tables: Tables, work: Work, plans: I32, views: I32, rounds: bool
) -> bool:
    """Run the plans (places in the code), in rounds until nothing new is found or just once.

    `views` are those that the plans add to.  Returns False where the budget ended or the memory
    was exhausted before; call again to go on.
    """
    control = work.control
    while True:
        if control[PLAN] == 0 and not control[RUNNING]:
            news = False
            for view in views:
                rows = memory.regions[tables.views[view, REGION], LENGTH]
                tables.ends[view, OLD] = tables.ends[view, CURRENT]
                tables.ends[view, CURRENT] = rows // (tables.views[view, COLUMNS] + 1)
                news |= tables.ends[view, OLD] < tables.ends[view, CURRENT]
            if rounds and not news:
                return True
        while control[PLAN] < len(plans):
            if not _run(memory, tables, work, plans[control[PLAN]]):
                return False
            control[PLAN] += 1
        control[PLAN] = 0
        if not rounds:
            return True


@kernel
def _value(slots: I32, source: int) -> int:
    return slots[source] if source >= 0 else -source


@kernel
def _run(memory: Memory, tables: Tables, work: Work, plan: int) -> bool:
    """Run one plan, or go on with it; False where it was interrupted."""
    control, code, scans = work.control, tables.code, work.scans
    forward = not control[RUNNING]
    level = np.int64(0) if forward else control[LEVEL]
    place = np.int64(plan)
    while True:
        if not forward:  # back to the innermost scan, for its next row
            if level == 0:
                control[RUNNING] = 0
                return True
            if control[BUDGET] <= 0 or memory.state[EXHAUSTED]:
                control[RUNNING], control[LEVEL] = 1, level
                return False
            place = scans[level - 1, 0]
            if not _next_row(memory, tables, work, place, level - 1):
                level -= 1
                continue
            place += code[place + 1]
        operation = code[place]
        forward = True
        if operation == SCAN:
            scans[level, 0] = place
            scans[level, 1] = _first_row(memory, tables, work, place)
            level += 1
            forward = False
        elif operation == COMPARE:
            same = _value(work.slots, code[place + 2]) == _value(work.slots, code[place + 3])
            forward = same == (code[place + 4] == 1)
        elif operation == BUILD:
            _build(memory, tables, work, place)
        elif operation == NEGATED:
            forward = _negated(memory, work.slots, code, place)
        else:
            _emit(memory, tables, work, place)
            forward = False
        place += code[place + 1]


@kernel
def _first_row(memory: Memory, tables: Tables, work: Work, place: int) -> int:
    """The row at which a scan begins: `SCAN, size, view, rows, index, keys, sources...`."""
    code = tables.code
    view, rows, index = code[place + 2], code[place + 3], code[place + 4]
    if not index:
        return tables.ends[view, OLD] if rows == NEW_ROWS else 0
    for i in range(code[place + 5]):
        work.key[i] = _value(work.slots, code[place + 6 + i])
    return newest_row(memory, tables, view, index, work.key)


@kernel
def _next_row(memory: Memory, tables: Tables, work: Work, place: int, level: int) -> bool:
    """Bind the next row of a scan that fits; False where there is none.

    After the sources: literal slot, whether one row is enough, columns to bind, (column, slot)...,
    columns to check, (column, source)...
    """
    code, arena, slots = tables.code, memory.arena, work.slots
    view, rows, index = code[place + 2], code[place + 3], code[place + 4]
    limit = tables.ends[view, OLD if rows == OLD_ROWS else CURRENT]
    begin, width = (
        memory.regions[tables.views[view, REGION], START],
        tables.views[view, COLUMNS] + 1,
    )
    older = memory.regions[code[index + 2], START] if index else 0
    binds = place + 6 + code[place + 5]
    checks = binds + 3 + 2 * code[binds + 2]
    row = work.scans[level, 1]
    while row >= 0 and (index or row < limit):
        work.control[BUDGET] -= 1
        following = arena[older + row] if index else row + 1
        data = begin + row * width
        if row < limit:
            for i in range(code[binds + 2]):
                slots[code[binds + 4 + 2 * i]] = arena[data + 1 + code[binds + 3 + 2 * i]]
            fits = True
            for i in range(code[checks]):
                wanted = _value(slots, code[checks + 2 + 2 * i])
                fits &= arena[data + 1 + code[checks + 1 + 2 * i]] == wanted
            if fits:
                atom = arena[data]
                certain = arena[memory.regions[STATUS, START] + atom] == CERTAIN
                slots[code[binds]] = 0 if certain else atom
                work.scans[level, 1] = -1 if code[binds + 1] else following
                return True
        row = following
    return False


@kernel
def _build(memory: Memory, tables: Tables, work: Work, place: int) -> None:
    """`BUILD, size, functor, slot, whether only to be found, sources...`."""
    code = tables.code
    functor = code[place + 2]
    for i in range(tables.arity[functor]):
        work.key[i] = _value(work.slots, code[place + 5 + i])
    if code[place + 4]:
        term = find(memory, functor, work.key, tables.arity[functor])
    else:
        term = intern(memory, tables.arity, functor, work.key)
    work.slots[code[place + 3]] = term


@kernel
def _negated(memory: Memory, slots: I32, code: I32, place: int) -> bool:
    """`NEGATED, size, source of the atom, literal slot, whether its relation is complete`."""
    atom = _value(slots, code[place + 2])
    status = memory.arena[memory.regions[STATUS, START] + atom] if atom else UNKNOWN
    slots[code[place + 3]] = 0 if status == UNKNOWN and code[place + 4] else -atom
    return status != CERTAIN


@kernel
def _emit(memory: Memory, tables: Tables, work: Work, place: int) -> None:
    """`EMIT, size, source of the head, whether a choice, literals, slots...`."""
    code, slots, arena = tables.code, work.slots, memory.arena
    atom = _value(slots, code[place + 2])
    status = memory.regions[STATUS, START] + atom
    before = arena[status]
    if before == CERTAIN or memory.state[EXHAUSTED]:
        return
    count = 0
    for i in range(code[place + 4]):
        literal = slots[code[place + 5 + i]]
        if literal == atom:
            return
        if literal:
            work.key[count] = literal
            count += 1
    if code[place + 3]:
        arena[status] = POSSIBLE
    elif count == 0:
        arena[status] = CERTAIN
    else:
        arena[status] = POSSIBLE
        append(memory, HEADS, atom)
        for i in range(count):
            append(memory, BODIES, work.key[i])
        append(memory, OFFSETS, memory.regions[BODIES, LENGTH])
    if before == UNKNOWN:
        add_atom(memory, tables, atom, work.scratch, work.key)
