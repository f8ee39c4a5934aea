"""A vector of machine words as a numba type, so that kernels work on many games at a time.

numba does not reliably turn loops over eight words into vector instructions; LLVM does so with
values that *are* vectors.  `load` and `store` move one row of a `(rows, WORDS)` uint64 array, the
operators `& | ^ ~ + << >>` work word by word, and so kernels read like their scalar form:

    store(values, gate, load(values, a) & ~load(values, b))

A lane is one bit of the vector: lane 64·w + b is bit b of word w.

How many words a vector has is said by the array that it comes from: a row of a `(rows, WORDS)`
array is 512 lanes, an item of a `(rows,)` array is one word, 64 lanes.  Kernels are written once
for both; numba compiles them for whatever they are called with.

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
FEW = 64
"""Lanes of a single word."""

_WORD = ir.IntType(64)


class _VectorType(types.Type):  # type: ignore[misc]
    def __init__(self, words: int) -> None:
        super().__init__(name=f"Vector{words}x64")
        self.words, self.ir = words, ir.VectorType(_WORD, words)

    def constant(self, word: int) -> ir.Constant:
        return ir.Constant(self.ir, [ir.Constant(_WORD, word)] * self.words)


vector_type = _VectorType(WORDS)
word_type = _VectorType(1)


def vector_of(rows: Any) -> _VectorType:
    """The type of the vectors in an array, given numba's type of this."""
    return vector_type if rows.ndim == 2 else word_type


@register_model(_VectorType)
class _VectorModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.ir)


def _define(function: Any, emit: Any) -> None:
    """Give an operator between vectors its type and its instruction."""

    @type_callable(function)
    def _typing(context: Any) -> Any:
        def typer(left: Any, right: Any) -> Any:
            return left if isinstance(left, _VectorType) and left == right else None

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
        return value if isinstance(value, _VectorType) else None

    return typer


@lower_builtin(operator.invert, _VectorType)
def _lower_invert(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    return builder.xor(arguments[0], signature.return_type.constant(2**64 - 1))


def _row_pointer(context: Any, builder: ir.IRBuilder, array_type: Any, array: Any, row: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    if config.BOUNDSCHECK:
        count = builder.extract_value(view.shape, 0)
        with builder.if_then(builder.icmp_unsigned(">=", row, count), likely=False):
            context.call_conv.return_user_exc(builder, IndexError, ("there is no such row",))
    kind = vector_of(array_type)
    start = builder.gep(view.data, [builder.mul(row, ir.Constant(row.type, kind.words))])
    return builder.bitcast(start, kind.ir.as_pointer())


@intrinsic
def load(typing_context: Any, rows: Any, row: Any) -> Any:
    """Row `row` of a C-contiguous `(rows, WORDS)` or `(rows,)` uint64 array."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        pointer = _row_pointer(context, builder, signature.args[0], arguments[0], index)
        return builder.load(pointer, align=8)

    return vector_of(rows)(rows, row), emit


@intrinsic
def store(typing_context: Any, rows: Any, row: Any, value: Any) -> Any:
    """Set row `row` of a C-contiguous `(rows, WORDS)` or `(rows,)` uint64 array."""

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
        return builder.xor(value, _splat(builder, vector_of(signature.args[0]), inverted))

    return vector_of(rows)(rows, literal), emit


def _splat(builder: ir.IRBuilder, kind: _VectorType, word: Any) -> Any:
    nothing, number = ir.Constant(kind.ir, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(nothing, word, ir.Constant(number, 0))
    mask = ir.Constant(ir.VectorType(number, kind.words), [0] * kind.words)
    return builder.shuffle_vector(first, nothing, mask)


@intrinsic
def splat(typing_context: Any, word: Any) -> Any:
    """The vector of 512 lanes that has this uint64 in each of its words."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        word = context.cast(builder, arguments[0], signature.args[0], types.uint64)
        return _splat(builder, vector_type, word)

    return vector_type(word), emit


@intrinsic
def splat_like(typing_context: Any, rows: Any, word: Any) -> Any:
    """The vector, as wide as those of an array, that has this uint64 in each of its words."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        word = context.cast(builder, arguments[1], signature.args[1], types.uint64)
        return _splat(builder, vector_of(signature.args[0]), word)

    return vector_of(rows)(rows, word), emit


@intrinsic
def select(typing_context: Any, mask: Any, one: Any, other: Any) -> Any:
    """Bit by bit, `one` where the mask has a one, else `other`."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        mask, one, other = arguments
        return builder.xor(other, builder.and_(builder.xor(one, other), mask))

    return mask(mask, one, other), emit


def _shift(instruction: Any) -> Any:
    @intrinsic
    def shift(typing_context: Any, value: Any, amount: Any) -> Any:
        def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            bits = context.cast(builder, arguments[1], signature.args[1], types.uint64)
            return instruction(builder, arguments[0], _splat(builder, signature.args[0], bits))

        return value(value, amount), emit

    return shift


shift_left = _shift(ir.IRBuilder.shl)
"""shift_left(vector, bits): every word on its own, by 0 to 63 bits"""
shift_right = _shift(ir.IRBuilder.lshr)
"""shift_right(vector, bits): every word on its own, by 0 to 63 bits"""


@intrinsic
def any_lane(typing_context: Any, value: Any) -> Any:
    """Whether any bit of the vector is set."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        wide = builder.bitcast(arguments[0], ir.IntType(64 * signature.args[0].words))
        return builder.icmp_unsigned("!=", wide, ir.Constant(wide.type, 0))

    return types.boolean(value), emit


@intrinsic
def busy_words(typing_context: Any, value: Any) -> Any:
    """All ones in the words that have any bit set, else zero."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        busy = builder.icmp_unsigned("!=", arguments[0], signature.args[0].constant(0))
        return builder.sext(busy, signature.args[0].ir)

    return value(value), emit


@intrinsic
def popcount(typing_context: Any, value: Any) -> Any:
    """Number of bits set in the vector, int64."""

    def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        name, form = f"llvm.ctpop.v{kind.words}i64", ir.FunctionType(kind.ir, [kind.ir])
        function = cgutils.get_or_insert_function(builder.module, form, name)
        counts = builder.call(function, [arguments[0]])
        total = builder.extract_element(counts, ir.Constant(ir.IntType(32), 0))
        for word in range(1, kind.words):
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


def rows(count: int, words: int = WORDS) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A zeroed, 64-byte aligned uint64 array of so many vectors of so many words, WORDS or 1.

    Its shape is (count, WORDS), or (count,) for vectors of one word.
    """
    raw = np.zeros(count * words + 8, np.uint64)
    shift = (-raw.ctypes.data // 8) % 8
    used = raw[shift : shift + count * words]
    return used if words == 1 else used.reshape(count, words)


if config.DISABLE_JIT:
    import propnet.vectors_in_numpy as _numpy

    load, store, read, select = _numpy.load, _numpy.store, _numpy.read, _numpy.select
    splat, splat_like = _numpy.splat, _numpy.splat_like
    shift_left, shift_right = _numpy.shift_left, _numpy.shift_right
    any_lane, busy_words, popcount = _numpy.any_lane, _numpy.busy_words, _numpy.popcount
    lowest_bit, call_code = _numpy.lowest_bit, _numpy.call_code
