"""Edges of the tree: from a node and a joint move to the node that it leads to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp_agent.search.kernel import entry, part
from ggp_agent.search.tree import (
    EDGE_BITS,
    NO_NODE,
    UNUSED,
    Tree,
    is_stale,
)


@part
def edge_to(tree: Tree, node: int) -> int:
    """What a parent keeps to find its child: the node and the low bits of its stamp."""
    return (_mark(tree, node) << tree.node_bits) | node


@part
def _mark(tree: Tree, node: int) -> int:
    """The low bits of a node's stamp, as many as an edge has room for."""
    return tree.nodes[node].stamp & ((1 << (EDGE_BITS - tree.node_bits)) - 1)


@part
def node_at(tree: Tree, edge: int) -> int:
    """The number of the node at an edge, whether it is still there or not."""
    return edge & ((1 << tree.node_bits) - 1)


@entry
def follow(tree: Tree, edge: int) -> int:
    """The node at an edge; NO_NODE for no edge, or if the node is not there any more."""
    if edge < 0:
        return NO_NODE
    node = node_at(tree, edge)
    if tree.nodes[node].kind == UNUSED or _mark(tree, node) != (edge >> tree.node_bits):
        return NO_NODE
    return NO_NODE if is_stale(tree, node) else node


def joint_with(joint: np.uint64, move: int) -> np.uint64:
    """The hash of a joint move, role by role; start with 0."""
    key = (joint ^ np.uint64(move + 1)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(31))


extend_joint: Any = part(joint_with)


@part
def find_edge(tree: Tree, parent: int, joint: np.uint64) -> int:
    """The slot of an edge by a joint move, or the one where it is to go.

    Four slots are looked at; where all are taken, the first by whose edge nothing is proven is
    given up, or else the first: it will be found again through the state that it leads to.
    """
    mask = len(tree.edges) - 1
    key = (joint ^ np.uint64(parent)) * np.uint64(0xD6E8FEB86659FD93)
    first = np.int64((key >> np.uint64(30)) & np.uint64(mask))
    free, is_taken = first, True
    for i in range(3, -1, -1):
        slot = (first + i) & mask
        entry = tree.edges[slot]
        valid = entry.stamp == tree.nodes[parent].stamp
        if valid and entry.parent == parent and entry.joint == joint:
            return int(slot)
        if entry.parent == NO_NODE or entry.stamp != tree.nodes[entry.parent].stamp:
            free, is_taken = slot, False
        elif is_taken and not _is_proven(tree, slot):
            free = slot
    return int(free)


@part
def _is_proven(tree: Tree, slot: int) -> bool:
    """Whether anything is proven of what an edge of several roles' moves leads to."""
    for role in range(len(tree.best)):
        scores = tree.edge_scores[slot, role]
        if scores[0] > 0 or scores[1] < tree.best[role]:
            return True
    return False


@part
def edge_by_joint(tree: Tree, parent: int, joint: np.uint64) -> int:
    """The edge by a joint move where several roles move, or NO_NODE."""
    slot = slot_by_joint(tree, parent, joint)
    return int(tree.edges[slot].edge) if slot != NO_NODE else NO_NODE


@entry
def slot_by_joint(tree: Tree, parent: int, joint: np.uint64) -> int:
    """The slot of the edge by a joint move where several roles move, or NO_NODE."""
    slot = find_edge(tree, parent, joint)
    entry = tree.edges[slot]
    known = entry.parent == parent and entry.joint == joint
    return int(slot) if known and entry.stamp == tree.nodes[parent].stamp else NO_NODE


@part
def link_by_joint(tree: Tree, parent: int, joint: np.uint64, child: int) -> None:
    """Remember the child by a joint move where several roles move."""
    slot = slot_by_joint(tree, parent, joint)
    if slot == NO_NODE:
        slot = find_edge(tree, parent, joint)
        for role in range(len(tree.best)):
            tree.edge_scores[slot, role, 0], tree.edge_scores[slot, role, 1] = 0, tree.best[role]
    entry = tree.edges[slot]
    entry.parent, entry.joint = parent, joint
    entry.stamp, entry.edge = tree.nodes[parent].stamp, edge_to(tree, child)
