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
from ggp_agent.search.edges import extend_joint, slot_by_joint
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.memory import NO_BLOCK, UNIT, get_int, put_float
from ggp_agent.search.proofs import (
    high_of,
    low_of,
    note,
    note_children,
    note_joint,
    settle,
    tighten,
)
from ggp_agent.search.slots import NODE
from ggp_agent.search.tree import (
    CLOSED,
    GOAL_SUM,
    INVERSE_ROOT,
    MEAN,
    NO_NODE,
    NO_SUM,
    OPEN,
    SEVERAL,
    Tree,
)
from propnet.layout import I32

MOST_JOINT_MOVES = 100
"""Nodes with more joint moves are not looked through."""


@part
def _close(tree: Tree, node: int, pick: int) -> None:
    """Take a move out of selection."""
    record = tree.nodes[node]
    stats, count = np.int64(record.stats) * UNIT, record.count
    put_float(tree.pool.words, stats + MEAN * count + pick, CLOSED)
    put_float(tree.pool.words, stats + INVERSE_ROOT * count + pick, 1.0)


@kernel
def _prove_by_one(tree: Tree, node: int, chance: int) -> bool:
    """Bounds of a node in which one role has a choice; whether any has changed."""
    if not note_children(tree, node):
        return False
    record, words = tree.nodes[node], tree.pool.words
    mover = record.mover
    start = np.int64(record.moves) * UNIT
    first, last = get_int(words, start + mover), get_int(words, start + mover + 1)
    best_low, best_high = 0, 0
    for pick in range(first, last):
        best_low = max(best_low, low_of(tree, node, pick, mover))
        best_high = max(best_high, high_of(tree, node, pick, mover))
    changed = False
    if mover != chance:
        changed = tighten(tree, node, mover, best_low, best_high)
    own_low, own_high = tree.scores[node, mover, 0], tree.scores[node, mover, 1]
    known = own_low == own_high and tree.counters[GOAL_SUM] != NO_SUM
    for role in range(len(tree.best)):
        if role == mover and mover != chance:
            continue
        least, most = np.int64(255), np.int64(0)
        for pick in range(first, last):
            least = min(least, low_of(tree, node, pick, role))
            settled = known and low_of(tree, node, pick, mover) < own_low
            if mover == chance or not (settled or high_of(tree, node, pick, mover) < own_low):
                most = max(most, high_of(tree, node, pick, role))
        changed = tighten(tree, node, role, least, most) or changed
    if mover != chance:
        for pick in range(first, last):
            highest = high_of(tree, node, pick, mover)
            settled = known and low_of(tree, node, pick, mover) < own_low
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
        slot = slot_by_joint(tree, node, joint)
        if slot != NO_NODE:
            note_joint(tree, slot)
        for role in range(roles):
            pick = picks[role]
            known = slot != NO_NODE
            low = np.int64(tree.edge_scores[slot, role, 0]) if known else 0
            high = np.int64(tree.edge_scores[slot, role, 1] if known else tree.best[role])
            bounds[pick] = min(bounds[pick], low)
            bounds[count + pick] = max(bounds[count + pick], high)
        for role in range(roles):  # the next joint move
            picks[role] += 1
            if picks[role] < get_int(words, start + role + 1):
                break
            picks[role] = get_int(words, start + role)
    changed = False
    for role in range(roles):
        first, last = get_int(words, start + role), get_int(words, start + role + 1)
        least, most = np.int64(0), np.int64(0)
        for pick in range(first, last):
            note(tree, node, pick, role, bounds[pick], bounds[count + pick])
            if record.proofs != NO_BLOCK:  # what was known of edges that are given up counts, too
                bounds[pick] = low_of(tree, node, pick, role)
                bounds[count + pick] = high_of(tree, node, pick, role)
            least = max(least, bounds[pick])
            most = max(most, bounds[count + pick])
        changed = tighten(tree, node, role, least, most) or changed
        for pick in range(first, last):
            if bounds[count + pick] < tree.scores[node, role, 0] and record.proofs != NO_BLOCK:
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
            changed = _prove_by_one(tree, node, arrays.options.chance)
        if not changed:
            return
        settle(tree, node, arrays.options.chance)
