"""MAST with ε-greedy choice: the legal move with the best history, with probability ε any other.

H. Finnsson, Y. Björnsson, "Simulation-based approach to General Game Playing" (2008); ε-greedy as
in M. J. W. Tak, M. H. M. Winands, Y. Björnsson, "N-Grams and the Last-Good-Reply Policy Applied in
General Game Playing" (2012).  The dice are thrown per role, step and lane: each lane has the ε of
its simulation.

Letters: R roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggp_agent.parameters import TABLE_1, Parameter, Scope, column_of, declare
from ggp_agent.search.candidates import Candidates
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.memory import get_int
from ggp_agent.search.plain_tree import Move, Values
from ggp_agent.search.random_numbers import random_below, random_real
from ggp_agent.search.scoring import draw_near_best
from ggp_agent.search.strategies.move_history import shuffle_ties
from ggp_agent.search.strategies.plain import PlainPlayout, draw_among_best
from propnet import kernels
from propnet.choice import CHANCE_PLANES
from propnet.lane_bits import get_word, set_word
from propnet.layout import U64, Lanes, Layout
from propnet.vectors import WORDS, load, rows, splat_like, store

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

declare(
    Parameter(
        "epsilon",
        0.4,
        "probability of a uniformly random move in a MAST playout",
        high=1.0,
        source=TABLE_1,
        discrete=tuple(n / 10 for n in range(11)),
        continuous=(0.0, 1.0),
        scope=Scope.SIMULATION,
        used_by=(("playout", "mast"),),
    ),
)
EPSILON = column_of("epsilon")


class GreedyLanes(NamedTuple):
    """The lanes in which roles take their best moves, and with what probability they do."""

    chosen: U64
    """(R, 8)"""
    chances: U64
    """(R * (CHANCE_PLANES + 1), 8) 1 - ε of every lane: whether it is 1, then its bits, the lowest
    first"""


def new_greedy_lanes(roles: int, words: int = WORDS) -> GreedyLanes:
    """Room for so many roles, in vectors of so many words."""
    return GreedyLanes(rows(roles, words), rows(roles * (CHANCE_PLANES + 1), words))


@part
def prepare_batch(arrays: Arrays, simulations: int, playouts: int) -> None:
    """Write the chances of all lanes."""
    for role in range(len(arrays.greedy.chosen)):
        set_chances(arrays, role, simulations, playouts)


@part
def _lanes_between(low: int, high: int, word: int) -> np.uint64:
    """The lanes `low` to `high` - 1 as bits of a word that has some of them."""
    first, last = max(low - 64 * word, 0), min(high - 64 * word, 64)
    return (kernels.ALL >> np.uint64(64 - last + first)) << np.uint64(first)


@part
def _add_lanes(chances: U64, row: int, word: int, lanes: np.uint64) -> None:
    set_word(chances, row, word, get_word(chances, row, word) | lanes)


@kernel
def set_chances(arrays: Arrays, role: int, simulations: int, playouts: int) -> None:
    """Write 1 - ε of every lane's simulation; neighbours with the same row of settings at once."""
    plane, chances = role * (CHANCE_PLANES + 1), arrays.greedy.chances
    row = arrays.settings.row
    for i in range(plane, plane + CHANCE_PLANES + 1):
        store(chances, i, splat_like(chances, kernels.NONE))
    first = 0
    while first < simulations:
        last = first + 1
        while last < simulations and row[last] == row[first]:
            last += 1
        epsilon = arrays.settings.values[row[first], role, EPSILON]
        chance = round((1.0 - epsilon) * (1 << CHANCE_PLANES))
        low, high = first * playouts, last * playouts
        for word in range(low >> 6, (high + 63) >> 6):
            lanes = _lanes_between(low, high, word)
            if chance >> CHANCE_PLANES:
                _add_lanes(chances, plane, word, lanes)
            for bit in range(CHANCE_PLANES):
                if (chance >> bit) & 1:
                    _add_lanes(chances, plane + 1 + bit, word, lanes)
        first = last


@kernel
def _draw_greedy(lanes: Lanes, greedy: GreedyLanes, chance_role: int) -> None:
    """Draw the lanes in which a role takes its best move: with probability 1 - ε."""
    for role in range(len(greedy.chosen)):
        first = role * (CHANCE_PLANES + 1)
        chances = greedy.chances[first + 1 : first + 1 + CHANCE_PLANES]
        kernels.draw_lanes(lanes, chances, greedy.chosen[role : role + 1])
        certain = load(greedy.chances, first)
        store(greedy.chosen, role, load(greedy.chosen, role) | certain)
        if role == chance_role:
            store(greedy.chosen, role, splat_like(greedy.chosen, kernels.NONE))


@part
def choose_moves(layout: Layout, lanes: Lanes, arrays: Arrays) -> None:
    """Choose a joint move in every active lane."""
    history, greedy = arrays.history, arrays.greedy
    if history.ties[0] > 0:
        shuffle_ties(history, arrays.random)
    _draw_greedy(lanes, greedy, arrays.options.chance)
    kernels.choose_moves_greedily(layout, lanes, history.order, greedy.chosen)


@part
def pick_move(arrays: Arrays, slot: int, role: int, moves: Candidates) -> int:
    """Which of the candidates a role picks in a node of the tree."""
    epsilon = arrays.settings.values[arrays.settings.row[slot], role, EPSILON]
    best, values = np.float32(0.0), arrays.scratch.values
    for i in range(moves.size):
        values[i] = arrays.history.mean[get_int(moves.words, moves.numbers + i)]
        best = max(best, values[i])
    if random_real(arrays.random) < epsilon:
        return random_below(arrays.random, moves.size)
    return draw_near_best(values, moves.size, best, arrays.random)


class PlainMast(PlainPlayout):
    """The policy for the plain search."""

    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """See `PlainPlayout.choose`."""
        if random.random() < float(settings[EPSILON]):
            return random.choice(moves)
        return moves[draw_among_best(self._game.history.means(role, moves), 0.0, random)]
