"""Thinking about a one-player game: exact search and Monte-Carlo tree search take turns.

Whatever either finds, the best line to an end of the game that was ever seen is remembered, and
played: nobody ends with less than that.  A line to the highest goal, or one that is proven to be
the best, is followed without another thought.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.parameters import Parameter, declare
from ggp_agent.search.exact.lines import Line
from ggp_agent.search.exact.search import ExactSearch
from ggp_agent.search.stopping import Interrupted, Progress, is_to_stop, seconds_left, stop_reasons
from ggp_agent.search.trace import LONGEST_VARIATION, Trace

declare(
    Parameter(
        "exact",
        0.9,
        "share of the time and of the memory that exact search gets in one-player games, where "
        "scores are proven; 0: none",
        high=1.0,
    ),
)

TURN = 0.2
"""Seconds in which both have had their turns."""
SWEEPS_OF_TURN = 64
"""Evaluations of the network in a turn of an agent whose budget is simulations."""
LEAST_MEMORY = 2**20


class TreeSearch(Protocol):
    """What is needed of the search that has the other turns, and its say where no line is known."""

    def enter(self, state: Any, joint_move: Any) -> None:
        """See `Thinker.enter`."""

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`."""

    def choose(self) -> Any:
        """See `Thinker.choose`."""

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""

    def trace(self) -> Trace:
        """What the thinking in the present state found."""


class PuzzleSearch:
    """A `Thinker` for one-player games without chance."""

    def __init__(
        self, game: CompiledModel, agent: Agent, memory: int, tree: TreeSearch, seed: int
    ) -> None:
        self._game, self._agent, self._tree = game, agent, tree
        self._exact = ExactSearch(game, memory)
        self._share = agent.number("exact")
        self._numbers = {move: number for number, move in enumerate(game.moves[0])}
        self._dice = np.random.Generator(np.random.PCG64([seed, 5]))
        self._sampling = 0.0  # seconds that it took
        self._line: Line | None = None
        self._proven = self._begun = False
        self._state = game.layout.initial.tobytes()
        self._seconds = 0.0
        self._forget_work()

    def enter(self, state: bytes, joint_move: Sequence[Any] | None) -> None:
        """See `Thinker.enter`; the line that is known is kept where the state lies on it."""
        self._tree.enter(state, joint_move)
        line = self._line
        if line is not None and state in line.states:
            self._line = line.after(line.states.index(state))
        else:
            self._line, self._proven = None, False
        self._state, self._begun = state, False
        self._forget_work()

    def _forget_work(self) -> None:
        self._seconds = self._found = self._slice = 0.0
        self._simulations = 0
        self._work = {"states": 0, "expanded": 0, "generated": 0, "dead": 0}

    @property
    def is_solved(self) -> bool:
        """Whether there is nothing to find out: the best line from here is known."""
        highest = self._line is not None and self._line.goal >= self._exact.highest
        return self._proven or highest

    @property
    def line(self) -> Line | None:
        """The best line from the present state that is known."""
        return self._line

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`."""
        if self.is_solved:
            return
        if not self._begun:
            over = self._exact.replayed(self._state, [])
            if over is not None:  # the game is over
                return
            self._exact.start(self._state, self._line)
            self._begun = True
        reasons = stop_reasons(self._agent, deadline, interrupted)
        budget = int(self._agent.number("simulations"))
        progress = Progress(time.monotonic(), self._seconds)
        while not is_to_stop(reasons, progress):
            begun = progress.now
            end = begun + seconds_left(reasons, progress)
            self._turn_of_exact(begun + TURN * self._share, end, interrupted, budget)
            if not self.is_solved and (self._share < 1 or self._exact.is_over):
                until = time.monotonic() + TURN * (1 - self._share)
                self._tree.think(end if budget else min(end, until), interrupted)
                self._sample_lines(end)
            progress.now = time.monotonic()
            self._seconds += progress.now - begun
            progress.seconds, progress.simulations = self._seconds, self._exact.generated
            progress.is_open = not self.is_solved and self._goes_on()
            if budget and self._exact.is_over:
                break

    def _goes_on(self) -> bool:
        """Whether either search still finds out anything."""
        if not self._exact.is_over:
            return True
        before, self._simulations = self._simulations, self._tree.trace().simulations
        return self._simulations > before

    def _turn_of_exact(
        self, until: float, deadline: float, interrupted: Interrupted, budget: int
    ) -> None:
        """Exact search until its turn is over; with a budget it is work that counts, not time."""
        exact, turn = self._exact, time.monotonic()
        while not exact.is_over and not interrupted():
            begun = time.monotonic()
            exact.work(SWEEPS_OF_TURN if budget else 0)
            now = time.monotonic()
            self._slice = max(now - begun, 0.9 * self._slice)  # they differ in length
            if now + self._slice >= deadline or now >= until:
                break
            if budget and exact.generated >= budget:
                break
        if exact.line is not self._line:
            self._found = self._seconds + time.monotonic() - turn
        self._line, self._proven = exact.line, exact.is_proven
        self._work = {
            "states": exact.states,
            "expanded": exact.expanded,
            "generated": exact.generated,
            "dead": exact.dead,
        }

    def _sample_lines(self, deadline: float) -> None:
        """Where the tree search promises more than the line that is known, look for such a line."""
        begun, trace = time.monotonic(), self._tree.trace()
        mean = max((100 * move.mean for move in trace.moves), default=0.0)
        known = self._line.goal if self._line else -1
        self._proven = self._proven or trace.high <= known
        if mean <= known or begun + self._sampling >= deadline:
            return
        prefix = [self._numbers[move] for (move,) in trace.variation]
        line = self._exact.best_of(prefix, self._dice, int(self._agent.number("depth")))
        self._sampling = time.monotonic() - begun
        if line is not None and line.goal > known:
            self._line = line
            self._found = self._seconds
            self._exact.surpass(line)

    def choose(self) -> Any:
        """See `Thinker.choose`."""
        line = self._line
        if line is None or not line.moves:
            return self._tree.choose()
        if not self.is_solved and self._tree.trace().low > line.goal:
            return self._tree.choose()
        return self._game.moves[0][line.moves[0]]

    def trace(self) -> Trace:
        """What the tree search found."""
        return self._tree.trace()

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`; `puzzle` has what exact search found."""
        report = dict(self._tree.report())
        line, write = self._line, self._game.write_move
        if line is not None:
            low, high = self._tree.trace().low, self._tree.trace().high
            report["proven"] = [max(low, line.goal), line.goal if self._proven else high]
            moves = [self._game.moves[0][number] for number in line.moves[:LONGEST_VARIATION]]
            report["variation"] = [[write(move)] for move in moves]
        report["puzzle"] = {
            "goal": line.goal if line else None,
            "moves": len(line.moves) if line else None,
            "proven": self.is_solved,
            "seconds": round(self._seconds, 4),
            "found_s": round(self._found, 4),
            **self._work,
        }
        return report
