"""Fourth pass: names.  Slips of typing show in arities, in words without a use, in capitals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from gdl.kif import Expression, Node, Symbol
from gdl.rules import Term, arguments_of, is_variable, name_of
from gdl.validation.findings import Report
from gdl.validation.statements import KEYWORDS, Statement, first_word, symbols_of

_GOAL_VALUES = frozenset(map(str, range(101)))


def check_names(nodes: Iterable[Node], statements: Sequence[Statement], report: Report) -> None:
    """Check all uses of each name against one another."""
    relations: dict[str, list[tuple[Symbol, int]]] = defaultdict(list)
    functions: dict[str, list[tuple[Symbol, int]]] = defaultdict(list)
    for atom in (atom for statement in statements for atom in statement.atoms()):
        relations[atom.name].append((atom.word, len(atom.argument_nodes)))
        for word, arity in _functions_in(atom.argument_nodes):
            functions[word.text.lower()].append((word, arity))
    for name, uses in relations.items():
        if name not in KEYWORDS:
            _check_arity("relation", uses, report)
            if name in functions:
                word = functions[name][0][0]
                message = f"'{word.text}' is a function here, and a relation elsewhere"
                report.add("function-and-relation", word.offset, message)
    for uses in functions.values():
        _check_arity("function", uses, report)
    _check_definitions(statements, report)
    _check_produced("fluent", ("init", "next"), "true", statements, report)
    _check_produced("move", ("legal",), "does", statements, report)
    _check_roles(statements, report)
    _check_goals(statements, report)
    _check_capitals(nodes, report)


def _functions_in(nodes: Iterable[Node]) -> Iterator[tuple[Symbol, int]]:
    """The function names in terms, each with its number of arguments."""
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Expression):
            word = first_word(node)
            if word is not None and len(node) > 1:
                yield word, len(node) - 1
            waiting += node.items[1:]


def _check_arity(kind: str, uses: Sequence[tuple[Symbol, int]], report: Report) -> None:
    """One finding for each number of arguments but the most usual one."""
    counts = Counter(arity for _, arity in uses)
    if len(counts) == 1:
        return
    usual = counts.most_common(1)[0][0]
    example = next(word for word, arity in uses if arity == usual)
    line = report.source.location(example.offset).line
    for arity in set(counts) - {usual}:
        word = next(word for word, number in uses if number == arity)
        message = f"the {kind} '{word.text}' has {arity} arguments here, but {usual} in line {line}"
        report.add("arity-differs", word.offset, message)


def _check_definitions(statements: Iterable[Statement], report: Report) -> None:
    """Relations that are used and not defined, or defined and not used by others."""
    defined: dict[str, Symbol] = {}
    used: dict[str, Symbol] = {}
    used_by_others: set[str] = set()
    for statement in statements:
        if statement.head is not None:
            defined.setdefault(statement.head.name, statement.head.word)
        for literal in statement.literals:
            used.setdefault(literal.name, literal.word)
            if statement.head is None or statement.head.name != literal.name:
                used_by_others.add(literal.name)
    for name, word in used.items():
        if name not in defined and name not in KEYWORDS:
            message = f"nothing defines '{word.text}', so that it is always false"
            report.add_unknown("undefined-relation", word, message, defined)
    for name, word in defined.items():
        if name not in used_by_others and name not in KEYWORDS and name != "sees":
            report.add("unused-relation", word.offset, f"nothing uses '{word.text}'")


def _check_produced(
    kind: str,
    producers: Collection[str],
    consumer: str,
    statements: Sequence[Statement],
    report: Report,
) -> None:
    """Fluents that are asked for but never come true, moves asked for but never legal."""
    known: set[tuple[str, int]] = set()
    for head in (statement.head for statement in statements):
        if head is not None and head.name in producers:
            last = arguments_of(head.atom)[-1:]
            if not last or is_variable(last[0]):
                return  # broken, or anything at all
            known.add((name_of(last[0]), len(arguments_of(last[0]))))
    names = {name for name, _ in known}
    for literal in (literal for statement in statements for literal in statement.literals):
        if literal.name != consumer or not arguments_of(literal.atom):
            continue
        term, word = arguments_of(literal.atom)[-1], first_word(literal.argument_nodes[-1])
        form = (name_of(term), len(arguments_of(term)))
        if word is not None and not is_variable(term) and form not in known:
            known.add(form)  # one finding for each
            count = f" with {form[1]} arguments" if form[0] in names else ""
            never = "comes true" if kind == "fluent" else "is legal"
            message = f"the {kind} '{word.text}'{count} never {never}"
            report.add_unknown(f"undefined-{kind}", word, message, names - {form[0]})


def _check_roles(statements: Sequence[Statement], report: Report) -> None:
    roles: set[Term] = set()
    for statement in statements:
        head = statement.head
        if head is not None and head.name == "role":
            if statement.is_rule or not statement.complete:
                return
            roles.add(arguments_of(head.atom)[0])
            if arguments_of(head.atom) == ("random",):
                message = "the role 'random' chooses among its legal moves with equal chances"
                report.add("random-role", head.argument_nodes[0].offset, message)
    known = [str(role) for role in roles]
    for atom in (atom for statement in statements for atom in statement.atoms()):
        if roles and atom.name in ("legal", "does", "goal", "input") and arguments_of(atom.atom):
            term, word = arguments_of(atom.atom)[0], first_word(atom.argument_nodes[0])
            if word is not None and not is_variable(term) and term not in roles:
                roles.add(term)
                message = f"'{word.text}' is no role"
                report.add_unknown("unknown-role", word, message, known)


def _check_goals(statements: Iterable[Statement], report: Report) -> None:
    for head in (statement.head for statement in statements):
        if head is not None and head.name == "goal" and arguments_of(head.atom):
            value, node = arguments_of(head.atom)[1], head.argument_nodes[1]
            if is_variable(value):
                continue
            if not isinstance(value, str) or value not in _GOAL_VALUES:
                text = report.source.text[node.offset : node.end]
                message = f"the goal value {text} is not an integer from 0 to 100"
                report.add("goal-value", node.offset, message)


def _check_capitals(nodes: Iterable[Node], report: Report) -> None:
    """One finding for each other spelling of a name, and of a variable within its rule."""
    first: dict[str, Symbol] = {}
    reported: set[str] = set()
    for node in nodes:
        variables: dict[str, Symbol] = {}
        for symbol in symbols_of(node):
            known = variables if symbol.text[0] == "?" else first
            earlier = known.setdefault(symbol.text.lower(), symbol)
            if earlier.text != symbol.text and (known is variables or symbol.text not in reported):
                reported.add(symbol.text)
                line = report.source.location(earlier.offset).line
                message = f"'{symbol.text}' is '{earlier.text}' in line {line}: the same to GDL"
                report.add("inconsistent-capitals", symbol.offset, message)
