"""`ggp-agent bench`: how fast it is on this machine."""

from __future__ import annotations

import json
import multiprocessing
import resource
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from typing import Any

import click

from gdl.errors import GgpError
from gdl.grounding import GROUNDER_BYTES, ground
from ggp_agent.cli.common import json_option, new_seed, seed_option
from ggp_agent.library import find_game
from propnet.network import compile_network
from propnet.simulator import Simulator
from propnet.vectors import WORDS


@click.group()
def bench() -> None:
    """Measure speed."""


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
@seed_option
@json_option
def simulate(
    games: tuple[str, ...], seconds: float, runs: int, seed: int | None, as_json: bool
) -> None:
    """Random playouts on one core: transitions and games per second."""
    seed = new_seed(seed)
    if not as_json:
        click.echo(
            f"{'game':24} {'gates':>7} {'edges':>8} {'ready s':>8} {'M transitions/s':>24} "
            f"{'playouts/s':>11} {'length':>7}  mean goals"
        )
    for name in games:
        result = _measure(name, seconds, runs, seed)
        click.echo(json.dumps(result) if as_json else _line(result))


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
        # a process for each, so that the peak of memory is the sheet's own
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            process.submit(_load).result()
            result = process.submit(_ground, name, seconds).result()
        click.echo(json.dumps(result) if as_json else _ground_line(result))


def _load() -> None:
    """Have everything imported, and the network's kernels loaded, before the measurement."""
    compile_network(ground(find_game("ticTacToe").rule_sheet()))


def _ground(name: str, seconds: float) -> dict[str, Any]:
    result: dict[str, Any] = {"game": name, "ok": False, "reasoner": "prolog", "error": ""}
    times = [time.perf_counter()]
    try:
        game = find_game(name)
        result["game"] = game.key
        sheet = game.rule_sheet()
        times.append(time.perf_counter())
        program = ground(sheet, seconds=seconds, memory=GROUNDER_BYTES)
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
    peak = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    result["peak_mb"] = sum(resource.getrusage(who).ru_maxrss for who in peak) // 1024
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


def _measure(name: str, seconds: float, runs: int, seed: int) -> dict[str, Any]:
    game = find_game(name)
    times = [time.perf_counter()]
    sheet = game.rule_sheet()
    times.append(time.perf_counter())
    program = ground(sheet)
    times.append(time.perf_counter())
    network = compile_network(program)
    times.append(time.perf_counter())
    parse, grounding, compiling = (b - a for a, b in pairwise(times))
    simulator = Simulator(network, seed)
    simulator.run(0.0)  # kernels are loaded here
    measured = [simulator.run(seconds) for _ in range(runs)]
    rates = sorted(run.transitions_per_second for run in measured)
    return {
        "game": game.key,
        "kernel": "interpreted",
        "width": WORDS,
        "gates": network.gate_count,
        "edges": network.edge_count,
        "parse_s": round(parse, 4),
        "ground_s": round(grounding, 4),
        "network_s": round(compiling, 4),
        "compile_s": 0.0,
        "transitions_per_s": statistics.median(rates),
        "transitions_per_s_min": rates[0],
        "transitions_per_s_max": rates[-1],
        "playouts_per_s": statistics.median(run.playouts_per_second for run in measured),
        "mean_length": statistics.mean(run.mean_length for run in measured),
        "mean_goals": [
            statistics.mean(goals) for goals in zip(*(r.mean_goals for r in measured), strict=True)
        ],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "seed": seed,
    }


def _line(result: dict[str, Any]) -> str:
    ready = result["parse_s"] + result["ground_s"] + result["network_s"]
    median, low, high = (
        result[f"transitions_per_s{suffix}"] / 1e6 for suffix in ("", "_min", "_max")
    )
    goals = " ".join(f"{goal:.1f}" for goal in result["mean_goals"])
    return (
        f"{result['game']:24} {result['gates']:7} {result['edges']:8} {ready:8.2f} "
        f"{median:8.2f} [{low:6.2f}, {high:6.2f}] {result['playouts_per_s']:11.0f} "
        f"{result['mean_length']:7.2f}  {goals}"
    )
