"""What one thread of a search does: batch after batch of simulations in a tree.

It decides how many simulations are in flight, has their parameters set, and watches the clock
between batches.  A search has one such thread, or several in one tree (`parallel`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.search.arrays import DEEPEST, EDGES, TRANSITIONS, beside, new_arrays
from ggp_agent.search.batch_sizes import MANY, ROLLOVER, STRETCH, BatchSizes
from ggp_agent.search.few_lanes import new_few
from ggp_agent.search.final import RootMove
from ggp_agent.search.room import bytes_in_use, new_tree_for
from ggp_agent.search.root import root_moves
from ggp_agent.search.settings import F64, FixedSettings, Tuner, heads
from ggp_agent.search.simulation import NEVER, Batch, simulate_batches
from ggp_agent.search.stopping import Progress, StopReason, is_to_stop, seconds_left
from ggp_agent.search.trace import Trace
from ggp_agent.search.tree import NO_NODE, RECYCLED, USED, Tree
from propnet.layout import Layout, new_lanes
from propnet.vectors import LANES

if TYPE_CHECKING:
    from ggp_agent.search.parallel import Crew

MAX_VISITS = 2**30
"""Visits are counted in 32 bits; nobody learns from more."""
JOIN = 512
"""Visits of the root from which on there is work for more than one thread."""


class SearchThread:
    """All that a thread of a search has of its own, and the tree on which it works."""

    def __init__(
        self,
        game: CompiledModel,
        role: int,
        agent: Agent,
        seed: int,
        tuner: Tuner | None = None,
        first: SearchThread | None = None,
    ) -> None:
        """`first`: the thread whose tree this one is to work on, too; else it gets a new one."""
        self._game, self._role, self._agent = game, role, agent
        # what every batch asks for
        self._sizes = BatchSizes(agent)
        self._solves = agent["solver"] == "on"
        self._layout: Layout = game.layout
        self._lanes = new_lanes(self._layout, seed)
        self._arrays = new_arrays(game, agent, seed)
        self._tree: Tree = new_tree_for(game, agent) if first is None else first._tree
        self.tuner: Tuner = tuner or FixedSettings(agent)
        self._root, self._is_open = NO_NODE, True
        if first is not None:
            self._arrays = beside(self._arrays, first._arrays)
        self._few = new_few(self._layout, self._arrays)
        settings = self._arrays.settings
        self._free, self._rewarded = heads(settings.free), heads(settings.rewarded)
        self._reward_weights, self._reward_totals = heads(settings.weights), heads(settings.totals)
        self._weights = heads(np.zeros(LANES, np.int32))
        self._batch = Batch(0, 1, 1, 0, 1, NEVER, role)
        self._batch_seconds = self._finish_seconds = self._seconds = 0.0
        self._playing = self._move_weight = 0
        self._move_totals = np.zeros(len(game.moves))
        if first is not None:
            self.enter_beside(first, False)

    @property
    def agent(self) -> Agent:
        """Whose parameters it has."""
        return self._agent

    @property
    def tree(self) -> Tree:
        """The tree on which it works, with others if there are any."""
        return self._tree

    @property
    def root(self) -> int:
        """The node of the present state."""
        return self._root

    @property
    def visits(self) -> int:
        """Those of the root, as of the last batch."""
        return self._visits

    @property
    def playing(self) -> int:
        """Simulations that are in flight between batches."""
        return self._playing

    def enter_beside(self, first: SearchThread, moved: bool) -> None:
        """Go to the state that the `first` thread of this tree has entered."""
        self._begin(moved)
        self._root = first._root
        self._go_to_root()
        self._is_open = first._is_open

    def _begin(self, moved: bool) -> None:
        """The thinking about a state begins; whether a real move led there."""
        self._arrays.totals[:] = 0
        self._simulations = self._playouts = 0
        self._seconds = 0.0
        self._batch_seconds /= 2  # one slow batch must not stop the thinking of later moves
        self._finish_seconds /= 2
        if moved and self._move_weight:
            self.tuner.tell_move(self._move_totals, self._move_weight)
        self._move_totals, self._move_weight = np.zeros(len(self._game.moves)), 0
        if moved:
            self.tuner.new_move()
        self.tuner.ask_move(self._arrays.settings.of_move)
        self.tuner.ask_batch(self._arrays.settings.of_batch)

    def _go_to_root(self) -> None:
        self._arrays.slots.root[:] = self._root
        self._record = self._tree.nodes[self._root]  # not a copy, and nor are the bounds
        self._bounds = self._tree.scores[self._root, self._role]
        self._visits = int(self._record["visits"])

    def catch_up(self, first: SearchThread) -> None:
        """The thinking about this state began when the `first` thread began it."""
        self._seconds, self._batch_seconds = first._seconds, first._batch_seconds
        self._finish_seconds = max(self._finish_seconds, first._finish_seconds)

    def take_over_rewards(self, other: SearchThread) -> None:
        """Have the rewards that another thread got with the same values for the move among ours."""
        self._move_totals += other._move_totals
        self._move_weight, other._move_weight = self._move_weight + other._move_weight, 0

    def think_until(self, reasons: Sequence[StopReason], crew: Crew | None = None) -> None:
        """Think until one of the reasons holds; as one of a crew if there is one."""
        progress = self._progress()
        budget = int(self._agent.number("simulations"))
        available = math.inf if budget else seconds_left(reasons, progress)
        while not is_to_stop(reasons, progress):
            slots = self._in_flight(available)
            if budget:
                slots = min(slots, budget - self._simulations + self._playing)
            if crew is not None:
                slots = crew.before_batch(self, slots)
            playouts = self._sizes.playouts(slots, self._playing)
            rolls_over = playouts == 1 and slots >= MANY
            repeats = 1
            if slots < MANY and self.tuner.is_fixed and (crew is None or crew.is_alone):
                repeats = self._repeats(slots, seconds_left(reasons, progress), budget)
            batches = self.simulate(
                slots, playouts, slots // ROLLOVER if rolls_over else 0, repeats
            )
            self._note_batches(progress, batches)
            if crew is not None:
                crew.after_batches(progress, (batches - 1) * slots)
        if self._playing:
            self.finish()
            self._finish_seconds = time.monotonic() - progress.now
            self._seconds += self._finish_seconds

    def finish(self) -> None:
        """Complete all simulations that are in flight."""
        if self._playing:
            self.simulate(0)

    def _progress(self) -> Progress:
        """How far we are.

        The first batch in a state is run in any case: the last one may have been held up.
        """
        begun = self._simulations or self._seconds  # by the first thread, if this is another one
        estimate = self._batch_seconds + self._finish_seconds if begun else 0.0
        now, is_open = time.monotonic(), self.is_worth_it()
        return Progress(now, self._seconds, estimate, self._simulations, is_open)

    def _repeats(self, slots: int, available: float, budget: int) -> int:
        """How many batches of so many simulations may follow one another in one call.

        What happens between small batches would take longer than these.
        """
        if not self._batch_seconds or self._playing:
            return 1
        repeats = int(min(STRETCH, available / 4) / self._batch_seconds)
        if budget:
            repeats = min(repeats, (budget - self._simulations) // slots)
        return max(1, repeats)

    def _note_batches(self, progress: Progress, batches: int) -> None:
        """We are so many batches further; small ones take no longer than what is done here."""
        now = time.monotonic()
        self._seconds += now - progress.now
        self._batch_seconds = seconds = (now - progress.now) / batches
        progress.now, progress.seconds, progress.simulations = now, self._seconds, self._simulations
        progress.next_seconds = seconds + self._finish_seconds
        progress.is_open = self.is_worth_it()

    def simulate(self, slots: int, playouts: int = 1, rollover: int = 0, repeats: int = 1) -> int:
        """Have so many simulations in flight: ask for parameters, simulate, tell the rewards.

        At most `rollover` playouts are not over then, and go on with the next batch.  Returns how
        many such batches there have been: up to `repeats`, which is 1 unless the tuner is fixed and
        nothing rolls over; no more once other things are to be decided.
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
        until = NEVER
        if repeats > 1:
            others_join = JOIN if self._visits < JOIN else NEVER
            until = int(min(others_join, self._sizes.grows_at(slots)))
        batch = new, share, playouts, rollover, repeats, until, self._role
        if batch != self._batch:
            self._batch = Batch(*batch)
        batches, completed, rewarded, self._visits = simulate_batches(
            self._layout,
            self._lanes,
            self._few,
            self._tree,
            self._arrays,
            self._root,
            self._batch,
        )
        self._playing += new - completed
        self._simulations += batches * new
        self._playouts += batches * new * playouts
        totals = self._reward_totals[rewarded]
        tuner.tell(self._rewarded[rewarded], totals, self._reward_weights[rewarded])
        if tuner.watches_batches:
            self._tell_sums(totals.sum(axis=0), completed)
        return batches

    def _tell_sums(self, totals: F64, weight: int) -> None:
        """Tell what a batch brought, and count it for the move."""
        self.tuner.tell_batch(totals, weight)
        self._move_totals += totals
        self._move_weight += weight

    def root_moves(self) -> list[RootMove]:
        """What is known of our role's moves at the root."""
        return root_moves(self._tree, self._game, self._root, self._role, self._agent)

    def score_bounds(self) -> tuple[int, int]:
        """What our role gets at least and at most, by what is proven."""
        low, high = self._bounds.tolist()
        return low, high

    def counts(self) -> Trace:
        """What the thinking in the present state found, but for the root's moves; at any time."""
        totals, tree = self._arrays.totals, self._tree
        simulations = self._simulations
        edges, transitions = int(totals[EDGES]), int(totals[TRANSITIONS])
        return Trace(
            simulations=simulations,
            playouts=self._playouts,
            visited_nodes=edges + transitions,
            seconds=self._seconds,
            tree_nodes=int(tree.counters[USED]),
            recycled=int(tree.counters[RECYCLED]),
            memory=bytes_in_use(tree),
            root_visits=int(self._record["visits"]),
            mean_depth=edges / max(1, simulations),
            deepest=int(totals[DEEPEST]),
            low=self.score_bounds()[0],
            high=self.score_bounds()[1],
        )

    def is_worth_it(self) -> bool:
        """Whether thinking can still find out anything."""
        if not self._is_open or self._visits >= MAX_VISITS:
            return False
        if not self._solves:
            return True
        low, high = self.score_bounds()
        return low < high or not self._knows_a_move()

    def _knows_a_move(self) -> bool:
        """Whether it is known by which move our role gets what it is proven to get."""
        low, moves = int(self._bounds[0]), self.root_moves()
        return low == 0 or len(moves) < 2 or any(move.low >= low for move in moves)

    def _in_flight(self, available: float) -> int:
        """Simulations in flight, with so many seconds left (inf where time is not what counts)."""
        batches = available / self._batch_seconds if self._batch_seconds else math.inf
        return self._sizes.in_flight(self._visits, batches)
