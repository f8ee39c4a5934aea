"""What is wrong, or odd, in a rule sheet: `check_rules` finds everything in a text at once.

An *error* violates the GDL specification so that the rules are meaningless or reasoners differ on
them.  A *warning* is a likely slip, or a liberty that public sheets take and that we play anyway.
`ERRORS` and `WARNINGS` name all of them.

Four passes, each over what the one before it understood: structure (lists, connectives, keywords),
variables (facts, safety), dependencies between relations (negation, recursion, what must not
depend on the state or on moves), names (arities, typing errors).  A broken part of a rule is left
out of the later passes, so that one slip is not reported in many guises.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal as OneOf
from typing import TypeVar

from gdl.errors import KifSyntaxError, Location
from gdl.kif import Expression, Node, Source, Symbol, read
from gdl.rules import (
    CONNECTIVES,
    Spelling,
    Term,
    arguments_of,
    is_variable,
    name_of,
    term_from,
    variables_of,
)

Severity = OneOf["error", "warning"]

ERRORS = {
    "syntax": "check the parentheses.",
    "no-rules": "is it the right file?",
    "missing-role": "add (role NAME) facts; a game needs at least one role.",
    "missing-legal": "add rules for (legal ROLE MOVE); in every state each role needs a move.",
    "missing-goal": "add rules for (goal ROLE VALUE); the values are 0 to 100.",
    "missing-terminal": "add rules for terminal; they say when a match ends.",
    "empty-list": "write a name inside, or remove it.",
    "list-without-name": "remove a pair of parentheses, or write what the list is: '(and', say.",
    "rule-without-head": "write (<= head literal ...), or remove it.",
    "stray-symbol": "is a '(' missing before it? The top level holds only facts and rules.",
    "misplaced-connective": "is a ')' missing before it, or a '(' right in front of it?",
    "connective-outside-body": "it joins the literals of a body; is a parenthesis misplaced?",
    "connective-arity": "check the parentheses.",
    "variable-as-formula": "put it into a relation: (true ?fluent), say.",
    "variable-as-name": "GDL has no variables for relations and functions; write a name.",
    "keyword-arity": "check the parentheses.",
    "keyword-as-function": "choose another name, or check the parentheses.",
    "keyword-in-head": "define legal, init or next instead.",
    "keyword-in-body": "define a relation of your own by the same rules and use it in both places.",
    "variable-in-fact": "make it a rule whose body says what the variable ranges over.",
    "unsafe-variable": "add a positive literal to the body that says what it ranges over.",
    "negation-in-cycle": "break the cycle: what is negated must be settled before it is used.",
    "endless-recursion": "add a positive literal outside the recursion that bounds this term.",
    "depends-on-true": "it must not: it is needed before there is a state.",
    "depends-on-does": "it must not: it is needed before there is a move.",
}
"""Code → what to do."""

WARNINGS = {
    "role-by-rule": "write (role NAME) facts; other tools refuse it, and the order is unclear.",
    "recursion-restriction": "other tools may refuse it; add a literal that bounds the argument.",
    "negation-by-cases": "other tools may refuse it; put a relation of your own in between.",
    "empty-body": "write it as a fact, without '<=', or add the body.",
    "empty-and": "give it operands, or remove it.",
    "empty-or": "give it operands, or remove it.",
    "nested-or": "make it one 'or', or give the inner one a relation of its own.",
    "arity-differs": "is an argument missing, or one too many? Else use two names.",
    "unused-relation": "remove it, unless it is there for readers.",
    "undefined-relation": "add facts or rules for it, or correct the name.",
    "undefined-fluent": "add it to init or next, or correct it.",
    "undefined-move": "add it to legal, or correct it.",
    "unknown-role": "add it as a (role NAME) fact, or correct it.",
    "function-and-relation": "it works, but is easy to misread; some tools mix them up.",
    "keyword-as-constant": "it works, but is easy to misread; choose another name.",
    "inconsistent-capitals": "spell it the same everywhere: GDL ignores case, some tools do not.",
    "goal-value": "use integers from 0 to 100.",
    "random-role": "by convention it is played by chance; rename it if a player should play it.",
}
"""Code → what to do."""

_ADVICE = ERRORS | WARNINGS

MAX_FINDINGS = 500
"""Findings of one code; more of them are left out."""

KEYWORDS = {
    "role": "(role NAME)",
    "init": "(init FLUENT)",
    "true": "(true FLUENT)",
    "next": "(next FLUENT)",
    "does": "(does ROLE MOVE)",
    "legal": "(legal ROLE MOVE)",
    "goal": "(goal ROLE VALUE)",
    "terminal": "terminal",
    "base": "(base FLUENT)",
    "input": "(input ROLE MOVE)",
}
"""GDL's relations and their form."""

