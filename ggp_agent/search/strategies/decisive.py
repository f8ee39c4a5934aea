"""Decisive moves: whoever can win at once in a playout does so, whatever its policy says.

F. Teytaud, O. Teytaud, "On the huge benefit of decisive moves in Monte-Carlo Tree Search
algorithms" (2010).  Which moves win is what `propnet.winning_moves` knows of the game; where it
knows nothing, nothing changes.

With a solver, new states of the tree in which somebody wins at once are proven as they are added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggp_agent.parameters import Parameter, declare
from ggp_agent.search.kernel import part
from propnet import kernels
from propnet.lane_bits import get_word, set_word, words_of
from propnet.layout import Lanes, Layout
from propnet.vectors import any_lane, load, lowest_bit, splat_like, store

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

CHOICES = ("off", "wins", "blocks")
OFF, WINS, BLOCKS = range(len(CHOICES))
NOBODY = -1
LOOKED, DECIDED = 4, 5
"""Their places in `Arrays.totals`."""
PATIENCE = 4096
"""Looks, in one search, after which nobody looks any more if there was never a decisive move."""

declare(
    Parameter(
        "decisive",
        "off",
        "moves made in playouts whatever their policy says, where the rules show them: those that "
        "win at once, and also those that block another's win",
        choices=CHOICES,
        source="Teytaud, Teytaud: On the huge benefit of decisive moves (2010)",
    ),
)


@part
def _looks(layout: Layout, arrays: Arrays) -> bool:
    """Whether it is worth while: in games whose roles choose at once there never are any."""
    is_rare = arrays.totals[LOOKED] >= PATIENCE and arrays.totals[DECIDED] == 0
    return arrays.options.decisive != OFF and len(layout.may_win) > 0 and not is_rare


@part
def _count_look(lanes: Lanes, arrays: Arrays) -> None:
    arrays.totals[LOOKED] += 1
    for role in range(len(arrays.greedy.chosen)):
        arrays.totals[DECIDED] += any_lane(load(lanes.decided, role))


@part
def _leave_to_chance(lanes: Lanes, arrays: Arrays) -> None:
    """The role of chance draws its moves, whatever its goals say."""
    if arrays.options.chance >= 0:
        nobody = splat_like(lanes.decided, kernels.NONE)
        store(lanes.decided, arrays.options.chance, nobody)


@part
def see(layout: Layout, lanes: Lanes, arrays: Arrays) -> None:
    """Find the active lanes in which somebody wins at once or blocks that; before others choose."""
    if _looks(layout, arrays):
        kernels.see_wins(layout, lanes)
        if arrays.options.decisive == BLOCKS:
            kernels.see_blocks(layout, lanes)
        _leave_to_chance(lanes, arrays)
        _count_look(lanes, arrays)


@part
def make(layout: Layout, lanes: Lanes, arrays: Arrays) -> None:
    """Make the moves that win or block, where all others have been chosen."""
    if arrays.options.decisive != OFF:
        kernels.make_decided(layout, lanes)


@part
def find_winners(layout: Layout, lanes: Lanes, arrays: Arrays, count: int) -> None:
    """Who wins at once in lanes 0 to count - 1, where the game is not over: `new.winner`.

    `lanes.active` is the lanes where it is over.
    """
    if arrays.options.decisive == OFF:
        return
    arrays.new.winner[:count] = NOBODY
    if not _looks(layout, arrays):
        return
    for word in range(words_of(lanes.active)):
        set_word(lanes.active, 0, word, ~get_word(lanes.active, 0, word))
    kernels.see_wins(layout, lanes)
    _leave_to_chance(lanes, arrays)
    for role in range(len(layout.span) - 1):
        for word in range(words_of(lanes.decided)):
            bits = get_word(lanes.decided, role, word)
            while bits != np.uint64(0):
                lane = 64 * word + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                if lane < count:
                    arrays.new.winner[lane] = role
        store(lanes.decided, role, splat_like(lanes.decided, kernels.NONE))
