"""The pool of memory: blocks don't overlap, what is free comes together again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.search.memory import NO_BLOCK, ORDERS, UNIT, allocate, empty, new_pool, release

UNITS = 100
POOL = new_pool(UNITS)


def free_units() -> set[int]:
    """The units in the free lists."""
    found: set[int] = set()
    for order in range(ORDERS):
        block, before = int(POOL.free[order]), NO_BLOCK
        while block != NO_BLOCK:
            assert POOL.order[block] == order
            assert POOL.words[block * UNIT + 1] == before
            units = set(range(block, block + (1 << order)))
            assert not units & found and max(units) < UNITS
            found |= units
            block, before = int(POOL.words[block * UNIT]), block
    return found


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40 * UNIT)), max_size=60))
def test_blocks_never_overlap_and_all_is_free_in_the_end(steps: list[tuple[bool, int]]) -> None:
    empty(POOL)
    taken: dict[int, int] = {}
    for take, number in steps:
        if take:
            unit = allocate(POOL, number)
            if unit != NO_BLOCK:
                taken[unit] = number
                POOL.words[unit * UNIT : unit * UNIT + number] = -7
        elif taken:
            unit = sorted(taken)[number % len(taken)]
            release(POOL, unit, taken.pop(unit))
        used = [u for unit, n in taken.items() for u in range(unit, unit + -(-n // UNIT))]
        free = free_units()
        assert len(used) == len(set(used)) and not free & set(used)
        assert len(free) + len(used) == UNITS
        assert POOL.free[ORDERS] == len(free)
    for unit, number in taken.items():
        release(POOL, unit, number)
    empty_again = POOL.order.copy()
    empty(POOL)
    assert np.array_equal(POOL.order, empty_again)


@pytest.mark.parametrize("words", [1, UNIT, UNIT + 1, 5 * UNIT, 33 * UNIT, 64 * UNIT])
def test_takes_no_more_than_needed(words: int) -> None:
    empty(POOL)
    assert allocate(POOL, words) != NO_BLOCK
    assert POOL.free[ORDERS] == UNITS - -(-words // UNIT)


def test_what_does_not_fit_is_refused() -> None:
    empty(POOL)
    assert allocate(POOL, 65 * UNIT) == NO_BLOCK
    assert allocate(POOL, 64 * UNIT) != NO_BLOCK
    assert allocate(POOL, 32 * UNIT) != NO_BLOCK
    assert allocate(POOL, 5 * UNIT) == NO_BLOCK
    assert allocate(POOL, 4 * UNIT) != NO_BLOCK
    assert allocate(POOL, 1) == NO_BLOCK
