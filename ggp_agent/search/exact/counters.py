"""Fluents that only count the steps of a game: what they are now says nothing but how late it is.

States that differ in nothing else are the same but for the moves that are left.  Where the game is
not scored by its length, the earlier of them can do all that the later one can, and more: it
dominates it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import entry
from propnet import kernels
from propnet.layout import I32, Layout, new_lanes, unpack

MOST_STEPS = 256
"""Steps for which it is watched what happens without anybody's doing."""
MOST_GATES = 500_000
"""Gates beyond which that would take too long."""


@entry
def _find_free(layout: Layout, is_free: NDArray[np.uint8], fluents: NDArray[np.uint8]) -> bool:
    """Leave among `fluents` (F,) those whose next value follows from such alone, one pass.

    `is_free` (nodes,) gets the nodes that follow from such.  Returns whether any fluent fell out.
    """
    first_gate = layout.bounds[0]
    is_free[:] = 0
    is_free[0] = 1
    for fluent in range(layout.fluents):
        is_free[1 + fluent] = fluents[fluent]
    for gate in range(first_gate, len(layout.first) - 1):
        free = 1
        for edge in range(layout.first[gate], layout.first[gate + 1]):
            free &= is_free[layout.inputs[edge] >> 1]
        is_free[gate] = free
    changed = False
    for fluent in range(layout.fluents):
        if fluents[fluent] and not is_free[layout.next[fluent] >> 1]:
            fluents[fluent] = 0
            changed = True
    return changed


def step_fluents(layout: Layout) -> NDArray[np.bool_]:
    """(F,) the fluents that depend on nothing but the number of moves made, and count them.

    A fluent counts where it holds during one stretch of the game: (step 7), but not (control
    white).  Fluents that never change are none.
    """
    fluents = np.ones(layout.fluents, np.uint8)
    nothing = np.zeros(layout.fluents, np.bool_)
    if len(layout.first) > MOST_GATES:
        return nothing
    is_free = np.zeros(len(layout.first), np.uint8)
    while _find_free(layout, is_free, fluents):
        pass
    if not fluents.any():
        return nothing
    history = np.array(_history(layout, fluents.astype(np.bool_)))
    changes = (history[1:] != history[:-1]).sum(axis=0)
    begins, ends = history[0], history[-1]
    once = (changes == 1) | ((changes == 2) & ~begins & ~ends)
    result: NDArray[np.bool_] = fluents.astype(np.bool_) & once
    return result


def _history(layout: Layout, free: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Which of the `free` fluents hold after 0, 1, 2, ... steps, whatever the moves are."""
    lanes = new_lanes(layout, seed=0)
    states = layout.initial[np.newaxis].copy()
    moves: I32 = np.zeros((1, len(layout.span) - 1), np.int32)
    history = [unpack(states, layout.fluents)[0] & free]
    while len(history) <= MOST_STEPS:
        kernels.load_states(layout, lanes, states, 1)
        kernels.see_position(layout, lanes)
        kernels.set_moves(layout, lanes, moves, 1)
        lanes.active[:] = kernels.ALL
        kernels.advance(layout, lanes)
        kernels.save_states(layout, lanes, states, 1)
        history.append(unpack(states, layout.fluents)[0] & free)
        if (history[-1] == history[-2]).all():
            break
    return history
