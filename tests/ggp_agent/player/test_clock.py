"""When an answer has to leave."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.player.clock import REMEMBERED, Margin, MatchClock

seconds = st.floats(0, 1e4)


@pytest.mark.parametrize(
    ("clock", "margin", "expected"),
    [
        (10.0, 0.2, 109.8),
        (1.0, 0.2, 100.8),
        (1.0, 0.5, 100.5),
        (1.0, 0.9, 100.5),  # never more than half of the clock
        (0.2, 5.0, 100.1),
        (0.0, 0.2, 100.0),
        (5.0, 0.0, 105.0),
    ],
)
def test_the_margin_is_kept_but_half_of_the_clock_is_used(
    clock: float, margin: float, expected: float
) -> None:
    assert MatchClock(100.0, clock).answer_by(margin) == pytest.approx(expected)


@given(came=seconds, clock=seconds, margin=seconds)
def test_the_answer_leaves_within_the_clock(came: float, clock: float, margin: float) -> None:
    running = MatchClock(came, clock)
    assert came + clock / 2 <= running.answer_by(margin) <= running.end == came + clock


class TestMargin:
    def test_is_the_least_one_as_long_as_answers_are_in_time(self) -> None:
        margin = Margin(0.2)
        assert margin.seconds == 0.2
        margin.note(-0.5)
        assert margin.seconds == 0.2

    def test_grows_with_the_longest_delay(self) -> None:
        margin = Margin(0.2)
        for delay in (0.05, 0.3, 0.1):
            margin.note(delay)
        assert margin.seconds == pytest.approx(0.5)

    def test_an_answer_is_compared_with_when_it_was_due(self) -> None:
        margin = Margin(0.2)
        margin.answered(time.monotonic() + 100)
        assert margin.seconds == 0.2
        margin.answered(time.monotonic() - 100)
        assert 100.2 <= margin.seconds < 110

    def test_forgets(self) -> None:
        margin = Margin(0.2)
        margin.note(5.0)
        for _ in range(REMEMBERED):
            margin.note(0.01)
        assert margin.seconds == pytest.approx(0.21)
