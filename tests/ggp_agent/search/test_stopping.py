"""Reasons to stop thinking, one by one and together."""

from __future__ import annotations

import math

import pytest

from ggp_agent.agents import Agent
from ggp_agent.search.stopping import (
    Deadline,
    Interruption,
    NothingLeft,
    Progress,
    SecondsSpent,
    SimulationsMade,
    StopReason,
    is_to_stop,
    seconds_left,
    stop_reasons,
)

UNDER_WAY = Progress(now=50.0, seconds=2.0, next_seconds=0.5, simulations=100)


def never() -> bool:
    return False


@pytest.mark.parametrize(
    ("reason", "holds", "left"),
    [
        (Deadline(50.6), False, 0.6),
        (Deadline(50.5), True, 0.5),  # the next piece of work would be late
        (Deadline(49.0), True, -1.0),
        (SecondsSpent(2.6), False, 0.6),
        (SecondsSpent(2.5), True, 0.5),
        (SimulationsMade(101), False, math.inf),
        (SimulationsMade(100), True, math.inf),
        (Interruption(never), False, math.inf),
        (Interruption(lambda: True), True, math.inf),
        (NothingLeft(), False, math.inf),
    ],
)
def test_each_reason(reason: StopReason, holds: bool, left: float) -> None:
    assert reason.holds(UNDER_WAY) == holds
    assert reason.seconds_left(UNDER_WAY) == pytest.approx(left)


def test_nothing_left_to_find_out() -> None:
    assert NothingLeft().holds(Progress(now=0.0, seconds=0.0, is_open=False))


def test_a_limit_per_move_ends_thinking_before_the_clock_does() -> None:
    def left(**settings: float) -> float:
        return seconds_left(stop_reasons(Agent("", "", settings), 150.0, never), UNDER_WAY)

    assert left() == 100.0  # no limit
    assert left(seconds=1000.0) == 100.0
    assert left(seconds=5.0) == 3.0  # two are spent


@pytest.mark.parametrize(
    ("settings", "stops"),
    [
        ({}, False),
        ({"seconds": 2.2}, True),
        ({"simulations": 100}, True),
        ({"seconds": 9.0}, False),
    ],
)
def test_any_reason_is_enough(settings: dict[str, float], stops: bool) -> None:
    assert is_to_stop(stop_reasons(Agent("", "", settings), 150.0, never), UNDER_WAY) == stops
