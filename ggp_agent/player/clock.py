"""Time: when an answer has to leave.

Every clock runs from the moment at which the first byte of a request was read, which the gateway
stamps.  All moments are readings of `time.monotonic()`, which is one clock for all processes of a
machine; nothing else in the server reads it to find out when an answer is due.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

REMEMBERED = 20
"""Delays of so many answers count."""

LEAST_SHARE = 0.5
"""Share of a clock that is used for thinking even where the margin would take more."""


def seconds_since(moment: float) -> float:
    """How long ago a moment was."""
    return time.monotonic() - moment


def seconds_until(moment: float) -> float:
    """How long it is to a moment; 0 where it has passed."""
    return max(0.0, moment - time.monotonic())


@dataclass(frozen=True, slots=True)
class MatchClock:
    """The `seconds` that a message allows for its answer, from the moment at which it `came`."""

    came: float
    seconds: float

    @property
    def end(self) -> float:
        """When the manager stops waiting."""
        return self.came + self.seconds

    def answer_by(self, margin: float) -> float:
        """When to answer.

        `margin` seconds are kept for the way of the answer, but never more than half of the clock.
        """
        return self.came + max(self.seconds - margin, LEAST_SHARE * self.seconds)


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

    def answered(self, due: float) -> None:
        """An answer that was due at this moment is there now."""
        self.note(seconds_since(due))

    def note(self, delay: float) -> None:
        """An answer was there so many seconds after it was due (negative: before)."""
        self._delays.append(max(0.0, delay))
