"""One point a match, split among the best: worked by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.statistics import agent_points, split_point

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@pytest.mark.parametrize(
    ("goals", "points"),
    [
        ([100, 0], [1, 0]),
        ([0, 100], [0, 1]),
        ([50, 50], [HALF, HALF]),
        ([0, 0], [HALF, HALF]),
        ([60, 40], [1, 0]),
        ([100, 0, 0], [1, 0, 0]),
        ([50, 0, 50], [HALF, 0, HALF]),
        ([100, 100, 0], [HALF, HALF, 0]),
        ([33, 33, 33], [THIRD, THIRD, THIRD]),
        ([70], [1]),
    ],
)
def test_the_point_is_split_among_the_best(goals: list[int], points: list[Fraction]) -> None:
    assert split_point(goals) == tuple(points)


@pytest.mark.parametrize(
    ("agents", "goals", "points"),
    [
        # two players: a win, a draw
        (["a", "b"], [0, 100], {"a": 0, "b": 1}),
        (["a", "b"], [50, 50], {"a": HALF, "b": HALF}),
        # a plays two of three roles: one of them wins; both tie for the best; all three tie
        (["a", "b", "a"], [0, 0, 100], {"a": 1, "b": 0}),
        (["a", "b", "a"], [100, 0, 100], {"a": 1, "b": 0}),
        (["a", "b", "a"], [40, 40, 20], {"a": HALF, "b": HALF}),
        (["a", "b", "a"], [33, 33, 33], {"a": 2 * THIRD, "b": THIRD}),
    ],
)
def test_an_agent_gets_the_shares_of_its_roles(
    agents: list[str], goals: list[int], points: dict[str, Fraction]
) -> None:
    assert agent_points(agents, goals) == points


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 100)), min_size=1, max_size=6))
def test_the_points_of_a_match_add_up_to_one(seats: list[tuple[str, int]]) -> None:
    agents, goals = zip(*seats, strict=True)
    assert sum(agent_points(agents, goals).values()) == 1
