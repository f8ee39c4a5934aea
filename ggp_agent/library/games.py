"""Finding games: those of the package `games` by their key, others by the path of a rule sheet.

A game is a folder in the layout of the ggp.org repositories: `METADATA` (JSON) names the rule
sheet (`rulesheet`), the game (`gameName`) and a text file that describes it (`description`).  Keys
of our own start with `x-`: the number of roles, the kind of game, whether the goals always add up
to the same, the source of the rules, and the board (see `ggp_agent.library.boards`).  All of them
may be missing in games from elsewhere, and a lone `.kif` file is a game without metadata.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from gdl.rules import RuleSheet
from ggp_agent.errors import GameError
from ggp_agent.library.board_descriptions import BoardDescription

METADATA = "METADATA"
KINDS = ("turn-taking", "simultaneous", "single-player")


@dataclass(frozen=True, slots=True)
class Game:
    """A game: its rule sheet's path, and what its METADATA says (None where it says nothing)."""

    key: str
    name: str
    path: Path
    """the rule sheet"""
    description: str = ""
    roles: int | None = None
    """number of roles"""
    kind: str | None = None
    """one of `KINDS`"""
    constant_sum: bool | None = None
    """whether the goals of all roles add up to the same at every end of the game"""
    source: str | None = None
    """where the rules of the game come from"""
    board: BoardDescription | None = None

    def text(self) -> str:
        """The text of the rule sheet.  Raises `GameError` where it can't be read."""
        return _read(self.path)

    def rule_sheet(self) -> RuleSheet:
        """The rule sheet.  Raises `GameError` or, where it is not well formed, `RuleSheetError`."""
        return RuleSheet.from_text(self.text(), str(self.path))


def games() -> tuple[Game, ...]:
    """All games of the library, sorted by key."""
    folders = sorted(_library().values(), key=lambda folder: folder.name.lower())
    return tuple(_game_in(folder) for folder in folders)


def find_game(key_or_path: str) -> Game:
    """The game with this key (in any case), or the one at this path.

    A path is that of a rule sheet, which takes the METADATA beside it if these name it, or of a
    game's folder.  Raises `GameError` where there is no such game.
    """
    folder = _library().get(key_or_path.lower())
    if folder is not None:
        return _game_in(folder)
    path = Path(key_or_path)
    try:
        if key_or_path and path.is_dir():
            return _game_in(path)
        if path.is_file():
            return _game_of(path)
        exists = bool(key_or_path) and path.exists()
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise GameError(f"cannot read {_shown(key_or_path)}: {reason}") from error
    if exists:
        raise GameError(f"{_shown(key_or_path)} is neither a file nor a folder")
    raise GameError(_unknown(key_or_path))


def _library() -> dict[str, Path]:
    """The folders of our own games by their key in lower case."""
    root = Path(str(resources.files("games")))
    return {path.parent.name.lower(): path.parent for path in root.glob(f"*/{METADATA}")}


def _unknown(name: str) -> str:
    if name.lower().endswith(".kif") or "/" in name or "\\" in name:
        return f"no such file or folder: {_shown(name)}; `ggp-agent games` lists the games by key"
    keys = {folder.name.lower(): folder.name for folder in _library().values()}
    close = [keys[key] for key in get_close_matches(name.lower(), keys, n=3)]
    suggestion = f" (did you mean {' or '.join(close)}?)" if close else ""
    return f"unknown game {_shown(name)}{suggestion}; `ggp-agent games` lists them"


def _shown(name: str) -> str:
    """A name from outside, fit for one line of a message."""
    return repr(name if len(name) <= 200 else name[:200] + "...")


def _game_of(path: Path) -> Game:
    """The game whose rule sheet is this file."""
    file = path.parent / METADATA
    if file.is_file() and _Metadata(file).names(path):
        return _game_in(path.parent)
    return Game(key=path.stem, name=path.stem, path=path)


def _game_in(folder: Path) -> Game:
    """The game in a folder: by its METADATA, or without these the only rule sheet in it."""
    key = folder.name or folder.resolve().name
    file = folder / METADATA
    if not file.is_file():
        sheets = sorted(folder.glob("*.kif"))
        if len(sheets) != 1:
            found = "no rule sheet" if not sheets else f"{len(sheets)} rule sheets"
            raise GameError(f"{folder}: {found} and no {METADATA} in it; name a .kif file")
        return Game(key=key, name=key, path=sheets[0])
    metadata = _Metadata(file)
    return Game(
        key=key,
        name=metadata.text("gameName") or key,
        path=metadata.rule_sheet(),
        description=metadata.description(),
        roles=metadata.number("x-roles"),
        kind=metadata.choice("x-kind", KINDS),
        constant_sum=metadata.flag("x-constantSum"),
        source=metadata.text("x-source"),
        board=metadata.board(),
    )


class _Metadata:
    """A METADATA file.  Whatever is wrong with it is a `GameError` that names the file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            data = json.loads(file.read_bytes().decode("utf-8-sig"))
        except OSError as error:
            raise self._error(f"cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise self._error("is not UTF-8 text") from error
        except (ValueError, RecursionError) as error:
            raise self._error(f"is not JSON: {error}") from error
        if not isinstance(data, dict):
            raise self._error("must be a JSON object")
        self._data: dict[str, Any] = data

    def text(self, key: str) -> str | None:
        value = self._data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self._error(f"'{key}' must be text, not {value!r}")
        return value

    def number(self, key: str) -> int | None:
        value = self._data.get(key)
        if value is not None and (type(value) is not int or value < 1):
            raise self._error(f"'{key}' must be a whole number from 1, not {value!r}")
        return value

    def flag(self, key: str) -> bool | None:
        value = self._data.get(key)
        if value is not None and not isinstance(value, bool):
            raise self._error(f"'{key}' must be true or false, not {value!r}")
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        value = self.text(key)
        if value is not None and value not in choices:
            raise self._error(f"'{key}' must be one of {', '.join(choices)}, not {value!r}")
        return value

    def rule_sheet(self) -> Path:
        """The path of the rule sheet, which must be there."""
        name = self.text("rulesheet")
        if name is None:
            raise self._error("the key 'rulesheet' is missing; it names the .kif file")
        path = self._beside(name)
        if path is None:
            raise self._error(f"its 'rulesheet' {name!r} is not a file in the same folder")
        return path

    def names(self, path: Path) -> bool:
        """Whether this file is the METADATA of that rule sheet."""
        name = self.text("rulesheet")
        own = None if name is None else self._beside(name)
        return own is not None and own.resolve() == path.resolve()

    def description(self) -> str:
        """The text of the file that `description` names; a text in its place is as good."""
        value = self.text("description")
        if value is None:
            return ""
        file = self._beside(value)
        return (value if file is None else _read(file)).strip()

    def board(self) -> BoardDescription | None:
        data = self._data.get("x-board")
        try:
            return None if data is None else BoardDescription.from_json(data)
        except GameError as error:
            raise self._error(f"'x-board': {error}") from error

    def _beside(self, name: str) -> Path | None:
        """The file of this name in the same folder; None where there is no such file."""
        try:
            path = self._file.parent / name
            return path if path.is_file() else None
        except (OSError, ValueError):  # too long for a file name, or a null character in it
            return None

    def _error(self, what: str) -> GameError:
        return GameError(f"{self._file}: {what}")


def _read(path: Path) -> str:
    """A file's text, as UTF-8; a stray byte of another encoding is tolerated."""
    try:
        return path.read_bytes().decode("utf-8", errors="replace").removeprefix("\ufeff")
    except OSError as error:
        raise GameError(f"cannot read {path}: {error.strerror}") from error
