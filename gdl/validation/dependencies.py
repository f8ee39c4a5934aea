"""Third pass: what may not depend on what.

Relations must not depend on their own negation, nor grow terms for ever by recursion; and some
of the keywords must not depend on the state or on moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from gdl.graphs import components
from gdl.kif import Node
from gdl.rules import Term, arguments_of, is_variable, variables_of
from gdl.validation.findings import Report
from gdl.validation.statements import Literal, Statement
from gdl.validation.variables import bound_variables, in_context, provided

_INDEPENDENT = {
    "true": frozenset({"role", "init", "base", "input"}),
    "does": frozenset({"role", "init", "base", "input", "legal", "goal", "terminal"}),
}
"""What must not depend on the state, and on the moves."""

_MOST_PAIRS = 1_000_000
"""Pairs of a literal and a head to try in one cycle; above that all are taken to match."""

_Rules = Sequence[tuple[Literal, Statement]]
"""Heads with their rules."""

_Key = TypeVar("_Key", str, int)


def check_dependencies(statements: Iterable[Statement], report: Report) -> None:
    """Check each cycle of relations, and the independence of keywords."""
    rules = [(rule.head, rule) for rule in statements if rule.head is not None and rule.is_rule]
    graph: dict[str, set[str]] = {}
    for head, rule in rules:
        graph.setdefault(head.name, set()).update(literal.name for literal in rule.literals)
    component = components(graph)
    cycles: dict[int, list[tuple[Literal, Statement]]] = defaultdict(list)
    for head, rule in rules:
        cycles[component[head.name]].append((head, rule))
    for number, own in cycles.items():

        def in_cycle(literal: Literal, number: int = number) -> bool:
            return component.get(literal.name) == number

        _check_negation(own, in_cycle, report)
        for head, rule in own:
            if rule.complete:
                _check_recursion(head, rule, in_cycle, report)
    for target, dependents in _INDEPENDENT.items():
        _check_independence(target, dependents, rules, graph, report)


def _check_negation(rules: _Rules, in_cycle: Callable[[Literal], bool], report: Report) -> None:
    """No relation may depend on its own negation.

    Sheets do that with constants that keep the cases apart ("50 if the goal is neither 0 nor 100"):
    there it is a warning, an error where also the single rules form a cycle.
    """
    inside = [[x for x in rule.literals if in_cycle(x)] for _, rule in rules]
    negated = [(i, x) for i, literals in enumerate(inside) for x in literals if not x.positive]
    if not negated:
        return
    too_many = len(rules) * sum(map(len, inside)) > _MOST_PAIRS
    uses = (
        {}
        if too_many
        else {
            i: {j for x in literals for j, (head, _) in enumerate(rules) if _may_match(x, head)}
            for i, literals in enumerate(inside)
        }
    )
    component = components(uses)
    for i, literal in negated:
        partners = [j for j in uses.get(i, ()) if _may_match(literal, rules[j][0])]
        cyclic = too_many or any(component[j] == component[i] for j in partners)
        names = (report.spelling.write(rules[i][0].name), literal.word.text)
        if cyclic:
            message = "'{}' depends on its own negation by way of '{}'".format(*names)
            report.add("negation-in-cycle", literal.word.offset, message)
        else:
            message = "only constants keep '{}' from depending on its own negation".format(*names)
            report.add("negation-by-cases", literal.word.offset, message)


def _may_match(literal: Literal, head: Literal) -> bool:
    """Whether a rule with this head may matter to a literal."""
    if isinstance(literal.atom, str) or isinstance(head.atom, str):
        return literal.name == head.name
    return _may_unify(literal.atom, head.atom)


def _may_unify(left: Term, right: Term) -> bool:
    """Whether terms may have a common instance (each occurrence of a variable stands for any)."""
    if is_variable(left) or is_variable(right):
        return True
    if isinstance(left, str) or isinstance(right, str):
        return left == right
    return len(left) == len(right) and all(map(_may_unify, left, right))


def _check_recursion(
    head: Literal, rule: Statement, in_cycle: Callable[[Literal], bool], report: Report
) -> None:
    """The specification's recursion restriction, which keeps terms from growing for ever.

    Each argument of a literal that is in a cycle with the head has to be ground, or an argument
    of the head, or an argument of a positive literal that is not in the cycle.  Public sheets
    violate it harmlessly (transitive closures), so it is an error only where terms do grow.
    """

    def outside_arguments(literal: Literal) -> frozenset[Term]:
        outside = literal.positive and not in_cycle(literal)
        return frozenset(arguments_of(literal.atom)) if outside else frozenset()

    allowed = frozenset(arguments_of(head.atom))
    loose = [
        (literal, node)
        for literal, given in in_context(rule.body, outside_arguments)
        if in_cycle(literal)
        for node, argument in zip(literal.argument_nodes, arguments_of(literal.atom), strict=True)
        if argument not in allowed | given and any(variables_of(argument))
    ]
    if not loose:
        return
    growing = _growing_argument(head, rule, in_cycle)
    if growing is not None:
        message = f"the recursion of '{head.word.text}' builds ever larger terms"
        report.add("endless-recursion", growing.offset, message)
        return
    literal, node = loose[0]
    message = (
        f"this argument of the recursive '{literal.word.text}' is not ground, nor an argument of "
        "the head or of a literal outside the recursion"
    )
    report.add("recursion-restriction", node.offset, message)


def _growing_argument(
    head: Literal, rule: Statement, in_cycle: Callable[[Literal], bool]
) -> Node | None:
    """The head's argument that wraps what comes from the recursion into one more function."""
    bound = provided(rule.body, lambda x: frozenset() if in_cycle(x) else bound_variables(x))
    before: dict[str, int] = {}
    for literal in filter(in_cycle, rule.literals):
        for variable, depth in _depths(literal.atom):
            before[variable] = max(depth, before.get(variable, 0))
    for node, argument in zip(head.argument_nodes, arguments_of(head.atom), strict=True):
        for variable, depth in _depths(argument):
            if variable not in bound and depth + 1 > before.get(variable, depth + 1):
                return node
    return None


def _depths(term: Term, depth: int = 0) -> Iterator[tuple[str, int]]:
    """The variables of a term, each with the number of lists around it."""
    if isinstance(term, tuple):
        for argument in term[1:]:
            yield from _depths(argument, depth + 1)
    elif is_variable(term):
        yield term, depth


def _check_independence(
    target: str,
    dependents: Collection[str],
    rules: Iterable[tuple[Literal, Statement]],
    graph: Mapping[str, Iterable[str]],
    report: Report,
) -> None:
    """Report each rule that makes one of `dependents` depend on `target`, with the way there."""
    users: dict[str, list[str]] = defaultdict(list)
    for name, used in graph.items():
        for other in used:
            users[other].append(name)
    towards = {target: target}
    waiting = [target]
    for name in waiting:  # breadth first, so that the ways are short
        for user in users[name]:
            if user not in towards:
                towards[user] = name
                waiting.append(user)
    for head, rule in rules:
        literal = next((x for x in rule.literals if x.name in towards), None)
        if head.name in dependents and literal is not None:
            way = [head.name, literal.name]
            while way[-1] != target:
                way.append(towards[way[-1]])
            chain = " <= ".join(map(report.spelling.write, way))
            message = f"'{head.word.text}' depends on '{target}': {chain}"
            report.add(f"depends-on-{target}", literal.word.offset, message)
