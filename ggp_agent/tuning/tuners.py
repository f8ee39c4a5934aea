"""The tuners by name (`ggp_agent.parameters.TUNERS`), and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from ggp_agent.errors import ParameterError
from ggp_agent.tuning.bandits import LOCAL, MAB, NMC, BanditTuner
from ggp_agent.tuning.choosing import ChoosingTuner
from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.evolution import EvolutionTuner
from ggp_agent.tuning.model import Model, ask_at_random, new_model, tell_rewards
from ggp_agent.tuning.ntbea import NtbeaTuner
from ggp_agent.tuning.side_information import LsiTuner
from ggp_agent.tuning.space import F64, I32, Space


class DiscreteTuner(Protocol):
    """One tuner per role, side by side, that choose among numbered values.

    What is asked for is told sooner or later: most of it before the next `ask`, some after it.
    """

    model: Model
    """statistics of values and combinations, and the combinations in flight"""

    def ask(self, places: I32, weights: I32) -> None:
        """Choose combinations for the `places` (n,), which are free; the model has them there.

        Each is for so many simulations as its one of the `weights` (n,).
        """

    def tell(self, places: I32, totals: F64, weights: I32) -> None:
        """What simulations brought with the combinations at the `places` (n,), all different.

        For each so many as its one of the `weights` (n,); `totals` (n, R) sum up the rewards of
        every role, each in [0, 1].
        """


class RandomTuner:
    """`random`: a random combination for every simulation (Sironi, Winands 2019, section II).

    How many are in flight makes no difference.
    """

    def __init__(self, space: Space, roles: int, most: int, seed: int) -> None:
        self.model = new_model(space, roles, most, seed)

    def ask(self, places: I32, weights: I32) -> None:
        """See `DiscreteTuner.ask`."""
        ask_at_random(self.model, places, weights)

    def tell(self, places: I32, totals: F64, weights: I32) -> None:
        """See `DiscreteTuner.tell`."""
        tell_rewards(self.model, places, totals, weights)


class FixedRandomTuner:
    """`fixed-random`: one random combination for the whole game and all roles.

    The opponent of the 2020 paper's section VI-D.  How many are in flight makes no difference.
    """

    def __init__(self, space: Space, roles: int, most: int, seed: int) -> None:
        self.model = new_model(space, roles, most, seed)
        ask_at_random(self.model, np.zeros(1, np.int32), np.ones(1, np.int32))
        self.model.picks[:] = self.model.picks[0, 0].copy()

    def ask(self, places: I32, weights: I32) -> None:
        """See `DiscreteTuner.ask`."""

    def tell(self, places: I32, totals: F64, weights: I32) -> None:
        """See `DiscreteTuner.tell`."""
        tell_rewards(self.model, places, totals, weights)


Maker = Callable[[Space, int, int, int], DiscreteTuner | CmaTuner]

TUNERS: dict[str, Maker] = {
    "nmc": partial(BanditTuner, kind=NMC),
    "lsi": LsiTuner,
    "ea": EvolutionTuner,
    "ntbea": NtbeaTuner,
    "cmaes": CmaTuner,
    "cmaes-restart": partial(CmaTuner, restarts=True),
    "mab": partial(BanditTuner, kind=MAB),
    "local": partial(BanditTuner, kind=LOCAL),
    "choosing": ChoosingTuner,
    "random": RandomTuner,
    "fixed-random": FixedRandomTuner,
}


def make_tuner(
    name: str, space: Space, roles: int, most: int, seed: int
) -> DiscreteTuner | CmaTuner:
    """The tuners of that name for `roles` roles and at most `most` simulations in flight.

    Raises `ParameterError` for an unknown name.
    """
    try:
        maker = TUNERS[name]
    except KeyError:
        raise ParameterError(f"unknown tuner '{name}'; known: {', '.join(TUNERS)}") from None
    return maker(space, roles, most, seed)