_NOT_IN_BODIES = frozenset({"init", "next", "base", "input"})
_NOT_IN_HEADS = frozenset({"true", "does"})
_INDEPENDENT = {
    "true": frozenset({"role", "init", "base", "input"}),
    "does": frozenset({"role", "init", "base", "input", "legal", "goal", "terminal"}),
}
"""What must not depend on the state, and on the moves."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or odd in a rule sheet, where it is, and what to do about it."""

    severity: Severity
    code: str
    """stable, for programs: `unsafe-variable`"""
    message: str
    location: Location
    advice: str
    excerpt: str
    """the line of the text and, below it, a caret under the place; long lines are cut"""

    def render(self) -> str:
        """As lines for a person: place and message, excerpt, advice."""
        excerpt = [f"    {line}" for line in self.excerpt.split("\n")]
        first = f"{self.location}: {self.severity}: {self.message} [{self.code}]"
        return "\n".join((first, *excerpt, f"  {self.advice}"))

    def as_json(self) -> dict[str, str | int]:
        """As an object for programs."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "file": self.location.source,
            "line": self.location.line,
            "column": self.location.column,
            "advice": self.advice,
            "excerpt": self.excerpt,
        }


def check_rules(text: str, name: str = "<text>") -> list[Finding]:
    """Everything that is wrong or odd in a rule sheet's text, in the order of its places."""
    source = Source(text.removeprefix("\ufeff"), name)
    report = _Report(source)
    try:
        nodes = read(source)
    except KifSyntaxError as error:
        _report_syntax(error, report)
        return report.findings()
    if not nodes:
        report.add("no-rules", 0, "there are no rules in it")
        return report.findings()
    read_ones = [_StatementReader(report).read(node) for node in nodes]
    statements = [statement for statement in read_ones if statement is not None]
    _check_required(statements, report)
    for statement in statements:
        if statement.complete and statement.head is not None:
            _check_variables(statement.head, statement, report)
    _check_dependencies(statements, report)
    _check_names(nodes, statements, report)
    return report.findings()


# ---------------------------------------------------------------------------------- reporting

_BEFORE, _WIDTH = 60, 110
_LINE = re.compile(r"[^\r\n]*")
_STATEMENT_START = re.compile(r"^\(", re.MULTILINE)
_SUGGESTIONS, _SUGGESTED_FROM = 50, 1000
"""How often to look for the word that was meant, and among how many at most: it is slow."""


