"""Grounding with magic sets: the same game as otherwise and as by Prolog, of fewer rules."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

import pytest

from gdl.errors import GroundingTimeout
from gdl.grounding import WAYS, GroundProgram, ground
from gdl.magic_sets import MAGIC, with_magic_sets
from gdl.prolog import PrologStateMachine
from gdl.rules import Clause, RuleSheet, Term, name_of, variables_of
from propnet.machine import PropnetStateMachine
from propnet.network import compile_network
from tests.conformance import assert_agree

FRAME = """
(role r) (init (at 1)) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6)
(n 1) (n 2) (n 3) (n 4) (n 5) (n 6)
(<= (legal r (go ?x)) (n ?x)) (<= (next (at ?x)) (does r (go ?x)))
(<= (next (seen ?x)) (true (at ?x))) (<= (next (seen ?x)) (true (seen ?x)))
"""
"""A piece that jumps about on six squares and leaves a trace."""

SHEETS = {
    "called with constants only": f"""{FRAME}
        (<= (double ?x ?y ?z) (true (seen ?x)) (true (seen ?y)) (n ?z) (distinct ?z ?x))
        (<= terminal (double 1 2 3)) (<= (goal r 100) (double 1 2 3)) (<= (goal r 30) (seen? 4 5))
        (<= (seen? ?x ?y) (true (seen ?x)) (not (true (seen ?y))) (n ?y))""",
    "a chain of calls": f"""{FRAME}
        (<= (a ?x ?y) (n ?x) (n ?y) (b ?y ?x)) (<= (b ?x ?y) (n ?y) (c ?x ?y ?z))
        (<= (c ?x ?y ?z) (n ?y) (n ?z) (true (seen ?x)) (distinct ?y ?z) (d ?z))
        (<= (d ?x) (n ?x) (not (true (at ?x))))
        (<= (legal r (jump ?x)) (true (at ?x)) (a 3 ?x)) (<= terminal (a 1 4) (a 2 5))
        (<= (goal r ?x) (true (at ?x)) (a ?x 1))""",
    "negated calls": f"""{FRAME}
        (<= (between ?x ?y ?z) (n ?x) (n ?z) (true (seen ?y)) (distinct ?x ?y) (distinct ?y ?z))
        (<= (alone ?x ?y) (n ?x) (n ?y) (not (between ?x ?y 6)) (not (between 1 ?y ?x)))
        (<= (legal r (stop ?x)) (true (at ?x)) (not (alone ?x 2)))
        (<= (next (alarm ?x)) (true (at ?x)) (alone 4 ?x)) (<= terminal (not (alone 5 5)))
        (<= (goal r 100) (not (between 1 3 2))) (<= (goal r 0) (between 1 3 2))""",
    "recursion with an accumulator": f"""{FRAME}
        (<= (count ?x ?n ?n) (last ?x) (n ?n)) (last 6)
        (<= (count ?x ?n ?m) (s ?x ?y) (true (seen ?x)) (s ?n ?k) (count ?y ?k ?m))
        (<= (count ?x ?n ?m) (s ?x ?y) (n ?n) (n ?m) (not (true (seen ?x))) (count ?y ?n ?m))
        (<= terminal (count 1 1 4)) (<= (goal r ?m) (count 1 1 ?m))""",
    "different binding patterns": f"""{FRAME}
        (<= (near ?x ?y ?z) (s ?x ?y) (n ?z) (true (seen ?z))) (<= (near ?x ?y ?z) (near ?y ?x ?z))
        (<= (legal r (from ?y)) (near 2 ?y 3)) (<= (legal r (to ?x)) (true (at ?z)) (near ?x 4 ?z))
        (<= terminal (near 5 6 1) (near 1 2 ?z) (true (at ?z)))
        (<= (goal r 10) (near ?x ?y 5)) (<= (goal r 20) (not (near 3 4 2)))""",
    "statically negated": f"""{FRAME}
        (<= (upto ?x ?y) (s ?x ?y)) (<= (upto ?x ?z) (s ?x ?y) (upto ?y ?z))
        (<= (helper ?x ?y) (n ?x) (n ?y) (upto ?x ?y) (not (upto ?y 5)))
        (<= (far ?x ?y) (n ?x) (n ?y) (not (helper ?x ?y)) (not (upto ?x ?y)))
        (<= (legal r (back ?y)) (true (at ?x)) (far ?x ?y) (distinct ?x ?y))
        (<= terminal (true (seen ?x)) (helper 1 ?x)) (<= (goal r ?x) (true (at ?x)) (far 4 ?x))""",
    "without arguments": f"""{FRAME}
        (<= all (row 1) (row 2)) (<= (row ?x) (n ?x) (true (seen ?x)) (not none))
        (<= none (not some)) (<= some (true (seen ?x))) (<= some (true (at 3)))
        (<= terminal all) (<= (goal r 100) all) (<= (goal r 0) (not all)) (<= (legal r wait) some)
        (<= (next (at ?x)) (true (at ?x)) (does r wait))""",
    "moves ask": f"""{FRAME}
        (<= (reach ?x ?y) (n ?x) (n ?y) (s ?x ?y)) (<= (reach ?x ?z) (n ?z) (s ?x ?y) (reach ?y ?z))
        (<= (made ?x ?m) (n ?x) (does r (go ?m)) (reach ?m ?x))
        (<= (next (mark ?x)) (true (at ?x)) (made ?x ?m)) (<= terminal (true (mark 6)))
        (<= (goal r 50) (true (mark ?x)) (reach ?x 6))""",
    "terms in calls": f"""{FRAME}
        (<= (p (f ?x) ?y) (n ?x) (true (seen ?x)) (n ?y)) (<= (p (g ?x ?y) ?z) (p ?x ?z) (p ?y ?z))
        (<= terminal (p (g (f 1) (g (f 2) (f 3))) 4)) (<= (goal r 5) (p (f 3) 2))
        (<= (legal r (both ?x)) (true (at ?x)) (p (g (f ?x) (f 2)) 1))""",
}
"""Name → rules; in each, something is called with part of its arguments known.

