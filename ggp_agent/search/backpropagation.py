"""Stage 4, backpropagation: rewards go to the moves on the path, to AMAF, and to MAST."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.descent import fetch_statistics
from ggp_agent.search.expansion import transpose_rows
from ggp_agent.search.flight import COUNT, RANDOM, SUM, Flight
from ggp_agent.search.kernel import fast_part, kernel, part
from ggp_agent.search.mast import add_playouts, highest
from ggp_agent.search.memory import (
    NO_BLOCK,
    UNIT,
    get_double,
    get_float,
    get_int,
    prefetch,
    put_double,
    put_float,
    put_int,
)
from ggp_agent.search.playout import goal_rows
from ggp_agent.search.scoring import add_pair
from ggp_agent.search.tree import CLOSED, MEAN, NO_NODE, OPEN, SEVERAL, TRIES, Tree, open_amaf
from propnet.layout import Lanes, Layout
from propnet.vectors import LANES, lowest_bit

MOST_AMAF = 2.0**22
"""AMAF counts are halved there, for single precision does not count much further."""
VISITS_TO_CHECK = 1 << 14
"""After so many visits of a node its AMAF counts are looked at."""


@part
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


@fast_part
def _refresh_mean(words, stats: int, size: int, pick: int) -> None:  # type: ignore[no-untyped-def]
    """Compute the mean of a move anew, unless the move is closed."""
    if get_float(words, stats + MEAN * size + pick) > np.float32(CLOSED * 0.5):
        tries = np.float32(get_int(words, stats + TRIES * size + pick))
        mean = np.float32(get_double(words, stats + 2 * pick)) / tries
        put_float(words, stats + MEAN * size + pick, mean)


@part
def _back_up(tree: Tree, flight: Flight, simulation: int) -> None:
    """Add a simulation's rewards to the moves on its path."""
    words, roles = tree.pool.words, len(tree.best)
    for level in range(flight.depth[simulation]):
        record = tree.nodes[flight.path[level, simulation, 0]]
        stats, count = np.int64(record.stats) * UNIT, record.count
        for role in range(roles):
            pick = flight.path[level, simulation, 1 + role]
            tries = stats + TRIES * count + pick
            put_int(words, tries, get_int(words, tries) + 1)
            total = get_double(words, stats + 2 * pick) + flight.rewards[simulation, role]
            put_double(words, stats + 2 * pick, total)
            if role == record.mover or record.mover == SEVERAL:
                _refresh_mean(words, stats, count, pick)


@part
def _add_amaf(words, table: int, flight: Flight, first: int, last: int) -> None:  # type: ignore[no-untyped-def]
    """Credit entries `first` to last - 1 of the list of moves to a node's AMAF table."""
    for i in range(first, last):
        entry = table + 2 * np.int64(get_int(flight.found, i))
        add_pair(words, entry, get_float(flight.times, i), get_float(flight.values, i))


@part
def _fetch_amaf(tree: Tree, node: int, flight: Flight, count: int) -> None:
    """Have the entries of a list of moves in a node's AMAF table under way."""
    if node != NO_NODE and tree.nodes[node].amaf != NO_BLOCK:
        table = np.int64(tree.nodes[node].amaf) * UNIT
        for i in range(count):
            prefetch(tree.pool.words, table + 2 * np.int64(get_int(flight.found, i)))


@part
def _halve_amaf(words, table: int, size: int) -> None:  # type: ignore[no-untyped-def]
    """Keep counts in the range in which single precision can count."""
    for entry in range(table, table + size, 2):
        if get_float(words, entry) > np.float32(MOST_AMAF):
            put_float(words, entry, get_float(words, entry) * np.float32(0.5))
            put_float(words, entry + 1, get_float(words, entry + 1) * np.float32(0.5))


@part
def _node_at(flight: Flight, simulation: int, level: int) -> int:
    """The node that a simulation passed at a level; the leaf at the last one (or NO_NODE)."""
    if level == flight.depth[simulation]:
        return flight.leaf[simulation]
    return flight.path[level, simulation, 0]


@part
def _open_tables(tree: Tree, flight: Flight, simulation: int, moves: int) -> None:
    """Give nodes on the path that have enough visits an AMAF table."""
    for level in range(flight.depth[simulation] + 1):
        node = _node_at(flight, simulation, level)
        if node == NO_NODE:
            continue
        record = tree.nodes[node]
        if record.amaf != NO_BLOCK:
            if record.visits % VISITS_TO_CHECK == 0:
                _halve_amaf(tree.pool.words, np.int64(record.amaf) * UNIT, record.amaf_words)
        elif record.visits >= flight.amaf_from and record.kind == OPEN:
            open_amaf(tree, node, moves)


