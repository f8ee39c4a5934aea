"""A batch of simulations: selection, expansion, playout and backpropagation, side by side.

Up to 512 simulations are in flight at once, one or more lanes each.  Visits are counted on the way
down, so that simulations in flight count as losses until their reward arrives (virtual loss) and
keep apart; with one in flight this is the sequential algorithm.  At most one node is added per
simulation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ggp_agent.search.selection import SelectionParameters, select_move
from ggp_agent.search.tree import (
    ENTRIES,
    NO_NODE,
    NODES,
    OPEN,
    TERMINAL,
    Tree,
    add_node,
    extend_joint,
    find_child,
)
from propnet import kernels
from propnet.layout import I32, U64, Lanes, Layout
from propnet.vectors import LANES, WORDS, load, popcount, store

SIMULATIONS, PLAYOUTS, TRANSITIONS, DEPTH = 0, 1, 2, 3
"""What `totals` sums: simulations, playouts, transitions in playouts, edges in the tree."""


class Flight(NamedTuple):
    """Working arrays of the simulations in flight; B is 512, R roles, D the depth limit."""

    path: I32
    """(B, D, R) the entries selected on the way down"""
    depth: I32
    """(B,) edges from the root to the leaf"""
    leaf: I32
    """(B,) the node at which the tree was left"""
    fresh: I32
    """(B,) nodes created by this batch"""
    moves: I32
    """(B, R) joint moves that lead to the fresh nodes"""
    states: U64
    """(B, state_words)"""
    legal: U64
    """(M, WORDS) legal moves of the fresh nodes"""
    goals: NDArray[np.uint8]
    """(R, LANES)"""
    random: U64
    """(1,) generator for ties"""
    totals: NDArray[np.int64]
    """(4,) see SIMULATIONS"""


def new_flight(layout: Layout, depth_limit: int, seed: int) -> Flight:
    """Working arrays for a game."""
    roles = len(layout.span) - 1
    random = np.random.Generator(np.random.PCG64([seed, 1]))
    return Flight(
        path=np.empty((LANES, depth_limit, roles), np.int32),
        depth=np.empty(LANES, np.int32),
        leaf=np.empty(LANES, np.int32),
        fresh=np.empty(LANES, np.int32),
        moves=np.empty((LANES, roles), np.int32),
        states=np.empty((LANES, len(layout.initial)), np.uint64),
        legal=np.empty((len(layout.legal), WORDS), np.uint64),
        goals=np.empty((roles, LANES), np.uint8),
        random=random.integers(0, 2**64, size=1, dtype=np.uint64),
        totals=np.zeros(4, np.int64),
    )


@njit(cache=True, nogil=True)
def _select(tree: Tree, flight: Flight, i: int, parameters: SelectionParameters) -> bool:
    """Simulation i walks down to its leaf; returns whether it created that leaf."""
    roles, limit = tree.goals.shape[1], flight.path.shape[1]
    node, depth, created = 0, 0, False
    tree.visits[0] += 1
    while tree.kind[node] == OPEN and depth < limit and not created:
        joint = np.uint64(0)
        for role in range(roles):
            entry = select_move(tree, node, role, parameters, flight.random)
            tree.tries[entry] += 1
            flight.path[i, depth, role] = entry
            joint = extend_joint(joint, tree.move[entry])
        depth += 1
        child = find_child(tree, node, joint)
        created = child == NO_NODE
        node = add_node(tree, node, joint) if created else child
        tree.visits[node] += 1
    flight.depth[i], flight.leaf[i] = depth, node
    return created


@njit(cache=True, nogil=True)
def _list_moves(layout: Layout, tree: Tree, node: int, lane: int, legal: U64) -> bool:
    """Enter the moves that are legal in a lane; returns whether every role has one."""
    word, bit = lane >> 6, np.uint64(lane & 63)
    entry, all_move = tree.size[ENTRIES], True
    for role in range(len(layout.span) - 1):
        tree.first[node, role] = entry
        for move in range(layout.span[role], layout.span[role + 1]):
            if (legal[move, word] >> bit) & np.uint64(1):
                tree.move[entry] = move - layout.span[role]
                tree.tries[entry] = 0
                tree.reward[entry] = 0.0
                entry += 1
        all_move = all_move and entry > tree.first[node, role]
    tree.first[node, len(layout.span) - 1] = entry
    tree.size[ENTRIES] = entry
    return all_move


@njit(cache=True, nogil=True)
def _expand(
    layout: Layout, lanes: Lanes, tree: Tree, nodes: I32, count: int, flight: Flight
) -> None:
    """Give nodes, whose states are in lanes 0 to count - 1, their moves or their goals.

    A state in which a role has no legal move (its rules are faulty) counts as the end.
    """
    kernels.see_position(layout, lanes)
    kernels.read_goals(layout, lanes, flight.goals)
    kernels.legal_rows(layout, lanes, flight.legal)
    row, inverted = layout.terminal >> 1, np.uint64(layout.terminal & 1)
    for lane in range(count):
        node = nodes[lane]
        terminal = (lanes.values[row, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
        if terminal ^ inverted:
            tree.first[node] = tree.size[ENTRIES]
            tree.kind[node] = TERMINAL
        else:
            goes_on = _list_moves(layout, tree, node, lane, flight.legal)
            tree.kind[node] = OPEN if goes_on else TERMINAL
        tree.goals[node] = flight.goals[:, lane]


@njit(cache=True, nogil=True)
def expand_root(layout: Layout, lanes: Lanes, tree: Tree, flight: Flight) -> None:
    """Open the root of a tree that was just cleared."""
    flight.states[0] = tree.state[0]
    flight.fresh[0] = 0
    kernels.load_states(layout, lanes, flight.states, 1)
    _expand(layout, lanes, tree, flight.fresh, 1, flight)


@njit(cache=True, nogil=True)
def _expand_fresh(layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, count: int) -> None:
    """Compute the states of the fresh nodes, all at once, and open them."""
    for k in range(count):
        flight.states[k] = tree.state[tree.parent[flight.fresh[k]]]
    kernels.load_states(layout, lanes, flight.states, count)
    kernels.see_position(layout, lanes)
    kernels.set_moves(layout, lanes, flight.moves, count)
    lanes.active[:] = kernels.ALL
    kernels.advance(layout, lanes)
    kernels.save_states(layout, lanes, flight.states, count)
    for k in range(count):
        tree.state[flight.fresh[k]] = flight.states[k]
    _expand(layout, lanes, tree, flight.fresh, count, flight)


@njit(cache=True, nogil=True)
def _play_out(
    layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, batch: int, playouts: int
) -> None:
    """Random playouts from the leaves, `playouts` lanes each, side by side; their goals."""
    lanes.active[:] = kernels.NONE
    some = False
    for i in range(batch):
        leaf = flight.leaf[i]
        for k in range(playouts):
            lane = i * playouts + k
            flight.states[lane] = tree.state[leaf]
            if tree.kind[leaf] != TERMINAL:
                lanes.active[0, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
                some = True
    if some:
        kernels.load_states(layout, lanes, flight.states, batch * playouts)
        flight.totals[TRANSITIONS] += _play_on(layout, lanes, flight, batch, playouts)
        kernels.read_goals(layout, lanes, flight.goals)


@njit(cache=True, nogil=True)
def _play_on(layout: Layout, lanes: Lanes, flight: Flight, batch: int, playouts: int) -> int:
    """Random moves in the active lanes until all games have ended or are too long.

    Returns the number of transitions.  What was seen last is the position of every lane.
    """
    limit, deepest = flight.path.shape[1], flight.depth[:batch].max()
    step, transitions = 0, 0
    while True:
        kernels.see_position(layout, lanes)
        ended = kernels.read(lanes.values, layout.terminal)
        store(lanes.active, 0, load(lanes.active, 0) & ~ended)
        if deepest + step >= limit:
            _cut_off(lanes, flight, batch, playouts, limit - step)
        going = popcount(load(lanes.active, 0))
        if going == 0:
            return transitions
        kernels.choose_moves(layout, lanes)
        kernels.advance(layout, lanes)
        transitions += going
        step += 1


@njit(cache=True, nogil=True)
def _cut_off(lanes: Lanes, flight: Flight, batch: int, playouts: int, depth: int) -> None:
    """End the playouts of simulations that went through `depth` edges of the tree, or more."""
    for i in range(batch):
        if flight.depth[i] >= depth:
            for lane in range(i * playouts, (i + 1) * playouts):
                lanes.active[0, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))


@njit(cache=True, nogil=True)
def _back_up(tree: Tree, flight: Flight, batch: int, playouts: int) -> None:
    """Add every simulation's rewards to the entries on its path."""
    roles = tree.goals.shape[1]
    for i in range(batch):
        leaf = flight.leaf[i]
        for role in range(roles):
            if tree.kind[leaf] == TERMINAL:
                reward = tree.goals[leaf, role] / 100.0
            else:
                total = 0
                for k in range(playouts):
                    total += flight.goals[role, i * playouts + k]
                reward = total / (100.0 * playouts)
            for depth in range(flight.depth[i]):
                tree.reward[flight.path[i, depth, role]] += reward
        flight.totals[DEPTH] += flight.depth[i]


@njit(cache=True, nogil=True)
def simulate_batch(
    layout: Layout,
    lanes: Lanes,
    tree: Tree,
    flight: Flight,
    parameters: SelectionParameters,
    batch: int,
    playouts: int,
) -> bool:
    """Run `batch` simulations with `playouts` playouts per leaf (batch · playouts <= 512).

    Returns False, having done nothing, where the tree has no room for them.
    """
    roles = tree.goals.shape[1]
    if tree.size[NODES] + batch > len(tree.kind) or tree.size[ENTRIES] + batch * len(
        layout.legal
    ) > len(tree.move):
        return False
    created = 0
    for i in range(batch):
        if _select(tree, flight, i, parameters):
            flight.fresh[created] = flight.leaf[i]
            for role in range(roles):
                entry = flight.path[i, flight.depth[i] - 1, role]
                flight.moves[created, role] = tree.move[entry]
            created += 1
    if created > 0:
        _expand_fresh(layout, lanes, tree, flight, created)
    _play_out(layout, lanes, tree, flight, batch, playouts)
    _back_up(tree, flight, batch, playouts)
    flight.totals[SIMULATIONS] += batch
    flight.totals[PLAYOUTS] += batch * playouts
    return True
