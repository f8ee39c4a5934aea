"""Proven scores: what a role gets at least and at most is backed up (T. Cazenave, A. Saffidine,
"Score bounded Monte-Carlo tree search", 2010), for any number of roles, each by its own score.

Where one role has a choice, it gets at least the best of the moves' lower bounds and at most the
best of their upper ones.  The others get at least the least of all moves, whatever the one who
moves may do; and at most the most of the moves that can still be best for that one.  Two rivals,
whose goals have so far added up to the same at every end of the game, need no more than one move
that is proven to be best: who moves plays it, or one that costs the other as much.  Where several
roles choose at once, a role gets at least the best over its moves of the least over what the
others may do; at most the most of all joint moves.  Chance may do anything.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.arrays import Arrays
from ggp_agent.search.blocks import entries
from ggp_agent.search.edges import edge_by_joint, extend_joint, follow
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.memory import NO_BLOCK, UNIT, get_int, put_float
from ggp_agent.search.slots import NODE
from ggp_agent.search.tree import (
    CHILD,
    CLOSED,
    ENTRY,
    GOAL_SUM,
    INVERSE_ROOT,
    MEAN,
    NO_NODE,
    NO_SUM,
    OPEN,
    SEVERAL,
    SOLVED,
    Tree,
)
from propnet.layout import I32

MOST_JOINT_MOVES = 100
"""Nodes with more joint moves are not looked through."""


@part
def _low(tree: Tree, child: int, role: int) -> int:
    return int(tree.scores[child, role, 0]) if child != NO_NODE else 0


@part
def _high(tree: Tree, child: int, role: int) -> int:
    if child == NO_NODE:
        return int(tree.best[role])
    return int(tree.scores[child, role, 1])


@part
def _tighten(tree: Tree, node: int, role: int, low: int, high: int) -> bool:
    """Enter bounds where they say more than what is known."""
    scores, changed = tree.scores, False
    if low > scores[node, role, 0]:
        scores[node, role, 0] = low
        changed = True
    if high < scores[node, role, 1] and high >= scores[node, role, 0]:
        scores[node, role, 1] = high
        changed = True
    return changed


@part
def _close(tree: Tree, node: int, pick: int) -> None:
    """Take a move out of selection."""
    record = tree.nodes[node]
    stats, count = np.int64(record.stats) * UNIT, record.count
    put_float(tree.pool.words, stats + MEAN * count + pick, CLOSED)
    put_float(tree.pool.words, stats + INVERSE_ROOT * count + pick, 1.0)


@kernel
def _prove_by_one(tree: Tree, node: int, chance: int, children: I32) -> bool:
    """Bounds of a node in which one role has a choice; whether any has changed."""
    record, words = tree.nodes[node], tree.pool.words
    mover = record.mover
    start = np.int64(record.moves) * UNIT
    low, high = get_int(words, start + mover), get_int(words, start + mover + 1)
    children_at = np.int64(record.stats) * UNIT + entries(record.count) + CHILD
    best_low, best_high = 0, 0
    for pick in range(low, high):
        child = follow(tree, get_int(words, children_at + ENTRY * pick))
        children[pick] = child
        best_low = max(best_low, _low(tree, child, mover))
        best_high = max(best_high, _high(tree, child, mover))
    changed = False
    if mover != chance:
        changed = _tighten(tree, node, mover, best_low, best_high)
    own_low, own_high = tree.scores[node, mover, 0], tree.scores[node, mover, 1]
    known = own_low == own_high and tree.counters[GOAL_SUM] != NO_SUM
    for role in range(len(tree.best)):
        if role == mover and mover != chance:
            continue
        least, most = np.int64(255), 0
        for pick in range(low, high):
            child = children[pick]
            least = min(least, _low(tree, child, role))
            settled = known and _low(tree, child, mover) < own_low
            if mover == chance or not (settled or _high(tree, child, mover) < own_low):
                most = max(most, _high(tree, child, role))
        changed = _tighten(tree, node, role, least, most) or changed
    if mover != chance:
        for pick in range(low, high):
            highest = _high(tree, children[pick], mover)
            settled = known and _low(tree, children[pick], mover) < own_low
            lost = highest == 0 and own_high > 0
            if highest < own_low or settled or lost:
                _close(tree, node, pick)
    return changed


@kernel
def _prove_by_several(tree: Tree, node: int, picks: I32, bounds: I32) -> bool:
    """Bounds of a node in which several roles choose; whether any has changed.

    `picks` (R,) is to work with; `bounds` (2 * m,) gets the least of every move's lower bounds and
    the most of its upper ones, both for the role whose move it is.
    """
    record, words, roles = tree.nodes[node], tree.pool.words, len(tree.best)
    start, count = np.int64(record.moves) * UNIT, record.count
    joint_moves = 1
    for role in range(roles):
        picks[role] = get_int(words, start + role)
        joint_moves *= get_int(words, start + role + 1) - picks[role]
        if joint_moves > MOST_JOINT_MOVES:
            return False
    for pick in range(count):
        bounds[pick], bounds[count + pick] = 255, 0
    for _ in range(joint_moves):
        joint = np.uint64(0)
        for role in range(roles):
            joint = extend_joint(joint, picks[role])
        child = follow(tree, edge_by_joint(tree, node, joint))
        for role in range(roles):
            pick = picks[role]
            bounds[pick] = min(bounds[pick], _low(tree, child, role))
            bounds[count + pick] = max(bounds[count + pick], _high(tree, child, role))
        for role in range(roles):  # the next joint move
            picks[role] += 1
            if picks[role] < get_int(words, start + role + 1):
                break
            picks[role] = get_int(words, start + role)
    changed = False
    for role in range(roles):
        low, high = get_int(words, start + role), get_int(words, start + role + 1)
        least, most = 0, 0
        for pick in range(low, high):
            least = max(least, bounds[pick])
            most = max(most, bounds[count + pick])
        changed = _tighten(tree, node, role, least, most) or changed
        for pick in range(low, high):
            if bounds[count + pick] < tree.scores[node, role, 0]:
                _close(tree, node, pick)
    return changed


@kernel
def prove(tree: Tree, arrays: Arrays, slot: int) -> None:
    """Back up the bounds of a simulation's leaf along its path, as far as they tell anything."""
    leaf = arrays.slots.leaf[slot]
    if leaf == NO_NODE or tree.nodes[leaf].kind == OPEN:
        return
    for level in range(arrays.slots.depth[slot] - 1, -1, -1):
        node = arrays.slots.path[slot, level, NODE]
        record = tree.nodes[node]
        if record.kind != OPEN or record.stats == NO_BLOCK:
            return
        if record.mover == SEVERAL:
            changed = _prove_by_several(tree, node, arrays.new.joint[0], arrays.scratch.moves)
        else:
            changed = _prove_by_one(tree, node, arrays.options.chance, arrays.scratch.moves)
        if not changed:
            return
        solved = True
        for role in range(len(tree.best)):
            if role != arrays.options.chance:
                solved = solved and tree.scores[node, role, 0] == tree.scores[node, role, 1]
        if solved:
            record.kind = SOLVED
