"""The formatter: golden layouts, idempotence, and that words, comments and meaning stay."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import KifSyntaxError
from gdl.formatting import WIDTH, format_text
from gdl.rules import RuleSheet

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("GGP_RULESHEETS", ROOT.parent / "shared" / "rulesheets"))
OWN_SHEETS = sorted(ROOT.glob("games/*/*.kif"))
SHARED_SHEETS = sorted(SHARED.rglob("*.kif")) if SHARED.is_dir() else []

GOLDEN = {
    "empty": ("", ""),
    "white space only": (" \r\n\t\n", ""),
    "comments only": ("\n\n ; a\n\n\n;b  \n", "; a\n\n;b\n"),
    "facts": ("  ( role   white )\n(role\n  black)", "(role white)\n(role black)\n"),
    "a symbol as a fact": ("terminal open", "terminal open\n"),
    "facts on one line stay there": (
        "(succ 1 2)(succ 2 3)\t(succ\t3 4)\n(succ 4 5)\n",
        "(succ 1 2) (succ 2 3) (succ 3 4)\n(succ 4 5)\n",
    ),
    "facts in columns stay in them": (
        "(at 1 1 a) (at 2 1 b)\n(at 1 2 c)            (at 3 2 d)\n",
        "(at 1 1 a) (at 2 1 b)\n(at 1 2 c)            (at 3 2 d)\n",
    ),
    "too many facts on one line": (
        " ".join(f"(number {n})" for n in range(12)),
        "".join(f"(number {n})\n" for n in range(12)),
    ),
    "a fact and a rule on one line": (
        "(role x) (init a) (<= terminal (true a)) (goal x 0)",
        "(role x) (init a)\n(<= terminal (true a))\n(goal x 0)\n",
    ),
    "blank lines": (
        "\n\n(a)\n(b)\n\n\n\n(c)\n \n(d)\n\n\n",
        "(a)\n(b)\n\n(c)\n\n(d)\n",
    ),
    "spelling": ("(INIT (Cell +1 -2 >x))\n", "(INIT (Cell +1 -2 >x))\n"),
    "CRLF, a byte-order mark": ("\ufeff(a)\r\n\r\n(b) ; c\r\n", "(a)\n\n(b) ; c\n"),
    "a short rule on one line": ("(<=   terminal\t(not open))", "(<= terminal (not open))\n"),
    "a short rule that was broken": (
        "(<= terminal\n(not open))",
        "(<= terminal\n    (not open))\n",
    ),
    "a break before the head is none": ("(<=\nterminal (not open))", "(<= terminal (not open))\n"),
    "a rule without a body": ("(<= (a\n1))", "(<= (a 1))\n"),
    "two literals": (
        "(<= (next (cell ?x b)) (true (cell ?x b)) (not (does p (mark ?x))) )",
        "(<= (next (cell ?x b))\n    (true (cell ?x b))\n    (not (does p (mark ?x))))\n",
    ),
    "closing parentheses come up": ("(<= a\n    (b)\n    (c)\n)\n", "(<= a\n    (b)\n    (c))\n"),
    "blank lines in a body": (
        "(<= a\n\n    (b)\n\n\n    (c)\n\n)",
        "(<= a\n\n    (b)\n\n    (c))\n",
    ),
    "a short or": (
        "(<= a (b) (or (c 1) (d 2)))",
        "(<= a\n    (b)\n    (or (c 1) (d 2)))\n",
    ),
    "an or that was broken": (
        "(<= a (or (c 1)\n(d 2) (not (e))))",
        "(<= a\n    (or (c 1)\n        (d 2)\n        (not (e))))\n",
    ),
    "long connectives": (
        "(<= a (b) (or (and (aaaaaaaaaaaaaaaaaaaaaaaaa ?x ?y) (bbbbbbbbbbbbbbbbbbbbbbbbb ?x ?y)) "
        "(not (and (ccccccccccccccccccccccccccccccccccc ?x ?y) "
        "(dddddddddddddddddddddddddddddddd ?x ?y) (e)))))",
        """\
(<= a
    (b)
    (or (and (aaaaaaaaaaaaaaaaaaaaaaaaa ?x ?y) (bbbbbbbbbbbbbbbbbbbbbbbbb ?x ?y))
        (not (and (ccccccccccccccccccccccccccccccccccc ?x ?y)
                  (dddddddddddddddddddddddddddddddd ?x ?y)
                  (e)))))
