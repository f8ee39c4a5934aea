"""The move choice of `propnet.choice` for 64 lanes, lane by lane: the same moves, the same dice.

Where few games are in play most moves are legal in none of them.  So the moves that are legal
somewhere are listed first, and the rest is done with these alone.
"""

from __future__ import annotations

import numpy as np

from gdl.kernel_cache import kernel
from propnet.layout import NONE, Lanes, Layout
from propnet.ranks import draw_ranks
from propnet.vectors import any_lane, load, lowest_bit, read, store

_ONE = np.uint64(1)


@kernel
def choose_by_lane(layout: Layout, lanes: Lanes) -> None:
    """Uniform moves in the lanes of `wanted`, in other lanes none; lanes are one word."""
    planes = len(lanes.counter) // 3
    for role in range(len(layout.span) - 1):
        first = layout.first_move + layout.span[role]
        lanes.values[first : layout.first_move + layout.span[role + 1]] = NONE
        wanted = lanes.wanted[role]
        if wanted == NONE:
            continue
        listed = _list_legal(layout, lanes, role)
        for plane in range(planes):
            lanes.counter[plane] = NONE
        left = wanted
        while left != NONE:
            lane = np.uint64(lowest_bit(left))
            left &= left - _ONE
            count = NONE
            for i in range(listed):
                count += (lanes.groups[i] >> lane) & _ONE
            for plane in range(planes):
                lanes.counter[plane] |= ((count >> np.uint64(plane)) & _ONE) << lane
        draw_ranks(layout, lanes, role, planes)
        _take(layout, lanes, wanted, listed)


@kernel
def _list_legal(layout: Layout, lanes: Lanes, role: int) -> int:
    """List a role's moves that are legal where it draws, and in `groups` where; their number."""
    wanted, listed = load(lanes.wanted, role), 0
    for move in range(layout.span[role], layout.span[role + 1]):
        legal = read(lanes.values, layout.legal[move]) & wanted
        store(lanes.groups, listed, legal)
        lanes.listed[listed] = move
        listed += any_lane(legal)  # no branch: nobody could predict it
    return listed


@kernel
def _take(layout: Layout, lanes: Lanes, wanted: np.uint64, listed: int) -> None:
    """Make the move of its rank in every lane that has a legal one."""
    ranks = len(lanes.counter) // 3 * 2
    while wanted != NONE:
        lane = np.uint64(lowest_bit(wanted))
        wanted &= wanted - _ONE
        rank = 0
        for plane in range(ranks, len(lanes.counter)):
            rank |= int(np.int64((lanes.counter[plane] >> lane) & _ONE)) << (plane - ranks)
        for i in range(listed):
            rank -= int(np.int64((lanes.groups[i] >> lane) & _ONE))
            if rank < 0:
                lanes.values[layout.first_move + lanes.listed[i]] |= _ONE << lane
                break