@part
def _credit_tree_moves(tree: Tree, flight: Flight, simulation: int) -> None:
    """MAST for the moves made in the tree, and AMAF for them in the nodes above."""
    words, roles, depth = tree.pool.words, len(tree.best), flight.depth[simulation]
    for level in range(depth):
        record = tree.nodes[flight.path[level, simulation, 0]]
        moves = np.int64(record.moves) * UNIT + roles + 1
        for role in range(roles):
            move = get_int(words, moves + flight.path[level, simulation, 1 + role])
            reward = flight.rewards[simulation, role]
            flight.found[level * roles + role] = move
            flight.times[level * roles + role] = np.float32(1.0)
            flight.values[level * roles + role] = reward
            flight.mast[COUNT, move] += 1.0
            flight.mast[SUM, move] += 100.0 * np.float64(reward)
    for level in range(depth if flight.grave else 0):
        block = tree.nodes[flight.path[level, simulation, 0]].amaf
        if block != NO_BLOCK:
            table = np.int64(block) * UNIT
            _add_amaf(words, table, flight, level * roles, depth * roles)


@part
def _list_played(layout: Layout, flight: Flight, planes: int, lane: int) -> int:
    """The moves of a lane's playout, how often each was played, and the sum of its rewards.

    Returns how many there are.
    """
    count, role = 0, 0
    reward = np.float32(flight.goals[0, lane]) * np.float32(0.01)
    for column in range(flight.by_lane.shape[1]):
        bits = np.uint64(0)
        for plane in range(planes):
            bits |= flight.by_lane[plane * LANES + lane, column]
        while bits != np.uint64(0):
            place = lowest_bit(bits)
            bits &= bits - np.uint64(1)
            times = np.uint64(0)
            for plane in range(planes):
                bit = flight.by_lane[plane * LANES + lane, column] >> np.uint64(place)
                times |= (bit & np.uint64(1)) << np.uint64(plane)
            move = 64 * column + place
            while move >= layout.span[role + 1]:
                role += 1
                reward = np.float32(flight.goals[role, lane]) * np.float32(0.01)
            put_int(flight.found, count, move)
            put_float(flight.times, count, np.float32(times))
            put_float(flight.values, count, reward * np.float32(times))
            count += 1
    return count


@kernel
def _credit_playouts(
    layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, batch: int, playouts: int
) -> None:
    """AMAF for the moves of the playouts in every node on the way there."""
    words, moves, planes = (
        tree.pool.words,
        len(layout.legal),
        highest(flight.top, len(layout.legal)),
    )
    for plane in range(planes):
        for move in range(moves):
            if flight.top[move] <= plane:
                flight.planes[plane * moves + move] = np.uint64(0)
        by_lane = flight.by_lane[plane * LANES : (plane + 1) * LANES]
        transpose_rows(flight.planes, plane * moves, moves, lanes.block, by_lane)
    for simulation in range(batch):
        for lane in range(simulation * playouts, (simulation + 1) * playouts):
            count = _list_played(layout, flight, planes, lane)
            depth = flight.depth[simulation]
            for level in range(depth + 1):
                if level < depth:
                    below = _node_at(flight, simulation, level + 1)
                    _fetch_amaf(tree, below, flight, count)
                node = _node_at(flight, simulation, level)
                if node != NO_NODE and tree.nodes[node].amaf != NO_BLOCK:
                    _add_amaf(words, np.int64(tree.nodes[node].amaf) * UNIT, flight, 0, count)


@kernel
def back_up(
    layout: Layout,
    lanes: Lanes,
    tree: Tree,
    flight: Flight,
    batch: int,
    playouts: int,
    played: bool,
) -> None:
    """Add what the simulations of a batch have brought to all statistics."""
    _set_rewards(tree, flight, batch, playouts)
    learn = flight.grave or flight.policy != RANDOM
    for simulation in range(batch):
        if simulation + 1 < batch:
            for level in range(flight.depth[simulation + 1]):
                fetch_statistics(tree, flight.path[level, simulation + 1, 0])
        _back_up(tree, flight, simulation)
        if flight.grave:
            _open_tables(tree, flight, simulation, len(layout.legal))
        if learn:
            _credit_tree_moves(tree, flight, simulation)
    if played and flight.policy != RANDOM:
        add_playouts(layout, flight, goal_rows(len(tree.best)))
    if played and flight.grave:
        _credit_playouts(layout, lanes, tree, flight, batch, playouts)