class _Report:
    """Collects findings with their offsets."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.spelling = Spelling()
        self._counts: Counter[str] = Counter()
        self._found: list[tuple[int, Finding]] = []
        self._suggestions = _SUGGESTIONS

    def add(self, code: str, offset: int, message: str, advice: str | None = None) -> None:
        """Note a finding at an offset; without `advice` it gets the one that its code has."""
        self._counts[code] += 1
        if self._counts[code] > MAX_FINDINGS:
            return
        severity: Severity = "error" if code in ERRORS else "warning"
        advice = advice or _ADVICE[code]
        location = self.source.location(offset)
        excerpt = _excerpt(self.source.text, offset, location.column)
        advice = advice[0].upper() + advice[1:]
        self._found.append((offset, Finding(severity, code, message, location, advice, excerpt)))

    def add_unknown(self, code: str, word: Symbol, message: str, known: Collection[str]) -> None:
        """Note a word that may be a misspelling of one that is known."""
        advice = None
        if self._suggestions and len(known) <= _SUGGESTED_FROM:
            self._suggestions -= 1
            for close in get_close_matches(word.text.lower(), known, 1, 0.75):
                advice = f"did you mean '{self.spelling.write(close)}'? Else {_ADVICE[code]}"
        self.add(code, word.offset, message, advice)

    def findings(self) -> list[Finding]:
        """In the order of the text."""
        return [finding for _, finding in sorted(self._found, key=lambda found: found[0])]


def _excerpt(text: str, offset: int, column: int) -> str:
    """The line and a caret; of a long line (a sheet sent by a manager is one) what is near."""
    cut = column > _WIDTH
    start = offset - (_BEFORE if cut else column - 1)
    match = _LINE.match(text, start, start + _WIDTH)
    raw = match.group() if match else ""
    line = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in raw)
    before = ("... " if cut else "") + line[: offset - start].expandtabs(4)
    after = line[offset - start :].expandtabs(4).rstrip()
    if text[start + len(raw) : start + len(raw) + 1] not in ("", "\r", "\n"):
        after += " ..."
    return f"{before}{after}\n{' ' * len(before)}^"


def _report_syntax(error: KifSyntaxError, report: _Report) -> None:
    source, location = report.source, error.location
    assert location is not None, "the reader locates all its errors"
    offset = source.offset(location)
    message, _, advice = str(error).removeprefix(f"{location}: ").partition("; ")
    following = _STATEMENT_START.search(source.text, offset + 1)
    if advice and following and source.text[offset] == "(":
        advice += f", probably before line {source.location(following.start()).line}"
    report.add("syntax", offset, message, advice and f"{advice}.")


# ---------------------------------------------------------------------------------- structure


@dataclass(frozen=True, slots=True)
class _Literal:
    positive: bool
    name: str
    atom: Term
    """just the name where the arguments can't be understood"""
    node: Node
    word: Symbol
    """the name as it stands in the text"""

    @property
    def argument_nodes(self) -> tuple[Node, ...]:
        return self.node.items[1:] if isinstance(self.node, Expression) else ()


@dataclass(frozen=True, slots=True)
class _Group:
    every: bool
    """whether all parts have to hold, or one"""
    parts: tuple[_Formula, ...]


_Formula = _Literal | _Group
"""What a body says, with negation only in front of atoms."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A rule or fact as far as it is understood."""

    head: _Literal | None
    body: _Group
    is_rule: bool
    complete: bool
    """whether nothing of it was left out"""

    literals: tuple[_Literal, ...]
    """those of the body but for `distinct`, left to right"""

    def atoms(self) -> Iterator[_Literal]:
        """Head and literals."""
        if self.head is not None:
            yield self.head
        yield from self.literals


def _literals_of(formula: _Formula) -> Iterator[_Literal]:
    if isinstance(formula, _Literal):
        yield formula
    else:
        for part in formula.parts:
            yield from _literals_of(part)


def _first_word(node: Node) -> Symbol | None:
    """The name of an atom or term, or the connective, where there is one."""
    if isinstance(node, Expression):
        return node.items[0] if node.items and isinstance(node.items[0], Symbol) else None
    return node


