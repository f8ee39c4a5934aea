"""`ggp-agent agents`: the agents there are, and every parameter with its domain and source."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import click

import ggp_agent.mind.agents  # noqa: F401  # all parameters are declared then
from ggp_agent.agents import AGENTS, Agent
from ggp_agent.cli.common import json_option
from ggp_agent.parameters import PARAMETERS, Parameter, Scope


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
        settings = ", ".join(f"{key}={value}" for key, value in agent.settings.items())
        click.echo(f"  {agent.name:10} {agent.summary}" + (f" ({settings})" if settings else ""))
    of = name or "the defaults"
    click.echo(f"\nParameters (values of {of}; * can be tuned):")
    shown = AGENTS[name] if name else Agent("", "", {})
    for parameter in PARAMETERS.values():
        star = "*" if parameter.scope is not Scope.MATCH else ""
        unit = f" {parameter.unit}" if parameter.unit else ""
        source = f"  [{parameter.source}]" if parameter.source else ""
        value = f"{shown[parameter.name]}"
        click.echo(f"  {parameter.name:10} {star:1} {value:>8}{unit}  {parameter.domain}")
        click.echo(f"  {'':12} {'':8} {parameter.help}{source}")


def _agent(agent: Agent) -> dict[str, Any]:
    settings = {name: _plain(value) for name, value in agent.settings.items()}
    return {"name": agent.name, "summary": agent.summary, "settings": settings}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    fields = {**dataclasses.asdict(parameter), "domain": parameter.domain}
    fields["high"] = None if math.isinf(parameter.high) else parameter.high
    fields["discrete"] = [_plain(value) for value in parameter.discrete]
    fields["scope"] = parameter.scope.value
    return fields


def _plain(value: Any) -> Any:
    """A value as JSON has it, which knows no infinity."""
    return "inf" if isinstance(value, float) and math.isinf(value) else value
