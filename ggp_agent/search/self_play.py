"""Games of self-play side by side, each move by a small search in a tree of its own.

As many searches as there are groups of slots go on at once, in the batches of the one kernel: a
group has one row of settings, and a root of its own.  The trees don't know of each other, for
states carry the number of their search as one word more (a tag), so that no two share a node; they
live in one memory, which is emptied after each move.  Who plays may have a history of moves of its
own, common to all of its searches.

Letters: G searches at once, R roles, P parameters of simulations.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.parameters import Scope
from ggp_agent.search.arrays import Arrays, new_arrays
from ggp_agent.search.blocks import entries
from ggp_agent.search.expansion import open_states
from ggp_agent.search.few_lanes import new_few
from ggp_agent.search.final import LEAST_SHARE
from ggp_agent.search.kernel import entry
from ggp_agent.search.memory import NO_BLOCK, ORDERS, UNIT, get_float, get_int
from ggp_agent.search.random_numbers import random_below
from ggp_agent.search.settings import F32, own_values
from ggp_agent.search.simulation import NEVER, Batch, simulate_batches
from ggp_agent.search.strategies import dispatch
from ggp_agent.search.strategies.evaluation import learn
from ggp_agent.search.strategies.move_history import new_move_history
from ggp_agent.search.tree import (
    CLOSED,
    ENTRY,
    MEAN,
    TERMINAL,
    USED,
    VISITS,
    Tree,
    clear,
    new_tree,
)
from propnet import kernels
from propnet.layout import I32, U64, Lanes, Layout, new_lanes
from propnet.vectors import LANES

SEARCHES = 64
"""searches at once, at most"""
MEMORY_SHARE = 4
"""one in so many of the bytes that a match's tree may have, at most"""
MOST_IN_FLIGHT = 128
"""simulations of a search in flight, at most; fewer where many searches share the lanes"""
LEAST_BATCHES = 8
"""A search of fewer would not see what it found before it is over."""


@entry
def next_states(layout: Layout, lanes: Lanes, states: U64, joint: I32, count: int) -> None:
    """Replace packed states by those after joint moves, each move by its number in its role."""
    kernels.load_states(layout, lanes, states, count)
    kernels.see_position(layout, lanes)
    kernels.set_moves(layout, lanes, joint, count)
    lanes.active[:] = kernels.ALL
    kernels.advance(layout, lanes)
    kernels.save_states(layout, lanes, states, count)


@entry
def count_choices(tree: Tree, nodes: I32, choices: I32) -> None:
    """How many legal moves every role has at nodes (G,): `choices` (G, R)."""
    for k in range(len(nodes)):
        start = np.int64(tree.nodes[nodes[k]].moves) * UNIT
        for role in range(len(tree.best)):
            first = get_int(tree.pool.words, start + role)
            choices[k, role] = get_int(tree.pool.words, start + role + 1) - first


@entry
def pick_moves(
    layout: Layout, tree: Tree, arrays: Arrays, nodes: I32, at_random: NDArray[np.bool_], picks: I32
) -> None:
    """Every role's choice at nodes (G,) as the number of a move in its role: `picks` (G, R).

    The highest mean, or `at_random` (G,) in proportion to visits; no move that is proven to be
    worse, and none whose mean rests on much fewer visits than another's.
    """
    words, roles = tree.pool.words, len(tree.best)
    for k in range(len(nodes)):
        record = tree.nodes[nodes[k]]
        start, stats = np.int64(record.moves) * UNIT, np.int64(record.stats) * UNIT
        visits_at, count = stats + entries(record.count) + VISITS, record.count
        for role in range(roles):
            first, last = get_int(words, start + role), get_int(words, start + role + 1)
            pick, best, total = first + random_below(arrays.random, last - first), -1.0, 0
            most, end = 0, last if record.stats != NO_BLOCK else first
            for place in range(first, end):
                most = max(most, get_int(words, visits_at + ENTRY * place))
            for place in range(first, end):
                mean = get_float(words, stats + MEAN * count + place)
                if mean < np.float32(0.5 * CLOSED):
                    continue
                visits = get_int(words, visits_at + ENTRY * place)
                total += visits
                if at_random[k]:
                    if visits > 0 and random_below(arrays.random, total) < visits:
                        pick = place
                elif visits > LEAST_SHARE * most and mean > best:
                    pick, best = place, mean
            move = get_int(words, start + roles + 1 + pick)
            picks[k, role] = move - layout.span[role]


class Searches(NamedTuple):
    """Searches side by side."""

    nodes: I32
    """(n,) where they begin"""
    settings: F32
    """(n, P)"""
    at_random: NDArray[np.bool_]
    """(n,) whether the moves are drawn in proportion to their visits"""
    history: int
    """the number of the history of moves that they share"""