class _StatementReader:
    """Understands one top-level node and reports what is wrong with its structure."""

    def __init__(self, report: _Report) -> None:
        self._report = report
        self._complete = True

    def read(self, node: Node) -> _Statement | None:
        """The statement; None where there is nothing in it to work with."""
        word = _first_word(node)
        if isinstance(node, Symbol):
            if node.text[0] == "?" or node.text.lower() in CONNECTIVES | {"<="}:
                self._broken("stray-symbol", node, f"'{node.text}' stands alone")
                return None
        elif word is not None and word.text == "<=":
            return self._rule(node)
        head = self._head(node, is_rule=False)
        return _Statement(head, _Group(True, ()), False, self._complete, ())

    def _rule(self, node: Expression) -> _Statement | None:
        if len(node) == 1:
            self._broken("rule-without-head", node, "'(<=)' has no head")
            return None
        head = self._head(node.items[1], is_rule=True)
        if len(node) == 2:
            self._report.add("empty-body", node.offset, "a rule without a body always holds")
        body = self._group(True, node.items[2:], True, False)
        literals = tuple(x for x in _literals_of(body) if x.name != "distinct")
        return _Statement(head, body, True, self._complete, literals)

    def _broken(self, code: str, node: Node, message: str, advice: str | None = None) -> None:
        self._complete = False
        self._report.add(code, node.offset, message, advice)

    def _head(self, node: Node, is_rule: bool) -> _Literal | None:
        word = _first_word(node)
        if word is not None and word.text.lower() in CONNECTIVES | {"<="}:
            place = "head" if is_rule else "fact"
            message = f"'{word.text}' stands where a {place} must be"
            self._broken("connective-outside-body", word, message)
            return None
        head = self._atom(node, True)
        if head is not None and head.name in _NOT_IN_HEADS:
            message = f"'{head.word.text}' can't be defined: it is what play gives"
            self._report.add("keyword-in-head", head.word.offset, message)
        if head is not None and is_rule and head.name == "role":
            message = "roles are defined by a rule, where GDL wants facts"
            self._report.add("role-by-rule", head.word.offset, message)
        return head

    def _group(self, every: bool, nodes: Sequence[Node], positive: bool, in_or: bool) -> _Group:
        parts = [self._formula(node, positive, in_or) for node in nodes]
        return _Group(every, tuple(part for part in parts if part is not None))

    def _formula(self, node: Node, positive: bool, in_or: bool) -> _Formula | None:
        word = _first_word(node)
        name = "" if word is None else word.text.lower()
        if word is not None and (name == "<=" or (word is node and name in CONNECTIVES)):
            message = f"'{word.text}' stands where a literal must be"
            self._broken("misplaced-connective", word, message)
            return None
        if isinstance(node, Expression) and name in CONNECTIVES:
            return self._connective(node, name, positive, in_or)
        literal = self._atom(node, positive)
        if literal is not None and literal.name in _NOT_IN_BODIES:
            message = f"'{literal.word.text}' may stand in heads only"
            self._report.add("keyword-in-body", literal.word.offset, message)
        return literal

    def _connective(
        self, node: Expression, name: str, positive: bool, in_or: bool
    ) -> _Formula | None:
        operands = node.items[1:]
        if name in ("not", "distinct"):
            needed, number = ("one formula", 1) if name == "not" else ("two terms", 2)
            if len(operands) != number:
                message = f"'{name}' takes {needed}, not {len(operands)}"
                self._broken("connective-arity", node, message)
                return None
            if name == "not":
                return self._formula(operands[0], not positive, in_or)
            return self._atom(node, positive)
        if not operands:
            self._complete = False
            value = "true" if name == "and" else "false"
            self._report.add(f"empty-{name}", node.offset, f"'({name})' is always {value}")
        if name == "or" and in_or:
            message = "an 'or' inside another 'or', which some tools can't read"
            self._report.add("nested-or", node.offset, message)
        return self._group((name == "and") == positive, operands, positive, in_or or name == "or")

    def _atom(self, node: Node, positive: bool) -> _Literal | None:
        if isinstance(node, Symbol) and node.text[0] == "?":
            message = f"the variable {node.text} stands where a literal or a fact must be"
            self._broken("variable-as-formula", node, message)
            return None
        word = self._name(node)
        if word is None:
            return None
        name = word.text.lower()
        arguments = node.items[1:] if isinstance(node, Expression) else ()
        sound = self._terms_are_sound(arguments)
        form = KEYWORDS.get(name, "")
        if form and len(arguments) != form.count(" "):
            sound = False
            message = f"'{word.text}' has {len(arguments)} arguments, not {form.count(' ')}"
            self._broken("keyword-arity", word, message, f"check the parentheses: {form}.")
        report = self._report
        atom = term_from(node, report.source, report.spelling) if sound else name
        return _Literal(positive, name, atom, node, word)

    def _name(self, node: Node) -> Symbol | None:
        """The name with which an atom or term starts; None, and a finding, without one."""
        word = _first_word(node)
        if word is None:
            if isinstance(node, Expression) and node.items:
                self._broken("list-without-name", node, "a list starts with a list")
                return None
            self._broken("empty-list", node, "'()' means nothing")
            return None
        if word is not node and word.text[0] == "?":
            message = f"the variable {word.text} stands where a name must be"
            self._broken("variable-as-name", word, message)
            return None
        return word

    def _terms_are_sound(self, nodes: Iterable[Node]) -> bool:
        """Report what is wrong in terms; whether they can be understood."""
        sound, waiting = True, list(nodes)
        while waiting:
            node = waiting.pop()
            word = self._name(node)
            if word is None:
                sound = False
                continue
            name = word.text.lower()
            if name in KEYWORDS:
                kind = "function" if isinstance(node, Expression) and len(node) > 1 else "constant"
                message = f"the keyword '{word.text}' stands inside a term"
                self._report.add(f"keyword-as-{kind}", word.offset, message)
            elif isinstance(node, Expression) and name in CONNECTIVES | {"<="}:
                message = f"'{word.text}' stands inside a term"
                self._broken("connective-outside-body", word, message)
            if isinstance(node, Expression):
                waiting += node.items[1:]
        return sound


