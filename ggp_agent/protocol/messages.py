"""The messages of the GDL protocol as values; no I/O.

Source: GGP's "GDL HTTP protocol" as public managers really speak it: message words in any case,
`NIL` for "no moves yet", further arguments ignored, clocks in seconds.  `parse_message` reads a
request body, `str(message)` writes one in the layout of the public GameServer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from gdl.errors import RuleSheetError
from gdl.kif import Expression, Node, Source, Symbol, read, write
from gdl.rules import Term, term_from
from ggp_agent.errors import MessageError

READY, BUSY, DONE, ABORTED = "ready", "busy", "done", "aborted"


@dataclass(frozen=True, slots=True)
class Info:
    """Is the player there, and is it free?"""

    def __str__(self) -> str:
        return "( INFO )"


@dataclass(frozen=True, slots=True)
class Preview:
    """Rules to look at before a match: `rules` is KIF text, the clock in seconds."""

    rules: str
    clock: float

    def __str__(self) -> str:
        return f"( PREVIEW {_rules_text(self.rules)} {self.clock:g} )"


@dataclass(frozen=True, slots=True)
class Start:
    """A match begins: `role` is ours as the manager spells it, `rules` KIF text, clocks seconds."""

    match_id: str
    role: str
    rules: str
    start_clock: float
    play_clock: float

    def __str__(self) -> str:
        return (
            f"( START {self.match_id} {self.role} {_rules_text(self.rules)} "
            f"{self.start_clock:g} {self.play_clock:g})"
        )


@dataclass(frozen=True, slots=True)
class Play:
    """Choose the next move; `moves` is the last joint move as KIF texts, None before the first."""

    match_id: str
    moves: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"( PLAY {self.match_id} {_moves_text(self.moves)} )"


@dataclass(frozen=True, slots=True)
class Stop:
    """The match is over; `moves` as in `Play`."""

    match_id: str
    moves: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"( STOP {self.match_id} {_moves_text(self.moves)} )"


@dataclass(frozen=True, slots=True)
class Abort:
    """The match ends without a result."""

    match_id: str

    def __str__(self) -> str:
        return f"( ABORT {self.match_id} )"


Message = Info | Preview | Start | Play | Stop | Abort


def parse_message(text: str) -> Message:
    """Read a request body.  Raises `MessageError` that says what a manager should have sent."""
    source = Source(text, "message")
    try:
        nodes = read(source)
    except RuleSheetError as error:
        raise MessageError(str(error)) from error
    if not nodes:
        raise MessageError("empty message; send one like ( INFO )")
    node = nodes[0]
    items = node.items if isinstance(node, Expression) else (node,)
    if not items or not isinstance(items[0], Symbol):
        raise MessageError("a message starts with its word, like ( INFO )")
    word, arguments = items[0].text.upper(), items[1:]
    parser = _PARSERS.get(word)
    if parser is None:
        raise MessageError(f"unknown message '{items[0].text[:40]}'; known: {', '.join(_PARSERS)}")
    return parser(word, arguments, source)


def move_term(text: str) -> Term:
    """A move's text as a term.  Raises `MessageError`."""
    source = Source(text, "move")
    try:
        nodes = read(source)
        if len(nodes) != 1:
            raise MessageError(f"a move is one term, not {len(nodes)}: {text[:80]!r}")
        return term_from(nodes[0], source)
    except RuleSheetError as error:
        raise MessageError(str(error)) from error


def _rules_text(rules: str) -> str:
    """Rules as a list; a comment at their end must not swallow the `)`."""
    last_line = re.split(r"[\r\n]", rules)[-1]
    return f"({rules}\n)" if ";" in last_line else f"({rules})"


def _moves_text(moves: tuple[str, ...] | None) -> str:
    return "NIL" if moves is None else "(" + " ".join(moves) + ")"


def _parse_info(_word: str, _arguments: tuple[Node, ...], _source: Source) -> Info:
    return Info()


def _parse_preview(word: str, arguments: tuple[Node, ...], source: Source) -> Preview:
    _at_least(word, arguments, 1, "(RULES) CLOCK")
    clock = _clock(arguments[1], "clock") if len(arguments) > 1 else 0.0
    return Preview(_rules(arguments[0], source), clock)


def _parse_start(word: str, arguments: tuple[Node, ...], source: Source) -> Start:
    _at_least(word, arguments, 5, "ID ROLE (RULES) STARTCLOCK PLAYCLOCK")
    return Start(
        _match_id(arguments[0]),
        write(arguments[1]),
        _rules(arguments[2], source),
        _clock(arguments[3], "start clock"),
        _clock(arguments[4], "play clock"),
    )


def _parse_play(word: str, arguments: tuple[Node, ...], _source: Source) -> Play:
    _at_least(word, arguments, 2, "ID NIL, or ID (MOVE...)")
    return Play(_match_id(arguments[0]), _moves(arguments[1], word))


def _parse_stop(word: str, arguments: tuple[Node, ...], _source: Source) -> Stop:
    _at_least(word, arguments, 1, "ID (MOVE...)")
    return Stop(_match_id(arguments[0]), _moves(arguments[1], word) if arguments[1:] else None)


def _parse_abort(word: str, arguments: tuple[Node, ...], _source: Source) -> Abort:
    _at_least(word, arguments, 1, "ID")
    return Abort(_match_id(arguments[0]))


_PARSERS: dict[str, Callable[[str, tuple[Node, ...], Source], Message]] = {
    "INFO": _parse_info,
    "PREVIEW": _parse_preview,
    "START": _parse_start,
    "PLAY": _parse_play,
    "STOP": _parse_stop,
    "ABORT": _parse_abort,
}


def _at_least(word: str, arguments: tuple[Node, ...], count: int, wanted: str) -> None:
    if len(arguments) < count:
        raise MessageError(
            f"{word} needs at least {count} arguments, got {len(arguments)}: ( {word} {wanted} )"
        )


def _match_id(node: Node) -> str:
    if not isinstance(node, Symbol):
        raise MessageError("the match id must be one word, not a list")
    return node.text


def _rules(node: Node, source: Source) -> str:
    if not isinstance(node, Expression):
        raise MessageError("the rules must be a list: ((role white) ...)")
    return source.text[node.offset + 1 : node.end - 1]


def _clock(node: Node, what: str) -> float:
    try:
        seconds = float(node.text) if isinstance(node, Symbol) else math.nan
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise MessageError(f"the {what} must be a number of seconds, not {write(node)[:40]!r}")
    return seconds


def _moves(node: Node, word: str) -> tuple[str, ...] | None:
    """The joint move of PLAY or STOP; an atom (NIL) means none yet.

    One manager sends STOP with a bare move instead of a list.  Its name is an atom where a joint
    move's first item may be one as well, so that `(mark 1 2)` can only be told from a list of
    three moves by the number of roles; the match does that.
    """
    if isinstance(node, Symbol):
        return None
    if word == "PLAY" and not node.items:
        raise MessageError("PLAY with an empty list of moves; send NIL before the first move")
    return tuple(write(item) for item in node.items)
