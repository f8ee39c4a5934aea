"""Another grounder as an oracle: clingo's gringo on the same program."""

from __future__ import annotations

from collections.abc import Iterable

import clingo

from gdl.encoding import Dialect, Encoder
from gdl.instantiation.plan_code import Functor
from gdl.rules import Clause, Term, arguments_of

ASP = Dialect("not ", "!=", "=")


def gringo(
    clauses: Iterable[Clause], choices: Iterable[Clause], relations: Iterable[Functor]
) -> dict[Functor, dict[tuple[Term, ...], bool]]:
    """Per relation the atoms that can hold: arguments → whether gringo knows it as a fact."""
    encoder = Encoder(ASP)
    lines = list(map(encoder.clause, clauses))
    lines += ["{" + encoder.clause(choice).replace(" :-", "} :-") for choice in choices]
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    found: dict[Functor, dict[tuple[Term, ...], bool]] = {}
    for name, arity in relations:
        atoms = list(control.symbolic_atoms.by_signature(encoder.relation(name), arity))
        decoded = encoder.decode(str(atom.symbol) for atom in atoms)
        found[name, arity] = {
            arguments_of(term): atom.is_fact for term, atom in zip(decoded, atoms, strict=True)
        }
    return found
