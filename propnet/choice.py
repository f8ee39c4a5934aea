"""The move choice, bit-sliced: a random legal move in each of 512 lanes at once.

A number per lane is a group of rows, *bit planes*: bit b of the number of lane x is lane x of plane
b.  Legal moves are counted and walked in groups of 8, whose counts carry-save adders find.
"""

from __future__ import annotations

from gdl.kernel_cache import inlined_kernel, kernel
from propnet.choice_by_lane import choose_by_lane
from propnet.lane_bits import MOST_BY_LANE, words_of
from propnet.layout import CHOICE_CODE, I32, NONE, U64, Lanes, Layout
from propnet.ranks import draw_ranks, next_random
from propnet.vectors import (
    any_lane,
    call_code,
    load,
    popcount,
    read,
    select,
    splat_like,
    store,
)

GROUP = 8
CHANCE_PLANES = 16


@inlined_kernel
def choose_moves(layout: Layout, lanes: Lanes) -> None:
    """Every role makes one of its legal moves in every active lane, all equally likely.

    Those that are `decided` make none.
    """
    active = load(lanes.active, 0)
    for role in range(len(layout.span) - 1):
        store(lanes.wanted, role, active & ~load(lanes.decided, role))
    _choose_at_random(layout, lanes)


@kernel
def choose_moves_greedily(layout: Layout, lanes: Lanes, order: I32, greedy: U64) -> None:
    """In active lanes: every role makes its best legal move in `greedy` ones, else a random one.

    `order` (M,) has for every role's span of moves the numbers of these moves (positions in
    `layout.legal`), the best first; `greedy` (R, WORDS) is the lanes in which the role takes the
    first of them that is legal.  In the others all legal moves are equally likely.  Roles make none
    where they are `decided`.
    """
    active = load(lanes.active, 0)
    for role in range(len(layout.span) - 1):
        store(lanes.wanted, role, active & ~load(greedy, role) & ~load(lanes.decided, role))
    _choose_at_random(layout, lanes)
    for role in range(len(layout.span) - 1):
        _take_first(layout, lanes, role, order, greedy)


@kernel
def draw_lanes(lanes: Lanes, chance: U64, drawn: U64) -> None:
    """Every lane is drawn with a probability of its own, each row of `drawn` (n, WORDS) anew.

    `chance` (CHANCE_PLANES, WORDS) has the probabilities in units of 2^-16, as bit planes, the
    lowest bit first.
    """
    random = lanes.random
    if words_of(random) == 1:
        lanes.behind[0] += CHANCE_PLANES * len(drawn)
    a, b, c, d = load(random, 0), load(random, 1), load(random, 2), load(random, 3)
    for row in range(len(drawn)):
        # from the lowest bit up, the chance so far halves, or halves and gains a half
        result = splat_like(drawn, NONE)
        for plane in range(CHANCE_PLANES):
            bit, a, b, c, d = next_random(a, b, c, d)
            result = select(load(chance, plane), result | bit, result & bit)
        store(drawn, row, result)
    store(random, 0, a)
    store(random, 1, b)
    store(random, 2, c)
    store(random, 3, d)


@inlined_kernel
def _choose_at_random(layout: Layout, lanes: Lanes) -> None:
    """Uniform moves in the lanes of `wanted`, in other lanes none."""
    if lanes.code[CHOICE_CODE] != 0:
        call_code(lanes.code[CHOICE_CODE], lanes.half[0], lanes.values)
    else:
        _choose_without_code(layout, lanes, lanes.values)


@inlined_kernel
def _choose_without_code(layout: Layout, lanes: Lanes, values: U64) -> None:
    if values.ndim == 2:  # a branch by an argument's dimensions alone is left out by numba
        _choose_in_loops(layout, lanes)
    elif popcount(load(lanes.active, 0)) <= MOST_BY_LANE:
        choose_by_lane(layout, lanes)
    else:
        _choose_in_loops(layout, lanes)


@kernel
def _choose_in_loops(layout: Layout, lanes: Lanes) -> None:
    """What machine code does where there is some (see `propnet.choice_code`).

    Count the legal moves, draw a rank below the count, then take the move of that rank.  A lane
    in which a role has no legal move gets none.
    """
    planes = len(lanes.counter) // 3
    for role in range(len(layout.span) - 1):
        _count_legal(layout, lanes, role, planes)
        bits = draw_ranks(layout, lanes, role, planes)
        _take_ranked(layout, lanes, role, planes, bits)


