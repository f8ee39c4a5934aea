"""A state as text: a board with its coordinates, and below it whatever else is true.

    3  . . .
    2  . X .
    1  . . O
       1 2 3
    control: x

`draw` takes any state of any game.  Where a `BoardDescription` (from a game's METADATA) says which
relation is the board, that one is drawn; else `guess_board` looks for a relation that is clearly a
grid; else the fluents are listed, one line per relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rich.cells import cell_len

from gdl.rules import Term, arguments_of, name_of, write_term
from gdl.state_machine import order
from ggp_agent.errors import GameError

LINE_WIDTH = 100
MARGIN = 5
"""Columns left of a guessed board: its row label and two spaces."""
MAX_GUESSED_LABELS = 40
MAX_GUESSED_PIECE = 8
"""A guessed board has no glyphs of its own, so that pieces longer than this make it a list."""

Position = int | tuple[int, ...]
"""Which argument of a fluent, counted from 1, or several, which are read as one."""

_COORDINATE = re.compile(r"([a-z]?)(0|[1-9]\d?)|([a-z])")
_EMPTY_PIECES = ("blank", "empty")


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


def draw(fluents: Iterable[Term], description: BoardDescription | None = None) -> str:
    """A state, given as its fluents (terms without `true`), as text of one or more lines."""
    state = sorted(fluents, key=order)
    board = description
    if board is None or _is_shaped_otherwise(board, state):
        board = guess_board(state)
    if board is None:
        return _listing(state)
    pieces = [fluent for fluent in state if board.square(fluent) is not None]
    rest = [fluent for fluent in state if board.square(fluent) is None]
    return "\n".join([*_grid(pieces, board), *_wrap(_groups(rest), "; ")])


def _is_shaped_otherwise(board: BoardDescription, state: list[Term]) -> bool:
    """Whether the relation is there but no fluent of it fits; a board without pieces has none."""
    instances = [fluent for fluent in state if name_of(fluent) == board.relation]
    return bool(instances) and all(board.square(fluent) is None for fluent in instances)


def guess_board(fluents: Iterable[Term]) -> BoardDescription | None:
    """A description of the relation that is clearly a grid; None where there is no such relation.

    Its size is that of the squares in use, so that it may grow where empty squares have no fluent.
    """
    relations: dict[str, list[tuple[Term, ...]]] = {}
    for fluent in fluents:
        relations.setdefault(name_of(fluent), []).append(arguments_of(fluent))
    boards = [
        (len(instances), board)
        for relation, instances in relations.items()
        if (board := _board_of(relation, instances)) is not None
    ]
    largest = max((size for size, _ in boards), default=0)
    candidates = [board for size, board in boards if size == largest]
    return candidates[0] if len(candidates) == 1 else None


def _board_of(relation: str, instances: list[tuple[Term, ...]]) -> BoardDescription | None:
    """The relation as a board of two coordinates and a piece, the piece last or else first."""
    if any(len(arguments) != 3 for arguments in instances):
        return None
    texts = [tuple(_text(argument) for argument in arguments) for arguments in instances]
    last, first = _with_piece(2, relation, texts), _with_piece(0, relation, texts)
    return last if last is not None else first


def _with_piece(piece: int, relation: str, texts: list[tuple[str, ...]]) -> BoardDescription | None:
    """The board if argument `piece` is the piece and the other two are the coordinates."""
    column, row = (0, 1) if piece == 2 else (1, 2)
    columns, rows = _axis({t[column] for t in texts}), _axis({t[row] for t in texts})
    if columns is None or rows is None or len({(t[column], t[row]) for t in texts}) < len(texts):
        return None
    # Letters are columns, as in chess; else the first coordinate is the column.
    if rows[0].isalpha() and not columns[0].isalpha():
        column, row, columns, rows = row, column, rows, columns
    names = {t[piece] for t in texts}
    width = max(map(cell_len, names))
    if width > MAX_GUESSED_PIECE or (width + 1) * len(columns) + MARGIN > LINE_WIDTH:
        return None
    glyphs = dict.fromkeys(_EMPTY_PIECES, ".")
    # By custom b is blank where every square has a fluent; it may be black where some have none.
    if len(texts) == len(columns) * len(rows) and "w" not in names:
        glyphs["b"] = "."
    return BoardDescription(relation, columns, rows[::-1], column + 1, row + 1, piece + 1, glyphs)


def _axis(labels: set[str]) -> tuple[str, ...] | None:
    """All labels of an axis, in order and without holes, if these look like coordinates.

    Known are numbers, numbers behind one letter (`x1`), and single letters; they start at 1 or a.
    Letters must use a good part of their axis: those of players (x and o) are no coordinates.
    """
    matches = [_COORDINATE.fullmatch(label) for label in labels]
    if len(labels) < 2 or None in matches:
        return None
    prefixes = {match[1] for match in matches if match is not None}
    if len(prefixes) > 1:
        return None
    prefix = prefixes.pop()
    if prefix is None:
        letters = tuple(chr(code) for code in range(ord("a"), ord(max(labels)) + 1))
        return letters if len(labels) * 4 >= len(letters) else None
    numbers = [int(label.removeprefix(prefix)) for label in labels]
    axis = tuple(f"{prefix}{n}" for n in range(min(1, *numbers), max(numbers) + 1))
    return axis if len(axis) <= MAX_GUESSED_LABELS else None


def _grid(pieces: Iterable[Term], board: BoardDescription) -> list[str]:
    """The lines of the board: row labels on the left, column labels below."""
    squares: dict[tuple[str, str], str] = {}
    for fluent in pieces:
        square, glyph = board.square(fluent), board.glyph(fluent)
        if square is not None:
            squares[square] = f"{squares[square]}/{glyph}" if square in squares else glyph
    width = max(map(cell_len, (*board.columns, *squares.values(), board.empty)))
    margin = max(map(cell_len, board.rows))

    def line(label: str, cells: Iterable[str]) -> str:
        padded = (cell + " " * (width - cell_len(cell)) for cell in cells)
        return f"{' ' * (margin - cell_len(label))}{label}  {' '.join(padded)}".rstrip()

    lines = [
        line(
            row,
            (squares.get((c, row), board.background(x, y)) for x, c in enumerate(board.columns)),
        )
        for y, row in enumerate(board.rows)
    ]
    return [*lines, line("", board.columns)]


def _listing(state: list[Term]) -> str:
    """All fluents, a line per relation; long lines go on indented."""
    lines = [line for group in _groups(state) for line in _wrap(group.split(", "), ", ")]
    return "\n".join(lines) if lines else "(no fluent is true)"


def _groups(fluents: Iterable[Term]) -> list[str]:
    """The fluents by relation: `heap: a 1, b 3`; one without arguments is its name."""
    groups: dict[str, list[str]] = {}
    for fluent in fluents:
        arguments = arguments_of(fluent)
        group = groups.setdefault(_text(name_of(fluent)) + (":" if arguments else ""), [])
        group.append(" ".join(_text(argument) for argument in arguments))
    return [f"{name} {', '.join(texts)}".rstrip() for name, texts in sorted(groups.items())]


def _wrap(items: Iterable[str], separator: str) -> list[str]:
    """The items in lines of at most `LINE_WIDTH` columns, unless one item alone is longer."""
    lines: list[str] = []
    for item in items:
        if lines and cell_len(lines[-1]) + cell_len(separator + item) < LINE_WIDTH:
            lines[-1] += separator + item
        elif lines:
            lines[-1] += separator.rstrip()
            lines.append("  " + item)
        else:
            lines.append(item)
    return lines


def _text(term: Term) -> str:
    """A term as text that can't disturb a terminal (a symbol may hold any character)."""
    text = write_term(term)
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def _several(position: Position) -> tuple[int, ...]:
    return (position,) if isinstance(position, int) else position


def _read(arguments: tuple[Term, ...], position: Position, separator: str) -> str:
    """What stands at a position of a fluent's arguments."""
    return separator.join(_text(arguments[p - 1]) for p in _several(position))


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
