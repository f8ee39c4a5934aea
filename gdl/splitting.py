"""Splits long rule bodies so that grounding joins fewer variables at a time.

Grounding a rule costs up to (constants)^(variables).  A variable that is not in the head can be
dealt with apart: the literals that mention it move to an auxiliary relation over their other
variables, which is bucket elimination along a tree decomposition of the rule's variables (the idea
of M. Bichler, M. Morak, S. Woltran, "lpopt: A Rule Optimization Tool for Answer Set Programming",
2016).  A split is made only where both new rules have fewer variables than the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gdl.rules import ANONYMOUS, Clause, Literal, Term, is_variable, name_of, variables_of

AUXILIARY = "aux "
"""Prefix of auxiliary relations; no sheet can write the space."""


def split_clauses(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """The same relations with long bodies split; equal auxiliary bodies share one relation."""
    known: dict[object, Term] = {}
    for clause in clauses:
        yield from _split(clause, known)


def _split(clause: Clause, known: dict[object, Term]) -> Iterator[Clause]:
    body = list(clause.body)
    while (bucket := _cheapest_bucket(clause.head, body)) is not None:
        # what speaks of nothing else narrows the bucket down, too
        scope = set(_all_variables(bucket))
        moved = [lit for lit in body if lit in bucket or scope >= _variables(lit) > set()]
        if len(moved) == len(body):
            break
        rest = [literal for literal in body if literal not in moved]
        outside = set(variables_of(clause.head)).union(*map(_variables, rest))
        kept = tuple(v for v in dict.fromkeys(_all_variables(moved)) if v in outside)
        new_body = (*moved, *_binders(moved, rest))
        key = _canonical(kept, new_body)
        if key not in known:
            name = f"{AUXILIARY}{len(known)}"
            known[key] = name
            yield Clause(_atom(name, kept), new_body)
        body = [*rest, Literal(True, _atom(str(known[key]), kept))]
    yield Clause(clause.head, tuple(body))


def _atom(name: str, arguments: tuple[str, ...]) -> Term:
    return (name, *arguments) if arguments else name


def _variables(literal: Literal) -> set[str]:
    return set(variables_of(literal.atom))


def _all_variables(literals: Iterable[Literal]) -> Iterator[str]:
    for literal in literals:
        yield from variables_of(literal.atom)


def _cheapest_bucket(head: Term, body: list[Literal]) -> list[Literal] | None:
    """The literals of the variable whose bucket spans the fewest variables; None: no split pays."""
    fixed = set(variables_of(head))
    everything = fixed.union(*map(_variables, body))
    best, best_size = None, len(everything)
    for variable in sorted(everything - fixed):
        bucket = [literal for literal in body if variable in _variables(literal)]
        size = len(set(_all_variables(bucket)))
        if len(bucket) < len(body) and size < best_size and _can_stand_alone(bucket):
            best, best_size = bucket, size
    return best


def _is_binding(literal: Literal) -> bool:
    return literal.positive and name_of(literal.atom) != "distinct"


def _can_stand_alone(bucket: list[Literal]) -> bool:
    """A bucket needs a positive literal; of tests alone nothing would be gained."""
    return any(map(_is_binding, bucket))


def _binders(moved: list[Literal], rest: list[Literal]) -> Iterator[Literal]:
    """Copies of positive literals of `rest` that bind what only tests in `moved` mention."""
    bound = set(_all_variables(filter(_is_binding, moved)))
    for variable in dict.fromkeys(_all_variables(moved)):
        if variable not in bound:
            binder = min(
                (lit for lit in rest if _is_binding(lit) and variable in _variables(lit)),
                key=lambda literal: len(_variables(literal)),
                default=None,
            )
            if binder is not None:
                wanted = set(_all_variables(moved))
                yield Literal(True, _hide(binder.atom, wanted, bound))


def _hide(term: Term, wanted: set[str], bound: set[str]) -> Term:
    """The term with variables that nobody wants made anonymous; the wanted ones become bound."""
    if isinstance(term, tuple):
        return (term[0], *(_hide(argument, wanted, bound) for argument in term[1:]))
    if not is_variable(term):
        return term
    if term not in wanted:
        return ANONYMOUS
    bound.add(term)
    return term


def _canonical(kept: tuple[str, ...], bucket: tuple[Literal, ...]) -> object:
    """The bucket with its variables numbered, so that equal ones are found."""
    numbers: dict[str, str] = {v: f"?{i}" for i, v in enumerate(kept)}

    def rename(term: Term) -> Term:
        if isinstance(term, tuple):
            return (term[0], *map(rename, term[1:]))
        if not is_variable(term) or term == ANONYMOUS:
            return term
        return numbers.setdefault(term, f"?{len(numbers)}")

    return (len(kept), tuple((positive, rename(atom)) for positive, atom in bucket))
