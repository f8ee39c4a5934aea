"""`ggp-agent warm`: compile the kernels ahead of time."""

from __future__ import annotations

import time

import click

from ggp_agent.mind.warming import warm_up
from ggp_agent.tuning.tuners import TUNERS


@click.command()
@click.option("--tuners", is_flag=True, help="Those of all tuners, too.")
def warm(tuners: bool) -> None:
    """Compile the kernels ahead of time (the first start does so otherwise)."""
    begin = time.monotonic()
    warm_up(TUNERS if tuners else (), click.echo)
    click.echo(f"done in {time.monotonic() - begin:.1f} s")
