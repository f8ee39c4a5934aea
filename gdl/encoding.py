"""Names for other reasoners: GDL's any-character symbols as identifiers that logic programs share.

Symbol number k becomes the constant `ck`, the function `fk`, the relation `rk` or the variable
`Vk`; GDL's own relations keep their names.  What these print is read back with `decode`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from gdl.rules import ANONYMOUS, Clause, Literal, Term, arguments_of, is_variable, name_of

KEYWORD_RELATIONS = ("role", "init", "true", "next", "does", "legal", "goal", "terminal")

_TOKEN = re.compile(r"[a-z]\w*\(?|\)")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a language writes negation and (in)equality of terms."""

    negation: str
    different: str
    equal: str


PROLOG = Dialect("\\+ ", "\\==", "==")


class Encoder:
    """Numbers symbols as they come; one encoder per program."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._numbers: dict[str, int] = {}
        self._symbols: list[str] = []

    def _number(self, symbol: str) -> int:
        number = self._numbers.setdefault(symbol, len(self._symbols))
        if number == len(self._symbols):
            self._symbols.append(symbol)
        return number

    def term(self, term: Term) -> str:
        """A term."""
        if isinstance(term, tuple):
            inner = ",".join(self.term(argument) for argument in term[1:])
            return f"f{self._number(name_of(term))}({inner})"
        if is_variable(term):
            return "_" if term == ANONYMOUS else f"V{self._number(term)}"
        return f"c{self._number(term)}"

    def relation(self, name: str) -> str:
        """A relation's name."""
        return name if name in KEYWORD_RELATIONS else f"r{self._number(name)}"

    def atom(self, atom: Term) -> str:
        """An atom: a relation applied to terms."""
        arguments = arguments_of(atom)
        name = self.relation(name_of(atom))
        return f"{name}({','.join(map(self.term, arguments))})" if arguments else name

    def literal(self, literal: Literal) -> str:
        """An atom, its negation, or a comparison of two terms."""
        positive, atom = literal
        if name_of(atom) == "distinct":
            left, right = map(self.term, arguments_of(atom))
            sign = self._dialect.different if positive else self._dialect.equal
            return f"{left} {sign} {right}"
        return self.atom(atom) if positive else f"{self._dialect.negation}{self.atom(atom)}"

    def clause(self, clause: Clause) -> str:
        """A rule or fact, with its full stop."""
        head = self.atom(clause.head)
        if not clause.body:
            return f"{head}."
        return f"{head} :- {', '.join(map(self.literal, clause.body))}."

    def decode(self, names: Iterable[str]) -> list[Term]:
        """Printed atoms or terms (no spaces in them) as terms; by way of JSON, which is fast."""

        def token(match: re.Match[str]) -> str:
            word = match.group()
            if word == ")":
                return "]"
            name = word.rstrip("(")
            symbol = self._symbols[int(name[1:])] if name[1:].isdigit() else name
            return f"[{json.dumps(symbol)}" if word[-1] == "(" else json.dumps(symbol)

        texts = (_TOKEN.sub(token, name.replace("(", "(,")) for name in names)
        return [_tuples(item) for item in json.loads(f"[{','.join(texts)}]")]


def _tuples(item: str | list[object]) -> Term:
    return item if isinstance(item, str) else tuple(map(_tuples, item))  # type: ignore[arg-type]
