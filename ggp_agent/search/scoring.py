"""The values of a role's moves in a node, and the choice among the best, eight moves at a time.

numba does not turn these loops into vector instructions, for it can't know that reading AMAF
tables and writing values don't interfere; so they are written in LLVM's words.  The formulas are
those of `ggp_agent.search.strategies`; `tests/ggp_agent/search/test_scoring.py` has them in plain
Python.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from ggp_agent.search import in_numpy
from ggp_agent.search.kernel import part
from ggp_agent.search.memory import check_word
from ggp_agent.search.random_numbers import random_below
from propnet.layout import U64
from propnet.vectors import lowest_bit

GROUP = 8
"""moves at a time; lists of moves and of values need so many places more than there are moves"""

_I1, _I32, _I64 = (ir.IntType(bits) for bits in (1, 32, 64))
_FLOAT = ir.FloatType()
_MASK, _INTS, _FLOATS = (ir.VectorType(item, GROUP) for item in (_I1, _I32, _FLOAT))
_BITS = ir.IntType(GROUP)
_PAIR = ir.VectorType(_FLOAT, 2)

LEAST = -1e38
_CLOSED = -1e20
"""Means below are no means: the move is proven to be worse than another."""


def _splat(builder: Any, value: Any) -> Any:
    kind = ir.VectorType(value.type, GROUP)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, GROUP), [0] * GROUP)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


def _constant(number: float) -> Any:
    return ir.Constant(_FLOATS, [ir.Constant(_FLOAT, number)] * GROUP)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [a.type for a in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, arguments)


def _pointer(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _load(builder: Any, base: Any, index: Any, vector: Any) -> Any:
    address = builder.bitcast(builder.gep(base, [index]), vector.as_pointer())
    return builder.load(address, align=4)


def _below(builder: Any, place: Any, count: Any) -> Any:
    """The lanes of a group that begins at `place` which are below `count`."""
    steps = ir.Constant(_INTS, list(range(GROUP)))
    left = builder.trunc(builder.sub(count, place), _I32)
    return builder.icmp_signed("<", steps, _splat(builder, left))


def _gather_pairs(builder: Any, words: Any, moves: Any, table: Any) -> tuple[Any, Any]:
    """The pairs of floats in a table for the moves whose numbers are at `words[moves]`.

    Pairs are fetched one by one: no processor of today is faster at gathering.
    """
    pairs = []
    for lane in range(GROUP):
        number = builder.load(builder.gep(words, [builder.add(moves, _I64(lane))]), align=4)
        twice = builder.shl(builder.sext(number, _I64), _I64(1))
        address = builder.bitcast(builder.gep(table, [twice]), _PAIR.as_pointer())
        pairs.append(builder.load(address, align=4))
    while len(pairs) > 1:  # one long vector, by halves
        length = 2 * pairs[0].type.count
        every = ir.Constant(ir.VectorType(_I32, length), list(range(length)))
        halves = zip(pairs[::2], pairs[1::2], strict=True)
        pairs = [builder.shuffle_vector(low, high, every) for low, high in halves]
    nothing = ir.Constant(pairs[0].type, ir.Undefined)
    firsts, seconds = (
        builder.shuffle_vector(
            pairs[0],
            nothing,
            ir.Constant(_INTS, list(range(start, 2 * GROUP, 2))),
        )
        for start in (0, 1)
    )
    return firsts, seconds


def _score(context: Any, builder: Any, signature: Any, arguments: Any, names: list[str]) -> Any:
    given = dict(zip(names, zip(signature.args, arguments, strict=True), strict=True))
    kind, candidates = given.pop("moves")
    for i, name in enumerate(kind.fields):
        given[name] = kind.types[i], builder.extract_value(candidates, i)
    grave = "amaf" in given

    def integer(name: str) -> Any:
        kind, value = given[name]
        return context.cast(builder, value, kind, types.int64)

    def spread_float(name: str) -> Any:
        kind, value = given[name]
        return _splat(builder, context.cast(builder, value, kind, types.float32))

    if config.BOUNDSCHECK:
        view = context.make_array(given["words"][0])(context, builder, given["words"][1])
        for name in ("means", "inverse_roots"):
            last = builder.sub(builder.add(integer(name), integer("size")), _I64(1))
            check_word(context, builder, view, last)
    words = _pointer(context, builder, *given["words"])
    floats = builder.bitcast(words, _FLOAT.as_pointer())
    values = _pointer(context, builder, *given["values"])
    count, exploration, fpu = integer("size"), spread_float("exploration"), spread_float("fpu")
    best = cgutils.alloca_once_value(builder, _constant(LEAST))
    groups = builder.udiv(builder.add(count, _I64(GROUP - 1)), _I64(GROUP))
    with cgutils.for_range(builder, groups) as loop:
        place = builder.mul(loop.index, _I64(GROUP))
        inside = _below(builder, place, count)
        own = _load(builder, floats, builder.add(integer("means"), place), _FLOATS)
        near = _load(builder, floats, builder.add(integer("inverse_roots"), place), _FLOATS)
        untried = fpu
        if grave:
            table = builder.gep(floats, [integer("amaf")])
            moves = builder.add(integer("numbers"), place)
            tries, sums = _gather_pairs(builder, words, moves, table)
            known = builder.fcmp_ordered(">", tries, _constant(0.0))
            mean = builder.fdiv(sums, builder.select(known, tries, _constant(1.0)))
            open_ = builder.fcmp_ordered(">", own, _constant(_CLOSED))
            shift = builder.fmul(spread_float("beta"), builder.fsub(mean, own))
            blends = builder.and_(known, open_)
            own = builder.fadd(own, builder.select(blends, shift, _constant(0.0)))
            untried = builder.select(known, builder.fadd(fpu, mean), fpu)
        tried = builder.fadd(own, builder.fmul(exploration, near))
        was_tried = builder.fcmp_ordered(">", near, _constant(0.0))
        value = builder.select(was_tried, tried, untried)
        value = builder.select(inside, value, _constant(LEAST))
        address = builder.bitcast(builder.gep(values, [place]), _FLOATS.as_pointer())
        builder.store(value, address, align=4)
        so_far = builder.load(best)
        higher = builder.fcmp_ordered(">", value, so_far)
        builder.store(builder.select(higher, value, so_far), best)
    return _call(builder, f"llvm.vector.reduce.fmax.v{GROUP}f32", _FLOAT, [builder.load(best)])


@intrinsic
def score_uct(typing_context: Any, values: Any, moves: Any, exploration: Any, fpu: Any) -> Any:
    """Write mean + c / sqrt(n) of the moves (`Candidates`) to `values`, `fpu` where n is 0.

    `exploration` is c, C · sqrt(ln N).  Returns the highest value.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        names = ["values", "moves", "exploration", "fpu"]
        return _score(context, builder, signature, arguments, names)

    return types.float32(values, moves, exploration, fpu), emit


