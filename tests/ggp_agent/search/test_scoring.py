"""The vector code of selection against the formulas in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from ggp_agent.search.candidates import Candidates
from ggp_agent.search.scoring import GROUP, LEAST, add_pair, bits_in, near_best
from ggp_agent.search.scoring import score_grave as grave_code
from ggp_agent.search.scoring import score_uct as uct_code

MOST = 50


@njit(_nrt=False)
def _uct(values, moves, c, fpu):  # type: ignore[no-untyped-def]
    return uct_code(values, moves, c, fpu)


@njit(_nrt=False)
def _grave(values, moves, c, fpu, amaf, beta):  # type: ignore[no-untyped-def]
    return grave_code(values, moves, c, fpu, amaf, beta)


@njit(_nrt=False)
def _near(values, count, threshold, out):  # type: ignore[no-untyped-def]
    total = 0
    for place in range(0, count, GROUP):
        bits = near_best(values, place, count, threshold)
        total += bits_in(bits)
        for i in range(GROUP):
            out[place + i] = (bits >> np.uint64(i)) & np.uint64(1)
    return total


@njit(_nrt=False)
def _add(words, index, one, other):  # type: ignore[no-untyped-def]
    add_pair(words, index, one, other)


counts = st.integers(1, MOST)


def random_node(
    seed: int, count: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], list[float], list[float]]:
    rng = np.random.default_rng(seed)
    words = rng.integers(-(2**31), 2**31, size=10 * MOST + 64, dtype=np.int32)
    words[3 + 2 * MOST : 3 + 3 * MOST + GROUP] = 0  # numbers of moves, and more of them
    mean = np.where(rng.random(count) < 0.1, -1e30, rng.random(count)).astype(np.float32)
    spread = np.where(rng.random(count) < 0.3, 0, rng.random(count)).astype(np.float32)
    words[3 : 3 + count] = mean.view(np.int32)
    words[3 + MOST : 3 + MOST + count] = spread.view(np.int32)
    return words, mean.tolist(), spread.tolist()


def candidates(words: Any, count: int) -> Candidates:
    return Candidates(words, 3 + 2 * MOST, 3, 3 + MOST, count, 0)


@given(seed=st.integers(0, 10**6), count=counts, c=st.sampled_from([0.0, 0.3, 2.0]))
def test_uct(seed: int, count: int, c: float) -> None:
    words, mean, spread = random_node(seed, count)
    values = np.full(MOST + GROUP, 7, np.float32)
    best = _uct(values, candidates(words, count), np.float32(c), np.float32(1.5))
    expected = [m + c * s if s else 1.5 for m, s in zip(mean, spread, strict=True)]
    assert values[:count] == pytest.approx(expected, rel=1e-6)
    assert best == values[:count].max()
    assert (values[count : -(-count // GROUP) * GROUP] == np.float32(LEAST)).all()


@given(seed=st.integers(0, 10**6), count=counts, beta=st.sampled_from([0.1, 0.8, 1.0]))
def test_grave(seed: int, count: int, beta: float) -> None:
    words, mean, spread = random_node(seed, count)
    rng = np.random.default_rng(seed)
    moves = rng.choice(MOST, size=count, replace=False)
    tries = np.where(rng.random(MOST) < 0.3, 0, rng.integers(1, 99, size=MOST))
    sums = tries * rng.random(MOST)
    table = np.stack([tries, sums], axis=1).astype(np.float32)
    words[3 + 2 * MOST : 3 + 2 * MOST + count] = moves
    start = 3 + 4 * MOST
    words[start : start + 2 * MOST] = table.ravel().view(np.int32)
    values = np.zeros(MOST + GROUP, np.float32)
    c, fpu = np.float32(0.4), np.float32(1.0)
    best = _grave(values, candidates(words, count), c, fpu, start, np.float32(beta))
    expected = []
    for own, near, move in zip(mean, spread, moves, strict=True):
        amaf = float(table[move, 1] / table[move, 0]) if table[move, 0] else None
        if near == 0:
            expected.append(1.0 if amaf is None else 1.0 + amaf)
        elif amaf is None or own < -1e20:
            expected.append(own + 0.4 * near)
        else:
            expected.append((1 - beta) * own + beta * amaf + 0.4 * near)
    assert values[:count] == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert best == values[:count].max()


@given(st.lists(st.sampled_from([0.1, 0.5, 0.50001, 0.9]), min_size=1, max_size=MOST))
def test_near_best(numbers: list[float]) -> None:
    values = np.full(MOST + GROUP, 99, np.float32)  # what is beyond the moves does not count
    values[: len(numbers)] = numbers
    found = np.zeros(MOST + 2 * GROUP, np.uint8)
    total = _near(values, len(numbers), np.float32(0.5), found)
    expected = [number >= 0.5 for number in numbers]
    assert found[: len(numbers)].tolist() == expected
    assert total == sum(expected) == found.sum()


def test_add_pair() -> None:
    words = np.zeros(8, np.int32)
    for _ in range(3):
        _add(words, 3, np.float32(1.0), 0.25)
    assert words.view(np.float32).tolist() == [0, 0, 0, 3.0, 0.75, 0, 0, 0]
    assert not math.isnan(words.view(np.float32).sum())
