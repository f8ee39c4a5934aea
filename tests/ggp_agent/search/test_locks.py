"""Threads in kernels: additions are not lost, and one at a time has a lock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from gdl.linked_kernels import entry
from ggp_agent.search import in_numpy
from ggp_agent.search.locks import (
    HISTORY,
    REWARDS,
    SHARED,
    STRUCTURE,
    acquire,
    add_at,
    new_locks,
    release_lock,
)
from ggp_agent.search.tree import count_visit, new_tree

TIMES = 200_000
BEST = np.full(2, 100, np.uint8)


@entry(nogil=True, _nrt=False)
def _add(locks: Any, place: int, words: Any, times: int) -> None:
    """Add to the first word atomically, to the second with a lock."""
    for _ in range(times):
        add_at(words, 0, 1)
        acquire(locks, place)
        words[1] += 1
        release_lock(locks, place)


@entry(nogil=True, _nrt=False)
def _visit(tree: Any, node: int, times: int) -> None:
    for _ in range(times):
        count_visit(tree, node)


@pytest.mark.parametrize("place", [STRUCTURE, REWARDS, HISTORY])
def test_no_addition_is_lost(place: int) -> None:
    locks, words = new_locks(), np.zeros(2, np.int32)
    _add(locks, place, words, 1)
    assert words.tolist() == [1, 1] and not locks.any()
    locks[SHARED] = 1
    with ThreadPoolExecutor(4) as pool:
        for task in [pool.submit(_add, locks, place, words, TIMES) for _ in range(4)]:
            task.result()
    assert words.tolist() == [1 + 4 * TIMES] * 2
    assert np.flatnonzero(locks).tolist() == [SHARED]


def test_visits_are_those_of_all_threads() -> None:
    tree = new_tree(16, 64, 1, BEST)
    tree.nodes["visits"] = 7
    _visit(tree, 3, 5)
    tree.locks[SHARED] = 1
    with ThreadPoolExecutor(3) as pool:
        for task in [pool.submit(_visit, tree, 3, TIMES) for _ in range(3)]:
            task.result()
    visits = tree.nodes["visits"].tolist()
    assert visits[3] == 12 + 3 * TIMES
    assert visits[:3] + visits[4:] == [7] * 15


def test_the_same_without_numba() -> None:
    words = np.arange(4, dtype=np.int32)
    assert in_numpy.add_at(words, 8, 5) == 2
    assert in_numpy.exchange_at(words, 4, 9) == 1
    assert in_numpy.look(words, 8) == 7
    in_numpy.clear(words, 12)
    assert words.tolist() == [0, 9, 7, 0]
