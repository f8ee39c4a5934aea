"""First pass: what each list of the text is (lists, connectives, keywords)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gdl.kif import Expression, Node, Symbol
from gdl.rules import CONNECTIVES, term_from
from gdl.validation.findings import Report
from gdl.validation.statements import (
    KEYWORDS,
    Formula,
    Group,
    Literal,
    Statement,
    first_word,
    literals_of,
)

_NOT_IN_BODIES = frozenset({"init", "next", "base", "input"})
_NOT_IN_HEADS = frozenset({"true", "does"})


class StatementReader:
    """Understands one top-level node and reports what is wrong with its structure."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._complete = True

    def read(self, node: Node) -> Statement | None:
        """The statement; None where there is nothing in it to work with."""
        word = first_word(node)
        if isinstance(node, Symbol):
            if node.text[0] == "?" or node.text.lower() in CONNECTIVES | {"<="}:
                self._broken("stray-symbol", node, f"'{node.text}' stands alone")
                return None
        elif word is not None and word.text == "<=":
            return self._rule(node)
        head = self._head(node, is_rule=False)
        return Statement(head, Group(True, ()), False, self._complete, ())

    def _rule(self, node: Expression) -> Statement | None:
        if len(node) == 1:
            self._broken("rule-without-head", node, "'(<=)' has no head")
            return None
        head = self._head(node.items[1], is_rule=True)
        if len(node) == 2:
            self._report.add("empty-body", node.offset, "a rule without a body always holds")
        body = self._group(True, node.items[2:], True, False)
        literals = tuple(x for x in literals_of(body) if x.name != "distinct")
        return Statement(head, body, True, self._complete, literals)

    def _broken(self, code: str, node: Node, message: str, advice: str | None = None) -> None:
        self._complete = False
        self._report.add(code, node.offset, message, advice)

    def _head(self, node: Node, is_rule: bool) -> Literal | None:
        word = first_word(node)
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

    def _group(self, every: bool, nodes: Sequence[Node], positive: bool, in_or: bool) -> Group:
        parts = [self._formula(node, positive, in_or) for node in nodes]
        return Group(every, tuple(part for part in parts if part is not None))

    def _formula(self, node: Node, positive: bool, in_or: bool) -> Formula | None:
        word = first_word(node)
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
    ) -> Formula | None:
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

    def _atom(self, node: Node, positive: bool) -> Literal | None:
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
        return Literal(positive, name, atom, node, word)

    def _name(self, node: Node) -> Symbol | None:
        """The name with which an atom or term starts; None, and a finding, without one."""
        word = first_word(node)
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


def check_required(statements: Iterable[Statement], report: Report) -> None:
    """Every game has to define some of the keywords."""
    defined = {statement.head.name for statement in statements if statement.head is not None}
    for name in ("role", "legal", "goal", "terminal"):
        if name not in defined:
            report.add(f"missing-{name}", 0, f"no fact or rule defines '{name}'")
