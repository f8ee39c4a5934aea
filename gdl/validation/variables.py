"""Second pass: variables.  Facts hold none, and in rules each gets its values from the body."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from gdl.kif import Node, Symbol
from gdl.rules import Term, variables_of
from gdl.validation.findings import Report
from gdl.validation.statements import Formula, Literal, Statement, symbols_of

Provider = Callable[[Literal], frozenset[Term]]
"""What a literal provides to the conjunction that it stands in: values of variables, say."""


def check_variables(head: Literal, statement: Statement, report: Report) -> None:
    """Facts hold no variables; those of head, `not` and `distinct` need a positive literal."""
    if not statement.is_rule:
        for symbol in _variables_in(head.node, ()):
            message = f"the variable {symbol.text} in a fact"
            report.add("variable-in-fact", symbol.offset, message)
        return
    places = [("the head", head, provided(statement.body, bound_variables))]
    for literal, given in in_context(statement.body, bound_variables):
        if literal.name == "distinct" or not literal.positive:
            place = "'distinct'" if literal.name == "distinct" else "'not'"
            places.append((place, literal, given))
    somewhere = {variable for x in statement.literals for variable in bound_variables(x)}
    reported: set[Term] = set()
    for place, literal, given in places:
        for symbol in _variables_in(literal.node, given | reported):
            reported.add(symbol.text.lower())
            where = " in every alternative" if symbol.text.lower() in somewhere else ""
            message = f"{symbol.text} of {place} stands in no positive literal{where}"
            known = [str(variable) for variable in given]
            report.add_unknown("unsafe-variable", symbol, message, known)


def bound_variables(literal: Literal) -> frozenset[Term]:
    """The variables to which a literal gives values."""
    if not literal.positive or literal.name == "distinct":
        return frozenset()
    return frozenset(variables_of(literal.atom))


def provided(formula: Formula, provider: Provider) -> frozenset[Term]:
    """What the literals of a formula provide in each conjunction of its disjunctive normal form."""
    if isinstance(formula, Literal):
        return provider(formula)
    parts = [provided(part, provider) for part in formula.parts]
    if formula.every:
        return frozenset[Term]().union(*parts)
    return parts[0].intersection(*parts[1:]) if parts else frozenset()


def in_context(
    formula: Formula, provider: Provider, given: frozenset[Term] = frozenset()
) -> Iterator[tuple[Literal, frozenset[Term]]]:
    """Every literal, with what is provided in each of the conjunctions that contain it."""
    if isinstance(formula, Literal):
        yield formula, given
        return
    if formula.every:
        given |= provided(formula, provider)
    for part in formula.parts:
        yield from in_context(part, provider, given)


def _variables_in(node: Node, known: Collection[Term]) -> list[Symbol]:
    """The first symbol of each variable of a node that is not known."""
    first: dict[str, Symbol] = {}
    for symbol in symbols_of(node):
        if symbol.text[0] == "?" and symbol.text.lower() not in known:
            first.setdefault(symbol.text.lower(), symbol)
    return list(first.values())
