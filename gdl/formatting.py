"""The one layout of rule sheets: `format_text` re-arranges white space and nothing else.

    (role white)                        facts: one a line, or several where the author put several
    (succ 1 2) (succ 2 3) (succ 3 4)    on one line and they fit

    (<= (next (cell ?x ?y ?mark))       rules: the head, then one literal a line under it;
        (true (cell ?x ?y ?mark))       with at most one literal all on one line, unless the
        (or (distinct ?x ?column)       author broke the line there
            (distinct ?y ?row)))

Connectives that don't fit on a line, or that the author broke, get one operand a line; terms that
don't fit go on four columns further in.

Every word and comment stays, in its order and spelling.  A comment behind something stays at the
end of that line (those of adjacent lines are aligned), one on a line of its own gets the
indentation of what follows.  Blank lines stay, but never two in a row.  A text that is formatted
already does not change, and the rules mean the same.

Longer than 300 lines: reading and writing share items that nobody else needs to know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf

from gdl.kif import Expression, Node, Source, Symbol, read

WIDTH = 100
"""Columns that code may take; comments may run over."""

_COMMENT = re.compile(r";[^\r\n]*")
_WORDS = re.compile(r"\([^ ()]+ [^ ]+|[^ ]+")
"""Where a long term may be broken: not behind the name of a function."""
_LINE_END = re.compile(r"\r\n|\r|\n")

_BLOCKS = frozenset({"<=", "and", "or", "not"})
"""Lists whose operands stand under each other when they don't fit on one line."""
_CONTINUED = 4
"""Indentation of what doesn't fit on the first line of any other list."""


def format_text(text: str, name: str = "<text>") -> str:
    """A rule sheet's text in the standard layout; raises `KifSyntaxError` for broken text."""
    source = Source(text.removeprefix("\ufeff"), name)
    items = _items_between(read(source), 0, len(source.text), source)
    page = _Page()
    _write_sheet(page, items)
    return page.text()


# ------------------------------------------------------------- what stands where in the text


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    column: int


@dataclass(frozen=True, slots=True)
class _List:
    items: tuple[_Item, ...]
    name: str
    """the first word in lower case, or nothing"""
    width: float
    """columns that it takes on one line; `inf` where it must take several"""
    plain: bool
    """whether it is a term or atom without comments in it"""


@dataclass(frozen=True, slots=True)
class _Item:
    content: Symbol | _List | _Comment
    breaks: int
    """line ends between it and what comes before it"""
    spaces: int
    """width of the gap before it where that holds only spaces, else 1"""
    below: bool = False
    """whether it is a comment that goes on right below one at the end of a line"""

    @property
    def width(self) -> float:
        if isinstance(self.content, Symbol):
            return len(self.content.text)
        return inf if isinstance(self.content, _Comment) else self.content.width


def _items_between(
    nodes: Sequence[Node], start: int, end: int, source: Source
) -> tuple[_Item, ...]:
    """The nodes, which lie between two offsets, with the comments before, between and behind."""
    text = source.text
    items: list[_Item] = []
    for node in (*nodes, None):
        until = end if node is None else node.offset
        for match in _COMMENT.finditer(text, start, until):
            comment = _Comment(match.group().rstrip(), _column(source, match.start()))
            gap = text[start : match.start()]
            items.append(_item(comment, gap, _goes_on(items, gap, comment)))
            start = match.end()
        if node is not None:
            content = node if isinstance(node, Symbol) else _list_from(node, source)
            items.append(_item(content, text[start : node.offset]))
            start = node.end
    return tuple(items)


def _item(content: Symbol | _List | _Comment, gap: str, below: bool = False) -> _Item:
    spaces = len(gap) if gap and not gap.strip(" ") else 1
    return _Item(content, len(_LINE_END.findall(gap)), spaces, below)


def _list_from(node: Expression, source: Source) -> _List:
    items = _items_between(node.items, node.offset + 1, node.end - 1, source)
    first = next(iter(node.items), None)
    name = first.text.lower() if isinstance(first, Symbol) else ""
    width = 1 + max(1, sum(item.width + 1 for item in items))
    if name in _BLOCKS and any(item.breaks for item in items[2:]):
        width = inf  # the author broke it
    if name == "<=" and len(items) > 3:
        width = inf
    plain = name not in _BLOCKS and all(_is_plain(item) for item in items)
    return _List(items, name, width, plain)


def _is_plain(item: _Item) -> bool:
    return item.content.plain if isinstance(item.content, _List) else item.width < inf


def _column(source: Source, offset: int) -> int:
    """The column from 0, tabs taken into account."""
    line_start = offset - source.location(offset).column + 1
    return len(source.text[line_start:offset].expandtabs())


def _goes_on(items: list[_Item], gap: str, comment: _Comment) -> bool:
    """Whether a comment continues the one above it, which began behind something."""
    if len(_LINE_END.findall(gap)) != 1 or not items:
        return False
    above = items[-1]
    return (
        isinstance(above.content, _Comment)
        and (above.below or not above.breaks)
        and above.content.column == comment.column
    )


# ------------------------------------------------------------------------------- the new text


