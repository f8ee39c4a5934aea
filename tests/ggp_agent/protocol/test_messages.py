"""Messages of the GDL protocol: what managers send, what we would send, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.errors import MessageError
from ggp_agent.protocol.messages import (
    Abort,
    Info,
    Message,
    Play,
    Preview,
    Start,
    Stop,
    move_term,
    parse_message,
)

RULES = "( role xplayer ) ( <= terminal ( not open ) )"

READ: dict[str, tuple[str, Message]] = {
    "info": ("( INFO )", Info()),
    "info, lower case": ("(info)", Info()),
    "info, no parentheses": ("INFO", Info()),
    "info, comments": ("; (\r\n(INFO ; )\r\n)", Info()),
    "preview": (f"( PREVIEW ({RULES}) 2 )", Preview(RULES, 2.0)),
    "preview, no clock": (f"( PREVIEW ({RULES}) )", Preview(RULES, 0.0)),
    "start, GB": (f"( START gb.1 xplayer ({RULES}) 4 2)", Start("gb.1", "xplayer", RULES, 4, 2)),
    "start, DR": (
        "(START A_Match XPLAYER ((ROLE XPLAYER)) 4 2)",
        Start("A_Match", "XPLAYER", "(ROLE XPLAYER)", 4, 2),
    ),
    "start, decimals and more": (
        "(start m x ((role x)) 0.5 2.25 more (and more))",
        Start("m", "x", "(role x)", 0.5, 2.25),
    ),
    "start, rules keep their layout": (
        "(START m x (\r\n(role x)\t; me\r\n) 4 2)",
        Start("m", "x", "\r\n(role x)\t; me\r\n", 4, 2),
    ),
    "play, first": ("( PLAY gb.1 NIL )", Play("gb.1", None)),
    "play, first, lower case": ("(play gb.1 nil)", Play("gb.1", None)),
    "play, another atom": ("(PLAY gb.1 none)", Play("gb.1", None)),
    "play, GB": ("( PLAY gb.1 (noop ( mark 2 2 ) ) )", Play("gb.1", ("noop", "(mark 2 2)"))),
    "play, DR": ("(PLAY A ((MARK 1 2) NOOP))", Play("A", ("(MARK 1 2)", "NOOP"))),
    "play, one player": ("(PLAY m ((move (a b) 3)))", Play("m", ("(move (a b) 3)",))),
    "stop": ("( STOP m (( mark 2 1 ) noop ) )", Stop("m", ("(mark 2 1)", "noop"))),
    "stop, nil": ("( STOP m NIL )", Stop("m", None)),
    "stop, nothing": ("( STOP m )", Stop("m", None)),
    "stop, empty list": ("(STOP m ())", Stop("m", ())),
    "stop, a bare move": ("(STOP m (mark 2 1))", Stop("m", ("mark", "2", "1"))),
    "abort": ("( ABORT gb.1 )", Abort("gb.1")),
}


@pytest.mark.parametrize(("text", "message"), READ.values(), ids=READ.keys())
def test_messages_are_read(text: str, message: Message) -> None:
    assert parse_message(text) == message


WRITTEN: list[tuple[Message, str]] = [
    (Info(), "( INFO )"),
    (Preview(RULES, 2), f"( PREVIEW ({RULES}) 2 )"),
    (Start("m", "x", RULES, 4, 0.5), f"( START m x ({RULES}) 4 0.5)"),
    (Play("m", None), "( PLAY m NIL )"),
    (Play("m", ("noop", "(mark 2 2)")), "( PLAY m (noop (mark 2 2)) )"),
    (Stop("m", None), "( STOP m NIL )"),
    (Stop("m", ("noop",)), "( STOP m (noop) )"),
    (Abort("m"), "( ABORT m )"),
]


@pytest.mark.parametrize(("message", "text"), WRITTEN)
def test_messages_are_written_as_managers_write_them(message: Message, text: str) -> None:
    assert str(message) == text
    assert parse_message(text) == message


@pytest.mark.parametrize("end", ["; the end", "; one\r; two", "(init a);x"])
def test_a_comment_at_the_end_of_the_rules_does_not_swallow_the_message(end: str) -> None:
    for message in (Start("m", "x", f"(role x) {end}", 4, 2), Preview(f"(role x) {end}", 2)):
        again = parse_message(str(message))
        assert isinstance(again, Start | Preview)
        assert again.rules == message.rules + "\n"


SYMBOLS = st.text("abcXYZ019_+->.é", min_size=1, max_size=6)
TERMS = st.recursive(
    SYMBOLS, lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda t: f"({' '.join(t)})")
)
MOVES = st.none() | st.lists(TERMS, min_size=1, max_size=4).map(tuple)


@given(match_id=SYMBOLS, moves=MOVES)
def test_play_and_stop_read_back(match_id: str, moves: tuple[str, ...] | None) -> None:
    for message in (Play(match_id, moves), Stop(match_id, moves)):
        assert parse_message(str(message)) == message


@given(
    text=st.text() | st.text("()INFOPLAYSTmx ;\n0.", max_size=60),
    word=st.sampled_from(["INFO", "PREVIEW", "START m x", "PLAY m", "STOP", "ABORT", ""]),
)
def test_any_text_is_a_message_or_refused_in_one_line(text: str, word: str) -> None:
    for candidate in (text, f"({word} {text})"):
        try:
            parse_message(candidate)
        except MessageError as error:
            assert str(error) and len(str(error).splitlines()) == 1


REFUSED = {
    "empty": ("", "empty message"),
    "a comment": ("; ( INFO )", "empty message"),
    "no word": ("()", "starts with its word"),
    "a list for a word": ("((INFO))", "starts with its word"),
    "unknown word": ("( GO )", "unknown message 'GO'; known: INFO, PREVIEW, START"),
    "unbalanced": ("( PLAY m (a b)", r"message:1:1: unbalanced '\('"),
    "unbalanced, second line": ("( PLAY\n m (a b )", "message:1:1"),
    "closed too often": ("( INFO ))", "message:1:9"),
    "nested too deep": ("(" * 300 + ")" * 300, "nested more than 200 deep"),
    "start, too few": ("(START m x ((role x)) 4)", r"at least 5 arguments, got 4: \( START ID"),
    "start, no rules": ("(START m x rules 4 2)", "rules must be a list"),
    "start, id a list": ("(START (m) x ((role x)) 4 2)", "id must be one word"),
    "start, clock a word": ("(START m x ((role x)) soon 2)", "start clock must be a number"),
    "start, clock a list": ("(START m x ((role x)) 4 (2))", "play clock must be a number"),
    "start, negative": ("(START m x ((role x)) 4 -1)", "play clock must be a number"),
    "start, infinite": ("(START m x ((role x)) Infinity 1)", "start clock must be a number"),
    "start, not a number": ("(START m x ((role x)) nan 1)", "start clock must be a number"),
    "preview, nothing": ("(PREVIEW)", "PREVIEW needs at least 1"),
    "play, no moves": ("(PLAY m)", "PLAY needs at least 2"),
    "play, empty list": ("(PLAY m ())", "send NIL before the first move"),
    "stop, no id": ("(STOP)", "STOP needs at least 1"),
    "abort, no id": ("(ABORT)", "ABORT needs at least 1"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_and_why(text: str, reason: str) -> None:
    with pytest.raises(MessageError, match=reason):
        parse_message(text)


def test_moves_become_terms() -> None:
    assert move_term("(MARK 1 2)") == ("mark", "1", "2")
    assert move_term("(noop)") == move_term(" NOOP ; nothing") == "noop"


@pytest.mark.parametrize("text", ["", "a b", "(a", "a)", "()", "((a) b)"])
def test_moves_that_are_none(text: str) -> None:
    with pytest.raises(MessageError):
        move_term(text)
