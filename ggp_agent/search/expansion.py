"""Stage 2, expansion: the states at which simulations left the tree, evaluated all at once.

A state that is in the tree already, reached by another way, is no new one: its simulation goes on
from there.  Otherwise the state is added, one node per simulation.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.descent import arrive, link
from ggp_agent.search.flight import NODE, PICKS, ROUNDS, Flight
from ggp_agent.search.kernel import entry, kernel, part
from ggp_agent.search.memory import (
    NO_BLOCK,
    UNIT,
    allocate,
    put_int,
)
from ggp_agent.search.tree import (
    NO_NODE,
    SEVERAL,
    SHORT,
    TERMINAL,
    Tree,
    add_node,
    copy_state,
    fetch_bucket,
    fetch_node,
    find_node,
    hash_of,
    note_goals,
    recycle,
    words_of_moves,
)
from propnet import kernels
from propnet.layout import U64, Lanes, Layout
from propnet.vectors import WORDS, any_lane, load, lowest_bit, splat, store


@kernel
def write_column(block: U64, by_lane: U64, column: int, first: int, lanes: int) -> None:
    """64 sets of lanes, one per move, as sets of moves per lane: one word for each lane.

    `block` (64, 8), which is used up; `by_lane` has the lanes from row `first` on, of which only
    `lanes` are written.
    """
    kernels.transpose(block)
    for lane in range(lanes):
        by_lane[first + lane, column] = block[lane & 63, lane >> 6]


@kernel
def _compute_states(layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, count: int) -> None:
    """The states to which the listed simulations' last joint moves lead, in lanes and packed."""
    roles = len(tree.best)
    for k in range(count):
        simulation = flight.lists[1, k]
        level = flight.depth[simulation] - 1
        copy_state(flight.states, k, tree.states, flight.path[simulation, level, NODE])
        for role in range(roles):
            move = flight.path[simulation, level, PICKS + roles + role]
            flight.joint[k, role] = move - layout.span[role]
    kernels.load_states(layout, lanes, flight.states, count)
    kernels.see_position(layout, lanes)
    kernels.set_moves(layout, lanes, flight.joint, count)
    lanes.active[:] = kernels.ALL
    kernels.advance(layout, lanes)
    kernels.save_states(layout, lanes, flight.states, count)


@kernel
def _see_moves(layout: Layout, lanes: Lanes, flight: Flight, count: int) -> None:
    """The legal moves of lanes 0 to count - 1 (in `by_lane`), which of them are at the end of the
    game (in `active`), and the goals where there are any such.

    A state in which a role has no legal move (its rules are faulty) counts as the end.
    """
    kernels.see_position(layout, lanes)
    ended = kernels.read(lanes.values, layout.terminal)
    for role in range(len(layout.span) - 1):
        some = splat(kernels.NONE)
        for move in range(layout.span[role], layout.span[role + 1]):
            legal = kernels.read(lanes.values, layout.legal[move])
            store(flight.rows, move, legal)
            some |= legal
        ended |= ~some
    for word in range(WORDS):
        inside = min(64, max(0, count - 64 * word))
        lanes.active[0, word] = (
            kernels.ALL if inside == 64 else (np.uint64(1) << np.uint64(inside)) - np.uint64(1)
        )
    store(lanes.active, 0, load(lanes.active, 0) & ended)
    if any_lane(load(lanes.active, 0)):
        kernels.read_goals(layout, lanes, flight.goals)
    moves = len(layout.legal)
    for column in range(flight.by_lane.shape[1]):
        inside = min(64, moves - 64 * column)
        for i in range(inside):
            store(lanes.block, i, load(flight.rows, 64 * column + i))
        for i in range(inside, 64):
            store(lanes.block, i, splat(kernels.NONE))
        write_column(lanes.block, flight.by_lane, column, 0, count)


@part
def _list_moves(layout: Layout, tree: Tree, flight: Flight, node: int, lane: int) -> bool:
    """Enter a lane's legal moves; False if there is no room for them."""
    roles, count = len(tree.best), 0
    for column in range(flight.by_lane.shape[1]):
        bits = flight.by_lane[lane, column]
        while bits != np.uint64(0):
            flight.found[count] = 64 * column + lowest_bit(bits)
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
        while place < count and flight.found[place] < layout.span[role + 1]:
            place += 1
        if place - first > 1:
            movers += 1
            record.mover = role
    put_int(words, base + roles, place)
    for i in range(count):
        put_int(words, base + roles + 1 + i, flight.found[i])
    for i in range(roles + 1 + count, size):
        put_int(words, base + i, 0)
    if movers > 1:
        record.mover = SEVERAL
    return True


@part
def _open_node(layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, lane: int) -> int:
    """A new node for the state in a lane, whose hash is not in the tree; NO_NODE without room."""
    node = add_node(tree, flight.states, lane, flight.keys[lane])
    if node == NO_NODE:
        return NO_NODE
    if (lanes.active[0, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1):
        tree.nodes[node].kind = TERMINAL
        for role in range(len(tree.best)):
            tree.scores[node, role, :] = flight.goals[role, lane]
        note_goals(tree, node, flight.chance)
    elif not _list_moves(layout, tree, flight, node, lane):
        recycle(tree, node)
        return NO_NODE
    return node


@entry
def open_root(layout: Layout, lanes: Lanes, tree: Tree, flight: Flight) -> int:
    """The node of the state in `flight.states[0]`, made if there is none; NO_NODE without room.

    It has its moves even where some role has none, and the game is over for the search.
    """
    flight.keys[0] = hash_of(flight.states, 0)
    node = find_node(tree, flight.states, 0, flight.keys[0])
    if node == NO_NODE or tree.nodes[node].moves == NO_BLOCK:
        kernels.load_states(layout, lanes, flight.states, 1)
        _see_moves(layout, lanes, flight, 1)
        if node == NO_NODE:
            node = _open_node(layout, lanes, tree, flight, 0)
        if node != NO_NODE and tree.nodes[node].moves == NO_BLOCK:
            _list_moves(layout, tree, flight, node, 0)
    return node


@kernel
def expand(layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, new: int) -> int:
    """Look at the states that `new` simulations have come to; adds those that are not known.

    Returns how many simulations are on known ground and may go on; `lists[0]` has them.
    """
    _compute_states(layout, lanes, tree, flight, new)
    _see_moves(layout, lanes, flight, new)
    flight.totals[ROUNDS] += 1
    for k in range(new):
        flight.keys[k] = hash_of(flight.states, k)
        fetch_bucket(tree, flight.keys[k])
    for k in range(new):
        fetch_node(tree, flight.keys[k])
    waiting = 0
    for k in range(new):
        simulation = flight.lists[1, k]
        node = find_node(tree, flight.states, k, flight.keys[k])
        known = node != NO_NODE
        if not known:
            node = _open_node(layout, lanes, tree, flight, k)
        if node == NO_NODE:
            copy_state(flight.leaves, simulation, flight.states, k)
            flight.leaf[simulation] = NO_NODE
            continue
        link(tree, flight, simulation, flight.depth[simulation] - 1, node)
        arrive(tree, flight, simulation, node)
        if known:
            flight.lists[0, waiting] = simulation
            waiting += 1
    return waiting