"terms in calls" has infinitely many consequences, of which play asks for a few.
"""

ENDLESS = {"terms in calls"}
"""Only what is asked for is finite here."""


def _grounded(name: str, way: str) -> GroundProgram:
    sheet = RuleSheet.from_text(SHEETS[name], name)
    return ground(sheet, seconds=60, ways=(way,))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SHEETS)
def test_each_way_alone_is_the_game_that_prolog_plays(name: str, way: str) -> None:
    if name in ENDLESS and way != "magic sets":
        pytest.skip("it has no end")
    with closing(PrologStateMachine(RuleSheet.from_text(SHEETS[name], name))) as prolog:
        machine = PropnetStateMachine(compile_network(_grounded(name, way)))
        assert assert_agree(prolog, machine, playouts=6, steps=8) >= 20


def test_the_race_ends_where_only_one_way_does() -> None:
    sheet = RuleSheet.from_text(SHEETS["terms in calls"])
    with pytest.raises(GroundingTimeout):
        ground(sheet, seconds=0.3, ways=("as they are",))
    program = ground(sheet, seconds=60)
    assert set(program.legal[0]) > {("both", "1"), ("both", "6")}


def _guarded(clauses: Iterable[Clause]) -> set[str]:
    """The relations that have a guard."""
    heads = (name_of(clause.head) for clause in with_magic_sets(clauses))
    return {head.removeprefix(MAGIC) for head in heads if head.startswith(MAGIC)}


def _magic_rules(text: str, relation: str) -> set[tuple[Term, frozenset[Term]]]:
    """The rules of a relation's magic relation: what is asked for, and where."""
    clauses = with_magic_sets(RuleSheet.from_text(text).clauses())
    return {
        (head[1:], frozenset(atom for _, atom in body))
        for head, body in clauses
        if name_of(head) == MAGIC + relation
    }


