"""`ggp-agent match`: run a match and watch it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import click

from gdl.errors import GgpError
from gdl.rules import RuleSheet, Term
from gdl.state_machine import CHANCE_ROLE
from ggp_agent.agents import find_agent
from ggp_agent.cli.common import (
    gathered,
    json_option,
    new_seed,
    run_async,
    seed_option,
    tuner_options,
    tuner_settings,
)
from ggp_agent.cli.reading import state_machine
from ggp_agent.errors import GameError
from ggp_agent.library.boards import draw
from ggp_agent.library.games import Game, find_game
from ggp_agent.manager.local_player import LocalPlayer
from ggp_agent.manager.match_setup import (
    Event,
    MatchEnded,
    MatchSetup,
    MatchStarted,
    StateReached,
    new_match_id,
)
from ggp_agent.manager.players import HttpPlayer, Player
from ggp_agent.manager.record import MatchRecord
from ggp_agent.manager.runner import run_match
from ggp_agent.mind.agents import read_agent
from ggp_agent.player.rule_sheets import stated_roles
from ggp_agent.player.workers import WorkerPool


@dataclass(frozen=True, slots=True)
class Clocks:
    """Seconds to study the rules, and seconds for each move.  Raises `click.UsageError`."""

    start: float
    play: float

    def __post_init__(self) -> None:
        """Refuse what is no time."""
        for name, clock in (("--start-clock", self.start), ("--play-clock", self.play)):
            if not clock > 0:
                raise click.UsageError(f"{name} must be more than 0 seconds, not {clock:g}")


@click.command()
@click.argument("game")
@click.argument("players", nargs=-1, required=True, metavar="PLAYER...")
@click.option(
    "--start-clock",
    type=float,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time to study the rules.",
)
@click.option(
    "--play-clock",
    type=float,
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for each move.",
)
@click.option("--scramble", is_flag=True, help="Rename everything in the rules sent to players.")
@click.option(
    "--record",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("records"),
    show_default=True,
    help="Folder for the match record.",
)
@tuner_options
@click.option("--quiet", is_flag=True, help="Show the result only.")
@seed_option
@json_option
@gathered("clocks", Clocks, "start_clock", "play_clock")
def match(
    game: str,
    players: tuple[str, ...],
    clocks: Clocks,
    scramble: bool,
    directory: Path,
    quiet: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Run a match of GAME between PLAYERs, one per role in the order of the rules.

    A PLAYER is the URL of a server (http://localhost:9147) or the name of an agent that is run
    here, with parameters after colons (uct:C=0.4:simulations=1000, ap-ntbea:tune=K,Ref,C);
    it thinks with one thread unless it says otherwise (uct:threads=2).
    --tuner and --tune are for all agents that search and name no tuner themselves.
    """
    chosen, seed = find_game(game), new_seed(seed)
    sheet = chosen.rule_sheet()
    roles = [role for role in stated_roles(sheet) if role != CHANCE_ROLE]
    if roles and len(players) != len(roles):
        raise GameError(
            f"{chosen.key} is for {len(roles)} player(s) ({' '.join(map(sheet.write, roles))}), "
            f"but {len(players)} given"
        )
    pools = [None if "://" in text else WorkerPool(_agent(text), spares=0) for text in players]
    told = None if scramble else sheet
    seats: list[Player] = [
        HttpPlayer(text) if pool is None else LocalPlayer(_name(text), pool, seed + i, told)
        for i, (text, pool) in enumerate(zip(players, pools, strict=True))
    ]
    machine = state_machine(sheet, "auto")
    try:
        setup = MatchSetup(
            match_id=new_match_id(chosen.key),
            game=chosen.key,
            game_url=f"file://{quote(str(chosen.path.parent.resolve()))}/v0/",
            sheet=sheet,
            machine=machine,
            start_clock=clocks.start,
            play_clock=clocks.play,
            seed=seed,
            scramble=scramble,
        )
        watcher = _Watcher(chosen, sheet, machine.roles, silent=quiet or as_json)
        record = run_async(_run(setup, seats, pools, directory, watcher))
    finally:
        machine.close()
    _report(record, machine.roles, sheet, directory, seed, as_json)


