"""What playouts keep as bits, a row of lanes for each: chances of greedy moves, and goals."""

from __future__ import annotations

import numpy as np
import pytest

from ggp_agent.agents import find_agent
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.played_moves import GOAL_BITS
from ggp_agent.search.strategies.mast import EPSILON
from ggp_agent.search.strategies.move_history import TIMES
from ggp_agent.tuning.self_adaptive import adaptive
from propnet.choice import CHANCE_PLANES
from propnet.layout import U64
from propnet.vectors import FEW
from tests.ggp_agent.search.positions import machine_of, native


def numbers(rows: U64, lanes: int) -> list[int]:
    """The number that every lane has in these rows, the lowest bit first."""
    bytes_ = rows.reshape(len(rows), -1).view(np.uint8)
    bits = np.unpackbits(bytes_, axis=1, bitorder="little")[:, :lanes]
    return [int(sum(int(bit) << i for i, bit in enumerate(column))) for column in bits.T]


@pytest.mark.parametrize(
    ("count", "playouts"), [(1, 1), (20, 3), (100, 1), (100, 3), (512, 1), (31, 16)]
)
def test_every_lane_has_its_simulations_chance(count: int, playouts: int) -> None:
    tuned = find_agent("ap-random-values").with_settings(["tune=epsilon=0,0.25,0.7,1", "memory=32"])
    tuner = adaptive(tuned, 2, 512, seed=1)
    search = NativeSearch(machine_of("connectFour").compiled, 0, tuned, 1, tuner)
    search.simulate(count, playouts)
    settings, one = search._arrays.settings, 1 << CHANCE_PLANES
    greedy = search._few.greedy if count * playouts <= FEW else search._arrays.greedy
    for role in range(2):
        first = role * (CHANCE_PLANES + 1)
        rows = greedy.chances[first : first + CHANCE_PLANES + 1]
        found = [
            bits + one * certain
            for bits, certain in zip(
                numbers(rows[1:], count * playouts),
                numbers(rows[:1], count * playouts),
                strict=True,
            )
        ]
        epsilon = settings.values[settings.row[:count], role, EPSILON].repeat(playouts)
        assert found == [round((1.0 - float(each)) * one) for each in epsilon]
        assert count < 100 or len(set(found)) == 4
        assert not any(numbers(rows, 512)[count * playouts :])


@pytest.mark.parametrize("game", ["connectFour", "checkers", "pentago"])
def test_goals_are_kept_bit_by_bit(game: str) -> None:
    search = native(game, **find_agent("ap").settings | {"memory": 64})
    search.simulate(512)
    played = search._arrays.played
    assert len(np.unique(played.goals)) > 1
    for role in range(len(played.goals)):
        first = role * GOAL_BITS
        found = numbers(played.goal_bits[first : first + GOAL_BITS], 512)
        assert found == played.goals[role].tolist()
    assert search._arrays.history.sums[:, TIMES].sum() > 0
