"""How many threads can work at once."""

from __future__ import annotations

import math
import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where a container says how many microseconds (or `max`) it may use of a period of so many."""


def cores(quota: Path = QUOTA) -> int:
    """The cores that this process may use, at least 1: by its affinity and its container's quota.

    More threads than the quota is worth would use it up early in every period, and stand still for
    the rest of it.
    """
    allowed = len(os.sched_getaffinity(0))
    try:
        used, period = quota.read_text().split()
        share = float(used) / float(period)  # of `max` there is no number: ValueError
    except (OSError, ValueError):
        return allowed
    return max(1, min(allowed, math.floor(share)))
