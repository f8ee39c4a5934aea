"""Uniform playouts: every legal move with the same probability."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from ggp_agent.search.kernel import part
from ggp_agent.search.plain_tree import Move, Values
from ggp_agent.search.random_numbers import random_below
from ggp_agent.search.strategies.plain import PlainPlayout
from propnet import kernels
from propnet.layout import Lanes, Layout

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays


@part
def choose_moves(layout: Layout, lanes: Lanes) -> None:
    """Choose a joint move in every active lane."""
    kernels.choose_moves(layout, lanes)


@part
def pick_move(arrays: Arrays, count: int) -> int:
    """Which of `count` legal moves is picked in a node of the tree."""
    return random_below(arrays.random, count)


class PlainUniform(PlainPlayout):
    """The policy for the plain search."""

    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """See `PlainPlayout.choose`."""
        return random.choice(moves)
