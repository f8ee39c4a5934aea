"""Child processes that don't outlive the process that started them, and talk to it over pipes."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
from typing import TextIO

LOG_LEVEL = "GGP_AGENT_LOG"
"""The environment variable by which a child is told how much to log."""

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


def begin_as_child() -> TextIO:
    """Settle in as a child that is told by its parent what to do; where to write its replies.

    Replies go where standard output went; that is standard error from now on, so that nothing else
    gets in between.  Ctrl-C is the parent's to handle.
    """
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(
        level=os.environ.get(LOG_LEVEL, "WARNING"),
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s",
    )
    sys.stdout.flush()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies
