"""The bit-parallel simulator: one sweep over the gates advances 512 games.

Kernels work on a `Layout` (the game) and `Lanes` (the games in play), see `propnet.layout`; they
check nothing.  The order of calls is that of a game:

1. fluents are set (`load_states` or `reset`),
2. `see_position` evaluates terminal and legal moves, `read_goals` the goals,
3. moves are set (`choose_moves` of `propnet.choice`, or `set_moves`),
4. `advance` computes the next state in the active lanes.

Gates are evaluated by the machine code of `Layout.code`, where there is some, or interpreted; the
results are the same.  A position is evaluated by one of the two throughout, from `see_position` to
`advance`, because machine code leaves out the rows that only it would read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import inlined_kernel, kernel
from propnet.choice import choose_moves, choose_moves_greedily, draw_lanes
from propnet.layout import ALL, CHOICE_CODE, GATE_CODE, HALF, I32, NONE, U64, Lanes, Layout
from propnet.phases import COMMIT, GOALS, POSITION, STEP
from propnet.vectors import (
    LANES,
    WORDS,
    any_lane,
    call_code,
    load,
    lowest_bit,
    popcount,
    read,
    select,
    shift_left,
    shift_right,
    splat,
    store,
)

__all__ = [
    "ALL",
    "NONE",
    "advance",
    "choose_moves",
    "choose_moves_greedily",
    "draw_lanes",
    "legal_rows",
    "load_states",
    "playout",
    "read",
    "read_goals",
    "reset",
    "save_states",
    "see_position",
    "set_moves",
    "simulate",
]

_ONE = np.uint64(1)
# Python's integers are literals to numba, which would compile the callee for each of them
_POSITION, _GOALS, _STEP = np.int64(POSITION), np.int64(GOALS), np.int64(STEP)
_COMMIT = np.int64(COMMIT)


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
        met = splat(ALL)
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
            store(lanes.values, layout.first_feedback + k, splat(NONE))
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
    for kind in (GATE_CODE, CHOICE_CODE):
        lanes.code[kind] = layout.code[kind]
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


@kernel
def playout(layout: Layout, lanes: Lanes, limits: I32, lengths: I32) -> int:
    """Play random moves in the active lanes until their games have ended or are too long.

    `limits` (LANES,) is the number of moves after which a lane is retired; `lengths` (LANES,)
    gets the number that it made, 0 where it was not active.  Returns the number of transitions in
    all lanes.  No lane is active afterwards, and the position of every lane is the one seen last,
    so that `read_goals` can follow.
    """
    lengths[:] = 0
    step, transitions = 0, 0
    while True:
        see_position(layout, lanes)
        _end_games(layout, lanes, step, lengths)
        _retire(lanes, limits, step, lengths)
        going = popcount(load(lanes.active, 0))
        if going == 0:
            return transitions
        choose_moves(layout, lanes)
        advance(layout, lanes)
        transitions += going
        step += 1


@kernel
def _end_games(layout: Layout, lanes: Lanes, step: int, lengths: I32) -> None:
    """Make terminal lanes inactive and note their lengths."""
    store(lanes.ended, 0, load(lanes.active, 0) & read(lanes.values, layout.terminal))
    for word in range(WORDS):
        bits = lanes.ended[0, word]
        lanes.active[0, word] ^= bits
        while bits != 0:
            lengths[64 * word + lowest_bit(bits)] = step
            bits &= bits - _ONE


@kernel
def _retire(lanes: Lanes, limits: I32, step: int, lengths: I32) -> None:
    """End the games in play that have reached their limits."""
    for word in range(WORDS):
        for bit in range(64):
            if limits[64 * word + bit] == step:
                alone = _ONE << np.uint64(bit)
                if lanes.active[0, word] & alone:
                    lengths[64 * word + bit] = step
                    lanes.active[0, word] ^= alone


@kernel
def read_goals(layout: Layout, lanes: Lanes, goals: NDArray[np.uint8]) -> None:
    """Evaluate goals; `goals` (R, LANES): the highest value that holds, 0 where none does."""
    _evaluate(layout, lanes, _GOALS)
    goals[:] = 0
    row = lanes.ended
    for k in range(len(layout.goals)):
        value = layout.goal_value[k]
        if value == 0:
            continue
        store(row, 0, read(lanes.values, layout.goals[k]))
        role = layout.goal_role[k]
        for word in range(WORDS):
            bits = row[0, word]
            while bits != 0:
                goals[role, 64 * word + lowest_bit(bits)] = value
                bits &= bits - _ONE


@kernel
def transpose(block: U64) -> None:
    """Transpose 64 x 64 bit matrices in place, `block` (64, WORDS) having one in each column.

    Bit j of row i becomes bit i of row j (H. S. Warren, Hacker's Delight, 7-3).
    """
    width = 32
    mask = splat(np.uint64(0x00000000FFFFFFFF))
    while width > 0:
        k = 0
        while k < 64:  # swap the off-diagonal quarters of squares of 2 · width rows and columns
            one, other = load(block, k), load(block, k + width)
            swap = (shift_right(one, width) ^ other) & mask
            store(block, k, one ^ shift_left(swap, width))
            store(block, k + width, other ^ swap)
            k = (k + width + 1) & ~width
        width >>= 1
        mask ^= shift_left(mask, width)


@kernel
def load_states(layout: Layout, lanes: Lanes, states: U64, count: int) -> None:
    """Put packed states (count, state_words) into lanes 0 to count - 1; the rest become empty.

    Where that is no more than half of all lanes, the other half is not in use until the next call.
    """
    block = lanes.block
    lanes.half[0] = HALF if count <= LANES // 2 else 0
    for part in range(states.shape[1]):
        for i in range(64):
            for word in range(WORDS):
                lane = 64 * word + i
                block[i, word] = states[lane, part] if lane < count else NONE
        transpose(block)
        for j in range(min(64, layout.fluents - 64 * part)):
            store(lanes.values, 1 + 64 * part + j, load(block, j))


@kernel
def save_states(layout: Layout, lanes: Lanes, states: U64, count: int) -> None:
    """The inverse of `load_states`: the fluents of lanes 0 to count - 1 as packed states."""
    block = lanes.block
    for part in range(states.shape[1]):
        inside = min(64, layout.fluents - 64 * part)
        for j in range(inside):
            store(block, j, load(lanes.values, 1 + 64 * part + j))
        for j in range(inside, 64):
            store(block, j, splat(NONE))
        transpose(block)
        for lane in range(count):
            states[lane, part] = block[lane & 63, lane >> 6]


@kernel
def set_moves(layout: Layout, lanes: Lanes, moves: I32, count: int) -> None:
    """Joint moves from outside: `moves` (count, R), each a move's number in its role."""
    for move in range(len(layout.legal)):
        store(lanes.values, layout.first_move + move, splat(NONE))
    for lane in range(count):
        bit = _ONE << np.uint64(lane & 63)
        for role in range(len(layout.span) - 1):
            row = layout.first_move + layout.span[role] + moves[lane, role]
            lanes.values[row, lane >> 6] |= bit


@kernel
def legal_rows(layout: Layout, lanes: Lanes, legal: U64) -> None:
    """(M, WORDS) the lanes in which each move is legal, as plain rows."""
    for move in range(len(layout.legal)):
        store(legal, move, read(lanes.values, layout.legal[move]))


@kernel
def simulate(layout: Layout, lanes: Lanes, steps: int, totals: NDArray[np.float64]) -> int:
    """Random play without end: lanes that finish a game begin a new one (for benchmarks).

    `totals` (1 + R,) sums transitions and goals.  Returns the number of playouts that ended.
    """
    playouts = 0
    for _ in range(steps):
        see_position(layout, lanes)
        ended = read(lanes.values, layout.terminal)
        store(lanes.restart, 0, ended)
        store(lanes.active, 0, ~ended)
        finished = popcount(ended)
        totals[0] += popcount(~ended)
        if finished > 0:
            playouts += finished
            _add_goals(layout, lanes, totals)
        choose_moves(layout, lanes)
        advance(layout, lanes)
    lanes.restart[:] = NONE
    return playouts


@kernel
def _add_goals(layout: Layout, lanes: Lanes, totals: NDArray[np.float64]) -> None:
    """Sum the goals of the lanes of `restart`: of each role the highest value that holds."""
    _evaluate(layout, lanes, _GOALS)
    left = load(lanes.restart, 0)
    for k in range(len(layout.goals) - 1, -1, -1):
        role = layout.goal_role[k]
        if k + 1 < len(layout.goals) and layout.goal_role[k + 1] != role:
            left = load(lanes.restart, 0)
        holds = left & read(lanes.values, layout.goals[k])
        totals[1 + role] += float(layout.goal_value[k]) * popcount(holds)
        left &= ~holds
