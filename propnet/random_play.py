"""Random play in all lanes: playouts to their ends, or games without end for benchmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import kernel
from propnet.choice import choose_moves
from propnet.evaluation import advance, evaluate_goals, see_position
from propnet.layout import I32, NONE, Lanes, Layout
from propnet.vectors import WORDS, load, lowest_bit, popcount, read, store

_ONE = np.uint64(1)


@kernel
def playout(layout: Layout, lanes: Lanes, limits: I32, lengths: I32) -> int:
    """Play random moves in the active lanes until their games have ended or are too long.

    `limits` (LANES,) is the number of moves after which a lane is retired; `lengths` (LANES,)
    gets the number that it made, 0 where it was not active.  Returns the number of transitions in
    all lanes.  No lane is active afterwards, and the position of every lane is the one seen last,
    so that `read_goals` can follow.
    """
    lengths[:] = 0
    step, transitions = 0, 0
    while True:
        see_position(layout, lanes)
        _end_games(layout, lanes, step, lengths)
        _retire(lanes, limits, step, lengths)
        going = popcount(load(lanes.active, 0))
        if going == 0:
            return transitions
        choose_moves(layout, lanes)
        advance(layout, lanes)
        transitions += going
        step += 1


@kernel
def _end_games(layout: Layout, lanes: Lanes, step: int, lengths: I32) -> None:
    """Make terminal lanes inactive and note their lengths."""
    store(lanes.ended, 0, load(lanes.active, 0) & read(lanes.values, layout.terminal))
    for word in range(WORDS):
        bits = lanes.ended[0, word]
        lanes.active[0, word] ^= bits
        while bits != 0:
            lengths[64 * word + lowest_bit(bits)] = step
            bits &= bits - _ONE


@kernel
def _retire(lanes: Lanes, limits: I32, step: int, lengths: I32) -> None:
    """End the games in play that have reached their limits."""
    for word in range(WORDS):
        for bit in range(64):
            if limits[64 * word + bit] == step:
                alone = _ONE << np.uint64(bit)
                if lanes.active[0, word] & alone:
                    lengths[64 * word + bit] = step
                    lanes.active[0, word] ^= alone


@kernel
def simulate(layout: Layout, lanes: Lanes, steps: int, totals: NDArray[np.float64]) -> int:
    """Random play without end: lanes that finish a game begin a new one (for benchmarks).

    `totals` (1 + R,) sums transitions and goals.  Returns the number of playouts that ended.
    """
    playouts = 0
    for _ in range(steps):
        see_position(layout, lanes)
        ended = read(lanes.values, layout.terminal)
        store(lanes.restart, 0, ended)
        store(lanes.active, 0, ~ended)
        finished = popcount(ended)
        totals[0] += popcount(~ended)
        if finished > 0:
            playouts += finished
            _add_goals(layout, lanes, totals)
        choose_moves(layout, lanes)
        advance(layout, lanes)
    lanes.restart[:] = NONE
    return playouts


@kernel
def _add_goals(layout: Layout, lanes: Lanes, totals: NDArray[np.float64]) -> None:
    """Sum the goals of the lanes of `restart`: of each role the highest value that holds."""
    evaluate_goals(layout, lanes)
    left = load(lanes.restart, 0)
    for k in range(len(layout.goals) - 1, -1, -1):
        role = layout.goal_role[k]
        if k + 1 < len(layout.goals) and layout.goal_role[k + 1] != role:
            left = load(lanes.restart, 0)
        holds = left & read(lanes.values, layout.goals[k])
        totals[1 + role] += float(layout.goal_value[k]) * popcount(holds)
        left &= ~holds
