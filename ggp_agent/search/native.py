"""The native search: batches of simulations over the bit-parallel simulator.

This is the checked Python side of the kernels in `ggp_agent.search.simulation`: it owns the tree,
decides how many simulations are in flight, has their parameters set, and watches the clock
between batches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from forward_model.compiled import CompiledModel
from gdl.state_machine import JointMove, Move, State
from ggp_agent.agents import Agent
from ggp_agent.errors import SearchError
from ggp_agent.search.arrays import DEEPEST, EDGES, TRANSITIONS, new_arrays
from ggp_agent.search.expansion import open_root
from ggp_agent.search.final import RootMove, choose_move
from ggp_agent.search.memory import ORDERS, UNIT
from ggp_agent.search.nodes import make_room
from ggp_agent.search.room import new_tree_for
from ggp_agent.search.root import bounds_after, root_moves
from ggp_agent.search.settings import F64, FixedSettings, Tuner, heads
from ggp_agent.search.simulation import Batch, simulate_batch
from ggp_agent.search.stopping import (
    Interrupted,
    Progress,
    is_to_stop,
    seconds_left,
    stop_reasons,
)
from ggp_agent.search.strategies import dispatch
from ggp_agent.search.trace import Trace, principal_variation
from ggp_agent.search.tree import (
    EVER,
    FRESH,
    LIMIT,
    MOST_RECYCLED,
    NO_NODE,
    OPEN,
    RECYCLED,
    SOLVED,
    SPARE,
    STEP,
    TERMINAL,
    USED,
    bytes_per_node,
    clear,
)
from propnet.layout import Layout, new_lanes
from propnet.vectors import LANES

MANY = 64
"""Simulations in flight from which on some playouts may go on with the next batch."""
ROLLOVER = 3
"""These are one in so many at most."""
MAX_VISITS = 2**30
"""Visits are counted in 32 bits; nobody learns from more."""


class NativeSearch:
    """A `Thinker` that searches with decoupled MCTS, as its agent's parameters say.

    The same seed and one simulation in flight give the same tree.
    """

    def __init__(
        self,
        game: CompiledModel,
        role: int,
        agent: Agent,
        seed: int,
        tuner: Tuner | None = None,
    ) -> None:
        self._game, self._role, self._agent = game, role, agent
        # what every batch asks for
        self._most, self._ramp = int(agent.number("in_flight")), int(agent.number("ramp"))
        self._doubling = agent.number("ramp_doubling") or math.inf
        self._per_leaf = int(agent.number("playouts")) or LANES
        self._solves = agent["solver"] == "on"
        self._layout: Layout = game.layout
        self._lanes = new_lanes(self._layout, seed)
        self._arrays = new_arrays(game, agent, seed)
        self._random = np.random.Generator(np.random.PCG64([seed, 2]))
        self.tuner: Tuner = tuner or FixedSettings(agent)
        self._tree = new_tree_for(game, agent)
        self._root = NO_NODE
        settings = self._arrays.settings
        self._free, self._rewarded = heads(settings.free), heads(settings.rewarded)
        self._reward_weights, self._reward_totals = heads(settings.weights), heads(settings.totals)
        self._weights = heads(np.zeros(LANES, np.int32))
        self._batch = Batch(0, 1, 1, 0)
        self._batch_seconds = self._finish_seconds = self._seconds = 0.0
        self._playing = self._move_weight = 0
        self._move_totals = np.zeros(len(game.moves))
        self.enter(self._layout.initial.tobytes(), None)

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`; keeps what the tree knows of the new state."""
        assert isinstance(state, bytes)
        self._arrays.totals[:] = 0
        self._simulations = self._playouts = 0
        self._seconds = 0.0
        self._batch_seconds /= 2  # one slow batch must not stop the thinking of later moves
        self._finish_seconds /= 2
        if joint_move is not None and self._move_weight:
            self.tuner.tell_move(self._move_totals, self._move_weight)
        self._move_totals, self._move_weight = np.zeros(len(self._game.moves)), 0
        if joint_move is not None:
            self.tuner.new_move()
        self.tuner.ask_move(self._arrays.settings.of_move)
        self.tuner.ask_batch(self._arrays.settings.of_batch)
        bounds = None
        if joint_move is not None and self._solves:
            bounds = bounds_after(self._tree, self._game, self._root, joint_move)
        if joint_move is None or self._tree.counters[EVER] > MOST_RECYCLED:
            clear(self._tree)
        if joint_move is None:
            dispatch.forget_all(self._arrays)
        else:
            self._tree.counters[STEP] += 1
            self._tree.counters[LIMIT] = 1
            self._tree.counters[SPARE] = 0
            self._tree.counters[RECYCLED] = 0
            dispatch.forget_after_move(self._layout, self._arrays)
        self._open_root(state, bounds)
        self._arrays.slots.root[:] = self._root
        self._record = self._tree.nodes[self._root]  # not a copy, and nor are the bounds
        self._bounds = self._tree.scores[self._root, self._role]
        self._record["step"] = self._tree.counters[STEP]
        if self._record["kind"] == SOLVED and not self._knows_a_move():
            self._record["kind"] = OPEN
        self._is_open = bool(self._record["kind"] == OPEN)
        self._visits = int(self._record["visits"])

    def _open_root(self, state: bytes, bounds: NDArray[np.uint8] | None) -> None:
        """The node of the new state, with what is proven of it; `bounds` (R, 2) from elsewhere."""
        tree = self._tree
        for make_it_fit in (partial(make_room, tree, NO_NODE, 1, 0), partial(clear, tree), None):
            self._arrays.new.states[0] = np.frombuffer(state, np.uint64)
            self._root = int(open_root(self._layout, self._lanes, tree, self._arrays))
            if self._root != NO_NODE:
                break
            if make_it_fit is None:
                raise SearchError("the memory of the agent is too small for this game's moves")
            make_it_fit()
        if bounds is not None:
            scores = tree.scores[self._root]
            scores[:, 0] = np.maximum(scores[:, 0], bounds[:, 0])
            scores[:, 1] = np.minimum(scores[:, 1], bounds[:, 1])

    def _knows_a_move(self) -> bool:
        """Whether it is known by which move our role gets what it is proven to get."""
        low, moves = int(self._bounds[0]), self.root_moves()
        return low == 0 or len(moves) < 2 or any(move.low >= low for move in moves)

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`."""
        reasons = stop_reasons(self._agent, deadline, interrupted)
        progress = self._progress()
        budget = int(self._agent.number("simulations"))
        available = math.inf if budget else seconds_left(reasons, progress)
        while not is_to_stop(reasons, progress):
            slots = self._in_flight(available)
            if budget:
                slots = min(slots, budget - self._simulations + self._playing)
            playouts = self._playouts_of(slots)
            rolls_over = playouts == 1 and slots >= MANY
            self.simulate(slots, playouts, slots // ROLLOVER if rolls_over else 0)
            self._note_batch(progress)
        if self._playing:
            self.simulate(0)
            self._finish_seconds = time.monotonic() - progress.now
            self._seconds += self._finish_seconds

    def _progress(self) -> Progress:
        """How far we are.

        The first batch in a state is run in any case: the last one may have been held up.
        """
        estimate = self._batch_seconds + self._finish_seconds if self._simulations else 0.0
        now, is_open = time.monotonic(), self.is_worth_it()
        return Progress(now, self._seconds, estimate, self._simulations, is_open)

    def _note_batch(self, progress: Progress) -> None:
        """We are a batch further; small ones are over so soon that what is done here counts."""
        now = time.monotonic()
        self._batch_seconds = seconds = now - progress.now
        self._seconds += seconds
        progress.now, progress.seconds, progress.simulations = now, self._seconds, self._simulations
        progress.next_seconds = seconds + self._finish_seconds
        progress.is_open = self.is_worth_it()

    def simulate(self, slots: int, playouts: int = 1, rollover: int = 0) -> None:
        """Have so many simulations in flight: ask for parameters, simulate, tell the rewards.

        At most `rollover` playouts are not over then, and go on with the next batch.
        """
        tuner, new, share = self.tuner, max(0, slots - self._playing), 1
        if new:
            share = tuner.share(new)
            rows = (new + share - 1) // share
            weights = self._weights[rows]
            weights.fill(share)
            weights[-1] = new - share * (rows - 1)
            tuner.ask(self._free[rows], weights, self._arrays.settings.values)
        if tuner.watches_batches:
            tuner.ask_batch(self._arrays.settings.of_batch)
        batch = new, share, playouts, rollover
        if batch != self._batch:
            self._batch = Batch(*batch)
        completed, rewarded, self._visits = simulate_batch(
            self._layout, self._lanes, self._tree, self._arrays, self._root, self._batch
        )
        self._playing += new - completed
        self._simulations += new
        self._playouts += new * playouts
        totals = self._reward_totals[rewarded]
        tuner.tell(self._rewarded[rewarded], totals, self._reward_weights[rewarded])
        if tuner.watches_batches:
            self._tell_sums(totals.sum(axis=0), completed)

    def _tell_sums(self, totals: F64, weight: int) -> None:
        """Tell what a batch brought, and count it for the move."""
        self.tuner.tell_batch(totals, weight)
        self._move_totals += totals
        self._move_weight += weight

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        return choose_move(self.root_moves(), str(self._agent["final"]), self._random)

    def root_moves(self) -> list[RootMove]:
        """What is known of our role's moves at the root."""
        return root_moves(self._tree, self._game, self._root, self._role, self._solves)

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
        totals, tree = self._arrays.totals, self._tree
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
            variation=principal_variation(tree, self._game, self._root),
        )

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return {**self.trace().as_json(self._game.write_move), **self.tuner.report()}

    def is_worth_it(self) -> bool:
        """Whether thinking can still find out anything."""
        if not self._is_open or self._visits >= MAX_VISITS:
            return False
        if not self._solves:
            return True
        low, high = self.score_bounds()
        return low < high or not self._knows_a_move()

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

    @property
    def is_over(self) -> bool:
        """Whether the present state is the end of the game."""
        return bool(self._record["kind"] == TERMINAL)
