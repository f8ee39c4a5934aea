"""Morpion solitaire: lines of five points on a cross of 36, each of which adds one point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import NamedTuple

from forward_model.model import ForwardModel

Point = tuple[int, int]

LENGTH = 5
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
CROSS = """
...XXXX...
...X..X...
...X..X...
XXXX..XXXX
X........X
X........X
XXXX..XXXX
...X..X...
...X..X...
...XXXX...
"""


class Line(NamedTuple):
    """Five points in a row, by the first one and the direction; `new` is the point it adds."""

    start: Point
    direction: Point
    new: Point

    def points(self) -> list[Point]:
        (x, y), (dx, dy) = self.start, self.direction
        return [(x + i * dx, y + i * dy) for i in range(LENGTH)]


@dataclass(frozen=True)
class Sheet:
    """The lines drawn, in whatever order; the rest follows from them."""

    lines: frozenset[Line]
    points: frozenset[Point] = field(compare=False)
    taken: frozenset[tuple[Point, Point]] = field(compare=False)
    """points with the direction of a line through them, as far as no other one may go there"""
    moves: tuple[Line, ...] = field(compare=False)


class Morpion(ForwardModel[Sheet, Line]):
    """Parallel lines may touch at their ends (5T), or not at all (`disjoint`, 5D).

    The reward is the number of lines; how many there can be, nobody has to know.
    """

    role_names = ("pencil",)
    reward_bounds = (0.0, inf)

    def __init__(self, disjoint: bool) -> None:
        self._taken_points = slice(0, LENGTH) if disjoint else slice(0, LENGTH - 1)
        rows = enumerate(CROSS.split())
        points = frozenset((x, y) for y, row in rows for x, mark in enumerate(row) if mark == "X")
        moves = {line for point in points for line in self._lines_through(point, points)}
        self._first = Sheet(frozenset(), points, frozenset(), tuple(sorted(moves)))

    @property
    def initial_state(self) -> Sheet:
        return self._first

    def legal_moves(self, state: Sheet, role: int) -> tuple[Line, ...]:
        return state.moves

    def next_state(self, state: Sheet, joint_move: Sequence[Line], random: Random) -> Sheet:
        (line,) = joint_move
        points, taken = state.points | {line.new}, state.taken | self._taken_by(line)
        moves = {move for move in state.moves if move.new != line.new}
        moves.update(self._lines_through(line.new, points))
        free = (move for move in moves if taken.isdisjoint(self._taken_by(move)))
        return Sheet(state.lines | {line}, points, taken, tuple(sorted(free)))

    def is_terminal(self, state: Sheet) -> bool:
        return not state.moves

    def rewards(self, state: Sheet) -> tuple[float, ...]:
        return (float(len(state.lines)),)

    def write_move(self, move: Line) -> str:
        return " ".join(str(number) for pair in move for number in pair)

    def read_move(self, text: str) -> Line:
        a, b, c, d, e, f = map(int, text.split())
        return Line((a, b), (c, d), (e, f))

    def _taken_by(self, line: Line) -> frozenset[tuple[Point, Point]]:
        """With touching ends, a line takes its four unit steps, each by its first point."""
        return frozenset((point, line.direction) for point in line.points()[self._taken_points])

    def _lines_through(self, point: Point, points: frozenset[Point]) -> Iterator[Line]:
        """Lines through a point that is there which lack just one point."""
        x, y = point
        for dx, dy in DIRECTIONS:
            for before in range(LENGTH):
                start = (x - before * dx, y - before * dy)
                line = Line(start, (dx, dy), start)
                lacking = [p for p in line.points() if p not in points]
                if len(lacking) == 1:
                    yield line._replace(new=lacking[0])
