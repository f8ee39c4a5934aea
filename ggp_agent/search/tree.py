"""The search tree: nodes by state, every role's move statistics, and edges.

It is a transposition table over full states: a state has one node, however it is reached.
Statistics are decoupled: in a node each role has its own legal moves with visits and rewards,
whatever the others chose.  Nodes and blocks of memory are recycled one by one; an edge to a node
that was recycled is recognised by the node's stamp, so nobody has to look for it.

Letters: N capacity in nodes, R roles, m legal moves of all roles in a node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import config
from numpy.typing import NDArray

from ggp_agent.search.kernel import entry, kernel, part
from ggp_agent.search.memory import (
    NO_BLOCK,
    ORDERS,
    UNIT,
    Pool,
    aligned,
    allocate,
    empty,
    new_pool,
    prefetch,
    put_double,
    put_float,
    put_int,
    release,
)
from ggp_agent.search.scoring import LANES as GROUP
from propnet.layout import I32, U64

FREE, OPEN, TERMINAL, SOLVED = 0, 1, 2, 3
"""Kinds of nodes: not in use; open to selection; the end of the game; all scores are proven."""

NO_NODE = -1
SEVERAL = -1
"""In place of the role that moves: more than one role has a choice."""

STEPS_KEPT = 2
"""A node that was not touched for so many steps of the game is dropped."""

NODE_BITS = 22
MAX_NODES = 4_000_000
_NODE_MASK = (1 << NODE_BITS) - 1
_STAMP_MASK = (1 << (31 - NODE_BITS)) - 1

USED, FRESH, FREE_LIST, STEP, HAND, LIMIT, RECYCLED, GOAL_SUM, SHORT, SPARE = range(10)
"""What `counters` holds: nodes in use; nodes that were ever in use; the first of those to use
again; steps of the game; where recycling goes on; up to how many visits it takes; nodes it took;
what two rivals' goals have always added up to, ANY_SUM before the first end of a game, NO_SUM where
they have not, or there are not two roles; blocks that could not be had since room was made; and how
often a 32nd of the pool, the part that is kept free, was doubled for that."""

ANY_SUM, NO_SUM = -1, -2
MOST_SPARE = 4
"""Half of the pool is free then."""

MEAN, SPREAD = 0, 1
"""Where statistics that selection scans begin in a node's block, in multiples of m: the mean and
1 / sqrt(visits) (floats; 0 for a move that was never selected)."""

ENTRY = 4
TOTAL, VISITS, CHILD = 0, 2, 3
"""Behind them every move has an entry of so many words, so that what is written of a move lies
together: the sum of the rewards (double), visits, those in flight included, and the edge where one
role moves."""

CLOSED = -1e30
"""In place of the mean of a move that is proven to be worse than another."""

node_type = np.dtype(
    [
        ("hash", np.uint64),
        ("chain", np.int32),  # next node of the bucket, or of the list of free nodes
        ("stamp", np.int32),  # counts how often the node was recycled
        ("visits", np.int32),  # simulations that passed or ended here, those in flight included
        ("step", np.int32),  # step of the game at which it was last touched
        ("kind", np.int32),
        ("mover", np.int32),  # the only role with more than one move (0 if none), or SEVERAL
        ("count", np.int32),  # m
        ("moves", np.int32),  # block: R + 1 first moves of the roles, m numbers of moves, zeros
        ("stats", np.int32),  # block, from the second visit on
        ("amaf", np.int32),  # block: (tries, sum of rewards) of every move of the game, floats
        ("amaf_words", np.int32),  # size of that block
        ("spare0", np.int32),  # up to a cache line
        ("spare1", np.int32),
        ("spare2", np.int32),
    ]
)
entry_type = np.dtype([("total", np.float64), ("visits", np.int32), ("child", np.int32)])
edge_type = np.dtype(
    [
        ("joint", np.uint64),
        ("parent", np.int32),
        ("stamp", np.int32),
        ("edge", np.int32),
        ("spare", np.int32),
    ]
)


class Tree(NamedTuple):
    """Preallocated arrays of one tree."""

    nodes: NDArray[Any]
    """(N,) of node_type"""
    states: U64
    """(N, state_words) packed states"""
    scores: NDArray[np.uint8]
    """(N, R, 2) what a role gets at least and at most; the goals of terminal nodes"""
    best: NDArray[np.uint8]
    """(R,) the highest goal that a role can reach"""
    buckets: I32
    """(power of two,) first node of every hash, NO_NODE where there is none"""
    edges: NDArray[Any]
    """(power of two,) of edge_type: a cache of the edges where several roles move"""
    pool: Pool
    counters: NDArray[np.int64]
    """(10,) see USED"""


def _records(array: NDArray[Any]) -> NDArray[Any]:
    """Where numba is off, an array whose fields are attributes of its items, as they are to it."""
    return array.view(np.recarray) if config.DISABLE_JIT else array


def bytes_per_node(state_words: int, roles: int) -> int:
    """Bytes that a node takes beside its blocks in the pool."""
    return node_type.itemsize + 8 * state_words + 2 * roles + 8 + edge_type.itemsize


def new_tree(nodes: int, units: int, state_words: int, best: NDArray[np.uint8]) -> Tree:
    """An empty tree for `nodes` nodes, with a pool of `units` units."""
    roles, slots = len(best), 1 << (nodes - 1).bit_length()
    tree = Tree(
        nodes=_records(aligned(nodes, node_type)),
        states=aligned(nodes * state_words, np.dtype(np.uint64)).reshape(nodes, state_words),
        scores=np.empty((nodes, roles, 2), np.uint8),
        best=best,
        buckets=np.full(slots, NO_NODE, np.int32),
        edges=_records(np.empty(max(16, slots // 4), edge_type)),
        pool=new_pool(units),
        counters=np.zeros(10, np.int64),
    )
    clear(tree)
    return tree


def clear(tree: Tree) -> None:
    """Empty the tree."""
    tree.buckets[:] = NO_NODE
    tree.edges["parent"] = NO_NODE
    tree.counters[:] = 0
    tree.counters[FREE_LIST] = NO_NODE
    tree.counters[LIMIT] = 1
    tree.counters[GOAL_SUM] = ANY_SUM
    empty(tree.pool)


@part
def copy_state(to: U64, row: int, source: U64, place: int) -> None:
    """Copy a packed state from a row of one array to one of another."""
    for word in range(to.shape[1]):
        to[row, word] = source[place, word]


@part
def hash_of(states: U64, row: int) -> np.uint64:
    """A hash of the packed state in a row."""
    key = np.uint64(0x9E3779B97F4A7C15)
    for word in range(states.shape[1]):
        key = (key ^ states[row, word]) * np.uint64(0xD6E8FEB86659FD93)
        key ^= key >> np.uint64(32)
    return key * np.uint64(0x9E3779B97F4A7C15)


@part
def _bucket(tree: Tree, key: np.uint64) -> int:
    return int((key >> np.uint64(20)) & np.uint64(len(tree.buckets) - 1))


@part
def is_stale(tree: Tree, node: int) -> bool:
    """Whether the game has left a node behind: it counts as dropped."""
    return tree.nodes[node].step < tree.counters[STEP] - STEPS_KEPT


@part
def fetch_bucket(tree: Tree, key: np.uint64) -> None:
    """Have the bucket of a hash under way."""
    prefetch(tree.buckets, _bucket(tree, key))


@part
def fetch_node(tree: Tree, key: np.uint64) -> None:
    """Have the first node in the bucket of a hash under way."""
    node = tree.buckets[_bucket(tree, key)]
    if node != NO_NODE:
        prefetch(tree.nodes, node)
        prefetch(tree.states, np.int64(node) * tree.states.shape[1])


@part
def find_node(tree: Tree, states: U64, row: int, key: np.uint64) -> int:
    """The node of a state whose hash is `key`, or NO_NODE."""
    node = tree.buckets[_bucket(tree, key)]
    while node != NO_NODE:
        if tree.nodes[node].hash == key:
            same = True
            for word in range(states.shape[1]):
                same = same and tree.states[node, word] == states[row, word]
            if same:
                if is_stale(tree, node):
                    recycle(tree, node)
                    return NO_NODE
                return node
        node = tree.nodes[node].chain
    return NO_NODE


@part
def add_node(tree: Tree, states: U64, row: int, key: np.uint64) -> int:
    """A new node for a state that has none, without moves yet; NO_NODE if there is no room."""
    counters = tree.counters
    node = counters[FREE_LIST]
    if node != NO_NODE:
        counters[FREE_LIST] = tree.nodes[node].chain
    elif counters[FRESH] < len(tree.nodes):
        node = counters[FRESH]
        counters[FRESH] += 1
        tree.nodes[node].stamp = 0
    else:
        return NO_NODE
    counters[USED] += 1
    record, bucket = tree.nodes[node], _bucket(tree, key)
    record.hash, record.chain = key, tree.buckets[bucket]
    tree.buckets[bucket] = node
    record.visits, record.step, record.kind = 0, counters[STEP], OPEN
    record.mover, record.count = 0, 0
    record.moves, record.stats, record.amaf = NO_BLOCK, NO_BLOCK, NO_BLOCK
    for word in range(states.shape[1]):
        tree.states[node, word] = states[row, word]
    for role in range(len(tree.best)):
        tree.scores[node, role, 0], tree.scores[node, role, 1] = 0, tree.best[role]
    return int(node)


@part
def words_of_moves(tree: Tree, count: int) -> int:
    """Size of a node's block of moves; zeros at its end make up for whole groups of moves."""
    return len(tree.best) + 1 + count + GROUP - 1


