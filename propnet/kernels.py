"""The bit-parallel simulator: one sweep over the gates advances 512 games.

Kernels work on a `Layout` (the game) and `Lanes` (the games in play), see `propnet.layout`; they
check nothing.  The order of calls is that of a game:

1. fluents are set (`load_states` or `reset`),
2. `see_position` evaluates terminal and legal moves, `read_goals` the goals,
3. moves are set (`choose_moves`, or the move rows from outside),
4. `advance` computes the next state in the active lanes.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from propnet.layout import I32, U64, Lanes, Layout
from propnet.network import GOALS, POSITION, STEP
from propnet.vectors import (
    WORDS,
    any_lane,
    busy_words,
    load,
    popcount,
    shift_left,
    shift_right,
    splat,
    store,
)

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)


@njit(inline="always")
def read(values: U64, literal: int):  # type: ignore[no-untyped-def] # numba infers a vector
    """The lanes of a literal."""
    return load(values, literal >> 1) ^ splat(np.uint64(-(literal & 1)))


@njit(cache=True, nogil=True)
def _sweep(layout: Layout, values: U64, phase: int) -> None:
    """Evaluate the gates of one phase, in order."""
    for gate in range(layout.bounds[phase], layout.bounds[phase + 1]):
        lanes = splat(ALL)
        for edge in range(layout.first[gate], layout.first[gate + 1]):
            lanes &= read(values, layout.inputs[edge])
        store(values, gate, lanes)


@njit(cache=True, nogil=True)
def _evaluate(layout: Layout, values: U64, phase: int) -> None:
    """Evaluate a phase; positive cycles are iterated from false to their least fixpoint.

    Stratum by stratum: what a cycle negates must have been settled before it is iterated.
    """
    feedback = len(layout.feedback)
    for k in range(feedback):
        if layout.feedback_phase[k] == phase:
            store(values, layout.first_feedback + k, splat(NONE))
    _sweep(layout, values, phase)
    first = 0
    while first < feedback:
        last = first + 1
        while last < feedback and layout.feedback_stratum[last] == layout.feedback_stratum[first]:
            last += 1
        while _feed_back(layout, values, phase, first, last):
            _sweep(layout, values, phase)
        first = last


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def see_position(layout: Layout, lanes: Lanes) -> None:
    """Evaluate what follows from the fluents: terminal, legal moves, and what next needs."""
    _evaluate(layout, lanes.values, POSITION)


@njit(cache=True, nogil=True)
def reset(layout: Layout, lanes: Lanes, which: U64) -> None:
    """Put the initial state into the lanes of `which` (1, WORDS)."""
    chosen = load(which, 0)
    for fluent in range(layout.fluents):
        row = 1 + fluent
        bit = (layout.initial[fluent >> 6] >> np.uint64(fluent & 63)) & np.uint64(1)
        initial = splat(np.uint64(-np.int64(bit)))
        store(lanes.values, row, (load(lanes.values, row) & ~chosen) | (initial & chosen))


@njit(inline="always")
def random_vector(random: U64, words):  # type: ignore[no-untyped-def] # numba infers a vector
    """512 random bits: xoshiro256++ (D. Blackman, S. Vigna, 2018), one generator per word.

    Only generators of `words` (all ones in a word, or none) go on to their next number, so that
    what a word draws does not depend on the other words.
    """
    a, b, c, d = load(random, 0), load(random, 1), load(random, 2), load(random, 3)
    total = a + d
    result = (shift_left(total, 23) | shift_right(total, 41)) + a
    mixed = shift_left(b, 17)
    e = c ^ a
    f = d ^ b
    store(random, 0, select(words, a ^ f, a))
    store(random, 1, select(words, b ^ e, b))
    store(random, 2, select(words, e ^ mixed, c))
    store(random, 3, select(words, shift_left(f, 45) | shift_right(f, 19), d))
    return result


@njit(inline="always")
def select(mask, one, other):  # type: ignore[no-untyped-def] # numba infers vectors
    """`one` where the mask has ones, else `other`."""
    return (one & mask) | (other & ~mask)


@njit(cache=True, nogil=True)
def _count_legal(layout: Layout, lanes: Lanes, role: int, planes: int) -> None:
    """Number of legal moves per lane, as bit planes in `counter[:planes]`."""
    counter = lanes.counter
    for plane in range(planes):
        store(counter, plane, splat(NONE))
    used = 0
    for move in range(layout.span[role], layout.span[role + 1]):
        carry = read(lanes.values, layout.legal[move])
        if not any_lane(carry):
            continue
        used += 1
        plane, reach = 0, used
        while reach > 0:
            old = load(counter, plane)
            store(counter, plane, old ^ carry)
            carry &= old
            plane += 1
            reach >>= 1


@njit(cache=True, nogil=True)
def _draw_ranks(lanes: Lanes, planes: int, wanted: U64, role: int) -> None:
    """A uniform number below each lane's count, as bit planes, by rejection.

    `counter` holds three groups of planes: the count (replaced by count - 1, the highest rank),
    the mask of bits that a rank may have, and the rank.  A draw within the mask is accepted in
    more than half of the cases, whatever the count.  Lanes that are not `wanted` (row `role`)
    draw nothing.
    """
    counter = lanes.counter
    borrow = splat(ALL)
    some = splat(NONE)
    for plane in range(planes):
        some |= load(counter, plane)
    for plane in range(planes):
        old = load(counter, plane)
        store(counter, plane, (old ^ borrow) & some)
        borrow &= ~old
    smear = splat(NONE)
    used = 0
    for plane in range(planes - 1, -1, -1):
        smear |= load(counter, plane)
        store(counter, planes + plane, smear)
        store(counter, 2 * planes + plane, splat(NONE))
        if used == 0 and any_lane(smear):
            used = plane + 1
    waiting = load(counter, planes) & load(wanted, role)
    while any_lane(waiting):
        higher, equal = splat(NONE), splat(ALL)
        words = busy_words(waiting)
        for plane in range(used - 1, -1, -1):
            bit = random_vector(lanes.random, words) & load(counter, planes + plane)
            limit = load(counter, plane)
            higher |= equal & bit & ~limit
            equal &= ~(bit ^ limit)
            row = 2 * planes + plane
            store(counter, row, select(waiting, bit, load(counter, row)))
        waiting &= higher


@njit(cache=True, nogil=True)
def _take_ranked(layout: Layout, lanes: Lanes, role: int, planes: int, wanted: U64) -> None:
    """Walk the moves and count the ranks down; where one falls below zero, that is the move."""
    values, counter = lanes.values, lanes.counter
    used = 0
    for plane in range(planes):
        if any_lane(load(counter, planes + plane)):
            used = plane + 1
    undecided = load(wanted, role)
    for move in range(layout.span[role], layout.span[role + 1]):
        borrow = read(values, layout.legal[move]) & undecided
        if any_lane(borrow):
            for plane in range(2 * planes, 2 * planes + used):
                rank = load(counter, plane)
                store(counter, plane, rank ^ borrow)
                borrow &= ~rank
            undecided &= ~borrow
        store(values, layout.first_move + move, borrow)


@njit(cache=True, nogil=True)
def _take_first(layout: Layout, lanes: Lanes, role: int, order: I32, greedy: U64) -> None:
    """Add the first legal move of the order in the lanes of `greedy` (row `role`)."""
    values = lanes.values
    undecided = load(greedy, role)
    for k in range(layout.span[role], layout.span[role + 1]):
        if not any_lane(undecided):
            return
        taken = read(values, layout.legal[order[k]]) & undecided
        row = layout.first_move + order[k]
        store(values, row, load(values, row) | taken)
        undecided &= ~taken


@njit(cache=True, nogil=True)
def _choose_at_random(layout: Layout, lanes: Lanes, wanted: U64) -> None:
    """Uniform moves in the lanes of `wanted` (R, WORDS), in other lanes none.

    Bit-sliced: count the legal moves, draw a rank below the count, then take the move of that
    rank.  A lane in which a role has no legal move gets none.
    """
    for role in range(len(layout.span) - 1):
        planes, size = 0, layout.span[role + 1] - layout.span[role]
        while size > 0:
            planes, size = planes + 1, size >> 1
        _count_legal(layout, lanes, role, planes)
        _draw_ranks(lanes, planes, wanted, role)
        _take_ranked(layout, lanes, role, planes, wanted)


@njit(cache=True, nogil=True)
def choose_moves(layout: Layout, lanes: Lanes) -> None:
    """Every role makes one of its legal moves in every lane, all equally likely."""
    lanes.wanted[:] = ALL
    _choose_at_random(layout, lanes, lanes.wanted)


@njit(cache=True, nogil=True)
def choose_moves_greedily(layout: Layout, lanes: Lanes, order: I32, greedy: U64) -> None:
    """Every role makes its best legal move in the lanes of `greedy`, in others a random one.

    `order` (M,) has for every role's span of moves the numbers of these moves (positions in
    `layout.legal`), the best first; `greedy` (R, WORDS) is the lanes in which the role takes the
    first of them that is legal.  In the others all legal moves are equally likely.
    """
    for role in range(len(layout.span) - 1):
        store(lanes.wanted, role, ~load(greedy, role))
    _choose_at_random(layout, lanes, lanes.wanted)
    for role in range(len(layout.span) - 1):
        _take_first(layout, lanes, role, order, greedy)


@njit(cache=True, nogil=True)
def advance(layout: Layout, lanes: Lanes) -> None:
    """The next state, from fluents and moves, in the lanes of `active`; others stay."""
    values, following = lanes.values, lanes.following
    _evaluate(layout, values, STEP)
    active = load(lanes.active, 0)
    for fluent in range(layout.fluents):
        store(following, fluent, read(values, layout.next[fluent]))
    for fluent in range(layout.fluents):
        row = 1 + fluent
        store(values, row, (load(following, fluent) & active) | (load(values, row) & ~active))


@njit(cache=True, nogil=True)
def playout(layout: Layout, lanes: Lanes, limit: int) -> tuple[int, bool]:
    """Play random moves in the active lanes until all have ended or `limit` steps were made.

    Returns the number of transitions in all lanes and whether all games ended.  `active` is
    empty afterwards, or has the lanes that were cut off.
    """
    active = lanes.active
    transitions = 0
    for step in range(limit + 1):
        see_position(layout, lanes)
        store(active, 0, load(active, 0) & ~read(lanes.values, layout.terminal))
        going = popcount(load(active, 0))
        if going == 0:
            return transitions, True
        if step < limit:
            transitions += going
            choose_moves(layout, lanes)
            advance(layout, lanes)
    return transitions, False


@njit(cache=True, nogil=True)
def read_goals(layout: Layout, lanes: Lanes, goals: NDArray[np.uint8]) -> None:
    """Evaluate goals; `goals` (R, LANES): the highest value that holds, 0 where none does."""
    _evaluate(layout, lanes.values, GOALS)
    goals[:] = 0
    row = np.empty((1, WORDS), np.uint64)
    for k in range(len(layout.goals)):
        value = layout.goal_value[k]
        if value == 0:
            continue
        store(row, 0, read(lanes.values, layout.goals[k]))
        for word in range(WORDS):
            bits = row[0, word]
            for bit in range(64):
                if (bits >> np.uint64(bit)) & np.uint64(1):
                    goals[layout.goal_role[k], 64 * word + bit] = value


@njit(cache=True, nogil=True)
def transpose(block: U64) -> None:
    """Transpose a 64 x 64 bit matrix in place; bit j of row i becomes bit i of row j."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width > 0:
        k = 0
        while k < 64:
            shift = np.uint64(width)
            swap = ((block[k] >> shift) ^ block[k + width]) & mask
            block[k] ^= swap << shift
            block[k + width] ^= swap
            k = (k + width + 1) & ~width
        width >>= 1
        mask ^= mask << np.uint64(width)


