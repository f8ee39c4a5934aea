"""What the tests need to know about processes, from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

GUARD = 120.0
"""Seconds after which something that ought to happen counts as not happening."""


def children_of(pid: int) -> list[int]:
    """The ids of a process's children, zombies left out."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # the second field is the name in parentheses, which may hold blanks
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it has just ended
        if int(parent) == pid and state != "Z":
            found.append(int(folder.name))
    return found


def descendants_of(pid: int) -> list[int]:
    """The ids of all processes below a process."""
    found = children_of(pid)
    for child in tuple(found):
        found += descendants_of(child)
    return found


def is_running(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = GUARD) -> bool:
    """Wait until a condition holds; returns whether it does."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def command_line(pid: int) -> str:
    """A process's command line, "" where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def own_children() -> set[int]:
    """The children of this process."""
    return set(children_of(os.getpid()))
