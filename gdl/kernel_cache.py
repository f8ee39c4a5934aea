"""Where compiled kernels are kept between processes.

numba compiles a kernel once and keeps it on disk, but looks only at the kernel's own file to see
whether it is still up to date, not at those of the functions it calls.  So each state of the
sources gets a folder of its own: a kernel of old sources can't be taken for one of new sources.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

_BASE = numba.config.CACHE_DIR  # NUMBA_CACHE_DIR, where the user set it


kernel = numba.njit(cache=True, nogil=True, _nrt=False)
"""Decorates functions that allocate nothing, so that numba need not count references to arrays:
in small functions that takes longer than their work."""

inlined_kernel = numba.njit(cache=True, nogil=True, _nrt=False, forceinline=True)
"""The same for small functions that other kernels call all the time: passing a tuple of many arrays
copies the descriptions of all of them."""


def direct(kernel: Any) -> Callable[..., Any]:
    """A kernel without its dispatcher, which looks at the types of all arguments at every call.

    For many arrays that takes longer than a small batch of work.  The types have to be the same at
    every call: those of the first one.
    """
    found: list[Callable[..., Any]] = []

    @functools.wraps(kernel)
    def call(*arguments: Any) -> Any:
        if found:
            return found[0](*arguments)
        result = kernel(*arguments)
        if not numba.config.DISABLE_JIT and len(kernel.overloads) == 1:
            found.extend(compiled.entry_point for compiled in kernel.overloads.values())
        return result

    return call


def keep_kernels_of(*folders: Path) -> None:
    """Kernels decorated from now on belong to the sources in these folders."""
    digest = hashlib.sha256(numba.__version__.encode())
    if numba.config.BOUNDSCHECK:
        digest.update(b"with bounds checks")
    for folder in folders:
        for file in sorted(folder.glob("*.py")):
            digest.update(file.read_bytes())
    numba.config.CACHE_DIR = str(_base_folder() / digest.hexdigest()[:16])


def _base_folder() -> Path:
    if _BASE:
        return Path(_BASE)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    base = Path(home) / "ggp-agent"
    try:
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=base):
            return base
    except OSError:
        return Path(tempfile.gettempdir()) / f"ggp-agent-{os.getuid()}"
