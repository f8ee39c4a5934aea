"""Covariance matrix adaptation, `cmaes`: Hansen (2016), as in Sironi, Liu, Winands (2020),
Algorithm 6, by the package `cma`.

Every role has a search distribution over the unit cube, which begins at a random point with step
size 0.3.  An individual outside the cube is simulated at the closest point within, and its fitness
(to be minimized) is 100 - r + 100 times its squared distance from there.  Criteria for stopping
that look at fitness are off; when another one stops the evolution, the distribution's mean is
evaluated, too, and the best individual ever is used from then on.  `cmaes-restart` begins anew at
another random point instead.

With many simulations in flight a generation lasts until all rewards of its first round are known;
meanwhile the population goes round again, and fitness is that of the mean reward.  As an update of
the distribution takes as long as a thousand simulations that are far in flight, generations grow
with them: see `rounds_for`.  Batches that cover the population twice or more are all alike until a
generation may be over, and their rewards are only summed up until then.
"""

from __future__ import annotations

import importlib
import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.tuning.model import groups
from ggp_agent.tuning.space import F32, F64, I32, Space

STEP_SIZE = 0.3
PENALTY = 100.0
FEW = 64
"""In flight at most where simulations are scarce rather than time."""
MOST_ROUNDS = 2048
BY_FITNESS = frozenset(("ftarget", "tolfun", "tolfunhist", "tolfunrel", "tolflatfitness"))
BY_PROGRESS = frozenset(("tolstagnation",))
"""Criteria for stopping that look at fitness: its values, and their course."""


