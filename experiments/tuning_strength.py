"""How strong tuned agents are: the pairs of Tables II, III and V of the SA-MCTS paper.

    python experiments/tuning_strength.py GAME... [--table NAME]... [--matches 100]

Sironi, Liu, Winands: Self-Adaptive MCTS in GGP (2020), section VI: every tuner's SP with 2
parameters against SP; NTBEA's AP with 2, 4 and 6 parameters against AP, and against
`fixed-random-values`, which draws random values for the same parameters before each match.  Beyond
the paper (`choosing`): the tuner that decides what it tunes, against NTBEA and against AP.  Every
pair is a tournament (all assignments to the roles but the uniform ones, one point split among the
best) with a fixed number of simulations a move; the same command goes on where it was stopped, and
with more --matches plays more.  Prints a table per kind: mean win % of the tuned agent, with 95 %
intervals.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ggp_agent.cli import run
from ggp_agent.manager.tournament import (
    check_settings,
    make_plan,
    run_tournament,
    summarize,
)

TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "sp": {
        tuner: (f"sp-{tuner}:tune=2", "sp")
        for tuner in ("nmc", "lsi", "ea", "ntbea", "cmaes", "mab", "random-values", "local")
    },
    "ap": {f"ntbea, {n}": (f"ap-ntbea:tune={n}", "ap") for n in (2, 4, 6)},
    "fixed-random-values": {
        f"ntbea, {n}": (f"ap-ntbea:tune={n}", f"ap-fixed-random-values:tune={n}") for n in (2, 4, 6)
    },
    "choosing": {
        "6, ntbea": ("ap-choosing:tune=6", "ap-ntbea:tune=6"),
        "6, ap": ("ap-choosing:tune=6", "ap"),
    },
}
"""Pairs by table and column: the tuned agent and its opponent."""


@click.command()
@click.argument("games", nargs=-1, required=True, metavar="GAME...")
@click.option("--table", "tables", multiple=True, type=click.Choice(list(TABLES)))
@click.option("--only", multiple=True, metavar="COLUMN", help="Play these columns only.")
@click.option("--matches", default=100, show_default=True, help="Per game and pair, at least.")
@click.option("--simulations", default=2000, show_default=True, help="Budget per move.")
@click.option("--in-flight", default=512, show_default=True, help="Most simulations in flight.")
@click.option("--cores", default=1, show_default=True, help="Cores to use.")
@click.option("--seed", default=1, show_default=True, help="Seed of every tournament.")
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("experiments/tuning_strength"),
    show_default=True,
    help="Folder of the results.",
)
def main(
    games: tuple[str, ...],
    tables: tuple[str, ...],
    only: tuple[str, ...],
    matches: int,
    simulations: int,
    in_flight: int,
    cores: int,
    seed: int,
    directory: Path,
) -> None:
    """Play what is missing of the TABLEs (default: all) in GAMEs, and print them."""
    shared = {
        "games": list(games),
        "matches": matches,
        "simulations": simulations,
        "cores": cores,
        "seed": seed,
    }
    for name in tables or TABLES:
        columns = {c: pair for c, pair in TABLES[name].items() if not only or c in only}
        cells: dict[str, dict[str, str]] = {}
        for column, pair in columns.items():
            folder = directory / f"{name}-{column.replace(', ', '-')}"
            agents = [f"{agent}:in_flight={in_flight}" for agent in _named(pair)]
            found = _play({**shared, "agents": agents, "directory": str(folder)}, pair[0])
            cells[column] = found
        _print(name, cells, f"{simulations} simulations a move, seed {seed}")


def _named(pair: tuple[str, str]) -> list[str]:
    """The pair, with the names that their results have."""
    return [f"{_name(agent)}={agent}" for agent in pair]


def _name(agent: str) -> str:
    return agent.replace(":tune=", "-")


def _play(settings: dict[str, Any], tuned: str) -> dict[str, str]:
    """The tuned agent's win % in every game and, under "", over all of them."""
    plan = make_plan(check_settings({**settings, "name": _name(tuned)}, "experiment"))
    results = asyncio.run(run_tournament(plan))
    found = {}
    for line in summarize(results):
        if line.agent == _name(tuned) and line.win is not None:
            low, high = line.win.low, line.win.high
            text = f"{line.win.value:.1f} [{low:.1f}, {high:.1f}]"
            found[line.game or ""] = text
    return found


def _print(name: str, cells: dict[str, dict[str, str]], notes: str) -> None:
    click.echo(f"{name}: win % of the tuned agent; {notes}\n")
    table = Table(box=box.MARKDOWN)
    table.add_column("game")
    for column in cells:
        table.add_column(column, justify="right")
    rows = list(dict.fromkeys(game for column in cells.values() for game in column if game))
    for game in [*rows, ""]:
        table.add_row(game or "all", *(column.get(game, "") for column in cells.values()))
    Console(width=40 + 24 * len(cells)).print(table)
    click.echo(json.dumps({name: cells}))


if __name__ == "__main__":
    run(main, "tuning_strength.py")
