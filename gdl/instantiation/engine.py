"""Instantiates a program: every ground rule whose body may hold, component by component."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from gdl.errors import GroundingError, GroundingTimeout
from gdl.graphs import components
from gdl.instantiation.joins import (
    BODIES,
    BUDGET,
    HEADS,
    OFFSETS,
    PLAN,
    RUNNING,
    Work,
    evaluate,
)
from gdl.instantiation.memory import EXHAUSTED, I32, I64, LENGTH, Memory, new_memory
from gdl.instantiation.plan_code import Code, Functor, as_array, functor_of
from gdl.instantiation.plans import Knowledge, plan_clause, reads
from gdl.instantiation.terms import ARGUMENTS, CERTAIN, STATUS, TERMS, UNKNOWN, begin
from gdl.instantiation.views import Tables, add_index
from gdl.rules import Clause, Term, arguments_of, name_of

SLICE = 2**18
"""Rows that are looked at before the caller is asked again; tenths of a second at the most."""
MOST_REGIONS = 2**20
"""A region takes 24 bytes once it is used."""


@dataclass(frozen=True, slots=True)
class Instances:
    """Ground rules over terms as numbers (see `gdl.instantiation.terms`)."""

    atoms: dict[Functor, list[tuple[tuple[Term, ...], int, bool]]]
    """for the relations asked for: arguments, number, and whether certain, of each atom"""
    heads: I32
    """(rules,)"""
    offsets: I32
    """(rules + 1,) where each body begins"""
    bodies: I32
    """(literals,) atoms, negative where negated"""


class Instantiation:
    """A program of clauses and choices, and what of it has been instantiated so far.

    A choice says that its head may hold, or not, where its body may.  Everything in it that can
    hold is found bottom-up; what does not depend on choices is evaluated away.
    """

    def __init__(self, clauses: Sequence[Clause], choices: Sequence[Clause], memory: int) -> None:
        self._clauses = [*((c, False) for c in clauses), *((c, True) for c in choices)]
        self._code = Code()
        self._memory_bytes = memory
        most = 2
        for clause, _ in self._clauses:
            most = max(most, self._register(clause))
        self._slots = most
        self._copied = 0
        self._buffer = np.zeros(1024, np.int32)
        self._static: set[Functor] = set()
        self._rows: dict[int, int] = {}
        self._relations = list(self._code.functors)
        self._views_of: dict[Functor, list[int]] = {}
        """relation → its views; like the functors, all are known from the clauses"""
        for number, (functor, *_) in enumerate(self._code.view_rows):
            self._views_of.setdefault(self._relations[functor], []).append(number)
        self._set_up()

    def _register(self, clause: Clause) -> int:
        """Number what a clause speaks of; an upper bound of the slots that it takes."""

        def nodes(term: Term) -> int:
            if isinstance(term, str):
                if term[0] != "?":
                    self._code.constant(term)
                return 1
            self._code.functor(*functor_of(term))
            return 1 + sum(map(nodes, term[1:]))

        count = 2 + nodes(clause.head)
        for literal in clause.body:
            if name_of(literal.atom) == "distinct":
                count += sum(map(nodes, arguments_of(literal.atom)))
            else:
                count += 1 + nodes(literal.atom)
                if literal.positive:
                    self._code.view(literal.atom)
        return count

    def _set_up(self) -> None:
        code = self._code
        arity = as_array([arity for _, arity in code.functors])
        view_of = np.full(len(arity), -1, np.int32)
        views = np.zeros((max(1, len(code.view_rows)), 5), np.int32)
        for number, (functor, place, columns, region) in enumerate(code.view_rows):
            views[number] = place, columns, region, 0, view_of[functor]
            view_of[functor] = number
        ends = np.zeros((len(views), 2), np.int64)
        try:
            self._memory: Memory = new_memory(self._memory_bytes // 4, MOST_REGIONS)
        except MemoryError:
            self._complain_of_memory()
        self._tables = Tables(arity, view_of, views, ends, self._buffer)
        self._work = Work(
            control=np.zeros(4, np.int64),
            slots=np.zeros(self._slots, np.int32),
            scans=np.zeros((self._slots, 2), np.int64),
            scratch=np.zeros(self._slots + 1, np.int32),
            key=np.zeros(self._slots + 1, np.int32),
        )
        constants = as_array([code.functors[name, 0] for name in code.constants])
        begin(self._memory, arity, constants)
        self._check_memory()

    def run(self) -> Iterator[None]:
        """Instantiate everything; yields now and then, so that the caller can give up.

        Raises `GroundingTimeout` where the memory doesn't suffice.
        """
        by_head: dict[Functor, list[tuple[Clause, bool]]] = {}
        for clause, choice in self._clauses:
            by_head.setdefault(functor_of(clause.head), []).append((clause, choice))
        uses = {
            head: {functor_of(lit.atom) for clause, _ in own for lit in clause.body}
            for head, own in by_head.items()
        }
        undefined = {used for own in uses.values() for used in own} - uses.keys()
        self._static |= undefined
        number = components({**uses, **{name: set() for name in undefined}})
        members: dict[int, list[Functor]] = {}
        for head in by_head:
            members.setdefault(number[head], []).append(head)
        for _, relations in sorted(members.items()):
            clauses = [entry for head in relations for entry in by_head[head]]
            yield from self._complete(frozenset(relations), clauses)

    def _complete(
        self, component: frozenset[Functor], clauses: list[tuple[Clause, bool]]
    ) -> Iterator[None]:
        """Find all atoms of some relations that depend on each other."""
        knowledge = Knowledge(component, self._rows, frozenset(self._static))
        once, again = [], []

        def negates_own(entry: tuple[Clause, bool]) -> bool:
            body = entry[0].body
            return any(not lit.positive and functor_of(lit.atom) in component for lit in body)

        for clause, choice in sorted(clauses, key=negates_own):  # what is certain comes first
            drivers = [
                i
                for i, literal in enumerate(clause.body)
                if reads(literal) and functor_of(literal.atom) in component
            ]
            if not drivers:
                once.append(plan_clause(self._code, clause, knowledge, choice, None))
            for driver in drivers:
                again.append(plan_clause(self._code, clause, knowledge, choice, driver))
        views = [view for relation in component for view in self._views_of.get(relation, ())]
        self._send_code()
        for plans, rounds in ((once, False), (again, True)):
            yield from self._evaluate(plans, views, rounds)
        for view in views:
            self._rows[view] = int(self._tables.ends[view, 1])
        if all(self._is_static(clause, choice, component) for clause, choice in clauses):
            self._static |= component

    def _is_static(self, clause: Clause, choice: bool, component: frozenset[Functor]) -> bool:
        return not choice and all(
            name_of(literal.atom) == "distinct"
            or functor_of(literal.atom) in self._static
            or (literal.positive and functor_of(literal.atom) in component)
            for literal in clause.body
        )

    def _send_code(self) -> None:
        """Let the kernels have the code and the indexes that have been added."""
        if self._code.regions > MOST_REGIONS:
            raise GroundingError("the rules read their relations in too many different ways")
        numbers = self._code.numbers
        if len(numbers) > len(self._buffer):
            larger = np.zeros(2 * len(numbers), np.int32)
            larger[: self._copied] = self._buffer[: self._copied]
            self._buffer = larger
        self._buffer[self._copied : len(numbers)] = numbers[self._copied :]
        self._copied = len(numbers)
        self._tables = self._tables._replace(code=self._buffer)
        for view, place in self._code.new_indexes:
            add_index(self._memory, self._tables, view.number, place, self._work.key)
        self._code.new_indexes.clear()
        self._check_memory()

    def _evaluate(self, plans: list[int], views: list[int], rounds: bool) -> Iterator[None]:
        control = self._work.control
        control[PLAN] = control[RUNNING] = 0
        arrays = as_array(plans), as_array(views)
        while True:
            control[BUDGET] = SLICE
            if evaluate(self._memory, self._tables, self._work, *arrays, rounds):
                break
            self._check_memory()
            yield
        self._check_memory()

    def _check_memory(self) -> None:
        if self._memory.state[EXHAUSTED]:
            self._complain_of_memory()

    def _complain_of_memory(self) -> NoReturn:
        mebibytes = self._memory_bytes / 2**20
        raise GroundingTimeout(f"grounding needed more than {mebibytes:.0f} MiB")

    @property
    def rules(self) -> int:
        """Ground rules so far."""
        return int(self._memory.regions[HEADS, LENGTH])

    def result(self, relations: Iterable[Functor]) -> Instances:
        """The ground rules, and the atoms of some relations, once `run` is through."""
        memory = self._memory
        terms = memory.content(TERMS).reshape(-1, 2)
        arguments, status = memory.content(ARGUMENTS), memory.content(STATUS)
        heads, bodies = memory.content(HEADS), memory.content(BODIES)
        offsets = np.concatenate((np.zeros(1, np.int32), memory.content(OFFSETS)))
        rules = _simplified(status, heads, offsets, bodies)
        decoder = _Decoder(self._relations, terms, arguments)
        known = status != UNKNOWN
        atoms = {}
        for relation in relations:
            functor = self._code.functors.get(relation, -1)
            numbers = np.flatnonzero(known & (terms[:, 0] == functor)).tolist()
            atoms[relation] = [
                (arguments_of(decoder.term(number)), number, bool(status[number] == CERTAIN))
                for number in numbers
                if number
            ]
        return Instances(atoms, *rules)


class _Decoder:
    """Numbers back to terms; each is decoded once."""

    def __init__(self, functors: list[Functor], terms: I32, arguments: I32) -> None:
        self._functors, self._terms, self._arguments = functors, terms, arguments
        self._known: dict[int, Term] = {}

    def term(self, number: int) -> Term:
        """The term of that number."""
        if number not in self._known:
            functor, first = self._terms[number].tolist()
            name, arity = self._functors[functor]
            parts = self._arguments[first : first + arity].tolist()
            self._known[number] = (name, *map(self.term, parts)) if parts else name
        return self._known[number]


def _simplified(status: I32, heads: I32, offsets: I32, bodies: I32) -> tuple[I32, I32, I32]:
    """The rules without what turned out to be certain or impossible after they were written.

    `status` is brought up to date.
    """
    rule = np.repeat(np.arange(len(heads)), np.diff(offsets))
    while True:
        of_atom = status[np.abs(bodies)]
        fails = (bodies < 0) & (of_atom == CERTAIN)
        alive = status[heads] != CERTAIN
        alive[rule[fails]] = False
        holds = ((bodies > 0) & (of_atom == CERTAIN)) | ((bodies < 0) & (of_atom == UNKNOWN))
        keep = alive[rule] & ~holds
        counts = np.bincount(rule[keep], minlength=len(heads))
        facts = alive & (counts == 0)
        if not facts.any():
            break
        status[heads[facts]] = CERTAIN
    new_offsets: I64 = np.concatenate(([0], np.cumsum(counts[alive])))
    return heads[alive], new_offsets.astype(np.int32), bodies[keep]
