"""Scrambling: what is renamed, what stays, and the way back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GgpError
from gdl.rules import RuleSheet, Term, name_of
from ggp_agent.errors import MessageError
from ggp_agent.manager.scramble import KEYWORDS, PlainNames, Scrambler, first_term, write_spaced
from tests.ggp_agent.manager.machines import TIC_TAC_TOE

ODD_SHEET = RuleSheet.from_text(
    "(ROLE Robot)\r\n\t(role random) (init (x+y>z -3 +4 007)) ; (comment out)\n"
    "(<= (legal ?R (Go ?r (f))) (ROLE ?r) (or (true (x+y>z 1 2 ?a)) (not (sees ?r nil))))"
    "(<= (next (f)) (distinct robot GO)) (<= terminal) (<= (goal robot 100))",
    "odd",
)


def symbols_of(term: Term) -> set[str]:
    return {term} if isinstance(term, str) else set().union(*map(symbols_of, term))


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[^\s()]+", text))


def sheet_terms(sheet: RuleSheet) -> st.SearchStrategy[Term]:
    """Random terms over a sheet's symbols."""
    symbols = sorted(s for s in sheet.spelling.original if s != "<=")
    names = st.sampled_from([s for s in symbols if s[0] != "?"])
    leaves: st.SearchStrategy[Term] = st.sampled_from(symbols)
    return st.recursive(
        leaves,
        lambda parts: st.builds(
            lambda name, arguments: (name, *arguments),
            names,
            st.lists(parts, min_size=1, max_size=3),
        ),
    )


@pytest.mark.parametrize("sheet", [TIC_TAC_TOE, ODD_SHEET], ids=lambda sheet: sheet.source.name)
class TestScrambler:
    def test_renames_everything_but_keywords_and_integers(self, sheet: RuleSheet) -> None:
        scrambled = RuleSheet.from_text(Scrambler(sheet, 1).rules)
        old = {s for s in sheet.spelling.original if s not in KEYWORDS}
        new = {s for s in scrambled.spelling.original if s not in KEYWORDS}
        integers = {s for s in old if re.fullmatch(r"[+-]?\d+", s)}
        assert old & new == integers
        assert len(old) == len(new)

    def test_keeps_the_structure_of_every_rule(self, sheet: RuleSheet) -> None:
        names = Scrambler(sheet, 1)
        scrambled = RuleSheet.from_text(names.rules)
        for before, after in zip(sheet.rules, scrambled.rules, strict=True):
            for old, new in zip(
                (before.head, *before.body), (after.head, *after.body), strict=True
            ):
                assert names.scramble(old) == write_spaced(new, str)
                assert names.unscramble(write_spaced(new, str)) == old

    def test_variables_stay_variables_and_constants_constants(self, sheet: RuleSheet) -> None:
        names = Scrambler(sheet, 5)
        for symbol in sheet.spelling.original:
            assert names.scramble(symbol).startswith("?") == symbol.startswith("?")

    def test_the_seed_decides(self, sheet: RuleSheet) -> None:
        assert Scrambler(sheet, 3).rules == Scrambler(sheet, 3).rules
        assert Scrambler(sheet, 3).rules != Scrambler(sheet, 4).rules

    def test_rules_are_one_line_without_comments(self, sheet: RuleSheet) -> None:
        for names in (Scrambler(sheet, 1), PlainNames(sheet)):
            assert not re.search(r"[\r\n\t;]", names.rules)


@given(term=sheet_terms(ODD_SHEET), seed=st.integers(0, 2**64))
def test_any_term_of_the_sheet_comes_back(term: Term, seed: int) -> None:
    names = Scrambler(ODD_SHEET, seed)
    text = names.scramble(term)
    assert names.unscramble(text) == term
    assert names.unscramble(text.upper() + " and more)") == term
    untouched = words_of(text) & symbols_of(term)
    assert all(s in KEYWORDS or s.lstrip("+-").isdigit() for s in untouched)


@given(term=sheet_terms(TIC_TAC_TOE))
def test_plain_names_bring_any_term_back(term: Term) -> None:
    names = PlainNames(TIC_TAC_TOE)
    assert names.unscramble(names.scramble(term)) == term


@given(seed=st.integers(), count=st.integers(1, 300))
def test_fresh_words_never_collide(seed: int, count: int) -> None:
    sheet = RuleSheet.from_text("".join(f"(fact c{i} ?v{i})" for i in range(count)))
    names = Scrambler(sheet, seed)
    new = [names.scramble(s) for s in sheet.spelling.original]
    assert len({word.lstrip("?") for word in new}) == 2 * count + 1
    assert not {word.lstrip("?") for word in new} & (KEYWORDS | {"nil", "fact"})


def test_many_symbols_find_names() -> None:
    sheet = RuleSheet.from_text("".join(f"(fact c{i})" for i in range(20_000)))
    names = Scrambler(sheet, 0)
    assert len(words_of(names.rules)) == 20_001


def test_answers_in_the_sheets_own_words_are_found_out() -> None:
    with pytest.raises(MessageError, match="'mark' is not a word"):
        Scrambler(TIC_TAC_TOE, 1).unscramble("( mark 1 2 )")


def test_plain_names_use_the_first_spelling_everywhere() -> None:
    names = PlainNames(ODD_SHEET)
    assert names.scramble(("go", "robot", "f")) == "( Go Robot f )"
    assert "( distinct Robot Go )" in names.rules
    assert names.rules.startswith("( ROLE Robot ) ( ROLE random ) ( init ( x+y>z -3 +4 007 ) ) ")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("noop", "noop"),
        (" (MARK 1 2)\r\n", ("mark", "1", "2")),
        ("(mark 1 2))", ("mark", "1", "2")),
        ("(mark 1 2) (mark 1 3", ("mark", "1", "2")),
        ("noop nonsense ((", "noop"),
        ("; a comment (\n(go)", "go"),
        ("a(b)", "a"),
    ],
)
def test_the_first_term_counts(text: str, term: Term) -> None:
    assert first_term(text) == term


@pytest.mark.parametrize(
    "text", ["", "  \n", "; only a comment", "(mark 1 2", ")", "()", "((a) b)"]
)
def test_text_without_a_first_term_is_refused(text: str) -> None:
    with pytest.raises(GgpError) as caught:
        first_term(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    for names in (PlainNames(ODD_SHEET), Scrambler(ODD_SHEET, 1)):
        try:
            term = names.unscramble(text)
        except GgpError:
            continue
        assert name_of(term)
