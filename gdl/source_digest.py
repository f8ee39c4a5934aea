"""What a module's compiled code depends on: its source, and all of ours that it imports.

Imports are read from the files' text, those at the left margin only, which is where kernels have
theirs; nothing is imported for it.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

PACKAGES = ("gdl", "propnet", "ggp_agent")
"""whose sources count; they lie next to each other"""

_IMPORT = re.compile(r"^import ([^\n#]+)|^from (\S+) import (\([^)]*\)|[^\n#]+)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")


def sources_of(module: str, root: Path) -> dict[str, Path]:
    """The module and all that it imports, directly or not, with the packages that they are in.

    Names and files, of the packages in the folder `root`.
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file_of(name, root)
        if name in found or file is None:
            continue
        found[name] = file
        waiting += _read(file)[1]
        if "." in name:
            waiting.append(name.rpartition(".")[0])
    return found


def digest_of(module: str, root: Path) -> bytes:
    """A digest of the sources that the module depends on (see `sources_of`)."""
    digest = hashlib.sha256()
    for name, file in sorted(sources_of(module, root).items()):
        digest.update(name.encode() + b"\0" + _read(file)[0])
    return digest.digest()


@functools.cache
def _file_of(module: str, root: Path) -> Path | None:
    """The module's file; None where it is not ours, or no module but a name in one."""
    if module.partition(".")[0] not in PACKAGES:
        return None
    path = root.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@functools.cache
def _read(file: Path) -> tuple[bytes, tuple[str, ...]]:
    """The digest of a file, and what it imports: modules, and names that may be modules."""
    text = file.read_bytes()
    names: list[str] = []
    for match in _IMPORT.finditer(text.decode()):
        modules, source, imported = match.groups()
        if modules is not None:
            names += [_first_word(part) for part in modules.split(",")]
        else:
            parts = _COMMENT.sub("", imported).strip("() \n").split(",")
            names.append(source)
            names += [f"{source}.{_first_word(part)}" for part in parts if part.strip()]
    return hashlib.sha256(text).digest(), tuple(names)


def _first_word(part: str) -> str:
    return part.split()[0]
