"""Time: when an answer has to leave.

All deadlines are readings of `time.monotonic()`, which is one clock for all processes of a machine.
"""

from __future__ import annotations

import time
from collections import deque

REMEMBERED = 20
"""Delays of so many answers count."""

LEAST_SHARE = 0.5
"""Share of a clock that is used for thinking even where the margin would take more."""


def answer_by(received: float, clock: float, margin: float) -> float:
    """When to answer a message that came at `received` and allows `clock` seconds.

    `margin` seconds are kept for the way of the answer, but never more than half of the clock.
    """
    return received + max(clock - margin, LEAST_SHARE * clock)


def within(deadline: float, seconds: float, spent: float = 0.0) -> float:
    """The deadline, or when `seconds` will have been spent on the move; 0: no such limit."""
    return min(deadline, time.monotonic() + seconds - spent) if seconds else deadline


class Margin:
    """How long before the end of the clock answers are to be ready, learned from delays.

    A delay is the time from the moment at which an answer was due until it was there: a slow batch
    of the search, a busy machine.  The margin is `least` plus the longest of the last delays.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._delays: deque[float] = deque(maxlen=REMEMBERED)

    @property
    def seconds(self) -> float:
        """The margin to keep now."""
        return self._least + max(self._delays, default=0.0)

    def note(self, delay: float) -> None:
        """An answer was there so many seconds after it was due (negative: before)."""
        self._delays.append(max(0.0, delay))
