"""Time: when an answer has to leave.

All deadlines are readings of `time.monotonic()`, which is one clock for all processes of a machine.
"""

from __future__ import annotations

LEAST_SHARE = 0.5
"""Share of a clock that is used for thinking even where the margin would take more."""


def answer_by(received: float, clock: float, margin: float) -> float:
    """When to answer a message that came at `received` and allows `clock` seconds.

    `margin` seconds are kept for the way of the answer, but never more than half of the clock.
    """
    return received + max(clock - margin, LEAST_SHARE * clock)