""",
    ),
    "a long atom": (
        f"(<= (legal ?player (move ?from ?to {'x' * 40})) (role {'y' * 60} (z {'z' * 50})))",
        f"""\
(<= (legal ?player (move ?from ?to {"x" * 40}))
    (role {"y" * 60}
        (z {"z" * 50})))
""",
    ),
    "a long term": (
        "(init (row " + " ".join(f"cell{n}" for n in range(30)) + "))",
        """\
(init (row cell0 cell1 cell2 cell3 cell4 cell5 cell6 cell7 cell8 cell9 cell10 cell11 cell12 cell13
    cell14 cell15 cell16 cell17 cell18 cell19 cell20 cell21 cell22 cell23 cell24 cell25 cell26
    cell27 cell28 cell29))
""",
    ),
    "a deep term": (
        "(p " + " ".join(f"(list ?{n}" for n in range(14)) + " nil" + ")" * 15,
        """\
(p (list ?0 (list ?1 (list ?2 (list ?3 (list ?4 (list ?5 (list ?6 (list ?7 (list ?8 (list ?9
    (list ?10 (list ?11 (list ?12 (list ?13 nil)))))))))))))))
""",
    ),
    "comments at ends of lines": (
        "(a 1)     ; one\n(a 100); hundred\n\n(b) ;; b\n",
        "(a 1)   ; one\n(a 100) ; hundred\n\n(b) ;; b\n",
    ),
    "a comment that goes on below": (
        "(a)  ; one\n     ; two\n     ; three\n; four\n(bb)    ;five\n\t;six\n",
        "(a) ; one\n    ; two\n    ; three\n; four\n(bb) ;five\n     ;six\n",
    ),
    "comments in a rule": (
        "(<= (a ?x) ; head\n  ; alone\n(b ?x);b\n\n  ;;; alone, too\n  (c ?x)) ; end\n",
        """\
(<= (a ?x) ; head
    ; alone
    (b ?x) ;b

    ;;; alone, too
    (c ?x)) ; end
