"""Covariance matrix adaptation, `cmaes`: Hansen (2016), as in Sironi, Liu, Winands (2020),
Algorithm 6, by the package `cma`.

Every role has a search distribution over the unit cube, which begins at a random point with step
size 0.3.  An individual outside the cube is simulated at the closest point within, and its fitness
(to be minimized) is 100 - r + 100 times its squared distance from there.  Criteria for stopping
that look at fitness are off; when another one stops the evolution, the distribution's mean is
evaluated, too, and the best individual ever is used from then on.  `cmaes-restart` begins anew at
another random point instead.

With many simulations in flight a generation lasts until all rewards of its first round are known;
meanwhile the population goes round again, and fitness is that of the mean reward; what comes later
than that is left out.  As an update of
the distribution takes as long as a thousand simulations that are far in flight, generations grow
with them: see `rounds_for`.
"""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import direct, entry
from ggp_agent.tuning.space import F64, I32, Space

I64 = NDArray[np.int64]

STEP_SIZE = 0.3
PENALTY = 100.0
FEW = 64
"""In flight at most where simulations are scarce rather than time."""
MOST_ROUNDS = 16384
MOST_TURNS = 64
"""More than there are individuals in a generation: 4 + 3 ln(variables)."""
OVER = -1
"""The turn of individuals in flight whose generation is over."""
BY_FITNESS = frozenset(("ftarget", "tolfun", "tolfunhist", "tolfunrel", "tolflatfitness"))
BY_PROGRESS = frozenset(("tolstagnation",))
"""Criteria for stopping that look at fitness: its values, and their course."""


