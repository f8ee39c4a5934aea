"""The greedy choice of moves in many lanes at once."""

from __future__ import annotations

from numba import njit

from propnet import kernels
from propnet.layout import I32, U64, Lanes, Layout
from propnet.vectors import any_lane, load, store


@njit(cache=True, nogil=True)
def choose_moves_greedily(layout: Layout, lanes: Lanes, order: I32, greedy: U64) -> None:
    """Moves by a role's order in its greedy lanes, uniformly random ones in the others."""
    kernels.choose_moves(layout, lanes)
    for role in range(len(layout.span) - 1):
        low, high = layout.span[role], layout.span[role + 1]
        chosen = load(greedy, role)
        undecided = chosen
        for i in range(low, high):
            move = order[i]
            row = layout.first_move + move
            taken = kernels.read(lanes.values, layout.legal[move]) & undecided
            undecided &= ~taken
            store(lanes.values, row, (load(lanes.values, row) & ~chosen) | taken)
            if not any_lane(undecided):
                for k in range(i + 1, high):
                    row = layout.first_move + order[k]
                    store(lanes.values, row, load(lanes.values, row) & ~chosen)
                break
