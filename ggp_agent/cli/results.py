"""`ggp-agent results`: tables of results, in the layouts of papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ggp_agent.errors import TournamentError
from ggp_agent.manager.tournament import MatchResult, read_results
from ggp_agent.manager.tournament.results import without_repeats
from ggp_agent.manager.tournament.summary import agents_of, state_of_test, warnings
from ggp_agent.manager.tournament.tables import (
    FORMATS,
    VALUES,
    Table,
    games_table,
    ratings_table,
    render,
    summary_table,
    versus_table,
)
from ggp_agent.statistics import SprtState
from ggp_agent.statistics.intervals import METHOD

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to write the table.",
)


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE...",
)
@click.option(
    "--table",
    "layout",
    type=click.Choice(["summary", "games", "versus", "ratings"]),
    default="summary",
    show_default=True,
    help="summary: all numbers, a row per game and agent; games: games as rows, agents as columns; "
    "versus: agents against each other; ratings: Elo-like ratings.",
)
@click.option(
    "--value",
    type=click.Choice(list(VALUES)),
    default="win",
    show_default=True,
    help="What the table of games shows.",
)
@click.option("--against", metavar="AGENT", help="Only the matches against this agent.")
@format_option
def results(
    files: tuple[Path, ...], layout: str, value: str, against: str | None, form: str
) -> None:
    """Print the results in one FILE or several, each a results.jsonl or its folder.

    Win percentages split one point among the best of a match; intervals are of 95 %.
    """
    found, tests, first = _read(files)
    if not found:
        raise TournamentError("there are no results yet")
    if against is not None and against not in agents_of(found):
        known = ", ".join(agents_of(found))
        raise click.UsageError(f"--against: no results of agent '{against}'; there are {known}")
    table = _table(found, layout, value, against)
    click.echo(render(table, form, list(result_notes(found, tests, first))), nl=False)


def _table(found: Sequence[MatchResult], layout: str, value: str, against: str | None) -> Table:
    match layout:
        case "games":
            return games_table(found, value, against)
        case "versus":
            return versus_table(found)
        case "ratings":
            return ratings_table(found)
        case _:
            return summary_table(found, against)


def result_notes(
    found: Sequence[MatchResult], tests: Iterable[SprtState], agent: str
) -> Iterator[str]:
    """What belongs below a table: the method, what limits the results, sequential tests."""
    yield f"95 % intervals: {METHOD}"
    for test in tests:
        verdict = {"h0": "H0", "h1": "H1"}.get(test.verdict, "undecided")
        yield (
            f"sequential test of {agent}: {verdict} after {test.blocks} blocks, "
            f"log-likelihood ratio {test.ratio:.2f} in ({test.low:.2f}, {test.high:.2f}); "
            "an interval at a stop that the results chose is too short"
        )
    yield from (f"warning: {warning}" for warning in warnings(found))


def _read(files: Sequence[Path]) -> tuple[list[MatchResult], list[SprtState], str]:
    """The results of all files, the states of their sequential tests, and the agent tested."""
    found: list[MatchResult] = []
    tests: list[SprtState] = []
    described: dict[str, Any] = {}
    for path in files:
        header, own = read_results(path / "results.jsonl" if path.is_dir() else path)
        for agent in header["agents"]:
            if described.setdefault(agent["name"], agent) != agent:
                raise TournamentError(
                    f"{path}: {agent['name']} is not the agent of that name in the files before"
                )
        found += own
        state = state_of_test(header, own)
        if state is not None:
            tests.append(state)
    return without_repeats(found), tests, next(iter(described), "")
