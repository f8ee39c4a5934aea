"""What lets several threads work on one tree at a time, for kernels.

Where one thread works alone none of it costs more than a look at a flag.  Otherwise visits are
counted by atomic additions, and there are few locks, which are held for a moment each: selection
takes none but for memory, as in M. Enzenberger, M. Müller, "A Lock-Free Multithreaded Monte-Carlo
Tree Search Algorithm" (2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from ggp_agent.search import in_numpy
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.memory import UNIT, aligned
from propnet.layout import I32

SHARED, STRUCTURE, REWARDS, HISTORY = range(0, 4 * UNIT, UNIT)
"""Places in `locks`, a cache line each: whether several threads are at work; and whether one of
them changes nodes, edges, blocks or proofs; means and sums of rewards; the history of moves.  Who
wants several locks takes them in the order REWARDS, STRUCTURE or REWARDS, HISTORY."""

SPINS = 200
"""Looks at a lock that is taken, between which others get the core: who has it may need it."""

_WORD = ir.IntType(32)


def new_locks() -> I32:
    """Nobody has any, and there is one thread."""
    locks = aligned(4 * UNIT, np.dtype(np.int32))
    locks[:] = 0
    return locks


def _at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of a word, by its array and the number of bytes before it."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    offset = context.cast(builder, arguments[1], signature.args[1], types.intp)
    start = builder.bitcast(data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(start, [offset]), _WORD.as_pointer())


def _changing(operation: str, order: str) -> Any:
    @intrinsic
    def change(typing_context: Any, array: Any, byte: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = context.cast(builder, arguments[2], signature.args[2], types.int32)
            address = _at(context, builder, signature, arguments)
            return builder.atomic_rmw(operation, address, word, order)

        return types.int32(array, byte, value), emit

    return change


add_at, exchange_at = _changing("add", "monotonic"), _changing("xchg", "acquire")
"""Add to, or replace, the word so many bytes into an array; returns what it was before."""


@intrinsic
def _look(typing_context: Any, array: Any, byte: Any) -> Any:
    """The word so many bytes into an array as it is now."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_at(context, builder, signature, arguments), "monotonic", 4)

    return types.int32(array, byte), emit


@intrinsic
def _clear(typing_context: Any, array: Any, byte: Any) -> Any:
    """Set the word so many bytes into an array to 0, after all that was written before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _at(context, builder, signature, arguments)
        builder.store_atomic(ir.Constant(_WORD, 0), address, "release", 4)
        return context.get_dummy_value()

    return types.void(array, byte), emit


@intrinsic
def publish(typing_context: Any) -> Any:
    """What was written before is seen by all who see what is written next."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.fence("release")
        return context.get_dummy_value()

    return types.void(), emit


@intrinsic
def _give_way(typing_context: Any) -> Any:
    """Let another thread have the core."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WORD, [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), emit


if config.DISABLE_JIT:
    add_at, exchange_at = in_numpy.add_at, in_numpy.exchange_at
    _look, _clear, _give_way, publish = (
        in_numpy.look,
        in_numpy.clear,
        in_numpy.give_way,
        in_numpy.publish,
    )


@kernel
def _acquire(locks: I32, place: int) -> None:
    """Take a lock as soon as it is free."""
    spins = 0
    while exchange_at(locks, 4 * place, 1) != 0:
        while _look(locks, 4 * place) != 0:
            spins += 1
            if spins % SPINS == 0:
                _give_way()


@part
def acquire(locks: I32, place: int) -> None:
    """Take a lock, if there are several threads; whoever has it must not take it again."""
    if locks[SHARED] != 0:
        _acquire(locks, place)


@part
def release_lock(locks: I32, place: int) -> None:
    """Let others have a lock."""
    if locks[SHARED] != 0:
        _clear(locks, 4 * place)