@kernel
def _count_legal(layout: Layout, lanes: Lanes, role: int, planes: int) -> None:
    """Number of legal moves per lane in `counter[:planes]`, and of each group in `groups`."""
    counter, groups = lanes.counter, lanes.groups
    for plane in range(planes):
        store(counter, plane, splat_like(counter, NONE))
    low, high = layout.span[role], layout.span[role + 1]
    for group in range((high - low + GROUP - 1) // GROUP):
        first, row = low + GROUP * group, 4 * group
        if first + GROUP <= high:
            _count_whole_group(layout, lanes, first, row)
        else:
            _count_rest(layout, lanes, first, high, row)
        carry = splat_like(counter, NONE)
        for plane in range(4):
            old, more = load(counter, plane), load(groups, row + plane)
            half = old ^ more
            store(counter, plane, half ^ carry)
            carry = (old & more) | (half & carry)
        plane = 4
        while plane < planes and any_lane(carry):
            old = load(counter, plane)
            store(counter, plane, old ^ carry)
            carry &= old
            plane += 1


@kernel
def _count_whole_group(layout: Layout, lanes: Lanes, first: int, row: int) -> None:
    """Number of legal ones among 8 moves: carry-save adders turn three rows into two."""
    values, legal, groups = lanes.values, layout.legal, lanes.groups
    a, b = read(values, legal[first]), read(values, legal[first + 1])
    c, d = read(values, legal[first + 2]), read(values, legal[first + 3])
    e, f = read(values, legal[first + 4]), read(values, legal[first + 5])
    g, h = read(values, legal[first + 6]), read(values, legal[first + 7])
    ab, de = a ^ b, d ^ e
    abc, def_ = ab ^ c, de ^ f
    twos1, twos2 = (a & b) | (ab & c), (d & e) | (de & f)
    gh = g ^ h
    ghabc = gh ^ abc
    twos3, twos4 = (g & h) | (gh & abc), ghabc & def_
    store(groups, row, ghabc ^ def_)
    t12 = twos1 ^ twos2
    t123 = t12 ^ twos3
    fours1, fours2 = (twos1 & twos2) | (t12 & twos3), t123 & twos4
    store(groups, row + 1, t123 ^ twos4)
    store(groups, row + 2, fours1 ^ fours2)
    store(groups, row + 3, fours1 & fours2)


@kernel
def _count_rest(layout: Layout, lanes: Lanes, first: int, high: int, row: int) -> None:
    """Number of legal ones among fewer than 8 moves."""
    none = splat_like(lanes.groups, NONE)
    ones, twos, fours = none, none, none
    for move in range(first, high):
        carry = read(lanes.values, layout.legal[move])
        ones, carry = ones ^ carry, ones & carry
        twos, carry = twos ^ carry, twos & carry
        fours ^= carry
    store(lanes.groups, row, ones)
    store(lanes.groups, row + 1, twos)
    store(lanes.groups, row + 2, fours)
    store(lanes.groups, row + 3, splat_like(lanes.groups, NONE))


@kernel
def _take_ranked(layout: Layout, lanes: Lanes, role: int, planes: int, bits: int) -> None:
    """Count the ranks down group by group; where one falls below zero, the move is in the group."""
    low, high = layout.span[role], layout.span[role + 1]
    undecided = load(lanes.wanted, role)
    for group in range((high - low + GROUP - 1) // GROUP):
        first = low + GROUP * group
        rank = 2 * planes
        a, b, c = (
            load(lanes.counter, rank),
            load(lanes.counter, rank + 1),
            load(lanes.counter, rank + 2),
        )
        chosen = _subtract(lanes, 4 * group, rank, bits, undecided)
        undecided &= ~chosen
        last = min(first + GROUP, high)
        if any_lane(chosen):
            for move in range(first, last):
                taken = read(lanes.values, layout.legal[move]) & chosen
                a, taken = a ^ taken, taken & ~a
                b, taken = b ^ taken, taken & ~b
                c, taken = c ^ taken, taken & ~c
                chosen &= ~taken
                store(lanes.values, layout.first_move + move, taken)
        else:
            for move in range(first, last):
                store(lanes.values, layout.first_move + move, chosen)


@kernel
def _subtract(  # type: ignore[no-untyped-def] # numba infers a vector
    lanes: Lanes, row: int, rank: int, bits: int, undecided
):
    """Subtract a group's count from the ranks of undecided lanes; where there was a borrow."""
    borrow = splat_like(lanes.counter, NONE)
    for plane in range(4):
        old, less = load(lanes.counter, rank + plane), load(lanes.groups, row + plane) & undecided
        differ = old ^ less
        store(lanes.counter, rank + plane, differ ^ borrow)
        borrow = (less & ~old) | (borrow & ~differ)
    for plane in range(4, bits):
        old = load(lanes.counter, rank + plane)
        store(lanes.counter, rank + plane, old ^ borrow)
        borrow &= ~old
    return borrow


@kernel
def _take_first(layout: Layout, lanes: Lanes, role: int, order: I32, greedy: U64) -> None:
    """Add the first legal move of the order in the active lanes of `greedy`."""
    values = lanes.values
    undecided = load(greedy, role) & load(lanes.active, 0) & ~load(lanes.decided, role)
    for k in range(layout.span[role], layout.span[role + 1]):
        if not any_lane(undecided):
            return
        taken = read(values, layout.legal[order[k]]) & undecided
        row = layout.first_move + order[k]
        store(values, row, load(values, row) | taken)
        undecided &= ~taken
