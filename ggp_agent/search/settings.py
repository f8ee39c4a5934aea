"""The parameters that control simulations, batches and the search of a move, and who sets them.

Values for simulations are in rows, which many simulations in flight may share: who tunes them
chooses values for a row at a time, and learns what all simulations of a row brought together, some
of them later than others.  One simulation in flight means one row with one simulation: ask,
simulate, tell.  Values for a batch, or for the search of one move, are there once per role.

Which parameters these are, and in which columns, follows from their declarations
(`ggp_agent.parameters.Scope`).

Letters: B simulations in flight at most, R roles, P parameters of a scope.
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


class Settings(NamedTuple):
    """Rows of values, which simulations have which, and what the last batch brought."""

    values: F32
    """(B, R, P) by row, per simulation; inf is allowed"""
    of_batch: F64
    """(R, P) for the present batch"""
    of_move: F64
    """(R, P) for the search of the present state"""
    row: I32
    """(B,) the row of a simulation, by slot"""
    left: I32
    """(B,) simulations that a row still has in flight"""
    free: I32
    """(B,) the rows that have none, in order, and then those that were free before"""
    rewarded: I32
    """(B,) the rows of the simulations that were completed last, all different"""
    weights: I32
    """(B,) how many these were, for each of `rewarded`"""
    totals: F64
    """(B, R) the sums of their rewards, likewise"""
    place: I32
    """(B,) by row, its place in `rewarded`, NOWHERE between batches"""


NOWHERE = -1


def new_settings(most: int, roles: int) -> Settings:
    """For at most `most` simulations in flight."""
    return Settings(
        values=np.zeros((most, roles, len(parameters_of(Scope.SIMULATION))), np.float32),
        of_batch=np.zeros((roles, len(parameters_of(Scope.BATCH)))),
        of_move=np.zeros((roles, len(parameters_of(Scope.MOVE)))),
        row=np.zeros(most, np.int32),
        left=np.zeros(most, np.int32),
        free=np.arange(most, dtype=np.int32),
        rewarded=np.zeros(most, np.int32),
        weights=np.zeros(most, np.int32),
        totals=np.zeros((most, roles)),
        place=np.full(most, NOWHERE, np.int32),
    )


def heads(array: NDArray[Any]) -> list[NDArray[Any]]:
    """The first n items of an array, for every n, as views: to make one takes a while."""
    return [array[:n] for n in range(len(array) + 1)]


@part
def give_rows(settings: Settings, slots: I32, count: int, share: int) -> None:
    """Give the first `count` of the slots the first free rows, `share` neighbours one."""
    for group in range((count + share - 1) // share):
        row, first = settings.free[group], group * share
        last = min(first + share, count)
        for i in range(first, last):
            settings.row[slots[i]] = row
        settings.left[row] = last - first


@part
def add_rewards(settings: Settings, slot: int, rewards: F32, rewarded: int) -> int:
    """Add a simulation's rewards (B, R), by slot, to its row's; returns how many rows have some."""
    row = settings.row[slot]
    place = settings.place[row]
    if place == NOWHERE:
        place = rewarded
        rewarded += 1
        settings.place[row], settings.rewarded[place], settings.weights[place] = place, row, 0
        for role in range(rewards.shape[1]):
            settings.totals[place, role] = 0.0
    settings.weights[place] += 1
    for role in range(rewards.shape[1]):
        settings.totals[place, role] += rewards[slot, role]
    return rewarded


@part
def free_rows(settings: Settings, rewarded: int, anew: bool) -> None:
    """Free the rows of which what they brought is known; list those that are free `anew`."""
    for place in range(rewarded):
        row = settings.rewarded[place]
        settings.place[row] = NOWHERE
        settings.left[row] -= settings.weights[place]
    free = 0
    for row in range(len(settings.left) if anew else 0):
        if settings.left[row] == 0:
            settings.free[free] = row
            free += 1


class Tuner(Protocol):
    """Sets parameters for every role: per simulation, per batch, and per move."""

    @property
    def watches_batches(self) -> bool:
        """Whether it is asked before every batch, and told after it and after a move.

        Else its values for batches are those that it gave when the state was entered.
        """

    @property
    def is_fixed(self) -> bool:
        """Whether it has the same values for all simulations, whatever it is told."""

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

    def ask_batch(self, values: F64) -> None:
        """Write the values (R, P) that the next batch is to have."""

    def tell_batch(self, totals: F64, weight: int) -> None:
        """The sums (R,) of what so many simulations brought that the batch completed."""

    def ask_move(self, values: F64) -> None:
        """Write the values (R, P) for the search of the state that is being entered."""

    def tell_move(self, totals: F64, weight: int) -> None:
        """The sums (R,) of what all simulations from the state brought that is being left."""

    def new_move(self) -> None:
        """The game went on by a real move."""

    def report(self, others: Sequence[Self] = ()) -> dict[str, object]:
        """What it has learned, as JSON values to be added to the search's report.

        `others`: tuners like it, of trees by its side, whose samples count as well.
        """


class FixedSettings:
    """The `Tuner` that does not tune: an agent's own values for all roles."""

    watches_batches = False
    is_fixed = True

    def __init__(self, agent: Agent) -> None:
        self._row = settings_row(agent)
        self._of_batch = own_values(agent, Scope.BATCH)
        self._of_move = own_values(agent, Scope.MOVE)
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

    def ask_batch(self, values: F64) -> None:
        """See `Tuner.ask_batch`."""
        values[:] = self._of_batch

    def tell_batch(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_batch`; nothing is learned."""

    def ask_move(self, values: F64) -> None:
        """See `Tuner.ask_move`."""
        values[:] = self._of_move

    def tell_move(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_move`; nothing is learned."""

    def new_move(self) -> None:
        """See `Tuner.new_move`."""

    def report(self, others: Sequence[Self] = ()) -> dict[str, object]:
        """See `Tuner.report`; nothing."""
        return {}


def settings_row(agent: Agent, scope: Scope = Scope.SIMULATION) -> F32:
    """(P,) an agent's own values of the parameters of a scope."""
    return own_values(agent, scope).astype(np.float32)


def own_values(agent: Agent, scope: Scope) -> F64:
    """The same in full precision."""
    return np.array([agent.number(name) for name in parameters_of(scope)])
