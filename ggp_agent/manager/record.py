"""The record of a match, in the JSON that viewers and archives of public matches read.

`MatchRecord` grows with the match and is saved after every step.  What is wrong with a record,
whoever wrote it, `ggp_agent.manager.record_validation` says.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import string
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gdl.errors import GgpError
from gdl.rules import Term
from gdl.state_machine import order

NO_ERROR, TIMEOUT, CONNECTION_ERROR = "", "TO", "CE"
ILLEGAL = "IL "
"""An illegal move's entry is this and the move."""

GAME_URL = re.compile(r"\S+/v[0-9]+/")
"""A game's address names a version of it, so that a record can be replayed for ever."""

NO_PREVIEW = -1
TOKEN_LENGTH = 32


class MatchRecord:
    """What happened in a match so far.

    States and moves are given as texts, in the spelling of the rule sheet.  Row 0 of `errors` and
    of the thinking times belongs to START, row i to move i.
    """

    def __init__(
        self,
        *,
        match_id: str,
        game_url: str,
        players: Sequence[str],
        start_clock: float,
        play_clock: float,
        scrambled: bool,
        tournament: str = "",
        extras: Mapping[str, Any] | None = None,
    ) -> None:
        """`extras` go into the record as they are; their keys must start with `x-`."""
        self.match_id = match_id
        self.game_url = game_url
        self.players = tuple(players)
        self.start_clock = start_clock
        self.play_clock = play_clock
        self.scrambled = scrambled
        self.tournament = tournament
        self.extras = dict(extras or {})
        self.token = _random_token()
        self.start_time = _now()
        self.states: list[str] = []
        self.moves: list[list[str]] = []
        self.state_times: list[int] = []
        self.errors: list[list[str]] = []
        self.thinking_times: list[list[int]] = []
        self.goals: tuple[int, ...] | None = None
        self.is_aborted = False

    @property
    def is_completed(self) -> bool:
        """Whether the match was played to its end."""
        return self.goals is not None

    def begin(self, state: str) -> None:
        """Enter the initial state."""
        self._enter(state, [NO_ERROR] * len(self.players), [0] * len(self.players))

    def started(self, errors: Sequence[str], thinking_times: Sequence[int]) -> None:
        """Enter how START went, per role."""
        self.errors[0] = list(errors)
        self.thinking_times[0] = list(thinking_times)

    def step(
        self,
        moves: Sequence[str],
        state: str,
        errors: Sequence[str],
        thinking_times: Sequence[int],
    ) -> None:
        """Enter a joint move and the state it leads to; the times are milliseconds per role."""
        self.moves.append(list(moves))
        self._enter(state, errors, thinking_times)

    def complete(self, goals: Sequence[int]) -> None:
        """The match has ended with these goals."""
        self.goals = tuple(goals)

    def abort(self) -> None:
        """The match ends without a result."""
        self.is_aborted = True

    def as_json(self) -> dict[str, Any]:
        """The record as a JSON object."""
        record: dict[str, Any] = {
            "matchId": self.match_id,
            "randomToken": self.token,
            "startTime": self.start_time,
            "gameMetaURL": self.game_url,
            "isCompleted": self.is_completed,
            "isAborted": self.is_aborted,
            "states": list(self.states),
            "moves": [list(row) for row in self.moves],
            "stateTimes": list(self.state_times),
            "errors": [list(row) for row in self.errors],
            "previewClock": NO_PREVIEW,
            "startClock": _whole(self.start_clock),
            "playClock": _whole(self.play_clock),
            "playerNamesFromHost": list(self.players),
            "isPlayerHuman": [False] * len(self.players),
            "tournamentNameFromHost": self.tournament,
            "scrambled": self.scrambled,
            "x-thinkingTimes": [list(row) for row in self.thinking_times],
            **self.extras,
        }
        if self.goals is not None:
            record["goalValues"] = list(self.goals)
        return record

    def path_in(self, directory: str | Path) -> Path:
        """Where `save` puts the record."""
        return Path(directory) / f"{self.match_id}.json"

    def save(self, directory: str | Path) -> Path:
        """Write the record; whoever reads or is killed meanwhile finds a whole one, old or new."""
        path = self.path_in(directory)
        temporary = path.with_name(f".{path.name}.tmp")
        text = json.dumps(self.as_json()) + "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(text, encoding="ascii")
            os.replace(temporary, path)
        except OSError as error:
            _remove(temporary)
            raise GgpError(f"cannot write the match record {path}: {error.strerror}") from error
        return path

    def _enter(self, state: str, errors: Sequence[str], thinking_times: Sequence[int]) -> None:
        self.states.append(state)
        # The system's clock may be set back during a match; times in a record never go back.
        self.state_times.append(max([_now(), self.start_time, *self.state_times[-1:]]))
        self.errors.append(list(errors))
        self.thinking_times.append(list(thinking_times))


def state_text(fluents: Iterable[Term], write: Callable[[Term], str]) -> str:
    """A state as records have it, `( ( cell 1 1 b ) ( control x ) )`, in a fixed order."""
    return "( " + "".join(f"{write(fluent)} " for fluent in sorted(fluents, key=order)) + ")"


def _now() -> int:
    return time.time_ns() // 1_000_000


def _random_token() -> str:
    alphabet = string.ascii_letters + string.digits
    return "".join(secrets.choice(alphabet) for _ in range(TOKEN_LENGTH))


def _whole(clock: float) -> float:
    """Whole seconds as an integer: what other readers of records expect."""
    return int(clock) if float(clock).is_integer() else clock


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return  # the trouble that made us remove it is the one to report
