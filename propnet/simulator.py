"""Random play as fast as it goes, and what it is measured by."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from propnet import kernels
from propnet.layout import layout_of, new_lanes
from propnet.network import Network
from propnet.vectors import LANES, WORDS

STEPS_PER_CALL = 16


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """Totals of random playouts from the initial state, all lanes together."""

    seconds: float
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
        """Transitions per second of one core."""
        return self.transitions / self.seconds

    @property
    def playouts_per_second(self) -> float:
        """Finished games per second of one core."""
        return self.playouts / self.seconds


class Simulator:
    """512 games of random play that begin anew when they end."""

    def __init__(self, network: Network, seed: int) -> None:
        self._layout = layout_of(network)
        self._lanes = new_lanes(self._layout, seed)
        self._roles = len(network.roles)
        kernels.reset(self._layout, self._lanes, np.full((1, WORDS), kernels.ALL))
        self._started = np.zeros(LANES, np.int64)
        self._clock = 0

    def run(self, seconds: float) -> RandomPlay:
        """Play for so long (at least one call of `STEPS_PER_CALL` steps)."""
        totals = np.zeros(2 + self._roles, np.float64)
        playouts, begin = 0, time.perf_counter()
        while True:
            playouts += kernels.simulate(
                self._layout,
                self._lanes,
                STEPS_PER_CALL,
                self._started,
                self._clock,
                totals,
            )
            self._clock += STEPS_PER_CALL
            elapsed = time.perf_counter() - begin
            if elapsed >= seconds:
                break
        transitions, length, *goals = totals.tolist()
        ended = max(1, playouts)
        return RandomPlay(
            seconds=elapsed,
            transitions=int(transitions),
            playouts=playouts,
            mean_length=length / ended,
            mean_goals=tuple(goal / ended for goal in goals),
        )
