"""`ggp-agent analyze`: what the search finds in a position."""

from __future__ import annotations

import json
import time
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from gdl.errors import GgpError
from gdl.rules import RuleSheet, read_term
from gdl.state_machine import JointMove, State, StateMachine
from ggp_agent.agents import Agent
from ggp_agent.cli.common import (
    agent_options,
    game_argument,
    gathered,
    json_option,
    new_seed,
    seed_option,
)
from ggp_agent.cli.reading import agent_from, state_machine
from ggp_agent.errors import GameError
from ggp_agent.library.boards import draw
from ggp_agent.library.games import find_game
from ggp_agent.library.joint_moves import position_after, read_joint_moves
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.mind.warming import warm_up
from ggp_agent.player.log_lines import one_line


@click.command()
@game_argument
@click.option(
    "--moves",
    metavar="KIF",
    default="",
    help='Joint moves that lead to the position: "((mark 1 1) noop) (noop (mark 2 2))".',
)
@click.option("--role", help="The role that thinks; default: the first one with a choice.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.0),
    default=1.0,
    show_default=True,
    help="Time to think.",
)
@click.option(
    "--most", type=click.IntRange(1), default=15, show_default=True, help="Moves to show at most."
)
@agent_options
@seed_option
@json_option
@gathered("agent", agent_from, "agent_name", "settings")
def analyze(
    game: str,
    moves: str,
    role: str | None,
    seconds: float,
    most: int,
    agent: Agent,
    seed: int | None,
    as_json: bool,
) -> None:
    """Search a position of GAME and show what was found."""
    chosen, seed = find_game(game), new_seed(seed)
    sheet = chosen.rule_sheet()
    machine = state_machine(sheet, "auto")
    try:
        joint_moves = _read_joint_moves(moves)
        state = position_after(machine, sheet, joint_moves)
        if machine.is_terminal(state):
            goals = " ".join(map(str, machine.goals(state)))
            raise GameError(f"the game is over in this position; goals: {goals}")
        number = _role(machine, sheet, state, role)
        report = _think(machine, sheet, number, agent, seed, state, joint_moves, seconds)
        about = {
            "game": chosen.key,
            "agent": agent.name,
            "role": sheet.write(machine.roles[number]),
            "seed": seed,
        }
        if as_json:
            click.echo(json.dumps({**about, **report}))
            return
        click.echo(draw(machine.fluents(state), chosen.board))
        click.echo(f"\n{about['role']} to move ({agent.name}, seed {seed})\n{one_line(report)}")
        _show(report, most)
    finally:
        machine.close()


def _read_joint_moves(text: str) -> list[JointMove]:
    try:
        return read_joint_moves(text, "--moves")
    except GgpError as error:
        raise click.BadParameter(str(error), param_hint="--moves") from error


def _role(machine: StateMachine, sheet: RuleSheet, state: State, name: str | None) -> int:
    if name is not None:
        role = read_term(name)
        if role not in machine.roles:
            roles = " ".join(map(sheet.write, machine.roles))
            raise GameError(f"{name} is not a role; roles: {roles}")
        return machine.roles.index(role)
    counts = [len(machine.legal_moves(state, r)) for r in range(len(machine.roles))]
    return next((r for r, count in enumerate(counts) if count > 1), 0)


def _think(
    machine: StateMachine,
    sheet: RuleSheet,
    role: int,
    agent: Agent,
    seed: int,
    state: State,
    joint_moves: list[JointMove],
    seconds: float,
) -> dict[str, Any]:
    warm_up()  # compiling kernels is no thinking, and nor is preparing for a match
    thinker = make_thinker(machine, role, agent.with_settings(["self_play=0"]), seed)
    thinker.enter(state, joint_moves[-1] if joint_moves else None)
    thinker.think(time.monotonic() + seconds, lambda: False)
    return {"move": sheet.write(thinker.choose()), **thinker.report()}


def _show(report: dict[str, Any], most: int) -> None:
    moves = report.get("moves", [])
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, side in (
        ("move", "left"),
        ("visits", "right"),
        ("mean", "right"),
        ("proven", "left"),
    ):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for move in moves[:most]:
        low, high = move["proven"]
        mean = "" if move["mean"] is None else f"{move['mean']:.1f}"
        table.add_row(move["move"], f"{move['visits']:,}", mean, f"{low}..{high}")
    Console(soft_wrap=True).print(table)
    if len(moves) > most:
        click.echo(f"and {len(moves) - most} more")
    variation = " ".join(f"({' '.join(joint)})" for joint in report.get("variation", []))
    click.echo(f"expected: {variation or '-'}\nplays {report['move']}")
