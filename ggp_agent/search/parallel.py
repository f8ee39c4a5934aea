"""Several trees at once, one thread each, for one move.

This is root parallelization (Chaslot, Winands, van den Herik: Parallel Monte-Carlo Tree Search,
2008, section 3.2): the trees know nothing of each other, so that there is nothing to wait for and
a seed still fixes each of them; what they know of the root's moves is put together in the end.
Every tree has tuners of its own.  The kernels let other threads run while they work.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from gdl.state_machine import JointMove, Move, State
from ggp_agent.agents import Agent
from ggp_agent.search.final import choose_move, put_together
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.settings import F32
from ggp_agent.search.stopping import Interrupted
from ggp_agent.search.trace import Trace, together
from ggp_agent.system.cores import cores

SHARED = ("memory", "nodes", "simulations")
"""Parameters that are for all trees together."""


def threads_of(agent: Agent) -> int:
    """How many trees an agent searches at once."""
    threads, budget = int(agent.number("threads")), int(agent.number("simulations"))
    if budget:  # is to mean the same on every machine
        return min(threads or 1, budget)
    return threads or cores()


def share_of(agent: Agent, threads: int, number: int) -> Agent:
    """The agent with its share, as one of `threads` trees, of what there is for all together."""
    totals = {name: int(agent.number(name)) for name in SHARED}
    shares = {name: (total + threads - 1 - number) // threads for name, total in totals.items()}
    return Agent(agent.name, agent.summary, {**agent.settings, **shares})


class ParallelSearch:
    """A `Thinker` that thinks with several searches of one role at once."""

    def __init__(self, searches: Sequence[NativeSearch], agent: Agent, seed: int) -> None:
        self._searches = tuple(searches)
        self._rule = str(agent["final"])
        self._random = np.random.Generator(np.random.PCG64([seed, 4]))

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`."""
        for search in self._searches:
            search.enter(state, joint_move)

    def evaluate_by(self, weights: F32, bias: F32) -> None:
        """See `NativeSearch.evaluate_by`."""
        for search in self._searches:
            search.evaluate_by(weights, bias)

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`; as soon as one tree has nothing left to find out, all stop."""
        over = threading.Event()

        def is_over() -> bool:
            return over.is_set() or interrupted()

        def work(search: NativeSearch) -> None:
            try:
                search.think(deadline, is_over)
            except BaseException:
                over.set()
                raise
            if not search.is_worth_it():
                over.set()

        first, *others = self._searches
        with ThreadPoolExecutor(len(others), "search") as helpers:
            tasks = [helpers.submit(work, search) for search in others]
            work(first)
        for task in tasks:
            task.result()

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        known = put_together([search.root_moves() for search in self._searches])
        return choose_move(known, self._rule, self._random)

    def trace(self) -> Trace:
        """What the thinking in the present state found, in all trees."""
        return together([search.trace() for search in self._searches])

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        first, *others = (search.tuner for search in self._searches)
        return {**self.trace().as_json(), **first.report(others)}
