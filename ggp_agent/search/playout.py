"""Stage 3, playouts: all leaves' games are played to their ends side by side.

Policies: uniformly random moves; MAST with epsilon-greedy choice, per role and step; MAST with
Gibbs measure, a move's probability being proportional to exp(Q / τ).
"""

from __future__ import annotations

import math

import numpy as np

from ggp_agent.search.flight import (
    GIBBS,
    GOAL_BITS,
    LANDED,
    MAST,
    OVER,
    PLAYING,
    RANDOM,
    TRANSITIONS,
    Flight,
)
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.mast import highest, note_moves, shuffle_ties, sort_moves
from ggp_agent.search.settings import EPSILON
from ggp_agent.search.tree import NO_NODE, OPEN, Tree, copy_state
from propnet import kernels
from propnet.choice import CHANCE_PLANES
from propnet.layout import I32, U64, Lanes, Layout
from propnet.vectors import any_lane, load, popcount, splat, store

PATIENCE = 16
"""Moves that the last playouts are waited for: next to a batch's own cost so many are cheap."""
MOST_REJECTIONS = 100
"""Draws after which the Gibbs policy takes the move that was drawn last."""


@part
def goal_rows(roles: int) -> int:
    """The first of the rows of `masks` that hold the goals' bits; the greedy lanes are at 0."""
    return roles * (CHANCE_PLANES + 2)


@kernel
def _load_leaves(
    layout: Layout, lanes: Lanes, tree: Tree, flight: Flight, batch: int, playouts: int
) -> bool:
    """Put the simulations' states into lanes, `playouts` each; whether any is to be played on."""
    lanes.active[:] = kernels.NONE
    some = False
    for simulation in range(batch):
        leaf, stage = flight.leaf[simulation], flight.stage[simulation]
        goes_on = stage == PLAYING
        if stage == LANDED:
            goes_on = leaf == NO_NODE or tree.nodes[leaf].kind == OPEN
        for lane in range(simulation * playouts, (simulation + 1) * playouts):
            copy_state(flight.states, lane, flight.leaves, simulation)
            if goes_on:
                lanes.active[0, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
                some = True
    if some:
        kernels.load_states(layout, lanes, flight.states, batch * playouts)
    return some


@part
def _lanes_between(low: int, high: int, word: int) -> np.uint64:
    """The lanes `low` to `high` - 1 as bits of a word that has some of them."""
    first, last = max(low - 64 * word, 0), min(high - 64 * word, 64)
    return (kernels.ALL >> np.uint64(64 - last + first)) << np.uint64(first)


@kernel
def _set_chances(flight: Flight, role: int, roles: int, batch: int, playouts: int) -> None:
    """Write 1 - epsilon of every lane's simulation as bits, the lowest first, after one for 1.

    Neighbours with the same row of settings are written at once.
    """
    plane, masks, row = roles + role * (CHANCE_PLANES + 1), flight.masks, flight.settings.row
    for i in range(plane, plane + CHANCE_PLANES + 1):
        store(masks, i, splat(kernels.NONE))
    first = 0
    while first < batch:
        last = first + 1
        while last < batch and row[last] == row[first]:
            last += 1
        epsilon = flight.settings.values[row[first], role, EPSILON]
        chance = round((1.0 - epsilon) * (1 << CHANCE_PLANES))
        low, high = first * playouts, last * playouts
        for word in range(low >> 6, (high + 63) >> 6):
            lanes = _lanes_between(low, high, word)
            if chance >> CHANCE_PLANES:
                masks[plane, word] |= lanes
            for bit in range(CHANCE_PLANES):
                if (chance >> bit) & 1:
                    masks[plane + 1 + bit, word] |= lanes
        first = last


@kernel
def _draw_greedy(lanes: Lanes, flight: Flight, roles: int) -> None:
    """Draw the lanes in which a role takes its best move: with probability 1 - epsilon."""
    masks = flight.masks
    for role in range(roles):
        first = roles + role * (CHANCE_PLANES + 1)
        chances = masks[first + 1 : first + 1 + CHANCE_PLANES]
        kernels.draw_lanes(lanes, chances, masks[role : role + 1])
        certain = load(masks, first)
        store(masks, role, load(masks, role) | certain)
        if role == flight.chance:
            store(masks, role, splat(kernels.NONE))


@kernel
def _accept(lanes: Lanes, flight: Flight, layout: Layout, move: int, weight: float) -> None:
    """Accept a move that was drawn with a probability in the lanes that still wait for one.

    These are in the last row of `masks`; the rows before it are to work with.
    """
    masks, waiting = flight.masks, len(flight.masks) - 1
    drawn = load(lanes.values, layout.first_move + move) & load(masks, waiting)
    if not any_lane(drawn):
        return
    chance = round(weight * (1 << CHANCE_PLANES))
    first = waiting - 1 - CHANCE_PLANES
    if chance >> CHANCE_PLANES:
        store(masks, waiting - 1, splat(kernels.ALL))
    else:
        for bit in range(CHANCE_PLANES):
            row = kernels.ALL if (chance >> bit) & 1 else kernels.NONE
            store(masks, first + bit, splat(row))
        kernels.draw_lanes(lanes, masks[first : waiting - 1], masks[waiting - 1 : waiting])
    taken = drawn & load(masks, waiting - 1)
    store(flight.rows, move, load(flight.rows, move) | taken)
    store(masks, waiting, load(masks, waiting) & ~taken)


@kernel
def _choose_by_gibbs(layout: Layout, lanes: Lanes, flight: Flight) -> None:
    """Every role draws a move with a probability proportional to exp(Q / τ), by rejection.

    A uniformly drawn legal move is accepted with exp((Q - the best Q of all moves) / τ).
    """
    roles = len(layout.span) - 1
    row = len(flight.masks) - 1
    flight.rows[:] = kernels.NONE
    kernels.choose_moves(layout, lanes)
    for role in range(roles):
        low, high = layout.span[role], layout.span[role + 1]
        best = flight.quality[flight.order[low]]
        store(flight.masks, row, load(lanes.active, 0))
        for rejections in range(MOST_REJECTIONS + 1):
            certain = role == flight.chance or rejections == MOST_REJECTIONS
            for move in range(low, high):
                weight = 1.0 if certain else math.exp((flight.quality[move] - best) / flight.tau)
                _accept(lanes, flight, layout, move, weight)
            waiting = load(flight.masks, row)
            if certain or not any_lane(waiting):
                break
            kernels.choose_moves(layout, lanes)
    for move in range(len(layout.legal)):
        store(lanes.values, layout.first_move + move, load(flight.rows, move))


@kernel
def _cut_off(lanes: Lanes, lengths: I32, batch: int, playouts: int, length: int) -> None:
    """End the playouts of simulations that began so many moves from the root, or more."""
    for simulation in range(batch):
        if lengths[simulation] >= length:
            for lane in range(simulation * playouts, (simulation + 1) * playouts):
                lanes.active[0, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))


