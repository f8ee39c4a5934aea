"""Stage 1, selection: simulations walk down the tree, all of them level by level.

Visits are counted on the way down, for nodes and in the exploration term, so that simulations in
flight keep apart; the means wait for the rewards: virtual visits, as in WU-UCT (A. Liu et al.,
"Watch the Unobserved", 2020), not virtual losses.  What a level will read is fetched while the
level before is being worked on.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.arrays import DEEPEST, EDGES, Arrays
from ggp_agent.search.blocks import entries, open_statistics, words_of_statistics
from ggp_agent.search.edges import (
    edge_by_joint,
    edge_to,
    extend_joint,
    follow,
    link_by_joint,
    node_at,
)
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.locks import SHARED, STRUCTURE, acquire, add_at, release_lock
from ggp_agent.search.memory import NO_BLOCK, UNIT, get_int, prefetch, put_float, put_int
from ggp_agent.search.roots import inverse_root
from ggp_agent.search.selection import select_move
from ggp_agent.search.slots import (
    AMAF_TABLE,
    AT_LEAF,
    MOVE_COUNT,
    MOVER,
    NODE,
    PICKS,
    SELECTING,
    STATISTICS,
)
from ggp_agent.search.strategies import dispatch
from ggp_agent.search.tree import (
    CHILD,
    ENTRY,
    INVERSE_ROOT,
    NO_NODE,
    OPEN,
    SEVERAL,
    STEP,
    VISITS,
    Tree,
    copy_state,
    count_visit,
)

AHEAD = 8
"""Simulations between fetching what one will read and its turn."""
LINES_TO_FETCH = 8


@part
def arrive(tree: Tree, arrays: Arrays, slot: int, node: int) -> None:
    """A simulation reaches a node."""
    record = tree.nodes[node]
    count_visit(tree, node)
    record.step = tree.counters[STEP]
    arrays.slots.leaf[slot] = node
    dispatch.arrive(tree, arrays, slot, node)


@part
def _count_visit(tree: Tree, arrays: Arrays, root: int, visits: int) -> None:
    """One more simulation is under way through a move: a virtual visit until it is completed."""
    words = tree.pool.words
    if tree.locks[SHARED] != 0:
        number = add_at(words, 4 * visits, 1) + 1
    else:
        number = get_int(words, visits) + 1
        put_int(words, visits, number)
    put_float(words, root, inverse_root(arrays.roots, number))


@part
def joint_hash(tree: Tree, arrays: Arrays, slot: int, level: int) -> np.uint64:
    """The hash of the joint move that a simulation made at a level of its path."""
    joint = np.uint64(0)
    for role in range(len(tree.best)):
        joint = extend_joint(joint, arrays.slots.path[slot, level, PICKS + role])
    return joint


@part
def entry_of(arrays: Arrays, slot: int, level: int, role: int) -> int:
    """The word at which the entry of a role's pick at a level begins."""
    path = arrays.slots.path
    block = np.int64(path[slot, level, STATISTICS]) * UNIT
    return block + entries(path[slot, level, MOVE_COUNT]) + ENTRY * path[slot, level, PICKS + role]


@part
def edge_of(tree: Tree, arrays: Arrays, slot: int, level: int) -> int:
    """The edge by which a simulation's joint move leaves a level, NO_NODE for an unknown one."""
    mover = arrays.slots.path[slot, level, MOVER]
    if mover == SEVERAL:
        node = arrays.slots.path[slot, level, NODE]
        joint = joint_hash(tree, arrays, slot, level)
        acquire(tree.locks, STRUCTURE)
        edge = edge_by_joint(tree, node, joint)
        release_lock(tree.locks, STRUCTURE)
        return edge
    entry = entry_of(arrays, slot, level, mover)
    return int(get_int(tree.pool.words, entry + CHILD))


@part
def link(tree: Tree, arrays: Arrays, slot: int, level: int, child: int) -> None:
    """Remember the node to which a simulation's joint move at a level leads."""
    mover = arrays.slots.path[slot, level, MOVER]
    if mover == SEVERAL:
        node = arrays.slots.path[slot, level, NODE]
        link_by_joint(tree, node, joint_hash(tree, arrays, slot, level), child)
    else:
        entry = entry_of(arrays, slot, level, mover)
        put_int(tree.pool.words, entry + CHILD, edge_to(tree, child))


