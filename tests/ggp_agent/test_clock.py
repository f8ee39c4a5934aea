"""When an answer has to leave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.clock import answer_by

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
    assert answer_by(100.0, clock, margin) == pytest.approx(expected)


@given(received=seconds, clock=seconds, margin=seconds)
def test_the_answer_leaves_within_the_clock(received: float, clock: float, margin: float) -> None:
    assert received + clock / 2 <= answer_by(received, clock, margin) <= received + clock
