"""Reading and writing KIF: every place of an error, every way of writing, and the round trip."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import KifSyntaxError
from gdl.kif import MAX_DEPTH, Expression, Node, Source, Symbol, read, write


def _nested(node: Node) -> object:
    """A node as strings and lists."""
    return node.text if isinstance(node, Symbol) else [_nested(item) for item in node]


def _read(text: str) -> list[object]:
    return [_nested(node) for node in read(Source(text))]


# -------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \r\n\t ", []),
        ("; only a comment", []),
        ("a", ["a"]),
        ("()", [[]]),
        ("(a(b)c)", [["a", ["b"], "c"]]),
        ("(a)(b) c", [["a"], ["b"], "c"]),
        ("(<= a\tb)\r\n(c)", [["<=", "a", "b"], ["c"]]),
        ("(a ; not ) this (\n b)", [["a", "b"]]),
        ("(a;comment\rb)", [["a", "b"]]),
        ("(a;comment\r\nb);(", [["a", "b"]]),
        ("a;b;c\nd", ["a", "d"]),
        ("(+ -1 >2 ?x ?+ ++> a-b)", [["+", "-1", ">2", "?x", "?+", "++>", "a-b"]]),
        ("(\"a b\" 'c' |d|)", [['"a', 'b"', "'c'", "|d|"]]),
        ("(Fluß ΩMEGA 棋)", [["Fluß", "ΩMEGA", "棋"]]),
        ("(a\u00a0b\u2028c\x0cd)", [["a", "b", "c", "d"]]),
        ("(A a aA)", [["A", "a", "aA"]]),
    ],
)
def test_text_becomes_nodes(text: str, expected: list[object]) -> None:
    assert _read(text) == expected


def test_nodes_know_where_they_are() -> None:
    text = " (ab (c) )\n d"
    outer, last = read(Source(text))
    assert isinstance(outer, Expression)
    symbol, inner = outer.items
    for node, part in ((outer, "(ab (c) )"), (symbol, "ab"), (inner, "(c)"), (last, "d")):
        assert text[node.offset : node.end] == part


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (")", 1, 1),
        ("(", 1, 1),
        ("(a))", 1, 4),
        ("(a\n  (b)", 1, 1),
        ("(a (b (c)", 1, 4),
        ("(a)\n(b (c)\n(d)", 2, 1),
        ("(a)\r\n\r\n  (b", 3, 3),
        ("(a)\r\r  (b", 3, 3),
        ("(a)\n\r  (b", 3, 3),
        ("(a)\t\t)", 1, 6),
        ("; (\n\t)", 2, 2),
        ("(a) ; )\n)", 2, 1),
        ("ü)", 1, 2),
        ("\n" * 999 + ")", 1000, 1),
    ],
)
def test_an_unbalanced_parenthesis_is_pointed_at(text: str, line: int, column: int) -> None:
    with pytest.raises(KifSyntaxError, match="unbalanced") as caught:
        read(Source(text, "some.kif"))
    location = caught.value.location
    assert location is not None
    assert (location.line, location.column) == (line, column)
    assert str(caught.value).startswith(f"some.kif:{line}:{column}: unbalanced")
    assert len(str(caught.value).splitlines()) == 1


def test_the_first_stray_closing_parenthesis_counts() -> None:
    with pytest.raises(KifSyntaxError, match=r"^<text>:1:2:"):
        read(Source("a) b) ((("))


def test_nesting_may_be_deep_but_not_endless() -> None:
    deepest = "(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH
    assert write(read(Source(deepest))[0]) == deepest
    with pytest.raises(KifSyntaxError, match=f"^<text>:1:{MAX_DEPTH + 1}: .*deep"):
        read(Source(f"({deepest})"))
    with pytest.raises(KifSyntaxError, match="deep"):
        read(Source("(" * 1_000_000))


def test_location_and_offset_are_inverse() -> None:
    source = Source("a\nbc\r\n\rd\n")
    for offset in range(len(source.text)):
        assert source.offset(source.location(offset)) == offset


# ----------------------------------------------------------------------------------- round trip


def test_writing_keeps_the_spelling() -> None:
    (node,) = read(Source("( Mark\t1 (CELL  ?X ) ; c\n () )"))
    assert write(node) == "(Mark 1 (CELL ?X) ())"


symbols = st.text(
    st.characters(exclude_characters="();", exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")),
    min_size=1,
    max_size=5,
)
nodes = st.recursive(
    symbols, lambda inner: st.lists(inner, max_size=4).map(lambda parts: f"({' '.join(parts)})")
)
blanks = st.sampled_from([" ", "\n", "\r\n", "\r", "\t", " ; (a comment))\n", ";\r\n"])


@given(nodes)
def test_what_is_written_reads_back(text: str) -> None:
    (node,) = read(Source(text))
    assert write(node) == text


@given(st.lists(nodes, max_size=4), blanks)
def test_blanks_and_comments_mean_nothing(texts: list[str], blank: str) -> None:
    spaced = " ".join(texts).replace(" ", blank)
    assert [write(node) for node in read(Source(spaced))] == texts


@given(st.text("() ;\r\nab", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        nodes = read(Source(text))
    except KifSyntaxError as error:
        assert error.location is not None
        offset = Source(text).offset(error.location)
        assert text[offset] in "()"
    else:
        again = read(Source(" ".join(map(write, nodes))))
        assert list(map(_nested, again)) == list(map(_nested, nodes))
