"""From clauses to plans: the order in which a body's literals are joined, as code for the kernels.

The code is kept in `gdl.instantiation.plan_code`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gdl.errors import GroundingError
from gdl.instantiation.joins import (
    ALL_ROWS,
    BUILD,
    COMPARE,
    EMIT,
    NEGATED,
    NEW_ROWS,
    OLD_ROWS,
    SCAN,
)
from gdl.instantiation.plan_code import Code, Functor, functor_of
from gdl.rules import (
    ANONYMOUS,
    Clause,
    Literal,
    Term,
    arguments_of,
    is_variable,
    name_of,
    write_term,
)

UNKNOWN_ROWS = 1000.0
"""Rows that a relation is thought to have that is still being found."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the planner knows of relations when it makes the plans of a component."""

    component: frozenset[Functor]
    """the relations that are being found"""
    rows: dict[int, int]
    """rows of the views of relations that are complete"""
    static: frozenset[Functor]
    """relations whose atoms are all certain once they are complete"""


def plan_clause(
    code: Code, clause: Clause, knowledge: Knowledge, choice: bool, driver: int | None
) -> int:
    """Write a plan of a clause; `driver` is the number of the literal that reads the new rows.

    Returns the plan's place in the code.
    """
    return _Planner(code, clause, knowledge, driver).write(choice)


class _Planner:
    """Writes one plan."""

    def __init__(
        self, code: Code, clause: Clause, knowledge: Knowledge, driver: int | None
    ) -> None:
        self._code, self._clause, self._knowledge, self._driver = code, clause, knowledge, driver
        self._slots: dict[str, int] = {}
        self._free = 1
        self._literal_slots: list[int] = []

    def write(self, choice: bool) -> int:
        """The whole plan; its place.  Indexes are described before it, for plans are one piece."""
        code, body = self._code, self._clause.body
        scans = self._ordered()
        bound: set[str] = set()
        for i in scans:
            columns = self._known_columns(body[i].atom, bound)
            if columns and i != self._driver:
                code.index(code.view(body[i].atom), columns)
            bound.update(self._variables(body[i].atom))
        place = len(code.numbers)
        tests = [lit for lit in body if not reads(lit)]
        self._test_what_is_bound(tests)
        for number, i in enumerate(scans):
            later = [*(body[j] for j in scans[number + 1 :]), *tests]
            self._scan(i, [*(literal.atom for literal in later), self._clause.head])
            self._test_what_is_bound(tests)
        unbound = self._variables(self._clause.head) - self._slots.keys()
        if tests or unbound:
            raise GroundingError(
                f"unsafe rule: a variable of {write_term(self._clause.head)} is unbound"
            )
        head = self._source(self._clause.head, as_atom=True)
        code.step(EMIT, head, int(choice), len(self._literal_slots), *self._literal_slots)
        return place

    @staticmethod
    def _variables(atom: Term) -> set[str]:
        return {leaf for leaf in _leaves(atom) if is_variable(leaf) and leaf != ANONYMOUS}

    def _ordered(self) -> list[int]:
        """The literals to scan, the driver first, then always the one with the fewest rows."""
        body = self._clause.body
        waiting = [i for i, literal in enumerate(body) if reads(literal)]
        ordered, bound = [], set[str]()
        while waiting:
            best = min(
                waiting, key=lambda i: (i != self._driver, self._matches(body[i].atom, bound))
            )
            waiting.remove(best)
            ordered.append(best)
            bound |= self._variables(body[best].atom)
        return ordered

    def _matches(self, atom: Term, bound: set[str]) -> float:
        """An estimate of the rows that agree with what is bound."""
        view = self._code.view(atom)
        rows = float(self._knowledge.rows.get(view.number, UNKNOWN_ROWS))
        known = len(self._known_columns(atom, bound))
        return float(rows ** (1 - known / view.columns)) if view.columns else 0.0

    @staticmethod
    def _known_columns(atom: Term, bound: set[str]) -> tuple[int, ...]:
        return tuple(
            i for i, leaf in enumerate(_leaves(atom)) if not is_variable(leaf) or leaf in bound
        )

    def _slot(self) -> int:
        self._free += 1
        return self._free - 1

    def _scan(self, number: int, later: Sequence[Term]) -> None:
        code, knowledge = self._code, self._knowledge
        atom = self._clause.body[number].atom
        view, leaves = code.view(atom), list(_leaves(atom))
        known = self._known_columns(atom, set(self._slots))
        index = 0 if number == self._driver or not known else code.index(view, known)
        sources = [self._source(leaves[i]) for i in known]
        keys = sources if index else []  # what is not looked up is checked
        checks = [] if index else [x for pair in zip(known, sources, strict=True) for x in pair]
        binds: list[int] = []
        wanted = set[str]().union(*map(self._variables, later))
        useful = False
        for i, leaf in enumerate(leaves):
            if i in known or leaf == ANONYMOUS:
                continue
            if leaf in self._slots:
                checks += [i, self._slots[leaf]]
            else:
                self._slots[leaf] = self._slot()
                binds += [i, self._slots[leaf]]
                useful |= leaf in wanted
        static = functor_of(atom) in knowledge.static
        literal = self._slot()
        if not static:
            self._literal_slots.append(literal)
        code.step(
            SCAN,
            view.number,
            self._rows(number),
            index,
            len(keys),
            *keys,
            literal,
            int(static and not useful),
            len(binds) // 2,
            *binds,
            len(checks) // 2,
            *checks,
        )

    def _test_what_is_bound(self, tests: list[Literal]) -> None:
        """Write the tests whose variables are bound, and take them off the list."""
        for literal in list(tests):
            if self._slots.keys() >= self._variables(literal.atom):
                tests.remove(literal)
                self._test(literal)

    def _rows(self, number: int) -> int:
        """Which rows a literal reads: new ones the driver, old ones the literals before it."""
        if self._driver is None or number > self._driver:
            return ALL_ROWS
        if number == self._driver:
            return NEW_ROWS
        inside = functor_of(self._clause.body[number].atom) in self._knowledge.component
        return OLD_ROWS if inside else ALL_ROWS

    def _test(self, literal: Literal) -> None:
        if name_of(literal.atom) == "distinct":
            left, right = (self._source(term) for term in arguments_of(literal.atom))
            self._code.step(COMPARE, left, right, int(not literal.positive))
            return
        complete = functor_of(literal.atom) not in self._knowledge.component
        atom = self._source(literal.atom, as_atom=True, find=complete)
        slot = self._slot()
        self._literal_slots.append(slot)
        self._code.step(NEGATED, atom, slot, int(complete))

    def _source(self, term: Term, as_atom: bool = False, find: bool = False) -> int:
        """Where a term is found: the slot of a variable, a constant, or a term built for it."""
        if isinstance(term, str):
            if is_variable(term) and not as_atom:
                return self._slots[term]
            return -self._code.constant(term)
        parts = [self._source(argument, find=find) for argument in term[1:]]
        slot = self._slot()
        functor = self._code.functor(name_of(term), len(parts))
        self._code.step(BUILD, functor, slot, int(find), *parts)
        return slot


def _leaves(term: Term) -> Iterable[str]:
    """The variables and constants of a pattern's holes, in the order of its view's columns."""
    for argument in arguments_of(term):
        if isinstance(argument, str):
            yield argument
        else:
            yield from _leaves(argument)


def reads(literal: Literal) -> bool:
    """Whether a literal is looked up among the atoms; the others are tests."""
    return literal.positive and name_of(literal.atom) != "distinct"
