"""The grounder's own process: an ASP program on standard input, ground rules (aspif) on output.

A grounder can only be stopped by ending its process, so it gets one.
`python -m gdl.gringo BYTES PARENT` limits its address space to BYTES (0: no limit) and dies with
PARENT, the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys

import clingo

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


def main() -> int:
    """Ground standard input; clingo's exit code."""
    die_with_parent(int(sys.argv[2]))
    limit = int(sys.argv[1])
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    code: int = clingo.clingo_main(clingo.Application(), ["--mode=gringo", "--warn=none", "-"])
    return code


if __name__ == "__main__":
    sys.exit(main())
