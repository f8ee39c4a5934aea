"""The Gibbs policy: a move is played with a probability proportional to exp(Q / τ).

Q is the mean goal of the move's history, 0 to 100: MAST as in Y. Björnsson, H. Finnsson,
"CadiaPlayer: a simulation-based General Game Player" (2009).  In playouts moves are
drawn uniformly and accepted with exp((Q - the best Q of the role) / τ), until one is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from ggp_agent.parameters import Parameter, Scope, column_of, declare
from ggp_agent.search.candidates import Candidates
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.memory import get_int
from ggp_agent.search.plain_tree import Move, Values
from ggp_agent.search.random_numbers import random_real
from ggp_agent.search.strategies.plain import PlainPlayout
from propnet import kernels
from propnet.choice import CHANCE_PLANES
from propnet.layout import Lanes, Layout
from propnet.vectors import any_lane, load, splat_like, store

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

declare(
    Parameter(
        "tau",
        10.0,
        "temperature of the Gibbs policy, for goals in [0, 100]",
        low=0.1,
        high=1000.0,
        unit="goal points",
        source="Bjornsson, Finnsson: CadiaPlayer (2009)",
        discrete=(1, 2, 5, 8, 10, 15, 20, 30, 50),
        continuous=(1.0, 50.0),
        scope=Scope.BATCH,
        used_by=(("playout", "gibbs"),),
    ),
)
TAU = column_of("tau")

MOST_REJECTIONS = 100
"""Draws after which the move that was drawn last is taken."""


@kernel
def _accept(lanes: Lanes, arrays: Arrays, layout: Layout, move: int, weight: float) -> None:
    """Accept a move that was drawn with a probability in the lanes that still wait for one.

    These are in the last row of `scratch.masks`; the rows before it are to work with.
    """
    masks, waiting = arrays.scratch.masks, len(arrays.scratch.masks) - 1
    drawn = load(lanes.values, layout.first_move + move) & load(masks, waiting)
    if not any_lane(drawn):
        return
    chance = round(weight * (1 << CHANCE_PLANES))
    first = waiting - 1 - CHANCE_PLANES
    if chance >> CHANCE_PLANES:
        store(masks, waiting - 1, splat_like(masks, kernels.ALL))
    else:
        for bit in range(CHANCE_PLANES):
            row = kernels.ALL if (chance >> bit) & 1 else kernels.NONE
            store(masks, first + bit, splat_like(masks, row))
        kernels.draw_lanes(lanes, masks[first : waiting - 1], masks[waiting - 1 : waiting])
    taken = drawn & load(masks, waiting - 1)
    store(arrays.scratch.lanes, move, load(arrays.scratch.lanes, move) | taken)
    store(masks, waiting, load(masks, waiting) & ~taken)


@kernel
def choose_moves(layout: Layout, lanes: Lanes, arrays: Arrays) -> None:
    """Choose a joint move in every active lane."""
    masks, history, row = arrays.scratch.masks, arrays.history, len(arrays.scratch.masks) - 1
    arrays.scratch.lanes[:] = kernels.NONE
    kernels.choose_moves(layout, lanes)
    for role in range(len(layout.span) - 1):
        low, high = layout.span[role], layout.span[role + 1]
        best, tau = history.mean[history.order[low]], arrays.settings.of_batch[role, TAU]
        store(masks, row, load(lanes.active, 0) & ~load(lanes.decided, role))
        for rejections in range(MOST_REJECTIONS + 1):
            certain = role == arrays.options.chance or rejections == MOST_REJECTIONS
            for move in range(low, high):
                weight = 1.0 if certain else math.exp((history.mean[move] - best) / tau)
                _accept(lanes, arrays, layout, move, weight)
            waiting = load(masks, row)
            if certain or not any_lane(waiting):
                break
            kernels.choose_moves(layout, lanes)
    for move in range(len(layout.legal)):
        store(lanes.values, layout.first_move + move, load(arrays.scratch.lanes, move))


@part
def pick_move(arrays: Arrays, role: int, moves: Candidates) -> int:
    """Which of the candidates a role picks in a node of the tree."""
    tau, values, best = arrays.settings.of_batch[role, TAU], arrays.scratch.values, np.float32(0.0)
    for i in range(moves.size):
        values[i] = arrays.history.mean[get_int(moves.words, moves.numbers + i)]
        best = max(best, values[i])
    total = 0.0
    for i in range(moves.size):
        total += math.exp((values[i] - best) / tau)
    point = random_real(arrays.random) * total
    for i in range(moves.size):
        point -= math.exp((values[i] - best) / tau)
        if point < 0.0:
            return i
    return moves.size - 1


class PlainGibbs(PlainPlayout):
    """The policy for the plain search."""

    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """See `PlainPlayout.choose`."""
        means, tau = self._game.history.means(role, moves), self._game.settings.of_batch[role, TAU]
        weights = [math.exp((mean - max(means)) / tau) for mean in means]
        return random.choices(moves, weights)[0]
