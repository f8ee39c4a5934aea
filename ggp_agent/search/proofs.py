"""What is proven of a node's moves: it is kept where the move is, so that it outlives the child.

A child is recycled sooner than others once its move is closed, for it gets no more visits.  So what
has been proven of it is entered with its parent's move, and a child that is made anew begins with
that.  Bounds only ever become tighter.

The block of proofs of a node with m moves has a row of words per move: 16 bits per role, 7 for what
the role gets at least and 7 for what it gets at most, and one that says whether the move ends the
game.  A node has none until something is proven.  Where several roles move, a row tells of the role
alone whose move it is, whatever the others do; what joint moves lead to is in `Tree.edge_scores`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.blocks import entries
from ggp_agent.search.edges import follow, slot_by_joint
from ggp_agent.search.kernel import entry, kernel, part
from ggp_agent.search.locks import STRUCTURE, acquire, publish, release_lock
from ggp_agent.search.memory import NO_BLOCK, UNIT, allocate, get_int, put_int
from ggp_agent.search.tree import (
    CHILD,
    ENTRY,
    GOAL_SUM,
    NO_NODE,
    OPEN,
    SEVERAL,
    SHORT,
    SOLVED,
    TERMINAL,
    Tree,
)

_GOAL = 127
_HIGH = 8
_ENDS = 1 << 7


@part
def words_of_proofs(tree: Tree, count: int) -> int:
    """Size of the block for so many moves."""
    return (len(tree.best) + 1) // 2 * count


@part
def _word(tree: Tree, node: int, pick: int, role: int) -> int:
    width = (len(tree.best) + 1) // 2
    return int(np.int64(tree.nodes[node].proofs) * UNIT + width * pick + (role >> 1))


@part
def low_of(tree: Tree, node: int, pick: int, role: int) -> int:
    """What a role gets at least by a move of a node that has proofs."""
    return (get_int(tree.pool.words, _word(tree, node, pick, role)) >> (16 * (role & 1))) & _GOAL


@part
def high_of(tree: Tree, node: int, pick: int, role: int) -> int:
    """What a role gets at most, likewise."""
    bits = get_int(tree.pool.words, _word(tree, node, pick, role))
    return (bits >> (16 * (role & 1) + _HIGH)) & _GOAL


@part
def _open_proofs(tree: Tree, node: int) -> bool:
    """Give a node its block if it has none; False if there is no room."""
    record, words = tree.nodes[node], tree.pool.words
    if record.proofs != NO_BLOCK:
        return True
    block = allocate(tree.pool, words_of_proofs(tree, record.count))
    if block == NO_BLOCK:
        tree.counters[SHORT] += 1
        return False
    record.proofs = block
    for pick in range(record.count):
        for role in range(0, len(tree.best), 2):
            bits = np.int32(tree.best[role]) << _HIGH
            if role + 1 < len(tree.best):
                bits |= np.int32(tree.best[role + 1]) << (16 + _HIGH)
            put_int(words, _word(tree, node, pick, role), bits)
    return True


@part
def note(tree: Tree, node: int, pick: int, role: int, low: int, high: int) -> bool:
    """Enter what a role gets at least and at most by a move; False if there is no room for it."""
    if low == 0 and high == tree.best[role]:
        return True
    if not _open_proofs(tree, node):
        return False
    low = max(low, low_of(tree, node, pick, role))
    high = max(low, min(high, high_of(tree, node, pick, role)))
    word, shift = _word(tree, node, pick, role), 16 * (role & 1)
    kept = get_int(tree.pool.words, word) & ~(((_GOAL << _HIGH) | _GOAL) << shift)
    put_int(tree.pool.words, word, kept | (((high << _HIGH) | low) << shift))
    return True


@part
def _note_child(tree: Tree, node: int, pick: int, child: int) -> None:
    """Enter what is known of the child to which the only mover's move leads."""
    for role in range(len(tree.best)):
        scores = tree.scores[child, role]
        if not note(tree, node, pick, role, scores[0], scores[1]):
            return
    if tree.nodes[child].kind == TERMINAL and _open_proofs(tree, node):
        word = _word(tree, node, pick, 0)
        put_int(tree.pool.words, word, get_int(tree.pool.words, word) | _ENDS)


