"""Stage 4, backpropagation: rewards go to the moves on the path, to AMAF, and to MAST."""

from __future__ import annotations

import numpy as np
from numba import njit

from ggp_agent.search.descent import refresh_mean
from ggp_agent.search.expansion import transpose_rows
from ggp_agent.search.flight import COUNT, RANDOM, SUM, Flight
from ggp_agent.search.mast import add_playouts
from ggp_agent.search.memory import (
    NO_BLOCK,
    UNIT,
    get_double,
    get_float,
    get_int,
    lowest_bit,
    put_double,
    put_float,
)
from ggp_agent.search.playout import goal_rows
from ggp_agent.search.tree import NO_NODE, OPEN, Tree, open_amaf
from propnet.layout import Lanes, Layout

MOST_AMAF = 2.0**22
"""AMAF counts are halved there, for single precision does not count much further."""


@njit(cache=True, nogil=True)
def _set_rewards(tree: Tree, flight: Flight, batch: int, playouts: int) -> None:
    """Every simulation's rewards: the mean goals of its playouts, or the scores of its leaf."""
    for simulation in range(batch):
        leaf = flight.leaf[simulation]
        known = leaf != NO_NODE and tree.nodes[leaf].kind != OPEN
        for role in range(len(tree.best)):
            if known:
                reward = tree.scores[leaf, role, 0] / 100.0
            else:
                total = 0
                for lane in range(simulation * playouts, (simulation + 1) * playouts):
                    total += flight.goals[role, lane]
                reward = total / (100.0 * playouts)
            flight.rewards[simulation, role] = reward


@njit(cache=True, nogil=True)
def _back_up(tree: Tree, flight: Flight, simulation: int) -> None:
    """Add a simulation's rewards to the moves on its path."""
    words, roles = tree.pool.words, len(tree.best)
    for level in range(flight.depth[simulation]):
        record = tree.nodes[flight.path[level, simulation, 0]]
        stats, count = np.int64(record.stats) * UNIT, record.count
        for role in range(roles):
            pick = flight.path[level, simulation, 1 + role]
            total = get_double(words, stats + 2 * pick) + flight.rewards[simulation, role]
            put_double(words, stats + 2 * pick, total)
            refresh_mean(words, stats, count, pick)


@njit(cache=True, nogil=True)
def _add_amaf(words, entry: int, times: float, total: float) -> None:  # type: ignore[no-untyped-def]
    """A move was played so many times, with this sum of rewards."""
    tries = get_float(words, entry) + np.float32(times)
    rewards = get_float(words, entry + 1) + np.float32(total)
    if tries >= np.float32(MOST_AMAF):
        tries *= np.float32(0.5)
        rewards *= np.float32(0.5)
    put_float(words, entry, tries)
    put_float(words, entry + 1, rewards)


@njit(cache=True, nogil=True)
def _move_at(tree: Tree, flight: Flight, simulation: int, level: int, role: int) -> int:
    """The number of the move that a role made at a level of a simulation's path."""
    record = tree.nodes[flight.path[level, simulation, 0]]
    moves = np.int64(record.moves) * UNIT + len(tree.best) + 1
    return get_int(tree.pool.words, moves + flight.path[level, simulation, 1 + role])


@njit(cache=True, nogil=True)
def _node_at(flight: Flight, simulation: int, level: int) -> int:
    """The node that a simulation passed at a level; the leaf at the last one (or NO_NODE)."""
    if level == flight.depth[simulation]:
        return flight.leaf[simulation]
    return flight.path[level, simulation, 0]


@njit(cache=True, nogil=True)
def _open_tables(tree: Tree, flight: Flight, simulation: int, moves: int) -> None:
    """Give nodes on the path that have enough visits an AMAF table."""
    for level in range(flight.depth[simulation] + 1):
        node = _node_at(flight, simulation, level)
        if node != NO_NODE:
            record = tree.nodes[node]
            if record.amaf == NO_BLOCK and record.visits >= flight.amaf_from:
                if record.kind == OPEN:
                    open_amaf(tree, node, moves)


@njit(cache=True, nogil=True)
def _credit_tree_moves(tree: Tree, flight: Flight, simulation: int) -> None:
    """MAST for the moves made in the tree, and AMAF for them in the nodes above."""
    for level in range(flight.depth[simulation]):
        for role in range(len(tree.best)):
            move = _move_at(tree, flight, simulation, level, role)
            reward = np.float64(flight.rewards[simulation, role])
            flight.mast[COUNT, move] += 1.0
            flight.mast[SUM, move] += 100.0 * reward
            for above in range(level + 1 if flight.grave else 0):
                block = tree.nodes[flight.path[above, simulation, 0]].amaf
                if block != NO_BLOCK:
                    _add_amaf(tree.pool.words, np.int64(block) * UNIT + 2 * move, 1.0, reward)


@njit(cache=True, nogil=True)
def _list_played(flight: Flight, lane: int) -> int:
    """The moves of a lane in the plane just transposed, in `found`; how many there are."""
    count = 0
    for part in range(flight.by_lane.shape[1]):
        bits = flight.by_lane[lane, part]
        while bits != np.uint64(0):
            flight.found[count] = 64 * part + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            count += 1
    return count


@njit(cache=True, nogil=True)
def _credit_playouts(
    layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, batch: int, playouts: int
) -> None:
    """AMAF for the moves of the playouts, plane by plane, in every node on the way there."""
    words, moves = tree.pool.words, len(layout.legal)
    for plane in range(flight.top.max()):
        for move in range(moves):
            if flight.top[move] <= plane:
                flight.planes[plane * moves + move] = np.uint64(0)
        transpose_rows(flight.planes, plane * moves, moves, lanes.block, flight.by_lane)
        times = np.float32(1 << plane)
        for simulation in range(batch):
            for lane in range(simulation * playouts, (simulation + 1) * playouts):
                count = _list_played(flight, lane)
                if count == 0:
                    continue
                for level in range(flight.depth[simulation] + 1):
                    node = _node_at(flight, simulation, level)
                    if node == NO_NODE or tree.nodes[node].amaf == NO_BLOCK:
                        continue
                    block = tree.nodes[node].amaf
                    base, role = np.int64(block) * UNIT, 0
                    for i in range(count):
                        move = flight.found[i]
                        while move >= layout.span[role + 1]:
                            role += 1
                        total = times * np.float32(flight.goals[role, lane]) * np.float32(0.01)
                        _add_amaf(words, base + 2 * move, times, total)


@njit(cache=True, nogil=True)
def back_up(
    layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, batch: int, playouts: int, played: bool
) -> None:
    """Add what the simulations of a batch have brought to all statistics."""
    _set_rewards(tree, flight, batch, playouts)
    learn = flight.grave or flight.policy != RANDOM
    for simulation in range(batch):
        _back_up(tree, flight, simulation)
        if flight.grave:
            _open_tables(tree, flight, simulation, len(layout.legal))
        if learn:
            _credit_tree_moves(tree, flight, simulation)
    if played and flight.policy != RANDOM:
        add_playouts(layout, flight, goal_rows(len(tree.best)))
    if played and flight.grave:
        _credit_playouts(layout, lanes, tree, flight, batch, playouts)
