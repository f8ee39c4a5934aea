"""The settings of a tournament, each declared once: config files and command-line flags use these.

A config file is TOML with the settings' names as keys; a flag is the same name with hyphens.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ggp_agent.errors import TournamentError
from ggp_agent.manager.tournament.contestants import Contestant


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting; `kind` is one of the keys of `_CHECKS`."""

    name: str
    kind: str
    help: str

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("name", "text", "Name of the tournament; default: that of the config file."),
        Setting("games", "texts", 'Games by key or rule sheet; "all" is the whole library.'),
        Setting(
            "agents",
            "agents",
            "Who plays: agents (uct:C=0.4) or URLs (http://host:9147), with a name of your "
            "choice in front (strong=uct:C=0.4).",
        ),
        Setting(
            "matches",
            "count",
            "Least matches per game and pair of agents, rounded up to whole rounds; default 100.",
        ),
        Setting("simulations", "count", "Budget per move in simulations, instead of the clock."),
        Setting(
            "start_clock",
            "seconds",
            "Seconds to study the rules; default 1, and 60 where simulations are the budget.",
        ),
        Setting(
            "play_clock",
            "seconds",
            "Seconds for each move; default 1, and 60 where simulations are the budget.",
        ),
        Setting("scramble", "switch", "Rename everything in the rules sent to players."),
        Setting("seed", "number", "Seed of every random choice; default: a new one, recorded."),
        Setting("cores", "count", "Cores to use; default: all that there are."),
        Setting(
            "cores_per_match",
            "count",
            "Cores a match owns; default: one for each agent that thinks by the clock.",
        ),
        Setting("directory", "text", "Folder of the results; default: tournaments/NAME."),
        Setting(
            "sprt",
            "pair",
            "Stop when the first of two agents has a win percentage of H0 or of H1, two numbers.",
        ),
        Setting("alpha", "chance", "Chance that the test finds for H1 wrongly; default 0.05."),
        Setting("beta", "chance", "Chance that the test finds for H0 wrongly; default 0.05."),
    )
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_integer(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(v, str) and v for v in value)


_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "text": ("a text", lambda v: isinstance(v, str) and bool(v)),
    "texts": ("a list of texts", lambda v: _are_texts(v) and len(v) > 0),
    "count": ("a whole number from 1", lambda v: _is_integer(v, 1)),
    "number": ("a whole number from 0", lambda v: _is_integer(v, 0) and v < 2**64),
    "seconds": ("a number above 0", lambda v: _is_number(v) and v > 0),
    "switch": ("true or false", lambda v: isinstance(v, bool)),
    "chance": ("a number above 0 and below 0.5", lambda v: _is_number(v) and 0 < v < 0.5),
    "pair": (
        "two numbers of percent, 0 < H0 < H1 < 100",
        lambda v: (
            isinstance(v, list | tuple)
            and len(v) == 2
            and all(map(_is_number, v))
            and 0 < v[0] < v[1] < 100
        ),
    ),
    "agents": (
        "a list of texts, or tables",
        lambda v: bool(v) and (_are_texts(v) or _are_tables(v)),
    ),
}


def _are_tables(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(v, Mapping) for v in value.values())


def check_settings(values: Mapping[str, Any], where: str, text: str = "") -> dict[str, Any]:
    """The settings with contestants made of `agents`.

    Raises `TournamentError` that says where something is wrong: `where`, and the line if the text
    of the file is given.
    """
    checked = dict(values)
    for key, value in values.items():
        place = _place(where, text, key)
        if key not in SETTINGS:
            raise TournamentError(f"{place}: unknown key '{key}'{_suggestion(key)}")
        wanted, check = _CHECKS[SETTINGS[key].kind]
        if not check(value):
            raise TournamentError(f"{place}: '{key}' must be {wanted}, not {value!r}")
        if key == "agents":
            checked[key] = _contestants(value, where, text)
    return checked


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, checked."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise TournamentError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TournamentError(f"{path} is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise TournamentError(f"{path} is not TOML: {error}") from error
    return check_settings(values, str(path), text)


def _contestants(value: Any, where: str, text: str) -> tuple[Contestant, ...]:
    found = []
    for item in value:
        try:
            if isinstance(value, Mapping):
                found.append(Contestant.from_table(item, value[item]))
            else:
                found.append(Contestant.parse(item))
        except TournamentError as error:
            key = item if isinstance(value, Mapping) else "agents"
            raise TournamentError(f"{_place(where, text, key)}: {error}") from error
    return tuple(found)


def _place(where: str, text: str, key: str) -> str:
    """Where a key is: the line that sets it or the table of its name, as far as can be told."""
    word = rf"[\"']?{re.escape(key)}[\"']?"
    pattern = re.compile(rf"\s*(?:(?:\S+\.)?{word}\s*=|\[+\s*(?:[^\]\s]+\.)?{word}[.\s\]])")
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.match(line):
            return f"{where}, line {number}"
    return where


def _suggestion(key: str) -> str:
    close = difflib.get_close_matches(key, SETTINGS, n=1)
    return f" (did you mean '{close[0]}'?)" if close else f"; known: {', '.join(SETTINGS)}"
