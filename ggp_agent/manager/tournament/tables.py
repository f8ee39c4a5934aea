"""Results as tables, in the layouts of papers, and tables as text for people and programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from tabulate import tabulate

from ggp_agent.errors import TournamentError
from ggp_agent.manager.tournament.results import ERROR_KINDS, MatchResult
from ggp_agent.manager.tournament.summary import (
    Line,
    agents_of,
    games_of,
    ratings,
    summarize,
    versus,
)
from ggp_agent.statistics import Interval

Cell = str | int | float | Interval | None

ALL_GAMES = "all games"
FORMATS = ("text", "markdown", "latex", "csv", "json")


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the columns' names, and rows of as many cells; intervals are of 95 %."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


VALUES: dict[str, tuple[str, Callable[[Line], Cell]]] = {
    "win": ("win %", lambda line: line.win),
    "goal": ("mean goal", lambda line: line.goal),
    "length": ("mean length in moves", lambda line: line.length),
    "simulations": ("simulations per second", lambda line: line.simulations_per_second),
    "nodes": ("visited nodes per second", lambda line: line.nodes_per_second),
    "errors": ("errors", lambda line: sum(line.errors.values())),
    "matches": ("matches", lambda line: line.matches),
}
"""What a table of games and agents can show: its title, and a line's value."""


def summary_table(results: Sequence[MatchResult], against: str | None = None) -> Table:
    """Everything: a row per game and agent."""
    columns = ("game", "agent", "matches", "win%", "goal", "length", "sims/s", "nodes/s")
    rows = tuple(
        (
            line.game or ALL_GAMES,
            line.agent,
            line.matches,
            line.win,
            line.goal,
            line.length,
            line.simulations_per_second,
            line.nodes_per_second,
            *(line.errors[kind] for kind in ERROR_KINDS),
        )
        for line in summarize(results, against)
    )
    return Table(_title("results", against), (*columns, *ERROR_KINDS), rows)


def games_table(
    results: Sequence[MatchResult], value: str = "win", against: str | None = None
) -> Table:
    """One of `VALUES`: games as rows, agents as columns, the last row over all games.

    With win percentages `against` the default agent: the layout of the SA-MCTS paper's Table II.
    """
    title, value_of = VALUES[value]
    lines = {(line.game, line.agent): line for line in summarize(results, against)}
    agents = [agent for agent in agents_of(results) if agent != against]
    rows = []
    for game in (*games_of(results), None):
        cells = [lines.get((game, agent)) for agent in agents]
        if any(cells):
            name = game or ALL_GAMES
            rows.append((name, *(None if line is None else value_of(line) for line in cells)))
    return Table(_title(title, against), ("game", *agents), tuple(rows))


def versus_table(results: Sequence[MatchResult]) -> Table:
    """Win percentages over all games, of the row's agent against the column's."""
    agents = agents_of(results)
    rows = tuple(
        (one, *(None if one == other else versus(results, one, other) for other in agents))
        for one in agents
    )
    return Table("win % of the row's agent against the column's", ("agent", *agents), rows)


def ratings_table(results: Sequence[MatchResult]) -> Table:
    """Elo-like ratings.  Raises `TournamentError` where the agents can't be compared."""
    try:
        rated = ratings(results)
    except ValueError as error:
        raise TournamentError(str(error)) from error
    rows = tuple((r.agent, Interval(r.elo, r.elo - r.error, r.elo + r.error)) for r in rated)
    return Table("ratings in Elo points, 0 is the mean of all", ("agent", "Elo"), rows)


def render(table: Table, form: str, notes: Sequence[str] = (), width: int | None = None) -> str:
    """The table as text in one of `FORMATS`; CSV has no place for the notes."""
    match form:
        case "text":
            return _as_text(table, notes, width)
        case "markdown":
            body = _tabulated(table, "github")
            return "\n\n".join([f"**{table.title}**", body, *notes]) + "\n"
        case "latex":
            comments = "".join(f"% {note}\n" for note in (table.title, *notes))
            return comments + _tabulated(table, "latex_booktabs") + "\n"
        case "csv":
            return _as_csv(table)
        case _:
            return json.dumps(_as_json(table, notes)) + "\n"


def written(cell: Cell) -> str:
    """A cell for people: `72.3 [65.0, 78.1]`, `12,345`, `-` for nothing."""
    match cell:
        case None:
            return "-"
        case Interval():
            return f"{cell.value:.1f} [{cell.low:.1f}, {cell.high:.1f}]"
        case float():
            return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.1f}"
        case _:
            return str(cell)


def _title(what: str, against: str | None) -> str:
    return what if against is None else f"{what}, against {against}"


def _is_name(table: Table, column: int) -> bool:
    return all(isinstance(row[column], str) for row in table.rows)


def _as_text(table: Table, notes: Sequence[str], width: int | None) -> str:
    grid = RichTable(title=table.title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for number, column in enumerate(table.columns):
        grid.add_column(column, justify="left" if _is_name(table, number) else "right")
    for row in table.rows:
        grid.add_row(*map(written, row))
    out = io.StringIO()
    # as wide as it takes: a cell cut short is a number misread
    console = Console(file=out, width=width or 10_000, color_system=None, highlight=False)
    console.print(grid)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([*lines, *notes]).strip("\n") + "\n"


def _tabulated(table: Table, style: str) -> str:
    alignment = ["left" if _is_name(table, i) else "right" for i in range(len(table.columns))]
    rows = [[written(cell) for cell in row] for row in table.rows]
    return tabulate(
        rows, headers=table.columns, tablefmt=style, colalign=alignment, disable_numparse=True
    )


def _as_csv(table: Table) -> str:
    """Intervals take three columns: the value, NAME_low and NAME_high."""
    wide = [
        any(isinstance(row[number], Interval) for row in table.rows)
        for number in range(len(table.columns))
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = zip(table.columns, wide, strict=True)
    writer.writerow(
        head + ending
        for head, is_wide in heads
        for ending in (("", "_low", "_high") if is_wide else ("",))
    )
    for row in table.rows:
        writer.writerow(
            value
            for cell, is_wide in zip(row, wide, strict=True)
            for value in _csv_values(cell, is_wide)
        )
    return out.getvalue()


def _csv_values(cell: Cell, wide: bool) -> Iterator[Any]:
    if isinstance(cell, Interval):
        yield from (round(number, 4) for number in (cell.value, cell.low, cell.high))
        return
    yield "" if cell is None else round(cell, 4) if isinstance(cell, float) else cell
    if wide:
        yield from ("", "")


def _as_json(table: Table, notes: Sequence[str]) -> dict[str, Any]:
    def value(cell: Cell) -> Any:
        if isinstance(cell, Interval):
            return {"value": cell.value, "low": cell.low, "high": cell.high}
        return cell

    rows = [dict(zip(table.columns, map(value, row), strict=True)) for row in table.rows]
    return {"title": table.title, "rows": rows, "notes": list(notes)}
