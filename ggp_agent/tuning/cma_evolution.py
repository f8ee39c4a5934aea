"""One role's evolution by covariance matrix adaptation: see `cma_es`."""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.tuning.space import F64

I64 = NDArray[np.int64]

STEP_SIZE = 0.3
PENALTY = 100.0
BY_FITNESS = frozenset(("ftarget", "tolfun", "tolfunhist", "tolfunrel", "tolflatfitness"))
BY_PROGRESS = frozenset(("tolstagnation",))
"""Criteria for stopping that look at fitness: its values, and their course."""


@dataclass
class Evolution:
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
        numbers, size = self.at(turns), len(self.individuals)
        self._sums += np.bincount(numbers, totals, minlength=size)
        self._counts += np.bincount(numbers, counts, minlength=size)
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


def _package() -> Any:
    """The package `cma`, loaded when it is needed: that takes a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it can do without matplotlib, and says so
        return importlib.import_module("cma")
