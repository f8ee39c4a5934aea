"""CMA-ES against Algorithm 6: what the package is told, and what comes after it."""

from __future__ import annotations

import numpy as np
import pytest

from ggp_agent.tuning.cma_es import CmaTuner, rounds_for
from ggp_agent.tuning.cma_evolution import PENALTY
from tests.ggp_agent.tuning.oracle import SPACES, ask_points, tell

SPACE = SPACES["two"]


def reward_at(points: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Best at (0.7, 0.2)."""
    distance = ((points - np.array([0.7, 0.2])) ** 2).sum(axis=-1)
    return np.clip(1 - distance, 0, 1).astype(np.float32)


# Decision 17
def test_one_simulation_per_individual_and_its_fitness() -> None:
    tuner = CmaTuner(SPACE, 1, 1, seed=1)
    evolution = tuner._roles[0]
    told: list[tuple[list[list[float]], list[float]]] = []
    update = evolution._strategy.tell
    evolution._strategy.tell = lambda x, f: (told.append(([*map(list, x)], f)), update(x, f))
    for _ in range(10):
        raw = [list(x) for x in evolution.individuals]
        rewards = {}
        for _ in raw:
            point = ask_points(tuner, 1)[0, 0].copy()
            slot = int(evolution.at(np.array([tuner.first]))[0])
            assert slot not in rewards
            assert point.tolist() == np.clip(raw[slot], 0, 1).tolist()
            rewards[slot] = float(reward_at(point))
            tell(tuner, np.array([[rewards[slot]]], np.float32))
        outside = [((np.array(x) - np.clip(x, 0, 1)) ** 2).sum() for x in raw]
        ask_points(tuner, 1)
        tuner._next = tuner.first  # take back the choice that began the generation
        individuals, fitness = told[-1]
        assert individuals == raw
        expected = [100 - 100 * rewards[i] + PENALTY * outside[i] for i in range(len(raw))]
        assert fitness == pytest.approx(expected)


# Decision 17
@pytest.mark.parametrize("restarts", [False, True])
def test_after_the_end_the_best_is_used(restarts: bool) -> None:
    tuner = CmaTuner(SPACE, 1, 1, seed=2, restarts=restarts)
    best, chosen = -1.0, np.zeros(2)
    for _ in range(6000):
        point = ask_points(tuner, 1)[0, 0].copy()
        if tuner.is_fixed == [True]:
            break
        reward = float(reward_at(point))
        if reward > best:
            best, chosen = reward, point
        tell(tuner, np.array([[reward]], np.float32))
    assert tuner.is_fixed == [not restarts]
    assert chosen == pytest.approx([0.7, 0.2], abs=0.02)
    if not restarts:
        tell(tuner, np.zeros((1, 1), np.float32))
        assert reward_at(ask_points(tuner, 1)[0, 0]) == pytest.approx(best, abs=1e-6)


# Decision 17
def test_flat_fitness_does_not_stop_it() -> None:
    tuner = CmaTuner(SPACE, 1, 1, seed=1)
    for _ in range(600):
        ask_points(tuner, 1)
        tell(tuner, np.ones((1, 1), np.float32))
    assert tuner.is_fixed == [False]


# Decision 37
def test_late_feedback_makes_generations_longer() -> None:
    tuner = CmaTuner(SPACE, 2, 16, seed=1)
    before = [list(map(list, role.individuals)) for role in tuner._roles]
    size = len(before[0])
    batches = 0
    while [list(map(list, role.individuals)) for role in tuner._roles] == before:
        points = ask_points(tuner, 16)
        tell(tuner, reward_at(points))
        batches += 1
    assert abs(batches - 1 - rounds_for(16, 16) * size / 16) <= 1
    assert [rounds_for(count, 16) for count in (1, 7, 16)] == [1, 1, 8]
    assert [rounds_for(count, 512) for count in (1, 16, 64, 512)] == [20, 320, 1280, 16384]


def test_simulations_may_share_individuals() -> None:
    tuner = CmaTuner(SPACE, 1, 16, seed=1)
    points = ask_points(tuner, 11, 4)
    assert points.shape == (3, 1, 2)
    slots = tuner._roles[0].at(np.arange(3)).tolist()
    tell(tuner, np.arange(11, dtype=np.float32)[:, None], 4)
    tuner.state_of(0)  # passes on what was completed
    sums, counts = tuner._roles[0]._sums, tuner._roles[0]._counts
    assert sums[slots].tolist() == [0 + 1 + 2 + 3, 4 + 5 + 6 + 7, 8 + 9 + 10]
    assert counts[slots].tolist() == [4, 4, 3]
    assert counts.sum() == 11


def test_individuals_take_turns_until_a_generation_is_over() -> None:
    tuner = CmaTuner(SPACE, 2, 64, seed=1)
    size, total, asked = len(tuner._roles[0].individuals), 0.0, []
    points = ask_points(tuner, 50)
    while tuner.version == 1:
        asked.extend(points[:, 1].tolist())
        rewards = reward_at(points)
        total += float(rewards[:, 1].sum())
        tell(tuner, rewards)
        points = ask_points(tuner, 50)
    assert asked[size:] == asked[:-size]
    assert len(set(map(tuple, asked))) == size
    assert len(asked) == pytest.approx(rounds_for(50, 64) * size, abs=50 + size)
    assert tuner._roles[0].samples == len(asked)
    assert tuner._roles[1].total == pytest.approx(total, rel=1e-5)


def test_in_the_end_all_is_still_counted() -> None:
    tuner = CmaTuner(SPACE, 1, 512, seed=1)
    for evolution in tuner._roles:
        evolution.ended = True
    for _ in range(200):
        tell(tuner, reward_at(ask_points(tuner, 512)))
    assert tuner.state_of(0)[0] == 200 * 512


def test_a_look_at_the_state_includes_what_was_completed_last() -> None:
    tuner = CmaTuner(SPACE, 1, 64, seed=1)
    for _ in range(2):
        tell(tuner, reward_at(ask_points(tuner, 64)))
    samples, mean, middle, spread = tuner.state_of(0)
    assert samples == 128
    assert 0 < mean < 1
    assert middle.shape == spread.shape == (2,)


def test_roles_evolve_apart_and_by_seed() -> None:
    points = [ask_points(CmaTuner(SPACE, 2, 8, seed), 8).copy() for seed in (1, 1, 2)]
    assert np.array_equal(points[0], points[1])
    assert not np.array_equal(points[0], points[2])
    assert not np.array_equal(points[0][:, 0], points[0][:, 1])
    assert points[0].min() >= 0
    assert points[0].max() <= 1
