"""Where combinations in flight are, and rewards that come in parts."""

from __future__ import annotations

import numpy as np

from ggp_agent.tuning.places import Places, bring, new_places, take
from ggp_agent.tuning.tuners import make_tuner
from tests.ggp_agent.tuning.oracle import SPACES


def numbers(*values: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.array(values, np.int32)


def brought(places: Places, count: int) -> list[tuple[int, int, float]]:
    """(place, weight, total of the first role) of what was summed up."""
    return [
        (int(places.chosen[i]), int(places.weights[i]), float(places.totals[i, 0]))
        for i in range(count)
    ]


def rewards(**values: float) -> np.ndarray:  # type: ignore[type-arg]
    """What simulations brought, by number: (8, 2); nothing is to look at the others."""
    brought = np.full((8, 2), np.nan, np.float32)
    for name, value in values.items():
        brought[int(name[1:])] = value, 1 - value
    return brought


def test_neighbours_share_a_place() -> None:
    places = new_places(2, 8)
    assert take(places, numbers(0, 1, 2, 5, 7), 2) == 3
    assert places.weights[:3].tolist() == [2, 2, 1]
    assert places.of[0] == places.of[1] != places.of[2] == places.of[5] != places.of[7]
    assert places.free[-1] == 5


def test_rewards_come_in_parts() -> None:
    places = new_places(2, 8)
    take(places, numbers(0, 1, 2, 3), 2)
    first, second = int(places.of[0]), int(places.of[2])
    assert brought(places, bring(places, numbers(0, 2, 3), rewards(s0=1, s2=0.5, s3=0.25))) == [
        (first, 1, 1.0),
        (second, 2, 0.75),
    ]
    assert places.totals[:2, 1].tolist() == [0.0, 1.25]
    assert places.free[-1] == 7  # the second one is free again
    take(places, numbers(0, 2, 3), 3)
    assert places.of[0] == second  # and taken
    assert places.of[1] == first
    assert brought(places, bring(places, numbers(3, 1), rewards(s3=0.0, s1=0.5))) == [
        (second, 1, 0.0),
        (first, 1, 0.5),
    ]
    assert places.free[-1] == 7
    assert len(brought(places, bring(places, numbers(0, 2), rewards(s0=1, s2=1)))) == 1
    assert places.free[-1] == 8
    assert sorted(places.free[:-1].tolist()) == list(range(8))


def test_no_place_is_given_twice() -> None:
    dice = np.random.default_rng(1)
    places, in_flight = new_places(1, 64), set[int]()
    for _ in range(300):
        free = [s for s in range(64) if s not in in_flight]
        new = free[: int(dice.integers(0, len(free) + 1))]
        if new:
            before = {int(places.of[s]) for s in in_flight}
            count = take(places, numbers(*new), int(dice.integers(1, 9)))
            assert not before & set(places.chosen[:count].tolist())
            in_flight |= set(new)
        done = [s for s in sorted(in_flight) if dice.random() < 0.7]
        if done:
            told = bring(places, numbers(*done), np.ones((64, 1), np.float32))
            assert places.weights[:told].sum() == places.totals[:told].sum() == len(done)
            in_flight -= set(done)
        assert 64 - places.free[-1] == len({int(places.of[s]) for s in in_flight})


def test_what_comes_after_its_generation_is_no_fitness() -> None:
    for name in ("ea", "cmaes"):
        tuner = make_tuner(name, SPACES["two"], 1, 512, 1)
        late, place = numbers(500), 0
        tuner.ask(late, numbers(1))
        for _ in range(200 if name == "ea" else 4000):
            place = (place + 1) % 400
            tuner.ask(numbers(place), numbers(1))
            tuner.tell(numbers(place), np.zeros((1, 1)), numbers(1))
        tuner.tell(late, np.full((1, 1), 1e6), numbers(1))
        if name == "ea":
            assert tuner._scores.table.max() < 1e6  # type: ignore[union-attr]
            assert tuner.model.arms[0, 0].max() > 1e3  # type: ignore[union-attr]
        else:
            assert tuner.state_of(0)[1] == 0.0  # type: ignore[union-attr]
