"""Dataclasses as lines of JSON, for two processes of ours that talk over pipes.

A line is an object: `kind` is the name of the class, the rest are its fields.  What comes in is
checked against the types of the fields, so that nothing half-read goes any further: a line that is
unknown or malformed becomes an `Unreadable`.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from gdl.errors import GgpError

T = TypeVar("T")

LINE_LIMIT = 16 * 2**20
"""Bytes of the longest line that is read."""

_SHOWN = 80
"""Characters of a malformed line that are shown."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that says nothing known; `text` is what is wrong with it."""

    text: str


class Vocabulary(Generic[T]):
    """The dataclasses that one side may send to the other."""

    def __init__(self, *kinds: type[T]) -> None:
        self._kinds = {kind.__name__: kind for kind in kinds}

    def write(self, said: T) -> str:
        """One of the dataclasses as a line, with its end."""
        assert type(said).__name__ in self._kinds
        return json.dumps({"kind": type(said).__name__, **asdict(said)}) + "\n"  # type: ignore[call-overload]

    def read(self, line: str | bytes) -> T | Unreadable:
        """What a line says."""
        try:
            values = json.loads(line)
            kind = values.pop("kind")
            if kind not in self._kinds:
                return Unreadable(f"unknown command or reply {kind!r}")
        except (ValueError, KeyError, AttributeError, TypeError):
            return Unreadable(f"not a command or reply: {line[:_SHOWN]!r}")
        try:
            return _instance(self._kinds[kind], values)
        except (ValueError, GgpError) as error:
            return Unreadable(f"a malformed {kind}: {error}")


def _instance(kind: type[T], values: object) -> T:
    """A dataclass from a JSON object.  Raises `ValueError`."""
    if not isinstance(values, dict):
        raise ValueError(f"{kind.__name__} must be an object, not {_shown(values)}")
    hints = _hints(kind)  # type: ignore[arg-type]
    known = fields(kind)  # type: ignore[arg-type]
    missing = {f.name for f in known if f.default is MISSING and f.default_factory is MISSING}
    missing -= values.keys()
    if missing:
        raise ValueError(f"{min(missing)} is missing")
    unknown = values.keys() - hints.keys()
    if unknown:
        raise ValueError(f"{min(unknown)} is unknown")
    return kind(**{name: _value(hints[name], value, name) for name, value in values.items()})


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(hint: Any, value: object, name: str) -> Any:
    """A JSON value as what the type of a field demands.  Raises `ValueError`."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (option for option in get_args(hint) if option is not type(None))
        return None if value is None else _value(inner, value, name)
    if origin is tuple and isinstance(value, list):
        inner, _ = get_args(hint)  # tuple[X, ...]
        return tuple(_value(inner, item, name) for item in value)
    if is_dataclass(hint) and isinstance(hint, type):
        return _instance(hint, value)
    if origin is Mapping and isinstance(value, dict):
        return value
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise ValueError(f"{name} must not be {_shown(value)}")


def _shown(value: object) -> str:
    return repr(value)[:_SHOWN]
