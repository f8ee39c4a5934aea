"""What `ggp-agent bench simulate` measures, and how it shows it beside the speed of others."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gdl.grounding import ground
from ggp_agent.library.games import find_game
from propnet.compiling import compile_in_background
from propnet.layout import layout_of
from propnet.network import compile_network
from propnet.simulator import RandomPlay, Simulator, run_in_threads
from propnet.vectors import WORDS


@dataclass(frozen=True, slots=True)
class How:
    """How a game is measured."""

    seconds: float
    runs: int
    kernel: str
    width: int
    threads: int
    seed: int


QUOTED = {
    "ticTacToe": (89, 766, 0.1, 1.11),
    "connectFour": (44, 669, 0.1, 1.46),
    "tictactoe_3d_2player": (17.6, 248, 0.2, 1.44),
    "breakthrough": (10.1, 146, 0.3, 1.29),
    "knightThrough": (9.0, 90, 0.4, 1.33),
    "chinook": (5.6, 44, 1.9, 0.35),
    "chineseCheckers3": (9.9, 120, 0.3, 0.93),
    "checkers": (1.6, 25, 3.7, 0.38),
    "connect5": (11.7, 207, 0.4, 1.29),
    "quad_7x7": (8.1, 148, 0.5, 0.62),
    "sheepAndWolf": (17.5, 259, 0.2, 0.20),
    "ttcc4_2player": (4.8, 53, 1.4, 0.49),
    "ttcc4": (3.7, 46, 1.5, 0.20),
    "pentago": (25.9, 385, 0.2, 0.53),
    "reversi": (2.9, 71, 2.2, 0.10),
    "battle": (2.6, 38, 2.4, None),
    "skirmish": (0.42, 4.1, 16, None),
    "amazons_10x10": (0.72, 7.3, 5.6, None),
    "chess_200": (0.37, 3.4, 16, None),
    "hex": (0.42, None, None, 0.05),
}
"""Per game: a prototype's interpreted and compiled kernels (AVX-512), million transitions per
second; the seconds that compiling took; Sancho, the fastest Java propnet, million per second."""


def measure(name: str, how: How) -> dict[str, Any]:
    """Times until a game can be simulated, and its speed: medians and ranges over the runs."""
    game = find_game(name)
    times = [time.perf_counter()]
    sheet = game.rule_sheet()
    times.append(time.perf_counter())
    program = ground(sheet)
    times.append(time.perf_counter())
    network = compile_network(program)
    layout = layout_of(network)
    times.append(time.perf_counter())
    parse, grounding, compiling = (b - a for a, b in pairwise(times))
    compilation = None
    if how.kernel == "compiled":
        compilation = compile_in_background(network, layout, width=how.width)
        if compilation is not None:
            compilation.wait()
    simulators = [Simulator(layout, seed) for seed in range(how.seed, how.seed + how.threads)]
    run_in_threads(simulators, 0.0)  # games leave step with each other
    plays = [run_in_threads(simulators, how.seconds) for _ in range(how.runs)]
    is_compiled = compilation is not None and compilation.ready
    return {
        "game": game.key,
        "kernel": "compiled" if is_compiled else "interpreted",
        "width": compilation.width if compilation is not None and is_compiled else WORDS,
        "threads": how.threads,
        "gates": network.gate_count,
        "edges": network.edge_count,
        "parse_s": round(parse, 4),
        "ground_s": round(grounding, 4),
        "network_s": round(compiling, 4),
        "compile_s": round(compilation.seconds, 4) if compilation is not None else 0.0,
        **_rates(plays),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "seed": how.seed,
    }


def _rates(plays: list[RandomPlay]) -> dict[str, Any]:
    rates = sorted(play.transitions_per_second for play in plays)
    goals = zip(*(play.mean_goals for play in plays), strict=True)
    return {
        "transitions_per_s": statistics.median(rates),
        "transitions_per_s_min": rates[0],
        "transitions_per_s_max": rates[-1],
        "transitions_per_cpu_s": statistics.median(p.transitions_per_cpu_second for p in plays),
        "transitions_per_cpu_s_max": max(p.transitions_per_cpu_second for p in plays),
        "playouts_per_s": statistics.median(play.playouts_per_second for play in plays),
        "mean_length": statistics.mean(play.mean_length for play in plays),
        "mean_goals": [statistics.mean(goal) for goal in goals],
    }


_COLUMNS = (
    ("game", 22), ("gates", 7), ("edges", 7), ("ready s", 8), ("compile s", 9), ("MB", 5),
    ("M transitions/s", 23), ("M/CPU s", 8), ("k playouts/s", 12), ("length", 7), ("goals", 11),
    ("% of prototype", 14), ("x Sancho", 8),
)  # fmt: skip


def simulation_header(markdown: bool) -> Iterator[str]:
    """The head of the table."""
    if markdown:
        yield f"| {' | '.join(name for name, _ in _COLUMNS)} |"
        yield "|---" * len(_COLUMNS) + "|"
    else:
        yield _aligned([name for name, _ in _COLUMNS])


def simulation_line(result: dict[str, Any], markdown: bool) -> str:
    """The line of a game; compared with others is what a second of a core does."""
    ready = result["parse_s"] + result["ground_s"] + result["network_s"]
    median, low, high = (
        result[f"transitions_per_s{suffix}"] / 1e6 for suffix in ("", "_min", "_max")
    )
    own = result["transitions_per_cpu_s"] / 1e6
    interpreted, compiled, _, sancho = QUOTED.get(result["game"], (None,) * 4)
    prototype = compiled if result["kernel"] == "compiled" else interpreted
    cells = [
        result["game"],
        str(result["gates"]),
        str(result["edges"]),
        f"{ready:.2f}",
        f"{result['compile_s']:.2f}" if result["compile_s"] else "-",
        str(result["peak_mb"]),
        f"{median:.3g} [{low:.3g}, {high:.3g}]",
        f"{own:.3g}",
        f"{result['playouts_per_s'] / 1e3:.3g}",
        f"{result['mean_length']:.2f}",
        " ".join(f"{goal:.1f}" for goal in result["mean_goals"]),
        f"{100 * own / prototype:.0f}" if prototype else "",
        f"{own / sancho:.0f}" if sancho else "",
    ]
    return f"| {' | '.join(cells)} |" if markdown else _aligned(cells)


def _aligned(cells: list[str]) -> str:
    name, *rest = zip(cells, _COLUMNS, strict=True)
    start = f"{name[0]:{name[1][1]}}"
    return " ".join((start, *(f"{cell:>{width}}" for cell, (_, width) in rest))).rstrip()
