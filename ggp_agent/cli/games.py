"""`ggp-agent games`, `show` and `playthrough`: the games library, and what its games look like."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from itertools import islice

import click

from ggp_agent.cli.common import (
    game_argument,
    json_option,
    new_seed,
    reasoner_option,
    seed_option,
)
from ggp_agent.cli.reading import state_machine
from ggp_agent.library import games as library
from ggp_agent.library.boards import draw
from ggp_agent.library.games import KINDS, Game, find_game
from ggp_agent.library.playthroughs import playthrough as lines_of_playthrough
from ggp_agent.library.playthroughs import random_game


@click.command()
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--roles", type=click.IntRange(min=1), help="Games for so many players.")
@click.option("--kind", type=click.Choice(KINDS), help="Games of this kind.")
@click.option(
    "--constant-sum/--general-sum",
    "constant_sum",
    default=None,
    help="Games whose goals always add up to the same, or not.",
)
@click.option("--page", is_flag=True, help="Print the page of the documentation (Markdown).")
@json_option
def games(
    words: tuple[str, ...],
    roles: int | None,
    kind: str | None,
    constant_sum: bool | None,
    page: bool,
    as_json: bool,
) -> None:
    """List the games of the library; with WORDs, those that have all of them in their texts."""
    found = [
        game
        for game in library.games()
        if roles in (None, game.roles)
        and kind in (None, game.kind)
        and constant_sum in (None, game.constant_sum)
        and all(word.lower() in _texts(game) for word in words)
    ]
    if page:
        click.echo("\n".join(_page(found)))
        return
    for game in found:
        click.echo(json.dumps(_fields(game)) if as_json else _line(game))
    if not found and not as_json:
        click.echo("no such game; `ggp-agent games` lists all of them", err=True)


def _texts(game: Game) -> str:
    texts = (game.key, game.name, game.description, game.source or "")
    return "\n".join(texts).lower()


def _fields(game: Game) -> dict[str, object]:
    return {
        "key": game.key,
        "name": game.name,
        "roles": game.roles,
        "kind": game.kind,
        "constantSum": game.constant_sum,
        "source": game.source,
        "path": str(game.path),
        "description": game.description,
    }


def _line(game: Game) -> str:
    return f"{game.key:24} {game.roles or '?':>2} {game.kind or '':13} {game.name}"


@click.command()
@game_argument
@click.option(
    "--steps",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Show the position after so many random moves.",
)
@seed_option
@json_option
def show(game: str, steps: int, seed: int | None, as_json: bool) -> None:
    """Describe GAME and draw its start position, or one that random moves lead to.

    Games with a board description are drawn as it says, others as a board where one relation is
    clearly a grid, else as a list of what is true.
    """
    chosen, seed = find_game(game), new_seed(seed)
    sheet = chosen.rule_sheet()
    with closing(state_machine(sheet, "auto")) as machine:
        played = list(islice(random_game(machine, seed), steps + 1))
        state = played[-1][0]
        fluents = machine.fluents(state)
        roles = [sheet.write(role) for role in machine.roles]
        position = {
            "step": len(played) - 1,
            "seed": seed,
            "terminal": machine.is_terminal(state),
            "fluents": sorted(map(sheet.write, fluents)),
            "picture": draw(fluents, chosen.board),
        }
        if position["terminal"]:
            position["goals"] = list(machine.goals(state))
    if as_json:
        click.echo(json.dumps({**_fields(chosen), "roleNames": roles, "position": position}))
        return
    click.secho(f"{chosen.name} ({chosen.key})", bold=True)
    for text in (chosen.description, _about(chosen, roles), str(chosen.path)):
        if text:
            click.echo(text)
    click.echo(f"\n{position['picture']}")
    if steps:
        click.echo(f"\nafter {position['step']} random moves, seed {seed}")
    if "goals" in position:
        click.echo(f"the game is over: {' '.join(map(str, machine.goals(state)))}")


def _about(game: Game, roles: Iterable[str]) -> str:
    facts = [f"Roles: {', '.join(roles)}", game.kind, _sums(game)]
    about = "; ".join(fact for fact in facts if fact)
    return f"{about}. Source: {game.source}" if game.source else about


def _sums(game: Game) -> str | None:
    """What METADATA says about the sum of the goals, which is nothing for one player."""
    if game.constant_sum is None or game.roles == 1:
        return None
    return "constant-sum" if game.constant_sum else "general-sum"


@click.command()
@game_argument
@seed_option
@reasoner_option
def playthrough(game: str, seed: int | None, reasoner: str) -> None:
    """Print a random game of GAME as text: states, legal moves, goals."""
    chosen = find_game(game)
    sheet = chosen.rule_sheet()
    with closing(state_machine(sheet, reasoner)) as machine:
        for line in lines_of_playthrough(machine, sheet, new_seed(seed), chosen.board):
            click.echo(line)


def _page(found: list[Game]) -> Iterable[str]:
    """The games as a page of the documentation, with a picture of each start position."""
    yield "# The games library\n"
    yield "This page is made by `ggp-agent games --page`. A game's folder, `games/KEY/`, holds its"
    yield "rule sheet, which begins with the rules in words, a short description, and METADATA.\n"
    yield "| key | game | roles | kind | goals |"
    yield "|---|---|---|---|---|"
    for game in found:
        link = f"[{game.key}](#{game.key.lower()})"
        yield f"| {link} | {game.name} | {game.roles} | {game.kind} | {_sums(game) or ''} |"
    for game in found:
        sheet = game.rule_sheet()
        with closing(state_machine(sheet, "auto")) as machine:
            roles = [sheet.write(role) for role in machine.roles]
            picture = draw(machine.fluents(machine.initial_state), game.board)
        yield f"\n## {game.key}\n"
        yield f"**{game.name}.** {' '.join(game.description.split())}\n"
        yield f"{_about(game, roles)}\n"
        yield f"```\n{picture}\n```"
