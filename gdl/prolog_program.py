"""A rule sheet as a program for SWI-Prolog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gdl.encoding import KEYWORD_RELATIONS, Encoder
from gdl.rules import Clause, Literal, RuleSheet, arguments_of, name_of, variables_of


def prolog_program(sheet: RuleSheet, encoder: Encoder, tabled: bool) -> Iterator[str]:
    """The rule sheet in Prolog, with the relations to table."""
    clauses = list(sheet.clauses())
    defined = {(name_of(c.head), len(arguments_of(c.head))) for c in clauses}
    used = {
        (name_of(atom), len(arguments_of(atom)))
        for clause in clauses
        for _, atom in clause.body
        if name_of(atom) != "distinct"
    }
    derived = {(name_of(c.head), len(arguments_of(c.head))) for c in clauses if c.body}
    recursive = _recursive(clauses)
    to_table = derived if tabled else recursive
    for name, arity in sorted(defined | used):
        indicator = f"{encoder.relation(name)}/{arity}"
        if (name, arity) in to_table:
            yield f":- table {indicator}."
        elif name not in KEYWORD_RELATIONS:
            yield f":- dynamic {indicator}."
        yield f":- discontiguous {indicator}."
    for clause in clauses:
        yield encoder.clause(Clause(clause.head, _runnable(clause.body, recursive)))


def _recursive(clauses: Iterable[Clause]) -> set[tuple[str, int]]:
    """Relations that depend on themselves."""
    uses: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for clause in clauses:
        own = uses.setdefault((name_of(clause.head), len(arguments_of(clause.head))), set())
        own |= {(name_of(atom), len(arguments_of(atom))) for _, atom in clause.body}

    def reaches_itself(relation: tuple[str, int]) -> bool:
        seen: set[tuple[str, int]] = set()
        waiting = list(uses[relation])
        while waiting:
            current = waiting.pop()
            if current == relation:
                return True
            if current not in seen:
                seen.add(current)
                waiting += uses.get(current, ())
        return False

    return {relation for relation in uses if reaches_itself(relation)}


def _runnable(body: tuple[Literal, ...], recursive: set[tuple[str, int]]) -> tuple[Literal, ...]:
    """The body with tests (`not`, `distinct`) behind the literals that bind their variables.

    Recursive calls that build terms come last, when what bounds the terms has been looked up.
    """

    def is_test(literal: Literal) -> bool:
        return not literal.positive or name_of(literal.atom) == "distinct"

    def builds_terms(literal: Literal) -> bool:
        arguments = arguments_of(literal.atom)
        return (name_of(literal.atom), len(arguments)) in recursive and any(
            isinstance(argument, tuple) and any(variables_of(argument)) for argument in arguments
        )

    body = tuple(sorted(body, key=builds_terms))
    tests = [literal for literal in body if is_test(literal)]
    bound: set[str] = set()
    ordered: list[Literal] = []
    for literal in (None, *(literal for literal in body if not is_test(literal))):
        if literal is not None:
            ordered.append(literal)
            bound.update(variables_of(literal.atom))
        ready = [test for test in tests if bound.issuperset(variables_of(test.atom))]
        ordered += ready
        tests = [test for test in tests if test not in ready]
    return (*ordered, *tests)
