"""Which moves the playouts in the lanes have made, and how often: a count per move and lane.

The counts are kept in bit planes, one row of lanes per move and bit of the count, so that a step of
all playouts is counted with a few instructions per move; what they add up to over all lanes is
found by counting bits.  Playouts that go on with the next batch keep theirs.

Letters: M moves of all roles, R roles, L 512 lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.memory import put_float, put_int
from propnet import kernels
from propnet.lane_states import save_column
from propnet.layout import I32, NONE, U64, Lanes, Layout
from propnet.vectors import LANES, any_lane, load, lowest_bit, rows, splat_like, store

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

GOAL_BITS = 7
"""Bits of a goal value, 0 to 100."""


class PlayedMoves(NamedTuple):
    """The counts, and the goals at the ends of the playouts."""

    planes: U64
    """(planes * M, 8) how often a move was played in a lane's playout, bit by bit"""
    in_use: I32
    """(M,) planes of a move that are in use; what others hold is void"""
    most_in_use: I32
    """(words of M bits,) the most planes in use of 64 moves"""
    by_lane: U64
    """(planes * L, words of M bits) a set of moves for every lane, or several planes of them"""
    goals: NDArray[np.uint8]
    """(R, L)"""
    goal_bits: U64
    """(R * GOAL_BITS, 8) the same bit by bit"""


def new_played_moves(moves: int, roles: int, limit: int) -> PlayedMoves:
    """Nothing played yet; `limit` is the length of the longest playout."""
    planes, words = limit.bit_length(), (moves + 63) // 64
    return PlayedMoves(
        planes=rows(planes * moves),
        in_use=np.zeros(moves, np.int32),
        most_in_use=np.zeros(words, np.int32),
        by_lane=np.zeros((planes * LANES, words), np.uint64),
        goals=np.zeros((roles, LANES), np.uint8),
        goal_bits=rows(roles * GOAL_BITS),
    )


@part
def highest(numbers: I32, count: int) -> int:
    """The highest of the first `count` numbers, none of them negative."""
    most = 0
    for i in range(count):
        most = max(most, numbers[i])
    return most


@part
def _next_made(values: U64, first: int, move: int, moves: int) -> int:
    """A move from `move` on before which none was made; in one word, 8 are looked at at once."""
    if values.ndim == 1:
        while move + 8 <= moves:
            some = NONE
            for i in range(8):
                some |= values[np.uint64(first + move + i)]
            if some != NONE:
                break
            move += 8
    return move


@kernel
def note_moves(layout: Layout, lanes: Lanes, played: PlayedMoves) -> None:
    """Count the moves that were just chosen in the active lanes."""
    active, moves, move = load(lanes.active, 0), len(layout.legal), -1
    while True:
        move = _next_made(lanes.values, layout.first_move, move + 1, moves)
        if move == moves:
            return
        carry = load(lanes.values, layout.first_move + move) & active
        plane = 0
        while any_lane(carry):
            row = plane * moves + move
            plane += 1
            if plane > played.in_use[move]:
                played.in_use[move] = plane
                store(played.planes, row, carry)
                break
            old = load(played.planes, row)
            store(played.planes, row, old ^ carry)
            carry &= old


@kernel
def keep_goals(layout: Layout, lanes: Lanes, goal_bits: U64) -> None:
    """Write the goals that were just evaluated as bits.

    Values come in rising order, so that the highest of those that hold is what stays.
    """
    for row in range((len(layout.span) - 1) * GOAL_BITS):
        store(goal_bits, row, splat_like(goal_bits, kernels.NONE))
    for k in range(len(layout.goals)):
        holds = kernels.read(lanes.values, layout.goals[k])
        row = layout.goal_role[k] * GOAL_BITS
        for bit in range(GOAL_BITS):
            kept = load(goal_bits, row + bit) & ~holds
            store(goal_bits, row + bit, kept | holds if (layout.goal_value[k] >> bit) & 1 else kept)


@kernel
def forget_moves(layout: Layout, lanes: Lanes, played: PlayedMoves) -> None:
    """Take what was counted in lanes that are not active out of the planes."""
    active, moves = load(lanes.active, 0), len(layout.legal)
    some = any_lane(active)
    for move in range(moves):
        planes, played.in_use[move] = played.in_use[move], 0
        for plane in range(planes if some else 0):
            row = plane * moves + move
            left = load(played.planes, row) & active
            store(played.planes, row, left)
            if any_lane(left):
                played.in_use[move] = plane + 1


@kernel
def sort_by_lane(layout: Layout, lanes: Lanes, played: PlayedMoves, count: int) -> None:
    """Bring what the planes hold into `by_lane`, plane by plane, for the first `count` lanes."""
    block, moves = lanes.block, len(layout.legal)
    for column in range(len(played.most_in_use)):
        low, high = 64 * column, min(64 * column + 64, moves)
        played.most_in_use[column] = highest(played.in_use[low:high], high - low)
        for plane in range(played.most_in_use[column]):
            first = plane * moves
            for move in range(low, high):
                if played.in_use[move] <= plane:
                    store(played.planes, first + move, splat_like(block, NONE))
            by_lane = played.by_lane[plane * LANES : (plane + 1) * LANES]
            save_column(played.planes, first + low, high - low, block, by_lane, column, count)


@part
def list_playout(layout: Layout, arrays: Arrays, lane: int) -> int:
    """The moves of a lane's playout, how often each was played, and the sum of its rewards.

    They are listed in `scratch`; returns how many there are.
    """
    played, scratch, count, role = arrays.played, arrays.scratch, 0, 0
    reward = np.float32(played.goals[0, lane]) * np.float32(0.01)
    for column in range(len(played.most_in_use)):
        planes, bits = played.most_in_use[column], np.uint64(0)
        for plane in range(planes):
            bits |= played.by_lane[plane * LANES + lane, column]
        while bits != np.uint64(0):
            place = lowest_bit(bits)
            bits &= bits - np.uint64(1)
            times = np.uint64(0)
            for plane in range(planes):
                bit = played.by_lane[plane * LANES + lane, column] >> np.uint64(place)
                times |= (bit & np.uint64(1)) << np.uint64(plane)
            move = 64 * column + place
            while move >= layout.span[role + 1]:
                role += 1
                reward = np.float32(played.goals[role, lane]) * np.float32(0.01)
            put_int(scratch.moves, count, move)
            put_float(scratch.times, count, np.float32(times))
            put_float(scratch.values, count, reward * np.float32(times))
            count += 1
    return count
