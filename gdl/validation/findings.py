"""What a check finds: the codes with their advice, a finding, and the report that collects them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal as OneOf

from gdl.errors import KifSyntaxError, Location
from gdl.kif import Source, Symbol
from gdl.rules import Spelling

Severity = OneOf["error", "warning"]

ERRORS = {
    "syntax": "check the parentheses.",
    "no-rules": "is it the right file?",
    "missing-role": "add (role NAME) facts; a game needs at least one role.",
    "missing-legal": "add rules for (legal ROLE MOVE); in every state each role needs a move.",
    "missing-goal": "add rules for (goal ROLE VALUE); the values are 0 to 100.",
    "missing-terminal": "add rules for terminal; they say when a match ends.",
    "empty-list": "write a name inside, or remove it.",
    "list-without-name": "remove a pair of parentheses, or write what the list is: '(and', say.",
    "rule-without-head": "write (<= head literal ...), or remove it.",
    "stray-symbol": "is a '(' missing before it? The top level holds only facts and rules.",
    "misplaced-connective": "is a ')' missing before it, or a '(' right in front of it?",
    "connective-outside-body": "it joins the literals of a body; is a parenthesis misplaced?",
    "connective-arity": "check the parentheses.",
    "variable-as-formula": "put it into a relation: (true ?fluent), say.",
    "variable-as-name": "GDL has no variables for relations and functions; write a name.",
    "keyword-arity": "check the parentheses.",
    "keyword-as-function": "choose another name, or check the parentheses.",
    "keyword-in-head": "define legal, init or next instead.",
    "keyword-in-body": "define a relation of your own by the same rules and use it in both places.",
    "variable-in-fact": "make it a rule whose body says what the variable ranges over.",
    "unsafe-variable": "add a positive literal to the body that says what it ranges over.",
    "negation-in-cycle": "break the cycle: what is negated must be settled before it is used.",
    "endless-recursion": "add a positive literal outside the recursion that bounds this term.",
    "depends-on-true": "it must not: it is needed before there is a state.",
    "depends-on-does": "it must not: it is needed before there is a move.",
}
"""Code → what to do."""

WARNINGS = {
    "role-by-rule": "write (role NAME) facts; other tools refuse it, and the order is unclear.",
    "recursion-restriction": "other tools may refuse it; add a literal that bounds the argument.",
    "negation-by-cases": "other tools may refuse it; put a relation of your own in between.",
    "empty-body": "write it as a fact, without '<=', or add the body.",
    "empty-and": "give it operands, or remove it.",
    "empty-or": "give it operands, or remove it.",
    "nested-or": "make it one 'or', or give the inner one a relation of its own.",
    "arity-differs": "is an argument missing, or one too many? Else use two names.",
    "unused-relation": "remove it, unless it is there for readers.",
    "undefined-relation": "add facts or rules for it, or correct the name.",
    "undefined-fluent": "add it to init or next, or correct it.",
    "undefined-move": "add it to legal, or correct it.",
    "unknown-role": "add it as a (role NAME) fact, or correct it.",
    "function-and-relation": "it works, but is easy to misread; some tools mix them up.",
    "keyword-as-constant": "it works, but is easy to misread; choose another name.",
    "inconsistent-capitals": "spell it the same everywhere: GDL ignores case, some tools do not.",
    "goal-value": "use integers from 0 to 100.",
    "random-role": "by convention it is played by chance; rename it if a player should play it.",
}
"""Code → what to do."""

_ADVICE = ERRORS | WARNINGS

MAX_FINDINGS = 500
"""Findings of one code; more of them are left out."""

_BEFORE, _WIDTH = 60, 110
_LINE = re.compile(r"[^\r\n]*")
_STATEMENT_START = re.compile(r"^\(", re.MULTILINE)
_SUGGESTIONS, _SUGGESTED_FROM = 50, 1000
"""How often to look for the word that was meant, and among how many at most: it is slow."""


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
        excerpt = [f"    {line}" for line in self.excerpt.split("\n")]
        first = f"{self.location}: {self.severity}: {self.message} [{self.code}]"
        return "\n".join((first, *excerpt, f"  {self.advice}"))

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


class Report:
    """Collects findings with their offsets."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.spelling = Spelling()
        self._counts: Counter[str] = Counter()
        self._found: list[tuple[int, Finding]] = []
        self._suggestions = _SUGGESTIONS

    def add(self, code: str, offset: int, message: str, advice: str | None = None) -> None:
        """Note a finding at an offset; without `advice` it gets the one that its code has."""
        self._counts[code] += 1
        if self._counts[code] > MAX_FINDINGS:
            return
        severity: Severity = "error" if code in ERRORS else "warning"
        advice = advice or _ADVICE[code]
        location = self.source.location(offset)
        excerpt = _excerpt(self.source.text, offset, location.column)
        advice = advice[0].upper() + advice[1:]
        self._found.append((offset, Finding(severity, code, message, location, advice, excerpt)))

    def add_unknown(self, code: str, word: Symbol, message: str, known: Collection[str]) -> None:
        """Note a word that may be a misspelling of one that is known."""
        advice = None
        if self._suggestions and len(known) <= _SUGGESTED_FROM:
            self._suggestions -= 1
            for close in get_close_matches(word.text.lower(), known, 1, 0.75):
                advice = f"did you mean '{self.spelling.write(close)}'? Else {_ADVICE[code]}"
        self.add(code, word.offset, message, advice)

    def findings(self) -> list[Finding]:
        """In the order of the text."""
        return [finding for _, finding in sorted(self._found, key=lambda found: found[0])]


def _excerpt(text: str, offset: int, column: int) -> str:
    """The line and a caret; of a long line (a sheet sent by a manager is one) what is near."""
    cut = column > _WIDTH
    start = offset - (_BEFORE if cut else column - 1)
    match = _LINE.match(text, start, start + _WIDTH)
    raw = match.group() if match else ""
    line = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in raw)
    before = ("... " if cut else "") + line[: offset - start].expandtabs(4)
    after = line[offset - start :].expandtabs(4).rstrip()
    if text[start + len(raw) : start + len(raw) + 1] not in ("", "\r", "\n"):
        after += " ..."
    return f"{before}{after}\n{' ' * len(before)}^"


def report_syntax(error: KifSyntaxError, report: Report) -> None:
    """Note the one error for which the reader gave up."""
    source, location = report.source, error.location
    assert location is not None, "the reader locates all its errors"
    offset = source.offset(location)
    message, _, advice = str(error).removeprefix(f"{location}: ").partition("; ")
    following = _STATEMENT_START.search(source.text, offset + 1)
    if advice and following and source.text[offset] == "(":
        advice += f", probably before line {source.location(following.start()).line}"
    report.add("syntax", offset, message, advice and f"{advice}.")
