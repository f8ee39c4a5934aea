"""The tuners by name, and the parameters that say which one works and what it tunes.

A new tuner is a module and a line in `TUNERS`.  Nothing here loads the tuners themselves: a process
that only has to know their names need not load numba.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from ggp_agent.errors import ParameterError
from ggp_agent.parameters import TABLE_1, TUNABLE, Parameter, Scope, declare

if TYPE_CHECKING:
    from ggp_agent.tuning.space import Space
    from ggp_agent.tuning.value_tuner import ValueTuner

FREQUENT = (Scope.SIMULATION, Scope.BATCH)
"""Those of which a game has thousands of samples."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Where a tuner is made, and what it can tune."""

    maker: str
    """MODULE.NAME within `ggp_agent.tuning` of what makes one of (space, roles, slots, seed)"""
    scopes: tuple[Scope, ...] = TUNABLE
    """those whose parameters it has enough samples for"""

    def load(self) -> Callable[[Space, int, int, int], ValueTuner]:
        """What makes one; loads its module."""
        module, _, name = self.maker.partition(".")
        maker: Callable[[Space, int, int, int], ValueTuner]
        maker = getattr(import_module(f"ggp_agent.tuning.{module}"), name)
        return maker


TUNERS = {
    "nmc": Kind("bandits.nmc"),
    "lsi": Kind("side_information.LsiTuner", FREQUENT),
    "ea": Kind("evolution.EvolutionTuner", FREQUENT),
    "ntbea": Kind("ntbea.NtbeaTuner"),
    "cmaes": Kind("cma_es.CmaTuner"),
    "cmaes-restart": Kind("cma_es.restarting"),
    "mab": Kind("bandits.mab"),
    "local": Kind("bandits.local"),
    "choosing": Kind("choosing.ChoosingTuner"),
    "random-values": Kind("random_values.RandomValues"),
    "fixed-random-values": Kind("random_values.FixedRandomValues"),
}


def find_tuner(name: str) -> Kind:
    """The tuner of that name.  Raises `ParameterError` that lists those there are."""
    try:
        return TUNERS[name]
    except KeyError:
        raise ParameterError(f"unknown tuner '{name}'; known: {', '.join(TUNERS)}") from None


def make_tuner(name: str, space: Space, roles: int, slots: int, seed: int) -> ValueTuner:
    """The tuners of that name for `roles` roles, with combinations in so many slots.

    Raises `ParameterError` for an unknown name.
    """
    return find_tuner(name).load()(space, roles, slots, seed)


declare(
    Parameter(
        "tuner",
        "off",
        "what sets parameters anew while it searches, learning from rewards",
        choices=("off", *TUNERS),
        source=TABLE_1,
    ),
    Parameter(
        "tune",
        "",
        "what it sets: names, some with their own values, or how many of K, Ref, C, epsilon, VO, "
        "T (without those of no effect); selection, playout: whether it is used; none said: 2",
        text="text like K,Ref,C=0.1,0.2,0.4",
    ),
    Parameter(
        "tuner_samples",
        0,
        "budget of the tuner lsi; 0: estimated at the end of the start clock",
        unit="simulations",
    ),
)
