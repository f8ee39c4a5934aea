"""Exact search of a one-player game: from a state to the best end that there is, if time allows.

It ends with the highest goal that the rules have, or when there is no other state left: then the
best line is proven.  It knows no clock: whoever uses it has it work in slices.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from forward_model.compiled import CompiledModel
from ggp_agent.search.exact.counters import step_fluents
from ggp_agent.search.exact.expand import (
    BETTER,
    EXHAUSTED,
    OUT_OF_MEMORY,
    RUNNING,
    TABLE_FULL,
    begin,
    expand,
)
from ggp_agent.search.exact.lines import Line, Replay
from ggp_agent.search.exact.space import (
    BEST,
    DEAD,
    END,
    EXPANDED,
    GENERATED,
    STATES,
    Space,
    emptied,
    fill_table,
    line_to,
    new_space,
    with_larger_table,
)
from propnet.layout import Layout, new_lanes

SLICE = 0.02
"""Seconds that a slice of work should take."""
FIRST_SWEEPS = 16
"""Evaluations of the network in the first slice; how long they take is not known yet."""
MOST_SWEEPS = 1 << 20
MOVED_AT_ONCE = 1 << 17
"""States that are moved on to a larger table in a slice."""


class ExactSearch:
    """Searches from one state after the other; keeps the best line from the present one."""

    def __init__(self, game: CompiledModel, memory: int) -> None:
        self._layout: Layout = game.layout
        self._lanes = new_lanes(self._layout, seed=0)
        self._space: Space = new_space(self._layout, memory)
        self._steps = step_fluents(self._layout)
        self._replay = Replay(self._layout, self._lanes)
        self._sweeps = FIRST_SWEEPS
        self.line: Line | None = None
        """the best line from the present state to the end of the game that is known"""
        self.start(self._layout.initial.tobytes())

    def start(self, state: bytes, known: Line | None = None) -> None:
        """Search from this state; `known`: a line from there that is to be surpassed."""
        self._state, self.line = state, known
        self.expanded = self.generated = self.dead = 0
        """states that were expanded, moves made in them, and dead ends found"""
        self._exhausted = self._full = False
        self._begin(by_step=not self._steps.any())

    def _begin(self, by_step: bool) -> None:
        """Begin anew; states at different steps are different ones, or the earlier one counts."""
        self._by_step = by_step
        self._larger: Space | None = None
        self._moved = 0
        ignored = np.zeros_like(self._steps) if by_step else self._steps
        self._space = space = emptied(self._space, ignored)
        space.work.rows[0] = np.frombuffer(self._state, np.uint64)
        space.counters[BEST] = self.line.goal if self.line else -1
        begin(space)

    @property
    def highest(self) -> int:
        """The highest goal that the rules have."""
        return self._space.highest

    @property
    def states(self) -> int:
        """States in the table."""
        return int(self._space.counters[STATES])

    @property
    def is_proven(self) -> bool:
        """Whether there is no better line than the best that is known."""
        return self._exhausted or (self.line is not None and self.line.goal >= self.highest)

    @property
    def is_over(self) -> bool:
        """Whether more work would bring nothing."""
        return self.is_proven or self._full

    def replayed(self, state: bytes, moves: Sequence[int]) -> Line | None:
        """The line of these moves from a state; None where they don't lead to the end."""
        return self._replay.line(state, moves)

    def best_of(
        self, prefix: Sequence[int], dice: np.random.Generator, longest: int
    ) -> Line | None:
        """The best of some random lines from the present state that begin with these moves."""
        return self._replay.best_of(self._state, prefix, dice, longest)

    def surpass(self, line: Line) -> None:
        """Somebody else has found this line from the present state: look for better ones only."""
        self.line = line
        self._space.counters[BEST] = max(line.goal, int(self._space.counters[BEST]))

    def work(self, sweeps: int = 0) -> None:
        """A slice of work: some hundredths of a second, or so many evaluations of the network."""
        if self.is_over:
            return
        if self._larger is not None:
            self._go_on_growing(self._larger)
            return
        counters, begun = self._space.counters, time.monotonic()
        before = counters[[EXPANDED, GENERATED, DEAD]]
        result = expand(self._layout, self._lanes, self._space, sweeps or self._sweeps)
        made = (counters[[EXPANDED, GENERATED, DEAD]] - before).tolist()
        self.expanded, self.generated = self.expanded + made[0], self.generated + made[1]
        self.dead += made[2]
        if result == BETTER:
            self._note_line()
        elif result == TABLE_FULL:
            self.grow()
        elif result == OUT_OF_MEMORY:
            self._full = True
        elif result == EXHAUSTED and not self._by_step:
            self._begin(by_step=True)  # nothing is proven: being late may be of use
        elif result == EXHAUSTED:
            self._exhausted = True
        elif result == RUNNING and not sweeps:
            seconds = max(1e-6, time.monotonic() - begun)
            change = max(0.5, min(2.0, SLICE / seconds))
            self._sweeps = max(1, min(MOST_SWEEPS, int(self._sweeps * change + 0.5)))

    def grow(self) -> None:
        """Begin to make room in the table, in the next slices of work."""
        self._larger, self._moved = with_larger_table(self._space), 0

    def _go_on_growing(self, larger: Space) -> None:
        """Move some states on to a larger table, which is used when it has all of them."""
        last = min(self.states, self._moved + MOVED_AT_ONCE)
        fill_table(larger, self._moved, last)
        self._moved = last
        if last == self.states:
            self._space, self._larger = larger, None

    def _note_line(self) -> None:
        """A better end was found: keep the line to it, as it turns out when it is played."""
        moves = line_to(self._space, int(self._space.counters[END]))
        line = self._replay.line(self._state, moves)
        known = self.line.goal if self.line else -1
        if line is not None and line.goal > known:
            self.line = line
        self._space.counters[BEST] = max(known, line.goal if line else known)
