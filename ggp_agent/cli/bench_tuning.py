"""`ggp-agent bench tuning`: how well the tuners do on synthetic landscapes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ggp_agent.cli.common import json_option, new_seed, seed_option
from ggp_agent.statistics import mean_interval
from ggp_agent.tuning.landscapes import LANDSCAPES, SPACES
from ggp_agent.tuning.regret import Regret, is_clearly_less, measure_regret
from ggp_agent.tuning.tuners import TUNERS

CHANCE = "random-values"


@click.command()
@click.argument("tuners", nargs=-1, metavar="[TUNER]...")
@click.option(
    "--landscape",
    "landscapes",
    multiple=True,
    type=click.Choice(list(LANDSCAPES)),
    help="May be repeated; default: all.",
)
@click.option(
    "--parameters",
    type=click.Choice([str(size) for size in SPACES]),
    default="4",
    show_default=True,
    help="Size of the space.",
)
@click.option(
    "--simulations",
    type=click.IntRange(min=10),
    default=20_000,
    show_default=True,
    help="Simulations per run.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1, 512),
    default=16,
    show_default=True,
    help="Simulations in flight.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Runs, each on another landscape of every kind.",
)
@seed_option
@json_option
def tuning(
    tuners: tuple[str, ...],
    landscapes: tuple[str, ...],
    parameters: str,
    simulations: int,
    in_flight: int,
    runs: int,
    seed: int | None,
    as_json: bool,
) -> None:
    """Regret of the TUNERs (default: all) on synthetic landscapes of win probabilities.

    Regret is what a simulation's combination lacks in win probability against the best one, in
    percent of what the worst one lacks: mean over the runs with its 95 % interval, and in
    parentheses that of the last tenth of the simulations.  A star means clearly less than the
    tuner `random-values`: the 95 % interval of the mean difference excludes 0, and at most 0.8
    times.
    """
    unknown = [name for name in tuners if name not in TUNERS]
    if unknown:
        raise click.UsageError(f"unknown tuner '{unknown[0]}'; known: {', '.join(TUNERS)}")
    seed = new_seed(seed)
    how: dict[str, float] = {
        "parameters": int(parameters),
        "simulations": simulations,
        "in_flight": in_flight,
    }
    grounds = landscapes or tuple(LANDSCAPES)
    rows: dict[str, list[str]] = {name: [] for name in tuners or TUNERS}
    for landscape in grounds:
        chance: list[Regret] = []
        for name in dict.fromkeys([CHANCE, *rows]):
            results = [
                measure_regret(name, landscape, int(parameters), simulations, in_flight, seed + run)
                for run in range(runs)
            ]
            chance = chance or results
            if name not in rows:
                continue
            rows[name].append(_cell(results, chance))
            if as_json:
                line = {"tuner": name, "landscape": landscape, **how, "seed": seed}
                click.echo(json.dumps({**line, **_numbers(results)}))
    if not as_json:
        click.echo(
            f"{parameters} parameters, {simulations} simulations, {in_flight} in flight, "
            f"{runs} runs, seed {seed}\n"
        )
        _print(rows, grounds)


def _cell(results: Sequence[Regret], chance: Sequence[Regret]) -> str:
    overall = [result.overall for result in results]
    mean = mean_interval(overall).scaled(100)
    last = 100 * sum(result.last for result in results) / len(results)
    star = "*" if is_clearly_less(overall, [result.overall for result in chance]) else ""
    return f"{mean.value:.1f}{star} [{mean.low:.1f}, {mean.high:.1f}] ({last:.1f})"


def _numbers(results: Sequence[Regret]) -> dict[str, list[float]]:
    return {
        "regret": [round(result.overall, 5) for result in results],
        "regret_of_last_tenth": [round(result.last, 5) for result in results],
    }


def _print(rows: dict[str, list[str]], landscapes: Sequence[str]) -> None:
    table = Table(box=box.MARKDOWN)
    table.add_column("tuner")
    for landscape in landscapes:
        table.add_column(landscape, justify="right")
    for name, cells in rows.items():
        table.add_row(name, *cells)
    Console(width=30 + 32 * len(landscapes)).print(table)
