"""How many simulations are in flight, and how many playouts each of them has."""

from __future__ import annotations

import math

from ggp_agent.agents import Agent
from propnet.vectors import LANES

MANY = 64
"""Simulations in flight from which on some playouts may go on with the next batch."""
ROLLOVER = 3
"""These are one in so many at most."""


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

    def playouts(self, slots: int, playing: int) -> int:
        """Playouts per leaf: no more than the lanes allow, one while some go on from before."""
        if playing:
            return 1
        return max(1, min(self._per_leaf, LANES // max(1, slots)))