@dataclass(slots=True)
class _Line:
    code: str = ""
    comment: str = ""
    below: bool = False


@dataclass(slots=True)
class _Page:
    """Lines as they are written; where the comments at their ends go is decided last."""

    lines: list[_Line] = field(default_factory=list)

    @property
    def column(self) -> int:
        return len(self.lines[-1].code)

    def put(self, text: str) -> None:
        self.lines[-1].code += text

    def new_line(self, indent: int, blank_before: bool = False) -> None:
        if blank_before and self.lines:
            self.lines.append(_Line())
        self.lines.append(_Line(" " * indent))

    def comment(self, item: _Item, indent: int, blank_before: bool) -> None:
        """A comment, on the current line or on its own as it was in the source."""
        assert isinstance(item.content, _Comment)
        if item.breaks or not self.lines:
            self.new_line(indent, blank_before)
        self.lines[-1].comment = item.content.text
        self.lines[-1].below = item.below

    def text(self) -> str:
        """All lines, the comments at the ends of adjacent lines aligned."""
        result: list[str] = []
        column = 0
        for index, line in enumerate(self.lines):
            if line.below:
                result.append(" " * column + line.comment)
            elif _ends_in_comment(line):
                if index == 0 or not _ends_in_comment(self.lines[index - 1]):
                    column = self._comment_column(index)
                result.append(line.code.ljust(column) + line.comment)
            else:
                result.append((line.code + line.comment).rstrip())
        return "".join(line + "\n" for line in result)

    def _comment_column(self, start: int) -> int:
        run = takewhile(_ends_in_comment, (self.lines[i] for i in range(start, len(self.lines))))
        return max(len(line.code) for line in run) + 1


def _ends_in_comment(line: _Line) -> bool:
    return bool(line.comment and not line.below and line.code.strip())


def _write_sheet(page: _Page, items: Sequence[_Item]) -> None:
    index = 0
    while index < len(items):
        item = items[index]
        if isinstance(item.content, _Comment):
            page.comment(item, 0, item.breaks > 1)
            index += 1
            continue
        group = _written_together(items, index)
        together = sum(fact.spaces + fact.width for fact in group) - item.spaces <= WIDTH
        for number, fact in enumerate(group):
            if number and together:
                page.put(" " * fact.spaces)
            else:
                page.new_line(0, fact.breaks > 1)
            _write(page, fact, 0)
        index += len(group)


def _written_together(items: Sequence[_Item], start: int) -> Sequence[_Item]:
    """The statement at `start` and, if it is a fact, the facts behind it on the same line."""
    end = start + 1
    if not _is_rule(items[start]):
        while end < len(items) and _joins(items[end]):
            end += 1
    return items[start:end]


def _joins(item: _Item) -> bool:
    """Whether an item is a fact on the line of the one before it."""
    return not (isinstance(item.content, _Comment) or item.breaks or _is_rule(item))


def _is_rule(item: _Item) -> bool:
    return isinstance(item.content, _List) and item.content.name in _BLOCKS


def _write(page: _Page, item: _Item, closing: int) -> None:
    """Write a symbol or list where the page is; `closing` parentheses follow at once."""
    content = item.content
    if not isinstance(content, _List) or page.column + content.width + closing <= WIDTH:
        page.put(_flat(item))
    elif content.plain and any(_too_wide(page, inner) for inner in content.items):
        _write_words(page, _WORDS.findall(_flat(item)), closing)
    else:
        _write_broken(page, content, closing)


def _too_wide(page: _Page, item: _Item) -> bool:
    """Whether an argument is too wide even for a line of its own."""
    return page.column + _CONTINUED + item.width + 1 > WIDTH


def _write_words(page: _Page, words: Sequence[str], closing: int) -> None:
    """A long term like the words of a paragraph; one line a level would make stairs of it."""
    indent = page.column + _CONTINUED
    page.put(words[0])
    for number, word in enumerate(words[1:], start=2):
        following = closing if number == len(words) else 0
        if page.column + 1 + len(word) + following > WIDTH:
            page.new_line(indent)
            page.put(word)
        else:
            page.put(f" {word}")


def _flat(item: _Item) -> str:
    content = item.content
    if isinstance(content, _List):
        return "(" + " ".join([_flat(inner) for inner in content.items]) + ")"
    return content.text


def _write_broken(page: _Page, content: _List, closing: int) -> None:
    start = page.column
    block = content.name in _BLOCKS
    indent = start + (len(content.name) + 2 if block else _CONTINUED)
    page.put("(")
    after_comment = False
    written = 0  # symbols and lists
    last = len(content.items) - 1
    for index, item in enumerate(content.items):
        blank_before = block and written > 1 and item.breaks > 1
        if isinstance(item.content, _Comment):
            page.comment(item, indent, blank_before)
            after_comment = True
            continue
        following = closing + 1 if index == last else 0
        too_wide = page.column + 1 + item.width + following > WIDTH
        if after_comment or (written > 1 if block else written > 0 and too_wide):
            page.new_line(indent, blank_before)
        elif written:
            page.put(" ")
        _write(page, item, following)
        after_comment = False
        written += 1
    if after_comment:
        page.new_line(start)
    page.put(")")