""",
    ),
    "a comment before the parenthesis": (
        "(<= a\n(b)\n(c) ; last\n)\n(<= b\n(c)\n; (d)\n)",
        "(<= a\n    (b)\n    (c) ; last\n)\n(<= b\n    (c)\n    ; (d)\n)\n",
    ),
    "a comment in a connective": (
        "(<= a (or (b) ; first\n(c)))",
        "(<= a\n    (or (b) ; first\n        (c)))\n",
    ),
    "comments in odd places": (
        "( ; one\n<= ; two\na ; three\n(b ; four\n?x))\n",
        "(      ; one\n    <= ; two\n    a  ; three\n    (b ; four\n        ?x))\n",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_layout(name: str) -> None:
    text, expected = GOLDEN[name]
    assert format_text(text) == expected
    assert format_text(expected) == expected


def test_layout_is_checked_against_the_width_with_all_parentheses() -> None:
    name = "a" * (WIDTH - len("(<= terminal (not ()))"))
    assert format_text(f"(<= terminal (not ({name})))").count("\n") == 1
    assert format_text(f"(<= terminal (not ({name}a)))") == (
        f"(<= terminal\n    (not ({name}a)))\n"
    )


@pytest.mark.parametrize("text", ["(a", "a)", "(a ; )", "(" * 300 + ")" * 300])
def test_broken_text_is_refused(text: str) -> None:
    with pytest.raises(KifSyntaxError, match=r"^my\.kif:1:"):
        format_text(text, "my.kif")


_TOKEN = re.compile(r"[()]|;[^\r\n]*|[^\s();]+")


def tokens(text: str) -> list[str]:
    """Words, parentheses and comments in their order."""
    return [match.group().rstrip() for match in _TOKEN.finditer(text.removeprefix("\ufeff"))]


def check_layout(text: str) -> str:
    """What holds of every formatted text; returns it."""
    result = format_text(text)
    assert tokens(result) == tokens(text)
    assert format_text(result) == result
    lines = result.split("\n")
    assert lines.pop() == ""
    assert "\r" not in result
    assert all(line == line.rstrip() for line in lines)
    assert not lines or (lines[0] and lines[-1])
    assert "\n\n\n" not in result
    return result


def check_meaning(text: str, name: str) -> None:
    before = RuleSheet.from_text(text, name)
    after = RuleSheet.from_text(check_layout(text), name)
    assert [(r.head, r.body) for r in after.rules] == [(r.head, r.body) for r in before.rules]
    assert after.spelling == before.spelling


@pytest.mark.parametrize("path", OWN_SHEETS, ids=lambda path: path.stem)
def test_own_games_have_the_layout(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_text(text, str(path)) == text


@pytest.mark.parametrize("path", OWN_SHEETS, ids=lambda path: path.stem)
def test_own_games_recover_from_one_line(path: Path) -> None:
    """Without comments and line ends, as a manager sends it, a sheet gets a readable layout."""
    text = " ".join(t for t in tokens(path.read_text(encoding="utf-8")) if t[0] != ";")
    check_meaning(text, str(path))
    assert max(map(len, format_text(text).split("\n"))) <= WIDTH


@pytest.mark.skipif(not SHARED_SHEETS, reason="no public rule sheets at hand")
@pytest.mark.parametrize("path", SHARED_SHEETS, ids=lambda path: path.stem)
def test_public_sheets_keep_their_meaning(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", errors="replace")
    check_meaning(text, str(path))
    code = (line.split(";")[0] for line in format_text(text).split("\n"))
    assert max(map(len, code)) <= WIDTH


WORDS = st.sampled_from(["<=", "and", "or", "not", "distinct", "true", "a", "?x", "Long" * 9, "é"])
GAPS = st.sampled_from(
    ["", " ", "   ", "\t", "\n", "\r\n", "\r", "\n\n", "\n \n\n", "\x0c", "\n    ", "\n        "]
)
COMMENTS = st.sampled_from(["; a", ";", ";; (b ", "; )\t", "; ü \x0b x"]).map(lambda c: f"{c}\n")


@st.composite
def texts(draw: st.DrawFn, depth: int = 4) -> str:
    """Balanced text with comments and any white space everywhere."""
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from("wwlllcb"))
        if kind == "w" or (depth == 0 and kind in "lb"):
            parts.append(draw(WORDS))
        elif kind == "l":
            parts.append(f"({draw(texts(depth - 1))})")
        elif kind == "b":
            head = draw(st.sampled_from(["<= a", "or", "not", "and"]))
            parts.append(f"({head}{draw(GAPS) or ' '}{draw(texts(depth - 1))})")
        else:
            parts.append(draw(COMMENTS))
        parts.append(draw(GAPS) or (" " if kind == "w" else ""))
    return "".join(parts)


@settings(max_examples=300, deadline=None)
@given(texts())
def test_words_and_comments_stay_and_nothing_changes_twice(text: str) -> None:
    check_layout(text)


STATEMENTS = st.sampled_from(
    ["(role x)", "(<= terminal (true a))", "(<= (goal x 0) (true a)(not (true b)))", "(init a)"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(STATEMENTS, st.booleans(), st.integers(0, 3)), min_size=1, max_size=8))
def test_comments_stay_beside_what_they_are_beside(
    statements: list[tuple[str, bool, int]],
) -> None:
    """Behind the same statement, or on a line of their own as before."""
    text = ""
    for number, (statement, beside, breaks) in enumerate(statements):
        gap = "  " if beside else "\n" * (breaks + 1)
        text += f"{statement}{gap}; {number}.\n"
    check_meaning(text, "text")
    lines = format_text(text).split("\n")
    for number, (statement, beside, _) in enumerate(statements):
        (line,) = (line for line in lines if line.endswith(f"; {number}."))
        if beside:
            last_word = statement.rsplit("(", 1)[-1]
            assert line.rpartition(";")[0].rstrip().endswith(last_word)
        else:
            assert line.startswith(";")


@pytest.mark.timeout(60)
def test_big_and_deep_texts_end_soon() -> None:
    deep = "(or " * 199 + "a b" + ")" * 199
    assert tokens(format_text(deep)) == tokens(deep)
    check_layout("(succ 1 2) " * 5_000)
    check_layout("(succ 1 2) ; comment\n" * 5_000)
