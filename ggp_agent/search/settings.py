"""The parameters that control single simulations, and who sets them.

Their values are in rows, which many simulations in flight may share: who tunes them chooses values
for a row at a time, and learns what all simulations of a row brought together, some of them later
than others.  One simulation in flight means one row with one simulation: ask, simulate, tell.

Letters: B simulations in flight at most, R roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ggp_agent.agents import Agent
from ggp_agent.parameters import Scope, parameters_of
from ggp_agent.search.kernel import part
from propnet.layout import I32

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

C, EPSILON, K, REF, VO, T, FPU = range(7)
"""Columns of the values of single simulations, see `ggp_agent.parameters.parameters_of`."""

COLUMNS = len(parameters_of(Scope.SIMULATION))
BATCH_COLUMNS = len(parameters_of(Scope.BATCH))
MOVE_COLUMNS = len(parameters_of(Scope.MOVE))


class Settings(NamedTuple):
    """Rows of values, which simulations have which, and what the last batch brought."""

    values: F32
    """(B, R, COLUMNS) by row; inf is allowed"""
    row: I32
    """(B,) the row of a simulation, by place"""
    left: I32
    """(B,) simulations that a row still has in flight"""
    free: I32
    """(B,) the rows that have none, in order, and then those that were free before"""
    told: I32
    """(B,) the rows of the simulations that were done last, all different"""
    weights: I32
    """(B,) how many these were, for each of `told`"""
    totals: F64
    """(B, R) the sums of their rewards, likewise"""
    slot: I32
    """(B,) by row, its place in `told`, NOWHERE between batches"""


NOWHERE = -1


def new_settings(most: int, roles: int) -> Settings:
    """For at most `most` simulations in flight."""
    return Settings(
        values=np.zeros((most, roles, COLUMNS), np.float32),
        row=np.zeros(most, np.int32),
        left=np.zeros(most, np.int32),
        free=np.arange(most, dtype=np.int32),
        told=np.zeros(most, np.int32),
        weights=np.zeros(most, np.int32),
        totals=np.zeros((most, roles)),
        slot=np.full(most, NOWHERE, np.int32),
    )


def heads(array: NDArray[Any]) -> list[NDArray[Any]]:
    """The first n items of an array, for every n, as views: to make one takes a while."""
    return [array[:n] for n in range(len(array) + 1)]


@part
def give_rows(settings: Settings, simulations: I32, count: int, share: int) -> None:
    """Give the first `count` of the simulations the first free rows, `share` neighbours one."""
    for group in range((count + share - 1) // share):
        row, first = settings.free[group], group * share
        last = min(first + share, count)
        for i in range(first, last):
            settings.row[simulations[i]] = row
        settings.left[row] = last - first


@part
def add_rewards(settings: Settings, simulation: int, rewards: F32, told: int) -> int:
    """Add a simulation's rewards (B, R), by place, to its row's; returns the rows told by now."""
    row = settings.row[simulation]
    slot = settings.slot[row]
    if slot == NOWHERE:
        slot = told
        told += 1
        settings.slot[row], settings.told[slot], settings.weights[slot] = slot, row, 0
        for role in range(rewards.shape[1]):
            settings.totals[slot, role] = 0.0
    settings.weights[slot] += 1
    for role in range(rewards.shape[1]):
        settings.totals[slot, role] += rewards[simulation, role]
    return told


@part
def free_rows(settings: Settings, told: int) -> None:
    """List the rows that are free once what is told of so many is known."""
    for slot in range(told):
        row = settings.told[slot]
        settings.slot[row] = NOWHERE
        settings.left[row] -= settings.weights[slot]
    free = 0
    for row in range(len(settings.left)):
        if settings.left[row] == 0:
            settings.free[free] = row
            free += 1


class Tuner(Protocol):
    """Sets the parameters of every simulation, batch and move, for every role."""

    def share(self, count: int) -> int:
        """How many of `count` new simulations are to share a row."""

    def ask(self, rows: I32, weights: I32, values: F32) -> None:
        """Write values to these rows (n,), which are free, each for so many simulations.

        Other rows of `values`, which has as many as the tuner may have simulations in flight or
        more, stay as they are.  All `weights` (n,) are the same, but for the last.
        """

    def tell(self, rows: I32, totals: F64, weights: I32) -> None:
        """What simulations with these rows' (n,) values brought: for each so many, summed up.

        `totals` (n, R) has the sums of every role's rewards, each in [0, 1].
        """

    def ask_batch(self, values: F32) -> None:
        """Write the values for the next batch to `values` (R, BATCH_COLUMNS)."""

    def tell_batch(self, totals: F64, weight: int) -> None:
        """What the simulations that were completed in that batch brought, and their number.

        `totals` (R,) has the sums of every role's rewards.
        """

    def ask_move(self, values: F32) -> None:
        """Write the values for a state that is entered to `values` (R, MOVE_COLUMNS).

        That is before anything that was learned is forgotten.
        """

    def tell_move(self, totals: F64, weight: int) -> None:
        """What all simulations of a state that is left brought, and their number; `totals` (R,)."""

    def new_move(self) -> None:
        """The game went on by a real move."""

    def report(self, others: Sequence[Self] = ()) -> dict[str, object]:
        """What it has learned, as JSON values to be added to the search's report.

        `others`: tuners like it, of trees by its side, whose samples count as well.
        """


class FixedSettings:
    """The `Tuner` that does not tune: an agent's own values for all roles."""

    def __init__(self, agent: Agent) -> None:
        self._row = settings_row(agent)
        self._batch_row = settings_row(agent, Scope.BATCH)
        self._move_row = settings_row(agent, Scope.MOVE)
        self._filled: F32 | None = None

    def share(self, count: int) -> int:
        """See `Tuner.share`; all."""
        return count

    def ask(self, rows: I32, weights: I32, values: F32) -> None:
        """See `Tuner.ask`."""
        if values is not self._filled:
            values[:] = self._row
            self._filled = values

    def tell(self, rows: I32, totals: F64, weights: I32) -> None:
        """See `Tuner.tell`; nothing is learned."""

    def ask_batch(self, values: F32) -> None:
        """See `Tuner.ask_batch`."""
        values[:] = self._batch_row

    def tell_batch(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_batch`; nothing is learned."""

    def ask_move(self, values: F32) -> None:
        """See `Tuner.ask_move`."""
        values[:] = self._move_row

    def tell_move(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_move`; nothing is learned."""

    def new_move(self) -> None:
        """See `Tuner.new_move`."""

    def report(self, others: Sequence[Self] = ()) -> dict[str, object]:
        """See `Tuner.report`; nothing."""
        return {}


def settings_row(agent: Agent, scope: Scope = Scope.SIMULATION) -> F32:
    """(columns,) an agent's values of a scope; K is 0 where its selection is plain UCT."""
    names = parameters_of(scope)
    row = np.array([agent.number(name) for name in names], np.float32)
    if agent["selection"] == "uct" and "K" in names:
        row[names.index("K")] = 0.0
    return row
