"""What a search works with where 64 lanes do: arrays of lanes, as in `ggp_agent.search.arrays`.

A batch whose simulations fit into a word of lanes is played in vectors of one word, on an eighth
of the memory (see `propnet.few_lanes`); the kernels are the same, compiled for both.
"""

from __future__ import annotations

from typing import NamedTuple

from ggp_agent.search.arrays import Arrays, Scratch
from ggp_agent.search.kernel import part
from ggp_agent.search.played_moves import GOAL_BITS, PlayedMoves
from ggp_agent.search.strategies.mast import GreedyLanes, new_greedy_lanes
from propnet.layout import Lanes, Layout, new_few_lanes
from propnet.vectors import rows


class FewLanes(NamedTuple):
    """64 lanes, and the groups of arrays that have some; void between batches."""

    lanes: Lanes
    played: PlayedMoves
    greedy: GreedyLanes
    scratch: Scratch


def new_few(layout: Layout, arrays: Arrays) -> FewLanes:
    """To be used in place of these arrays, with which they have in common what is no lanes."""
    played, scratch = arrays.played, arrays.scratch
    roles = len(layout.span) - 1
    return FewLanes(
        lanes=new_few_lanes(layout),
        played=played._replace(
            planes=rows(len(played.planes), 1), goal_bits=rows(roles * GOAL_BITS, 1)
        ),
        greedy=new_greedy_lanes(roles, 1),
        scratch=scratch._replace(
            lanes=rows(len(scratch.lanes), 1), masks=rows(len(scratch.masks), 1)
        ),
    )


@part
def arrays_of(few: FewLanes, arrays: Arrays) -> Arrays:
    """The arrays of a search with those for 64 lanes among them."""
    return Arrays(
        arrays.options,
        arrays.settings,
        arrays.slots,
        arrays.new,
        few.played,
        few.greedy,
        arrays.history,
        arrays.references,
        arrays.evaluation,
        few.scratch,
        arrays.roots,
        arrays.random,
        arrays.totals,
    )
