"""Moves that win at once, or block those of others, in all lanes.

Where a role has such a move (`propnet.winning_moves` says what that is) and no other role has a
choice, the lane is `decided` for the role: `propnet.choice` leaves its move to `make_decided`.
"""

from __future__ import annotations

from gdl.kernel_cache import inlined_kernel, kernel
from propnet.evaluation import evaluate_wins
from propnet.layout import I32, NONE, Lanes, Layout
from propnet.vectors import any_lane, load, read, splat_like, store


@kernel
def see_wins(layout: Layout, lanes: Lanes) -> None:
    """Decide the active lanes in which a role can win at once, for the present position."""
    evaluate_wins(layout, lanes)
    for role in range(len(layout.span) - 1):
        store(lanes.decided, role, splat_like(lanes.decided, NONE))
    _decide(layout, lanes, layout.wins, layout.may_win)


@kernel
def see_blocks(layout: Layout, lanes: Lanes) -> None:
    """After `see_wins`: decide those in which nobody can, but a role can block another, too."""
    _decide(layout, lanes, layout.blocks, layout.may_block)


@inlined_kernel
def _decide(layout: Layout, lanes: Lanes, literals: I32, moves: I32) -> None:
    free = load(lanes.active, 0)
    for role in range(len(layout.span) - 1):
        free &= ~load(lanes.decided, role)
    for role in range(len(layout.span) - 1):
        able = splat_like(lanes.values, NONE)
        for move in moves:
            if layout.span[role] <= move < layout.span[role + 1]:
                able |= read(lanes.values, literals[move])
        able &= free
        if any_lane(able):
            for other in range(len(layout.span) - 1):
                if other != role:
                    able &= ~_choosing(layout, lanes, other)
            store(lanes.decided, role, load(lanes.decided, role) | able)


@kernel
def _choosing(layout: Layout, lanes: Lanes, role: int):  # type: ignore[no-untyped-def] # a vector
    """The lanes in which a role has more than one legal move."""
    one, more = splat_like(lanes.values, NONE), splat_like(lanes.values, NONE)
    for move in range(layout.span[role], layout.span[role + 1]):
        legal = read(lanes.values, layout.legal[move])
        more |= one & legal
        one |= legal
    return more


@kernel
def make_decided(layout: Layout, lanes: Lanes) -> None:
    """Every role makes its first move that wins, or blocks, in the lanes decided for it.

    In these lanes it has made no other.  Nothing is decided afterwards.
    """
    for role in range(len(layout.span) - 1):
        left = load(lanes.decided, role)
        if any_lane(left):
            left = _make_first(layout, lanes, role, layout.wins, layout.may_win, left)
            _make_first(layout, lanes, role, layout.blocks, layout.may_block, left)
            store(lanes.decided, role, splat_like(lanes.decided, NONE))


@kernel
def _make_first(  # type: ignore[no-untyped-def] # numba infers a vector
    layout: Layout, lanes: Lanes, role: int, literals: I32, moves: I32, left
):
    """Make a role's first of some moves whose literals hold; the lanes in which none does."""
    values = lanes.values
    for move in moves:
        if layout.span[role] <= move < layout.span[role + 1]:
            taken = read(values, literals[move]) & left
            if any_lane(taken):
                row = layout.first_move + move
                store(values, row, load(values, row) | taken)
                left &= ~taken
                if not any_lane(left):
                    break
    return left
