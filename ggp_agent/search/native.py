"""The native search: batches of simulations over the bit-parallel simulator.

This is the checked Python side of the kernels in `ggp_agent.search.simulation`: it owns the tree,
decides how many simulations are in flight, and watches the clock between batches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gdl.state_machine import CHANCE_ROLE, JointMove, Move, State
from ggp_agent.parameters import Agent
from ggp_agent.search.selection import SelectionParameters
from ggp_agent.search.simulation import (
    DEPTH,
    PLAYOUTS,
    SIMULATIONS,
    TRANSITIONS,
    expand_root,
    new_flight,
    simulate_batch,
)
from ggp_agent.search.tree import (
    BYTES_PER_ENTRY,
    NO_NODE,
    NODES,
    OPEN,
    TERMINAL,
    Tree,
    bytes_per_node,
    clear,
    extend_joint,
    find_child,
    keep_subtree,
    new_tree,
)
from ggp_agent.thinking import Interrupted
from propnet.compiling import compile_in_background
from propnet.layout import layout_of, new_lanes
from propnet.network import Network
from propnet.vectors import LANES

MAX_NODES = 4_000_000
MAX_VISITS = 2**30
"""Visits are counted in 32 bits; nobody learns from more."""
USUAL_MOVES = 30
"""Moves per role and node that the division of memory between nodes and entries reckons with."""


class NativeSearch:
    """A `Thinker` that searches with decoupled UCT and random playouts, tree kept between moves.

    The same seed and one simulation in flight give the same tree.
    """

    def __init__(self, network: Network, role: int, agent: Agent, seed: int) -> None:
        self._network, self._role, self._agent = network, role, agent
        self._layout = layout_of(network)
        self._lanes = new_lanes(self._layout, seed)
        compile_in_background(network, self._layout)  # kernels use the code once it is there
        self._flight = new_flight(self._layout, int(agent.number("depth")), seed)
        self._random = np.random.Generator(np.random.PCG64([seed, 2]))
        self._parameters = SelectionParameters(
            agent.number("C"),
            agent.number("FPU"),
            agent.number("VO"),
            network.roles.index(CHANCE_ROLE) if CHANCE_ROLE in network.roles else -1,
        )
        self._numbers = [{move: i for i, move in enumerate(moves)} for moves in network.moves]
        self._tree = self._room()
        self._batch_seconds = 0.0
        self._full = False
        self._seconds = 0.0
        self.enter(self._layout.initial.tobytes(), None)

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`; keeps what the tree knows of the new state."""
        assert isinstance(state, bytes)
        self._flight.totals[:] = 0
        self._seconds, self._full = 0.0, False
        self._batch_seconds /= 2  # one slow batch must not stop the thinking of later moves
        child = NO_NODE if joint_move is None else self._child(joint_move)
        packed = np.frombuffer(state, np.uint64)
        known = child != NO_NODE and self._tree.kind[child] == OPEN
        if known and np.array_equal(self._tree.state[child], packed):
            keep_subtree(self._tree, child)
        else:
            clear(self._tree, packed)
            expand_root(self._layout, self._lanes, self._tree, self._flight)

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`."""
        tree, flight = self._tree, self._flight
        budget = int(self._agent.number("simulations"))
        if tree.kind[0] == TERMINAL:
            return
        available = 0.0 if budget else deadline - time.monotonic()
        while not self._full and tree.visits[0] < MAX_VISITS and not interrupted():
            started = time.monotonic()
            # the first batch in a state is run in any case: the last one may have been held up
            estimate = self._batch_seconds if flight.totals[SIMULATIONS] else 0.0
            if started + estimate >= deadline:
                return
            batch = self._in_flight(available)
            if budget:
                batch = min(batch, budget - int(flight.totals[SIMULATIONS]))
                if batch <= 0:
                    return
            playouts = int(self._agent.number("playouts")) or LANES
            playouts = max(1, min(playouts, LANES // batch))
            self._full = not simulate_batch(
                self._layout, self._lanes, tree, flight, self._parameters, batch, playouts
            )
            self._batch_seconds = time.monotonic() - started
            self._seconds += self._batch_seconds

    def choose(self) -> Move:
        """See `Thinker.choose`: the highest mean at the root, ties at random."""
        moves, counts, rewards = self.root_statistics()
        means = np.where(counts > 0, rewards / np.maximum(counts, 1), -1.0)
        best = np.flatnonzero(means == means.max())
        return moves[self._random.choice(best)]

    def root_statistics(self) -> tuple[list[Move], NDArray[np.int32], NDArray[np.float64]]:
        """Our role's moves at the root, how often each was selected, and its summed rewards."""
        tree, role = self._tree, self._role
        low, high = tree.first[0, role : role + 2]
        moves = [self._network.moves[role][i] for i in tree.move[low:high]]
        return moves, tree.tries[low:high].copy(), tree.reward[low:high].copy()

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        totals, tree = self._flight.totals, self._tree
        simulations = int(totals[SIMULATIONS])
        return {
            "simulations": simulations,
            "playouts": int(totals[PLAYOUTS]),
            "transitions": int(totals[TRANSITIONS]),
            "seconds": round(self._seconds, 3),
            "nodes": int(tree.size[NODES]),
            "root_visits": int(tree.visits[0]),
            "mean_depth": round(int(totals[DEPTH]) / max(1, simulations), 2),
            "full": self._full,
        }

    def _in_flight(self, available: float) -> int:
        """Simulations in flight: few while the tree is small, for they would repeat each other.

        A batch takes its time however small it is: where only few fit the `available` seconds,
        they are larger from the start.
        """
        most, ramp = int(self._agent.number("in_flight")), int(self._agent.number("ramp"))
        if ramp == 0:
            return most
        batches = available / self._batch_seconds if self._batch_seconds else math.inf
        least = min(64, int(6400 / max(1.0, batches)))
        return max(1, min(most, max(least, int(self._tree.visits[0]) // ramp)))

    def _child(self, joint_move: JointMove) -> int:
        if self._tree.kind[0] == TERMINAL:
            return NO_NODE
        joint = np.uint64(0)
        for role, move in enumerate(joint_move):
            joint = np.uint64(extend_joint(joint, self._numbers[role][move]))
        return int(find_child(self._tree, 0, joint))

    def _room(self) -> Tree:
        """A tree that fits the memory; half of it must remain for nodes that have many moves."""
        roles, words = len(self._network.roles), len(self._layout.initial)
        batch = LANES * len(self._layout.legal)
        budget = int(self._agent.number("memory")) * 2**20 - BYTES_PER_ENTRY * batch
        usual = min(USUAL_MOVES * roles, len(self._layout.legal))
        nodes = min(MAX_NODES, budget // bytes_per_node(words, roles, usual))
        return new_tree(max(2 * LANES, nodes), nodes * usual + batch, words, roles)
