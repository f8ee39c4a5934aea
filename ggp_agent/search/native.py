"""The native search: batches of simulations over the bit-parallel simulator.

This is the checked Python side of the kernels in `ggp_agent.search.simulation`: it owns the tree,
decides how many simulations are in flight, has their parameters set, and watches the clock
between batches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gdl.state_machine import CHANCE_ROLE, JointMove, Move, State
from ggp_agent.agents import Agent
from ggp_agent.errors import SearchError
from ggp_agent.mind.thinker import Interrupted
from ggp_agent.player.clock import within
from ggp_agent.search.expansion import open_root
from ggp_agent.search.final import RootMove, choose_move
from ggp_agent.search.flight import (
    DEEPEST,
    EDGES,
    TRANSITIONS,
    new_flight,
)
from ggp_agent.search.mast import decay
from ggp_agent.search.memory import NO_BLOCK, ORDERS, UNIT
from ggp_agent.search.scoring import LANES as GROUP
from ggp_agent.search.settings import FixedSettings, Tuner, heads
from ggp_agent.search.simulation import simulate_batch
from ggp_agent.search.trace import Trace, principal_variation
from ggp_agent.search.tree import (
    ENTRY,
    FRESH,
    LIMIT,
    MAX_NODES,
    NO_NODE,
    OPEN,
    RECYCLED,
    SPARE,
    STEP,
    TERMINAL,
    USED,
    Tree,
    bytes_per_node,
    clear,
    follow,
    new_tree,
    statistics,
)
from propnet.layout import Layout, layout_of, new_lanes
from propnet.network import Network
from propnet.vectors import LANES

MANY = 64
"""Simulations in flight from which on some playouts may go on with the next batch."""
LINGERING = 3
"""These are one in so many at most."""
MAX_VISITS = 2**30
"""Visits are counted in 32 bits; nobody learns from more."""
OPENED = 0.6
"""Share of nodes with statistics of their moves that the division of memory reckons with."""
WITH_AMAF = 0.06
"""Share of nodes with an AMAF table, likewise."""


class NativeSearch:
    """A `Thinker` that searches with decoupled MCTS, as its agent's parameters say.

    The same seed and one simulation in flight give the same tree.
    """

    def __init__(
        self,
        network: Network,
        role: int,
        agent: Agent,
        seed: int,
        tuner: Tuner | None = None,
        layout: Layout | None = None,
    ) -> None:
        """`layout`: the network's, where searches share it and the machine code for it."""
        self._network, self._role, self._agent = network, role, agent
        # what every batch asks for
        self._most, self._ramp = int(agent.number("in_flight")), int(agent.number("ramp"))
        self._doubling = agent.number("ramp_doubling") or math.inf
        self._per_leaf = int(agent.number("playouts")) or LANES
        self._solves = agent["solver"] == "on"
        self._layout = layout or layout_of(network)
        self._lanes = new_lanes(self._layout, seed)
        chance = network.roles.index(CHANCE_ROLE) if CHANCE_ROLE in network.roles else -1
        self._flight = new_flight(self._layout, agent, chance, seed)
        self._random = np.random.Generator(np.random.PCG64([seed, 2]))
        self.tuner: Tuner = tuner or FixedSettings(agent)
        self._tree = self._room()
        self._root = NO_NODE
        settings = self._flight.settings
        self._free, self._told = heads(settings.free), heads(settings.told)
        self._told_weights, self._told_totals = heads(settings.weights), heads(settings.totals)
        self._weights = heads(np.zeros(LANES, np.int32))
        self._batch_seconds = self._landing_seconds = self._seconds = 0.0
        self._playing = 0
        self.enter(self._layout.initial.tobytes(), None)

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`; keeps what the tree knows of the new state."""
        assert isinstance(state, bytes)
        self._flight.totals[:] = 0
        self._simulations = self._playouts = 0
        self._seconds = 0.0
        self._batch_seconds /= 2  # one slow batch must not stop the thinking of later moves
        self._landing_seconds /= 2
        if joint_move is None:
            clear(self._tree)
            self._flight.mast[:] = 0
        else:
            self._tree.counters[STEP] += 1
            self._tree.counters[LIMIT] = 1
            self._tree.counters[SPARE] = 0
            self._tree.counters[RECYCLED] = 0
            decay(self._flight, self._agent.number("decay"))
            self.tuner.new_move()
        self._flight.states[0] = np.frombuffer(state, np.uint64)
        self._root = int(open_root(self._layout, self._lanes, self._tree, self._flight))
        if self._root == NO_NODE:  # nothing of a full tree could be used
            clear(self._tree)
            self._flight.states[0] = np.frombuffer(state, np.uint64)
            self._root = int(open_root(self._layout, self._lanes, self._tree, self._flight))
        if self._root == NO_NODE:
            raise SearchError("the memory of the agent is too small for this game's moves")
        self._record = self._tree.nodes[self._root]  # not a copy, and nor are the bounds
        self._bounds = self._tree.scores[self._root, self._role]
        self._record["step"] = self._tree.counters[STEP]
        self._is_open = bool(self._record["kind"] == OPEN)
        self._visits = int(self._record["visits"])

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`."""
        budget = int(self._agent.number("simulations"))
        deadline = within(deadline, self._agent.number("seconds"), self._seconds)
        now = time.monotonic()
        available = math.inf if budget else deadline - now
        while self.is_worth_it() and not interrupted():
            # the first batch in a state is run in any case: the last one may have been held up
            estimate = self._batch_seconds + self._landing_seconds if self._simulations else 0.0
            if now + estimate >= deadline:
                break
            batch = self._in_flight(available)
            if budget:
                left = budget - self._simulations
                if left <= 0:
                    break
                batch = min(batch, left + self._playing)
            playouts = self._playouts_of(batch)
            may_linger = playouts == 1 and batch >= MANY
            self.simulate(batch, playouts, batch // LINGERING if may_linger else 0)
            started, now = now, time.monotonic()
            self._batch_seconds = now - started
            self._seconds += self._batch_seconds
        if self._playing:
            self.simulate(0)
            self._landing_seconds = time.monotonic() - now
            self._seconds += self._landing_seconds

    def simulate(self, batch: int, playouts: int = 1, lingering: int = 0) -> None:
        """Have so many simulations in flight: ask for parameters, simulate, tell the rewards.

        At most `lingering` playouts are not over then, and go on with the next batch.
        """
        tuner, new, share = self.tuner, max(0, batch - self._playing), 1
        if new:
            share = tuner.share(new)
            rows = (new + share - 1) // share
            weights = self._weights[rows]
            weights.fill(share)
            weights[-1] = new - share * (rows - 1)
            tuner.ask(self._free[rows], weights, self._flight.settings.values)
        done, told, self._visits = simulate_batch(
            self._layout,
            self._lanes,
            self._tree,
            self._flight,
            self._root,
            new,
            share,
            playouts,
            lingering,
        )
        self._playing += new - done
        self._simulations += new
        self._playouts += new * playouts
        tuner.tell(self._told[told], self._told_totals[told], self._told_weights[told])

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        return choose_move(self.root_moves(), str(self._agent["final"]), self._random)

    def root_moves(self) -> list[RootMove]:
        """What is known of our role's moves at the root."""
        tree, root, role = self._tree, self._record, self._role
        words, start = tree.pool.words, int(root["moves"]) * UNIT
        if root["moves"] == NO_BLOCK:
            return []
        low, high = words[start + role], words[start + role + 1]
        first, roles = self._layout.span[role], len(tree.best)
        names = self._network.moves[role]
        numbers = words[start + roles + 1 + low : start + roles + 1 + high]
        moves = [RootMove(names[number - first], high=int(tree.best[role])) for number in numbers]
        if root["stats"] == NO_BLOCK:
            return moves
        known = []
        for entry, move in zip(statistics(tree, self._root)[1][low:high], moves, strict=True):
            child = NO_NODE
            if root["mover"] == role:
                child = int(follow(tree, int(entry["child"])))
            if child != NO_NODE and self._solves:
                bounds = tree.scores[child, role].tolist()
                ends = bool(tree.nodes[child]["kind"] == TERMINAL)
                move = replace(move, low=bounds[0], high=bounds[1], ends=ends)
            visits, total = int(entry["visits"]), float(entry["total"])
            known.append(replace(move, visits=visits, total=total))
        return known

    def root_statistics(self) -> tuple[list[Move], NDArray[np.int32], NDArray[np.float64]]:
        """Our role's moves at the root, how often each was selected, and its summed rewards."""
        moves = self.root_moves()
        visits = np.array([move.visits for move in moves], np.int32)
        return [m.move for m in moves], visits, np.array([m.total for m in moves])

    def score_bounds(self) -> tuple[int, int]:
        """What our role gets at least and at most, by what is proven."""
        low, high = self._bounds.tolist()
        return low, high

    def trace(self) -> Trace:
        """What the thinking in the present state found."""
        totals, tree = self._flight.totals, self._tree
        simulations = self._simulations
        edges, transitions = int(totals[EDGES]), int(totals[TRANSITIONS])
        pool = len(tree.pool.order) - int(tree.pool.free[ORDERS])
        fixed = bytes_per_node(tree.states.shape[1], len(tree.best))
        return Trace(
            simulations=simulations,
            playouts=self._playouts,
            visited_nodes=edges + transitions,
            seconds=self._seconds,
            tree_nodes=int(tree.counters[USED]),
            recycled=int(tree.counters[RECYCLED]),
            memory=int(tree.counters[FRESH]) * fixed + pool * UNIT * 4,
            root_visits=int(self._record["visits"]),
            mean_depth=edges / max(1, simulations),
            deepest=int(totals[DEEPEST]),
            low=self.score_bounds()[0],
            high=self.score_bounds()[1],
            moves=self.root_moves(),
            variation=principal_variation(tree, self._network, self._root),
        )

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return {**self.trace().as_json(), **self.tuner.report()}

    def is_worth_it(self) -> bool:
        """Whether thinking can still find out anything."""
        if not self._is_open or self._visits >= MAX_VISITS:
            return False
        if not self._solves:
            return True
        low, high = self.score_bounds()
        return low < high

    def _in_flight(self, available: float) -> int:
        """Simulations in flight: few while the tree is small, for they would repeat each other.

        Once it is large their share of the visits grows, too: what they repeat is soon forgotten.

        A batch takes its time however small it is: where only few fit the `available` seconds
        (inf where time is not what counts), they are larger from the start.
        """
        if self._ramp == 0:
            return self._most
        batches = available / self._batch_seconds if self._batch_seconds else math.inf
        least = min(64, int(6400 / max(1.0, batches)))
        share = (1 + self._visits / self._doubling) / self._ramp
        return max(1, min(self._most, max(least, int(self._visits * share))))

    def _playouts_of(self, batch: int) -> int:
        """Playouts per leaf: no more than the lanes allow, one while some go on from before."""
        if self._playing:
            return 1
        return max(1, min(self._per_leaf, LANES // batch))

    def _room(self) -> Tree:
        """A tree that fits the memory; the share of nodes and blocks is an estimate."""
        roles, words = len(self._network.roles), len(self._layout.initial)
        moves = len(self._layout.legal)
        usual = min(30 * roles, moves)
        block = 4 * (roles + GROUP + usual) + 4 * (ENTRY + 2) * usual * OPENED
        if self._flight.grave:
            block += 8 * moves * WITH_AMAF
        memory = int(self._agent.number("memory")) * 2**20
        fixed = bytes_per_node(words, roles)
        per_node = fixed + (block + 4 * UNIT) * (1 + 1 / (4 * UNIT))
        most = min(MAX_NODES, int(self._agent.number("nodes")))
        nodes = max(2 * LANES, min(most, int(memory / per_node)))
        units = max(1024, (memory - nodes * fixed) // (4 * UNIT + 1))
        wanted = int(nodes * 4 * (block + 4 * UNIT) / (4 * UNIT))
        best = np.array([max((0, *v)) for v in self._network.goal_values], np.uint8)
        return new_tree(nodes, min(units, wanted + 4096), words, best)

    @property
    def is_over(self) -> bool:
        """Whether the present state is the end of the game."""
        return bool(self._record["kind"] == TERMINAL)
