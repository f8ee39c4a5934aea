"""Which fluents of a game are its board, and how it is drawn: read from METADATA's `x-board`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.cells import cell_len

from gdl.rules import Term, arguments_of, name_of, write_term
from ggp_agent.errors import GameError

LINE_WIDTH = 100
"""Columns of text that a drawn state may take, unless one thing alone is wider."""

Position = int | tuple[int, ...]
"""Which argument of a fluent, counted from 1, or several, which are read as one."""


@dataclass(frozen=True, slots=True)
class BoardDescription:
    """Which fluents are the board, and how it is drawn.

    A fluent of `relation` puts a piece on a square; `column`, `row` and `piece` are the positions
    of its arguments, counted from 1.  Where one of them is several positions, coordinates are
    written together (`b2`: column b of the second level) and pieces with spaces (`white king`).
    Where `piece` is no position at all, `()`, the relation's name is the piece.  A piece without a
    glyph is shown by its name.
    """

    relation: str
    columns: tuple[str, ...]
    """labels of the columns, left to right; an empty one is a gap"""
    rows: tuple[str, ...]
    """labels of the rows, top to bottom; an empty one is a gap"""
    column: Position = 1
    row: Position = 2
    piece: Position = 3
    glyphs: Mapping[str, str] = field(default_factory=dict, hash=False)
    """piece → one character"""
    empty: str = "."
    shape: tuple[str, ...] = ()
    """a text per row, a character per column: a space where the board has no square; () none"""

    @classmethod
    def from_json(cls, data: object) -> BoardDescription:
        """The value of METADATA's `x-board`.  Raises `GameError` that says what is wrong in it."""
        if not isinstance(data, dict):
            raise GameError("must be an object")
        needed = ("relation", "columns", "rows")
        allowed = (*needed, "column", "row", "piece", "glyphs", "empty", "shape")
        for key in data:
            if key not in allowed:
                raise GameError(f"unknown key {key!r}; known: {', '.join(allowed)}")
        for key in needed:
            if key not in data:
                raise GameError(f"the key '{key}' is missing")
        columns, rows = _labels(data["columns"], "columns"), _labels(data["rows"], "rows")
        return cls(
            relation=_word(data["relation"], "relation"),
            columns=columns,
            rows=rows,
            glyphs=_glyphs(data.get("glyphs", {})),
            empty=_glyph(data.get("empty", "."), "empty"),
            shape=_shape(data.get("shape", []), len(columns), len(rows)),
            **_positions(data),
        )

    def square(self, fluent: Term) -> tuple[str, str] | None:
        """Column and row on which a fluent puts a piece; None where it is not of the board."""
        arguments = arguments_of(fluent)
        if name_of(fluent) != self.relation or len(arguments) < self._arity:
            return None
        column, row = _read(arguments, self.column, ""), _read(arguments, self.row, "")
        return (column, row) if column in self.columns and row in self.rows else None

    def glyph(self, fluent: Term) -> str:
        """What is drawn for a fluent of the board."""
        piece = _read(arguments_of(fluent), self.piece, " ") or self.relation
        return self.glyphs.get(piece, piece)

    def background(self, column: int, row: int) -> str:
        """What is drawn where no piece is; columns and rows are counted from 0."""
        if not self.columns[column] or not self.rows[row]:
            return ""
        return " " if self.shape and self.shape[row][column] == " " else self.empty

    @property
    def _arity(self) -> int:
        return max(
            p for position in (self.column, self.row, self.piece) for p in _several(position)
        )


def printable(term: Term) -> str:
    """A term as text that can't disturb a terminal (a symbol may hold any character)."""
    text = write_term(term)
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def _several(position: Position) -> tuple[int, ...]:
    return (position,) if isinstance(position, int) else position


def _read(arguments: tuple[Term, ...], position: Position, separator: str) -> str:
    """What stands at a position of a fluent's arguments."""
    return separator.join(printable(arguments[p - 1]) for p in _several(position))


def _positions(data: Mapping[str, object]) -> dict[str, Position]:
    """`column`, `row` and `piece`: a position each, or a list of them; none will do for `piece`."""
    positions: dict[str, Position] = {}
    for i, key in enumerate(("column", "row", "piece")):
        value = data.get(key, i + 1)
        listed = value if isinstance(value, list) and (value or key == "piece") else [value]
        several = tuple(p for p in listed if isinstance(p, int) and not isinstance(p, bool))
        if len(several) < len(listed) or min(several, default=1) < 1:
            raise GameError(f"'{key}' must be an argument's position, counted from 1")
        positions[key] = several[0] if len(several) == 1 else several
    used = [p for position in positions.values() for p in _several(position)]
    if len(set(used)) < len(used):
        raise GameError("'column', 'row' and 'piece' must be three different positions")
    return positions


def _word(value: object, key: str) -> str:
    if not isinstance(value, str) or not value or not value.isprintable() or " " in value:
        raise GameError(f"'{key}' must be one word, not {value!r}")
    return value.lower()


def _labels(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise GameError(f"'{key}' must be a list of at least one label")
    labels = tuple("" if label == "" else _word(label, key) for label in value)
    named = [label for label in labels if label]
    if len(set(named)) < len(named):
        raise GameError(f"'{key}' has the same label twice")
    return labels


def _glyph(value: object, key: str) -> str:
    if not isinstance(value, str) or len(value) != 1 or cell_len(value) != 1:
        raise GameError(f"'{key}' must be one character that is one column wide, not {value!r}")
    if not value.isprintable():
        raise GameError(f"'{key}' must be a printable character, not {value!r}")
    return value


def _glyphs(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise GameError("'glyphs' must be an object: piece to character")
    return {piece.lower(): _glyph(glyph, f"glyphs.{piece}") for piece, glyph in value.items()}


def _shape(value: object, columns: int, rows: int) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise GameError(f"'shape' must be a list of texts, one for each row, not {value!r}")
    if value and (len(value) != rows or any(len(line) != columns for line in value)):
        raise GameError(f"'shape' must be {rows} texts of {columns} characters, as the board is")
    return tuple(value)