def rounds_for(in_flight: int, most: int) -> int:
    """Rounds of a generation, with so many in flight, and at most so many later on.

    1 for one in flight, 8 for 16.  Whoever is to have hundreds in flight will simulate so much
    that generations may be long from the start: there one lasts some 160 small batches, and no
    longer than 16384 rounds.
    """
    if most <= FEW:
        return max(1, in_flight * in_flight // 32)
    return min(MOST_ROUNDS, max(20 * in_flight, in_flight * in_flight // 4))


class CmaTuner:
    """One search distribution per role, side by side; like a `DiscreteTuner`, but with points.

    A role's individuals take turns, in an order of their own.  Where all turns of a generation are
    at is one number for all roles, and rewards are summed up by turn until they may complete a
    generation: most batches just take the next points.
    """

    def __init__(
        self, space: Space, roles: int, most: int, seed: int, restarts: bool = False
    ) -> None:
        self.most = most
        """simulations in flight at most; 1 is exactly the paper's algorithm"""
        self._random = np.random.Generator(np.random.PCG64([seed, 5]))
        self._roles = [_Evolution(len(space.names), self._random, restarts) for _ in range(roles)]
        self.points = np.zeros((MOST_TURNS + most, roles, len(space.names)))
        """(T, R, d) points of the unit cube, turn by turn"""
        self.first = 0
        """the turn of the first combination asked for last"""
        self.version = 0
        """changes where `points` do"""
        self._next = self._told = self._rounds = self._enough = 0
        self._turns = 1
        self.turn_at = np.full(most, OVER, np.int32)
        """(B,) the turn of the combination at a place"""
        self._totals = np.zeros((len(self.points), roles))
        self._counts = np.zeros(len(self.points), np.int64)
        self._lay_out()

    def ask(self, places: I32, weights: I32) -> F64:
        """As `DiscreteTuner.ask`, (n, R, d) points of the unit cube."""
        rounds = rounds_for(int(weights.sum()), self.most)
        if rounds > self._rounds:
            self._require(rounds)
        if self._told >= self._enough:
            self._pass_on()
            done = [evolution.go_on(self._rounds) for evolution in self._roles]
            if any(done):
                self._lay_out()
                self._require(rounds)
        self.first, last = self._next, self._next + len(places)
        take_turns(self.turn_at, places, self.first)
        self._next = last % self._turns
        return self.points[self.first : last]

    def tell(self, places: I32, totals: F64, weights: I32) -> None:
        """See `DiscreteTuner.tell`."""
        self._told += sum_up(self._totals, self._counts, self.turn_at, places, totals, weights)

    def _require(self, rounds: int) -> None:
        """Have generations last so many rounds."""
        self._rounds = rounds
        self._enough = min(evolution.needs(rounds) for evolution in self._roles)
        """rewards that may complete a generation of some role"""

    def _lay_out(self) -> None:
        """Have the individuals take turns."""
        self._turns = max(len(evolution.individuals) for evolution in self._roles)
        turns = np.arange(len(self.points)) % self._turns
        for role, evolution in enumerate(self._roles):
            self.points[:, role] = evolution.inside[evolution.at(turns)]
        self._next %= self._turns
        self.turn_at[:] = OVER
        self.version += 1

    def _pass_on(self) -> None:
        """Tell the roles' evolutions what was told since the last time."""
        if not self._told:
            return
        turns = np.arange(len(self.points)) % self._turns
        for evolution, totals in zip(self._roles, self._totals.T, strict=True):
            evolution.tell(turns, totals, self._counts)
        self._totals[:], self._counts[:], self._told = 0, 0, 0
        self._require(self._rounds)

    @property
    def roles(self) -> int:
        """R."""
        return len(self._roles)

    def state_of(self, role: int) -> tuple[int, float, F64, F64]:
        """A role's samples and mean reward; middle and spread (d,) of its search distribution."""
        self._pass_on()
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

    def at(self, turns: I64) -> I64:
        """The numbers of the individuals whose turns these are."""
        return self._order[turns % len(self.individuals)]

    def needs(self, rounds: int) -> int:
        """Rewards still needed for a generation of so many rounds."""
        if self.ended:
            return sys.maxsize
        rounds = 1 if self._is_mean else rounds
        return int(np.maximum(0, rounds - self._counts).sum())

    def tell(self, turns: I64, totals: F64, counts: I64) -> None:
        """The sums of what those whose turns these were brought, and in how many simulations."""
        slots, size = self.at(turns), len(self.individuals)
        self._sums += np.bincount(slots, totals, minlength=size)
        self._counts += np.bincount(slots, counts, minlength=size)
        self.samples += int(counts.sum())
        self.total += float(totals.sum())

    def distribution(self) -> tuple[F64, F64]:
        """Middle and spread (variables,): of the best alone in the end."""
        if self.ended:
            return self.inside[0], np.zeros(self.variables)
        spread = self._strategy.sigma * np.sqrt(np.diag(self._strategy.C))
        return np.array(self._strategy.mean), np.asarray(spread, np.float64)

    def go_on(self, rounds: int) -> bool:
        """Update the distribution, or where the evolution is over go on to mean and best.

        False where that needs more rewards for a generation of so many rounds.
        """
        if self.ended or self._counts.min() < (1 if self._is_mean else rounds):
            return False
        penalties = PENALTY * ((np.array(self.individuals) - self.inside) ** 2).sum(axis=1)
        fitness = 100.0 * (1.0 - self._sums / self._counts) + penalties
        least = int(fitness.argmin())
        if fitness[least] < self._best[0]:
            self._best = (float(fitness[least]), self.individuals[least])
        if self._is_mean:
            self.ended = True
            assert self._best[1] is not None
            self._use([self._best[1]])
            return True
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
        return True


@direct
@entry
def take_turns(turn_at: I32, places: I32, first: int) -> None:
    """Give places (n,) the turns from the first one on."""
    for i in range(len(places)):
        turn_at[places[i]] = first + i


@direct
@entry
def sum_up(sums: F64, counts: I64, turn_at: I32, places: I32, totals: F64, weights: I32) -> int:
    """Add what was told of places (n,) to `sums` (T, R) and `counts` (T,) by turn.

    Returns the number of simulations, without those whose generation is over: these are left out.
    """
    number = 0
    for i in range(len(places)):
        turn = turn_at[places[i]]
        if turn != OVER:
            for role in range(sums.shape[1]):
                sums[turn, role] += totals[i, role]
            counts[turn] += weights[i]
            number += weights[i]
    return number


def _package() -> Any:
    """The package `cma`, loaded when it is needed: that takes a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it can do without matplotlib, and says so
        return importlib.import_module("cma")
