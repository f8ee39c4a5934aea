"""States and moves in and out of the lanes: packed states are transposed to rows, and back."""

from __future__ import annotations

import numpy as np

from gdl.kernel_cache import inlined_kernel, kernel
from propnet.lane_bits import (
    MOST_BY_LANE,
    add_lane,
    get_word,
    set_word,
    word_of_lane,
    words_of,
)
from propnet.layout import HALF, I32, NONE, U64, Lanes, Layout
from propnet.vectors import load, read, shift_left, shift_right, splat_like, store

_ONE = np.uint64(1)


@kernel
def transpose(block: U64) -> None:
    """Transpose 64 x 64 bit matrices in place, `block` (64 vectors) having one in each word.

    Bit j of row i becomes bit i of row j (H. S. Warren, Hacker's Delight, 7-3).
    """
    width = 32
    mask = splat_like(block, np.uint64(0x00000000FFFFFFFF))
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
    lanes.half[0] = HALF if count <= 32 * words_of(lanes.block) else 0
    _load_states(layout, lanes, lanes.values, states, count)


@inlined_kernel
def _load_states(layout: Layout, lanes: Lanes, values: U64, states: U64, count: int) -> None:
    if values.ndim == 2:
        _load_by_block(layout, lanes, states, count)
    elif count <= MOST_BY_LANE:
        values[1 : 1 + layout.fluents] = NONE
        for lane in range(count):
            shift = np.uint64(lane)
            for part in range(len(layout.initial)):
                word, first = states[lane, part], 1 + 64 * part
                for i in range(min(64, layout.fluents - 64 * part)):
                    values[np.uint64(first + i)] |= ((word >> np.uint64(i)) & _ONE) << shift
    else:
        _load_by_block(layout, lanes, states, count)


@kernel
def _load_by_block(layout: Layout, lanes: Lanes, states: U64, count: int) -> None:
    block, words = lanes.block, words_of(lanes.block)
    for part in range(states.shape[1]):
        for i in range(64):
            for word in range(words):
                lane = 64 * word + i
                set_word(block, i, word, states[lane, part] if lane < count else NONE)
        transpose(block)
        for j in range(min(64, layout.fluents - 64 * part)):
            store(lanes.values, 1 + 64 * part + j, load(block, j))


@kernel
def save_states(layout: Layout, lanes: Lanes, states: U64, count: int) -> None:
    """The inverse of `load_states`: the fluents of lanes 0 to count - 1 as packed states.

    Words that states have beyond those of the layout stay as they are.
    """
    for part in range(len(layout.initial)):
        inside = min(64, layout.fluents - 64 * part)
        save_column(lanes.values, 1 + 64 * part, inside, lanes.block, states, part, count)


@inlined_kernel
def save_column(
    rows: U64, first: int, inside: int, block: U64, by_lane: U64, column: int, lanes: int
) -> None:
    """What `inside` vectors from `first` on say of each lane, as a word: a column of `by_lane`.

    No more than 64 vectors; the first `lanes` are written.  `block` is room to work with.
    """
    if rows.ndim == 2:
        _save_by_block(rows, first, inside, block, by_lane, column, lanes)
    elif lanes <= MOST_BY_LANE:
        for lane in range(lanes):
            by_lane[lane, column] = word_of_lane(rows, first, inside, lane)
    else:
        _save_by_block(rows, first, inside, block, by_lane, column, lanes)


@kernel
def _save_by_block(
    rows: U64, first: int, inside: int, block: U64, by_lane: U64, column: int, lanes: int
) -> None:
    for i in range(inside):
        store(block, i, load(rows, first + i))
    for i in range(inside, 64):
        store(block, i, splat_like(block, NONE))
    transpose(block)
    for lane in range(lanes):
        by_lane[lane, column] = get_word(block, lane & 63, lane >> 6)


@kernel
def set_moves(layout: Layout, lanes: Lanes, moves: I32, count: int) -> None:
    """Joint moves from outside: `moves` (count, R), each a move's number in its role."""
    for move in range(len(layout.legal)):
        store(lanes.values, layout.first_move + move, splat_like(lanes.values, NONE))
    for lane in range(count):
        for role in range(len(layout.span) - 1):
            move = layout.span[role] + moves[lane, role]
            add_lane(lanes.values, layout.first_move + move, lane)


@kernel
def legal_rows(layout: Layout, lanes: Lanes, legal: U64) -> None:
    """(M, WORDS) the lanes in which each move is legal, as plain rows."""
    for move in range(len(layout.legal)):
        store(legal, move, read(lanes.values, layout.legal[move]))
