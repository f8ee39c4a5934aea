"""`ggp-agent bench search`: how fast the search is on this machine."""

from __future__ import annotations

import json
import random
import statistics
import time
from typing import Any

import click

from gdl.errors import GgpError
from gdl.state_machine import State
from ggp_agent.agents import Agent
from ggp_agent.cli.common import agent_options, json_option, new_seed, seed_option
from ggp_agent.cli.measuring import in_own_process
from ggp_agent.cli.reading import agent_from
from ggp_agent.library.games import find_game
from ggp_agent.mind.search_factory import native_search
from ggp_agent.search.parallel import threads_of
from propnet.machine import PropnetStateMachine

CODE_SECONDS = 60.0
"""Seconds for which the game's machine code is waited for before the measurement."""
LOADING_SECONDS = 0.1
"""Length of a search before the measurement, for which kernels are loaded."""


@click.command()
@click.argument("games", nargs=-1, required=True, metavar="GAME...")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01),
    default=1.0,
    show_default=True,
    help="Length of a search.",
)
@click.option(
    "--positions",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Positions: the first one, and others spread over a random playout.",
)
@agent_options
@seed_option
@json_option
def search(
    games: tuple[str, ...],
    seconds: float,
    positions: int,
    agent_name: str,
    settings: tuple[str, ...],
    seed: int | None,
    as_json: bool,
) -> None:
    """How fast searches are: visited nodes and simulations per second.

    Visited nodes are edges of the tree and moves of playouts.  The figures are means over the
    positions, each searched with an empty tree once the game's machine code is there.  Searches
    use all cores, as `serve` does; --set threads=1 keeps to one.
    """
    agent, seed, ratios = agent_from(agent_name, settings), new_seed(seed), []
    if not as_json:
        click.echo(
            f"threads: {threads_of(agent)}\n"
            f"{'game':24} {'agent':8} {'M nodes/s':>10} {'[range]':>16} {'sims/s':>10} "
            f"{'tree nodes':>11} {'depth':>6} {'peak MB':>8}"
        )
    for name in games:
        result = in_own_process(measure, name, agent, seconds, positions, seed)
        ratios.append(result["nodes_per_s"])
        click.echo(json.dumps(result) if as_json else _line(result))
    if not as_json and len(games) > 1:
        mean = statistics.geometric_mean(max(1.0, ratio) for ratio in ratios)
        click.echo(f"{'geometric mean':24} {'':8} {mean / 1e6:10.2f}")


def measure(name: str, agent: Agent, seconds: float, positions: int, seed: int) -> dict[str, Any]:
    """Search some positions of a game; keys as `bench search --json` prints them."""
    game = find_game(name)
    machine = PropnetStateMachine.from_rules(game.rule_sheet())
    compilation = machine.compile()
    code = compilation is not None and compilation.wait(CODE_SECONDS)
    search = native_search(machine.compiled, 0, agent, seed)
    search.think(time.monotonic() + LOADING_SECONDS, lambda: False)
    traces = []
    for state in search_positions(machine, positions, seed):
        search.enter(state, None)
        search.think(time.monotonic() + seconds, lambda: False)
        traces.append(search.trace())
    rates = [trace.visited_nodes / max(trace.seconds, 1e-9) for trace in traces]
    simulations = sum(trace.simulations for trace in traces)
    spent = sum(trace.seconds for trace in traces)
    return {
        "game": game.key,
        "agent": agent.name,
        "nodes_per_s": round(sum(t.visited_nodes for t in traces) / max(spent, 1e-9)),
        "nodes_per_s_min": round(min(rates)),
        "nodes_per_s_max": round(max(rates)),
        "simulations_per_s": round(simulations / max(spent, 1e-9)),
        "simulations": simulations,
        "tree_nodes": max(trace.tree_nodes for trace in traces),
        "mean_depth": round(statistics.mean(trace.mean_depth for trace in traces), 2),
        "peak_mb": round(max(trace.memory for trace in traces) / 2**20, 1),
        "positions": len(traces),
        "machine_code": code,
        "threads": threads_of(agent),
        "seed": seed,
    }


def search_positions(machine: PropnetStateMachine, count: int, seed: int) -> list[State]:
    """The initial state, and others at equal distances along a random playout."""
    dice, states = random.Random(seed), [machine.initial_state]
    while not machine.is_terminal(states[-1]) and len(states) < 500:
        moves = [machine.legal_moves(states[-1], role) for role in range(len(machine.roles))]
        if not all(moves):
            raise GgpError("a role has no legal move")
        states.append(machine.next_state(states[-1], [dice.choice(m) for m in moves]))
    inner = max(1, len(states) - 1)
    return [states[i * inner // count] for i in range(min(count, inner))]


def _line(result: dict[str, Any]) -> str:
    low, high = (result[f"nodes_per_s_{end}"] / 1e6 for end in ("min", "max"))
    return (
        f"{result['game']:24} {result['agent']:8} {result['nodes_per_s'] / 1e6:10.2f} "
        f"[{low:6.2f}, {high:6.2f}] {result['simulations_per_s']:10,} "
        f"{result['tree_nodes']:11,} {result['mean_depth']:6.1f} {result['peak_mb']:8.0f}"
    )
