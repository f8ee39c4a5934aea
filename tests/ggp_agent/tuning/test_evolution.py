"""The evolutionary algorithm against Algorithm 3."""

from __future__ import annotations

import numpy as np
import pytest

from ggp_agent.tuning.evolution import EvolutionTuner
from tests.ggp_agent.tuning.oracle import SPACES, Picks, ask, rows, script, tell
from tests.ggp_agent.tuning.test_ntbea import is_mutant


def people_of(tuner: EvolutionTuner, size: int) -> list[Picks]:
    return [tuple(person) for person in tuner._people[0, :size].tolist()]


def is_child(child: Picks, parents: list[Picks], tuner_space: str) -> bool:
    """Whether crossover or a mutation of the elite makes it."""
    space = SPACES[tuner_space]
    crossed = any(
        all(c in (a, b) for c, a, b in zip(child, first, second, strict=True))
        for first in parents
        for second in parents
    )
    return crossed or any(is_mutant(space, parent, child) for parent in parents)


# Decision 15
@pytest.mark.parametrize("name", ["linked", "two"])
def test_generations(name: str) -> None:
    space, rewards = SPACES[name], script(1)
    tuner = EvolutionTuner(space, 1, 1, 5, population=12, elite=6)
    for _ in range(20):
        fitness: dict[int, float] = {}
        people: list[Picks] = []
        for _ in range(12):
            (picks,) = rows(ask(tuner, 1))
            people = people_of(tuner, 12)
            individual = int(tuner._rewards.candidate[0, 0])
            assert individual not in fitness, "one simulation per individual"
            assert people[individual] == picks
            assert space.is_legal(picks)
            reward = next(rewards)
            fitness[individual] = reward
            tell(tuner, np.array([[reward]], np.float32))
        ask(tuner, 1)  # begins the next generation
        after = people_of(tuner, 12)
        elite = after[:6]
        threshold = sorted(fitness.values(), reverse=True)[5]
        better = [people[i] for i, f in fitness.items() if f > threshold]
        allowed = [people[i] for i, f in fitness.items() if f >= threshold]
        for person in better:
            assert elite.count(person) >= min(1, better.count(person))
        assert all(person in allowed for person in elite)
        assert all(is_child(person, elite, name) for person in after[6:])
        # that one was of the new generation: its fitness starts from scratch
        assert tuner._rewards.table[0, :, 1].sum() == 0
        _take_back(tuner)


def _take_back(tuner: EvolutionTuner) -> None:
    """Forget the choice that began the generation."""
    tuner._order[0, -1] = tuner._order.shape[1] - 1


# Decision 15
def test_children_by_crossover_alone_and_by_mutation_alone() -> None:
    space = SPACES["linked"]
    only_mutants = EvolutionTuner(space, 1, 64, 1, population=64, elite=2, crossover=0.0)
    only_crossed = EvolutionTuner(space, 1, 64, 1, population=64, elite=2, crossover=1.0)
    for tuner, crossed in ((only_mutants, False), (only_crossed, True)):
        ask(tuner, 64)
        tell(tuner, np.ones((64, 1), np.float32))
        ask(tuner, 64)
        people = people_of(tuner, 64)
        first, second = people[:2]
        for child in people[2:]:
            mixed = all(c in (a, b) for c, a, b in zip(child, first, second, strict=True))
            assert mixed if crossed else any(is_mutant(space, p, child) for p in (first, second))


# Decision 15
def test_roles_meet_in_random_pairs() -> None:
    tuner = EvolutionTuner(SPACES["two"], 2, 50, 1)
    ask(tuner, 50)
    pairs = tuner._rewards.candidate[:50]
    assert sorted(pairs[:, 0].tolist()) == sorted(pairs[:, 1].tolist()) == list(range(50))
    assert (pairs[:, 0] != pairs[:, 1]).sum() > 40


# Decision 35
def test_late_feedback_makes_the_population_go_round_again() -> None:
    tuner = EvolutionTuner(SPACES["two"], 1, 30, 1, population=12, elite=6)
    ask(tuner, 30)
    counts = np.bincount(tuner._rewards.candidate[:30, 0], minlength=12)
    assert sorted(set(counts.tolist())) == [2, 3]
    before = people_of(tuner, 12)
    rewards = np.linspace(0, 1, 30, dtype=np.float32)
    asked = tuner._rewards.candidate[:30, 0].copy()
    tell(tuner, rewards[:, None])
    means = {i: rewards[asked == i].mean() for i in range(12)}
    best = sorted(means, key=lambda i: -means[i])[:6]
    ask(tuner, 1)
    assert people_of(tuner, 12)[:6] == [before[i] for i in best]


# Decision 35
def test_a_generation_waits_for_everybody() -> None:
    tuner = EvolutionTuner(SPACES["two"], 1, 8, 1, population=12, elite=6)
    ask(tuner, 8)
    tell(tuner, np.ones((8, 1), np.float32))
    before = people_of(tuner, 12)
    ask(tuner, 8)  # the last four, and four a second time
    assert people_of(tuner, 12) == before
    tell(tuner, np.ones((8, 1), np.float32))
    assert set(tuner._rewards.table[0, :, 1].tolist()) == {1.0, 2.0}
    ask(tuner, 1)
    assert tuner._rewards.table[0].sum() == 0