def _agent(text: str) -> str:
    """The text of an agent to run here, with what is for all of them; errors are those of usage."""
    name, *settings = text.split(":")
    try:
        agent = find_agent(name)
        if agent["strategy"] == "mcts" and agent["tuner"] == "off":
            settings = [*tuner_settings(), *settings]
        whole = ":".join([name, "threads=1", *settings])
        read_agent(whole)
        return whole
    except GgpError as error:
        hint = "a player is a URL like http://localhost:9147 or an agent's name"
        raise click.UsageError(f"{error}; {hint}") from error


def _name(text: str) -> str:
    return text.partition(":")[0]


async def _run(
    setup: MatchSetup,
    players: list[Player],
    pools: list[WorkerPool | None],
    directory: Path,
    watcher: _Watcher,
) -> MatchRecord:
    local = [pool for pool in pools if pool is not None]
    try:
        await asyncio.gather(*(pool.prepare() for pool in local))
        await asyncio.gather(*(player.greet() for player in players))
        return await run_match(setup, players, record_directory=directory, on_step=watcher)
    finally:
        await asyncio.gather(*(player.close() for player in players))
        await asyncio.gather(*(pool.close() for pool in local))


class _Watcher:
    """Prints the match as it goes on."""

    def __init__(self, game: Game, sheet: RuleSheet, roles: tuple[Term, ...], silent: bool) -> None:
        self._game, self._sheet, self._roles, self._silent = game, sheet, roles, silent

    def __call__(self, event: Event) -> None:
        if self._silent:
            return
        match event:
            case MatchStarted():
                seats = zip(event.roles, event.player_names, strict=True)
                names = ", ".join(f"{self._sheet.write(role)}: {name}" for role, name in seats)
                click.secho(f"Match {event.match_id}  ({names})\n", bold=True)
            case StateReached():
                click.echo(self._heading(event))
                click.echo(draw(event.fluents, self._game.board) + "\n")
            case MatchEnded():
                pass

    def _heading(self, event: StateReached) -> str:
        if event.joint_move is None:
            return "Start" + self._errors(event)
        write = self._sheet.write
        moves = (
            f"{write(role)} {write(move)} [{time / 1000:.2f} s]"
            for role, move, time in zip(
                self._roles, event.joint_move, event.thinking_times, strict=True
            )
        )
        return f"Move {event.step}: {', '.join(moves)}{self._errors(event)}"

    def _errors(self, event: StateReached) -> str:
        found = [
            f"{self._sheet.write(role)}: {error}"
            for role, error in zip(self._roles, event.errors, strict=False)
            if error
        ]
        return f"   errors: {', '.join(found)}" if found else ""


def _report(
    record: MatchRecord,
    roles: tuple[Term, ...],
    sheet: RuleSheet,
    directory: Path,
    seed: int,
    as_json: bool,
) -> None:
    path = record.path_in(directory)
    if as_json:
        click.echo(json.dumps({**record.as_json(), "x-record": str(path)}))
        return
    goals = record.goals or ()
    names = record.players
    best = max(goals, default=0)
    winners = [i for i, goal in enumerate(goals) if goal == best]
    for i, role in enumerate(roles):
        click.echo(f"{sheet.write(role):>12}  {goals[i]:>3}  {names[i]}")
    if len(roles) == 1:
        click.secho(f"{names[0]} scores {goals[0]}", bold=True)
    elif len(winners) == len(roles):
        click.secho("A draw", bold=True)
    else:
        won = " and ".join(f"{sheet.write(roles[i])} ({names[i]})" for i in winners)
        click.secho(f"{won} won", bold=True)
    errors = sum(bool(error) for step in record.errors for error in step)
    click.echo(f"{len(record.moves)} moves, {errors} errors, seed {seed}; record: {path}")