def test_what_has_to_be_complete_is_not_guarded() -> None:
    """What something static is the negation of, and all that this is made of."""
    clauses = list(RuleSheet.from_text(SHEETS["statically negated"]).clauses())
    assert _guarded(clauses) == {"far"}


def test_relations_without_arguments_are_not_guarded() -> None:
    clauses = RuleSheet.from_text(SHEETS["without arguments"]).clauses()
    assert _guarded(clauses) == {"row"}


def test_only_what_every_call_knows_is_asked_for() -> None:
    """`near` is called with its first argument, its second, both or neither; always its third."""
    asked = {head for head, _ in _magic_rules(SHEETS["different binding patterns"], "near")}
    assert asked == {("1",), ("2",), ("3",), ("5",), ("?z",)}
    text = f"{FRAME} (<= (p ?x ?y) (n ?x) (n ?y)) (<= terminal (p 1 ?x)) (<= (goal r 1) (p ?x 1))"
    assert _magic_rules(text, "p") == set()


def test_constants_are_asked_for_in_every_state() -> None:
    text = f"{FRAME} (<= (p ?x ?y) (true (at ?x)) (n ?y)) (<= terminal (p 1 6))"
    assert _magic_rules(text, "p") == {(("1", "6"), frozenset())}


def test_a_magic_relation_depends_on_what_is_possible_not_on_the_state() -> None:
    text = f"{FRAME} (<= (p ?x ?y) (n ?x) (n ?y)) (<= (goal r 1) (true (at ?x)) (p ?x 6))"
    assert _magic_rules(text, "p") == {(("?x", "6"), frozenset({("#possible true", ("at", "?x"))}))}


def test_no_guarded_rule_is_unsafe() -> None:
    """Every variable of a magic rule's head is bound in its body."""
    for text in SHEETS.values():
        for head, body in with_magic_sets(RuleSheet.from_text(text).clauses()):
            if name_of(head).startswith(MAGIC):
                bound = {v for positive, a in body if positive for v in variables_of(a)}
                assert bound >= set(variables_of(head))


def test_it_grounds_far_less_where_little_is_asked_for() -> None:
    """Counting along a line of cells: from one end, from zero, is a hundredth of everything."""
    numbers = " ".join(f"(s {i} {i + 1}) (n {i})" for i in range(30))
    sheet = RuleSheet.from_text(
        f"""(role r) (role q) {numbers} (init (cell 0 r)) (init (cell 1 q)) (end 25)
        (<= (legal ?p (put ?x)) (role ?p) (n ?x)) (<= (next (cell ?x ?p)) (does ?p (put ?x)))
        (<= (next (cell ?x ?p)) (true (cell ?x ?p)))
        (<= (count ?x ?p ?n ?n) (end ?x) (role ?p) (n ?n))
        (<= (count ?x ?p ?n ?m) (true (cell ?x ?p)) (s ?n ?k) (s ?x ?y) (count ?y ?p ?k ?m))
        (<= (count ?x ?p ?n ?m)
            (n ?n) (n ?m) (role ?p) (not (true (cell ?x ?p))) (s ?x ?y) (count ?y ?p ?n ?m))
        (<= (goal ?p 100) (role ?p) (count 20 ?p 0 3))
        (<= (goal ?p 0) (role ?p) (not (count 20 ?p 0 3)))
        (<= terminal (count 20 r 0 3))"""
    )
    plain, asked = (ground(sheet, seconds=60, ways=(way,)) for way in WAYS)
    assert len(asked.heads) * 20 < len(plain.heads)
    networks = compile_network(plain), compile_network(asked)
    assert networks[0].gate_count == networks[1].gate_count
    machines = [PropnetStateMachine(network) for network in networks]
    assert assert_agree(*machines, playouts=3, steps=10) >= 10
