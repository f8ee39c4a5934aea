"""Moves that win at once, in all lanes: `see_wins` before the other moves are chosen, `make_wins` after.

Where a role has a move that wins (`propnet.winning_moves` says what that is) and no other role has
a choice, the lane is `decided` for the role, and `propnet.choice` leaves its move to `make_wins`.
"""

from __future__ import annotations

from gdl.kernel_cache import kernel
from propnet.evaluation import evaluate_wins
from propnet.layout import NONE, Lanes, Layout
from propnet.vectors import any_lane, load, read, splat_like, store


@kernel
def see_wins(layout: Layout, lanes: Lanes) -> None:
    """Find the active lanes in which a role can win at once, for the present position."""
    evaluate_wins(layout, lanes)
    some = splat_like(lanes.values, NONE)
    at = 0
    for role in range(len(layout.span) - 1):
        able = splat_like(lanes.values, NONE)
        while at < len(layout.may_win) and layout.may_win[at] < layout.span[role + 1]:
            able |= read(lanes.values, layout.wins[layout.may_win[at]])
            at += 1
        able &= load(lanes.active, 0)
        store(lanes.decided, role, able)
        some |= able
    if not any_lane(some):
        return
    for role in range(len(layout.span) - 1):
        able = load(lanes.decided, role)
        if any_lane(able):
            for other in range(len(layout.span) - 1):
                if other != role:
                    able &= ~_choosing(layout, lanes, other)
            store(lanes.decided, role, able)


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
def make_wins(layout: Layout, lanes: Lanes) -> None:
    """Every role makes its first move that wins in the lanes that are decided for it."""
    values, at = lanes.values, 0
    for role in range(len(layout.span) - 1):
        left = load(lanes.decided, role)
        while at < len(layout.may_win) and layout.may_win[at] < layout.span[role + 1]:
            move = layout.may_win[at]
            taken = read(values, layout.wins[move]) & left
            row = layout.first_move + move
            store(values, row, load(values, row) | taken)
            left &= ~taken
            at += 1
