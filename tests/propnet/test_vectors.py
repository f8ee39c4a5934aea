"""Every operation on vectors of words, word by word against numpy."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from numpy.typing import NDArray

from propnet.vectors import (
    LANES,
    WORDS,
    any_lane,
    load,
    popcount,
    rows,
    shift_left,
    shift_right,
    splat,
    store,
)

U64 = NDArray[np.uint64]


def _random_rows(count: int, seed: int = 0) -> U64:
    result = rows(count)
    generator = np.random.Generator(np.random.PCG64(seed))
    result[:] = generator.integers(0, 2**64, size=result.shape, dtype=np.uint64)
    return result


@njit
def _operators(values: U64) -> None:
    a, b = load(values, 0), load(values, 1)
    store(values, 2, a & b)
    store(values, 3, a | b)
    store(values, 4, a ^ b)
    store(values, 5, ~a)
    store(values, 6, a + b)
    c = a
    c &= b
    store(values, 7, c)
    c = a
    c |= b
    store(values, 8, c)
    c = a
    c ^= b
    store(values, 9, c)
    c = a
    c += b
    store(values, 10, c)
    store(values, 11, a & ~(b | (a ^ b)))


def test_operators_work_word_by_word() -> None:
    values = _random_rows(12)
    a, b = values[0].copy(), values[1].copy()
    _operators(values)
    expected = [a, b, a & b, a | b, a ^ b, ~a, a + b, a & b, a | b, a ^ b, a + b, a & ~(b | a ^ b)]
    assert (values == np.array(expected)).all()


@njit
def _shifts(values: U64) -> None:
    a = load(values, 0)
    store(values, 1, shift_left(a, 1))
    store(values, 2, shift_left(a, 23))
    store(values, 3, shift_right(a, 1))
    store(values, 4, shift_right(a, 63))


def test_shifts_do_not_cross_words() -> None:
    values = _random_rows(5)
    a = values[0].copy()
    _shifts(values)
    one = np.uint64(1)
    expected = [a, a << one, a << np.uint64(23), a >> one, a >> np.uint64(63)]
    assert (values == np.array(expected)).all()


def test_a_shift_must_be_a_constant() -> None:
    @njit
    def shifted(values: U64, amount: int) -> None:
        store(values, 0, shift_left(load(values, 0), amount))

    with pytest.raises((TypeError, TypingError), match="constant"):
        shifted(rows(1), 3)


@njit
def _splat(values: U64, word: int) -> None:
    store(values, 0, splat(np.uint64(word)))


@pytest.mark.parametrize("word", [0, 1, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF])
def test_splat_fills_every_word(word: int) -> None:
    values = _random_rows(1)
    _splat(values, np.uint64(word))
    assert (values == np.uint64(word)).all()


@njit
def _counted(values: U64, row: int) -> tuple[int, bool]:
    return popcount(load(values, row)), any_lane(load(values, row))


def test_lanes_are_counted() -> None:
    values = _random_rows(20)
    for row in range(20):
        expected = sum(int(word).bit_count() for word in values[row])
        assert _counted(values, row) == (expected, True)
    values[:] = np.uint64(0xFFFFFFFFFFFFFFFF)
    assert _counted(values, 0) == (LANES, True)
    values[:] = 0
    assert _counted(values, 0) == (0, False)


@pytest.mark.parametrize("lane", [0, 63, 64, 200, LANES - 1])
def test_a_single_lane_is_seen(lane: int) -> None:
    values = rows(1)
    values[0, lane // 64] = np.uint64(1) << np.uint64(lane % 64)
    assert _counted(values, 0) == (1, True)


@njit
def _copied(values: U64, source: int, target: int) -> None:
    store(values, target, load(values, source))


@pytest.mark.parametrize("cast", [int, np.int32, np.int64, np.uint32])
def test_any_integer_is_a_row(cast: Callable[[int], Any]) -> None:
    values = _random_rows(4)
    before = values.copy()
    _copied(values, cast(3), cast(1))
    before[1] = before[3]
    assert (values == before).all()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
def test_rows_are_aligned_and_empty(count: int) -> None:
    values = rows(count)
    assert values.shape == (count, WORDS)
    assert values.dtype == np.uint64
    assert values.flags.c_contiguous
    assert count == 0 or values.ctypes.data % 64 == 0
    assert not values.any()
