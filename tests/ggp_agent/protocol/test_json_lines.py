"""Commands and replies as lines: what is written is read back, and nothing else is taken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from ggp_agent.protocol.json_lines import Unreadable, Vocabulary
from ggp_agent.protocol.worker_commands import (
    COMMANDS,
    REPLIES,
    AgentProfile,
    BadAgent,
    Command,
    Failed,
    FindMove,
    FoundMove,
    IsReady,
    IsWarm,
    Quit,
    Reply,
    SafeMove,
    StartMatch,
    Warm,
)

SAID: list[Command] = [
    Warm("uct:C=0.4"),
    StartMatch("(role x) ; ä 漢", "x", "ap", seed=2**32 - 1),
    StartMatch("", "x", "ap", 0, history=((), ("(mark 1 2)", "noop")), by=1e-3),
    FindMove(0, None, by=12345.678),
    FindMove(7, ("(mark 1 2)", "noop"), by=0.0),
    Quit(),
]
REPLIED: list[Reply] = [
    IsWarm(AgentProfile("uct", 2, 0.2, uses_clock=True)),
    BadAgent("no such agent"),
    IsReady("PropnetStateMachine"),
    SafeMove(None, "noop"),
    SafeMove(3, "noop"),
    FoundMove(3, "noop"),
    FoundMove(3, "noop", {"moves": [{"mean": None}], "depth": 1.5}),
    Failed("a line\nand another"),
]


@pytest.mark.parametrize("command", SAID, ids=lambda command: type(command).__name__)
def test_every_command_is_read_back(command: Command) -> None:
    line = COMMANDS.write(command)
    assert line.endswith("\n") and line.count("\n") == 1
    assert COMMANDS.read(line) == COMMANDS.read(line.encode()) == command


@pytest.mark.parametrize("reply", REPLIED, ids=lambda reply: type(reply).__name__)
def test_every_reply_is_read_back(reply: Reply) -> None:
    assert REPLIES.read(REPLIES.write(reply)) == reply


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\n",
        "play",
        "[]",
        "null",
        "3",
        '"Warm"',
        "{}",
        '{"agent": "uct"}',
        '{"kind": null}',
        '{"kind": ["Warm"], "agent": "uct"}',
        '{"kind": {}}',
        '{"kind": "Warm", "agent": "uct"',
        b"\xff\xfe",
    ],
)
def test_what_is_no_command_is_no_crash(line: str | bytes) -> None:
    assert isinstance(COMMANDS.read(line), Unreadable)


def test_an_unknown_kind_is_named() -> None:
    assert COMMANDS.read('{"kind": "Dance", "to": 3}') == Unreadable(
        "unknown command or reply 'Dance'"
    )
    assert isinstance(COMMANDS.read(REPLIES.write(IsReady("Fake"))), Unreadable), "not a command"


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@dataclass(frozen=True)
class Drawing:
    name: str
    shown: bool
    scale: float
    points: tuple[Point, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None


WHOLE = Drawing("d", True, 1.0, (Point(1, 2), Point(3)), {"a": [1]}, "p")
DRAWINGS: Vocabulary[Drawing] = Vocabulary(Drawing)


def test_fields_may_be_dataclasses_and_have_defaults() -> None:
    assert DRAWINGS.read(DRAWINGS.write(WHOLE)) == WHOLE
    line = '{"kind": "Drawing", "name": "d", "shown": false, "scale": 2, "points": [{"x": 1}]}'
    assert DRAWINGS.read(line) == Drawing("d", False, 2.0, (Point(1),))


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("name", 3, "name must not be 3"),
        ("name", None, "name must not be None"),
        ("shown", 1, "shown must not be 1"),
        ("scale", True, "scale must not be True"),
        ("scale", "1.0", "scale must not be '1.0'"),
        ("points", {"x": 1}, "points must not be"),
        ("points", "xy", "points must not be 'xy'"),
        ("points", [3], "Point must be an object, not 3"),
        ("points", [{"x": 1.5}], "x must not be 1.5"),
        ("points", [{"y": 1}], "x is missing"),
        ("points", [{"x": 1, "z": 1}], "z is unknown"),
        ("about", [], "about must not be"),
        ("parent", 3, "parent must not be 3"),
        ("colour", "red", "colour is unknown"),
    ],
)
def test_fields_of_another_type_are_refused(name: str, value: object, complaint: str) -> None:
    values = json.loads(DRAWINGS.write(WHOLE))
    read = DRAWINGS.read(json.dumps({**values, name: value}))
    assert isinstance(read, Unreadable)
    assert read.text.startswith("a malformed Drawing: ") and complaint in read.text


def test_a_missing_field_is_named() -> None:
    assert COMMANDS.read('{"kind": "Warm"}') == Unreadable("a malformed Warm: agent is missing")
