"""Random play as fast as it goes, and what it is measured by."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from propnet import kernels
from propnet.layout import Layout, new_lanes
from propnet.vectors import LANES, WORDS

STEPS_PER_CALL = 256


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """Totals of random playouts from the initial state, all lanes together."""

    seconds: float
    """that passed"""
    cpu_seconds: float
    """for which a core worked on it, all threads together"""
    transitions: int
    """state changes by a joint move, over all lanes"""
    playouts: int
    """games that reached a terminal state"""
    mean_length: float
    """joint moves per playout"""
    mean_goals: tuple[float, ...]
    """per role"""

    @property
    def transitions_per_second(self) -> float:
        """Transitions per second."""
        return self.transitions / self.seconds

    @property
    def transitions_per_cpu_second(self) -> float:
        """Transitions per second of a core, which other processes don't have a share of."""
        return self.transitions / self.cpu_seconds

    @property
    def playouts_per_second(self) -> float:
        """Finished games per second."""
        return self.playouts / self.seconds


class Simulator:
    """512 games of random play that begin anew when they end.

    Simulators of one layout may run in several threads at the same time.
    """

    def __init__(self, layout: Layout, seed: int) -> None:
        self._layout = layout
        self._lanes = new_lanes(layout, seed)
        self._roles = len(layout.span) - 1
        kernels.reset(layout, self._lanes, np.full((1, WORDS), kernels.ALL))
        self._started = np.zeros(LANES, np.int64)
        self._clock = 0

    def run(self, seconds: float) -> RandomPlay:
        """Play for so long (at least one call of `STEPS_PER_CALL` steps)."""
        totals = np.zeros(2 + self._roles, np.float64)
        playouts, begin, cpu_begin = 0, time.perf_counter(), time.thread_time()
        while True:
            playouts += kernels.simulate(
                self._layout, self._lanes, STEPS_PER_CALL, self._started, self._clock, totals
            )
            self._clock += STEPS_PER_CALL
            elapsed = time.perf_counter() - begin
            if elapsed >= seconds:
                break
        transitions, length, *goals = totals.tolist()
        ended = max(1, playouts)
        return RandomPlay(
            seconds=elapsed,
            cpu_seconds=time.thread_time() - cpu_begin,
            transitions=int(transitions),
            playouts=playouts,
            mean_length=length / ended,
            mean_goals=tuple(goal / ended for goal in goals),
        )


def run_in_threads(simulators: Sequence[Simulator], seconds: float) -> RandomPlay:
    """Run simulators side by side, a thread each, and add up what they did."""
    with ThreadPoolExecutor(len(simulators)) as threads:
        plays = list(threads.map(lambda simulator: simulator.run(seconds), simulators))
    playouts = sum(play.playouts for play in plays)

    def mean(values: Iterable[float]) -> float:
        weighted = zip(values, plays, strict=True)
        return sum(value * play.playouts for value, play in weighted) / max(1, playouts)

    return RandomPlay(
        seconds=max(play.seconds for play in plays),
        cpu_seconds=sum(play.cpu_seconds for play in plays),
        transitions=sum(play.transitions for play in plays),
        playouts=playouts,
        mean_length=mean(play.mean_length for play in plays),
        mean_goals=tuple(map(mean, zip(*(play.mean_goals for play in plays), strict=True))),
    )
