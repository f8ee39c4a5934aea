"""What a tournament tells a process that runs matches, and what that replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ggp_agent.manager.tournament.contestants import Contestant
from ggp_agent.protocol.json_lines import Vocabulary

# --- Commands ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A match to run; `seats` has the contestant of every role, one URL each over HTTP."""

    match_id: str
    tournament: str
    game: str
    game_url: str
    rules: str
    round: int
    seed: int
    seats: tuple[Contestant, ...]
    simulations: int
    start_clock: float
    play_clock: float
    scramble: bool
    records: str
    by_clock: bool
    """whether the clock decides how long somebody thinks"""
    isolated: bool
    """whether every agent gets a process of its own"""


@dataclass(frozen=True, slots=True)
class Warm:
    """Load everything that takes long, and these tuners; answered by `IsWarm`."""

    tuners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunMatch:
    """Run a match; answered by `Step` whenever it has gone on, then by `Done` or `Failed`."""

    job: Job


Command = Warm | RunMatch
COMMANDS: Vocabulary[Command] = Vocabulary(Warm, RunMatch)

# --- Replies -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IsWarm:
    """All is loaded."""


@dataclass(frozen=True, slots=True)
class Step:
    """The match goes on: so that one that hangs is noticed."""


@dataclass(frozen=True, slots=True)
class Done:
    """The match is over; `result` is a `MatchResult` as JSON."""

    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """A command that was not carried out, and why.

    `hopeless` says that the match can't be played at all; else the process is to blame.
    """

    text: str
    hopeless: bool


Reply = IsWarm | Step | Done | Failed
REPLIES: Vocabulary[Reply] = Vocabulary(IsWarm, Step, Done, Failed)
