"""Stage 4, backpropagation: rewards go to the moves on the path, to AMAF, and to MAST."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.descent import entry_of
from ggp_agent.search.expansion import write_column
from ggp_agent.search.flight import (
    COUNT,
    MOVER,
    OVER,
    PICKS,
    PLAYING,
    RANDOM,
    STATISTICS,
    SUM,
    TABLE,
    Flight,
)
from ggp_agent.search.kernel import fast_part, kernel, part
from ggp_agent.search.mast import add_playouts, forget_moves, highest
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
from ggp_agent.search.tree import CLOSED, NO_NODE, OPEN, SEVERAL, TOTAL, VISITS, Tree
from propnet.layout import ALL, NONE, Lanes, Layout
from propnet.vectors import LANES, load, lowest_bit, splat, store


@part
def _set_rewards(tree: Tree, flight: Flight, batch: int, playouts: int) -> None:
    """Every simulation's rewards: the mean goals of its playouts, or the scores of its leaf."""
    for simulation in range(batch):
        if flight.stage[simulation] != OVER:
            continue
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
def _refresh_mean(words, mean: int, total: float, visits: int) -> None:  # type: ignore[no-untyped-def]
    """Compute the mean of a move anew, unless the move is closed.

    Visits are counted when they begin, so the mean is right once the last one in flight has told
    its reward; nobody reads it before.
    """
    if get_float(words, mean) > np.float32(CLOSED * 0.5):
        put_float(words, mean, np.float32(total) / np.float32(visits))


@part
def _count_playing(tree: Tree, flight: Flight, batch: int, number: int) -> None:
    """Add to the visits of the moves on the paths of simulations that still play."""
    words = tree.pool.words
    for simulation in range(batch):
        if flight.stage[simulation] == PLAYING:
            for level in range(flight.depth[simulation]):
                for role in range(len(tree.best)):
                    visits = entry_of(flight, simulation, level, role) + VISITS
                    put_int(words, visits, get_int(words, visits) + number)


@part
def _fetch_path(tree: Tree, flight: Flight, simulation: int) -> None:
    """Have what a simulation will write on its path under way."""
    for level in range(flight.depth[simulation]):
        role = max(0, flight.path[simulation, level, MOVER])
        block = np.int64(flight.path[simulation, level, STATISTICS]) * UNIT
        prefetch(tree.pool.words, block + flight.path[simulation, level, PICKS + role])
        prefetch(tree.pool.words, entry_of(flight, simulation, level, role))


@part
def _back_up(tree: Tree, flight: Flight, simulation: int) -> None:
    """Add a simulation's rewards to the moves on its path."""
    words, roles = tree.pool.words, len(tree.best)
    for level in range(flight.depth[simulation]):
        mover = flight.path[simulation, level, MOVER]
        block = np.int64(flight.path[simulation, level, STATISTICS]) * UNIT
        for role in range(roles):
            entry = entry_of(flight, simulation, level, role)
            total = get_double(words, entry + TOTAL) + flight.rewards[simulation, role]
            put_double(words, entry + TOTAL, total)
            if role == mover or mover == SEVERAL:
                mean = block + flight.path[simulation, level, PICKS + role]
                _refresh_mean(words, mean, total, get_int(words, entry + VISITS))


@part
def _add_amaf(words, table: int, flight: Flight, first: int, last: int) -> None:  # type: ignore[no-untyped-def]
    """Credit entries `first` to last - 1 of the list of moves to a node's AMAF table."""
    for i in range(first, last):
        entry = table + 2 * np.int64(get_int(flight.found, i))
        add_pair(words, entry, get_float(flight.times, i), get_float(flight.values, i))


@part
def _fetch_amaf(tree: Tree, block: int, flight: Flight, count: int) -> None:
    """Have the entries of a list of moves in an AMAF table under way."""
    if block != NO_BLOCK:
        table = np.int64(block) * UNIT
        for i in range(count):
            prefetch(tree.pool.words, table + 2 * np.int64(get_int(flight.found, i)))


