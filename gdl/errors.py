"""The project's errors: one small tree, every message a single readable line.

A message says what is wrong, where, and what to do.  Whoever faces a person (the command line)
or a manager (the server) catches `GgpError` and prints `str(error)`; a traceback is a defect.
"""

from __future__ import annotations

from dataclasses import dataclass


class GgpError(Exception):
    """Anything that is wrong with what we were given, rather than with our own code."""


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a rule sheet: file name (or what stands for it), 1-based line and column."""

    source: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


class RuleSheetError(GgpError):
    """A rule sheet can't be used as it is; `location` is where the trouble starts, if known."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message if location is None else f"{location}: {message}")
        self.location = location


class KifSyntaxError(RuleSheetError):
    """The text is not a sequence of KIF expressions."""


class GroundingError(GgpError):
    """A rule sheet is well formed but could not be turned into ground rules."""


class GroundingTimeout(GroundingError):  # noqa: N818 (it reads like one)
    """Grounding took longer or more memory than it was given."""


class ReasonerError(GgpError):
    """A reasoner could not answer (crashed, ran out of time or memory, or was closed)."""