@njit(cache=True, nogil=True)
def load_states(layout: Layout, lanes: Lanes, states: U64, count: int) -> None:
    """Put packed states (count, state_words) into lanes 0 to count - 1; the rest become empty."""
    block = lanes.block
    for word in range(WORDS):
        for part in range(states.shape[1]):
            for i in range(64):
                lane = 64 * word + i
                block[i] = states[lane, part] if lane < count else NONE
            transpose(block)
            for j in range(min(64, layout.fluents - 64 * part)):
                lanes.values[1 + 64 * part + j, word] = block[j]


@njit(cache=True, nogil=True)
def save_states(layout: Layout, lanes: Lanes, states: U64, count: int) -> None:
    """The inverse of `load_states`: the fluents of lanes 0 to count - 1 as packed states."""
    block = lanes.block
    for word in range((count + 63) >> 6):
        for part in range(states.shape[1]):
            inside = min(64, layout.fluents - 64 * part)
            for j in range(64):
                block[j] = lanes.values[1 + 64 * part + j, word] if j < inside else NONE
            transpose(block)
            for i in range(min(64, count - 64 * word)):
                states[64 * word + i, part] = block[i]


@njit(cache=True, nogil=True)
def set_moves(layout: Layout, lanes: Lanes, moves: I32, count: int) -> None:
    """Joint moves from outside: `moves` (count, R), each a move's number in its role."""
    for move in range(len(layout.legal)):
        store(lanes.values, layout.first_move + move, splat(NONE))
    for lane in range(count):
        bit = np.uint64(1) << np.uint64(lane & 63)
        for role in range(len(layout.span) - 1):
            row = layout.first_move + layout.span[role] + moves[lane, role]
            lanes.values[row, lane >> 6] |= bit


