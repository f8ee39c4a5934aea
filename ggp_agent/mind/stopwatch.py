"""What thinking takes: seconds on the clock and of the processor.

They differ where a thinker had to wait for its core: the machine was too loaded for the match to
be a fair one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Stopwatch:
    """Seconds of one thread since the last `lap`: by the clock, and for which it had a core."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of the block."""
        seconds, cpu_seconds = time.monotonic(), time.thread_time()
        try:
            yield
        finally:
            self.seconds += time.monotonic() - seconds
            self.cpu_seconds += time.thread_time() - cpu_seconds

    def lap(self) -> dict[str, float]:
        """The times for a report (`thinking_s`, `cpu_s`); counts from 0 again."""
        times = {"thinking_s": round(self.seconds, 6), "cpu_s": round(self.cpu_seconds, 6)}
        self.seconds = self.cpu_seconds = 0.0
        return times
