"""Edges of the tree: from a node and a joint move to the node that it leads to."""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import entry, part
from ggp_agent.search.tree import (
    NO_NODE,
    NODE_BITS,
    NODE_MASK,
    STAMP_MASK,
    UNUSED,
    Tree,
    is_stale,
)


@part
def edge_to(tree: Tree, node: int) -> int:
    """What a parent keeps to find its child: the node and the low bits of its stamp."""
    return ((tree.nodes[node].stamp & STAMP_MASK) << NODE_BITS) | node


@part
def node_at(edge: int) -> int:
    """The number of the node at an edge, whether it is still there or not."""
    return edge & NODE_MASK


@entry
def follow(tree: Tree, edge: int) -> int:
    """The node at an edge; NO_NODE for no edge, or if the node is not there any more."""
    if edge < 0:
        return NO_NODE
    node = node_at(edge)
    record = tree.nodes[node]
    if record.kind == UNUSED or (record.stamp & STAMP_MASK) != (edge >> NODE_BITS):
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
