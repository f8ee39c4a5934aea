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

from collections.abc import Iterable

from rich.cells import cell_len

from gdl.rules import Term, arguments_of, name_of
from gdl.state_machine import order
from ggp_agent.library.board_descriptions import LINE_WIDTH, BoardDescription, printable
from ggp_agent.library.board_guesses import guess_board


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
        group = groups.setdefault(printable(name_of(fluent)) + (":" if arguments else ""), [])
        group.append(" ".join(printable(argument) for argument in arguments))
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
