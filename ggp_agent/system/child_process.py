"""Child processes that don't outlive the process that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int | None = None) -> None:
    """Ask the kernel to end this process when its parent ends, however that happens (Linux).

    Strictly, when the parent's thread that started it ends: it must be one that stays.  Tell
    the parent's id where the parent may have ended already.
    """
    if sys.platform == "linux":
        parent = parent or os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
