"""The tuners by name (`ggp_agent.parameters.TUNERS`), and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from ggp_agent.errors import ParameterError
from ggp_agent.tuning.bandits import LOCAL, MAB, NMC, BanditTuner
from ggp_agent.tuning.choosing import ChoosingTuner
from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.evolution import EvolutionTuner
from ggp_agent.tuning.model import Model, ask_at_random, groups, new_model, tell_rewards
from ggp_agent.tuning.ntbea import NtbeaTuner
from ggp_agent.tuning.side_information import LsiTuner
from ggp_agent.tuning.space import F32, I32, Space


class DiscreteTuner(Protocol):
    """One tuner per role, side by side, that choose among numbered values.

    Every `ask` is followed by a `tell` for the same simulations before the next one.
    """

    model: Model
    """statistics of values and combinations"""

    def ask(self, count: int, share: int = 1) -> I32:
        """The combinations for the next `count` simulations, until the next call.

        (n, R, d), where n is count / share, rounded up: `share` neighbours have one in common.
        """

    def tell(self, rewards: F32, share: int = 1) -> None:
        """(count, R) what these simulations brought every role, in [0, 1]; the same share."""


class RandomTuner:
    """`random`: a random combination for every simulation (Sironi, Winands 2019, section II).

    How many are in flight makes no difference.
    """

    def __init__(self, space: Space, roles: int, most: int, seed: int) -> None:
        self.model = new_model(space, roles, most, seed)

    def ask(self, count: int, share: int = 1) -> I32:
        """See `DiscreteTuner.ask`."""
        ask_at_random(self.model, count, share)
        return self.model.picks[: groups(count, share)]

    def tell(self, rewards: F32, share: int = 1) -> None:
        """See `DiscreteTuner.tell`."""
        tell_rewards(self.model, rewards, len(rewards), share)


class FixedRandomTuner:
    """`fixed-random`: one random combination for the whole game and all roles.

    The opponent of the 2020 paper's section VI-D.  How many are in flight makes no difference.
    """

    def __init__(self, space: Space, roles: int, most: int, seed: int) -> None:
        self.model = new_model(space, roles, most, seed)
        ask_at_random(self.model, 1, 1)
        self.model.picks[:] = self.model.picks[0, 0].copy()

    def ask(self, count: int, share: int = 1) -> I32:
        """See `DiscreteTuner.ask`."""
        return self.model.picks[: groups(count, share)]

    def tell(self, rewards: F32, share: int = 1) -> None:
        """See `DiscreteTuner.tell`."""
        tell_rewards(self.model, rewards, len(rewards), share)


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
