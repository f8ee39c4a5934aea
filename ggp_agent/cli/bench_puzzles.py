"""`ggp-agent bench puzzles`: which goals an agent reaches in one-player games, and how soon."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from gdl.errors import GgpError
from ggp_agent.agents import Agent
from ggp_agent.cli.common import agent_options, json_option, new_seed, seed_option
from ggp_agent.cli.measuring import in_own_process
from ggp_agent.cli.reading import agent_from
from ggp_agent.library.games import find_game, games
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.mind.warming import warm_up
from propnet.machine import PropnetStateMachine

SHEETS = "GGP_RULESHEETS"
MOST_MOVES = 500


@click.command()
@click.argument("names", nargs=-1, metavar="[GAME]...")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01),
    default=10.0,
    show_default=True,
    help="Time to think for a move.",
)
@agent_options
@seed_option
@json_option
def puzzles(
    names: tuple[str, ...],
    seconds: float,
    agent_name: str,
    settings: tuple[str, ...],
    seed: int | None,
    as_json: bool,
) -> None:
    """Play one-player GAMEs (default: all of the library and of the folder $GGP_RULESHEETS).

    Shown is the goal that was reached, and the highest that the rules have; whether exact search
    proved that there is no better one; the moves made; seconds of thinking in the whole game, and
    until the best line was found; the states that exact search has kept, at most, and the moves
    that it has tried.
    """
    agent, seed = agent_from(agent_name, settings), new_seed(seed)
    if not as_json:
        click.echo(
            f"{'game':28} {'goal':>4} {'best':>4} {'proven':>6} {'moves':>5} {'found s':>8} "
            f"{'total s':>8} {'CPU s':>7} {'states':>10} {'tried':>12}"
        )
    for name in names or _all_puzzles():
        try:
            result = in_own_process(play, name, agent, seconds, seed)
        except GgpError as error:
            click.echo(f"{name}: {error}", err=True)
            continue
        click.echo(json.dumps(result) if as_json else _line(result))


def _all_puzzles() -> list[str]:
    """One-player games of the library, and sheets with one role of the folder, if there is one."""
    found = [game.key for game in games() if game.roles == 1]
    folder = os.environ.get(SHEETS)
    for path in sorted(Path(folder).glob("*.kif")) if folder else []:
        try:
            roles = find_game(str(path)).rule_sheet().roles
        except GgpError:
            continue
        if len(roles) == 1:
            found.append(str(path))
    return found


def play(name: str, agent: Agent, seconds: float, seed: int) -> dict[str, Any]:
    """Play a game to its end; keys as `bench puzzles --json` prints them."""
    game = find_game(name)
    machine = PropnetStateMachine.from_rules(game.rule_sheet())
    if len(machine.roles) != 1 or machine.chance_role is not None:
        raise GgpError("this is not a game for one player")
    warm_up(tell=lambda line: None)
    thinker = make_thinker(machine, 0, agent, seed)
    state, moves, total, found, best = machine.initial_state, 0, 0.0, 0.0, -1
    states = tried = 0
    proven, cpu = False, time.thread_time()
    while not machine.is_terminal(state) and moves < MOST_MOVES:
        legal: Sequence[Any] = machine.legal_moves(state, 0)
        if not legal:
            break
        begun = time.monotonic()
        thinker.think(begun + seconds, lambda: False)
        puzzle: Any = thinker.report().get("puzzle", {})
        goal = -1 if puzzle.get("goal") is None else puzzle["goal"]
        if goal > best:
            best, found = goal, total + puzzle["found_s"]
        total += time.monotonic() - begun
        states, tried = max(states, puzzle.get("states", 0)), tried + puzzle.get("generated", 0)
        proven = proven or (moves == 0 and bool(puzzle.get("proven")))
        move = thinker.choose()
        state, moves = machine.next_state(state, [move]), moves + 1
        thinker.enter(state, [move])
    return {
        "game": game.key,
        "goal": machine.goals(state)[0],
        "highest": machine.network.goal_values[0][-1],
        "proven": proven,
        "moves": moves,
        "found_s": round(found, 2),
        "total_s": round(total, 2),
        "cpu_s": round(time.thread_time() - cpu, 2),
        "states": states,
        "tried": tried,
        "agent": agent.name,
        "seconds": seconds,
        "seed": seed,
    }


def _line(result: dict[str, Any]) -> str:
    return (
        f"{result['game']:28} {result['goal']:4} {result['highest']:4} "
        f"{'yes' if result['proven'] else 'no':>6} {result['moves']:5} {result['found_s']:8.2f} "
        f"{result['total_s']:8.2f} {result['cpu_s']:7.2f} {result['states']:10,} "
        f"{result['tried']:12,}"
    )
