"""Reader and writer for KIF, the prefix syntax of rule sheets and of protocol messages.

`read` turns text into a tuple of nodes.  A node is a `Symbol` or an `Expression` (a parenthesised
list of nodes), both with their offset in the text, so that every later complaint can point at a
line and a column.  Nothing is interpreted here: spelling and case stay as they were written.

Comments run from `;` to the end of the line; any white space separates (CRLF, tabs); a symbol is
any run of other characters (`+`, `>`, `-`, `?x`, non-ASCII letters).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from gdl.errors import KifSyntaxError, Location

_TOKEN = re.compile(r"[()]|;[^\r\n]*|[^\s();]+")
_LINE_END = re.compile(r"\r\n|\r|\n")

MAX_DEPTH = 200
"""Lists nested deeper than this are refused (the deepest term of a public sheet has 25)."""


@dataclass(frozen=True)
class Source:
    """A text and the name by which messages call it; turns offsets into locations."""

    text: str
    name: str = "<text>"

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def location(self, offset: int) -> Location:
        """Line and column (both from 1) of a character offset; CRLF counts as one line end."""
        line = bisect_right(self._line_starts, offset)
        return Location(self.name, line, offset - self._line_starts[line - 1] + 1)

    def offset(self, location: Location) -> int:
        """The character offset of a location in this text."""
        return self._line_starts[location.line - 1] + location.column - 1


@dataclass(frozen=True, slots=True)
class Symbol:
    """One word of the text, spelled as written; `offset` is that of its first character."""

    text: str
    offset: int

    @property
    def end(self) -> int:
        """Offset just behind the symbol."""
        return self.offset + len(self.text)


@dataclass(frozen=True, slots=True)
class Expression:
    """A parenthesised list; `offset` is that of `(`, `end` the one just behind `)`."""

    items: tuple[Node, ...]
    offset: int
    end: int

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)


Node = Symbol | Expression


def read(source: Source) -> tuple[Node, ...]:
    """All top-level nodes of a text.

    Raises `KifSyntaxError` at the first `)` that closes nothing, or at the innermost `(` that
    nothing closes.
    """
    open_lists: list[tuple[int, list[Node]]] = []
    items: list[Node] = []
    for match in _TOKEN.finditer(source.text):
        token = match.group()
        if token == "(":
            open_lists.append((match.start(), items))
            items = []
            if len(open_lists) > MAX_DEPTH:
                raise KifSyntaxError(
                    f"lists are nested more than {MAX_DEPTH} deep", source.location(match.start())
                )
        elif token == ")":
            if not open_lists:
                raise KifSyntaxError(
                    "unbalanced ')': no '(' is open here; remove it or add the missing '('",
                    source.location(match.start()),
                )
            start, outer = open_lists.pop()
            outer.append(Expression(tuple(items), start, match.end()))
            items = outer
        elif token[0] != ";":
            items.append(Symbol(token, match.start()))
    if open_lists:
        raise KifSyntaxError(
            "unbalanced '(': the text ends before its ')'; add the missing ')'",
            source.location(open_lists[-1][0]),
        )
    return tuple(items)


def write(node: Node) -> str:
    """A node as one line of text that `read` reads back to the same symbols: `(mark 1 2)`."""
    if isinstance(node, Symbol):
        return node.text
    return "(" + " ".join(write(item) for item in node.items) + ")"