def _check_required(statements: Iterable[_Statement], report: _Report) -> None:
    defined = {statement.head.name for statement in statements if statement.head is not None}
    for name in ("role", "legal", "goal", "terminal"):
        if name not in defined:
            report.add(f"missing-{name}", 0, f"no fact or rule defines '{name}'")


# ---------------------------------------------------------------------------------- variables

_Provider = Callable[[_Literal], frozenset[Term]]


def _bound_variables(literal: _Literal) -> frozenset[Term]:
    """The variables to which a literal gives values."""
    if not literal.positive or literal.name == "distinct":
        return frozenset()
    return frozenset(variables_of(literal.atom))


def _provided(formula: _Formula, provider: _Provider) -> frozenset[Term]:
    """What the literals of a formula provide in each conjunction of its disjunctive normal form."""
    if isinstance(formula, _Literal):
        return provider(formula)
    parts = [_provided(part, provider) for part in formula.parts]
    if formula.every:
        return frozenset[Term]().union(*parts)
    return parts[0].intersection(*parts[1:]) if parts else frozenset()


def _in_context(
    formula: _Formula, provider: _Provider, given: frozenset[Term] = frozenset()
) -> Iterator[tuple[_Literal, frozenset[Term]]]:
    """Every literal, with what is provided in each of the conjunctions that contain it."""
    if isinstance(formula, _Literal):
        yield formula, given
        return
    if formula.every:
        given |= _provided(formula, provider)
    for part in formula.parts:
        yield from _in_context(part, provider, given)


