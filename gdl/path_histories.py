"""Forgets path histories: arguments that only keep a search from going in circles.

Some sheets look for a way from `?x` to `?y` and carry along what they have passed:

    (<= (way ?x ?y ?seen) (id ?x ?e) (add ?e ?seen ?more) (on ?x ?y ?more))
    (<= (on ?x ?y ?seen) (next_to ?x ?y))
    (<= (on ?x ?y ?seen) (next_to ?x ?z) (way ?z ?y ?seen))
    (<= win (way a b nil))

where `add` fails when `?e` is in the list already.  There are as many lists as there are paths, so
that nothing can be grounded.  Yet the list makes no difference: a shortest chain of calls never
makes the same call twice, so every `add` in it succeeds, and what holds without the list holds
with it.  `without_path_histories` leaves such a history out where it can prove just that:

1. The relations of a *family*, which call each other (`way`, `on`), have an argument each, the
   history, that is a variable in every head and is handed on to at most one call as it is or by a
   *push* (`add`).  Nothing else mentions it but *tests* of it alone.  Whoever else calls the family
   gives a constant there.
2. Only one rule pushes, and what it pushes, the *element*, determines those of its head's arguments
   that change from call to call: so different calls push different elements.
3. All elements can be pushed, one after the other, and the tests hold for every result.  This is
   tried out for one order of the elements; the rules of push and tests don't tell the elements
   apart, so that it holds for every order.

Longer than 300 lines: the three steps are one proof, to be read in one go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product
from math import prod

from gdl.errors import GroundingError
from gdl.graphs import components
from gdl.instantiation.engine import Instantiation
from gdl.instantiation.plan_code import Functor, functor_of
from gdl.magic_sets import CURRENT_STATE, with_magic_sets
from gdl.rules import Clause, Literal, Term, arguments_of, is_variable, name_of, variables_of

MEMORY = 2**28
"""Bytes that a proof may take."""
MOST_SLICES = 20
"""Slices of work (`gdl.instantiation.engine.SLICE`) that a proof may take."""
MOST_POSITIONS = 4096
"""Families with more ways to choose the history's positions are not looked at."""

Rules = Mapping[Functor, Sequence[Clause]]


def without_path_histories(clauses: Iterable[Clause]) -> list[Clause]:
    """The clauses without the path histories that can be proved to make no difference."""
    clauses = list(clauses)
    rules: dict[Functor, list[Clause]] = {}
    for clause in clauses:
        rules.setdefault(functor_of(clause.head), []).append(clause)
    for family in _families(rules):
        arities = [arity for _, arity in family]
        if prod(arities) <= MOST_POSITIONS:
            for positions in product(*map(range, arities)):
                history = _PathHistory.of(rules, dict(zip(family, positions, strict=True)))
                if history is not None and history.makes_no_difference():
                    return without_path_histories(map(history.forgotten, clauses))
    return clauses


def _families(rules: Rules) -> Iterator[list[Functor]]:
    """The sets of relations that call each other."""
    uses = {
        head: {functor_of(literal.atom) for clause in own for literal in clause.body}
        for head, own in rules.items()
    }
    number = components(uses)
    members: dict[int, list[Functor]] = {}
    for head in rules:
        members.setdefault(number[head], []).append(head)
    for family in members.values():
        if len(family) > 1 or family[0] in uses[family[0]]:
            yield family


@dataclass(frozen=True, slots=True)
class _Step:
    """A rule of the family: its call of the family, and what it does with the history."""

    clause: Clause
    call: Term | None
    push: Term | None
    before: str
    """the history in the head"""
    after: str
    """the history in the call"""
    tests: tuple[Term, ...]

    @classmethod
    def of(cls, clause: Clause, position: Mapping[Functor, int]) -> _Step | None:
        """None where the argument at that position is not a history."""
        calls = [lit for lit in clause.body if functor_of(lit.atom) in position]
        before = _single_variable(clause.head, position)
        after = _single_variable(calls[0].atom, position) if calls else before
        if len(calls) > 1 or before is None or after is None:
            return None
        pushes: list[Literal] = []
        tests: list[Literal] = []
        for literal in clause.body:
            mentioned = {before, after}.intersection(variables_of(literal.atom))
            if literal in calls or not mentioned:
                continue
            (pushes if len(mentioned) == 2 else tests).append(literal)
        wrong = any(not lit.positive or name_of(lit.atom) == "distinct" for lit in pushes + tests)
        if wrong or len(pushes) != (before != after):
            return None
        if any(len(arguments_of(test.atom)) != 1 or not _flat(test.atom) for test in tests):
            return None
        if any(len(set(arguments_of(p.atom))) != 3 or not _flat(p.atom) for p in pushes):
            return None
        return cls(
            clause,
            calls[0].atom if calls else None,
            pushes[0].atom if pushes else None,
            before,
            after,
            tuple(test.atom for test in tests),
        )

    @property
    def element(self) -> Term:
        """The variable that is pushed."""
        assert self.push is not None
        return next(a for a in arguments_of(self.push) if a not in (self.before, self.after))