def rounds_for(in_flight: int, most: int) -> int:
    """Rounds of a generation, with so many in flight, and at most so many later on.

    1 for one in flight, 8 for 16.  Whoever is to have hundreds in flight will simulate so much
    that generations may be long from the start: there one lasts some forty small batches, and no
    longer than 2048 rounds.
    """
    if most <= FEW:
        return max(1, in_flight * in_flight // 32)
    return min(MOST_ROUNDS, max(5 * in_flight, in_flight * in_flight // 4))


class CmaTuner:
    """One search distribution per role, side by side; like a `DiscreteTuner`, but with points."""

    def __init__(
        self, space: Space, roles: int, most: int, seed: int, restarts: bool = False
    ) -> None:
        self.most = most
        """simulations in flight at most; 1 is exactly the paper's algorithm"""
        self._random = np.random.Generator(np.random.PCG64([seed, 5]))
        self._roles = [_Evolution(len(space.names), self._random, restarts) for _ in range(roles)]
        self._points = np.zeros((most, roles, len(space.names)))
        self._slots = np.zeros((most, roles), np.int32)
        self._totals = np.zeros((most, roles))
        self._firsts = np.zeros(0, np.int64)
        self._batch = (0, 0)
        self._told = self._enough = 0
        self.version = 0
        """changes where `ask` returns other points than before"""

    def ask(self, count: int, share: int = 1) -> F64:
        """(n, R, d) points of the unit cube for `count` simulations, as `DiscreteTuner.ask`."""
        points = groups(count, share)
        if self._batch == (count, share) and self._told < self._enough:
            return self._points[:points]
        self._pass_on()
        for role, evolution in enumerate(self._roles):
            slots = evolution.ask(points, rounds_for(count, self.most))
            self._slots[:points, role] = slots
            self._points[:points, role] = evolution.inside[slots]
        self._batch = (count, share)
        self._enough = min(evolution.missing(points) for evolution in self._roles)
        self.version += 1
        return self._points[:points]

    def tell(self, rewards: F32, share: int = 1) -> None:
        """(count, R) what these simulations brought every role, in [0, 1]; the same share."""
        if self._told == 0:
            self._firsts = np.arange(0, len(rewards), share)
        points = len(self._firsts)
        self._totals[:points] += np.add.reduceat(rewards, self._firsts, axis=0)
        self._told += len(rewards)

    def _pass_on(self) -> None:
        """Tell the roles' evolutions what was summed up."""
        if self._told == 0:
            return
        count, share = self._batch
        points, batches = len(self._firsts), self._told // count
        weights = batches * np.minimum(share, count - self._firsts)
        for role, evolution in enumerate(self._roles):
            evolution.tell(self._slots[:points, role], self._totals[:points, role], weights)
        self._totals[:points] = 0
        self._told = 0

    @property
    def roles(self) -> int:
        """R."""
        return len(self._roles)

    def state_of(self, role: int) -> tuple[int, float, F64, F64]:
        """A role's samples and mean reward; middle and spread (d,) of its search distribution."""
        self._pass_on()
        self._enough = 0
        evolution = self._roles[role]
        mean = evolution.total / evolution.samples if evolution.samples else 0.0
        return (evolution.samples, mean, *evolution.distribution())

    @property
    def is_fixed(self) -> list[bool]:
        """Whether a role's evolution has come to its end."""
        return [evolution.ended for evolution in self._roles]


@dataclass
class _Evolution:
    """One role's evolution: a generation, then the mean alone, then the best alone."""

    variables: int
    random: np.random.Generator
    restarts: bool
    individuals: list[F64] = field(default_factory=list)
    """the generation; or the mean, or the best, alone"""
    ended: bool = False
    samples: int = 0
    """simulations whose rewards are known"""
    total: float = 0.0
    """the sum of these rewards"""
    _best: tuple[float, F64 | None] = (math.inf, None)
    _is_mean: bool = False

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        start = self.random.uniform(size=self.variables)
        options = {
            "verbose": -9,
            "seed": math.nan,  # the global generator is left alone
            "randn": lambda *shape: self.random.standard_normal(shape),
            "signals_filename": "",
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one variable is unusual, but works
            self._strategy = _package().CMAEvolutionStrategy(start, STEP_SIZE, options)
        self._use(self._strategy.ask())

    def _use(self, individuals: list[F64]) -> None:
        self.individuals = individuals
        self.inside = np.clip(np.array(individuals), 0.0, 1.0)
        self._sums, self._counts = np.zeros(len(individuals)), np.zeros(len(individuals))
        self._order = self.random.permutation(len(individuals))
        self._cursor = self._told = 0
        self._rounds = 1

    def ask(self, count: int, rounds: int) -> I32:
        """(count,) the numbers of the individuals to simulate next; see `rounds_for`."""
        if not self.ended and self._is_evaluated():
            self._go_on()
        size = len(self.individuals)
        slots = self._order[(self._cursor + np.arange(count)) % size]
        self._cursor = (self._cursor + count) % size
        self._rounds = 1 if self._is_mean else max(self._rounds, rounds)
        return slots.astype(np.int32)

    def missing(self, points: int) -> int:
        """Simulations for which the same `points` may be asked for again; 0 for few points."""
        if self.ended:
            return 2**62
        if points < 2 * len(self.individuals):
            return 0
        return self._rounds * len(self.individuals) - self._told

    def tell(self, slots: I32, totals: F64, weights: NDArray[np.int64]) -> None:
        """The sum of what they brought, and in how many simulations."""
        size = len(self.individuals)
        self._sums += np.bincount(slots, totals, minlength=size)
        self._counts += np.bincount(slots, weights, minlength=size)
        told = int(weights.sum())
        self._told += told
        self.samples += told
        self.total += float(totals.sum())

    def distribution(self) -> tuple[F64, F64]:
        """Middle and spread (variables,): of the best alone in the end."""
        if self.ended:
            return self.inside[0], np.zeros(self.variables)
        spread = self._strategy.sigma * np.sqrt(np.diag(self._strategy.C))
        return np.array(self._strategy.mean), np.asarray(spread, np.float64)

    def _is_evaluated(self) -> bool:
        if self._told < self._rounds * len(self.individuals):
            return False
        return bool(self._counts.min() >= self._rounds)

    def _go_on(self) -> None:
        """Update the distribution, or where the evolution is over go on to mean and best."""
        penalties = PENALTY * ((np.array(self.individuals) - self.inside) ** 2).sum(axis=1)
        fitness = 100.0 * (1.0 - self._sums / self._counts) + penalties
        least = int(fitness.argmin())
        if fitness[least] < self._best[0]:
            self._best = (float(fitness[least]), self.individuals[least])
        if self._is_mean:
            self.ended = True
            assert self._best[1] is not None
            self._use([self._best[1]])
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # flat fitness is usual here
            self._strategy.tell(self.individuals, fitness.tolist())
        if not set(self._strategy.stop()) - BY_FITNESS - BY_PROGRESS:
            self._use(self._strategy.ask())
        elif self.restarts:
            self._begin()
        else:
            self._is_mean = True
            self._use([np.array(self._strategy.mean)])


def _package() -> Any:
    """The package `cma`, loaded when it is needed: that takes a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it can do without matplotlib, and says so
        return importlib.import_module("cma")
