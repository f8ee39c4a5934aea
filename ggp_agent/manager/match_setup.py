"""What is played, and how, and what those who watch a match are told of it."""

from __future__ import annotations

import math
import re
import secrets
import time
from dataclasses import dataclass

from gdl.rules import RuleSheet, Term
from gdl.state_machine import Move, StateMachine
from ggp_agent.errors import GameError
from ggp_agent.manager.record import GAME_URL

_MATCH_ID = re.compile(r"[A-Za-z0-9_.+-]+")


@dataclass(frozen=True, kw_only=True)
class MatchSetup:
    """What is played, and how: everything about a match but its players.

    Clocks and graces are seconds; a grace is how much longer than the clock the manager waits.
    Raises `GameError` for values that no match can have.
    """

    match_id: str
    game: str
    game_url: str
    sheet: RuleSheet
    machine: StateMachine
    start_clock: float
    play_clock: float
    seed: int
    scramble: bool = False
    tournament: str = ""
    start_grace: float = 0.0
    play_grace: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        for name, seconds in (("start", self.start_clock), ("play", self.play_clock)):
            if not (math.isfinite(seconds) and seconds > 0):
                raise GameError(f"the {name} clock must be more than 0 seconds, not {seconds:g}")
        if not _MATCH_ID.fullmatch(self.match_id):
            raise GameError(
                f"'{self.match_id}' can't be a match id; use letters, digits, '.', '_', '+', '-'"
            )
        if not GAME_URL.fullmatch(self.game_url):
            raise GameError(f"the game's address must end in /vN/, unlike '{self.game_url}'")


def new_match_id(game: str) -> str:
    """A match id that no other match has: `local.ticTacToe.1795818797254-9f3a1c`."""
    word = re.sub(r"[^A-Za-z0-9_+-]", "_", game) or "game"
    return f"local.{word}.{time.time_ns() // 1_000_000}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """A match is about to begin; the names of the players are in the order of the roles."""

    match_id: str
    game: str
    roles: tuple[Term, ...]
    player_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateReached:
    """The match is in a state; step 0 is the initial one, which no joint move led to.

    `errors` and `thinking_times` (milliseconds) have one entry per role, "" and 0 for nothing.
    """

    step: int
    fluents: frozenset[Term]
    joint_move: tuple[Move, ...] | None
    errors: tuple[str, ...]
    thinking_times: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match was played to its end; one goal value per role."""

    goals: tuple[int, ...]


Event = MatchStarted | StateReached | MatchEnded
