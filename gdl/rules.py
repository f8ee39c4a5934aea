"""Terms, rules and rule sheets: what the KIF nodes of a game description mean.

A *term* is a string (a constant, or a variable when it starts with `?`) or a tuple of a name and
its arguments: `("cell", "1", "?y", "b")`.  Atoms and formulas are terms, too: `"terminal"`,
`("not", ("true", "?f"))`.  GDL's symbols are case-insensitive, so terms are kept in lower case and
`Spelling` remembers how the sheet wrote them; `(x)` and `x` are the same term.

GDL is specified in N. Love, T. Hinrichs, D. Haley, E. Schkufza, M. Genesereth, "General Game
Playing: Game Description Language Specification" (2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import NamedTuple, Union

from gdl.errors import GroundingError, Location, RuleSheetError
from gdl.kif import Expression, Node, Source, Symbol, read

Term = Union[str, tuple["Term", ...]]

CONNECTIVES = frozenset({"and", "or", "not", "distinct"})
ANONYMOUS = "? "
"""A variable of our own that stands for something else each time; no sheet can write the space."""
MAX_ALTERNATIVES = 4096
"""A body whose disjunctive normal form has more conjunctions than this is refused."""


def is_variable(term: Term) -> bool:
    """Whether a term is a variable, `?x`."""
    return isinstance(term, str) and term[0] == "?"


def name_of(atom: Term) -> str:
    """The relation or function name of an atom or term: `cell` of `("cell", "1", "1")`."""
    return atom if isinstance(atom, str) else str(atom[0])


def arguments_of(atom: Term) -> tuple[Term, ...]:
    """The arguments of an atom or term, `()` for a constant."""
    return () if isinstance(atom, str) else atom[1:]


def variables_of(term: Term) -> Iterator[str]:
    """Every occurrence of a variable in a term or formula, left to right."""
    if isinstance(term, str):
        if term[0] == "?":
            yield term
    else:
        for argument in term[1:]:
            yield from variables_of(argument)


class Literal(NamedTuple):
    """An atom or its negation; `("distinct", a, b)` is an atom here."""

    positive: bool
    atom: Term


class Clause(NamedTuple):
    """A rule without `and` and `or`: the head holds where all literals of the body do."""

    head: Term
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule or fact of a sheet; the formulas of `body` all have to hold."""

    head: Term
    body: tuple[Term, ...]
    location: Location

    def clauses(self) -> Iterator[Clause]:
        """The rule as clauses, one per conjunction of its body's disjunctive normal form."""
        for literals in _alternatives(("and", *self.body), True, self.location):
            yield Clause(self.head, literals)


def _alternatives(formula: Term, positive: bool, location: Location) -> list[tuple[Literal, ...]]:
    """Disjunctive normal form of a formula (or, not `positive`, of its negation)."""
    name = name_of(formula)
    if name == "not":
        return _alternatives(formula[1], not positive, location)
    if name not in ("and", "or"):
        return [(Literal(positive, formula),)]
    parts = [_alternatives(part, positive, location) for part in arguments_of(formula)]
    if (name == "or") == positive:
        result = [alternative for part in parts for alternative in part]
    else:
        count = 1
        for part in parts:
            count *= len(part)
        if count > MAX_ALTERNATIVES:
            raise GroundingError(
                f"{location}: the body expands to {count} alternatives; split the rule into several"
            )
        result = [tuple(dict.fromkeys(sum(choice, ()))) for choice in product(*parts)]
    return result


@dataclass(slots=True)
class Spelling:
    """How a text spelled its symbols: lower-case symbol → its first spelling there."""

    original: dict[str, str] = field(default_factory=dict)

    def note(self, text: str) -> str:
        """Remember a spelling; returns the symbol in lower case."""
        symbol = text.lower()
        self.original.setdefault(symbol, text)
        return symbol

    def write(self, term: Term) -> str:
        """A term as KIF text in the sheet's own spelling: `(mark 1 2)`."""
        if isinstance(term, str):
            return self.original.get(term, term)
        return "(" + " ".join(self.write(part) for part in term) + ")"


def write_term(term: Term) -> str:
    """A term as KIF text in lower case."""
    return Spelling().write(term)


