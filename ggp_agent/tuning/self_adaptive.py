"""Tuners at work in the search: from an agent's parameters to the values that the search uses.

Sironi, Liu, Winands (2020), section IV-A: before each simulation the tuner of every role chooses a
combination of values, all of which control that simulation together, and afterwards each learns its
role's reward.  What they have learned lives for one game.

With many simulations in flight neighbours share a combination (see `SelfAdaptive.share`), for
choosing one would take as long as a good part of the simulation.

Parameters that hold for a batch, or for the search of one state, have tuners of their own, which
choose one combination for all its simulations and learn from the rewards of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from ggp_agent.agents import Agent
from ggp_agent.parameters import Scope, parameters_of
from ggp_agent.search.settings import FixedSettings, settings_row
from ggp_agent.search.trace import Trace
from ggp_agent.tuning.space import F32, F64, I32, Space
from ggp_agent.tuning.tuned_parameters import spaces_of
from ggp_agent.tuning.tuner_report import tuner_report
from ggp_agent.tuning.tuners import make_tuner
from ggp_agent.tuning.value_tuner import SearchFacts, ValueTuner

MOST_SHARING = 32
"""Simulations in flight that share a combination, at most."""
LEAST_COMBINATIONS = 16
"""Combinations in flight below which none is shared."""

ONLY_SLOT = np.zeros(1, np.int32)


class SelfAdaptive:
    """A `ggp_agent.search.settings.Tuner`: the agent's kind of tuner, one for every scope.

    Where none of a scope's parameters are tuned they have the agent's own values.
    """

    def __init__(self, agent: Agent, roles: int, most: int, seed: int) -> None:
        """For at most `most` simulations in flight.  Raises `ParameterError`."""
        self._name, self._roles = str(agent["tuner"]), roles
        self._fixed = FixedSettings(agent)
        self.spaces = spaces_of(agent)
        self.tuners: dict[Scope, ValueTuner] = {}
        """those there are, the shortest scope first"""
        self._facts: list[SearchFacts] = []
        for scope, space in self.spaces.items():
            slots = most if scope is Scope.SIMULATION else 1
            tuner = make_tuner(self._name, space, roles, slots, _seed_for(scope, seed))
            facts = _facts_for(agent, scope)
            tuner.prepare(facts)
            self._facts.append(facts)
            self.tuners[scope] = tuner
        self._simulation = self.tuners.get(Scope.SIMULATION)
        self._own = settings_row(agent)
        self._columns = columns_of(self.spaces.get(Scope.SIMULATION), Scope.SIMULATION)
        self._batch, self._move = (
            self._shared(agent, scope) if scope in self.tuners else None
            for scope in (Scope.BATCH, Scope.MOVE)
        )

    def _shared(self, agent: Agent, scope: Scope) -> SharedValues:
        own = np.tile(settings_row(agent, scope), (self._roles, 1))
        columns = columns_of(self.spaces[scope], scope)
        return SharedValues(self.tuners[scope], own, columns, _facts_for(agent, scope).in_flight)

    @property
    def watches_batches(self) -> bool:
        """See `Tuner.watches_batches`."""
        return self._batch is not None or self._move is not None

    @property
    def is_fixed(self) -> bool:
        """See `Tuner.is_fixed`."""
        return False

    def watch(self, trace: Callable[[], Trace]) -> None:
        """Where tuners may see how long simulated games are."""
        for facts in self._facts:
            facts.trace = trace

    def share(self, count: int) -> int:
        """See `Tuner.share`."""
        if self._simulation is None:
            return self._fixed.share(count)
        return max(1, min(MOST_SHARING, count // LEAST_COMBINATIONS))

    def ask(self, rows: I32, weights: I32, values: F32) -> None:
        """See `Tuner.ask`."""
        if self._simulation is None:
            self._fixed.ask(rows, weights, values)
        else:
            self._simulation.ask(rows, weights)
            self._simulation.write(rows, values, self._own, self._columns)

    def tell(self, rows: I32, totals: F64, weights: I32) -> None:
        """See `Tuner.tell`."""
        if self._simulation is not None:
            self._simulation.tell(rows, totals, weights)

    def ask_batch(self, values: F64) -> None:
        """See `Tuner.ask_batch`."""
        if self._batch is None:
            self._fixed.ask_batch(values)
        else:
            self._batch.ask(values)

    def tell_batch(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_batch`."""
        if self._batch is not None:
            self._batch.tell(totals, weight)

    def ask_move(self, values: F64) -> None:
        """See `Tuner.ask_move`."""
        if self._move is None:
            self._fixed.ask_move(values)
        else:
            self._move.ask(values)

    def tell_move(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_move`."""
        if self._move is not None:
            self._move.tell(totals, weight)

    def new_move(self) -> None:
        """See `Tuner.new_move`."""
        for tuner in self.tuners.values():
            tuner.new_move()

    def report(self, others: Sequence[Self] = ()) -> dict[str, object]:
        """See `Tuner.report`."""
        names = [name for space in self.spaces.values() for name in space.names]
        roles = [
            [
                tuner.report(role, [other.tuners[scope] for other in others])
                for scope, tuner in self.tuners.items()
            ]
            for role in range(self._roles)
        ]
        return {"tuning": tuner_report(self._name, names, roles)}


class SharedValues:
    """What a tuner chooses for all simulations of a batch, or of the search of a state."""

    def __init__(self, tuner: ValueTuner, own: F32, columns: I32, most: int) -> None:
        """`own` (R, columns) the agent's values; simulations are asked for at most `most` at once.

        More than that may be rewarded: how many there are is not known before.
        """
        self._tuner, self._own, self._columns, self._most = tuner, own[0], columns, most
        self._values = own[None].copy()
        self._weight = np.ones(1, np.int32)
        self._in_use = False

    def ask(self, values: F64) -> None:
        """Choose values and write them to `values` (R, columns); as before if unrewarded so far."""
        if not self._in_use:
            self._tuner.ask(ONLY_SLOT, self._weight)
            self._tuner.write(ONLY_SLOT, self._values, self._own, self._columns)
            self._in_use = True
        values[:] = self._values[0]

    def tell(self, totals: F64, weight: int) -> None:
        """What so many simulations brought: `totals` (R,)."""
        if weight > 0 and self._in_use:
            totals = np.array(totals, np.float64)[None]
            self._tuner.tell(ONLY_SLOT, totals, np.array([weight], np.int32))
            self._weight[0] = min(weight, self._most)
            self._in_use = False


def adaptive(agent: Agent, roles: int, most: int, seed: int) -> SelfAdaptive | None:
    """The tuning that an agent asks for, if any.  Raises `ParameterError`."""
    if agent["tuner"] == "off" or agent["strategy"] != "mcts":
        return None
    return SelfAdaptive(agent, roles, most, seed)


def columns_of(space: Space | None, scope: Scope) -> I32:
    """(d,) the columns of a space's variables among the parameters of their scope."""
    names = parameters_of(scope)
    return np.array([names.index(name) for name in space.columns] if space else [], np.int32)


def _facts_for(agent: Agent, scope: Scope) -> SearchFacts:
    """A move's values are in use one at a time, whatever is in flight."""
    in_flight = 1 if scope is Scope.MOVE else int(agent.number("in_flight"))
    return SearchFacts(in_flight, int(agent.number("tuner_samples")))


def _seed_for(scope: Scope, seed: int) -> int:
    """Seeds of their own for tuners side by side; that of single simulations has the search's."""
    if scope is Scope.SIMULATION:
        return seed
    number = list(Scope).index(scope)
    return int(np.random.SeedSequence([seed, 8, number]).generate_state(1)[0])
