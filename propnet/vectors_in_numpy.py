"""The operations of `propnet.vectors` without numba: a vector is an array of uint64.

Here `a &= b` changes the array, and so whatever else is called a; kernels use it only for vectors
that have one name.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.uint64]


def load(rows: Vector, row: int) -> Vector:
    """See `propnet.vectors.load`."""
    return rows.reshape(len(rows), -1)[_checked(rows, row)].copy()


def store(rows: Vector, row: int, value: Vector) -> None:
    """See `propnet.vectors.store`."""
    rows.reshape(len(rows), -1)[_checked(rows, row)] = value


def read(rows: Vector, literal: int) -> Vector:
    """See `propnet.vectors.read`."""
    value = load(rows, literal >> 1)
    return ~value if literal & 1 else value


def _checked(rows: Vector, row: int) -> int:
    if row < 0:
        raise IndexError("there is no such row")
    return row


def splat(word: np.uint64) -> Vector:
    """See `propnet.vectors.splat`."""
    return np.full(8, word, np.uint64)


def splat_like(rows: Vector, word: np.uint64) -> Vector:
    """See `propnet.vectors.splat_like`."""
    return np.full(rows[0].size, word, np.uint64)


def select(mask: Vector, one: Vector, other: Vector) -> Vector:
    """See `propnet.vectors.select`."""
    return (one & mask) | (other & ~mask)


def shift_left(value: Vector, bits: int) -> Vector:
    """See `propnet.vectors.shift_left`."""
    return value << np.uint64(bits)


def shift_right(value: Vector, bits: int) -> Vector:
    """See `propnet.vectors.shift_right`."""
    return value >> np.uint64(bits)


def any_lane(value: Vector) -> bool:
    """See `propnet.vectors.any_lane`."""
    return bool(value.any())


def busy_words(value: Vector) -> Vector:
    """See `propnet.vectors.busy_words`."""
    return np.where(value != 0, ~np.uint64(0), np.uint64(0))


def popcount(value: Vector) -> int:
    """See `propnet.vectors.popcount`."""
    return int(np.bitwise_count(value).sum())


def lowest_bit(word: np.uint64) -> int:
    """See `propnet.vectors.lowest_bit`."""
    return (int(word) & -int(word)).bit_length() - 1


def call_code(address: int, phase: int, rows: Vector) -> None:
    """See `propnet.vectors.call_code`."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(int(address))
    function(int(phase), rows.ctypes.data)
