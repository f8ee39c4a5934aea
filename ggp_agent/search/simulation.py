"""A batch of simulations, in four stages side by side: the one kernel that Python calls.

Up to 512 simulations are in flight at once, one or more lanes each; with one in flight this is
the sequential algorithm of the papers.
"""

from __future__ import annotations

from ggp_agent.search.backpropagation import back_up
from ggp_agent.search.descent import count_edges, descend, take_off
from ggp_agent.search.expansion import PATIENT_ROUNDS, expand
from ggp_agent.search.flight import PLAYOUTS, SIMULATIONS, Flight
from ggp_agent.search.kernel import direct, entry
from ggp_agent.search.playout import play_out
from ggp_agent.search.solver import prove
from ggp_agent.search.tree import NO_NODE, Tree, copy_state, make_room
from propnet.layout import Lanes, Layout


@direct
@entry
def simulate_batch(
    layout: Layout,
    lanes: Lanes,
    tree: Tree,
    flight: Flight,
    root: int,
    batch: int,
    playouts: int,
) -> None:
    """Run `batch` simulations with `playouts` playouts per leaf (batch · playouts <= 512).

    `flight.settings` holds their parameters; `flight.rewards` has their rewards afterwards.
    """
    make_room(tree, root, batch)
    take_off(tree, flight, root, batch)
    waiting, rounds = batch, 0
    while waiting > 0:
        new = descend(tree, flight, waiting)
        rounds += 1
        waiting = 0
        if new > 0:
            go_on = batch == 1 or rounds < PATIENT_ROUNDS
            waiting = expand(layout, lanes, tree, flight, new, go_on)
    for simulation in range(batch):
        leaf = flight.leaf[simulation]
        if leaf != NO_NODE:
            copy_state(flight.leaves, simulation, tree.states, leaf)
    count_edges(flight, batch)
    played = play_out(layout, lanes, tree, flight, batch, playouts)
    back_up(layout, lanes, tree, flight, batch, playouts, played)
    if flight.solver:
        for simulation in range(batch):
            prove(tree, flight, simulation)
    flight.totals[SIMULATIONS] += batch
    flight.totals[PLAYOUTS] += batch * playouts
