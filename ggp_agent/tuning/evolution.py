"""The evolutionary algorithm, `ea`: Sironi, Liu, Winands (2020), Algorithm 3.

A population of 50 per role, every individual in one simulation of a generation; the 25 with the
highest rewards stay, and 25 are made of them by uniform crossover (probability 0.5) or a single
random mutation.  Fitness is forgotten with every generation, that of the elite, too.  The roles'
populations meet in random pairs.

With many simulations in flight a generation lasts until something is known of every individual;
meanwhile the population goes round again, in new pairs, and fitness is the mean reward.  What
comes later than that counts in the statistics alone.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.candidates import (
    SAMPLES,
    CandidateRewards,
    new_rewards,
    next_generation,
    put_candidate,
    sort_by_mean,
    tell_candidates,
)
from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import (
    Model,
    allowed,
    ask_for,
    copy,
    draw,
    mutate,
)
from ggp_agent.tuning.random_numbers import below, chance, shuffle
from ggp_agent.tuning.space import F64, I32, Space

POPULATION = 50
ELITE = 25
CROSSOVER = 0.5


class EvolutionTuner(DiscreteTuner):
    """A `ValueTuner` that evolves a population per role."""

    def __init__(
        self,
        space: Space,
        roles: int,
        slots: int,
        seed: int,
        population: int = POPULATION,
        elite: int = ELITE,
        crossover: float = CROSSOVER,
    ) -> None:
        super().__init__(space, roles, slots, seed)
        self._rewards = new_rewards(roles, population, slots)
        self._people = np.full((roles, 2 * population, len(space.names)), -1, np.int32)
        self._order = np.tile(np.arange(population + 1, dtype=np.int32), (roles, 1))
        self._order[:, population] = population  # so that it begins with a shuffle
        self._elite, self._crossover = elite, crossover

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`."""
        ask_evolution(
            self.model,
            self._rewards,
            self._people,
            self._order,
            slots,
            weights,
            self._elite,
            self._crossover,
        )

    def tell(self, slots: I32, totals: F64, weights: I32) -> None:
        """See `ValueTuner.tell`."""
        tell_candidates(self.model, self._rewards, slots, totals, weights)


@direct
@entry
def ask_evolution(
    model: Model,
    rewards: CandidateRewards,
    people: I32,
    order: I32,
    slots: I32,
    weights: I32,
    elite: int,
    crossover: float,
) -> None:
    """Choose the next individuals of every role.

    `people` (R, 2 * lambda, d): the population, then room for the next one.  `order`
    (R, lambda + 1): the individuals in the order in which they are evaluated, and where in it.
    """
    size = rewards.table.shape[1]
    for role in range(model.picks.shape[1]):
        if people[role, 0, 0] < 0:
            for individual in range(size):
                draw(model, role, people[role, individual])
        elif _all_known(rewards, role):
            shuffle(order[role], size, model.random[role])
            sort_by_mean(rewards, role, order[role], size, 0)
            _evolve(model, role, people[role], order[role], size, elite, crossover)
            next_generation(rewards, role)
            order[role, size] = size
        for i in range(len(slots)):
            slot = slots[i]
            if order[role, size] == size:
                shuffle(order[role], size, model.random[role])
                order[role, size] = 0
            individual = order[role, order[role, size]]
            order[role, size] += 1
            put_candidate(rewards, slot, role, individual)
            copy(model.picks[slot, role], people[role, individual])
            ask_for(model, slot, role, weights[i])


@part
def _all_known(rewards: CandidateRewards, role: int) -> bool:
    for individual in range(rewards.table.shape[1]):
        if rewards.table[role, individual, SAMPLES] == 0.0:
            return False
    return True


@part
def _evolve(
    model: Model, role: int, people: I32, order: I32, size: int, elite: int, crossover: float
) -> None:
    """The next population: the first of `order`, and individuals made of them."""
    new = people[size:]
    for individual in range(elite):
        copy(new[individual], people[order[individual]])
    for individual in range(elite, size):
        if chance(model.random[role], crossover):
            first = new[below(model.random[role], elite)]
            second = new[below(model.random[role], elite)]
            _cross(model, role, first, second, new[individual])
        else:
            copy(new[individual], new[below(model.random[role], elite)])
            mutate(model, role, new[individual])
    for individual in range(size):
        copy(people[individual], new[individual])


@part
def _cross(model: Model, role: int, first: I32, second: I32, child: I32) -> None:
    """Uniform crossover; where a link forbids one parent's value the other's is taken."""
    for i in range(child.shape[0]):
        child[i] = -1
    for i in range(child.shape[0]):
        value = first[i] if below(model.random[role], 2) == 0 else second[i]
        only, never = allowed(model.links, child, i)
        if value == never or (only >= 0 and value != only):
            value = first[i] + second[i] - value
        child[i] = value
