"""Several threads that search one tree.

This is tree parallelization (Chaslot, Winands, van den Herik: Parallel Monte-Carlo Tree Search,
2008, section 3.3).  Every thread has simulations in flight of its own, with its own random numbers
and tuner; the virtual visits keep those of all threads apart, as they do within a batch.  How the
threads keep out of each other's way in the tree is in `locks`; between batches it is here: who has
what of a budget, and that nodes are recycled while nobody has a path through them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from gdl.state_machine import JointMove, Move, State
from ggp_agent.agents import Agent
from ggp_agent.search.locks import SHARED
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.room import is_short, make_much_room
from ggp_agent.search.search_thread import JOIN, SearchThread
from ggp_agent.search.settings import F32
from ggp_agent.search.stopping import Interrupted, Progress, stop_reasons
from ggp_agent.search.trace import Trace, of_threads
from ggp_agent.system.cores import cores

SEED_STEP = 0x9E3779B9
"""Between the seeds of an agent's threads; those of a match's seats are neighbours."""


def seed_of_thread(seed: int, number: int) -> int:
    """The seed of an agent's thread by its number; the first one, 0, has the agent's own."""
    return (seed + number * SEED_STEP) % 2**32


def threads_of(agent: Agent) -> int:
    """With how many threads an agent searches."""
    threads, budget = int(agent.number("threads")), int(agent.number("simulations"))
    if budget:  # is to mean the same on every machine
        return min(threads or 1, budget)
    return threads or cores()


class Gate:
    """Who is inside has simulations in flight; room is made while nobody is."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = self._waiting = 0

    def enter(self) -> None:
        """Come in; not while somebody waits for the others to be gone."""
        with self._changed:
            while self._waiting:
                self._changed.wait()
            self._inside += 1

    def leave(self) -> None:
        """Go out."""
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    @property
    def is_to_be_left(self) -> bool:
        """Whether somebody waits for all to go."""
        return self._waiting > 0

    def alone(self, is_needed: Callable[[], bool], work: Callable[[], None]) -> None:
        """Go out, wait for the others to be gone, work if it is still needed, come in again."""
        with self._changed:
            self._inside -= 1
            self._waiting += 1
            self._changed.notify_all()
            try:
                while self._inside and is_needed():
                    self._changed.wait()
                if is_needed():
                    work()
            finally:
                self._waiting -= 1
                self._inside += 1
                self._changed.notify_all()


class Crew:
    """The threads at work on a tree; the first is there from the start, the others come later."""

    def __init__(self, threads: Sequence[SearchThread], simulations: int, budget: int) -> None:
        """So many simulations have been made of a budget, which is 0 where there is none."""
        self._threads, self._tree = threads, threads[0].tree
        self._simulations, self._budget = simulations, budget
        self._gate, self._counting = Gate(), threading.Lock()
        self._over, self._are_several = threading.Event(), False
        self._tasks: list[Future[None]] = []

    @property
    def simulations(self) -> int:
        """Those that all threads have begun."""
        return self._simulations

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """Think until a deadline, or until a thread finds a reason to stop."""

        def is_over() -> bool:
            return self._over.is_set() or interrupted()

        self._reasons = stop_reasons(self._threads[0].agent, deadline, is_over)
        try:
            with ThreadPoolExecutor(len(self._threads), "search") as self._helpers:
                self._work(self._threads[0])
        finally:
            self._tree.locks[:] = 0
        for task in self._tasks:
            task.result()

    def _work(self, thread: SearchThread) -> None:
        self._gate.enter()
        try:
            thread.think_until(self._reasons, self)
            if not thread.is_worth_it():
                self._over.set()
        except BaseException:
            self._over.set()
            raise
        finally:
            self._gate.leave()

    def _join(self, thread: SearchThread) -> None:
        thread.catch_up(self._threads[0])
        self._work(thread)

    def before_batch(self, thread: SearchThread, slots: int) -> int:
        """A thread is about to have so many simulations in flight; how many it may have."""
        if not self._are_several:
            if thread.visits >= JOIN:
                self._tree.locks[SHARED], self._are_several = 1, True
                for other in self._threads[1:]:
                    self._tasks.append(self._helpers.submit(self._join, other))
        elif self._gate.is_to_be_left:
            thread.finish()
            self._gate.leave()
            self._gate.enter()
        elif is_short(self._tree, slots):
            thread.finish()
            self._gate.alone(
                lambda: is_short(self._tree, slots),
                lambda: make_much_room(self._tree, thread.root, slots * len(self._threads)),
            )
        with self._counting:
            new = max(0, slots - thread.playing)
            if self._budget:
                new = min(new, self._budget - self._simulations)
            self._simulations += new
        return thread.playing + new

    @property
    def is_alone(self) -> bool:
        """Whether the others have not come yet."""
        return not self._are_several

    def after_batches(self, progress: Progress, more: int) -> None:
        """A thread has simulated what it was about to, and so many `more`, if it is alone."""
        if more:
            self._simulations += more
        progress.simulations = self._simulations


class ParallelSearch:
    """A `Thinker` that thinks with several threads in one tree."""

    def __init__(self, first: NativeSearch, others: Sequence[SearchThread]) -> None:
        """The search whose tree it is, and other threads that work on the same."""
        self._first, self._others = first, tuple(others)
        self._simulations = 0

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`."""
        for other in self._others:  # decay is the first one's for all: so are the rewards
            self._first.take_over_rewards(other)
        self._first.enter(state, joint_move)
        for other in self._others:
            other.enter_beside(self._first, joint_move is not None)
        self._simulations = 0

    def evaluate_by(self, weights: F32, bias: F32) -> None:
        """See `NativeSearch.evaluate_by`; the weights are common to all threads."""
        self._first.evaluate_by(weights, bias)
        for other in self._others:
            other.enter_beside(self._first, False)
        self._simulations = 0

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`; as soon as one thread has a reason to stop, all have."""
        budget = int(self._first.agent.number("simulations"))
        crew = Crew([self._first, *self._others], self._simulations, budget)
        try:
            crew.think(deadline, interrupted)
        finally:
            self._simulations = crew.simulations

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        return self._first.choose()

    def trace(self) -> Trace:
        """What the thinking in the present state found."""
        return of_threads(self._first.trace(), [other.counts() for other in self._others])

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return self._first.report_of(self.trace(), [other.tuner for other in self._others])
