"""What the server tells the process that thinks, and what that replies.

Moves, roles and rules are texts as in the GDL protocol; times to answer by are readings of
`time.monotonic()`, which is one clock for all processes of a machine; an agent is a text as
`ggp_agent.mind.agents.read_agent` reads it, `uct:C=0.4:simulations=1000`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ggp_agent.protocol.json_lines import Vocabulary

# --- Commands ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Warm:
    """Load everything that takes long for this agent; the answer is `IsWarm` or `BadAgent`."""

    agent: str


@dataclass(frozen=True, slots=True)
class StartMatch:
    """A match begins, or is taken over after the joint moves of `history`; think until `by`.

    Answered by `IsReady` and `SafeMove`, again whenever a better reasoner takes over.
    """

    rules: str
    role: str
    agent: str
    seed: int
    history: tuple[tuple[str, ...], ...] = ()
    by: float = 0.0


@dataclass(frozen=True, slots=True)
class FindMove:
    """Take in a joint move (None: none since the last command), and find a move until `by`.

    Answered by `SafeMove` at once and by `FoundMove`, both with the same number of the request.
    """

    request: int
    moves: tuple[str, ...] | None
    by: float


@dataclass(frozen=True, slots=True)
class Quit:
    """End; so does the end of the commands."""


Command = Warm | StartMatch | FindMove | Quit
COMMANDS: Vocabulary[Command] = Vocabulary(Warm, StartMatch, FindMove, Quit)

# --- Replies -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """What the server has to know of an agent."""

    name: str
    threads: int
    """with how many threads it thinks"""
    margin: float
    """how many seconds before the clock runs out its answers are to leave, at least"""
    uses_clock: bool
    """whether it thinks for as long as the clock allows"""


@dataclass(frozen=True, slots=True)
class IsWarm:
    """All is loaded."""

    agent: AgentProfile


@dataclass(frozen=True, slots=True)
class BadAgent:
    """The text does not describe an agent."""

    text: str


@dataclass(frozen=True, slots=True)
class IsReady:
    """There is a reasoner for the rules, of this kind."""

    reasoner: str


@dataclass(frozen=True, slots=True)
class SafeMove:
    """A legal move of the state just entered, to have one whatever happens.

    `request` is the number of the last `FindMove`, None before the first.
    """

    request: int | None
    move: str


@dataclass(frozen=True, slots=True)
class FoundMove:
    """The answer to `FindMove`; the report says what it took (empty for a repeated answer)."""

    request: int
    move: str
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """A command that could not be carried out, and why."""

    text: str


Reply = IsWarm | BadAgent | IsReady | SafeMove | FoundMove | Failed
REPLIES: Vocabulary[Reply] = Vocabulary(IsWarm, BadAgent, IsReady, SafeMove, FoundMove, Failed)