def _check_variables(head: _Literal, statement: _Statement, report: _Report) -> None:
    """Facts hold no variables; those of head, `not` and `distinct` need a positive literal."""
    if not statement.is_rule:
        for symbol in _variables_in(head.node, ()):
            message = f"the variable {symbol.text} in a fact"
            report.add("variable-in-fact", symbol.offset, message)
        return
    places = [("the head", head, _provided(statement.body, _bound_variables))]
    for literal, given in _in_context(statement.body, _bound_variables):
        if literal.name == "distinct" or not literal.positive:
            place = "'distinct'" if literal.name == "distinct" else "'not'"
            places.append((place, literal, given))
    somewhere = {variable for x in statement.literals for variable in _bound_variables(x)}
    reported: set[Term] = set()
    for place, literal, given in places:
        for symbol in _variables_in(literal.node, given | reported):
            reported.add(symbol.text.lower())
            where = " in every alternative" if symbol.text.lower() in somewhere else ""
            message = f"{symbol.text} of {place} stands in no positive literal{where}"
            known = [str(variable) for variable in given]
            report.add_unknown("unsafe-variable", symbol, message, known)


def _symbols_of(node: Node) -> Iterator[Symbol]:
    """All symbols of a node, left to right."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Symbol):
            yield current
        else:
            waiting.extend(reversed(current.items))


def _variables_in(node: Node, known: Collection[Term]) -> list[Symbol]:
    """The first symbol of each variable of a node that is not known."""
    first: dict[str, Symbol] = {}
    for symbol in _symbols_of(node):
        if symbol.text[0] == "?" and symbol.text.lower() not in known:
            first.setdefault(symbol.text.lower(), symbol)
    return list(first.values())


# ------------------------------------------------------------------------------- dependencies


_Rules = Sequence[tuple[_Literal, _Statement]]
"""Heads with their rules."""


def _check_dependencies(statements: Iterable[_Statement], report: _Report) -> None:
    rules = [(rule.head, rule) for rule in statements if rule.head is not None and rule.is_rule]
    graph: dict[str, set[str]] = {}
    for head, rule in rules:
        graph.setdefault(head.name, set()).update(literal.name for literal in rule.literals)
    component = _components(graph)
    cycles: dict[int, list[tuple[_Literal, _Statement]]] = defaultdict(list)
    for head, rule in rules:
        cycles[component[head.name]].append((head, rule))
    for number, own in cycles.items():

        def in_cycle(literal: _Literal, number: int = number) -> bool:
            return component.get(literal.name) == number

        _check_negation(own, in_cycle, report)
        for head, rule in own:
            if rule.complete:
                _check_recursion(head, rule, in_cycle, report)
    for target, dependents in _INDEPENDENT.items():
        _check_independence(target, dependents, rules, graph, report)


def _check_negation(rules: _Rules, in_cycle: Callable[[_Literal], bool], report: _Report) -> None:
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
    component = _components(uses)
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


_MOST_PAIRS = 1_000_000


def _may_match(literal: _Literal, head: _Literal) -> bool:
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


_Key = TypeVar("_Key", str, int)


def _components(graph: Mapping[_Key, Iterable[_Key]]) -> dict[_Key, int]:
    """Strongly connected components: node → number (Tarjan's algorithm, without recursion)."""
    index: dict[_Key, int] = {}
    low: dict[_Key, int] = {}
    component: dict[_Key, int] = {}
    unassigned: list[_Key] = []
    path: list[tuple[_Key, Iterator[_Key]]] = []

    def enter(node: _Key) -> None:
        index[node] = low[node] = len(index)
        unassigned.append(node)
        path.append((node, iter(graph.get(node, ()))))

    for root in graph:
        if root not in index:
            enter(root)
        while path:
            node, successors = path[-1]
            successor = next(successors, None)
            if successor is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    while node not in component:
                        component[unassigned.pop()] = index[node]
            elif successor not in index:
                enter(successor)
            elif successor not in component:
                low[node] = min(low[node], index[successor])
    return component


def _check_recursion(
    head: _Literal, rule: _Statement, in_cycle: Callable[[_Literal], bool], report: _Report
) -> None:
    """The specification's recursion restriction, which keeps terms from growing for ever.

    Each argument of a literal that is in a cycle with the head has to be ground, or an argument
    of the head, or an argument of a positive literal that is not in the cycle.  Public sheets
    violate it harmlessly (transitive closures), so it is an error only where terms do grow.
    """

    def outside_arguments(literal: _Literal) -> frozenset[Term]:
        outside = literal.positive and not in_cycle(literal)
        return frozenset(arguments_of(literal.atom)) if outside else frozenset()

    allowed = frozenset(arguments_of(head.atom))
    loose = [
        (literal, node)
        for literal, given in _in_context(rule.body, outside_arguments)
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
    head: _Literal, rule: _Statement, in_cycle: Callable[[_Literal], bool]
) -> Node | None:
    """The head's argument that wraps what comes from the recursion into one more function."""
    bound = _provided(rule.body, lambda x: frozenset() if in_cycle(x) else _bound_variables(x))
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
    rules: Iterable[tuple[_Literal, _Statement]],
    graph: Mapping[str, Iterable[str]],
    report: _Report,
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


# -------------------------------------------------------------------------------------- names


def _check_names(nodes: Iterable[Node], statements: Sequence[_Statement], report: _Report) -> None:
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
            word = _first_word(node)
            if word is not None and len(node) > 1:
                yield word, len(node) - 1
            waiting += node.items[1:]


def _check_arity(kind: str, uses: Sequence[tuple[Symbol, int]], report: _Report) -> None:
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


def _check_definitions(statements: Iterable[_Statement], report: _Report) -> None:
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
    statements: Sequence[_Statement],
    report: _Report,
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
        term, word = arguments_of(literal.atom)[-1], _first_word(literal.argument_nodes[-1])
        form = (name_of(term), len(arguments_of(term)))
        if word is not None and not is_variable(term) and form not in known:
            known.add(form)  # one finding for each
            count = f" with {form[1]} arguments" if form[0] in names else ""
            never = "comes true" if kind == "fluent" else "is legal"
            message = f"the {kind} '{word.text}'{count} never {never}"
            report.add_unknown(f"undefined-{kind}", word, message, names - {form[0]})


def _check_roles(statements: Sequence[_Statement], report: _Report) -> None:
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
            term, word = arguments_of(atom.atom)[0], _first_word(atom.argument_nodes[0])
            if word is not None and not is_variable(term) and term not in roles:
                roles.add(term)
                message = f"'{word.text}' is no role"
                report.add_unknown("unknown-role", word, message, known)


def _check_goals(statements: Iterable[_Statement], report: _Report) -> None:
    for head in (statement.head for statement in statements):
        if head is not None and head.name == "goal" and arguments_of(head.atom):
            value, node = arguments_of(head.atom)[1], head.argument_nodes[1]
            if is_variable(value):
                continue
            if not isinstance(value, str) or value not in _GOAL_VALUES:
                text = report.source.text[node.offset : node.end]
                message = f"the goal value {text} is not an integer from 0 to 100"
                report.add("goal-value", node.offset, message)


_GOAL_VALUES = frozenset(map(str, range(101)))


def _check_capitals(nodes: Iterable[Node], report: _Report) -> None:
    """One finding for each other spelling of a name, and of a variable within its rule."""
    first: dict[str, Symbol] = {}
    reported: set[str] = set()
    for node in nodes:
        variables: dict[str, Symbol] = {}
        for symbol in _symbols_of(node):
            known = variables if symbol.text[0] == "?" else first
            earlier = known.setdefault(symbol.text.lower(), symbol)
            if earlier.text != symbol.text and (known is variables or symbol.text not in reported):
                reported.add(symbol.text)
                line = report.source.location(earlier.offset).line
                message = f"'{symbol.text}' is '{earlier.text}' in line {line}: the same to GDL"
                report.add("inconsistent-capitals", symbol.offset, message)
