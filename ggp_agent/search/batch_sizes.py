"""How many simulations are in flight, and how many playouts each of them has."""

from __future__ import annotations

import math

from ggp_agent.agents import Agent
from propnet.vectors import LANES

MANY = 64
"""Simulations in flight from which on some playouts may go on with the next batch."""
ROLLOVER = 3
"""These are one in so many at most."""
STRETCH = 0.0005
"""Seconds for which a thread makes batches without looking at the clock, or at anything else."""


class BatchSizes:
    """What an agent's parameters say about the sizes of batches."""

    def __init__(self, agent: Agent) -> None:
        self._most, self._ramp = int(agent.number("in_flight")), int(agent.number("ramp"))
        self._doubling = agent.number("ramp_doubling") or math.inf
        self._per_leaf = int(agent.number("playouts")) or LANES

    def in_flight(self, visits: int, batches: float) -> int:
        """Simulations in flight: few while the tree is small, for they would repeat each other.

        Once it is large their share of the root's `visits` grows, too: what they repeat is soon
        forgotten.  A batch takes its time however small it is: where there is time for so few
        `batches` only (inf where time is not what counts), they are larger from the start.
        """
        if self._ramp == 0:
            return self._most
        least = min(64, int(6400 / max(1.0, batches)))
        share = (1 + visits / self._doubling) / self._ramp
        return max(1, min(self._most, max(least, int(visits * share))))

    def grows_at(self, slots: int) -> float:
        """Visits of the root below which no more than so many simulations are in flight."""
        if self._ramp == 0 or slots >= self._most:
            return math.inf
        # visits * (1 + visits / doubling) = ramp * (slots + 1)
        share = 4 * self._ramp * (slots + 1) / self._doubling
        return math.floor(2 * self._ramp * (slots + 1) / (1 + math.sqrt(1 + share)))

    def playouts(self, slots: int, playing: int) -> int:
        """Playouts per leaf: no more than the lanes allow, one while some go on from before."""
        if playing:
            return 1
        return max(1, min(self._per_leaf, LANES // max(1, slots)))