class SelfPlay:
    """Small searches, `SEARCHES` of them at once, and the games that they play."""

    def __init__(self, game: CompiledModel, agent: Agent, simulations: int, seed: int) -> None:
        """Searches like the agent's, of at most so many simulations together."""
        self._game, self._layout = game, game.layout
        self._lanes = new_lanes(self._layout, seed)
        self._arrays = new_arrays(game, agent, seed, tags=1)
        self._few = new_few(self._layout, self._arrays)
        words, moves = len(self._layout.initial) + 1, len(self._layout.legal)
        best = np.array([round(100 * reward) for reward in game.best_rewards], np.uint8)
        nodes = simulations + 4 * LANES
        usual = 4 * min(200, moves) + moves // 5 + 4 * UNIT
        memory = int(agent.number("memory")) * 2**20 // MEMORY_SHARE
        units = min(nodes * usual // UNIT, memory // (4 * UNIT))
        self._tree = new_tree(nodes, max(4096, units), words, best, True)
        self.batch_seconds = 0.0
        """that the last batch took"""
        self.begin(1)
        self._arrays.settings.of_batch[:] = own_values(agent, Scope.BATCH)
        self._arrays.settings.of_move[:] = own_values(agent, Scope.MOVE)

    def begin(self, histories: int) -> None:
        """Have so many histories of moves, with nothing in them."""
        moves = len(self._layout.legal)
        self._histories = [new_move_history(moves) for _ in range(histories)]

    def learn(self, weights: F32, bias: F32) -> None:
        """Evaluate states by these weights (R, F) and biases (R,) from now on."""
        learn(self._arrays.evaluation, weights, bias)

    def initial_states(self, count: int) -> U64:
        """So many initial states, with room for a tag."""
        states = np.zeros((count, len(self._layout.initial) + 1), np.uint64)
        states[:, :-1] = self._layout.initial
        return states

    def see(self, states: U64) -> tuple[I32, NDArray[np.uint8], I32]:
        """At most `SEARCHES` states, put into an empty tree.

        Returns their nodes (n,), the goals (n, R) of those that are the end of a game, 255 for
        others, and how many moves the roles have (n, R), 0 at the end.
        """
        count, roles = len(states), len(self._game.moves)
        clear(self._tree)
        states[:, -1] = np.arange(count)
        self._arrays.new.states[:count] = states
        nodes = np.zeros(count, np.int32)
        open_states(self._layout, self._lanes, self._tree, self._arrays, nodes)
        goals, choices = np.full((count, roles), 255, np.uint8), np.zeros((count, roles), np.int32)
        ended = self._tree.nodes["kind"][nodes] == TERMINAL
        goals[ended] = self._tree.scores[nodes[ended], :, 0]
        going = nodes[~ended]
        counted = np.zeros((len(going), roles), np.int32)
        count_choices(self._tree, going, counted)
        choices[~ended] = counted
        return nodes, goals, choices

    def search(self, searches: Searches, simulations: int, deadline: float = math.inf) -> I32:
        """Search from nodes that were just seen; every role's choices (n, R), see `pick_moves`.

        Searches end too soon where another batch would overrun the deadline, a reading of
        `time.monotonic()`.
        """
        nodes, count = searches.nodes, len(searches.nodes)
        arrays = self._arrays._replace(history=self._histories[searches.history])
        group = max(1, min(MOST_IN_FLIGHT, LANES // count, simulations // LEAST_BATCHES))
        batch = Batch(count * group, group, 1, 0, 1, NEVER, 0)
        arrays.slots.root[: count * group] = np.repeat(nodes, group)
        arrays.settings.values[:count] = searches.settings[:, np.newaxis]
        for _ in range(max(1, simulations // group)):
            begun = time.monotonic()
            if begun + self.batch_seconds > deadline or not self._has_room(count * group):
                break
            simulate_batches(
                self._layout, self._lanes, self._few, self._tree, arrays, int(nodes[0]), batch
            )
            self.batch_seconds = time.monotonic() - begun
        picks = np.zeros((count, len(self._game.moves)), np.int32)
        pick_moves(self._layout, self._tree, arrays, nodes, searches.at_random, picks)
        return picks

    def _has_room(self, simulations: int) -> bool:
        """Whether so many more fit: nothing may be recycled, for it could be another's root."""
        tree = self._tree
        pool_left = tree.pool.free[ORDERS] > len(tree.pool.order) >> 4
        return bool(pool_left and len(tree.nodes) - tree.counters[USED] >= simulations)

    def advance(self, states: U64, picks: I32) -> None:
        """Replace states (n, words) by those after joint moves (n, R); forget as after any move."""
        next_states(self._layout, self._lanes, states, picks, len(states))
        for history in self._histories:
            dispatch.forget_after_move(self._layout, self._arrays._replace(history=history))
