"""Random numbers of all lanes at once: the generators, and ranks below a bound of every lane."""

from __future__ import annotations

from numba import njit

from gdl.kernel_cache import kernel
from propnet.layout import NONE, U64, Lanes, Layout
from propnet.vectors import (
    any_lane,
    busy_words,
    load,
    select,
    shift_left,
    shift_right,
    splat_like,
    store,
)


@njit(inline="always")
def next_random(a, b, c, d):  # type: ignore[no-untyped-def] # numba infers vectors
    """A random bit per lane and the generators' next state: xoshiro256++, one generator per word.

    Source: D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom Number Generators" (2021).
    """
    total = a + d
    bits = (shift_left(total, 23) | shift_right(total, 41)) + a
    e, f = c ^ a, d ^ b
    return bits, a ^ f, b ^ e, e ^ shift_left(b, 17), shift_left(f, 45) | shift_right(f, 19)


@kernel
def draw_ranks(layout: Layout, lanes: Lanes, role: int, planes: int) -> int:
    """A uniform number below each lane's count, by rejection; the bits of the highest rank.

    `counter` holds three groups of planes: the count (replaced by count - 1, the highest rank),
    the mask of bits that a rank may have, and the rank.  A draw within the mask is accepted in
    more than half of the cases, whatever the count.  Only the lanes of `wanted` draw, and only
    the generators of words that have to: what a word draws does not depend on the other words.
    """
    counter, random = lanes.counter, lanes.random
    _find_bounds(counter, planes)
    bits = 0
    while (layout.span[role + 1] - layout.span[role] - 1) >> bits > 0:
        bits += 1
    waiting = load(counter, planes) & load(lanes.wanted, role)
    while any_lane(waiting):
        a, b, c, d = load(random, 0), load(random, 1), load(random, 2), load(random, 3)
        too_high = splat_like(counter, NONE)
        for plane in range(bits):
            bit, a, b, c, d = next_random(a, b, c, d)
            bit &= load(counter, planes + plane)
            too_high = select(bit ^ load(counter, plane), bit, too_high)
            rank = load(counter, 2 * planes + plane)
            store(counter, 2 * planes + plane, select(waiting, bit, rank))
        words = busy_words(waiting)
        store(random, 0, select(words, a, load(random, 0)))
        store(random, 1, select(words, b, load(random, 1)))
        store(random, 2, select(words, c, load(random, 2)))
        store(random, 3, select(words, d, load(random, 3)))
        waiting &= too_high
    return bits


@kernel
def _find_bounds(counter: U64, planes: int) -> None:
    """Counts to highest ranks, and the bits these need; ranks become 0 (see `draw_ranks`)."""
    borrow = splat_like(counter, NONE)
    for plane in range(planes):
        borrow |= load(counter, plane)
    for plane in range(planes):
        old = load(counter, plane)
        store(counter, plane, old ^ borrow)
        borrow &= ~old
    mask = splat_like(counter, NONE)
    for plane in range(planes - 1, -1, -1):
        mask |= load(counter, plane)
        store(counter, planes + plane, mask)
        store(counter, 2 * planes + plane, splat_like(counter, NONE))
