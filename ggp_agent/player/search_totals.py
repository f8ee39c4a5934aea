"""What thinking took: simulations, visited nodes, seconds on the clock and of the processor.

The two kinds of seconds differ where a thinker had to wait for its core: the machine was too loaded
for the match to be a fair one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Stopwatch:
    """Seconds of one thread since the last `lap`: by the clock, and for which it had a core."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of the block."""
        seconds, cpu_seconds = time.monotonic(), time.thread_time()
        try:
            yield
        finally:
            self.seconds += time.monotonic() - seconds
            self.cpu_seconds += time.thread_time() - cpu_seconds

    def lap(self) -> dict[str, float]:
        """The times for a report (`thinking_s`, `cpu_s`); counts from 0 again."""
        times = {"thinking_s": round(self.seconds, 6), "cpu_s": round(self.cpu_seconds, 6)}
        self.seconds = self.cpu_seconds = 0.0
        return times


@dataclass(slots=True)
class Effort:
    """The sum over the moves of a player in a match.

    `nodes` counts one per tree edge and playout step of every simulation; what a thinker doesn't
    report counts as 0.
    """

    moves: int = 0
    simulations: int = 0
    nodes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def add(self, report: Mapping[str, object]) -> None:
        """Count a move by what was reported with it (`ggp_agent.mind.thinker.Thinker.report`)."""
        self.moves += 1
        simulations = _number(report, "simulations")
        self.simulations += int(simulations)
        edges = simulations * _number(report, "mean_depth")
        nodes = _number(report, "visited_nodes") or edges + _number(report, "transitions")
        self.nodes += round(nodes)
        self.seconds += _number(report, "thinking_s")
        self.cpu_seconds += _number(report, "cpu_s")


def _number(report: Mapping[str, object], key: str) -> float:
    value = report.get(key)
    return value if isinstance(value, int | float) else 0.0
