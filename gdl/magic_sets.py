"""Grounds only what is asked for: magic sets for rule sheets.

A helper relation such as `(count ?x ?y ?z ?player 100)` is cheap for the few squares that a goal
asks about and hopeless for all of them.  Prolog never sees the difference, a grounder does.  So
each relation that is only called with some of its arguments known gets a guard, its *magic
relation*: the known arguments of all calls, found by following the bodies from left to right
(F. Bancilhon, D. Maier, Y. Sagiv, J. Ullman, "Magic Sets and Other Strange Ways to Implement Logic
Programs", 1986; here one binding pattern per relation, the one common to all its calls).

A magic relation must not depend on the state, or it would become part of the game.  It is found
in a *possible* copy of the rules, in which every fluent that can ever be true is, every move that
can ever be legal is made, and what is negated is ignored.  The grounder evaluates that copy once
and for all; the copy also tells it which fluents and moves there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gdl.encoding import KEYWORD_RELATIONS
from gdl.rules import Clause, Literal, Term, arguments_of, name_of, variables_of

POSSIBLE, MAGIC = "#possible ", "#magic "
"""Prefixes of the relations made here."""

CURRENT_STATE = frozenset({"true", "does"})


def with_magic_sets(
    clauses: Iterable[Clause], asked: Iterable[str] = KEYWORD_RELATIONS
) -> Iterator[Clause]:
    """The rules with guards, and the possible copy that the guards depend on.

    The relations `asked` are wanted whole.  In place of `{true(F)} :- next(F)` and so on, the
    caller has to add choices over `possible("true")` and `possible("does")`.
    """
    yield from _Rewriting.of(list(clauses), frozenset(asked)).clauses()


def possible(relation: str) -> str:
    """The name of a relation's possible copy."""
    return POSSIBLE + relation


@dataclass(slots=True)
class _Rewriting:
    """The rules and what is known of their relations."""

    rules: list[Clause]
    dynamic: set[str]
    """relations that depend on the state or the moves made"""
    known: dict[str, frozenset[int]]
    """relation → argument positions that every call knows, where there are any"""

    @classmethod
    def of(cls, rules: list[Clause], asked: frozenset[str]) -> _Rewriting:
        dynamic = set(CURRENT_STATE)
        while True:
            more = {
                name_of(rule.head)
                for rule in rules
                if any(name_of(atom) in dynamic for _, atom in rule.body)
            }
            if more <= dynamic:
                break
            dynamic |= more
        result = cls(rules, dynamic, {})
        result.known = result._guardable(asked)
        result._settle()
        return result

    def _guardable(self, asked: frozenset[str]) -> dict[str, frozenset[int]]:
        """The relations that may be guarded, at first on all positions.

        Not those that something static is the negation of: they have to be complete before it.
        """
        complete = {
            name_of(atom)
            for rule in self.rules
            for positive, atom in rule.body
            if not positive and name_of(atom) not in self.dynamic
        }
        waiting = list(complete)
        while waiting:
            relation = waiting.pop()
            for rule in self.rules:
                if name_of(rule.head) == relation:
                    used = {name_of(atom) for _, atom in rule.body} - complete
                    complete |= used
                    waiting += used
        arity: dict[str, set[int]] = {}
        for rule in self.rules:
            arity.setdefault(name_of(rule.head), set()).add(len(arguments_of(rule.head)))
        derived = {name_of(rule.head) for rule in self.rules if rule.body}
        return {
            name: frozenset(range(max(arity[name])))
            for name in sorted(derived - asked - complete)
            if len(arity[name]) == 1 and max(arity[name]) > 0
        }

    def _settle(self) -> None:
        """Reduce `known` to the positions that really are known in every call."""
        changed = True
        while changed:
            changed = False
            for rule in self.rules:
                for atom, bound, _ in self._calls(rule):
                    name = name_of(atom)
                    positions = frozenset(
                        i
                        for i in self.known[name]
                        if bound.issuperset(variables_of(arguments_of(atom)[i]))
                    )
                    if positions != self.known[name]:
                        changed = True
                        self.known[name] = positions
                        if not positions:
                            del self.known[name]

    def _calls(self, rule: Clause) -> Iterator[tuple[Term, set[str], list[Literal]]]:
        """Every call of a guarded relation: what is bound then, and the literals before it."""
        guard = self._guard(rule.head)
        bound = set(variables_of(guard.atom)) if guard else set()
        before = [guard] if guard else []
        for literal in self._in_order(rule.body, bound):
            if name_of(literal.atom) in self.known:
                yield literal.atom, set(bound), list(before)
            if literal.positive and name_of(literal.atom) != "distinct":
                bound.update(variables_of(literal.atom))
                before.append(literal)

    def _in_order(self, body: tuple[Literal, ...], bound: set[str]) -> Iterator[Literal]:
        """The body from left to right as it is best followed: connected, and the cheap first."""
        waiting = [lit for lit in body if lit.positive and name_of(lit.atom) != "distinct"]
        tests = [lit for lit in body if not lit.positive]
        bound = set(bound)

        def rank(literal: Literal) -> tuple[bool, bool, int]:
            variables = set(variables_of(literal.atom))
            apart = bool(bound) and bool(variables) and not variables & bound
            return apart, name_of(literal.atom) in self.known, len(variables - bound)

        while waiting:
            literal = min(waiting, key=rank)
            waiting.remove(literal)
            yield literal
            bound.update(variables_of(literal.atom))
        yield from tests

    def _guard(self, atom: Term) -> Literal | None:
        positions = self.known.get(name_of(atom))
        if positions is None:
            return None
        known = tuple(arguments_of(atom)[i] for i in sorted(positions))
        return Literal(True, (MAGIC + name_of(atom), *known))

    def _as_possible(self, atom: Term) -> Term:
        name = name_of(atom)
        if name not in self.dynamic:
            return atom
        return (POSSIBLE + name, *atom[1:]) if isinstance(atom, tuple) else POSSIBLE + name

    def clauses(self) -> Iterator[Clause]:
        """Guarded rules, possible copies, and the rules of the magic relations."""
        for rule in self.rules:
            guard = self._guard(rule.head)
            guards = (guard,) if guard else ()
            yield Clause(rule.head, (*guards, *rule.body))
            if name_of(rule.head) in self.dynamic:
                kept = (
                    Literal(positive, self._as_possible(atom))
                    for positive, atom in rule.body
                    if positive or name_of(atom) not in self.dynamic
                )
                yield Clause(self._as_possible(rule.head), (*guards, *kept))
            for atom, _, before in self._calls(rule):
                yield from self._magic_rule(atom, before)
        fluent, role, move = "?f", "?r", "?m"
        now = possible("true")
        yield Clause((now, fluent), (Literal(True, ("init", fluent)),))
        yield Clause((now, fluent), (Literal(True, self._as_possible(("next", fluent))),))
        yield Clause(
            (possible("does"), role, move),
            (
                Literal(True, self._as_possible(("legal", role, move))),
                Literal(True, ("role", role)),
            ),
        )

    def _magic_rule(self, atom: Term, before: list[Literal]) -> Iterator[Clause]:
        """The rule that this call adds to a magic relation, from the literals that bind it."""
        guard = self._guard(atom)
        assert guard is not None
        wanted = set(variables_of(guard.atom))
        kept: list[Literal] = []
        for literal in reversed(before):
            variables = set(variables_of(literal.atom))
            if variables & wanted:
                kept.append(Literal(True, self._as_possible(literal.atom)))
                wanted |= variables
        body = tuple(reversed(kept))
        if Literal(True, guard.atom) not in body:
            yield Clause(guard.atom, body)