@njit(cache=True, nogil=True)
def legal_rows(layout: Layout, lanes: Lanes, legal: U64) -> None:
    """(M, WORDS) the lanes in which each move is legal, as plain rows."""
    for move in range(len(layout.legal)):
        store(legal, move, read(lanes.values, layout.legal[move]))


@njit(cache=True, nogil=True)
def simulate(
    layout: Layout,
    lanes: Lanes,
    steps: int,
    started: NDArray[np.int64],
    clock: int,
    goals: NDArray[np.uint8],
    totals: NDArray[np.float64],
) -> int:
    """Random play without end: lanes that finish a game begin a new one (for benchmarks).

    `started` (LANES,) is the step at which each lane's game began, `clock` the present step (both
    carried from call to call); `totals` (2 + R,) sums transitions, playouts' lengths and goals.
    Returns the number of playouts that ended.
    """
    ended = np.empty((1, WORDS), np.uint64)
    playouts = 0
    for step in range(clock, clock + steps):
        see_position(layout, lanes)
        terminal = read(lanes.values, layout.terminal)
        store(ended, 0, terminal)
        store(lanes.active, 0, ~terminal)
        totals[0] += popcount(~terminal)
        finished = popcount(terminal)
        if finished > 0:
            playouts += finished
            read_goals(layout, lanes, goals)
            for lane in range(64 * WORDS):
                if (ended[0, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1):
                    totals[1] += step - started[lane]
                    started[lane] = step + 1
                    for role in range(goals.shape[0]):
                        totals[2 + role] += goals[role, lane]
        choose_moves(layout, lanes)
        advance(layout, lanes)
        if finished > 0:
            reset(layout, lanes, ended)
    return playouts
