"""A batch of simulations, in four stages side by side: the one kernel that Python calls.

Up to 512 simulations are in flight at once, one or more lanes each; with one in flight this is
the sequential algorithm of the papers.  Where many are, playouts that take much longer than the
others go on with the next batch.
"""

from __future__ import annotations

from ggp_agent.search.backpropagation import back_up
from ggp_agent.search.descent import descend, land, take_off
from ggp_agent.search.expansion import expand
from ggp_agent.search.flight import (
    DONE,
    OVER,
    Flight,
    leave_places,
    take_places,
)
from ggp_agent.search.kernel import direct, entry, kernel
from ggp_agent.search.playout import is_any_playing, play_out
from ggp_agent.search.solver import prove
from ggp_agent.search.tree import Tree, lacks_room, make_room, spare_more
from propnet.layout import Lanes, Layout

PATIENT_ROUNDS = 3
"""Batches look for new states so many times at most; a single simulation as often as it takes."""
WORTH_A_ROUND = 16
"""A look for new states costs the same for many as for few: less than one in so many of a batch's
simulations are not worth another one, and are played out from the known states they came to."""


@direct
@entry
def simulate_batch(
    layout: Layout,
    lanes: Lanes,
    tree: Tree,
    flight: Flight,
    root: int,
    new: int,
    share: int,
    playouts: int,
    lingering: int,
) -> tuple[int, int, int]:
    """Begin `new` simulations at the first free places, with `playouts` playouts per leaf.

    Each `share` of them have the values in one of the first free rows of `flight.settings`.  The
    places up to the last one times `playouts` are 512 at most.  Those that were left playing go on.
    At most `lingering` of all are left playing (0 where there are several playouts), none in a full
    tree; the others are done, and the settings have what their rows brought.  Returns how many
    simulations are done, how many rows of theirs there are, and the visits of the root.
    """
    batch = take_places(flight, new, share)
    spare_more(tree)
    if lacks_room(tree, batch):
        lingering = 0  # their paths would be in the way
        if is_any_playing(flight, batch):
            _finish(layout, lanes, tree, flight, batch, playouts, 0)
        make_room(tree, root, batch)
    begun = take_off(tree, flight, root, batch)
    waiting, rounds = begun, 0
    while waiting > 0:
        new = descend(tree, flight, waiting)
        waiting = expand(layout, lanes, tree, flight, new) if new > 0 else 0
        rounds += 1
        if begun > 1 and (rounds == PATIENT_ROUNDS or waiting * WORTH_A_ROUND < begun):
            waiting = 0
    land(tree, flight, batch)
    _finish(layout, lanes, tree, flight, batch, playouts, lingering)
    done, told = leave_places(flight)
    return done, told, tree.nodes[root].visits


@kernel
def _finish(
    layout: Layout,
    lanes: Lanes,
    tree: Tree,
    flight: Flight,
    batch: int,
    playouts: int,
    lingering: int,
) -> None:
    """Playouts of the simulations at their leaves, and what follows from those that are done."""
    played = play_out(layout, lanes, tree, flight, batch, playouts, lingering)
    back_up(layout, lanes, tree, flight, batch, playouts, played)
    if flight.solver:
        for simulation in range(batch):
            if flight.stage[simulation] == OVER:
                prove(tree, flight, simulation)
    for simulation in range(batch):
        if flight.stage[simulation] == OVER:
            flight.stage[simulation] = DONE
