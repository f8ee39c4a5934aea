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
from ggp_agent.tuning.record_report import RoleReport, plot, read_role_reports


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
    """Show what tuners found in a match.

    RECORD is a match record (of `match` or `tournament`) or a trace (of `serve --trace`).  Per
    player and role: samples and mean goals of the values and of the combinations with most samples,
    which of these had most from move to move, and a plot.
    """
    reports = read_role_reports(record)
    if as_json:
        click.echo(json.dumps([asdict(t) for t in reports]))
    else:
        for t in reports:
            _show(t)
    if not no_plot and (picture is not None or any(t.role.get("values") for t in reports)):
        path = picture or record.with_suffix(".png")
        plot(reports, path)
        click.echo(f"plot: {path}", err=as_json)


def _show(report: RoleReport) -> None:
    click.secho(f"{report.title}: {report.tuner}", bold=True)
    click.echo(f"{report.role['samples']:,} samples, mean goal {report.role['mean']:.1f}")
    total = max(1, int(report.role["samples"]))
    for name, table in report.tables.items():
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        shown.add_column(name)
        for column in ("samples", "%", "mean goal"):
            shown.add_column(column, justify="right")
        for value, samples, mean in table:
            share = f"{100 * samples / total:.1f}"
            shown.add_row(value, f"{samples:,}", share, f"{mean:.1f}" if samples else "")
        Console(soft_wrap=True).print(shown)
    for name, known in report.role.get("distribution", {}).items():
        click.echo(f"{name}: {known['middle']:g} ± {known['spread']:g}")
    for first, last, favourite in report.stretches():
        moves = f"move {first}" if first == last else f"moves {first} to {last}"
        click.echo(f"{moves}: {favourite}")
    click.echo()
