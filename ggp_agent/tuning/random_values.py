"""Tuners that learn nothing, to compare others with: `random-values`, `fixed-random-values`.

How many simulations are in flight makes no difference to them.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import ask_at_random
from ggp_agent.tuning.space import I32, Space


class RandomValues(DiscreteTuner):
    """A random combination every time: "random" in Sironi, Winands (2019), section II."""

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`."""
        ask_at_random(self.model, slots, weights)


class FixedRandomValues(DiscreteTuner):
    """One random combination for the whole game and all roles.

    The opponent of Sironi, Liu, Winands (2020), section VI-D.
    """

    def __init__(self, space: Space, roles: int, slots: int, seed: int) -> None:
        super().__init__(space, roles, slots, seed)
        ask_at_random(self.model, np.zeros(1, np.int32), np.ones(1, np.int32))
        self.model.picks[:] = self.model.picks[0, 0].copy()

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`; it is chosen already."""
