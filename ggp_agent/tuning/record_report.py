"""What records and traces say about tuning: read, as tables, and as a plot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ggp_agent.errors import GameError


@dataclass(frozen=True, slots=True)
class RoleReport:
    """What one player's tuner of one role knew in the end, and its favourites on the way."""

    title: str
    tuner: str
    role: Mapping[str, Any]
    """see `ggp_agent.tuning.tuner_report`"""
    course: tuple[str, ...]
    """per move that was thought about: the combination with most samples"""
    tuned: tuple[str, ...] = ()
    """the same: the set of parameters tuned most often, where the tuner chooses it"""

    @property
    def tables(self) -> dict[str, list[tuple[str, int, float]]]:
        """Per parameter, and under "combinations": value, samples, mean goal.

        Where the tuner chooses what it tunes the same under "tuned" and "how many tuned".
        """
        sources = {**self.role.get("values", {})}
        if "combinations" in self.role:
            sources["combinations"] = self.role["combinations"]
        if "tuned" in self.role:
            sources["tuned"] = self.role["tuned"]["parameters"]
            sources["how many tuned"] = self.role["tuned"]["number"]
        return {
            name: list(zip(table["values"], table["samples"], table["means"], strict=True))
            for name, table in sources.items()
        }

    def stretches(self) -> list[tuple[int, int, str]]:
        """The course by stretches: first and last move of each, and the favourite."""
        favourites = list(self.course)
        if self.tuned:
            pairs = zip(favourites, self.tuned, strict=True)
            favourites = [f"{favourite}; most tuned: {names}" for favourite, names in pairs]
        found: list[tuple[int, int, str]] = []
        for move, favourite in enumerate(favourites, 1):
            if found and found[-1][2] == favourite:
                found[-1] = (found[-1][0], move, favourite)
            else:
                found.append((move, move, favourite))
        return found


def read_role_reports(path: Path) -> list[RoleReport]:
    """What a match record, or a trace of one or more matches, says about tuning.

    Raises `GameError` where that is nothing.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GameError(f"cannot read {path}: {error}") from error
    try:
        objects = [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise GameError(f"{path} is neither a match record nor a trace: {error}") from error
    try:
        reports = [*_of_records(objects), *_of_traces(objects)]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise GameError(f"{path}: what it says about tuning can't be read: {error!r}") from error
    if not reports:
        raise GameError(
            f"{path} says nothing about tuning; records of players at URLs do not, their traces do "
            "(ggp-agent serve --trace FILE)"
        )
    return reports


def _of_records(objects: list[Any]) -> Iterator[RoleReport]:
    for record in objects:
        for seat, tuning in dict(record.get("x-tuning", {})).items():
            player = record["playerNamesFromHost"][int(seat)]
            for role, known in enumerate(tuning["roles"]):
                title = f"{player} as role {int(seat) + 1}, for role {role + 1}"
                course = tuple(favourites[role] for favourites in tuning["course"])
                tuned = tuple(names[role] for names in tuning.get("course_of_tuned", ()))
                yield _checked(RoleReport(title, tuning["tuner"], known, course, tuned))


def _of_traces(objects: list[Any]) -> Iterator[RoleReport]:
    moves: dict[tuple[str, str], list[Any]] = {}
    for line in objects:
        if "tuning" in line:
            moves.setdefault((line["match"], line["role"]), []).append(line["tuning"])
    for (match, name), tunings in moves.items():
        for role, known in enumerate(tunings[-1]["roles"]):
            title = f"{match}, {name}, for role {role + 1}"
            course = tuple(tuning["roles"][role]["favourite"] for tuning in tunings)
            sets = [tuning["roles"][role].get("tuned", {}) for tuning in tunings]
            tuned = tuple(names["favourite"] for names in sets if names)
            yield _checked(RoleReport(title, tunings[-1]["tuner"], known, course, tuned))


def _checked(report: RoleReport) -> RoleReport:
    """The same, if its tables can be made.  Raises what making them raises."""
    report.tables  # noqa: B018
    report.stretches()
    return report


def plot(reports: list[RoleReport], path: Path) -> None:
    """Draw every parameter's values for every role: shares of samples, and mean goals.

    Raises `GameError` where there are none, or the file can't be written.
    """
    from matplotlib.figure import Figure  # takes long to load

    rows = [t for t in reports if t.role.get("values")]
    if not rows:
        raise GameError("tuners with continuous domains have no table of values to plot")
    columns = max(len(t.role["values"]) for t in rows)
    figure = Figure(figsize=(3.6 * columns, 2.8 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for t, line in zip(rows, axes, strict=True):
        tables = {name: t.tables[name] for name in t.role["values"]}
        for axis in line[len(tables) :]:
            axis.set_axis_off()
        for axis, (name, table) in zip(line, tables.items(), strict=False):
            _draw(axis, name, table)
        line[0].set_ylabel(f"{t.title}\n% of samples", fontsize="x-small")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise GameError(f"cannot write the plot {path}: {error}") from error


def _draw(axis: Any, name: str, table: list[tuple[str, int, float]]) -> None:
    """Bars for the shares of samples, points for the means."""
    total = max(1, sum(samples for _, samples, _ in table))
    bars = range(len(table))
    axis.bar(bars, [100 * samples / total for _, samples, _ in table], color="0.75")
    axis.set_xticks(bars, [value for value, _, _ in table], rotation=60, fontsize="x-small")
    axis.set_title(name, fontsize="small")
    means = axis.twinx()
    known = [(bar, mean) for bar, (_, samples, mean) in enumerate(table) if samples]
    means.plot([p for p, _ in known], [m for _, m in known], "o", color="C0", markersize=3)
    means.tick_params(axis="y", labelsize="x-small", colors="C0")
    axis.tick_params(axis="y", labelsize="x-small")
