"""`ggp-agent agents`: the agents there are, and every parameter with its domain and source."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ggp_agent.agents import AGENTS, Agent
from ggp_agent.cli.common import json_option
from ggp_agent.parameters import PARAMETERS, PER_SIMULATION, Parameter


@click.command()
@click.argument("name", required=False, type=click.Choice(list(AGENTS)), metavar="[NAME]")
@json_option
def agents(name: str | None, as_json: bool) -> None:
    """List the agents and the parameters that `--set` changes; with NAME, that agent's values."""
    chosen = [AGENTS[name]] if name else list(AGENTS.values())
    if as_json:
        listed = {
            "agents": [_agent(agent) for agent in chosen],
            "parameters": [_parameter(parameter) for parameter in PARAMETERS.values()],
        }
        click.echo(json.dumps(listed))
        return
    click.echo("Agents:")
    for agent in chosen:
        click.echo(f"  {agent.name:12} {agent.summary}")
    values = [AGENTS[name]] if name else [a for a in chosen if a["strategy"] == "mcts"]
    click.echo("\nParameters:")
    Console(soft_wrap=True).print(_table(values))
    click.echo("* may have another value in every simulation, for every role")


def _table(values: list[Agent]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(" name")
    for agent in values:
        table.add_column(agent.name, justify="right")
    table.add_column("domain")
    table.add_column("meaning", overflow="fold")
    for parameter in PARAMETERS.values():
        star = "*" if parameter.name in PER_SIMULATION else ""
        unit = f" [{parameter.unit}]" if parameter.unit else ""
        source = f" ({parameter.source})" if parameter.source else ""
        table.add_row(
            f" {parameter.name} {star}",
            *(f"{agent[parameter.name]}" for agent in values),
            f"{parameter.domain}{unit}".replace("[", r"\["),
            f"{parameter.help}{source}",
        )
    return table


def _agent(agent: Agent) -> dict[str, Any]:
    settings = {name: _plain(value) for name, value in agent.settings.items()}
    return {"name": agent.name, "summary": agent.summary, "settings": settings}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    fields = {**dataclasses.asdict(parameter), "domain": parameter.domain}
    fields["high"] = None if math.isinf(parameter.high) else parameter.high
    fields["discrete"] = [_plain(value) for value in parameter.discrete]
    fields["per_simulation"] = parameter.name in PER_SIMULATION
    return fields


def _plain(value: Any) -> Any:
    """A value as JSON has it, which knows no infinity."""
    return "inf" if isinstance(value, float) and math.isinf(value) else value
