"""The bit-parallel simulator: one sweep over the gates advances 512 games.

Kernels work on a `Layout` (the game) and `Lanes` (the games in play), see `propnet.layout`; they
check nothing.  The order of calls is that of a game:

1. fluents are set (`load_states` or `reset`),
2. `see_position` evaluates terminal and legal moves, `read_goals` the goals,
3. moves are set (`choose_moves` of `propnet.choice`, or `set_moves`),
4. `advance` computes the next state in the active lanes.

All that others call is named here: evaluation (`propnet.evaluation`), states and moves in and out
(`propnet.lane_states`), choice of moves (`propnet.choice`), of those that win or block
(`propnet.wins`), random play (`propnet.random_play`).
"""

from __future__ import annotations

from propnet.choice import choose_moves, choose_moves_greedily, draw_lanes
from propnet.evaluation import advance, read_goals, reset, see_position
from propnet.lane_states import legal_rows, load_states, save_states, set_moves, transpose
from propnet.layout import ALL, NONE
from propnet.random_play import playout, simulate
from propnet.vectors import read
from propnet.wins import make_decided, see_blocks, see_wins

__all__ = [
    "ALL",
    "NONE",
    "advance",
    "choose_moves",
    "choose_moves_greedily",
    "draw_lanes",
    "legal_rows",
    "load_states",
    "make_decided",
    "playout",
    "read",
    "read_goals",
    "reset",
    "save_states",
    "see_blocks",
    "see_position",
    "see_wins",
    "set_moves",
    "simulate",
    "transpose",
]
