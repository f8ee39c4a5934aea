"""`ggp-agent bench tuning`: how well the tuners do on synthetic landscapes."""

from __future__ import annotations

import json
import math
import statistics

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ggp_agent.cli.common import json_option, new_seed, seed_option
from ggp_agent.tuning.landscapes import LANDSCAPES
from ggp_agent.tuning.regret import Regret, measure_regret
from ggp_agent.tuning.tuners import TUNERS


@click.command()
@click.argument("tuners", nargs=-1, metavar="[TUNER]...")
@click.option(
    "--simulations",
    type=click.IntRange(min=10),
    default=100_000,
    show_default=True,
    help="Simulations per run.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1, 512),
    default=64,
    show_default=True,
    help="Simulations in flight.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Runs, each on another landscape of every kind.",
)
@seed_option
@json_option
def tuning(
    tuners: tuple[str, ...],
    simulations: int,
    in_flight: int,
    runs: int,
    seed: int | None,
    as_json: bool,
) -> None:
    """Regret of the TUNERs (default: all) on synthetic landscapes of win probabilities.

    Regret is what a simulation's combination lacks in win probability against the best one, in
    percent of what the worst one lacks: mean over the runs +- 95 % confidence, and in brackets
    that of the last tenth of the simulations.
    """
    unknown = [name for name in tuners if name not in TUNERS]
    if unknown:
        raise click.UsageError(f"unknown tuner '{unknown[0]}'; known: {', '.join(TUNERS)}")
    seed = new_seed(seed)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("tuner")
    for landscape in LANDSCAPES:
        table.add_column(landscape, justify="right")
    for name in tuners or TUNERS:
        cells = []
        for landscape in LANDSCAPES:
            results = [
                measure_regret(name, landscape, simulations, in_flight, seed + run)
                for run in range(runs)
            ]
            cells.append(_cell(results))
            if as_json:
                click.echo(_json(name, landscape, simulations, in_flight, seed, results))
        table.add_row(name, *cells)
    if not as_json:
        click.echo(f"{simulations} simulations, {in_flight} in flight, {runs} runs, seed {seed}")
        Console(width=110).print(table)


def _cell(results: list[Regret]) -> str:
    overall = [100 * result.overall for result in results]
    margin = 0.0
    if len(overall) > 1:
        margin = 1.96 * statistics.stdev(overall) / math.sqrt(len(overall))
    last = 100 * statistics.mean(result.last for result in results)
    return f"{statistics.mean(overall):.1f} ±{margin:.1f} ({last:.1f})"


def _json(
    tuner: str,
    landscape: str,
    simulations: int,
    in_flight: int,
    seed: int,
    results: list[Regret],
) -> str:
    return json.dumps(
        {
            "tuner": tuner,
            "landscape": landscape,
            "simulations": simulations,
            "in_flight": in_flight,
            "seed": seed,
            "regret": [round(result.overall, 5) for result in results],
            "regret_of_last_tenth": [round(result.last, 5) for result in results],
        }
    )
