"""Stage 1, selection: simulations walk down the tree, all of them level by level.

Visits are counted on the way down, for nodes and in the exploration term, so that simulations in
flight keep apart; the means wait for the rewards (A. Liu et al.: Watch the Unobserved, 2020).  What
a level will read is fetched while the level before is being worked on.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.flight import (
    DEEPEST,
    EDGES,
    LANDED,
    MOVER,
    MOVES_THERE,
    NODE,
    PICKS,
    READY,
    ROOTS,
    STATISTICS,
    TABLE,
    Flight,
)
from ggp_agent.search.kernel import kernel, part
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
    ENTRY,
    NO_NODE,
    OPEN,
    SEVERAL,
    SPREAD,
    STEP,
    VISITS,
    Tree,
    copy_state,
    edge_by_joint,
    edge_to,
    entries,
    extend_joint,
    follow,
    link_by_joint,
    node_at,
    open_amaf,
    open_statistics,
    words_of_statistics,
)

AHEAD = 8
"""Simulations between fetching what one will read and its turn."""
LINES_TO_FETCH = 8
MOST_AMAF = 2.0**22
"""AMAF counts are halved there, for single precision does not count much further."""
VISITS_TO_CHECK = 1 << 14
"""After so many visits of a node its AMAF counts are looked at."""


@part
def arrive(tree: Tree, flight: Flight, simulation: int, node: int) -> None:
    """A simulation reaches a node."""
    record = tree.nodes[node]
    record.visits += 1
    record.step = tree.counters[STEP]
    flight.leaf[simulation] = node
    if flight.grave:
        note_reference(tree, flight, simulation, node)
        _care_for_table(tree, flight, node)


@part
def _care_for_table(tree: Tree, flight: Flight, node: int) -> None:
    """Give a node that has enough visits an AMAF table, and see that its counts don't overflow."""
    record = tree.nodes[node]
    if record.amaf == NO_BLOCK:
        if record.visits >= flight.amaf_from and record.kind == OPEN:
            open_amaf(tree, node, len(flight.order))
    elif record.visits % VISITS_TO_CHECK == 0:
        _halve_amaf(tree.pool.words, np.int64(record.amaf) * UNIT, record.amaf_words)


@part
def _halve_amaf(words, table: int, size: int) -> None:  # type: ignore[no-untyped-def]
    """Keep counts in the range in which single precision can count."""
    for entry in range(table, table + size, 2):
        if get_float(words, entry) > np.float32(MOST_AMAF):
            put_float(words, entry, get_float(words, entry) * np.float32(0.5))
            put_float(words, entry + 1, get_float(words, entry + 1) * np.float32(0.5))


@part
def note_departure(flight: Flight, words, spread: int, visits: int) -> None:  # type: ignore[no-untyped-def]
    """One more simulation is under way through a move."""
    number = get_int(words, visits) + 1
    put_int(words, visits, number)
    if number < ROOTS:
        put_float(words, spread, flight.inverse_roots[number])
    else:
        put_float(words, spread, np.float32(1.0) / np.sqrt(np.float32(number)))


@part
def joint_hash(tree: Tree, flight: Flight, simulation: int, level: int) -> np.uint64:
    """The hash of the joint move that a simulation made at a level of its path."""
    joint = np.uint64(0)
    for role in range(len(tree.best)):
        joint = extend_joint(joint, flight.path[simulation, level, PICKS + role])
    return joint


@part
def entry_of(flight: Flight, simulation: int, level: int, role: int) -> int:
    """The word at which the entry of a role's pick at a level begins."""
    block = np.int64(flight.path[simulation, level, STATISTICS]) * UNIT
    pick = flight.path[simulation, level, PICKS + role]
    return block + entries(flight.path[simulation, level, MOVES_THERE]) + ENTRY * pick


@part
def edge_of(tree: Tree, flight: Flight, simulation: int, level: int) -> int:
    """The edge by which a simulation's joint move leaves a level, NO_NODE for an unknown one."""
    mover = flight.path[simulation, level, MOVER]
    if mover == SEVERAL:
        node = flight.path[simulation, level, NODE]
        return edge_by_joint(tree, node, joint_hash(tree, flight, simulation, level))
    entry = entry_of(flight, simulation, level, mover)
    return int(get_int(tree.pool.words, entry + CHILD))


@part
def link(tree: Tree, flight: Flight, simulation: int, level: int, child: int) -> None:
    """Remember the node to which a simulation's joint move at a level leads."""
    mover = flight.path[simulation, level, MOVER]
    if mover == SEVERAL:
        node = flight.path[simulation, level, NODE]
        link_by_joint(tree, node, joint_hash(tree, flight, simulation, level), child)
    else:
        entry = entry_of(flight, simulation, level, mover)
        put_int(tree.pool.words, entry + CHILD, edge_to(tree, child))


@part
def _step_down(tree: Tree, flight: Flight, simulation: int) -> bool:
    """One simulation selects a joint move in the node where it is, and puts its edge in `leaf`.

    False where the simulation ends in its node.
    """
    node, depth = flight.leaf[simulation], flight.depth[simulation]
    record, words = tree.nodes[node], tree.pool.words
    if record.kind != OPEN or depth >= flight.path.shape[1]:
        return False
    if record.stats == NO_BLOCK and not open_statistics(tree, node):
        return False
    step, roles = flight.path[simulation, depth], len(tree.best)
    step[NODE], step[STATISTICS], step[MOVES_THERE] = node, record.stats, record.count
    step[MOVER], step[TABLE] = record.mover, record.amaf
    moves = np.int64(record.moves) * UNIT + roles + 1
    spreads = np.int64(record.stats) * UNIT + SPREAD * record.count
    for role in range(roles):
        pick = select_move(tree, flight, simulation, node, role)
        step[PICKS + role] = pick
        step[PICKS + roles + role] = get_int(words, moves + pick)
        visits = entry_of(flight, simulation, depth, role) + VISITS
        note_departure(flight, words, spreads + pick, visits)
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
        stats, size = np.int64(record.stats) * UNIT, words_of_statistics(record.count)
        if size > LINES_TO_FETCH * UNIT:
            size = 2 * record.count
        for line in range(0, size, UNIT):
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
def take_off(tree: Tree, flight: Flight, root: int, batch: int) -> int:
    """Put the simulations that are ready at the root; how many these are."""
    count = 0
    for simulation in range(batch):
        if flight.stage[simulation] == READY:
            flight.depth[simulation] = 0
            for role in range(len(tree.best)):
                flight.reference[simulation, role] = root
            flight.lists[0, count] = simulation
            count += 1
            arrive(tree, flight, simulation, root)
    return count


@kernel
def land(tree: Tree, flight: Flight, batch: int) -> None:
    """Note where the simulations have come to that were under way, and count their edges."""
    for simulation in range(batch):
        if flight.stage[simulation] == READY:
            flight.stage[simulation] = LANDED
            depth, leaf = flight.depth[simulation], flight.leaf[simulation]
            flight.length[simulation] = depth
            if leaf != NO_NODE:
                copy_state(flight.leaves, simulation, tree.states, leaf)
            flight.totals[EDGES] += depth
            flight.totals[DEEPEST] = max(flight.totals[DEEPEST], depth)