def first_entry(count: int) -> int:
    """Where the entries of a node with so many moves begin in its block: at 16 bytes."""
    return (2 * count + 3) & ~3


entries: Any = part(first_entry)


@part
def words_of_statistics(count: int) -> int:
    """Size of a node's block of statistics."""
    return entries(count) + ENTRY * count


def statistics(tree: Tree, node: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """What a node knows of its moves, as views: (2, m) means and spreads; (m,) of entry_type."""
    record = tree.nodes[node]
    start, count = int(record["stats"]) * UNIT, int(record["count"])
    scanned = tree.pool.words[start : start + 2 * count].view(np.float32)
    start += first_entry(count)
    entries_there = tree.pool.words[start : start + ENTRY * count].view(entry_type)
    return scanned.reshape(2, count), entries_there


@kernel
def recycle(tree: Tree, node: int) -> None:
    """Take a node out of the table and free what it holds."""
    record, bucket = tree.nodes[node], _bucket(tree, tree.nodes[node].hash)
    if tree.buckets[bucket] == node:
        tree.buckets[bucket] = record.chain
    else:
        other = tree.buckets[bucket]
        while tree.nodes[other].chain != node:
            other = tree.nodes[other].chain
        tree.nodes[other].chain = record.chain
    if record.stats != NO_BLOCK:
        release(tree.pool, record.stats, words_of_statistics(record.count))
    if record.moves != NO_BLOCK:
        release(tree.pool, record.moves, words_of_moves(tree, record.count))
    if record.amaf != NO_BLOCK:
        release(tree.pool, record.amaf, record.amaf_words)
    record.kind, record.stamp = FREE, record.stamp + 1
    record.chain = tree.counters[FREE_LIST]
    tree.counters[FREE_LIST] = node
    tree.counters[USED] -= 1
    tree.counters[RECYCLED] += 1


@part
def spare_more(tree: Tree) -> None:
    """Have more of the pool kept free where a block could not be had.

    What is free may be in pieces that are too small.
    """
    counters = tree.counters
    if counters[SHORT] > 0:
        counters[SHORT] = 0
        counters[SPARE] = min(counters[SPARE] + 1, MOST_SPARE)


@part
def lacks_room(tree: Tree, nodes: int) -> bool:
    """Whether fewer nodes, or a smaller part of the pool, are free than there have to be."""
    counters = tree.counters
    units = len(tree.pool.order) >> (5 - counters[SPARE])
    return len(tree.nodes) - counters[USED] < nodes or tree.pool.free[ORDERS] < units


@kernel
def make_room(tree: Tree, root: int, nodes: int) -> None:
    """Recycle until there is room again (see `lacks_room`), or everything was looked at.

    A hand goes round the nodes, which were added in the order of their age, and takes those that
    the game has left behind or that have few visits: one at first, twice as many after a round
    that did not find enough.
    """
    counters, seen = tree.counters, 0
    while lacks_room(tree, nodes) and seen < counters[FRESH]:
        hand = counters[HAND]
        counters[HAND] = hand + 1
        seen += 1
        if hand + 1 >= counters[FRESH]:
            counters[HAND] = 0
        record = tree.nodes[hand]
        useless = is_stale(tree, hand) or record.visits <= counters[LIMIT]
        if useless and record.kind != FREE and hand != root:
            recycle(tree, hand)
    if seen > 0 and seen >= counters[FRESH]:
        counters[LIMIT] *= 2


@part
def note_goals(tree: Tree, node: int, chance: int) -> None:
    """Look whether a terminal node's goals add up to what others' do."""
    total, rivals = 0, 0
    for role in range(len(tree.best)):
        if role != chance:
            rivals += 1
            total += tree.scores[node, role, 0]
    if rivals != 2:
        tree.counters[GOAL_SUM] = NO_SUM
    elif tree.counters[GOAL_SUM] == ANY_SUM:
        tree.counters[GOAL_SUM] = total
    elif tree.counters[GOAL_SUM] != total:
        tree.counters[GOAL_SUM] = NO_SUM


@part
def edge_to(tree: Tree, node: int) -> int:
    """What a parent keeps to find its child: the node and the low bits of its stamp."""
    return ((tree.nodes[node].stamp & _STAMP_MASK) << NODE_BITS) | node


@part
def node_at(edge: int) -> int:
    """The number of the node at an edge, whether it is still there or not."""
    return edge & _NODE_MASK


@entry
def follow(tree: Tree, edge: int) -> int:
    """The node at an edge; NO_NODE for no edge, or if the node is not there any more."""
    if edge < 0:
        return NO_NODE
    node = node_at(edge)
    record = tree.nodes[node]
    if record.kind == FREE or (record.stamp & _STAMP_MASK) != (edge >> NODE_BITS):
        return NO_NODE
    return NO_NODE if is_stale(tree, node) else node


@part
def extend_joint(joint: np.uint64, move: int) -> np.uint64:
    """The hash of a joint move, role by role; start with 0."""
    key = (joint ^ np.uint64(move + 1)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(31))


@part
def find_edge(tree: Tree, parent: int, joint: np.uint64) -> int:
    """The slot of an edge by a joint move, or the one where it is to go.

    Four slots are looked at; where all are taken, the first is given up: the edge will be found
    again through the state that it leads to.
    """
    mask = len(tree.edges) - 1
    key = (joint ^ np.uint64(parent)) * np.uint64(0xD6E8FEB86659FD93)
    first = np.int64((key >> np.uint64(30)) & np.uint64(mask))
    free = first
    for i in range(3, -1, -1):
        slot = (first + i) & mask
        entry = tree.edges[slot]
        valid = entry.stamp == tree.nodes[parent].stamp
        if valid and entry.parent == parent and entry.joint == joint:
            return int(slot)
        if entry.parent == NO_NODE or entry.stamp != tree.nodes[entry.parent].stamp:
            free = slot
    return int(free)


@part
def edge_by_joint(tree: Tree, parent: int, joint: np.uint64) -> int:
    """The edge by a joint move where several roles move, or NO_NODE."""
    entry = tree.edges[find_edge(tree, parent, joint)]
    if entry.parent != parent or entry.joint != joint:
        return NO_NODE
    if entry.stamp != tree.nodes[parent].stamp:
        return NO_NODE
    return int(entry.edge)


@part
def link_by_joint(tree: Tree, parent: int, joint: np.uint64, child: int) -> None:
    """Remember the child by a joint move where several roles move."""
    entry = tree.edges[find_edge(tree, parent, joint)]
    entry.parent, entry.joint = parent, joint
    entry.stamp, entry.edge = tree.nodes[parent].stamp, edge_to(tree, child)


@part
def open_statistics(tree: Tree, node: int) -> bool:
    """Give an open node its statistics; False if there is no room."""
    record = tree.nodes[node]
    count = record.count
    block = allocate(tree.pool, words_of_statistics(count))
    if block == NO_BLOCK:
        tree.counters[SHORT] += 1
        return False
    words, base = tree.pool.words, np.int64(block) * UNIT
    for i in range(2 * count):
        put_float(words, base + i, 0.0)
    for i in range(count):
        entry = base + entries(count) + ENTRY * i
        put_double(words, entry + TOTAL, 0.0)
        put_int(words, entry + VISITS, 0)
        put_int(words, entry + CHILD, NO_NODE)
    record.stats = block
    return True


@part
def open_amaf(tree: Tree, node: int, moves: int) -> None:
    """Give a node its AMAF table for so many moves, if there is room."""
    block = allocate(tree.pool, 2 * moves)
    if block != NO_BLOCK:
        base = np.int64(block) * UNIT
        for i in range(2 * moves):
            put_float(tree.pool.words, base + i, 0.0)
        tree.nodes[node].amaf, tree.nodes[node].amaf_words = block, 2 * moves
