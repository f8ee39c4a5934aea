"""Splitting of long bodies: it keeps the meaning, lowers the number of variables, and is safe."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GroundingError
from gdl.grounding import check_safety
from gdl.rules import (
    ANONYMOUS,
    Clause,
    Literal,
    RuleSheet,
    Term,
    name_of,
    variables_of,
)
from gdl.splitting import AUXILIARY, split_clauses
from tests.naive import NaiveStateMachine, consequences, random_playout
from tests.small_sheets import SHEETS, small_sheet

FACTS = RuleSheet.from_text(
    "(e a b) (e b c) (e c d) (e d a) (e a c) (f a) (f c) (g a d) (g b b) (g d c)"
)


def _clauses(text: str) -> list[Clause]:
    return list(RuleSheet.from_text(text).clauses())


def _width(clauses: list[Clause]) -> int:
    """Most variables in one clause; an anonymous one is joined with nothing."""
    return max(
        len({v for lit in clause.body for v in variables_of(lit.atom)} - {ANONYMOUS})
        for clause in clauses
    )


def _shown(clauses: list[Clause]) -> dict[str, set[Term]]:
    """What follows, without the auxiliary relations."""
    known = consequences(clauses)
    return {
        name: atoms for name, atoms in known.items() if not name.startswith(AUXILIARY) and atoms
    }


def test_a_chain_is_joined_two_variables_at_a_time() -> None:
    chain = "(<= (h ?a) (e ?a ?b) (e ?b ?c) (e ?c ?d) (e ?d ?z) (f ?z))"
    assert _width(_clauses(chain)) == 5
    split = list(split_clauses(_clauses(chain)))
    assert _width(split) == 2
    assert _shown([*FACTS.clauses(), *split]) == _shown([*FACTS.clauses(), *_clauses(chain)])


@pytest.mark.parametrize(
    "body",
    [
        "(e ?a ?b)",
        "(e ?a ?b) (f ?a)",
        "(e ?a ?b) (e ?b ?c) (e ?c ?a)",
        "(e ?a ?b) (distinct ?a ?b)",
    ],
)
def test_a_body_stays_where_splitting_gains_nothing(body: str) -> None:
    clauses = _clauses(f"(<= (h ?a ?b) {body})")
    assert list(split_clauses(clauses)) == clauses


def test_a_test_moves_with_what_binds_its_variables() -> None:
    """`?z` occurs in a test alone once `(e ?y ?z)` is away: the bucket needs a binder for `?x`."""
    text = "(<= (h ?x) (f ?x) (e ?y ?z) (not (g ?x ?z)) (e ?x ?w) (e ?w ?y))"
    split = list(split_clauses(_clauses(text)))
    assert len(split) > 1
    for clause in split:
        assert _is_safe(clause)
    assert _shown([*FACTS.clauses(), *split]) == _shown([*FACTS.clauses(), *_clauses(text)])


def test_a_binder_hides_what_nobody_needs() -> None:
    text = "(<= h (r ?x ?u ?v) (s ?y) (not (t ?x ?y)) (distinct ?u ?v) (q ?v ?u ?k))"
    split = list(split_clauses(_clauses(text)))
    atoms = [lit.atom for clause in split for lit in clause.body if name_of(lit.atom) == "r"]
    assert ("r", "?x", ANONYMOUS, ANONYMOUS) in atoms


def test_equal_buckets_share_one_relation() -> None:
    rule = "(<= ({0} ?a) (e ?a ?b) (e ?b ?c) (f ?c))"
    split = list(split_clauses(_clauses(rule.format("h") + rule.format("k").replace("?b", "?q"))))
    heads = [name_of(clause.head) for clause in split]
    assert heads.count(f"{AUXILIARY}0") == 1
    assert heads == [f"{AUXILIARY}0", "h", "k"]


def test_no_sheet_can_write_the_name_of_an_auxiliary_relation() -> None:
    text = "(aux0 a b) (#aux0 a) (<= (h ?a) (e ?a ?b) (e ?b ?c) (aux0 ?c ?d))"
    used = {name_of(c.head) for c in split_clauses(_clauses(text))}
    assert any(name.startswith(AUXILIARY) for name in used)
    assert " " in AUXILIARY and " " in ANONYMOUS


@pytest.mark.parametrize("name", SHEETS)
def test_splitting_keeps_the_meaning_of_a_game(name: str) -> None:
    """All relations, in states from random play with a joint move made."""
    sheet = small_sheet(name)
    machine = NaiveStateMachine(sheet)
    clauses = list(sheet.clauses())
    split = list(split_clauses(clauses))
    for state, joint_move in random_playout(machine, random.Random(1), 4):
        facts: list[Term] = [("true", fluent) for fluent in machine.fluents(state)]
        facts += [("does", r, m) for r, m in zip(machine.roles, joint_move, strict=False)]
        known = [Clause(fact, ()) for fact in facts]
        assert _shown([*split, *known]) == _shown([*clauses, *known])


variables = st.sampled_from(["?a", "?b", "?c", "?d", "?x", "?_"])
arguments = variables | st.sampled_from(["a", "c"])
positives = st.one_of(
    st.tuples(st.just("e"), arguments, arguments),
    st.tuples(st.just("g"), arguments, arguments),
    st.tuples(st.just("f"), arguments),
).map(lambda atom: Literal(True, atom))
tests = st.one_of(
    positives.map(lambda literal: Literal(False, literal.atom)),
    st.tuples(st.just("distinct"), arguments, arguments).map(lambda atom: Literal(True, atom)),
)
bodies = st.tuples(
    st.lists(positives, min_size=2, max_size=5), st.lists(tests, max_size=3)
).flatmap(lambda parts: st.permutations([*parts[0], *parts[1]]))


def _is_safe(clause: Clause) -> bool:
    bound = {
        variable
        for positive, atom in clause.body
        if positive and name_of(atom) != "distinct"
        for variable in variables_of(atom)
    }
    needed = [clause.head, *(atom for _, atom in clause.body)]
    return all(v in bound for atom in needed for v in variables_of(atom))


@given(st.lists(variables, max_size=2), st.lists(bodies, min_size=1, max_size=2))
def test_splitting_keeps_meaning_and_safety(head: list[str], chosen: list[list[Literal]]) -> None:
    clauses = [Clause(("h", *head) if head else "h", tuple(body)) for body in chosen]
    clauses = [clause for clause in clauses if _is_safe(clause)]
    split = list(split_clauses(clauses))
    assert all(map(_is_safe, split))
    if clauses:
        assert _width(split) <= _width(clauses)
    facts = list(FACTS.clauses())
    assert _shown([*facts, *split]) == _shown([*facts, *clauses])


def test_an_unsafe_rule_stays_unsafe() -> None:
    """Else the grounder would accept what the Prolog reasoner can't run."""
    text = "(<= (h ?a) (e ?a ?b) (e ?b ?c) (f ?c) (not (g ?a ?open)))"
    with pytest.raises(GroundingError, match=r"\?open"):
        check_safety(RuleSheet.from_text(text))
    assert not all(map(_is_safe, split_clauses(_clauses(text))))
