"""Names for other reasoners, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.encoding import PROLOG, Dialect, Encoder
from gdl.rules import ANONYMOUS, Clause, Literal, RuleSheet, Term
from tests.gringo import ASP

symbols = st.text("ab01AB+>-_'\\\"|%ü棋,[]{}", min_size=1, max_size=4).map(str.lower)
ground_terms = st.recursive(
    symbols,
    lambda inner: st.tuples(symbols, inner) | st.tuples(symbols, inner, inner),
    max_leaves=6,
)


@given(st.lists(ground_terms, max_size=6))
def test_terms_come_back(terms: list[Term]) -> None:
    encoder = Encoder(PROLOG)
    printed = [encoder.term(term) for term in terms]
    assert encoder.decode(printed) == terms


@given(st.lists(ground_terms, min_size=1, max_size=4), symbols)
def test_atoms_come_back(terms: list[Term], name: str) -> None:
    encoder = Encoder(ASP)
    atom = (name, *terms)
    assert encoder.decode([encoder.atom(atom), encoder.atom(name)]) == [atom, name]


@given(st.lists(ground_terms, max_size=6, unique=True))
def test_different_terms_have_different_names(terms: list[Term]) -> None:
    encoder = Encoder(ASP)
    assert len({encoder.term(term) for term in terms}) == len(terms)


def test_a_name_may_be_relation_function_and_constant_at_once() -> None:
    encoder = Encoder(PROLOG)
    assert encoder.atom(("p", ("p", "p"))) == "r0(f0(c0))"


def test_keywords_keep_their_names_as_relations_only() -> None:
    encoder = Encoder(ASP)
    assert encoder.atom(("true", ("true", "does"))) == "true(f1(c0))"
    assert encoder.decode(["true(f1(c0))", "terminal"]) == [("true", ("true", "does")), "terminal"]


def test_our_own_variable_stands_for_something_else_each_time() -> None:
    encoder = Encoder(ASP)
    assert encoder.atom(("p", ANONYMOUS, ANONYMOUS)) == "r0(_,_)"
    assert encoder.atom(("q", "?_", "?_", "?")) == "r1(V2,V2,V3)"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [(ASP, "r0 :- not r1, c2 != V3, V3 = c2."), (PROLOG, "r0 :- \\+ r1, c2 \\== V3, V3 == c2.")],
)
def test_negation_and_comparison_are_the_language_s_own(dialect: Dialect, text: str) -> None:
    body = (
        Literal(False, "b"),
        Literal(True, ("distinct", "c", "?x")),
        Literal(False, ("distinct", "?x", "c")),
    )
    assert Encoder(dialect).clause(Clause("a", body)) == text


def test_facts_end_with_a_full_stop() -> None:
    (clause,) = RuleSheet.from_text("(role x)").clauses()
    assert Encoder(ASP).clause(clause) == "role(c0)."
