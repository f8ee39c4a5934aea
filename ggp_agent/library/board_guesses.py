"""Guessing which relation of a state is a board, where the game's METADATA does not say."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.cells import cell_len

from gdl.rules import Term, arguments_of, name_of
from ggp_agent.library.board_descriptions import LINE_WIDTH, BoardDescription, printable

MARGIN = 5
"""Columns left of a guessed board: its row label and two spaces."""
MAX_GUESSED_LABELS = 40
MAX_GUESSED_PIECE = 8
"""A guessed board has no glyphs of its own, so that pieces longer than this make it a list."""

_COORDINATE = re.compile(r"([a-z]?)(0|[1-9]\d?)|([a-z])")
_EMPTY_PIECES = ("blank", "empty")


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
    texts = [tuple(printable(argument) for argument in arguments) for arguments in instances]
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
