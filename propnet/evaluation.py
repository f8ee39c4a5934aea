"""Evaluating positions: what follows from the fluents, the next state, the goals.

Gates are evaluated by the machine code of `Layout.code`, where there is some, or interpreted; the
results are the same.  A position is evaluated by one of the two throughout, from `see_position` to
`advance`, because machine code leaves out the rows that only it would read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import inlined_kernel, kernel
from propnet.lane_bits import get_word, words_of
from propnet.layout import ALL, CHOICE_CODE, GATE_CODE, NONE, ONE_WORD, U64, Lanes, Layout
from propnet.phases import COMMIT, GOALS, POSITION, STEP, WINS
from propnet.vectors import (
    any_lane,
    call_code,
    load,
    lowest_bit,
    read,
    select,
    splat_like,
    store,
)

_ONE = np.uint64(1)
# Python's integers are literals to numba, which would compile the callee for each of them
_POSITION, _GOALS, _WINS = np.int64(POSITION), np.int64(GOALS), np.int64(WINS)
_STEP, _COMMIT = np.int64(STEP), np.int64(COMMIT)


@inlined_kernel
def _sweep(layout: Layout, lanes: Lanes, phase: int) -> None:
    """Evaluate the gates of one phase, in order."""
    if lanes.code[GATE_CODE] != 0:
        call_code(lanes.code[GATE_CODE], phase + lanes.half[0], lanes.values)
    else:
        _interpret(layout, lanes.values, phase)


@kernel
def _interpret(layout: Layout, values: U64, phase: int) -> None:
    for gate in range(layout.bounds[phase], layout.bounds[phase + 1]):
        met = splat_like(values, ALL)
        for edge in range(layout.first[gate], layout.first[gate + 1]):
            met &= read(values, layout.inputs[edge])
        store(values, gate, met)


@inlined_kernel
def _evaluate(layout: Layout, lanes: Lanes, phase: int) -> None:
    """Evaluate a phase; positive cycles are iterated from false to their least fixpoint.

    Stratum by stratum: what a cycle negates must have been settled before it is iterated.
    """
    feedback = len(layout.feedback)
    for k in range(feedback):
        if layout.feedback_phase[k] == phase:
            store(lanes.values, layout.first_feedback + k, splat_like(lanes.values, NONE))
    _sweep(layout, lanes, phase)
    first = 0
    while first < feedback:
        last = first + 1
        while last < feedback and layout.feedback_stratum[last] == layout.feedback_stratum[first]:
            last += 1
        while _feed_back(layout, lanes.values, phase, first, last):
            _sweep(layout, lanes, phase)
        first = last


@kernel
def _feed_back(layout: Layout, values: U64, phase: int, first: int, last: int) -> bool:
    """Give feedback sources first..last-1 what drives them; whether any has changed."""
    changed = False
    for k in range(first, last):
        if layout.feedback_phase[k] == phase:
            node = layout.first_feedback + k
            driven = read(values, layout.feedback[k])
            if any_lane(driven ^ load(values, node)):
                changed = True
            store(values, node, driven)
    return changed


@inlined_kernel
def see_position(layout: Layout, lanes: Lanes) -> None:
    """Evaluate what follows from the fluents: terminal, legal moves, and what next needs."""
    first = ONE_WORD if words_of(lanes.values) == 1 else 0
    for kind in (GATE_CODE, CHOICE_CODE):
        lanes.code[kind] = layout.code[first + kind]
    _evaluate(layout, lanes, _POSITION)


@inlined_kernel
def advance(layout: Layout, lanes: Lanes) -> None:
    """The next state, from fluents and moves, in the lanes of `active`.

    Lanes of `restart`, which must not be active, get the initial state; others stay.
    """
    _evaluate(layout, lanes, _STEP)
    if lanes.code[GATE_CODE] != 0:
        call_code(lanes.code[GATE_CODE], _COMMIT + lanes.half[0], lanes.values)
    else:
        _commit(layout, lanes)


@kernel
def _commit(layout: Layout, lanes: Lanes) -> None:
    values, following = lanes.values, lanes.following
    for fluent in range(layout.fluents):
        store(following, fluent, read(values, layout.next[fluent]))
    active = load(lanes.active, 0)
    for fluent in range(layout.fluents):
        row = 1 + fluent
        store(values, row, select(active, load(following, fluent), load(values, row)))
    if any_lane(load(lanes.restart, 0)):
        reset(layout, lanes, lanes.restart)


@kernel
def reset(layout: Layout, lanes: Lanes, which: U64) -> None:
    """Put the initial state into the lanes of `which` (1, WORDS); all lanes are in use then."""
    chosen = load(which, 0)
    lanes.half[0] = 0
    for fluent in range(layout.fluents):
        row = 1 + fluent
        if (layout.initial[fluent >> 6] >> np.uint64(fluent & 63)) & _ONE:
            store(lanes.values, row, load(lanes.values, row) | chosen)
        else:
            store(lanes.values, row, load(lanes.values, row) & ~chosen)


@inlined_kernel
def evaluate_goals(layout: Layout, lanes: Lanes) -> None:
    """Evaluate what goals alone depend on, for whoever reads them from `lanes.values`."""
    _evaluate(layout, lanes, _GOALS)


@inlined_kernel
def evaluate_wins(layout: Layout, lanes: Lanes) -> None:
    """Evaluate what moves that win at once alone depend on."""
    _sweep(layout, lanes, _WINS)


@kernel
def read_goals(layout: Layout, lanes: Lanes, goals: NDArray[np.uint8]) -> None:
    """Evaluate goals; `goals` (R, LANES): the highest value that holds, 0 where none does."""
    evaluate_goals(layout, lanes)
    goals[:] = 0
    row = lanes.ended
    for k in range(len(layout.goals)):
        value = layout.goal_value[k]
        if value == 0:
            continue
        store(row, 0, read(lanes.values, layout.goals[k]))
        role = layout.goal_role[k]
        for word in range(words_of(row)):
            bits = get_word(row, 0, word)
            while bits != 0:
                goals[role, 64 * word + lowest_bit(bits)] = value
                bits &= bits - _ONE