@entry
def note_proofs(tree: Tree, node: int) -> None:
    """`note_children` for Python: other threads may be at work."""
    acquire(tree.locks, STRUCTURE)
    note_children(tree, node)
    release_lock(tree.locks, STRUCTURE)


@kernel
def note_children(tree: Tree, node: int) -> bool:
    """Enter what is known of the children of a node with one mover; whether anything is proven."""
    record, words = tree.nodes[node], tree.pool.words
    if record.kind == TERMINAL or record.stats == NO_BLOCK or record.mover == SEVERAL:
        return False
    start = np.int64(record.moves) * UNIT + record.mover
    first = np.int64(record.stats) * UNIT + entries(record.count) + CHILD
    for pick in range(get_int(words, start), get_int(words, start + 1)):
        child = follow(tree, get_int(words, first + ENTRY * pick))
        if child != NO_NODE:
            _note_child(tree, node, pick, child)
    return bool(record.proofs != NO_BLOCK)


@part
def tighten(tree: Tree, node: int, role: int, low: int, high: int) -> bool:
    """Enter bounds of a node where they say more than what is known; whether they did."""
    scores, changed = tree.scores[node, role], False
    if low > scores[0]:
        scores[0] = low
        changed = True
    if scores[0] <= high < scores[1]:
        scores[1] = high
        changed = True
    return changed


@part
def note_joint(tree: Tree, slot: int) -> None:
    """Enter what is known of the child to which several roles' joint move leads, by its slot."""
    child = follow(tree, tree.edges[slot].edge)
    if child != NO_NODE:
        for role in range(len(tree.best)):
            scores = tree.edge_scores[slot, role]
            scores[0] = max(scores[0], tree.scores[child, role, 0])
            scores[1] = min(scores[1], tree.scores[child, role, 1])


@part
def inherit(tree: Tree, parent: int, pick: int, joint: np.uint64, child: int) -> None:
    """A child that was made anew begins with what has been proven of its move.

    `pick` is the only mover's; `joint` is the joint move's hash where several roles move.
    """
    record, slot = tree.nodes[parent], NO_NODE
    if record.mover == SEVERAL:
        slot = slot_by_joint(tree, parent, joint)
        if slot == NO_NODE:
            return
    elif record.proofs == NO_BLOCK:
        return
    for role in range(len(tree.best)):
        if slot != NO_NODE:
            low, high = tree.edge_scores[slot, role, 0], tree.edge_scores[slot, role, 1]
            tighten(tree, child, role, low, high)
        else:
            low, high = low_of(tree, parent, pick, role), high_of(tree, parent, pick, role)
            tighten(tree, child, role, low, high)


@part
def enter_win(tree: Tree, role: int, node: int, chance: int) -> None:
    """The only role that chooses at a node wins at once; a rival gets what that leaves it."""
    tighten(tree, node, role, tree.best[role], tree.best[role])
    total = tree.counters[GOAL_SUM]
    if total >= tree.best[role]:
        rest = total - tree.best[role]
        for rival in range(len(tree.best)):
            if rival != role and rival != chance:
                tighten(tree, node, rival, rest, rest)
    settle(tree, node, chance)


@kernel
def settle(tree: Tree, node: int, chance: int) -> None:
    """A node whose scores are all known is solved."""
    if tree.nodes[node].kind == OPEN:
        for role in range(len(tree.best)):
            if role != chance and tree.scores[node, role, 0] != tree.scores[node, role, 1]:
                return
        publish()
        tree.nodes[node].kind = SOLVED


def proven(tree: Tree, node: int) -> NDArray[np.int32]:
    """What is proven of a node's m moves: (m, R, 3) at least, at most, whether it ends the game.

    Where several roles move, a row tells of the role alone whose move it is.
    """
    record, roles = tree.nodes[node], len(tree.best)
    count = int(record["count"])
    table = np.zeros((count, roles, 3), np.int32)
    table[:, :, 1] = tree.best
    if record["proofs"] != NO_BLOCK:
        start, width = int(record["proofs"]) * UNIT, (roles + 1) // 2
        rows = tree.pool.words[start : start + width * count].reshape(count, width)
        for role in range(roles):
            bits = rows[:, role >> 1] >> (16 * (role & 1))
            table[:, role, 0], table[:, role, 1] = bits & _GOAL, (bits >> _HIGH) & _GOAL
            table[:, role, 2] = rows[:, 0] & _ENDS
    return table
