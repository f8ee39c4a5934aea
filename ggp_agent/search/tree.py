"""The search tree as arrays: nodes, every role's move statistics, and edges.

Statistics are decoupled: in a node each role has its own list of legal moves with visits and
rewards, whatever the others chose.  A child is found through the joint move, by a hash table.

Letters: N capacity in nodes, P capacity in move entries, R roles.  Node 0 is the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from propnet.layout import I32, U64

NODES, ENTRIES = 0, 1

NEW, OPEN, TERMINAL = 0, 1, 2
"""A node was just created and has no moves yet; is open to selection; has no moves for ever."""

NO_NODE = -1

BYTES_PER_ENTRY = 16


class Tree(NamedTuple):
    """Preallocated arrays of one tree."""

    size: NDArray[np.int64]
    """(2,) nodes and move entries in use"""
    state: U64
    """(N, state_words) packed state"""
    kind: NDArray[np.uint8]
    """(N,) NEW, OPEN or TERMINAL"""
    visits: I32
    """(N,) simulations that passed or ended here, those in flight included"""
    parent: I32
    """(N,) the node from which it was first reached; parents come before their children"""
    joint: U64
    """(N,) hash of the joint move that led here from `parent`"""
    goals: NDArray[np.uint8]
    """(N, R) goals of terminal nodes"""
    first: I32
    """(N, R + 1) a role's moves in a node are entries first[n, r] to first[n, r + 1] - 1"""
    move: I32
    """(P,) number of the move among the role's moves"""
    tries: I32
    """(P,) times selected, those in flight included"""
    reward: NDArray[np.float64]
    """(P,) sum of the rewards, each in [0, 1]"""
    edges: I32
    """(power of two,) hash table of child nodes, NO_NODE where free"""


def bytes_per_node(state_words: int, roles: int, entries: int) -> int:
    """Bytes that a node with this many move entries takes."""
    return (
        8 * state_words + 1 + 4 + 4 + 8 + roles + 4 * (roles + 1) + BYTES_PER_ENTRY * entries + 16
    )


def new_tree(nodes: int, entries: int, state_words: int, roles: int) -> Tree:
    """An empty tree with room for `nodes` nodes and `entries` moves of them."""
    slots = 1 << (2 * nodes - 1).bit_length()
    return Tree(
        size=np.zeros(2, np.int64),
        state=np.empty((nodes, state_words), np.uint64),
        kind=np.empty(nodes, np.uint8),
        visits=np.empty(nodes, np.int32),
        parent=np.empty(nodes, np.int32),
        joint=np.empty(nodes, np.uint64),
        goals=np.empty((nodes, roles), np.uint8),
        first=np.empty((nodes, roles + 1), np.int32),
        move=np.empty(entries, np.int32),
        tries=np.empty(entries, np.int32),
        reward=np.empty(entries, np.float64),
        edges=np.full(slots, NO_NODE, np.int32),
    )


@njit(cache=True, nogil=True)
def extend_joint(joint: int, move: int) -> np.uint64:
    """The hash of a joint move, role by role; start with 0."""
    key = (np.uint64(joint) ^ np.uint64(move + 1)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(31))


@njit(cache=True, nogil=True)
def _slot(tree: Tree, parent: int, joint: np.uint64) -> int:
    """The slot of an edge, or the free one where it would go."""
    mask = len(tree.edges) - 1
    key = (joint ^ np.uint64(parent)) * np.uint64(0xD6E8FEB86659FD93)
    slot = np.int64((key ^ (key >> np.uint64(32))) & np.uint64(mask))
    while True:
        child = tree.edges[slot]
        if child == NO_NODE or (tree.parent[child] == parent and tree.joint[child] == joint):
            return int(slot)
        slot = (slot + 1) & mask


@njit(cache=True, nogil=True)
def find_child(tree: Tree, parent: int, joint: np.uint64) -> int:
    """The child by a joint move, or NO_NODE."""
    return tree.edges[_slot(tree, parent, joint)]


@njit(cache=True, nogil=True)
def add_node(tree: Tree, parent: int, joint: np.uint64) -> int:
    """A new node, without state and moves yet; the caller has seen to the room."""
    node = tree.size[NODES]
    tree.size[NODES] += 1
    tree.kind[node] = NEW
    tree.visits[node] = 0
    tree.parent[node] = parent
    tree.joint[node] = joint
    if parent != NO_NODE:
        tree.edges[_slot(tree, parent, joint)] = node
    return node


@njit(cache=True, nogil=True)
def clear(tree: Tree, state: U64) -> None:
    """Empty the tree and make `state` (state_words,) its root."""
    tree.size[:] = 0
    tree.edges[:] = NO_NODE
    root = add_node(tree, NO_NODE, np.uint64(0))
    tree.state[root] = state


@njit(cache=True, nogil=True)
def keep_subtree(tree: Tree, root: int) -> None:
    """Make `root` node 0 and drop what can't be reached from it; the arrays are compacted."""
    nodes, roles = tree.size[NODES], tree.goals.shape[1]
    number = np.full(nodes, NO_NODE, np.int32)
    kept, entries = 0, 0
    tree.edges[:] = NO_NODE
    for node in range(root, nodes):
        if node != root and (tree.parent[node] < root or number[tree.parent[node]] < 0):
            continue
        number[node] = kept
        tree.state[kept] = tree.state[node]
        tree.kind[kept] = tree.kind[node]
        tree.visits[kept] = tree.visits[node]
        tree.joint[kept] = tree.joint[node]
        tree.goals[kept] = tree.goals[node]
        tree.parent[kept] = NO_NODE if node == root else number[tree.parent[node]]
        if tree.kind[node] == OPEN:
            low, high = tree.first[node, 0], tree.first[node, roles]
            for role in range(roles + 1):
                tree.first[kept, role] = tree.first[node, role] - low + entries
            for i in range(high - low):
                tree.move[entries + i] = tree.move[low + i]
                tree.tries[entries + i] = tree.tries[low + i]
                tree.reward[entries + i] = tree.reward[low + i]
            entries += high - low
        if node != root:
            tree.edges[_slot(tree, tree.parent[kept], tree.joint[kept])] = kept
        kept += 1
    tree.size[NODES], tree.size[ENTRIES] = kept, entries
