"""A vector of machine words as a numba type, so that kernels work on 512 games at a time.

numba does not reliably turn loops over eight words into vector instructions; LLVM does so with
values that *are* vectors.  `load` and `store` move one row of a `(rows, WORDS)` uint64 array, the
operators `& | ^ ~ + << >>` work word by word, and so kernels read like their scalar form:

    store(values, gate, load(values, a) & ~load(values, b))

A lane is one bit of the vector: lane 64·w + b is bit b of word w.

With numba's bounds checks on (NUMBA_BOUNDSCHECK=1), `load`, `store` and `read` raise `IndexError`
where there is no such row.  With numba off (NUMBA_DISABLE_JIT=1), a vector is a numpy array and
everything is computed by numpy, for tests of small games.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.extending import intrinsic, lower_builtin, register_model, type_callable

WORDS = 8
LANES = 64 * WORDS

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WORDS)


class _VectorType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name=f"Vector{WORDS}x64")


vector_type = _VectorType()


@register_model(_VectorType)
class _VectorModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _constant(word: int) -> ir.Constant:
    return ir.Constant(_VECTOR, [ir.Constant(_WORD, word)] * WORDS)


def _define(function: Any, emit: Any) -> None:
    """Give an operator between vectors its type and its instruction."""

    @type_callable(function)
    def _typing(context: Any) -> Any:
        def typer(left: Any, right: Any) -> Any:
            if left is vector_type and right is vector_type:
                return vector_type
            return None

        return typer

    @lower_builtin(function, _VectorType, _VectorType)
    def _lower(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return emit(builder, *arguments)


for _operator, _inplace, _emit in (
    (operator.and_, operator.iand, ir.IRBuilder.and_),
    (operator.or_, operator.ior, ir.IRBuilder.or_),
    (operator.xor, operator.ixor, ir.IRBuilder.xor),
    (operator.add, operator.iadd, ir.IRBuilder.add),
):
    _define(_operator, _emit)
    _define(_inplace, _emit)


@type_callable(operator.invert)
def _type_invert(context: Any) -> Any:
    def typer(value: Any) -> Any:
        return vector_type if value is vector_type else None

    return typer


@lower_builtin(operator.invert, _VectorType)
def _lower_invert(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    return builder.xor(arguments[0], _constant(2**64 - 1))


def _row_pointer(context: Any, builder: ir.IRBuilder, array_type: Any, array: Any, row: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    if config.BOUNDSCHECK:
        count = builder.extract_value(view.shape, 0)
        with builder.if_then(builder.icmp_unsigned(">=", row, count), likely=False):
            context.call_conv.return_user_exc(builder, IndexError, ("there is no such row",))
    data = view.data
    start = builder.gep(data, [builder.mul(row, ir.Constant(row.type, WORDS))])
    return builder.bitcast(start, _VECTOR.as_pointer())


@intrinsic
def load(typing_context: Any, rows: Any, row: Any) -> Any:
    """Row `row` of a C-contiguous `(rows, WORDS)` uint64 array."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        pointer = _row_pointer(context, builder, signature.args[0], arguments[0], index)
        return builder.load(pointer, align=8)

    return vector_type(rows, row), emit


@intrinsic
def store(typing_context: Any, rows: Any, row: Any, value: Any) -> Any:
    """Set row `row` of a C-contiguous `(rows, WORDS)` uint64 array."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        pointer = _row_pointer(context, builder, signature.args[0], arguments[0], index)
        builder.store(arguments[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(rows, row, value), emit


@intrinsic
def read(typing_context: Any, rows: Any, literal: Any) -> Any:
    """The row of a literal `2 * row + inverted`, inverted where it says so."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        number = context.cast(builder, arguments[1], signature.args[1], types.int64)
        row = builder.ashr(number, ir.Constant(_WORD, 1))
        value = builder.load(
            _row_pointer(context, builder, signature.args[0], arguments[0], row), align=8
        )
        inverted = builder.neg(builder.and_(number, ir.Constant(_WORD, 1)))
        return builder.xor(value, _splat(builder, inverted))

    return vector_type(rows, literal), emit


