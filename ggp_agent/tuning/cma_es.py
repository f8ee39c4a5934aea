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

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from ggp_agent.search.kernel import direct, entry
from ggp_agent.tuning.cma_evolution import I64, Evolution
from ggp_agent.tuning.space import F32, F64, I32, Space
from ggp_agent.tuning.tuner_report import State, report_of_distributions
from ggp_agent.tuning.value_tuner import SearchFacts

FEW_IN_FLIGHT = 64
"""In flight at most where simulations are scarce rather than time."""
MOST_ROUNDS = 16384
MOST_TURNS = 64
"""More than there are individuals in a generation: 4 + 3 ln(variables)."""
OVER = -1
"""The turn of individuals in flight whose generation is over."""


def rounds_for(in_flight: int, most: int) -> int:
    """Rounds of a generation, with so many in flight, and at most so many later on.

    1 for one in flight, 8 for 16.  Whoever is to have hundreds in flight will simulate so much
    that generations may be long from the start: there one lasts some 160 small batches, and no
    longer than 16384 rounds.
    """
    if most <= FEW_IN_FLIGHT:
        return max(1, in_flight * in_flight // 32)
    return min(MOST_ROUNDS, max(20 * in_flight, in_flight * in_flight // 4))


class CmaTuner:
    """A `ValueTuner` with one search distribution per role, side by side.

    A role's individuals take turns, in an order of their own.  Where all turns of a generation are
    at is one number for all roles, and rewards are summed up by turn until they may complete a
    generation: most batches just take the next points.
    """

    def __init__(
        self, space: Space, roles: int, slots: int, seed: int, restarts: bool = False
    ) -> None:
        self.space = space
        self._most = slots
        """simulations in flight at most; 1 is exactly the paper's algorithm"""
        self._random = np.random.Generator(np.random.PCG64([seed, 5]))
        self._roles = [Evolution(len(space.names), self._random, restarts) for _ in range(roles)]
        self.points = np.zeros((MOST_TURNS + slots, roles, len(space.names)))
        """(T, R, d) points of the unit cube, turn by turn"""
        self._values = np.zeros(self.points.shape, np.float32)
        """the values that they stand for"""
        self.first = 0
        """the turn of the first combination asked for last"""
        self.version = 0
        """changes where the points do"""
        self._next = self._completed = self._rounds = self._enough = 0
        self._turns = 1
        self.turn_at = np.full(slots, OVER, np.int32)
        """(B,) the turn of the combination in a slot"""
        self._totals = np.zeros((len(self.points), roles))
        self._counts = np.zeros(len(self.points), np.int64)
        self._lay_out()

    def prepare(self, facts: SearchFacts) -> None:
        """See `ValueTuner.prepare`."""
        self._most = facts.in_flight

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`."""
        rounds = rounds_for(min(int(weights.sum()), self._most), self._most)
        if rounds > self._rounds:
            self._require(rounds)
        if self._completed >= self._enough:
            self._pass_on()
            done = [evolution.go_on(self._rounds) for evolution in self._roles]
            if any(done):
                self._lay_out()
                self._require(rounds)
        self.first = self._next
        take_turns(self.turn_at, slots, self.first)
        self._next = (self._next + len(slots)) % self._turns

    def write(self, slots: I32, values: F32, own: F32, columns: I32) -> None:
        """See `ValueTuner.write`."""
        write_turns(values, slots, self.turn_at, own, self._values, columns)

    def picks_at(self, slots: I32) -> I32:
        """See `ValueTuner.picks_at`."""
        return self.space.nearest(self.points_at(slots))

    def points_at(self, slots: I32) -> F64:
        """(n, R, d) the points of the unit cube in slots that were asked for last."""
        return self.points[self.turn_at[slots]]

    def tell(self, slots: I32, totals: F64, weights: I32) -> None:
        """See `ValueTuner.tell`."""
        self._completed += sum_up(self._totals, self._counts, self.turn_at, slots, totals, weights)

    def new_move(self) -> None:
        """See `ValueTuner.new_move`; what was learned is kept."""

    def report(self, role: int, others: Sequence[Self] = ()) -> dict[str, Any]:
        """See `ValueTuner.report`."""
        states = [tuner.state_of(role) for tuner in (self, *others)]
        return report_of_distributions(self.space, states)

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
        self._values[:] = self.space.values_between(self.points)
        self._next %= self._turns
        self.turn_at[:] = OVER
        self.version += 1

    def _pass_on(self) -> None:
        """Tell the roles' evolutions of the simulations completed since the last time."""
        if not self._completed:
            return
        turns = np.arange(len(self.points)) % self._turns
        for evolution, totals in zip(self._roles, self._totals.T, strict=True):
            evolution.tell(turns, totals, self._counts)
        self._totals[:], self._counts[:], self._completed = 0, 0, 0
        self._require(self._rounds)

    def state_of(self, role: int) -> State:
        """A role's search distribution."""
        self._pass_on()
        evolution = self._roles[role]
        mean = evolution.total / evolution.samples if evolution.samples else 0.0
        return (evolution.samples, mean, *evolution.distribution())

    @property
    def is_fixed(self) -> list[bool]:
        """Whether a role's evolution has come to its end."""
        return [evolution.ended for evolution in self._roles]


restarting = partial(CmaTuner, restarts=True)


@direct
@entry
def take_turns(turn_at: I32, slots: I32, first: int) -> None:
    """Give slots (n,) the turns from the first one on."""
    for i in range(len(slots)):
        turn_at[slots[i]] = first + i


@direct
@entry
def sum_up(sums: F64, counts: I64, turn_at: I32, slots: I32, totals: F64, weights: I32) -> int:
    """Add what simulations in slots (n,) brought to `sums` (T, R) and `counts` (T,) by turn.

    Returns the number of simulations, without those whose generation is over: these are left out.
    """
    number = 0
    for i in range(len(slots)):
        turn = turn_at[slots[i]]
        if turn != OVER:
            for role in range(sums.shape[1]):
                sums[turn, role] += totals[i, role]
            counts[turn] += weights[i]
            number += weights[i]
    return number


@direct
@entry
def write_turns(values: F32, slots: I32, turn_at: I32, own: F32, turns: F32, columns: I32) -> None:
    """See `ValueTuner.write`; `turns` (T, R, d) are values by turn."""
    for slot in slots:
        for role in range(turns.shape[1]):
            for column in range(len(own)):
                values[slot, role, column] = own[column]
            for i in range(turns.shape[2]):
                values[slot, role, columns[i]] = turns[turn_at[slot], role, i]