@part
def _credit_tree_moves(tree: Tree, flight: Flight, simulation: int) -> None:
    """MAST for the moves made in the tree, and AMAF for them in the nodes above."""
    words, roles, depth = tree.pool.words, len(tree.best), flight.depth[simulation]
    for level in range(depth):
        for role in range(roles):
            move = flight.path[simulation, level, PICKS + roles + role]
            reward = flight.rewards[simulation, role]
            flight.found[level * roles + role] = move
            flight.times[level * roles + role] = np.float32(1.0)
            flight.values[level * roles + role] = reward
            flight.mast[move, COUNT] += 1.0
            flight.mast[move, SUM] += 100.0 * np.float64(reward)
    for level in range(depth if flight.grave else 0):
        block = flight.path[simulation, level, TABLE]
        if block != NO_BLOCK:
            table = np.int64(block) * UNIT
            _add_amaf(words, table, flight, level * roles, depth * roles)


@part
def _table_at(tree: Tree, flight: Flight, simulation: int, level: int) -> int:
    """The AMAF table of the node at a level, the leaf's at the last one; NO_BLOCK for none."""
    if level < flight.depth[simulation]:
        return int(flight.path[simulation, level, TABLE])
    leaf = flight.leaf[simulation]
    return int(tree.nodes[leaf].amaf) if leaf != NO_NODE else NO_BLOCK


@kernel
def _list_by_lane(layout: Layout, lanes: Lanes, flight: Flight, count: int) -> None:
    """Bring what the planes hold into `by_lane`, plane by plane, for the first `count` lanes."""
    block, moves = lanes.block, len(layout.legal)
    for column in range(len(flight.deep)):
        low, high = 64 * column, min(64 * column + 64, moves)
        flight.deep[column] = highest(flight.top[low:high], high - low)
        for plane in range(flight.deep[column]):
            for move in range(low, high):
                in_use = splat(ALL if flight.top[move] > plane else NONE)
                store(block, move - low, load(flight.planes, plane * moves + move) & in_use)
            for i in range(high - low, 64):
                store(block, i, splat(NONE))
            write_column(block, flight.by_lane, column, plane * LANES, count)


@part
def _list_played(layout: Layout, flight: Flight, lane: int) -> int:
    """The moves of a lane's playout, how often each was played, and the sum of its rewards.

    Returns how many there are.
    """
    count, role = 0, 0
    reward = np.float32(flight.goals[0, lane]) * np.float32(0.01)
    for column in range(len(flight.deep)):
        planes, bits = flight.deep[column], np.uint64(0)
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
    words = tree.pool.words
    _list_by_lane(layout, lanes, flight, batch * playouts)
    for simulation in range(batch):
        if flight.stage[simulation] != OVER:
            continue
        for lane in range(simulation * playouts, (simulation + 1) * playouts):
            count = _list_played(layout, flight, lane)
            depth = flight.depth[simulation]
            for level in range(depth + 1):
                if level < depth:
                    below = _table_at(tree, flight, simulation, level + 1)
                    _fetch_amaf(tree, below, flight, count)
                table = _table_at(tree, flight, simulation, level)
                if table != NO_BLOCK:
                    _add_amaf(words, np.int64(table) * UNIT, flight, 0, count)


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
    """Add what the simulations that are over have brought to all statistics."""
    _set_rewards(tree, flight, batch, playouts)
    learn = flight.grave or flight.policy != RANDOM
    _count_playing(tree, flight, batch, -1)
    for simulation in range(batch):
        if simulation + 1 < batch:
            _fetch_path(tree, flight, simulation + 1)
        if flight.stage[simulation] == OVER:
            _back_up(tree, flight, simulation)
            if learn:
                _credit_tree_moves(tree, flight, simulation)
    _count_playing(tree, flight, batch, 1)
    if played and flight.policy != RANDOM:
        add_playouts(layout, lanes, flight, goal_rows(len(tree.best)))
    if played and flight.grave:
        _credit_playouts(layout, lanes, tree, flight, batch, playouts)
    if played and learn:
        forget_moves(layout, lanes, flight)