def _splat(builder: ir.IRBuilder, word: Any) -> Any:
    first = builder.insert_element(
        ir.Constant(_VECTOR, ir.Undefined), word, ir.Constant(ir.IntType(32), 0)
    )
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WORDS), [0] * WORDS)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), mask)


@intrinsic
def splat(typing_context: Any, word: Any) -> Any:
    """The vector that has this uint64 in each of its words."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return _splat(builder, context.cast(builder, arguments[0], signature.args[0], types.uint64))

    return vector_type(word), emit


@intrinsic
def select(typing_context: Any, mask: Any, one: Any, other: Any) -> Any:
    """Bit by bit, `one` where the mask has a one, else `other`."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        mask, one, other = arguments
        return builder.xor(other, builder.and_(builder.xor(one, other), mask))

    return vector_type(mask, one, other), emit


def _shift(instruction: Any) -> Any:
    @intrinsic
    def shift(typing_context: Any, value: Any, amount: Any) -> Any:
        def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            bits = context.cast(builder, arguments[1], signature.args[1], types.uint64)
            return instruction(builder, arguments[0], _splat(builder, bits))

        return vector_type(value, amount), emit

    return shift


shift_left = _shift(ir.IRBuilder.shl)
"""shift_left(vector, bits): every word on its own, by 0 to 63 bits"""
shift_right = _shift(ir.IRBuilder.lshr)
"""shift_right(vector, bits): every word on its own, by 0 to 63 bits"""


@intrinsic
def any_lane(typing_context: Any, value: Any) -> Any:
    """Whether any bit of the vector is set."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        wide = builder.bitcast(arguments[0], ir.IntType(64 * WORDS))
        return builder.icmp_unsigned("!=", wide, ir.Constant(wide.type, 0))

    return types.boolean(value), emit


@intrinsic
def busy_words(typing_context: Any, value: Any) -> Any:
    """All ones in the words that have any bit set, else zero."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        busy = builder.icmp_unsigned("!=", arguments[0], _constant(0))
        return builder.sext(busy, _VECTOR)

    return vector_type(value), emit


@intrinsic
def popcount(typing_context: Any, value: Any) -> Any:
    """Number of bits set in the vector, int64."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        module = builder.module
        name = f"llvm.ctpop.v{WORDS}i64"
        function = cgutils.get_or_insert_function(module, ir.FunctionType(_VECTOR, [_VECTOR]), name)
        counts = builder.call(function, [arguments[0]])
        total = builder.extract_element(counts, ir.Constant(ir.IntType(32), 0))
        for word in range(1, WORDS):
            part = builder.extract_element(counts, ir.Constant(ir.IntType(32), word))
            total = builder.add(total, part)
        return total

    return types.int64(value), emit


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """The number of the lowest bit that is set in a uint64 other than 0, int64."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), emit


@intrinsic
def call_code(typing_context: Any, address: Any, phase: Any, rows: Any) -> Any:
    """Call machine code, `void (i64 phase, ptr rows)`, at an address (int64)."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[2])(context, builder, arguments[2]).data
        phase = context.cast(builder, arguments[1], signature.args[1], types.int64)
        function = ir.FunctionType(ir.VoidType(), [_WORD, data.type]).as_pointer()
        builder.call(builder.inttoptr(arguments[0], function), [phase, data])
        return context.get_dummy_value()

    return types.void(types.int64, phase, rows), emit


def rows(count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A zeroed, 64-byte aligned `(count, WORDS)` uint64 array: one vector per row."""
    raw = np.zeros(count * WORDS + 8, np.uint64)
    shift = (-raw.ctypes.data // 8) % 8
    return raw[shift : shift + count * WORDS].reshape(count, WORDS)


if config.DISABLE_JIT:
    import propnet.vectors_in_numpy as _numpy

    load, store, read, splat, select = (
        _numpy.load, _numpy.store, _numpy.read, _numpy.splat, _numpy.select,
    )  # fmt: skip
    shift_left, shift_right = _numpy.shift_left, _numpy.shift_right
    any_lane, busy_words, popcount = _numpy.any_lane, _numpy.busy_words, _numpy.popcount
    lowest_bit, call_code = _numpy.lowest_bit, _numpy.call_code
