"""Stage 2, expansion: the states at which simulations left the tree, evaluated all at once.

A state that is in the tree already, reached by another way, is no new one: its simulation goes on
from there.  Otherwise the state is added, one node per simulation.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.arrays import EVALUATIONS, Arrays
from ggp_agent.search.blocks import words_of_moves
from ggp_agent.search.descent import arrive, joint_hash, link
from ggp_agent.search.few_lanes import FewLanes, arrays_of
from ggp_agent.search.kernel import entry, kernel, part
from ggp_agent.search.locks import STRUCTURE, acquire, publish, release_lock
from ggp_agent.search.memory import NO_BLOCK, UNIT, allocate, put_int
from ggp_agent.search.nodes import (
    add_node,
    fetch_bucket,
    fetch_node,
    find_node,
    hash_of,
    recycle,
)
from ggp_agent.search.proofs import enter_win, inherit, settle
from ggp_agent.search.slots import MOVER, NODE, PICKS
from ggp_agent.search.strategies import decisive, implicit_minimax
from ggp_agent.search.strategies.decisive import NOBODY
from ggp_agent.search.strategies.evaluation import evaluate_states
from ggp_agent.search.tree import (
    NO_NODE,
    SEVERAL,
    SHORT,
    TERMINAL,
    Tree,
    copy_state,
    note_goals,
)
from propnet import kernels
from propnet.lane_bits import has_lane, set_word, words_of
from propnet.lane_states import save_column
from propnet.layout import I32, Lanes, Layout
from propnet.vectors import FEW, any_lane, load, lowest_bit, splat_like, store


@kernel
def _compute_states(layout: Layout, lanes: Lanes, tree: Tree, arrays: Arrays, count: int) -> None:
    """The states to which the listed simulations' last joint moves lead, in lanes and packed."""
    roles = len(tree.best)
    for k in range(count):
        slot = arrays.slots.waiting[1, k]
        level = arrays.slots.depth[slot] - 1
        copy_state(arrays.new.states, k, tree.states, arrays.slots.path[slot, level, NODE])
        for role in range(roles):
            move = arrays.slots.path[slot, level, PICKS + roles + role]
            arrays.new.joint[k, role] = move - layout.span[role]
    kernels.load_states(layout, lanes, arrays.new.states, count)
    kernels.see_position(layout, lanes)
    kernels.set_moves(layout, lanes, arrays.new.joint, count)
    lanes.active[:] = kernels.ALL
    kernels.advance(layout, lanes)
    kernels.save_states(layout, lanes, arrays.new.states, count)


@kernel
def _see_moves(layout: Layout, lanes: Lanes, tree: Tree, arrays: Arrays, count: int) -> None:
    """The legal moves of lanes 0 to count - 1 (in `played.by_lane`), which of them are at the end
    of the game (in `new.ended`), the goals where there are any such, and the states' evaluations.

    With a solver also who wins at once, in `new.winner`.

    A state in which a role has no legal move (its rules are faulty) counts as the end.
    """
    kernels.see_position(layout, lanes)
    if implicit_minimax.is_used(tree, arrays):
        evaluate_states(lanes, arrays.evaluation, count)
    ended = kernels.read(lanes.values, layout.terminal)
    for role in range(len(layout.span) - 1):
        some = splat_like(lanes.values, kernels.NONE)
        for move in range(layout.span[role], layout.span[role + 1]):
            legal = kernels.read(lanes.values, layout.legal[move])
            store(arrays.scratch.lanes, move, legal)
            some |= legal
        ended |= ~some
    for word in range(words_of(lanes.active)):
        inside = min(64, max(0, count - 64 * word))
        here = kernels.ALL if inside == 64 else (np.uint64(1) << np.uint64(inside)) - np.uint64(1)
        set_word(lanes.active, 0, word, here)
    store(lanes.active, 0, load(lanes.active, 0) & ended)
    if any_lane(load(lanes.active, 0)):
        kernels.read_goals(layout, lanes, arrays.played.goals)
    for lane in range(count):
        arrays.new.ended[lane] = has_lane(lanes.active, lane)
    if arrays.options.solver:
        decisive.find_winners(layout, lanes, arrays, count)
    moves = len(layout.legal)
    for column in range(arrays.played.by_lane.shape[1]):
        first, inside = 64 * column, min(64, moves - 64 * column)
        by_lane = arrays.played.by_lane
        save_column(arrays.scratch.lanes, first, inside, lanes.block, by_lane, column, count)


@part
def _list_moves(layout: Layout, tree: Tree, arrays: Arrays, node: int, lane: int) -> bool:
    """Enter a lane's legal moves; False if there is no room for them."""
    roles, count = len(tree.best), 0
    for column in range(arrays.played.by_lane.shape[1]):
        bits = arrays.played.by_lane[lane, column]
        while bits != np.uint64(0):
            arrays.scratch.moves[count] = 64 * column + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            count += 1
    record = tree.nodes[node]
    size = words_of_moves(tree, count)
    block = allocate(tree.pool, size)
    if block == NO_BLOCK:
        tree.counters[SHORT] += 1
        return False
    words, base = tree.pool.words, np.int64(block) * UNIT
    record.moves, record.count = block, count
    place, movers = 0, 0
    for role in range(roles):
        put_int(words, base + role, place)
        first = place
        while place < count and arrays.scratch.moves[place] < layout.span[role + 1]:
            place += 1
        if place - first > 1:
            movers += 1
            record.mover = role
    put_int(words, base + roles, place)
    for i in range(count):
        put_int(words, base + roles + 1 + i, arrays.scratch.moves[i])
    for i in range(roles + 1 + count, size):
        put_int(words, base + i, 0)
    if movers > 1:
        record.mover = SEVERAL
    return True


