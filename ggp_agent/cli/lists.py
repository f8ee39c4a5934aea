"""`ggp-agent games` and `ggp-agent agents`: what there is."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

from ggp_agent import library
from ggp_agent.agents import AGENTS
from ggp_agent.cli.common import json_option
from ggp_agent.parameters import PARAMETERS


@click.command()
@json_option
def games(as_json: bool) -> None:
    """List the games of the library."""
    for game in library.games():
        if as_json:
            fields = {
                "key": game.key,
                "name": game.name,
                "roles": game.roles,
                "kind": game.kind,
                "constantSum": game.constant_sum,
                "path": str(game.path),
                "description": game.description,
            }
            click.echo(json.dumps(fields))
        else:
            click.echo(f"{game.key:20} {game.roles or '?':>2} {game.kind or '':14} {game.name}")


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