@intrinsic
def score_grave(
    typing_context: Any, values: Any, moves: Any, exploration: Any, fpu: Any, amaf: Any, beta: Any
) -> Any:
    """The same with AMAF values from the table at the word `amaf`.

    Behind the last of the moves' numbers there must be `GROUP` - 1 words that are numbers, too.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        names = ["values", "moves", "exploration", "fpu", "amaf", "beta"]
        return _score(context, builder, signature, arguments, names)

    return types.float32(values, moves, exploration, fpu, amaf, beta), emit


@intrinsic
def near_best(typing_context: Any, values: Any, place: Any, count: Any, threshold: Any) -> Any:
    """The moves of the group that begins at `place` with values of at least the threshold.

    Returns a set of bits, uint64.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = _pointer(context, builder, signature.args[0], arguments[0])
        start, count = (
            context.cast(builder, arguments[i], signature.args[i], types.int64) for i in (1, 2)
        )
        limit = context.cast(builder, arguments[3], signature.args[3], types.float32)
        value = _load(builder, data, start, _FLOATS)
        enough = builder.fcmp_ordered(">=", value, _splat(builder, limit))
        chosen = builder.and_(enough, _below(builder, start, count))
        return builder.zext(builder.bitcast(chosen, _BITS), _I64)

    return types.uint64(values, place, count, threshold), emit


@intrinsic
def bits_in(typing_context: Any, word: Any) -> Any:
    """The number of bits that are set in a uint64."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), emit


@intrinsic
def add_pair(typing_context: Any, words: Any, index: Any, one: Any, other: Any) -> Any:
    """Add to two floats that lie side by side at a word of the pool."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = _pointer(context, builder, signature.args[0], arguments[0])
        place = context.cast(builder, arguments[1], signature.args[1], types.int64)
        address = builder.bitcast(builder.gep(data, [place]), _PAIR.as_pointer())
        added = ir.Constant(_PAIR, ir.Undefined)
        for i in range(2):
            item = context.cast(builder, arguments[2 + i], signature.args[2 + i], types.float32)
            added = builder.insert_element(added, item, ir.Constant(_I32, i))
        builder.store(builder.fadd(builder.load(address, align=4), added), address, align=4)
        return context.get_dummy_value()

    return types.void(words, index, one, other), emit


if config.DISABLE_JIT:
    score_uct = score_grave = partial(in_numpy.score, (GROUP, LEAST, _CLOSED))
    near_best = partial(in_numpy.near_best, GROUP)
    bits_in, add_pair = in_numpy.bits_in, in_numpy.add_pair


@part
def draw_near_best(values: NDArray[np.float32], count: int, threshold: float, random: U64) -> int:
    """One of `count` moves whose value is not below the threshold, drawn uniformly."""
    candidates = 0
    for place in range(0, count, GROUP):
        candidates += bits_in(near_best(values, place, count, threshold))
    skip = random_below(random, candidates) if candidates > 1 else 0
    for place in range(0, count, GROUP):
        chosen = near_best(values, place, count, threshold)
        here = bits_in(chosen)
        if skip < here:
            for _ in range(skip):
                chosen &= chosen - np.uint64(1)
            return place + lowest_bit(chosen)
        skip -= here
    return 0
