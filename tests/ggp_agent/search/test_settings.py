"""Which simulations share a row of settings, and rewards that come in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ggp_agent.search.settings import (
    Settings,
    add_rewards,
    free_rows,
    give_rows,
    new_settings,
)


@njit
def give(settings: Settings, simulations: Any, share: int) -> None:
    give_rows(settings, simulations, len(simulations), share)


@njit
def bring(settings: Settings, simulations: Any, rewards: Any) -> int:
    rewarded = 0
    for simulation in simulations:
        rewarded = add_rewards(settings, simulation, rewards, rewarded)
    free_rows(settings, rewarded, True)
    return rewarded


def numbers(*values: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.array(values, np.int32)


def brought(settings: Settings, rewarded: int) -> list[tuple[int, int, float]]:
    """(row, weight, total of the first role) of what was summed up."""
    return [
        (int(settings.rewarded[i]), int(settings.weights[i]), float(settings.totals[i, 0]))
        for i in range(rewarded)
    ]


def free(settings: Settings) -> list[int]:
    """The rows that are free."""
    number = int((settings.left == 0).sum())
    return settings.free[:number].tolist()  # type: ignore[no-any-return]


def rewards(**values: float) -> np.ndarray:  # type: ignore[type-arg]
    """What simulations brought, by number: (8, 2); nothing is to look at the others."""
    brought = np.full((8, 2), np.nan, np.float32)
    for name, value in values.items():
        brought[int(name[1:])] = value, 1 - value
    return brought


def test_neighbours_share_a_row() -> None:
    settings = new_settings(8, 2)
    give(settings, numbers(0, 1, 2, 5, 7), 2)
    assert settings.row[[0, 1, 2, 5, 7]].tolist() == [0, 0, 1, 1, 2]
    assert settings.left.tolist() == [2, 2, 1, 0, 0, 0, 0, 0]


def test_rewards_come_in_parts() -> None:
    settings = new_settings(8, 2)
    give(settings, numbers(0, 1, 2, 3), 2)
    rewarded = bring(settings, numbers(0, 2, 3), rewards(s0=1, s2=0.5, s3=0.25))
    assert brought(settings, rewarded) == [(0, 1, 1.0), (1, 2, 0.75)]
    assert settings.totals[:2, 1].tolist() == [0.0, 1.25]
    assert free(settings) == [1, 2, 3, 4, 5, 6, 7]  # the second one is free again
    give(settings, numbers(0, 2, 3), 3)
    assert settings.row[:4].tolist() == [1, 0, 1, 1]  # and taken
    rewarded = bring(settings, numbers(3, 1), rewards(s3=0.0, s1=0.5))
    assert brought(settings, rewarded) == [(1, 1, 0.0), (0, 1, 0.5)]
    assert free(settings) == [0, 2, 3, 4, 5, 6, 7]
    assert bring(settings, numbers(0, 2), rewards(s0=1, s2=1)) == 1
    assert free(settings) == list(range(8))


def test_no_row_is_given_twice() -> None:
    dice = np.random.default_rng(1)
    settings, in_flight = new_settings(64, 1), set[int]()
    for _ in range(300):
        places = [s for s in range(64) if s not in in_flight]
        new = places[: int(dice.integers(0, len(places) + 1))]
        if new:
            before = {int(settings.row[s]) for s in in_flight}
            give(settings, numbers(*new), int(dice.integers(1, 9)))
            assert not before & set(settings.row[new].tolist())
            in_flight |= set(new)
        done = [s for s in sorted(in_flight) if dice.random() < 0.7]
        if done:
            rewarded = bring(settings, numbers(*done), np.ones((64, 1), np.float32))
            assert (
                settings.weights[:rewarded].sum() == settings.totals[:rewarded].sum() == len(done)
            )
            in_flight -= set(done)
        assert 64 - len(free(settings)) == len({int(settings.row[s]) for s in in_flight})
