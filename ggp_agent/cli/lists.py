"""`ggp-agent agents`: the agents and their parameters."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

from ggp_agent.cli.common import json_option
from ggp_agent.parameters import AGENTS, PARAMETERS


@click.command()
@json_option
def agents(as_json: bool) -> None:
    """List the agents and the parameters that `--set` changes."""
    if as_json:
        click.echo(
            json.dumps(
                {
                    "agents": [_agent(a) for a in AGENTS.values()],
                    "parameters": [_parameter(p) for p in PARAMETERS.values()],
                }
            )
        )
        return
    click.echo("Agents:")
    for agent in AGENTS.values():
        click.echo(f"  {agent.name:12} {agent.summary}")
    click.echo("\nParameters (name, default, domain):")
    for parameter in PARAMETERS.values():
        unit = f" {parameter.unit}" if parameter.unit else ""
        source = f"  [{parameter.source}]" if parameter.source else ""
        click.echo(f"  {parameter.name:12} {parameter.default!s:>6}{unit}  {parameter.domain}")
        click.echo(f"  {'':12}        {parameter.help}{source}")


def _agent(agent: Any) -> dict[str, Any]:
    return {"name": agent.name, "summary": agent.summary, "settings": dict(agent.settings)}


def _parameter(parameter: Any) -> dict[str, Any]:
    return {
        **dataclasses.asdict(parameter),
        "domain": parameter.domain,
        "high": None if parameter.high == float("inf") else parameter.high,
    }
