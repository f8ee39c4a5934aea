"""Terms and rules: spelling, disjunctive normal form, and what is refused where."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GroundingError, KifSyntaxError, RuleSheetError
from gdl.grounding import check_safety
from gdl.rules import (
    MAX_ALTERNATIVES,
    Clause,
    Literal,
    RuleSheet,
    Term,
    is_variable,
    name_of,
    read_term,
    variables_of,
    write_term,
)


def _bodies(body: str) -> list[list[str]]:
    """The bodies of the clauses of `(<= h BODY)`, literals as text, `-` in front of negations."""
    (rule,) = RuleSheet.from_text(f"(<= h {body})").rules
    return [
        [("" if positive else "-") + write_term(atom) for positive, atom in clause.body]
        for clause in rule.clauses()
    ]


# ---------------------------------------------------------------------------------------- terms


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("noop", "noop"),
        ("NoOp", "noop"),
        ("(noop)", "noop"),
        ("((NOOP))", None),
        ("(mark 1 (P) ?X)", ("mark", "1", "p", "?x")),
        (" (f (g (h)))\r\n", ("f", ("g", "h"))),
        ("01", "01"),
        ("(+ > -)", ("+", ">", "-")),
        ("", None),
        ("a b", None),
        ("()", None),
        ("(a ())", None),
        ("(a", None),
        ("((a) b)", None),
    ],
)
def test_terms_are_read(text: str, term: Term | None) -> None:
    if term is None:
        with pytest.raises(RuleSheetError):
            read_term(text)
    else:
        assert read_term(text) == term


def test_variables_start_with_a_question_mark() -> None:
    assert is_variable("?x") and is_variable("?") and is_variable("?+1")
    assert not is_variable("x?") and not is_variable(("?x", "a"))
    assert list(variables_of(("f", "?b", ("g", "?a", "c"), "?b"))) == ["?b", "?a", "?b"]


names = st.sampled_from(["a", "b", "1", "01", "+", "?x"])
terms = st.recursive(
    names, lambda inner: st.tuples(names, inner) | st.tuples(names, inner, inner), max_leaves=8
)


@given(terms)
def test_terms_written_read_back(term: Term) -> None:
    assert read_term(write_term(term)) == term


def test_a_sheet_keeps_its_first_spelling() -> None:
    sheet = RuleSheet.from_text("(role Xplayer) (init (Cell ?ROW 1)) (legal XPLAYER (cell B))")
    assert sheet.roles == ("xplayer",)
    assert sheet.write(("cell", "?row", "b")) == "(Cell ?ROW B)"
    assert sheet.write(("other", "xplayer")) == "(other Xplayer)"


# -------------------------------------------------------------------------------- rules of a sheet


def test_rules_know_their_lines() -> None:
    sheet = RuleSheet.from_text("\ufeff(role a)\r\n\t(<= p q) ; r\r\n(<=\n(h)) (t)", "x.kif")
    places = [(str(rule.location), rule.head) for rule in sheet.rules]
    assert places == [
        ("x.kif:1:1", ("role", "a")),
        ("x.kif:2:2", "p"),
        ("x.kif:3:1", "h"),
        ("x.kif:4:6", "t"),
    ]


def test_a_rule_without_body_is_a_fact() -> None:
    sheet = RuleSheet.from_text("(<= (role a)) (role b)")
    assert sheet.roles == ("a", "b")
    assert list(sheet.clauses()) == [Clause(("role", "a"), ()), Clause(("role", "b"), ())]


def test_roles_come_in_the_order_of_their_facts() -> None:
    text = "(role b) (role a) (role B) (<= (role c) (p c)) (role) (role x y)"
    assert RuleSheet.from_text(text).roles == ("b", "a")


@pytest.mark.parametrize("text", ["", " \r\n", "; nothing (at all)\n", "\ufeff"])
def test_an_empty_sheet_is_refused(text: str) -> None:
    with pytest.raises(RuleSheetError, match=r"^x\.kif: no rules"):
        RuleSheet.from_text(text, "x.kif")


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        ("(role a)\n(<=)", "2:1", "has no head"),
        ("<= p q", "1:1", "'<=' stands alone"),
        ("(role a) and", "1:10", "'and' stands alone"),
        ("()", "1:1", "'()' is not a term"),
        ("(role\n ())", "2:2", "'()' is not a term"),
        ("(<= p ((q) r))", "1:7", "must start with a name"),
        ("(<= p (not q r))", "1:1", "'not' takes one formula, not 2"),
        ("(<= p not)", "1:1", "'not' takes one formula, not 0"),
        ("(<= p q (distinct a))", "1:1", "'distinct' takes two terms, not 1"),
        ("(<= p (or q (and (distinct a b c))))", "1:1", "'distinct' takes two terms, not 3"),
        ("\n(<= p (or q (not ?x)))", "2:1", "variable ?x stands where a formula must be"),
        ("(<= p ?x)", "1:1", "variable ?x"),
    ],
)
def test_malformed_rules_are_refused_with_their_place(
    text: str, place: str, complaint: str
) -> None:
    with pytest.raises(RuleSheetError) as caught:
        RuleSheet.from_text(text, "x.kif")
    assert str(caught.value).startswith(f"x.kif:{place}: ")
    assert complaint in str(caught.value)


def test_files_are_read_whatever_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "one.kif"
    path.write_bytes(b"\xef\xbb\xbf(role a) ; caf\xe9\r\n(role b)")
    assert RuleSheet.from_file(path).roles == ("a", "b")
    with pytest.raises(RuleSheetError, match=r"cannot read .*none\.kif: No such file"):
        RuleSheet.from_file(tmp_path / "none.kif")
    path.write_bytes(b"(role a))")
    with pytest.raises(KifSyntaxError, match=r"one\.kif:1:9"):
        RuleSheet.from_file(path)


# ---------------------------------------------------------------------- disjunctive normal form


@pytest.mark.parametrize(
    ("body", "bodies"),
    [
        ("", [[]]),
        ("a b", [["a", "b"]]),
        ("(and a (and b c))", [["a", "b", "c"]]),
        ("(or a b)", [["a"], ["b"]]),
        ("(or a (or b c))", [["a"], ["b"], ["c"]]),
        ("(or a b) (or c d)", [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]),
        ("(or (and a b) c)", [["a", "b"], ["c"]]),
        ("(not a)", [["-a"]]),
        ("(not (not a))", [["a"]]),
        ("(not (not (not a)))", [["-a"]]),
        ("(not (or a b))", [["-a", "-b"]]),
        ("(not (and a b))", [["-a"], ["-b"]]),
        ("(not (and a (or b (not c))))", [["-a"], ["-b", "c"]]),
        ("(or (distinct ?x b) (not (distinct ?y c)))", [["(distinct ?x b)"], ["-(distinct ?y c)"]]),
        ("a (and)", [["a"]]),
        ("a (or)", []),
        ("(not (or))", [[]]),
        ("(not (and))", []),
        ("a a (or a a)", [["a"], ["a"]]),
        ("(OR a (NOT b))", [["a"], ["-b"]]),
    ],
)
def test_bodies_become_disjunctive_normal_form(body: str, bodies: list[list[str]]) -> None:
    assert _bodies(body) == bodies


def test_too_many_alternatives_are_refused_with_their_place() -> None:
    pair = "(or a b) "
    assert len(_bodies(pair * 12)) == MAX_ALTERNATIVES
    (rule,) = RuleSheet.from_text(f"\n(<= h {pair * 13})", "x.kif").rules
    with pytest.raises(GroundingError, match=r"^x\.kif:2:1: .* 8192 alternatives"):
        list(rule.clauses())


atoms = st.sampled_from("abcd")
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.just("and"), inner, inner),
        st.tuples(st.just("or"), inner, inner, inner),
    ),
    max_leaves=12,
)


@given(formulas)
def test_the_normal_form_means_the_same(formula: Term) -> None:
    (rule,) = RuleSheet.from_text(f"(<= h {write_term(formula)})").rules
    clauses = list(rule.clauses())
    for values in product((False, True), repeat=4):
        state = dict(zip("abcd", values, strict=True))
        holds = any(
            all(state[name_of(atom)] == positive for positive, atom in clause.body)
            for clause in clauses
        )
        assert holds == _holds(formula, state)


def _holds(formula: Term, state: dict[str, bool]) -> bool:
    if isinstance(formula, str):
        return state[formula]
    parts = [_holds(part, state) for part in formula[1:]]
    return {"not": not parts[0], "and": all(parts), "or": any(parts)}[name_of(formula)]


def test_a_rule_lists_a_literal_once() -> None:
    (rule,) = RuleSheet.from_text("(<= h a (not b) a (not b))").rules
    assert list(rule.clauses()) == [Clause("h", (Literal(True, "a"), Literal(False, "b")))]


# --------------------------------------------------------------------------------------- safety


@pytest.mark.parametrize(
    ("rule", "variable"),
    [
        ("(p ?x)", "?x"),
        ("(<= (p ?x) q)", "?x"),
        ("(<= (p ?x) (not (q ?x)))", "?x"),
        ("(<= (p ?x) (q ?y) (distinct ?x ?y))", "?x"),
        ("(<= p (q ?y) (not (r ?y ?z)))", "?z"),
        ("(<= p (distinct ?a b))", "?a"),
        ("(<= (p ?x) (or (q ?x) (r ?y)))", "?x"),
        ("(<= (p ?x) (not (distinct ?x a)))", "?x"),
        ("(<= (legal r (f (g ?x))) (true ?y))", "?x"),
    ],
)
def test_unsafe_rules_are_refused_with_place_and_variable(rule: str, variable: str) -> None:
    sheet = RuleSheet.from_text(f"(role r)\n {rule}", "x.kif")
    with pytest.raises(GroundingError) as caught:
        check_safety(sheet)
    complaint = f"x.kif:2:2: unsafe rule: {variable} occurs in no positive literal"
    assert str(caught.value).startswith(complaint)


@pytest.mark.parametrize(
    "rule",
    [
        "(<= (p ?x) (q ?x))",
        "(<= (p ?x) (or (q ?x) (r ?x ?y)))",
        "(<= (p ?x) (not (r ?x)) (distinct ?x ?y) (true (f ?x (g ?y))))",
        "(<= p (not (not (q ?x))))",
    ],
)
def test_safe_rules_pass(rule: str) -> None:
    check_safety(RuleSheet.from_text(rule))
