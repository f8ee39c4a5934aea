"""Stage 1, selection: simulations walk down the tree, all of them level by level.

Visits are counted on the way down, for nodes and in the exploration term, so that simulations in
flight keep apart; the means wait for the rewards (A. Liu et al.: Watch the Unobserved, 2020).  What
a level will read is fetched while the level before is being worked on.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.flight import DEEPEST, EDGES, Flight
from ggp_agent.search.kernel import fast_part, kernel, part
from ggp_agent.search.memory import (
    NO_BLOCK,
    UNIT,
    get_float,
    get_int,
    prefetch,
    put_float,
    put_int,
)
from ggp_agent.search.selection import note_reference, select_move
from ggp_agent.search.tree import (
    CHILD,
    MEAN,
    NO_NODE,
    OPEN,
    SEVERAL,
    SPREAD,
    STEP,
    TRIES,
    WORDS_PER_MOVE,
    Tree,
    edge_by_joint,
    edge_to,
    extend_joint,
    follow,
    link_by_joint,
    node_at,
    open_statistics,
)

AHEAD = 8
"""Simulations between fetching what one will read and its turn."""
LINES_TO_FETCH = 8


@part
def arrive(tree: Tree, flight: Flight, simulation: int, node: int) -> None:
    """A simulation reaches a node."""
    record = tree.nodes[node]
    record.visits += 1
    record.step = tree.counters[STEP]
    flight.leaf[simulation] = node
    if flight.grave:
        note_reference(tree, flight, simulation, node)


@fast_part
def note_departure(words, spread: int) -> None:  # type: ignore[no-untyped-def]
    """One more simulation is under way through a move: a visit for the exploration term."""
    root, tries = get_float(words, spread), np.float32(0.0)
    if root > np.float32(0.0):
        tries = np.rint(np.float32(1.0) / (root * root))
    put_float(words, spread, np.float32(1.0) / np.sqrt(tries + np.float32(1.0)))


@part
def joint_hash(tree: Tree, flight: Flight, simulation: int, level: int) -> np.uint64:
    """The hash of the joint move that a simulation made at a level of its path."""
    joint = np.uint64(0)
    for role in range(len(tree.best)):
        joint = extend_joint(joint, flight.path[level, simulation, 1 + role])
    return joint


@part
def edge_of(tree: Tree, flight: Flight, simulation: int, level: int) -> int:
    """The edge by which a simulation's joint move leaves a level, NO_NODE for an unknown one."""
    node = flight.path[level, simulation, 0]
    record = tree.nodes[node]
    if record.mover == SEVERAL:
        return edge_by_joint(tree, node, joint_hash(tree, flight, simulation, level))
    place = np.int64(record.stats) * UNIT + CHILD * record.count
    pick = flight.path[level, simulation, 1 + record.mover]
    return int(get_int(tree.pool.words, place + pick))


@part
def link(tree: Tree, flight: Flight, simulation: int, level: int, child: int) -> None:
    """Remember the node to which a simulation's joint move at a level leads."""
    node = flight.path[level, simulation, 0]
    record = tree.nodes[node]
    if record.mover == SEVERAL:
        link_by_joint(tree, node, joint_hash(tree, flight, simulation, level), child)
    else:
        place = np.int64(record.stats) * UNIT + CHILD * record.count
        pick = flight.path[level, simulation, 1 + record.mover]
        put_int(tree.pool.words, place + pick, edge_to(tree, child))


@part
def _step_down(tree: Tree, flight: Flight, simulation: int) -> bool:
    """One simulation selects a joint move in the node where it is, and puts its edge in `leaf`.

    False where the simulation ends in its node.
    """
    node, depth = flight.leaf[simulation], flight.depth[simulation]
    record, words = tree.nodes[node], tree.pool.words
    if record.kind != OPEN or depth >= len(flight.path):
        return False
    if record.stats == NO_BLOCK and not open_statistics(tree, node):
        return False
    flight.path[depth, simulation, 0] = node
    stats = np.int64(record.stats) * UNIT
    for role in range(len(tree.best)):
        pick = select_move(tree, flight, simulation, node, role)
        flight.path[depth, simulation, 1 + role] = pick
        if role == record.mover or record.mover == SEVERAL:
            note_departure(words, stats + SPREAD * record.count + pick)
    flight.depth[simulation] = depth + 1
    edge = edge_of(tree, flight, simulation, depth)
    flight.leaf[simulation] = edge
    if edge != NO_NODE:
        prefetch(tree.nodes, node_at(edge))
    return True


@part
def fetch_statistics(tree: Tree, node: int) -> None:
    """Have a node's moves and their statistics under way, or the means only where that is much."""
    record, words = tree.nodes[node], tree.pool.words
    prefetch(words, np.int64(record.moves) * UNIT)
    if record.stats != NO_BLOCK:
        stats, count = np.int64(record.stats) * UNIT, record.count
        first, last = MEAN * count, TRIES * count
        if WORDS_PER_MOVE * count <= LINES_TO_FETCH * UNIT:
            first, last = 0, WORDS_PER_MOVE * count
        for line in range(first, last, UNIT):
            prefetch(words, stats + line)


@part
def fetch_references(tree: Tree, flight: Flight, simulation: int) -> None:
    """Have the AMAF tables of a simulation's reference nodes under way, if they are small."""
    for role in range(len(tree.best)):
        record = tree.nodes[flight.reference[simulation, role]]
        if record.amaf != NO_BLOCK and record.amaf_words <= LINES_TO_FETCH * UNIT:
            for line in range(0, record.amaf_words, UNIT):
                prefetch(tree.pool.words, np.int64(record.amaf) * UNIT + line)


@kernel
def descend(tree: Tree, flight: Flight, waiting: int) -> int:
    """Walk down with the first `waiting` simulations of the list, each from where it is.

    They end at nodes that are no longer open or, at the depth limit, anywhere.  Returns how many
    have come to a state that is not known to be in the tree; these are listed in `lists[1]`.
    """
    going, new = flight.lists[0], 0
    while waiting > 0:
        for i in range(min(waiting, AHEAD)):
            fetch_statistics(tree, flight.leaf[going[i]])
        still = 0
        for i in range(waiting):
            if i + AHEAD < waiting:
                fetch_statistics(tree, flight.leaf[going[i + AHEAD]])
                if flight.grave:
                    fetch_references(tree, flight, going[i + AHEAD])
            simulation = going[i]
            if _step_down(tree, flight, simulation):
                going[still] = simulation
                still += 1
        waiting = 0
        for i in range(still):
            simulation = going[i]
            node = follow(tree, flight.leaf[simulation])
            if node == NO_NODE:
                flight.lists[1, new] = simulation
                new += 1
            else:
                arrive(tree, flight, simulation, node)
                going[waiting] = simulation
                waiting += 1
    return new


@kernel
def take_off(tree: Tree, flight: Flight, root: int, batch: int) -> None:
    """Put the simulations at the root."""
    for simulation in range(batch):
        flight.depth[simulation] = 0
        for role in range(len(tree.best)):
            flight.reference[simulation, role] = root
        flight.lists[0, simulation] = simulation
        arrive(tree, flight, simulation, root)


@kernel
def count_edges(flight: Flight, batch: int) -> None:
    """Add the simulations' paths to the totals."""
    for simulation in range(batch):
        depth = flight.depth[simulation]
        flight.totals[EDGES] += depth
        flight.totals[DEEPEST] = max(flight.totals[DEEPEST], depth)
