"""Single words of vectors, and single lanes, in arrays of vectors of either width.

`get_word` and `set_word` are `rows[row, word]` for the arrays of `propnet.vectors`, of which those
of one-word vectors have one dimension only.  numba knows an argument's number of dimensions and
leaves out the branch that is not taken, so that `words_of` is a constant in kernels.
"""

from __future__ import annotations

import numpy as np

from gdl.kernel_cache import inlined_kernel
from propnet.layout import U64
from propnet.vectors import WORDS

MOST_BY_LANE = 8
"""Lanes of a word up to which it is faster to look at one after the other than at all at once."""
_ONE = np.uint64(1)


@inlined_kernel
def words_of(rows: U64) -> int:
    """Words in a vector of an array."""
    if rows.ndim == 2:
        return WORDS
    return 1


@inlined_kernel
def get_word(rows: U64, row: int, word: int) -> np.uint64:
    """A word of a vector."""
    if rows.ndim == 2:
        return rows[row, word]
    return rows[row]


@inlined_kernel
def set_word(rows: U64, row: int, word: int, value: np.uint64) -> None:
    """Replace a word of a vector."""
    if rows.ndim == 2:
        rows[row, word] = value
    else:
        rows[row] = value


@inlined_kernel
def word_of_lane(rows: U64, first: int, count: int, lane: int) -> np.uint64:
    """Whether a lane is in each of `count` vectors of one word, at most 64, from `first` on."""
    some, word, shift = rows[first : first + count], np.uint64(0), np.uint64(lane)
    for i in range(count):
        word |= ((some[np.uint64(i)] >> shift) & _ONE) << np.uint64(i)
    return word


@inlined_kernel
def has_lane(rows: U64, lane: int) -> bool:
    """Whether the first vector of an array has a lane."""
    return (get_word(rows, 0, lane >> 6) >> np.uint64(lane & 63)) & _ONE != np.uint64(0)


@inlined_kernel
def add_lane(rows: U64, row: int, lane: int) -> None:
    """Put a lane into a vector."""
    word = lane >> 6
    set_word(rows, row, word, get_word(rows, row, word) | (_ONE << np.uint64(lane & 63)))


@inlined_kernel
def remove_lane(rows: U64, row: int, lane: int) -> None:
    """Take a lane out of a vector."""
    word = lane >> 6
    set_word(rows, row, word, get_word(rows, row, word) & ~(_ONE << np.uint64(lane & 63)))