@part
def _step_down(tree: Tree, arrays: Arrays, slot: int) -> bool:
    """One simulation selects a joint move in the node where it is, and puts its edge in `leaf`.

    False where the simulation ends in its node.
    """
    slots = arrays.slots
    node, depth = slots.leaf[slot], slots.depth[slot]
    record, words = tree.nodes[node], tree.pool.words
    if record.kind != OPEN or depth >= slots.path.shape[1]:
        return False
    if record.stats == NO_BLOCK and not open_statistics(tree, node):
        return False
    step, roles = slots.path[slot, depth], len(tree.best)
    step[NODE], step[STATISTICS], step[MOVE_COUNT] = node, record.stats, record.count
    step[MOVER], step[AMAF_TABLE] = record.mover, record.amaf
    moves = np.int64(record.moves) * UNIT + roles + 1
    inverse_roots = np.int64(record.stats) * UNIT + INVERSE_ROOT * record.count
    for role in range(roles):
        pick = select_move(tree, arrays, slot, node, role)
        step[PICKS + role] = pick
        step[PICKS + roles + role] = get_int(words, moves + pick)
        visits = entry_of(arrays, slot, depth, role) + VISITS
        _count_visit(tree, arrays, inverse_roots + pick, visits)
    slots.depth[slot] = depth + 1
    edge = edge_of(tree, arrays, slot, depth)
    slots.leaf[slot] = edge
    if edge != NO_NODE:
        prefetch(tree.nodes, node_at(tree, edge))
    return True


@part
def fetch_statistics(tree: Tree, node: int) -> None:
    """Have a node's moves and their statistics under way, or the means only where that is much."""
    record, words = tree.nodes[node], tree.pool.words
    prefetch(words, np.int64(record.moves) * UNIT)
    if record.stats != NO_BLOCK:
        stats, size = np.int64(record.stats) * UNIT, words_of_statistics(tree, record.count)
        if size > LINES_TO_FETCH * UNIT:
            size = 2 * record.count
        for line in range(0, size, UNIT):
            prefetch(words, stats + line)


@kernel
def descend(tree: Tree, arrays: Arrays, waiting: int) -> int:
    """Walk down with the first `waiting` simulations of the list, each from where it is.

    They end at nodes that are no longer open or, at the depth limit, anywhere.  Returns how many
    have come to a state that is not known to be in the tree; these are listed in `waiting[1]`.
    """
    going, new = arrays.slots.waiting[0], 0
    while waiting > 0:
        for i in range(min(waiting, AHEAD)):
            fetch_statistics(tree, arrays.slots.leaf[going[i]])
        still = 0
        for i in range(waiting):
            if i + AHEAD < waiting:
                fetch_statistics(tree, arrays.slots.leaf[going[i + AHEAD]])
                dispatch.fetch(tree, arrays, going[i + AHEAD], LINES_TO_FETCH * UNIT)
            slot = going[i]
            if _step_down(tree, arrays, slot):
                going[still] = slot
                still += 1
        waiting = 0
        for i in range(still):
            slot = going[i]
            node = follow(tree, arrays.slots.leaf[slot])
            if node == NO_NODE:
                arrays.slots.waiting[1, new] = slot
                new += 1
            else:
                arrive(tree, arrays, slot, node)
                going[waiting] = slot
                waiting += 1
    return new


@kernel
def start_at_root(tree: Tree, arrays: Arrays, simulations: int) -> int:
    """Put the simulations that begin at their roots; how many these are."""
    count = 0
    for slot in range(simulations):
        if arrays.slots.stage[slot] == SELECTING:
            arrays.slots.depth[slot], root = 0, arrays.slots.root[slot]
            dispatch.begin_simulation(arrays, slot, root)
            arrays.slots.waiting[0, count] = slot
            count += 1
            arrive(tree, arrays, slot, root)
    return count


@kernel
def stop_at_leaves(tree: Tree, arrays: Arrays, simulations: int) -> None:
    """Note where the simulations have come to that walked down, and count their edges."""
    for slot in range(simulations):
        if arrays.slots.stage[slot] == SELECTING:
            arrays.slots.stage[slot] = AT_LEAF
            depth, leaf = arrays.slots.depth[slot], arrays.slots.leaf[slot]
            arrays.slots.length[slot] = depth
            if leaf != NO_NODE:
                copy_state(arrays.slots.states, slot, tree.states, leaf)
            arrays.totals[EDGES] += depth
            arrays.totals[DEEPEST] = max(arrays.totals[DEEPEST], depth)