@part
def _open_node(layout: Layout, tree: Tree, arrays: Arrays, lane: int) -> int:
    """A new node for the state in a lane, whose hash is not in the tree; NO_NODE without room."""
    node = add_node(tree, arrays.new.states, lane, arrays.new.keys[lane])
    if node == NO_NODE:
        return NO_NODE
    if implicit_minimax.is_used(tree, arrays):
        implicit_minimax.enter(tree, arrays, node, lane)
    if arrays.new.ended[lane]:
        tree.nodes[node].kind = TERMINAL
        for role in range(len(tree.best)):
            tree.scores[node, role, :] = arrays.played.goals[role, lane]
        note_goals(tree, node, arrays.options.chance)
    elif not _list_moves(layout, tree, arrays, node, lane):
        recycle(tree, node)
        return NO_NODE
    return node


@entry
def open_root(layout: Layout, lanes: Lanes, tree: Tree, arrays: Arrays) -> int:
    """The node of the state in `new.states[0]`, made if there is none; NO_NODE without room.

    It has its moves even where some role has none, and the game is over for the search.
    """
    arrays.new.keys[0] = hash_of(arrays.new.states, 0)
    node = find_node(tree, arrays.new.states, 0, arrays.new.keys[0])
    if node == NO_NODE or tree.nodes[node].moves == NO_BLOCK:
        kernels.load_states(layout, lanes, arrays.new.states, 1)
        _see_moves(layout, lanes, tree, arrays, 1)
        if node == NO_NODE:
            node = _open_node(layout, tree, arrays, 0)
        if node != NO_NODE and tree.nodes[node].moves == NO_BLOCK:
            _list_moves(layout, tree, arrays, node, 0)
    return node


@entry
def open_states(layout: Layout, lanes: Lanes, tree: Tree, arrays: Arrays, nodes: I32) -> None:
    """Open nodes for the states in `new.states[: len(nodes)]`, which the tree does not know yet.

    They are written to `nodes`, NO_NODE where there is no room.
    """
    kernels.load_states(layout, lanes, arrays.new.states, len(nodes))
    _see_moves(layout, lanes, tree, arrays, len(nodes))
    for k in range(len(nodes)):
        arrays.new.keys[k] = hash_of(arrays.new.states, k)
        nodes[k] = _open_node(layout, tree, arrays, k)


@part
def _inherit(tree: Tree, arrays: Arrays, slot: int, level: int, node: int) -> None:
    """A new node begins with what has been proven of the joint move that leads to it."""
    step = arrays.slots.path[slot, level]
    joint, pick = np.uint64(0), 0
    if step[MOVER] == SEVERAL:
        joint = joint_hash(tree, arrays, slot, level)
    else:
        pick = step[PICKS + step[MOVER]]
    inherit(tree, step[NODE], pick, joint, node)
    settle(tree, node, arrays.options.chance)


@kernel
def _look_at_states(layout: Layout, lanes: Lanes, tree: Tree, arrays: Arrays, new: int) -> None:
    """Compute the states to which `new` simulations have come, and what there is to know."""
    _compute_states(layout, lanes, tree, arrays, new)
    _see_moves(layout, lanes, tree, arrays, new)


@kernel
def expand(
    layout: Layout, lanes: Lanes, few: FewLanes, tree: Tree, arrays: Arrays, new: int
) -> int:
    """Look at the states that `new` simulations have come to; adds those that are not known.

    Returns how many simulations are on known ground and may go on; `waiting[0]` has them.
    """
    if new <= FEW:
        _look_at_states(layout, few.lanes, tree, arrays_of(few, arrays), new)
    else:
        _look_at_states(layout, lanes, tree, arrays, new)
    arrays.totals[EVALUATIONS] += 1
    for k in range(new):
        arrays.new.keys[k] = hash_of(arrays.new.states, k)
        fetch_bucket(tree, arrays.new.keys[k])
    for k in range(new):
        fetch_node(tree, arrays.new.keys[k])
    waiting = 0
    for k in range(new):
        slot = arrays.slots.waiting[1, k]
        acquire(tree.locks, STRUCTURE)
        node = find_node(tree, arrays.new.states, k, arrays.new.keys[k])
        known = node != NO_NODE
        if not known:
            node = _open_node(layout, tree, arrays, k)
        if node != NO_NODE:
            level = arrays.slots.depth[slot] - 1
            if not known and arrays.options.solver:
                _inherit(tree, arrays, slot, level, node)
                if arrays.new.winner[k] != NOBODY:
                    enter_win(tree, arrays.new.winner[k], node, arrays.options.chance)
            publish()
            link(tree, arrays, slot, level, node)
        release_lock(tree.locks, STRUCTURE)
        if node == NO_NODE:
            copy_state(arrays.slots.states, slot, arrays.new.states, k)
            arrays.slots.leaf[slot] = NO_NODE
            continue
        arrive(tree, arrays, slot, node)
        if known:
            arrays.slots.waiting[0, waiting] = slot
            waiting += 1
    return waiting
