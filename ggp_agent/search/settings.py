"""The parameters that control single simulations, and who sets them.

Simulations in flight have places.  Before a batch of n simulations a `Tuner` is asked for values,
per role, at n places that are free; it is told the rewards of every role when they are there,
most of them after the same batch.  One simulation in flight means n = 1: ask, simulate, tell.

Letters: B simulations in flight at most, R roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ggp_agent.agents import Agent
from ggp_agent.parameters import PER_SIMULATION
from propnet.layout import I32

F32 = NDArray[np.float32]

C, EPSILON, K, REF, VO, T, FPU = range(7)
"""Columns of the settings, see `ggp_agent.parameters.PER_SIMULATION`."""

COLUMNS = len(PER_SIMULATION)


class Settings(NamedTuple):
    """The values that simulations in flight use, in rows which many of them may share."""

    row: I32
    """(B,) by place, the number of a simulation's row"""
    values: F32
    """(B, R, COLUMNS) inf is allowed"""


def new_settings(most: int, roles: int) -> Settings:
    """Room for at most `most` simulations in flight."""
    return Settings(np.zeros(most, np.int32), np.zeros((most, roles, COLUMNS), np.float32))


class Tuner(Protocol):
    """Sets the parameters of every simulation, for every role."""

    def ask(self, simulations: I32, settings: Settings) -> None:
        """Give new simulations at these places (n,) rows of values.

        Rows of other simulations in flight stay as they are.  There are as many rows as the tuner
        may have simulations in flight, or more.
        """

    def tell(self, simulations: I32, rewards: F32) -> None:
        """What the simulations at these places (n,) brought every role, in [0, 1].

        `rewards` (B, R), by place.
        """

    def new_move(self) -> None:
        """The game went on by a real move."""

    def report(self, others: Sequence[Tuner] = ()) -> dict[str, object]:
        """What it has learned, as JSON values to be added to the search's report.

        `others`: tuners like it, of trees by its side, whose samples count as well.
        """


class FixedSettings:
    """The `Tuner` that does not tune: an agent's own values for all roles."""

    def __init__(self, agent: Agent) -> None:
        self._row = settings_row(agent)
        self._filled: Settings | None = None

    def ask(self, simulations: I32, settings: Settings) -> None:
        """See `Tuner.ask`."""
        if settings is not self._filled:
            settings.row[:], settings.values[:] = 0, self._row
            self._filled = settings

    def tell(self, simulations: I32, rewards: F32) -> None:
        """See `Tuner.tell`; nothing is learned."""

    def new_move(self) -> None:
        """See `Tuner.new_move`."""

    def report(self, others: Sequence[Tuner] = ()) -> dict[str, object]:
        """See `Tuner.report`; nothing."""
        return {}


def settings_row(agent: Agent) -> F32:
    """(COLUMNS,) an agent's values; K is 0 where its selection is plain UCT."""
    row = np.array([agent.number(name) for name in PER_SIMULATION], np.float32)
    if agent["selection"] == "uct":
        row[K] = 0.0
    return row
