"""Batches of simulations, in four stages side by side: the one kernel that Python calls.

Up to 512 simulations are in flight at once, one or more lanes each; with one in flight this is
the sequential algorithm of the papers.  Where many are, playouts that take much longer than the
others go on with the next batch (rollover).
"""

from __future__ import annotations

from typing import NamedTuple

from ggp_agent.search.arrays import Arrays
from ggp_agent.search.backpropagation import back_up, set_rewards
from ggp_agent.search.descent import descend, start_at_root, stop_at_leaves
from ggp_agent.search.expansion import expand
from ggp_agent.search.few_lanes import FewLanes, arrays_of
from ggp_agent.search.kernel import direct, entry, kernel
from ggp_agent.search.locks import REWARDS, SHARED, STRUCTURE, acquire, release_lock
from ggp_agent.search.nodes import lacks_room, make_room, spare_more
from ggp_agent.search.played_moves import forget_moves
from ggp_agent.search.playout import is_any_playing, play_out
from ggp_agent.search.proofs import note_children
from ggp_agent.search.slots import COMPLETED, PLAYED, begin_simulations, end_simulations
from ggp_agent.search.solver import prove
from ggp_agent.search.strategies import dispatch
from ggp_agent.search.tree import Tree
from propnet.few_lanes import borrow_generator, catch_up, return_generator
from propnet.layout import I32, Lanes, Layout
from propnet.vectors import FEW

MOST_EVALUATIONS = 3
"""Batches look for new states so many times at most; a single simulation as often as it takes."""
WORTH_AN_EVALUATION = 16
"""A look for new states costs the same for many as for few: less than one in so many of a batch's
simulations are not worth another one, and are played out from the known states they came to."""


NEVER = 2**31 - 1
"""More visits than a root has."""


class Batch(NamedTuple):
    """What a batch is to be, and how many like it follow."""

    new: int
    """simulations that begin, at the first idle slots"""
    share: int
    """so many of them have the values in one of the first free rows of settings"""
    playouts: int
    """playouts per leaf; times the slots up to the last one in use they are 512 at most"""
    rollover: int
    """playouts that may go on with the next batch, at most; 0 where there are several per leaf"""
    repeats: int
    """batches one after the other, at most; 1 unless nothing is left playing between them"""
    until: int
    """visits of the root with which no other batch follows"""
    role: int
    """whose result, once it is proven, is a reason that no other batch follows"""


@direct
@entry
def simulate_batches(
    layout: Layout,
    lanes: Lanes,
    few: FewLanes,
    tree: Tree,
    arrays: Arrays,
    root: int,
    batch: Batch,
) -> tuple[int, int, int, int]:
    """Begin simulations at the slots' roots, and go on with those that were left playing.

    These are all the same but in self-play; `root` is the one that is never recycled.

    None is left playing in a full tree; those that are completed leave in the settings what their
    rows brought.  Returns the number of batches; of the last one how many simulations are
    completed, and how many rows of theirs there are; and the visits of the root.
    """
    batches = 0
    while True:
        completed, rewarded = _simulate_batch(layout, lanes, few, tree, arrays, root, batch)
        batches += 1
        visits = tree.nodes[root].visits
        if batches >= batch.repeats or visits >= batch.until:
            break
        low, high = tree.scores[root, batch.role]
        if arrays.options.solver and low >= high:
            break
    return batches, completed, rewarded, visits


@kernel
def _simulate_batch(
    layout: Layout,
    lanes: Lanes,
    few: FewLanes,
    tree: Tree,
    arrays: Arrays,
    root: int,
    batch: Batch,
) -> tuple[int, int]:
    """A batch; how many simulations are completed, and how many rows of theirs there are."""
    rollover = batch.rollover
    simulations = begin_simulations(arrays.slots, arrays.settings, batch.new, batch.share)
    if tree.locks[SHARED] == 0:  # several threads see to it between batches
        spare_more(tree)
        if lacks_room(tree, simulations, 0):
            rollover = 0  # their paths would be in the way
            if is_any_playing(arrays, simulations):
                _finish(layout, lanes, few, tree, arrays, simulations, batch.playouts, 0)
            if arrays.options.solver:
                note_children(tree, root)  # nobody need have come by since they were proven
            make_room(tree, root, simulations, 0)
    begun = start_at_root(tree, arrays, simulations)
    waiting, evaluations = begun, 0
    while waiting > 0:
        new = descend(tree, arrays, waiting)
        waiting = expand(layout, lanes, few, tree, arrays, new) if new > 0 else 0
        evaluations += 1
        too_few = waiting * WORTH_AN_EVALUATION < begun
        if begun > 1 and (evaluations == MOST_EVALUATIONS or too_few):
            waiting = 0
    stop_at_leaves(tree, arrays, simulations)
    _finish(layout, lanes, few, tree, arrays, simulations, batch.playouts, rollover)
    return end_simulations(arrays.slots, arrays.settings, batch.new)


@kernel
def _finish(
    layout: Layout,
    lanes: Lanes,
    few: FewLanes,
    tree: Tree,
    arrays: Arrays,
    simulations: int,
    playouts: int,
    rollover: int,
) -> None:
    """Playouts of the simulations at their leaves, and what follows from those that are over."""
    # what playouts have played that roll over stays in the lanes in which they are
    alone = rollover == 0 and not is_any_playing(arrays, simulations)
    few_do, in_few = alone and simulations * playouts <= FEW, arrays_of(few, arrays)
    if few_do:
        borrow_generator(few.lanes, lanes)
        played = play_out(layout, few.lanes, tree, in_few, simulations, playouts, 0)
        return_generator(few.lanes, lanes)
    else:
        catch_up(few.lanes, lanes)
        played = play_out(layout, lanes, tree, arrays, simulations, playouts, rollover)
    set_rewards(tree, arrays, simulations, playouts)
    acquire(tree.locks, REWARDS)
    back_up(tree, arrays, simulations)
    release_lock(tree.locks, REWARDS)
    if played and dispatch.counts_moves(arrays):
        if few_do:
            _learn_from_lanes(layout, few.lanes, in_few, tree.locks, simulations, playouts)
        else:
            _learn_from_lanes(layout, lanes, arrays, tree.locks, simulations, playouts)
        dispatch.learn_from_playouts(layout, tree, arrays, simulations, playouts)
    stage = arrays.slots.stage
    if arrays.options.solver:
        acquire(tree.locks, REWARDS)
        for slot in range(simulations):
            if stage[slot] == PLAYED:
                acquire(tree.locks, STRUCTURE)
                prove(tree, arrays, slot)
                release_lock(tree.locks, STRUCTURE)
        release_lock(tree.locks, REWARDS)
    for slot in range(simulations):
        if stage[slot] == PLAYED:
            stage[slot] = COMPLETED


@kernel
def _learn_from_lanes(
    layout: Layout, lanes: Lanes, arrays: Arrays, locks: I32, simulations: int, playouts: int
) -> None:
    """Learn from what was played in the lanes, and forget it."""
    dispatch.learn_from_lanes(layout, lanes, arrays, locks, simulations, playouts)
    forget_moves(layout, lanes, arrays.played)
