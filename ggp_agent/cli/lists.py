"""`ggp-agent games`: what there is to play."""

from __future__ import annotations

import json

import click

from ggp_agent import library
from ggp_agent.cli.common import json_option


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
