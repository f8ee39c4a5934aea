"""`ggp-agent check` and `ggp-agent perft`: look at rule sheets."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from gdl.errors import GgpError
from gdl.grounding import check_safety
from gdl.perft import perft as count_sequences
from gdl.rules import name_of
from ggp_agent.cli.common import game_argument, json_option, state_machine
from ggp_agent.errors import GameError
from ggp_agent.library import find_game
from propnet.machine import PropnetStateMachine

NEEDED = ("role", "legal", "goal", "terminal")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@json_option
@click.pass_context
def check(context: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Read, check and compile rule sheets; exit code 1 if one has an error.

    A FILE is a path or a key of the games library.
    """
    failed = False
    for file in files:
        try:
            result = _check(file)
        except GgpError as error:
            failed = True
            result = {"file": file, "ok": False, "error": str(error)}
        if as_json:
            click.echo(json.dumps(result))
        elif result["ok"]:
            click.echo(
                f"{file}: ok; roles {' '.join(result['roles'])}; {result['rules']} rules, "
                f"{result['fluents']} fluents, {result['moves']} moves, {result['gates']} gates, "
                f"{result['seconds']:.2f} s"
            )
        else:
            click.echo(f"error: {result['error']}", err=True)
    context.exit(1 if failed else 0)


def _check(file: str) -> dict[str, Any]:
    begin = time.perf_counter()
    sheet = find_game(file).rule_sheet()
    defined = {name_of(rule.head) for rule in sheet.rules}
    missing = [name for name in NEEDED if name not in defined]
    if missing:
        raise GameError(f"{sheet.source.name}: no rule or fact for {', '.join(missing)}")
    check_safety(sheet)
    network = PropnetStateMachine.from_rules(sheet).network
    return {
        "file": file,
        "ok": True,
        "roles": [sheet.write(role) for role in network.roles],
        "rules": len(sheet.rules),
        "fluents": len(network.fluents),
        "moves": sum(map(len, network.moves)),
        "gates": network.gate_count,
        "seconds": round(time.perf_counter() - begin, 3),
    }


@click.command()
@game_argument
@click.argument("depth", type=click.IntRange(min=1))
@click.option(
    "--reasoner",
    type=click.Choice(["propnet", "prolog"]),
    default="propnet",
    show_default=True,
    help="What computes the game.",
)
@json_option
def perft(game: str, depth: int, reasoner: str, as_json: bool) -> None:
    """Count the joint-move sequences of GAME of each length up to DEPTH.

    Prints a line per depth: the depth, the sequences of so many joint moves from the initial
    state, and how many of them end in a terminal state (where no further move is counted).
    """
    machine = state_machine(find_game(game).rule_sheet(), reasoner)
    try:
        for line in count_sequences(machine, depth):
            click.echo(json.dumps(line._asdict()) if as_json else str(line))
    finally:
        machine.close()
