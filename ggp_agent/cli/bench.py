"""`ggp-agent bench`: how fast it is on this machine, and how well it does."""

from __future__ import annotations

import json
import resource
import time
from itertools import pairwise
from typing import Any

import click

from gdl.errors import GgpError
from gdl.grounding import ground
from ggp_agent.cli.bench_simulate import How, measure, simulation_header, simulation_line
from ggp_agent.cli.common import gathered, json_option, new_seed, seed_option
from ggp_agent.cli.lazy import Lazy, LazyGroup
from ggp_agent.cli.measuring import in_own_process
from ggp_agent.library.games import find_game
from ggp_agent.system.cores import cores
from propnet.network import compile_network

_OTHERS = {
    "find-tactics": Lazy(
        "ggp_agent.cli.bench_tactics",
        "find_tactics",
        "Find positions of GAMEs (default: those of the suite) like those of `bench tactics`.",
    ),
    "puzzles": Lazy(
        "ggp_agent.cli.bench_puzzles",
        "puzzles",
        "Play one-player GAMEs (default: all of the library and of the folder $GGP_RULESHEETS).",
    ),
    "search": Lazy(
        "ggp_agent.cli.bench_search",
        "search",
        "How fast searches are: visited nodes and simulations per second.",
    ),
    "tactics": Lazy(
        "ggp_agent.cli.bench_tactics",
        "tactics",
        "How often an agent finds the moves that win, or that alone don't lose.",
    ),
    "tuning": Lazy(
        "ggp_agent.cli.bench_tuning",
        "tuning",
        "Regret of the TUNERs (default: all) on synthetic landscapes of win probabilities.",
    ),
}


@click.group(cls=LazyGroup, lazy=_OTHERS)
def bench() -> None:
    """Measure speed, and how well agents and tuners do."""


def _how(
    seconds: float, runs: int, kernel: str, width: str | None, threads: int, seed: int | None
) -> How:
    return How(seconds, runs, kernel, int(width or 0), threads or cores(), new_seed(seed))


@bench.command()
@click.argument("games", nargs=-1, required=True, metavar="GAME...")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01),
    default=1.0,
    show_default=True,
    help="Length of a run.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Runs per game; medians are shown, with the spread.",
)
@click.option(
    "--kernel",
    type=click.Choice(["compiled", "interpreted"]),
    default="compiled",
    show_default=True,
    help="Machine code, where the network is small enough, or the interpreter.",
)
@click.option(
    "--width",
    type=click.Choice(["1", "2", "4", "8"]),
    default=None,
    help="Words of 64 games that machine code computes at once  [default: the CPU's vectors].",
)
@click.option(
    "--threads",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Threads that play side by side; 0: one per core.",
)
@seed_option
@click.option("--markdown", is_flag=True, help="A table in Markdown.")
@json_option
@gathered("how", _how, "seconds", "runs", "kernel", "width", "threads", "seed")
def simulate(games: tuple[str, ...], how: How, markdown: bool, as_json: bool) -> None:
    """Random playouts: transitions and games per second, and the time until they begin.

    Speeds of others are those that the design of this project quotes.
    """
    if not as_json:
        for line in simulation_header(markdown):
            click.echo(line)
    for name in games:
        result = in_own_process(measure, name, how)
        click.echo(json.dumps(result) if as_json else simulation_line(result, markdown))


@bench.command(name="ground")
@click.argument("games", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="Give up grounding a sheet after so long.",
)
@json_option
def ground_sheets(games: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Rule text to network: time, memory and size, one rule sheet after the other."""
    if not as_json:
        click.echo(
            f"{'game':24} {'reasoner':8} {'parse s':>8} {'ground s':>9} {'network s':>9} "
            f"{'rules':>8} {'gates':>7} {'fluents':>7} {'moves':>6} {'peak MB':>7}"
        )
    for name in games:
        result = in_own_process(_ground, name, seconds)
        click.echo(json.dumps(result) if as_json else _ground_line(result))


def _ground(name: str, seconds: float) -> dict[str, Any]:
    result: dict[str, Any] = {"game": name, "ok": False, "reasoner": "prolog", "error": ""}
    times = [time.perf_counter()]
    try:
        game = find_game(name)
        result["game"] = game.key
        sheet = game.rule_sheet()
        times.append(time.perf_counter())
        program = ground(sheet, seconds=seconds)
        times.append(time.perf_counter())
        network = compile_network(program)
        times.append(time.perf_counter())
        result |= {
            "ok": True,
            "reasoner": "propnet",
            "rules": len(program.heads),
            "gates": network.gate_count,
            "fluents": len(network.fluents),
            "moves": len(network.legal),
        }
    except GgpError as error:
        result["error"] = str(error)
        times.append(time.perf_counter())
    for what, (begin, end) in zip(("parse", "ground", "network"), pairwise(times), strict=False):
        result[f"{what}_s"] = round(end - begin, 4)
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return result


def _ground_line(result: dict[str, Any]) -> str:
    def number(key: str, width: int) -> str:
        return f"{result[key]:{width}}" if key in result else " " * (width - 1) + "-"

    return (
        f"{result['game']:24} {result['reasoner']:8} {number('parse_s', 8)} "
        f"{number('ground_s', 9)} {number('network_s', 9)} {number('rules', 8)} "
        f"{number('gates', 7)} {number('fluents', 7)} {number('moves', 6)} "
        f"{number('peak_mb', 7)}  {result['error']}"
    )
