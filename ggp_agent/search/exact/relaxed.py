"""Which states are dead ends: from where no goal above what we have can be reached any more.

A state is followed into the future with every legal move made or not made, nobody knows which: of
every node it is known only whether it may be true and whether it may be false (the relaxed
reachability of planning, with three values).  What is impossible there is impossible in the game,
so a state that can't come to an end with a better goal there is left out for good reason.
512 states are looked at at once.

What is lost that way is that exactly one move is made at a time: a fluent that all moves but one
leave alone could change at any time.  So it is found out beforehand by which moves each fluent can
change at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import entry, kernel, part
from propnet.layout import ALL, I32, NONE, U64, Lanes, Layout
from propnet.phases import GOALS, POSITION, STEP
from propnet.vectors import LANES, any_lane, load, rows, splat, store

_ONE = np.uint64(1)

HORIZON = 300
"""Steps that are looked ahead; a state about which nothing is known then is no dead end."""
SWEEPS = 20
"""What a step takes, in evaluations of the network: with two values per node, and interpreted."""
MOST_WORK = 20_000_000
"""Gates times fluents beyond which it would take too long to find out what moves change."""
MOST_CHANGERS = 64
ANY = -1
"""In place of the moves that change a fluent: any may."""
MOST_GATES = 60_000
"""Gates beyond which it would take too long."""


class Relaxed(NamedTuple):
    """What nodes may be, in every lane."""

    true: U64
    """(nodes, WORDS) may be true; (1, WORDS) where the game is too large to look ahead"""
    false: U64
    """(nodes, WORDS) may be false"""
    next: U64
    """(2 F, WORDS) the same of the fluents, a step later"""
    first: I32
    """(2 F + 1,) of every fluent that does not hold, then of every one that does, first changer"""
    changers: I32
    """numbers of the moves that can change it; -1: any may, or no matter"""
    alive: U64
    """(2, WORDS) lanes that are no dead ends; those whose game may go on"""


def new_relaxed(layout: Layout) -> Relaxed:
    """Working arrays; of no use for networks that are too large, or have cycles."""
    nodes, fluents = len(layout.first) - 1, layout.fluents
    usable = nodes <= MOST_GATES and len(layout.feedback) == 0
    count = nodes if usable else 1
    relaxed = Relaxed(
        true=rows(count),
        false=rows(count),
        next=rows(2 * fluents if usable else 1),
        first=np.arange(2 * fluents + 1, dtype=np.int32),
        changers=np.full(2 * fluents, ANY, np.int32),
        alive=rows(2),
    )
    return _with_changers(layout, relaxed) if usable else relaxed


def _with_changers(layout: Layout, relaxed: Relaxed) -> Relaxed:
    fluents, moves = layout.fluents, len(layout.legal)
    lanefuls = -(-moves // LANES)
    if fluents * len(layout.first) * lanefuls > MOST_WORK:
        return relaxed
    changing = rows(2 * fluents * lanefuls)
    for laneful in range(lanefuls):
        find_changers(layout, relaxed, laneful, changing)
    octets = changing.view(np.uint8).reshape(2 * fluents, -1)
    can = np.unpackbits(octets, axis=1, bitorder="little")[:, :moves]
    can[can.sum(axis=1) > MOST_CHANGERS] = 0
    can = can.astype(np.bool_)
    lists = [np.flatnonzero(row).astype(np.int32) for row in can]
    for number, changers in enumerate(lists):
        if octets[number].any() and not len(changers):  # too many
            lists[number] = np.array([ANY], np.int32)
    first = np.concatenate(([0], np.cumsum([len(some) for some in lists]))).astype(np.int32)
    return relaxed._replace(first=first, changers=np.concatenate([*lists, [0]]).astype(np.int32))


@kernel
def _sweep(layout: Layout, relaxed: Relaxed, phase: int) -> None:
    """Evaluate the gates of a phase."""
    true, false = relaxed.true, relaxed.false
    for gate in range(layout.bounds[phase], layout.bounds[phase + 1]):
        all_true, one_false = splat(ALL), splat(NONE)
        for edge in range(layout.first[gate], layout.first[gate + 1]):
            literal = layout.inputs[edge]
            node = literal >> 1
            if literal & 1:
                all_true &= load(false, node)
                one_false |= load(true, node)
            else:
                all_true &= load(true, node)
                one_false |= load(false, node)
        store(true, gate, all_true)
        store(false, gate, one_false)


@part
def _may(relaxed: Relaxed, literal: int, holds: bool):  # type: ignore[no-untyped-def] # a vector
    """Lanes in which a literal may hold, or may not."""
    if ((literal & 1) == 0) == holds:
        return load(relaxed.true, literal >> 1)
    return load(relaxed.false, literal >> 1)


@entry
def find_changers(layout: Layout, relaxed: Relaxed, laneful: int, changing: U64) -> None:
    """Write to `changing` (2 F lanefuls, WORDS) which moves may change a fluent that does not hold,
    or does: a lane stands for a move, and of all other fluents nothing is known.
    """
    moves, fluents, true, false = len(layout.legal), layout.fluents, relaxed.true, relaxed.false
    first, lanefuls = laneful * LANES, len(changing) // (2 * fluents)
    last = min(moves, first + LANES)
    store(true, 0, splat(NONE))
    store(false, 0, splat(ALL))
    for fluent in range(fluents):
        store(true, 1 + fluent, splat(ALL))
        store(false, 1 + fluent, splat(ALL))
    for move in range(moves):
        store(true, layout.first_move + move, splat(NONE))
        store(false, layout.first_move + move, splat(ALL))
    for move in range(first, last):
        lane, node = move - first, layout.first_move + move
        true[node, lane >> 6] |= _ONE << np.uint64(lane & 63)
        false[node, lane >> 6] &= ~(_ONE << np.uint64(lane & 63))
    for holds in range(2):
        for fluent in range(fluents):
            store(true, 1 + fluent, splat(ALL if holds else NONE))
            store(false, 1 + fluent, splat(NONE if holds else ALL))
            _sweep(layout, relaxed, np.int64(POSITION))
            _sweep(layout, relaxed, np.int64(STEP))
            row = (holds * fluents + fluent) * lanefuls + laneful
            store(changing, row, _may(relaxed, layout.next[fluent], holds == 0))
            for move in range(first, last):
                lane, literal = move - first, layout.legal[move]
                rail = false if literal & 1 else true
                legal = rail[literal >> 1, lane >> 6] >> np.uint64(lane & 63)
                if legal & _ONE == NONE:
                    changing[row, lane >> 6] &= ~(_ONE << np.uint64(lane & 63))
            store(true, 1 + fluent, splat(ALL))
            store(false, 1 + fluent, splat(ALL))


@part
def _changed(layout: Layout, relaxed: Relaxed, place: int):  # type: ignore[no-untyped-def] # vector
    """Lanes in which a move that can change a fluent may be made."""
    found = splat(NONE)
    for k in range(relaxed.first[place], relaxed.first[place + 1]):
        move = relaxed.changers[k]
        if move == ANY:
            return splat(ALL)
        found |= load(relaxed.true, layout.first_move + move)
    return found


@part
def _begin(layout: Layout, lanes: Lanes, relaxed: Relaxed) -> None:
    store(relaxed.true, 0, splat(NONE))
    store(relaxed.false, 0, splat(ALL))
    for fluent in range(layout.fluents):
        value = load(lanes.values, 1 + fluent)
        store(relaxed.true, 1 + fluent, value)
        store(relaxed.false, 1 + fluent, ~value)


@part
def _step(layout: Layout, relaxed: Relaxed) -> bool:
    """Go on by a step; whether anything is different then where games may go on."""
    for move in range(len(layout.legal)):
        store(relaxed.true, layout.first_move + move, _may(relaxed, layout.legal[move], True))
        store(relaxed.false, layout.first_move + move, splat(ALL))
    _sweep(layout, relaxed, np.int64(STEP))
    change, fluents = splat(NONE), layout.fluents
    for fluent in range(fluents):
        true = _may(relaxed, layout.next[fluent], True)
        false = _may(relaxed, layout.next[fluent], False)
        true &= load(relaxed.true, 1 + fluent) | _changed(layout, relaxed, fluent)
        false &= load(relaxed.false, 1 + fluent) | _changed(layout, relaxed, fluents + fluent)
        change |= true ^ load(relaxed.true, 1 + fluent)
        change |= false ^ load(relaxed.false, 1 + fluent)
        store(relaxed.next, fluent, true)
        store(relaxed.next, fluents + fluent, false)
    for fluent in range(fluents):
        store(relaxed.true, 1 + fluent, load(relaxed.next, fluent))
        store(relaxed.false, 1 + fluent, load(relaxed.next, fluents + fluent))
    return any_lane(change & load(relaxed.alive, 1) & ~load(relaxed.alive, 0))


@kernel
def find_dead_ends(layout: Layout, lanes: Lanes, relaxed: Relaxed, best: int) -> int:
    """Write to `alive` the lanes from which an end with a goal above `best` may be reached.

    The fluents of the states are in the lanes; `alive` has, in its second row, which lanes to look
    at.  Returns how many evaluations of the network that took.
    """
    _begin(layout, lanes, relaxed)
    store(relaxed.alive, 0, splat(NONE))
    for step in range(HORIZON):
        _sweep(layout, relaxed, np.int64(POSITION))
        going = load(relaxed.alive, 1)
        ends = _may(relaxed, layout.terminal, True) & going
        if any_lane(ends):
            _sweep(layout, relaxed, np.int64(GOALS))
            good = splat(NONE)
            for k in range(len(layout.goals)):
                if layout.goal_value[k] > best:
                    good |= _may(relaxed, layout.goals[k], True)
            store(relaxed.alive, 0, load(relaxed.alive, 0) | (good & ends))
        going &= _may(relaxed, layout.terminal, False)
        store(relaxed.alive, 1, going)
        if not any_lane(going & ~load(relaxed.alive, 0)):
            return SWEEPS * (step + 1)
        if not _step(layout, relaxed):
            return SWEEPS * (step + 1)
    store(relaxed.alive, 0, load(relaxed.alive, 0) | load(relaxed.alive, 1))
    return SWEEPS * HORIZON
