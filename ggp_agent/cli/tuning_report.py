"""`ggp-agent tuning-report`: which values won where."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ggp_agent.cli.common import json_option
from ggp_agent.tuning.record_report import Told, plot, read_told


@click.command(name="tuning-report")
@click.argument("record", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to draw the values (.png, .svg, .pdf); default: RECORD with .png.",
)
@click.option("--no-plot", is_flag=True, help="Tables only.")
@json_option
def tuning_report(record: Path, picture: Path | None, no_plot: bool, as_json: bool) -> None:
    """Tell what tuners found in a match.

    RECORD is a match record (of `match` or `tournament`) or a trace (of `serve --trace`).  Per
    player and role: samples and mean goals of the values and of the combinations with most samples,
    which of these had most from move to move, and a plot.
    """
    told = read_told(record)
    if as_json:
        click.echo(json.dumps([asdict(t) for t in told]))
    else:
        for t in told:
            _show(t)
    if not no_plot and (picture is not None or any(t.role.get("values") for t in told)):
        path = picture or record.with_suffix(".png")
        plot(told, path)
        click.echo(f"plot: {path}", err=as_json)


def _show(told: Told) -> None:
    click.secho(f"{told.title}: {told.tuner}", bold=True)
    click.echo(f"{told.role['samples']:,} samples, mean goal {told.role['mean']:.1f}")
    total = max(1, int(told.role["samples"]))
    for name, table in told.tables.items():
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        shown.add_column(name)
        for column in ("samples", "%", "mean goal"):
            shown.add_column(column, justify="right")
        for value, samples, mean in table:
            share = f"{100 * samples / total:.1f}"
            shown.add_row(value, f"{samples:,}", share, f"{mean:.1f}" if samples else "")
        Console(soft_wrap=True).print(shown)
    for name, known in told.role.get("distribution", {}).items():
        click.echo(f"{name}: {known['middle']:g} ± {known['spread']:g}")
    for first, last, favourite in told.stretches():
        moves = f"move {first}" if first == last else f"moves {first} to {last}"
        click.echo(f"{moves}: {favourite}")
    click.echo()