@kernel
def _play_on(
    layout: Layout, lanes: Lanes, flight: Flight, batch: int, playouts: int, lingering: int
) -> int:
    """Moves in the active lanes until all games have ended or are too long.

    At most `lingering` are waited for no longer than PATIENCE moves.  Returns the number of moves,
    adding those of all lanes to the totals.  Lanes that have ended stay as they are, for their
    goals.
    """
    limit, deepest = flight.path.shape[1], highest(flight.length, batch)
    counted = flight.grave or flight.policy != RANDOM
    step, waited = 0, 0
    while True:
        kernels.see_position(layout, lanes)
        ended = kernels.read(lanes.values, layout.terminal)
        store(lanes.active, 0, load(lanes.active, 0) & ~ended)
        if deepest + step >= limit:
            _cut_off(lanes, flight.length, batch, playouts, limit - step)
        going = popcount(load(lanes.active, 0))
        if going <= lingering:
            waited += 1
            if going == 0 or waited > PATIENCE:
                return step
        if flight.policy == RANDOM:
            kernels.choose_moves(layout, lanes)
        elif flight.policy == MAST:
            if flight.ties[0] > 0:
                shuffle_ties(flight)
            _draw_greedy(lanes, flight, len(layout.span) - 1)
            kernels.choose_moves_greedily(layout, lanes, flight.order, flight.masks)
        else:
            _choose_by_gibbs(layout, lanes, flight)
        if counted:
            note_moves(layout, lanes, flight)
        kernels.advance(layout, lanes)
        flight.totals[TRANSITIONS] += going
        step += 1


@part
def is_any_playing(flight: Flight, batch: int) -> bool:
    """Whether a playout of an earlier batch is not over."""
    playing = 0
    for simulation in range(batch):
        playing += flight.stage[simulation] == PLAYING
    return playing > 0


@kernel
def _keep_goals(layout: Layout, lanes: Lanes, masks: U64, first: int) -> None:
    """Write the goals that were just evaluated as bits, from row `first` on.

    Values come in rising order, so that the highest of those that hold is what stays.
    """
    for row in range(first, first + (len(layout.span) - 1) * GOAL_BITS):
        store(masks, row, splat(kernels.NONE))
    for k in range(len(layout.goals)):
        holds = kernels.read(lanes.values, layout.goals[k])
        row = first + layout.goal_role[k] * GOAL_BITS
        for bit in range(GOAL_BITS):
            others = load(masks, row + bit) & ~holds
            store(masks, row + bit, others | holds if (layout.goal_value[k] >> bit) & 1 else others)


@kernel
def play_out(
    layout: Layout,
    lanes: Lanes,
    tree: Tree,
    flight: Flight,
    batch: int,
    playouts: int,
    lingering: int,
) -> bool:
    """`playouts` playouts from every leaf; their goals are in `goals`, and their bits in `masks`.

    No more than `lingering` of them (0 where there are several per leaf), which take much longer
    than the others, may be left as they are: their lanes are still active, their simulations still
    PLAYING.  Returns whether there was anything to play.
    """
    roles = len(layout.span) - 1
    some = _load_leaves(layout, lanes, tree, flight, batch, playouts)
    if some:
        _play_some(layout, lanes, flight, roles, batch, playouts, lingering)
    for simulation in range(batch):
        if flight.stage[simulation] == LANDED or flight.stage[simulation] == PLAYING:
            lane = simulation * playouts
            active = (lanes.active[0, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
            flight.stage[simulation] = PLAYING if active else OVER
    return some


@kernel
def _play_some(
    layout: Layout,
    lanes: Lanes,
    flight: Flight,
    roles: int,
    batch: int,
    playouts: int,
    lingering: int,
) -> None:
    """Play in the active lanes; see `play_out`."""
    if flight.policy != RANDOM:
        sort_moves(layout, flight)
        if flight.policy != GIBBS:
            for role in range(roles):
                _set_chances(flight, role, roles, batch, playouts)
    moves = _play_on(layout, lanes, flight, batch, playouts, lingering)
    if any_lane(load(lanes.active, 0)):
        kernels.save_states(layout, lanes, flight.leaves, batch)
        for simulation in range(batch):
            flight.length[simulation] += moves
    kernels.read_goals(layout, lanes, flight.goals)
    if flight.grave or flight.policy != RANDOM:
        _keep_goals(layout, lanes, flight.masks, goal_rows(roles))