def term_from(node: Node, source: Source, spelling: Spelling | None = None) -> Term:
    """A node as a term: lower case, `(x)` as `x`.

    Raises `RuleSheetError` for `()` and for a list whose first item is not a name.
    """
    if isinstance(node, Symbol):
        return spelling.note(node.text) if spelling is not None else node.text.lower()
    if not node.items:
        raise RuleSheetError(
            "'()' is not a term; write a name inside", source.location(node.offset)
        )
    if not isinstance(node.items[0], Symbol):
        raise RuleSheetError(
            "a list must start with a name, not with another list", source.location(node.offset)
        )
    parts = tuple(term_from(item, source, spelling) for item in node.items)
    return parts[0] if len(parts) == 1 else parts


def read_term(text: str) -> Term:
    """One term from text, such as a move: `(mark 1 2)`.  Raises `RuleSheetError`."""
    source = Source(text, "term")
    nodes = read(source)
    if len(nodes) != 1:
        raise RuleSheetError(f"expected exactly one term, found {len(nodes)}: {text.strip()[:80]}")
    return term_from(nodes[0], source)


@dataclass(frozen=True, slots=True)
class RuleSheet:
    """A game description: its rules in order, and how it spelled its symbols."""

    source: Source
    rules: tuple[Rule, ...]
    spelling: Spelling

    @classmethod
    def from_text(cls, text: str, name: str = "<text>") -> RuleSheet:
        """Read a rule sheet.  Raises `KifSyntaxError` or `RuleSheetError` with line and column."""
        source = Source(text.removeprefix("\ufeff"), name)
        return cls.from_nodes(read(source), source)

    @classmethod
    def from_file(cls, path: str | Path) -> RuleSheet:
        """Read a rule sheet from a file (UTF-8; a stray byte of another encoding is tolerated)."""
        try:
            text = Path(path).read_bytes().decode("utf-8", errors="replace")
        except OSError as error:
            raise RuleSheetError(f"cannot read {path}: {error.strerror}") from error
        return cls.from_text(text, str(path))

    @classmethod
    def from_nodes(cls, nodes: Iterable[Node], source: Source) -> RuleSheet:
        """Make a rule sheet of nodes that were read from `source`."""
        spelling = Spelling()
        rules = tuple(_rule_from(node, source, spelling) for node in nodes)
        if not rules:
            raise RuleSheetError(f"{source.name}: no rules in it; is it an empty file?")
        return cls(source, rules, spelling)

    @property
    def roles(self) -> tuple[Term, ...]:
        """The roles given as facts, in order, which is that of moves in a joint move."""
        facts = (r.head for r in self.rules if not r.body and name_of(r.head) == "role")
        return tuple(dict.fromkeys(head[1] for head in facts if len(arguments_of(head)) == 1))

    def clauses(self) -> Iterator[Clause]:
        """All rules as clauses (see `Rule.clauses`)."""
        for rule in self.rules:
            yield from rule.clauses()

    def write(self, term: Term) -> str:
        """A term as text in this sheet's spelling."""
        return self.spelling.write(term)


def _rule_from(node: Node, source: Source, spelling: Spelling) -> Rule:
    location = source.location(node.offset)
    if isinstance(node, Expression) and node.items:
        first = node.items[0]
        if isinstance(first, Symbol) and first.text == "<=":
            if len(node.items) < 2:
                raise RuleSheetError("'(<=)' has no head; write (<= head body...)", location)
            head, *body = (term_from(item, source, spelling) for item in node.items[1:])
            _check_formulas(body, location)
            return Rule(head, tuple(body), location)
    elif isinstance(node, Symbol) and node.text in ("<=", "?", "and", "or", "not"):
        raise RuleSheetError(f"'{node.text}' stands alone; is a '(' missing before it?", location)
    return Rule(term_from(node, source, spelling), (), location)


def _check_formulas(formulas: Iterable[Term], location: Location) -> None:
    """Connectives must have the right number of operands; the rest is for `validation`."""
    for formula in formulas:
        name, arguments = name_of(formula), arguments_of(formula)
        if name in ("not", "distinct") and len(arguments) != (1 if name == "not" else 2):
            needed = "one formula" if name == "not" else "two terms"
            raise RuleSheetError(f"'{name}' takes {needed}, not {len(arguments)}", location)
        if is_variable(formula):
            raise RuleSheetError(f"the variable {formula} stands where a formula must be", location)
        if name in ("and", "or", "not"):
            _check_formulas(arguments, location)
