"""Kernels as Python calls them, and as part of others."""

import numpy as np
import pytest
from numba import config

from gdl.linked_kernels import entry, linked

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="compiled or not is what this is about")


@linked(nogil=True, _nrt=False)
def _scaled(values: np.ndarray, factor: int) -> int:
    total = 0
    for value in values:
        total += factor * value
    return total


@entry(nogil=True, _nrt=False)
def _twice(values: np.ndarray) -> int:
    return _scaled(values, 2)


@entry(nogil=True, _nrt=False)
def _sum(values: np.ndarray, small: np.int32) -> int:
    return _twice(values) + _scaled(values, 3) + _scaled(values, small)


@entry()
def _failing(values: np.ndarray) -> int:
    return _checked(values)


@linked()
def _checked(values: np.ndarray) -> int:
    if len(values) > 2:
        raise ValueError("too many")
    return len(values)


def test_what_a_kernel_calls_is_linked_with_it() -> None:
    assert _sum(np.array([1, 2, 3]), np.int32(5)) == 6 * (2 + 3 + 5)
    assert _twice(np.array([1, 2, 3])) == 12


def test_constants_and_narrow_integers_make_no_further_versions() -> None:
    _sum(np.array([1, 2, 3]), np.int32(5))
    assert len(_scaled.overloads) == 1


def test_an_entry_that_kernels_alone_call_is_not_compiled_for_python() -> None:
    @entry(nogil=True, _nrt=False)
    def inner(number: int) -> int:
        return number + 1

    @entry(nogil=True, _nrt=False)
    def outer(number: int) -> int:
        return inner(number)

    assert outer(1) == 2
    assert len(inner.overloads) == 0 and len(inner.linked.overloads) == 1


def test_python_cannot_call_what_is_linked_alone() -> None:
    with pytest.raises(TypeError, match="_scaled is for kernels to call"):
        _scaled(np.array([1]), 2)


def test_exceptions_leave_the_linked_function_and_its_caller() -> None:
    assert _failing(np.zeros(2)) == 2
    with pytest.raises(ValueError, match="too many"):
        _failing(np.zeros(3))
