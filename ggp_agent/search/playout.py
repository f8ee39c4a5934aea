"""Stage 3, playouts: all leaves' games are played to their ends side by side.

Who chooses the moves is a strategy's business (`strategies.dispatch`).  Where many simulations are
in flight, playouts that take much longer than the others go on with the next batch (rollover).
"""

from __future__ import annotations

from ggp_agent.search.arrays import TRANSITIONS, Arrays
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.played_moves import highest, keep_goals, note_moves
from ggp_agent.search.slots import AT_LEAF, PLAYED, PLAYING
from ggp_agent.search.strategies import decisive, dispatch
from ggp_agent.search.tree import NO_NODE, OPEN, Tree, copy_state
from propnet import kernels
from propnet.lane_bits import add_lane, has_lane, remove_lane
from propnet.layout import I32, Lanes, Layout
from propnet.vectors import any_lane, load, popcount, store

MOVES_WAITED = 16
"""Moves for which the last playouts are waited for: next to a batch's own cost they are cheap."""


@kernel
def _load_leaves(
    layout: Layout, lanes: Lanes, tree: Tree, arrays: Arrays, simulations: int, playouts: int
) -> bool:
    """Put the simulations' states into lanes, `playouts` each; whether any is to be played on."""
    slots = arrays.slots
    lanes.active[:] = kernels.NONE
    some = False
    for slot in range(simulations):
        leaf, stage = slots.leaf[slot], slots.stage[slot]
        goes_on = stage == PLAYING
        if stage == AT_LEAF:
            goes_on = leaf == NO_NODE or tree.nodes[leaf].kind == OPEN
        for lane in range(slot * playouts, (slot + 1) * playouts):
            copy_state(arrays.new.states, lane, slots.states, slot)
            if goes_on:
                add_lane(lanes.active, 0, lane)
                some = True
    if some:
        kernels.load_states(layout, lanes, arrays.new.states, simulations * playouts)
    return some


@kernel
def _cut_off(lanes: Lanes, lengths: I32, simulations: int, playouts: int, length: int) -> None:
    """End the playouts of simulations that began so many moves from the root, or more."""
    for slot in range(simulations):
        if lengths[slot] >= length:
            for lane in range(slot * playouts, (slot + 1) * playouts):
                remove_lane(lanes.active, 0, lane)


@kernel
def _play_on(
    layout: Layout, lanes: Lanes, arrays: Arrays, simulations: int, playouts: int, rollover: int
) -> int:
    """Moves in the active lanes until all games have ended or are too long.

    At most `rollover` are waited for no longer than MOVES_WAITED moves.  Returns the number of
    moves, adding those of all lanes to the totals.  Lanes that have ended stay as they are, for
    their goals.
    """
    limit, deepest = arrays.slots.path.shape[1], highest(arrays.slots.length, simulations)
    step, waited = 0, 0
    while True:
        kernels.see_position(layout, lanes)
        ended = kernels.read(lanes.values, layout.terminal)
        store(lanes.active, 0, load(lanes.active, 0) & ~ended)
        if deepest + step >= limit:
            _cut_off(lanes, arrays.slots.length, simulations, playouts, limit - step)
        going = popcount(load(lanes.active, 0))
        if going <= rollover:
            waited += 1
            if going == 0 or waited > MOVES_WAITED:
                return step
        decisive.see(layout, lanes, arrays)
        dispatch.choose_moves(layout, lanes, arrays)
        decisive.make(layout, lanes, arrays)
        if dispatch.counts_moves(arrays):
            note_moves(layout, lanes, arrays.played)
        kernels.advance(layout, lanes)
        arrays.totals[TRANSITIONS] += going
        step += 1


@part
def is_any_playing(arrays: Arrays, simulations: int) -> bool:
    """Whether a playout of an earlier batch is not over."""
    playing = 0
    for slot in range(simulations):
        playing += arrays.slots.stage[slot] == PLAYING
    return playing > 0


@kernel
def play_out(
    layout: Layout,
    lanes: Lanes,
    tree: Tree,
    arrays: Arrays,
    simulations: int,
    playouts: int,
    rollover: int,
) -> bool:
    """`playouts` playouts from every leaf (leaf parallelization); their goals are in `played`.

    No more than `rollover` of them (0 where there are several per leaf), which take much longer
    than the others, may be left as they are: their lanes are still active, their simulations still
    PLAYING.  Returns whether there was anything to play.
    """
    some = _load_leaves(layout, lanes, tree, arrays, simulations, playouts)
    if some:
        dispatch.prepare_batch(layout, arrays, simulations, playouts)
        moves = _play_on(layout, lanes, arrays, simulations, playouts, rollover)
        if any_lane(load(lanes.active, 0)):
            kernels.save_states(layout, lanes, arrays.slots.states, simulations)
            for slot in range(simulations):
                arrays.slots.length[slot] += moves
        kernels.read_goals(layout, lanes, arrays.played.goals)
        if dispatch.counts_moves(arrays):
            keep_goals(layout, lanes, arrays.played.goal_bits)
    stage = arrays.slots.stage
    for slot in range(simulations):
        if stage[slot] == AT_LEAF or stage[slot] == PLAYING:
            stage[slot] = PLAYING if has_lane(lanes.active, slot * playouts) else PLAYED
    return some
