"""Nodes of the tree: found by their states, added, and recycled where room is needed."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.blocks import words_of_moves, words_of_statistics
from ggp_agent.search.kernel import entry, kernel, part
from ggp_agent.search.memory import NO_BLOCK, ORDERS, prefetch, release
from ggp_agent.search.proofs import words_of_proofs
from ggp_agent.search.tree import (
    EVER,
    FREE_LIST,
    FRESH,
    HAND,
    LIMIT,
    MOST_SPARE,
    NO_NODE,
    OPEN,
    RECYCLED,
    SHORT,
    SPARE,
    STEP,
    UNUSED,
    USED,
    Tree,
    is_stale,
)
from propnet.layout import U64


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
    record.proofs = NO_BLOCK
    for word in range(states.shape[1]):
        tree.states[node, word] = states[row, word]
    for role in range(len(tree.best)):
        tree.scores[node, role, 0], tree.scores[node, role, 1] = 0, tree.best[role]
    return int(node)


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
        release(tree.pool, record.stats, words_of_statistics(tree, record.count))
    if record.moves != NO_BLOCK:
        release(tree.pool, record.moves, words_of_moves(tree, record.count))
    if record.amaf != NO_BLOCK:
        release(tree.pool, record.amaf, record.amaf_words)
    if record.proofs != NO_BLOCK:
        release(tree.pool, record.proofs, words_of_proofs(tree, record.count))
    record.kind, record.stamp = UNUSED, record.stamp + 1
    record.chain = tree.counters[FREE_LIST]
    tree.counters[FREE_LIST] = node
    tree.counters[USED] -= 1
    tree.counters[RECYCLED] += 1
    tree.counters[EVER] += 1


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
def lacks_room(tree: Tree, nodes: int, more: int) -> bool:
    """Whether fewer nodes, or a smaller part of the pool, are free than there have to be.

    That part is doubled `more` times.
    """
    counters = tree.counters
    units = len(tree.pool.order) >> (5 - min(counters[SPARE] + more, MOST_SPARE))
    return len(tree.nodes) - counters[USED] < nodes or tree.pool.free[ORDERS] < units


@entry
def make_room(tree: Tree, root: int, nodes: int, more: int) -> None:
    """Recycle until there is room again (see `lacks_room`), or everything was looked at.

    A hand goes round the nodes, which were added in the order of their age, and takes those that
    cost nothing to lose, for the game has left them behind or their scores are known and kept with
    the moves that lead there; and those that have few visits: one at first, twice as many after a
    round that did not find enough.
    """
    counters, seen = tree.counters, 0
    while lacks_room(tree, nodes, more) and seen < counters[FRESH]:
        hand = counters[HAND]
        counters[HAND] = hand + 1
        seen += 1
        if hand + 1 >= counters[FRESH]:
            counters[HAND] = 0
        record = tree.nodes[hand]
        useless = is_stale(tree, hand) or record.kind != OPEN or record.visits <= counters[LIMIT]
        if useless and record.kind != UNUSED and hand != root:
            recycle(tree, hand)
    if seen > 0 and seen >= counters[FRESH]:
        counters[LIMIT] *= 2
