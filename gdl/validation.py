"""What is wrong, or odd, in a rule sheet: `check_rules` finds everything in a text at once.

An *error* is a violation of the GDL specification that makes rules meaningless, or that reasoners
can't be expected to handle alike.  A *warning* is a likely slip, or a liberty that public sheets
take and that this project plays regardless.

Four passes, each over what the one before it understood: structure (lists, connectives, keywords),
variables (facts, safety), dependencies between relations (negation, recursion, what may depend on
the state and on moves), names (arities, typing errors).  A broken part of a rule is left out of
the later passes, so that one slip is not reported in many guises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf

from gdl.errors import KifSyntaxError, Location
from gdl.kif import Source, read

KEYWORD_ARITIES = {
    "role": 1,
    "init": 1,
    "true": 1,
    "next": 1,
    "does": 2,
    "legal": 2,
    "goal": 2,
    "terminal": 0,
    "base": 1,
    "input": 2,
}
REQUIRED = ("role", "legal", "goal", "terminal")
NOT_IN_BODIES = frozenset({"init", "next", "base", "input"})
NOT_IN_HEADS = frozenset({"true", "does"})
INDEPENDENT = {
    "true": ("role", "init", "base", "input"),
    "does": ("role", "init", "base", "input", "legal", "goal", "terminal"),
}
"""What may not depend on the state, and on the moves."""

_EXCERPT_BEFORE, _EXCERPT_WIDTH = 60, 110
_LINE = re.compile(r"[^\r\n]*")
_UNPRINTABLE = re.compile(r"[^\S \t]|[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_INTEGER = re.compile(r"[+-]?[0-9]+")

Severity = OneOf["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or odd in a rule sheet, where it is, and what to do about it."""

    severity: Severity
    code: str
    """stable, for programs: `unsafe-variable`"""
    message: str
    location: Location
    advice: str
    excerpt: str
    """the line of the text and, below it, a caret under the place; long lines are cut"""

    def render(self) -> str:
        """As lines for a person: place and message, excerpt, advice."""
        lines = (f"{self.location}: {self.severity}: {self.message} [{self.code}]",)
        excerpt = [f"    {line}" for line in self.excerpt.split("\n")] if self.excerpt else []
        return "\n".join((*lines, *excerpt, f"  {self.advice}"))

    def as_json(self) -> dict[str, str | int]:
        """As an object for programs."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "file": self.location.source,
            "line": self.location.line,
            "column": self.location.column,
            "advice": self.advice,
            "excerpt": self.excerpt,
        }


def check_rules(text: str, name: str = "<text>") -> list[Finding]:
    """Everything that is wrong or odd in a rule sheet's text, in the order of its places."""
    source = Source(text.removeprefix("\ufeff"), name)
    report = _Report(source)
    try:
        nodes = read(source)
    except KifSyntaxError as error:
        return [_syntax_finding(error, source)]
    statements = [statement for node in nodes for statement in _structure(node, report)]
    if not nodes:
        report.error(0, "no-rules", "there are no rules in it", "Is it the right file?")
    else:
        _check_required(statements, report)
    for statement in statements:
        if statement.complete:
            _check_variables(statement, report)
    _check_dependencies(statements, report)
    _check_names(nodes, statements, report)
    return report.findings()


def errors_of(findings: Iterable[Finding]) -> list[Finding]:
    """The errors among findings."""
    return [finding for finding in findings if finding.severity == "error"]


# ---------------------------------------------------------------------------------- reporting


class _Report:
    """Collects findings with their offsets."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: list[tuple[int, Finding]] = []

    def error(self, offset: int, code: str, message: str, advice: str) -> None:
        self._add("error", offset, code, message, advice)

    def warning(self, offset: int, code: str, message: str, advice: str) -> None:
        self._add("warning", offset, code, message, advice)

    def _add(self, severity: Severity, offset: int, code: str, message: str, advice: str) -> None:
        location = self.source.location(offset)
        excerpt = _excerpt(self.source, offset, location)
        finding = Finding(severity, code, message, location, advice, excerpt)
        self._found.append((offset, finding))

    def findings(self) -> list[Finding]:
        return [finding for _, finding in sorted(self._found, key=lambda found: found[0])]


def _excerpt(source: Source, offset: int, location: Location) -> str:
    """The line and a caret; of a long line (a sheet sent by a manager is one) what is near."""
    line_start = offset - location.column + 1
    start = line_start if location.column <= _EXCERPT_WIDTH else offset - _EXCERPT_BEFORE
    match = _LINE.match(source.text, start, start + _EXCERPT_WIDTH)
    line = _UNPRINTABLE.sub("\ufffd", match.group()) if match else ""
    before = line[: offset - start].expandtabs(4)
    if start > line_start:
        before = f"... {before}"
    cut = source.text[start + len(line) : start + len(line) + 1] not in ("", "\r", "\n")
    after = line[offset - start :].expandtabs(4).rstrip() + (" ..." if cut else "")
    return f"{before}{after}\n{' ' * len(before)}^"


def _syntax_finding(error: KifSyntaxError, source: Source) -> Finding:
    location = error.location or Location(source.name, 1, 1)
    message = str(error).removeprefix(f"{location}: ")
    message, _, advice = message.partition("; ")
    return Finding("error", "syntax", message, location, advice, "")
