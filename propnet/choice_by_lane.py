"""The move choice of `propnet.choice` for 64 lanes, lane by lane: the same moves, the same dice.

Where few games are in play it is no use to look at each move in all lanes at once.  The legal moves
of a lane are brought together as bits of words, 64 moves each, and counted there.
"""

from __future__ import annotations

import numpy as np

from gdl.kernel_cache import inlined_kernel, kernel
from propnet.lane_bits import word_of_lane
from propnet.lane_states import legal_rows
from propnet.layout import GATE_CODE, NONE, U64, Lanes, Layout
from propnet.ranks import draw_ranks
from propnet.vectors import load, lowest_bit, popcount

_ONE = np.uint64(1)


@kernel
def choose_by_lane(layout: Layout, lanes: Lanes) -> None:
    """Uniform moves in the lanes of `wanted`, in other lanes none; lanes are one word."""
    planes = len(lanes.counter) // 3
    if lanes.code[GATE_CODE] == 0:  # machine code has done so
        legal_rows(layout, lanes, lanes.legal)
    for role in range(len(layout.span) - 1):
        low, high = layout.span[role], layout.span[role + 1]
        lanes.values[layout.first_move + low : layout.first_move + high] = NONE
        if lanes.wanted[role] == NONE:
            continue
        lanes.counter[:] = NONE
        left, most = lanes.wanted[role], 0
        while left != NONE:
            lane = lowest_bit(left)
            left &= left - _ONE
            count = _sort_legal(lanes.legal[low:high], lanes.groups, lane)
            most = max(most, count)
            for plane in range(planes):
                lanes.counter[plane] |= np.uint64((count >> plane) & 1) << np.uint64(lane)
        if most > 1:
            draw_ranks(layout, lanes, role, planes)
        _take_ranked(lanes, role, layout.first_move + low, (high - low + 63) >> 6)


@inlined_kernel
def _sort_legal(legal: U64, sets: U64, lane: int) -> int:
    """Write the moves (n,) that are legal in a lane as bits to its words of `sets`; how many."""
    words, count = (len(legal) + 63) >> 6, 0
    for word in range(words):
        inside = min(64, len(legal) - 64 * word)
        sets[lane * words + word] = word_of_lane(legal, 64 * word, inside, lane)
        count += popcount(load(sets, lane * words + word))
    return count


@inlined_kernel
def _take_ranked(lanes: Lanes, role: int, first: int, words: int) -> None:
    """Make the legal move of its rank in every lane that has one; a role's moves are in `words`."""
    ranks, left = len(lanes.counter) // 3 * 2, lanes.wanted[role]
    while left != NONE:
        lane = lowest_bit(left)
        left &= left - _ONE
        rank = 0
        for plane in range(ranks, len(lanes.counter)):
            bit = (lanes.counter[plane] >> np.uint64(lane)) & _ONE
            rank |= int(np.int64(bit)) << (plane - ranks)
        for word in range(words):
            bits = lanes.groups[lane * words + word]
            count = popcount(load(lanes.groups, lane * words + word))
            if rank < count:
                for _ in range(rank):
                    bits &= bits - _ONE
                lanes.values[first + 64 * word + lowest_bit(bits)] |= _ONE << np.uint64(lane)
                break
            rank -= count
