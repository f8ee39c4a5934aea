"""One block of memory for whatever varies in size: moves, their statistics, AMAF tables.

The pool is an array of 4-byte words, handed out in units of 64 bytes (a cache line).  A request
takes exactly the units it needs: a binary buddy allocator (D. E. Knuth, The Art of Computer
Programming 1, 2.5), where what is left of a block that was cut to size goes back at once.  The
accessors read and write words of the pool as one type or another; they check nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from ggp_agent.search.kernel import entry, part
from propnet.layout import I32

UNIT = 16
"""words"""
NO_BLOCK = -1
ORDERS = 31

_TAKEN = 255


class Pool(NamedTuple):
    """The words and what is free of them; U units."""

    words: I32
    """(16 * (U + 1),) aligned to a cache line; vectors may be read from beyond the last block"""
    order: NDArray[np.uint8]
    """(U,) k where a free block of 2^k units begins, else 255"""
    free: I32
    """(ORDERS + 1,) first free block of every order; last the number of free units"""


def new_pool(units: int) -> Pool:
    """A pool, all of it free."""
    pool = Pool(
        words=aligned((units + 1) * UNIT, np.dtype(np.int32)),
        order=np.full(units, _TAKEN, np.uint8),
        free=np.full(ORDERS + 1, NO_BLOCK, np.int32),
    )
    empty(pool)
    return pool


def aligned(count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array that begins at a cache line; its pages are not touched."""
    raw = np.empty(count * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * dtype.itemsize].view(dtype)


def empty(pool: Pool) -> None:
    """Make all of the pool free again."""
    pool.order[:] = _TAKEN
    pool.free[:] = NO_BLOCK
    pool.free[ORDERS] = 0
    release(pool, 0, len(pool.order) * UNIT)


def _accessors(word: ir.Type, numba_type: Any) -> tuple[Any, Any]:
    """Functions that read and write a value of a type at a word of the pool."""

    def pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        return builder.bitcast(builder.gep(data, [index]), word.as_pointer())

    @intrinsic
    def read(typing_context: Any, words: Any, index: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(pointer(context, builder, signature, arguments), align=4)

        return numba_type(words, index), emit

    @intrinsic
    def write(typing_context: Any, words: Any, index: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            cast = context.cast(builder, arguments[2], signature.args[2], numba_type)
            builder.store(cast, pointer(context, builder, signature, arguments), align=4)
            return context.get_dummy_value()

        return types.void(words, index, value), emit

    return read, write


get_int, put_int = _accessors(ir.IntType(32), types.int32)
get_float, put_float = _accessors(ir.FloatType(), types.float32)
get_double, put_double = _accessors(ir.DoubleType(), types.float64)


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Have the cache line of `array[index]` on its way before it is needed."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        offset = context.cast(builder, arguments[1], signature.args[1], types.intp)
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(data, [offset]), byte)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, *(ir.Constant(number, n) for n in (1, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, index), emit


@part
def _push(pool: Pool, unit: int, order: int) -> None:
    words, head = pool.words, pool.free[order]
    pool.order[unit] = order
    words[unit * UNIT], words[unit * UNIT + 1] = head, NO_BLOCK
    if head != NO_BLOCK:
        words[head * UNIT + 1] = unit
    pool.free[order] = unit


@part
def _unlink(pool: Pool, unit: int) -> None:
    words, order = pool.words, pool.order[unit]
    after, before = words[unit * UNIT], words[unit * UNIT + 1]
    if before == NO_BLOCK:
        pool.free[order] = after
    else:
        words[before * UNIT] = after
    if after != NO_BLOCK:
        words[after * UNIT + 1] = before
    pool.order[unit] = _TAKEN


@part
def _give_back(pool: Pool, unit: int, order: int) -> None:
    """Free an aligned block of 2^order units, joined with its free neighbours."""
    units = len(pool.order)
    while order < ORDERS - 1:
        buddy = unit ^ (1 << order)
        if buddy + (1 << order) > units or pool.order[buddy] != order:
            break
        _unlink(pool, buddy)
        unit = min(unit, buddy)
        order += 1
    _push(pool, unit, order)


@entry
def allocate(pool: Pool, words: int) -> int:
    """The first unit of a block that holds so many words, or NO_BLOCK."""
    units = (words + UNIT - 1) // UNIT
    order = 0
    while (1 << order) < units:
        order += 1
    size = order
    while size < ORDERS and pool.free[size] == NO_BLOCK:
        size += 1
    if size == ORDERS:
        return NO_BLOCK
    unit = pool.free[size]
    _unlink(pool, unit)
    while size > order:
        size -= 1
        _push(pool, unit + (1 << size), size)
    surplus = units
    while surplus < (1 << order):
        size = 0
        while not (surplus >> size) & 1:
            size += 1
        _push(pool, unit + surplus, size)
        surplus += 1 << size
    pool.free[ORDERS] -= units
    return unit


@entry
def release(pool: Pool, unit: int, words: int) -> None:
    """Free the block of so many words that begins at a unit."""
    units = (words + UNIT - 1) // UNIT
    pool.free[ORDERS] += units
    while units > 0:
        order = 0
        while (2 << order) <= units:
            order += 1
        _give_back(pool, unit, order)
        unit += 1 << order
        units -= 1 << order
