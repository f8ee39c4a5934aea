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

from ggp_agent.search.kernel import entry, part
from ggp_agent.tuning.dice import below
from ggp_agent.tuning.model import (
    ASKED,
    FIRST,
    MEAN,
    SPREAD,
    Model,
    ask_for,
    code_of,
    copy,
    draw,
    exploration,
    mutate,
    new_model,
    tell_rewards,
)
from ggp_agent.tuning.space import F32, I32, Space

NEIGHBOURS = 5
C = 0.2


class NtbeaTuner:
    """A `DiscreteTuner` that evolves one individual per role."""

    def __init__(
        self,
        space: Space,
        roles: int,
        most: int,
        seed: int,
        neighbours: int = NEIGHBOURS,
        c: float = C,
    ) -> None:
        self.model = new_model(space, roles, most, seed)
        self._neighbours, self._c = neighbours, c
        self._individual = np.full((roles, 3, len(space.names)), -1, np.int32)

    def ask(self, count: int) -> I32:
        """See `DiscreteTuner.ask`."""
        ask_ntbea(self.model, self._individual, count, self._neighbours, self._c)
        return self.model.picks[:count]

    def tell(self, rewards: F32) -> None:
        """See `DiscreteTuner.tell`."""
        tell_rewards(self.model, rewards, len(rewards))


@entry
def ask_ntbea(model: Model, individual: I32, count: int, neighbours: int, c: float) -> None:
    """Let every role's individual evolve `count` times.

    `individual` (R, 3, d): the present one (-1 before the first), a mutant, the best mutant.
    """
    for role in range(model.picks.shape[1]):
        present, mutant, chosen = individual[role, 0], individual[role, 1], individual[role, 2]
        bonus = c * exploration(model, role)
        for simulation in range(count):
            if present[0] < 0:
                draw(model, role, present)
            else:
                best, ties = -1.0, 0
                for _ in range(neighbours):
                    copy(mutant, present)
                    mutate(model, role, mutant)
                    bound = _bound(model, role, mutant, bonus)
                    if bound > best:
                        best, ties = bound, 0
                    if bound == best:  # ties are broken uniformly
                        ties += 1
                        if below(model.random[role], ties) == 0:
                            copy(chosen, mutant)
                copy(present, chosen)
            copy(model.picks[simulation, role], present)
            ask_for(model, simulation, role)


@part
def _bound(model: Model, role: int, pick: I32, bonus: float) -> float:
    """The mean upper confidence bound of a combination's tuples of length 1 and d; 0 for none."""
    total, tuples = 0.0, 0
    variables = model.picks.shape[2]
    for i in range(variables):
        row = model.arms[role, model.shape[FIRST, i] + pick[i]]
        if row[ASKED] > 0.0:
            total += row[MEAN] + bonus * row[SPREAD]
            tuples += 1
    row = model.arms[role, model.shape[FIRST, variables] + code_of(model, pick)]
    if row[ASKED] > 0.0:
        total += row[MEAN] + bonus * row[SPREAD]
        tuples += 1
    return total / tuples if tuples > 0 else 0.0
