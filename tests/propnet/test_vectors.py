"""Every operation on vectors of words, word by word against numpy."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from propnet.vectors import (
    LANES,
    WORDS,
    any_lane,
    busy_words,
    load,
    lowest_bit,
    popcount,
    read,
    rows,
    select,
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
    c = load(values, 0)
    c &= b
    store(values, 7, c)
    c = load(values, 0)
    c |= b
    store(values, 8, c)
    c = load(values, 0)
    c ^= b
    store(values, 9, c)
    c = load(values, 0)
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


@njit
def _shifted(values: U64, bits: int) -> None:
    store(values, 1, shift_left(load(values, 0), bits))
    store(values, 2, shift_right(load(values, 0), bits))


@pytest.mark.parametrize("bits", [0, 1, 32, 63])
def test_the_bits_to_shift_may_vary(bits: int) -> None:
    values = _random_rows(3)
    _shifted(values, bits)
    assert (values[1] == values[0] << np.uint64(bits)).all()
    assert (values[2] == values[0] >> np.uint64(bits)).all()


@njit
def _splat(values: U64, word: int) -> None:
    store(values, 0, splat(np.uint64(word)))


@pytest.mark.parametrize("word", [0, 1, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF])
def test_splat_fills_every_word(word: int) -> None:
    values = _random_rows(1)
    _splat(values, np.uint64(word))
    assert (values == np.uint64(word)).all()


@njit
def _literals(values: U64) -> None:
    store(values, 2, read(values, 0))
    store(values, 3, read(values, 1))
    store(values, 4, read(values, 2))
    store(values, 5, read(values, 3))
    store(values, 6, select(load(values, 7), load(values, 0), load(values, 1)))


def test_a_literal_is_a_row_or_its_inverse() -> None:
    values = _random_rows(8)
    a, b, mask = values[0].copy(), values[1].copy(), values[7].copy()
    _literals(values)
    assert (values[2:7] == np.array([a, ~a, b, ~b, (a & mask) | (b & ~mask)])).all()


@njit
def _words(values: U64) -> int:
    store(values, 1, busy_words(load(values, 0)))
    return lowest_bit(values[0, 3])


@pytest.mark.parametrize("bit", [0, 1, 40, 63])
def test_words_with_any_bit_are_busy(bit: int) -> None:
    values = rows(2)
    values[0, 3] = np.uint64(1) << np.uint64(bit)
    values[0, 5] = ~np.uint64(0)
    assert _words(values) == bit
    busy = [0, 0, 0, ~np.uint64(0), 0, ~np.uint64(0), 0, 0]
    assert values[1].tolist() == busy


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
