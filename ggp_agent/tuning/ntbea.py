"""The n-tuple bandit evolutionary algorithm, `ntbea`.

Lucas, Liu, Perez-Liebana: The N-Tuple Bandit Evolutionary Algorithm (2018), as in Sironi, Liu,
Winands (2020), Algorithms 4 and 5: one individual, which a random mutant of it replaces after every
simulation, the best of five by the upper confidence bounds of the landscape model.  The model has
tuples of one variable and of all; a mutant's bound is the mean over those tuples for which there is
anything.

With many simulations in flight the individual evolves on without waiting for rewards; the model
counts those in flight as `model` says.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import (
    ALL,
    ASKED,
    FIRST,
    Model,
    ask_for,
    bound_of,
    code_of,
    copy,
    draw,
    exploration,
    fetch_arm,
    mutate,
)
from ggp_agent.tuning.random_numbers import below
from ggp_agent.tuning.space import F64, I32, Space

NEIGHBOURS = 5
EXPLORATION = 0.2
"""The constant of the bounds."""

UNKNOWN = -1.0
"""The bound of a tuple of which nothing is known."""


class NtbeaTuner(DiscreteTuner):
    """A `ValueTuner` that evolves one individual per role."""

    def __init__(
        self,
        space: Space,
        roles: int,
        slots: int,
        seed: int,
        neighbours: int = NEIGHBOURS,
        c: float = EXPLORATION,
    ) -> None:
        super().__init__(space, roles, slots, seed)
        self._c = c
        self._bounds = np.zeros((roles, 1 + sum(space.sizes)))
        self._bonuses = np.zeros(roles)
        self._present = np.full((roles, len(space.names)), -1, np.int32)
        self._mutants = np.zeros((roles, neighbours, len(space.names)), np.int32)

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`."""
        ask_ntbea(
            self.model,
            self._bounds,
            self._bonuses,
            self._present,
            self._mutants,
            slots,
            weights,
            self._c,
        )


@direct
@entry
def ask_ntbea(
    model: Model,
    bounds: F64,
    bonuses: F64,
    present: I32,
    mutants: I32,
    slots: I32,
    weights: I32,
    c: float,
) -> None:
    """Let every role's individual evolve, once for each of the slots.

    `bounds` (R, values + 1) and `bonuses` (R,): room for the bounds of tuples of length 1, and for
    c sqrt(ln N).  `present` (R, d): the individuals, -1 before the first.  `mutants` (R,
    neighbours, d): room for these.
    """
    roles = model.picks.shape[1]
    for role in range(roles):
        bonuses[role] = c * exploration(model.arms[role, ALL, ASKED])
        _bound_known(model, role, bounds[role], bonuses[role])
    for i in range(len(slots)):
        for role in range(roles):
            _mutate(model, role, present[role], mutants[role])
        for role in range(roles):
            individual, bonus = present[role], bonuses[role]
            if individual[0] < 0:
                draw(model, role, individual)
            else:
                best = _best(model, role, mutants[role], bounds[role], bonus)
                copy(individual, mutants[role, best])
            copy(model.picks[slots[i], role], individual)
            ask_for(model, slots[i], role, weights[i])
            _bound_picked(model, role, individual, bounds[role], bonus)


@part
def _mutate(model: Model, role: int, individual: I32, mutants: I32) -> None:
    """Make the mutants of an individual, if there is one, and have what is known of them ready."""
    if individual[0] >= 0:
        for mutant in range(mutants.shape[0]):
            copy(mutants[mutant], individual)
            mutate(model, role, mutants[mutant])
            fetch_arm(model, role, mutants[mutant])


@part
def _best(model: Model, role: int, mutants: I32, bounds: F64, bonus: float) -> int:
    """The mutant with the highest bound; ties are broken uniformly."""
    highest, best, ties = -1.0, 0, 0
    for mutant in range(mutants.shape[0]):
        bound = _bound(model, role, mutants[mutant], bounds, bonus)
        if bound > highest:
            highest, best, ties = bound, mutant, 1
        elif bound == highest:
            ties += 1
            if below(model.random[role], ties) == 0:
                best = mutant
    return best


@part
def _bound_known(model: Model, role: int, bounds: F64, bonus: float) -> None:
    """Put the bounds of the tuples of length 1 into `bounds`, by arm."""
    for arm in range(1, bounds.shape[0]):
        known = model.arms[role, arm, ASKED] > 0.0
        bounds[arm] = bound_of(model, role, arm, bonus) if known else UNKNOWN


@part
def _bound_picked(model: Model, role: int, pick: I32, bounds: F64, bonus: float) -> None:
    """The same for those of a combination."""
    for i in range(pick.shape[0]):
        arm = model.shape[FIRST, i] + pick[i]
        bounds[arm] = bound_of(model, role, arm, bonus)


@part
def _bound(model: Model, role: int, pick: I32, bounds: F64, bonus: float) -> float:
    """The mean upper confidence bound of a combination's tuples of length 1 and d; 0 for none."""
    total, tuples = 0.0, 0
    for i in range(pick.shape[0]):
        arm = model.shape[FIRST, i] + pick[i]
        if bounds[arm] != UNKNOWN:
            total += bounds[arm]
            tuples += 1
    arm = model.shape[FIRST, pick.shape[0]] + code_of(model, pick)
    if model.arms[role, arm, ASKED] > 0.0:
        total += bound_of(model, role, arm, bonus)
        tuples += 1
    return total / tuples if tuples > 0 else 0.0