def _single_variable(atom: Term, position: Mapping[Functor, int]) -> str | None:
    """The variable at an atom's history position, if it is one and occurs nowhere else in it."""
    term = arguments_of(atom)[position[functor_of(atom)]]
    if isinstance(term, str) and is_variable(term) and [*variables_of(atom)].count(term) == 1:
        return term
    return None


def _flat(atom: Term) -> bool:
    return all(isinstance(a, str) and is_variable(a) for a in arguments_of(atom))


@dataclass(frozen=True, slots=True)
class _PathHistory:
    """A family of relations, and the position of the history in each."""

    rules: Rules
    position: Mapping[Functor, int]
    steps: tuple[_Step, ...]
    pushing: _Step
    starts: frozenset[Term]
    """the constants that others call the family with"""

    @classmethod
    def of(cls, rules: Rules, position: Mapping[Functor, int]) -> _PathHistory | None:
        """None where the arguments at these positions are no history."""
        steps = []
        for clause in chain.from_iterable(rules[relation] for relation in position):
            step = _Step.of(clause, position)
            if step is None:
                return None
            steps.append(step)
        pushing = [step for step in steps if step.push is not None]
        starts = {
            arguments_of(literal.atom)[position[functor_of(literal.atom)]]
            for head, own in rules.items()
            if head not in position
            for clause in own
            for literal in clause.body
            if functor_of(literal.atom) in position
        }
        if len(pushing) != 1 or not all(isinstance(s, str) and s[0] != "?" for s in starts):
            return None
        return cls(rules, position, tuple(steps), pushing[0], frozenset(starts))

    def forgotten(self, clause: Clause) -> Clause:
        """The clause without the history."""
        drop: set[Term] = set()
        for step in self.steps:
            if step.clause is clause:
                drop = {*step.tests, *([step.push] if step.push else [])}
        body = (Literal(p, self._shortened(atom)) for p, atom in clause.body if atom not in drop)
        return Clause(self._shortened(clause.head), tuple(body))

    def _shortened(self, atom: Term) -> Term:
        where = self.position.get(functor_of(atom))
        if where is None:
            return atom
        kept = [a for i, a in enumerate(arguments_of(atom)) if i != where]
        return (name_of(atom), *kept) if kept else name_of(atom)

    def makes_no_difference(self) -> bool:
        """Whether the conditions 2 and 3 hold (see the module's text)."""
        try:
            elements = self._elements()
            return bool(elements) and self._all_alike(elements) and self._can_push(elements)
        except GroundingError:
            return False

    def _changing(self) -> set[Term]:
        """The arguments of the pushing rule's head that may differ from one call to the next."""
        head = self.pushing.clause.head
        steady = set(range(len(arguments_of(head)))) - set(self.position.values())
        for step in self.steps:
            if step.call is not None:
                pairs = zip(arguments_of(step.clause.head), arguments_of(step.call), strict=False)
                same = {i for i, (a, b) in enumerate(pairs) if a == b and isinstance(a, str)}
                steady &= {i for i in same if is_variable(arguments_of(step.call)[i])}
        history = self.position[functor_of(head)]
        return {a for i, a in enumerate(arguments_of(head)) if i not in steady and i != history}

    def _elements(self) -> list[str]:
        """What can be pushed, where it determines the changing arguments; else nothing."""
        element, changing = self.pushing.element, self._changing()
        if not all(isinstance(a, str) and is_variable(a) for a in changing):
            return []
        for positive, atom in self.pushing.clause.body:
            arguments = arguments_of(atom)
            if positive and changing | {element} <= set(arguments) and self._static([atom]):
                rows = self._solve([], [functor_of(atom)])[functor_of(atom)]
                columns = [i for i, a in enumerate(arguments) if a in changing]
                found: dict[Term, tuple[Term, ...]] = {}
                for row in rows:
                    pushed = row[arguments.index(element)]
                    key = tuple(row[i] for i in columns)
                    if not isinstance(pushed, str) or found.setdefault(pushed, key) != key:
                        return []
                return sorted(map(str, found))
        return []

    def _closure(self, atoms: Iterable[Term]) -> dict[Functor, Sequence[Clause]]:
        """The rules of what these atoms depend on."""
        found: dict[Functor, Sequence[Clause]] = {}
        waiting = list(map(functor_of, atoms))
        while waiting:
            relation = waiting.pop()
            if relation not in found:
                found[relation] = self.rules.get(relation, ())
                waiting += [functor_of(lit.atom) for c in found[relation] for lit in c.body]
        return found

    def _static(self, atoms: Iterable[Term]) -> bool:
        """Whether these atoms depend neither on the state nor on the family."""
        return not any(
            relation in self.position or relation[0] in CURRENT_STATE
            for relation in self._closure(atoms)
        )

    def _looks(self) -> list[Term]:
        """The atoms that look at the history: pushes and tests."""
        assert self.pushing.push is not None
        return [self.pushing.push, *(test for step in self.steps for test in step.tests)]

    def _all_alike(self, elements: list[str]) -> bool:
        """Whether any two elements can be exchanged in the rules of push and tests."""
        if not self._static(self._looks()) or self.starts & set(elements):
            return False
        clauses = frozenset(chain.from_iterable(self._closure(self._looks()).values()))
        return all(
            frozenset(Clause(_swapped(c.head, a, b), _swapped_body(c, a, b)) for c in clauses)
            == clauses
            for a, b in pairwise(elements)
        )

    def _can_push(self, elements: list[str]) -> bool:
        """Whether all elements can be pushed on each start, and the tests hold all the time."""
        push = self.pushing.push
        assert push is not None
        tests = {name_of(test) for step in self.steps for test in step.tests}
        clauses = []
        for start in self.starts:
            for number in range(len(elements) + 1):
                body = [Literal(True, (test, "?after")) for test in sorted(tests)]
                if number:
                    meaning = {
                        self.pushing.element: elements[number - 1],
                        self.pushing.before: "?before",
                        self.pushing.after: "?after",
                    }
                    added = (name_of(push), *(meaning[a] for a in arguments_of(push)))
                    pushed = ("pushed", str(number - 1), start, "?before")
                    body = [Literal(True, pushed), Literal(True, added), *body]
                    clauses.append(Clause(("pushed", str(number), start, "?after"), tuple(body)))
                else:
                    body = [Literal(True, (test, start)) for test in sorted(tests)]
                    clauses.append(Clause(("pushed", "0", start, start), tuple(body)))
        done = self._solve(clauses, [("pushed", 3)], self._looks())["pushed", 3]
        return {row[1] for row in done if row[0] == str(len(elements))} == self.starts

    def _solve(
        self,
        clauses: Sequence[Clause],
        relations: Sequence[Functor],
        atoms: Iterable[Term] = (),
    ) -> dict[Functor, list[tuple[Term, ...]]]:
        """The atoms of some static relations; raises `GroundingError` if that takes much work."""
        needed = self._closure([*atoms, *((name, *"x" * arity) for name, arity in relations)])
        program = [*clauses, *chain.from_iterable(needed.values())]
        asked = [name for name, _ in relations]
        work = Instantiation(list(with_magic_sets(program, asked)), [], MEMORY)
        for slices, _ in enumerate(work.run()):
            if slices > MOST_SLICES:
                raise GroundingError("this proof takes too long")
        atoms_of = work.result(relations).atoms
        return {relation: [row for row, *_ in atoms_of[relation]] for relation in relations}


def _swapped(term: Term, left: str, right: str) -> Term:
    if isinstance(term, tuple):
        return (term[0], *(_swapped(argument, left, right) for argument in term[1:]))
    return {left: right, right: left}.get(term, term)


def _swapped_body(clause: Clause, left: str, right: str) -> tuple[Literal, ...]:
    return tuple(Literal(lit.positive, _swapped(lit.atom, left, right)) for lit in clause.body)
