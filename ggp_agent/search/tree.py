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

from ggp_agent.search.kernel import part
from ggp_agent.search.locks import SHARED, add_at, new_locks
from ggp_agent.search.memory import Pool, aligned, empty, new_pool
from propnet.layout import I32, U64

UNUSED, OPEN, TERMINAL, SOLVED = 0, 1, 2, 3
"""Kinds of nodes: not in use; open to selection; the end of the game; all scores are proven."""

NO_NODE = -1
SEVERAL = -1
"""In place of the role that moves: more than one role has a choice."""

STEPS_KEPT = 2
"""A node that was not touched for so many steps of the game is dropped."""

MAX_NODES = 4_000_000
EDGE_BITS = 31
"""Of these an edge has as many as the tree's nodes need for the node's number, the others for the
low bits of its stamp: it can be mistaken only after 2^31 nodes were recycled."""
MOST_RECYCLED = 2**30
"""A search that has recycled so many begins with an empty tree at the next state."""

(USED, FRESH, FREE_LIST, STEP, HAND, LIMIT, RECYCLED, GOAL_SUM, SHORT, SPARE, EVER) = range(11)
"""What `counters` holds: nodes in use; nodes that were ever in use; the first of those to use
again; steps of the game; where recycling goes on; up to how many visits it takes; nodes it took;
what two rivals' goals have always added up to, ANY_SUM before the first end of a game, NO_SUM where
they have not, or there are not two roles; blocks that could not be had since room was made; how
often a 32nd of the pool, the part that is kept free, was doubled for that; and nodes that were
recycled since the tree was empty."""

ANY_SUM, NO_SUM = -1, -2
MOST_SPARE = 4
"""Half of the pool is free then."""

OWN, BACKED_UP = 0, 1
"""Values of a node: what the evaluation says of its state, and what is backed up to it."""

UNKNOWN = -1.0
"""In place of the value of a move that was never tried."""

MEAN, INVERSE_ROOT = 0, 1
"""Where statistics that selection scans begin in a node's block, in multiples of m: the mean and
1 / sqrt(visits) (floats; 0 for a move that was never selected)."""

ENTRY = 4
TOTAL, VISITS, CHILD = 0, 2, 3
"""Behind them every move has an entry of so many words, so that what is written of a move lies
together: the sum of the rewards (double), visits, those in flight included, and the edge where one
role moves.  In a tree that evaluates, a value of every move (float) follows."""

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
        ("proofs", np.int32),  # block: what is proven of the moves, once anything is
        ("spare1", np.int32),  # up to a cache line
        ("spare2", np.int32),
    ]
)
assert node_type.fields is not None
NODE_BYTES, VISITS_BYTE = node_type.itemsize, int(node_type.fields["visits"][1])
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
    edge_scores: NDArray[np.uint8]
    """(power of two, R, 2) what a role gets at least and at most by each of these edges"""
    pool: Pool
    counters: NDArray[np.int64]
    """(11,) see USED"""
    locks: I32
    """see `locks`"""
    values: NDArray[np.float32]
    """(N, R, 2) what the evaluation says of every role, see OWN; (0, R, 2) where there is none"""
    node_bits: int
    """bits of an edge that are the node's number"""


def _records(array: NDArray[Any]) -> NDArray[Any]:
    """Where numba is off, an array whose fields are attributes of its items, as they are to it."""
    return array.view(np.recarray) if config.DISABLE_JIT else array


def bytes_per_node(state_words: int, roles: int, evaluated: bool) -> int:
    """Bytes that a node takes beside its blocks in the pool."""
    values = 8 * roles if evaluated else 0
    return node_type.itemsize + 8 * state_words + 2 * roles + values + 8 + edge_type.itemsize


def new_tree(
    nodes: int, units: int, state_words: int, best: NDArray[np.uint8], evaluated: bool = False
) -> Tree:
    """An empty tree for `nodes` nodes, with a pool of `units` units.

    `evaluated`: whether nodes and moves have values, too.
    """
    roles, slots = len(best), 1 << (nodes - 1).bit_length()
    tree = Tree(
        nodes=_records(aligned(nodes, node_type)),
        states=aligned(nodes * state_words, np.dtype(np.uint64)).reshape(nodes, state_words),
        scores=np.empty((nodes, roles, 2), np.uint8),
        best=best,
        buckets=np.full(slots, NO_NODE, np.int32),
        edges=_records(np.empty(max(16, slots // 4), edge_type)),
        edge_scores=np.zeros((max(16, slots // 4), roles, 2), np.uint8),
        pool=new_pool(units),
        counters=np.zeros(11, np.int64),
        locks=new_locks(),
        values=np.zeros((nodes if evaluated else 0, roles, 2), np.float32),
        node_bits=nodes.bit_length(),
    )
    clear(tree)
    return tree


@part
def evaluates(tree: Tree) -> bool:
    """Whether nodes and moves have values."""
    return len(tree.values) > 0


def clear(tree: Tree) -> None:
    """Empty the tree."""
    tree.buckets[:] = NO_NODE
    tree.edges["parent"] = NO_NODE
    tree.counters[:] = 0
    tree.counters[FREE_LIST] = NO_NODE
    tree.counters[LIMIT] = 1
    tree.counters[GOAL_SUM] = ANY_SUM
    empty(tree.pool)


def go_on(tree: Tree) -> None:
    """The game goes on by a step."""
    tree.counters[STEP] += 1
    tree.counters[LIMIT] = 1
    tree.counters[SPARE] = 0
    tree.counters[RECYCLED] = 0


@part
def copy_state(to: U64, row: int, source: U64, place: int) -> None:
    """Copy a packed state from a row of one array to one of another."""
    for word in range(to.shape[1]):
        to[row, word] = source[place, word]


@part
def count_visit(tree: Tree, node: int) -> None:
    """One more simulation has come to a node."""
    if tree.locks[SHARED] != 0:
        add_at(tree.nodes, np.int64(node) * NODE_BYTES + VISITS_BYTE, 1)
    else:
        tree.nodes[node].visits += 1


@part
def is_stale(tree: Tree, node: int) -> bool:
    """Whether the game has left a node behind: it counts as dropped."""
    return tree.nodes[node].step < tree.counters[STEP] - STEPS_KEPT


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
