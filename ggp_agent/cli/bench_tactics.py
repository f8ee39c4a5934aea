"""`ggp-agent bench tactics` and `find-tactics`: positions with a proven answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ggp_agent.agents import Agent, tuners_of
from ggp_agent.cli.common import agent_options, gathered, json_option, new_seed, seed_option
from ggp_agent.cli.reading import agent_from
from ggp_agent.errors import GameError
from ggp_agent.library.games import Game, find_game
from ggp_agent.mind.warming import warm_up
from ggp_agent.search.parallel import threads_of
from ggp_agent.statistics import mean_interval
from ggp_agent.tactics.finding import Effort, Finder, is_proven
from ggp_agent.tactics.positions import (
    KINDS,
    Position,
    games_with_positions,
    read_positions,
    write_positions,
)
from ggp_agent.tactics.solving import CODE_SECONDS, Attempt, Budget, examine
from propnet.machine import PropnetStateMachine

ALL_GAMES = "all games"
_EFFORT = Effort()


def _budgets(seconds: Sequence[float], simulations: Sequence[int]) -> list[Budget]:
    asked_for = [Budget(seconds=s) for s in seconds]
    asked_for += [Budget(simulations=n) for n in simulations]
    return asked_for or [Budget(seconds=0.1), Budget(seconds=1.0)]


@click.command()
@click.option(
    "--game", "games", multiple=True, metavar="GAME", help="May be repeated; default: all."
)
@click.option(
    "--seconds",
    multiple=True,
    type=click.FloatRange(min=0.001),
    help="Time for a position; may be repeated; default: 0.1 and 1.",
)
@click.option(
    "--simulations",
    multiple=True,
    type=click.IntRange(min=1),
    help="Simulations for a position, instead of a time; may be repeated.",
)
@agent_options
@seed_option
@json_option
@gathered("budgets", _budgets, "seconds", "simulations")
@gathered("agent", agent_from, "agent_name", "settings")
def tactics(
    games: tuple[str, ...], budgets: list[Budget], agent: Agent, seed: int | None, as_json: bool
) -> None:
    """How often an agent finds the moves that win, or that alone don't lose.

    The positions are of the project's suite; exhaustive search has proven which moves are good:
    those that win by force in 2 or 3 own moves, or the only ones that don't lose by force.  Each
    is searched with an empty tree, once everything is compiled.  Searches use all cores, as `serve`
    does; --set threads=1 keeps to one.  With --simulations it is one, and a seed fixes the choices.

    Percentages are those of the positions, with intervals of 95 %.
    """
    seed, attempts = new_seed(seed), []
    suite = [position for game in _chosen(games) for position in read_positions(game)]
    warm_up(tuners_of([agent]))
    try:
        for attempt in _attempts(suite, agent, budgets, seed):
            attempts.append(attempt)
            if as_json:
                click.echo(json.dumps(_as_json(attempt, agent, seed)))
    finally:  # what was found before an interruption is shown
        if attempts and not as_json:
            threads = threads_of(agent if budgets[0].seconds else _of_simulations(agent))
            click.echo(f"agent {agent.name}, seed {seed}, threads: {threads}")
            for budget in budgets:
                _show(budget, [a for a in attempts if a.budget == budget])


def _of_simulations(agent: Agent) -> Agent:
    return agent.with_settings(["simulations=1"])


def _chosen(games: Sequence[str]) -> list[str]:
    """The keys of the games asked for, or of all that have positions."""
    known = games_with_positions()
    keys = [find_game(game).key for game in games]
    for key in keys:
        if key not in known:
            raise GameError(f"no positions of {key}; there are some of {', '.join(known)}")
    return list(dict.fromkeys(keys)) or known


def _attempts(
    suite: Sequence[Position], agent: Agent, budgets: Sequence[Budget], seed: int
) -> Iterator[Attempt]:
    """All attempts; a bar on standard error shows how far it is, where that is a terminal."""

    def one_by_one() -> Iterator[Attempt]:
        for game in dict.fromkeys(position.game for position in suite):
            yield from examine([p for p in suite if p.game == game], agent, budgets, seed)

    console = Console(stderr=True)
    total = len(suite) * len(budgets)
    yield from track(
        one_by_one(), "tactics", total, console=console, disable=not console.is_terminal
    )


def _as_json(attempt: Attempt, agent: Agent, seed: int) -> dict[str, object]:
    position, budget = attempt.position, attempt.budget
    return {
        "game": position.game,
        "position": position.seed,
        "kind": position.kind,
        "agent": agent.name,
        "seed": seed,
        "seconds": budget.seconds or None,
        "budget": budget.simulations or None,
        "simulations": attempt.simulations,
        "chosen": attempt.chosen,
        "solved": attempt.solved,
    }


def _show(budget: Budget, attempts: Sequence[Attempt]) -> None:
    """A row per game: solved and asked, by kind and together."""
    table = Table(box=box.MARKDOWN)
    table.add_column(str(budget))
    for kind in (*KINDS, "all", "%, 95 % interval"):
        table.add_column(kind, justify="right")
    for game in [*dict.fromkeys(a.position.game for a in attempts), ALL_GAMES]:
        of_game = [a for a in attempts if game in (a.position.game, ALL_GAMES)]
        cells = [_count([a for a in of_game if a.position.kind == kind]) for kind in KINDS]
        table.add_row(game, *cells, _count(of_game), _rate(of_game))
    of_kinds = ([a for a in attempts if a.position.kind == kind] for kind in KINDS)
    table.add_row("%", *map(_rate, of_kinds), "", "")
    Console(width=140).print(table)


def _count(attempts: Sequence[Attempt]) -> str:
    return f"{sum(a.solved for a in attempts)}/{len(attempts)}" if attempts else "-"


def _rate(attempts: Sequence[Attempt]) -> str:
    if not attempts:
        return "-"
    rate = mean_interval([float(a.solved) for a in attempts]).scaled(100)
    return f"{rate.value:.1f} [{rate.low:.1f}, {rate.high:.1f}]"


def _effort(count: int, random_games: int, states: int, all_states: int) -> Effort:
    return Effort(count, random_games, states, all_states)


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1000,
    show_default=True,
    help="Of the first random game; the next ones have the following.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=_EFFORT.count,
    show_default=True,
    help="Positions per game.",
)
@click.option(
    "--random-games",
    type=click.IntRange(min=1),
    default=_EFFORT.random_games,
    show_default=True,
    help="Random games per game, at most.",
)
@click.option(
    "--states",
    type=click.IntRange(min=100),
    default=_EFFORT.states,
    show_default=True,
    help="States that one exhaustive search looks at, at most.",
)
@click.option(
    "--all-states",
    type=click.IntRange(min=100),
    default=_EFFORT.all_states,
    show_default=True,
    help="States that all of a game look at, about.",
)
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    help="Write a file per game here, instead of printing the positions.",
)
@click.option("--check", is_flag=True, help="Prove the suite's positions again, and find none.")
@gathered("effort", _effort, "count", "random_games", "states", "all_states")
def find_tactics(
    games: tuple[str, ...], seed: int, effort: Effort, folder: Path | None, check: bool
) -> None:
    """Find positions of GAMEs (default: those of the suite) like those of `bench tactics`.

    Random games are played, and states that they pass searched exhaustively for wins in 2 or 3 own
    moves, and for the only moves that don't lose by force.  The same options give the same
    positions.
    """
    if check:
        _check(_chosen(games))
        return
    for name in games or games_with_positions():
        game = find_game(name)
        found = Finder(_machine(game), game, game.rule_sheet(), effort).find(seed)
        for position in found if folder is None else ():
            click.echo(position.as_line())
        if folder is not None and found:
            write_positions(found, folder / f"{game.key}.jsonl")
        click.echo(f"{game.key}: {len(found)} positions", err=True)


def _check(games: Sequence[str]) -> None:
    wrong = 0
    for key in games:
        game, positions = find_game(key), read_positions(key)
        sheet, machine = game.rule_sheet(), _machine(game)
        for number, position in enumerate(positions, 1):
            if not is_proven(machine, position, position.state(machine, sheet)):
                click.echo(f"{key}, line {number}: not what is proven", err=True)
                wrong += 1
        click.echo(f"{key}: {len(positions)} positions looked at")
    if wrong:
        raise GameError(f"{wrong} positions are wrong")


def _machine(game: Game) -> PropnetStateMachine:
    """A game's propnet with its machine code, if it gets one."""
    machine = PropnetStateMachine.from_rules(game.rule_sheet())
    compilation = machine.compile()
    if compilation is not None:
        compilation.wait(CODE_SECONDS)
    return machine
