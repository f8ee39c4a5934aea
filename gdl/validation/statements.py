"""Rules and facts as far as they are understood, with their places in the text.

The first pass, `structure`, makes them; the later passes work on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gdl.kif import Expression, Node, Symbol
from gdl.rules import Term

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


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom where it stands in the text, and whether it is negated there."""

    positive: bool
    name: str
    atom: Term
    """just the name where the arguments can't be understood"""
    node: Node
    word: Symbol
    """the name as it stands in the text"""

    @property
    def argument_nodes(self) -> tuple[Node, ...]:
        """The arguments as they stand in the text."""
        return self.node.items[1:] if isinstance(self.node, Expression) else ()


@dataclass(frozen=True, slots=True)
class Group:
    """A conjunction or disjunction."""

    every: bool
    """whether all parts have to hold, or one"""
    parts: tuple[Formula, ...]


Formula = Literal | Group
"""What a body says, with negation only in front of atoms."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A rule or fact as far as it is understood."""

    head: Literal | None
    body: Group
    is_rule: bool
    complete: bool
    """whether nothing of it was left out"""

    literals: tuple[Literal, ...]
    """those of the body but for `distinct`, left to right"""

    def atoms(self) -> Iterator[Literal]:
        """Head and literals."""
        if self.head is not None:
            yield self.head
        yield from self.literals


def literals_of(formula: Formula) -> Iterator[Literal]:
    """All literals of a formula, left to right."""
    if isinstance(formula, Literal):
        yield formula
    else:
        for part in formula.parts:
            yield from literals_of(part)


def first_word(node: Node) -> Symbol | None:
    """The name of an atom or term, or the connective, where there is one."""
    if isinstance(node, Expression):
        return node.items[0] if node.items and isinstance(node.items[0], Symbol) else None
    return node


def symbols_of(node: Node) -> Iterator[Symbol]:
    """All symbols of a node, left to right."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Symbol):
            yield current
        else:
            waiting.extend(reversed(current.items))
