"""The code that plans are written in for the kernels: numbers, and what they stand for.

See `gdl.instantiation.joins` for plans, `gdl.instantiation.views` for shapes and indexes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gdl.instantiation.joins import FIRST_VIEW_REGION
from gdl.instantiation.memory import I32
from gdl.rules import Term, arguments_of, name_of

Functor = tuple[str, int]
Shape = object
HOLE = None


def functor_of(atom: Term) -> Functor:
    """Name and number of arguments."""
    return name_of(atom), len(arguments_of(atom))


@dataclass(slots=True)
class View:
    """A view as the planner knows it (see `gdl.instantiation.views`)."""

    number: int
    columns: int
    indexes: dict[tuple[int, ...], int] = field(default_factory=dict)
    """columns → place of the index in the code"""


class Code:
    """The growing code, with the functors, constants and views that it speaks of by number."""

    def __init__(self) -> None:
        self.functors: dict[Functor, int] = {}
        self.constants: dict[str, int] = {}
        """constant → its term"""
        self.views: dict[Shape, View] = {}
        self.view_rows: list[tuple[int, int, int, int]] = []
        """per view: functor, place of the shape, columns, region"""
        self.regions = FIRST_VIEW_REGION
        self.numbers: list[int] = [0]
        self.new_indexes: list[tuple[View, int]] = []
        """indexes that the memory doesn't have yet"""

    def functor(self, name: str, arity: int) -> int:
        """The number of a functor."""
        return self.functors.setdefault((name, arity), len(self.functors))

    def constant(self, name: str) -> int:
        """The term of a constant."""
        self.functor(name, 0)
        return self.constants.setdefault(name, len(self.constants) + 1)

    def add(self, *numbers: int) -> int:
        """Append numbers; the place of the first."""
        place = len(self.numbers)
        self.numbers.extend(numbers)
        return place

    def step(self, operation: int, *numbers: int) -> None:
        """Append a plan's step: operation, size, numbers."""
        self.add(operation, 2 + len(numbers), *numbers)

    def view(self, atom: Term) -> View:
        """The view that a pattern reads."""
        shape = _shape(atom)
        if shape not in self.views:
            steps: list[int] = []
            columns: list[int] = []
            free = 1
            waiting = [(shape, 0)]
            while waiting:
                part, slot = waiting.pop(0)
                if part is HOLE:
                    columns.append(slot)
                    continue
                assert isinstance(part, tuple)
                name, *parts = part
                steps += [self.functor(name, len(parts)), slot, free, len(parts)]
                waiting[:0] = [(inner, free + i) for i, inner in enumerate(parts)]
                free += len(parts)
            place = self.add(len(steps) // 4, *steps, *columns)
            row = (self.functor(*functor_of(atom)), place, len(columns), self.regions)
            self.views[shape] = View(len(self.view_rows), len(columns))
            self.view_rows.append(row)
            self.regions += 1
        return self.views[shape]

    def index(self, view: View, columns: tuple[int, ...]) -> int:
        """The place of an index over columns of a view."""
        if columns not in view.indexes:
            older = max(view.indexes.values(), default=0)
            place = self.add(older, self.regions, self.regions + 1, len(columns), *columns)
            self.regions += 2
            view.indexes[columns] = place
            self.new_indexes.append((view, place))
        return view.indexes[columns]


def _shape(term: Term) -> Shape:
    """A pattern with a hole for each variable and constant; an atom without arguments is itself."""
    if isinstance(term, str):
        return (term,)
    return (term[0], *(_inner_shape(argument) for argument in term[1:]))


def _inner_shape(term: Term) -> Shape:
    return HOLE if isinstance(term, str) else (term[0], *map(_inner_shape, term[1:]))


def as_array(numbers: Sequence[int]) -> I32:
    """(numbers,) for the kernels."""
    return np.array(numbers, np.int32)
