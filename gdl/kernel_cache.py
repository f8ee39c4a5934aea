"""Where compiled kernels are kept between processes.

numba compiles a kernel once and keeps it on disk, but looks only at the kernel's own file to see
whether it is still up to date, not at those of the functions it calls.  So each state of the
sources that a module depends on gets a folder of its own: a kernel of old sources can't be taken
for one of new sources, and an edit makes only those kernels be compiled again that depend on it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.extending import is_jitted

from gdl.linked_kernels import entry
from gdl.source_digest import digest_of

KEPT = 8
"""States of a module's sources whose kernels are kept: those that were used last."""

_ROOT = Path(__file__).parent.parent
_BASE = numba.config.CACHE_DIR  # NUMBA_CACHE_DIR, where the user set it


def _cached(**options: bool) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles functions with these options and keeps the result on disk."""
    compile_lazily = entry(**options)

    def decorate(function: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:
            return function
        compiled = compile_lazily(function)
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(_folder_of(function.__module__))
        compiled.enable_caching()
        numba.config.CACHE_DIR = before
        return compiled

    return decorate


allocating_kernel = _cached()
"""Decorates functions that allocate arrays."""

kernel = _cached(nogil=True, _nrt=False)
"""Decorates functions that allocate nothing, so that numba need not count references to arrays:
in small functions that takes longer than their work."""

inlined_kernel = _cached(nogil=True, _nrt=False, forceinline=True)
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


def is_kept(kernel: Any) -> bool:
    """Whether the kernel was compiled before (for whatever types)."""
    dispatcher = _dispatcher_of(kernel)
    if dispatcher is None:
        return True  # numba is off
    return any(Path(dispatcher.stats.cache_path).glob(f"*.{kernel.__name__}-*.nbi"))


def compile_for(kernel: Any, *arguments: object) -> None:
    """Have a kernel compiled, or loaded, for arguments like these, without running it."""
    dispatcher = _dispatcher_of(kernel)
    if dispatcher is not None:
        dispatcher.compile(tuple(map(numba.typeof, arguments)))


def _dispatcher_of(kernel: Any) -> Any:
    """numba's dispatcher of a kernel, `direct` or not; None where numba is off."""
    dispatcher = kernel if is_jitted(kernel) else getattr(kernel, "__wrapped__", None)
    return dispatcher if is_jitted(dispatcher) else None


@functools.cache
def _folder_of(module: str) -> Path:
    """The folder of a module's kernels; folders of its older states are removed for a new one."""
    digest = hashlib.sha256(numba.__version__.encode())
    if numba.config.BOUNDSCHECK:
        digest.update(b"with bounds checks")
    digest.update(digest_of(module, _ROOT))
    base = _base_folder()
    folder = base / f"{module}-{digest.hexdigest()[:16]}"
    try:
        os.utime(folder)
    except OSError:
        _remove_oldest(base, module)
    return folder


def _remove_oldest(base: Path, module: str) -> None:
    """Make room for another state of a module's sources."""
    used: list[tuple[float, Path]] = []
    for folder in base.glob(f"{module}-*"):
        with contextlib.suppress(OSError):  # another process may have removed it
            used.append((folder.stat().st_mtime, folder))
    for _, folder in sorted(used)[: max(0, len(used) - KEPT + 1)]:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
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
