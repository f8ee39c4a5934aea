"""The results of a tournament: one JSON line per match, in a file that only grows.

The first line describes the tournament; another such line follows where it was made longer or got
another stopping rule, and the last one counts.  A line is written in one piece when its match is
over, so that a process killed at any time leaves at most the beginning of a line behind, which is
dropped.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ggp_agent.errors import TournamentError
from ggp_agent.manager.record import CONNECTION_ERROR, ILLEGAL, TIMEOUT
from ggp_agent.player.search_totals import SearchTotals

FORMAT = 1
ERROR_KINDS = (TIMEOUT, ILLEGAL.strip(), CONNECTION_ERROR)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """How a match went.  Sequences have one entry per role, leaving out `random` roles.

    `errors` counts per kind (TO, IL, CE); `totals` is None for a player that does not tell.
    A match that could not be played to its end has no goals, and the reason in `aborted`.
    """

    match: str
    game: str
    round: int
    seed: int
    roles: tuple[str, ...]
    agents: tuple[str, ...]
    goals: tuple[int, ...] = ()
    moves: int = 0
    errors: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    totals: tuple[SearchTotals | None, ...] = ()
    by_clock: bool = False
    """Whether the clock decided how long the agents thought."""
    cut_short: int = 0
    """Moves for which the clock ran out before the simulations were done."""
    seconds: float = 0.0
    load: float = 0.0
    """The machine's load average of the last minute per core, at the end."""
    started: str = ""
    aborted: str = ""

    @property
    def key(self) -> tuple[str, int, tuple[str, ...]]:
        """What tells it from the other results of a tournament."""
        return self.game, self.round, self.agents

    @property
    def is_complete(self) -> bool:
        """Whether it was played to its end."""
        return not self.aborted

    @property
    def cpu_share(self) -> float | None:
        """The share of their thinking time for which agents had a core; None if unknown."""
        known = [one for one in self.totals if one is not None and one.cpu_seconds > 0]
        seconds = sum(one.seconds for one in known)
        return sum(one.cpu_seconds for one in known) / seconds if seconds else None

    def as_json(self) -> dict[str, Any]:
        """The result as a JSON object, without what is empty."""
        values = asdict(self)
        for totals in values["totals"]:
            if totals is not None:
                totals |= {key: round(totals[key], 4) for key in ("seconds", "cpu_seconds")}
        needed = ("match", "game", "round", "seed", "roles", "agents")
        return {
            "effort" if key == "totals" else key: value  # as it is called in files
            for key, value in values.items()
            if value or key in needed
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> MatchResult:
        """The inverse of `as_json`.  Raises `ValueError`, `TypeError`, `KeyError`."""
        known = dict(values)
        for key in ("roles", "agents", "goals"):
            known[key] = tuple(known.get(key, ()))
        known["errors"] = {kind: tuple(counts) for kind, counts in known.get("errors", {}).items()}
        totals = known.pop("effort", ())
        known["totals"] = tuple(None if one is None else SearchTotals(**one) for one in totals)
        result = cls(**known)
        result._check()
        return result

    def _check(self) -> None:
        """What those who count results rely on."""
        if not all(isinstance(agent, str) for agent in (self.game, *self.agents)):
            raise ValueError("names must be texts")
        if not self.aborted and not len(self.goals) == len(self.agents) == len(self.roles) > 0:
            raise ValueError("roles, agents and goals must have the same length")
        if not all(isinstance(goal, int) and 0 <= goal <= 100 for goal in self.goals):
            raise ValueError("goals must be integers from 0 to 100")


def count_errors(rows: Sequence[Sequence[str]], seats: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The errors of a match record by kind; `seats` are the numbers of the roles that count."""
    counts = {
        kind: tuple(sum(row[seat].split(" ")[0] == kind for row in rows) for seat in seats)
        for kind in ERROR_KINDS
    }
    return {kind: numbers for kind, numbers in counts.items() if any(numbers)}


def read_results(path: Path) -> tuple[dict[str, Any], list[MatchResult]]:
    """A file's header and results.  Raises `TournamentError` that says which line is wrong."""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise TournamentError(f"cannot read {path}: {error.strerror}") from error
    *lines, rest = text.split("\n")
    if rest:
        log.info("%s: the last line is not whole; left out", path)
    header: dict[str, Any] = {}
    results = []
    for number, line in enumerate(lines, 1):
        values = _json_object(path, number, line)
        if "tournament" in values:
            header = _checked_header(path, values)
        elif not header:
            break
        else:
            results.append(_result(path, number, values))
    if not header:
        raise TournamentError(f"{path}: line 1 does not describe a tournament; not a results file?")
    return header, results


def _json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise TournamentError(f"{path}: line {number} is not a JSON object; not a results file?")
    return values


def _checked_header(path: Path, header: dict[str, Any]) -> dict[str, Any]:
    if header.get("format") != FORMAT:
        raise TournamentError(f"{path}: format {header.get('format')} is not known; only {FORMAT}")
    return header


def _result(path: Path, number: int, values: Mapping[str, Any]) -> MatchResult:
    try:
        return MatchResult.from_json(values)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TournamentError(f"{path}: line {number} is not a match result: {error}") from error


def has_results(path: Path) -> bool:
    """Whether a tournament was begun there: a killed one may have left less than a line."""
    try:
        return b"\n" in path.read_bytes()
    except OSError:
        return False


class ResultsFile:
    """A results file that is being written, by one process at a time."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Open the file, or begin one with this header, which is added where it is a new one.

        A broken last line is dropped.

        Raises `TournamentError` if it can't be written or somebody else is writing it.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._lock()
            self._drop_broken_line()
            line = {"tournament": header["name"], "format": FORMAT, **header}
            if not has_results(path) or read_results(path)[0] != line:
                self._write(line)
        except OSError as error:
            raise TournamentError(f"cannot write {path}: {error.strerror}") from error

    def append(self, result: MatchResult) -> None:
        """Add a result; it is on the disk when this returns."""
        try:
            self._write(result.as_json())
        except OSError as error:
            raise TournamentError(f"cannot write {self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Let others write."""
        os.close(self._file)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            raise TournamentError(
                f"{self.path} is being written by another process; is the tournament running?"
            ) from error

    def _drop_broken_line(self) -> None:
        data = self.path.read_bytes()
        if not data.endswith(b"\n"):
            os.ftruncate(self._file, data.rfind(b"\n") + 1)

    def _write(self, values: Mapping[str, Any]) -> None:
        line = (json.dumps(values) + "\n").encode()
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)


def without_repeats(results: Iterable[MatchResult]) -> list[MatchResult]:
    """The results.  Raises `TournamentError` where a match is there twice."""
    seen: dict[tuple[str, int], MatchResult] = {}
    for result in results:
        key = result.match, result.seed
        if key in seen:
            raise TournamentError(f"match {result.match} is there twice")
        seen[key] = result
    return list(seen.values())
