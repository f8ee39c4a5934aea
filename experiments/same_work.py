"""The same searches by two checkouts of the project, in turns: is the tree the same, and as fast?

    python experiments/same_work.py BEFORE AFTER [--game reversi]... [--agent ap-nmc:tune=4]...

A process of each checkout loads a game and then makes the same search whenever it is its turn: a
number of simulations from the initial state, always with the same seed.  As both are there all the
time, turns are short, and many of them fit into a minute: the machine's moods meet both alike.
Printed is before / after of the processor's seconds (how many times as fast), the median over pairs
of turns with their quartiles, and whether both visited the same number of nodes.

With several threads it is seconds by the clock.  `experiments/in_turns.py` compares commands.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
from in_turns import GAMES, sheet_of

AGENTS = ("ap", "default")


class Checkout:
    """A process of a checkout that has loaded a game."""

    def __init__(self, folder: Path, game: str, agent: str, simulations: int, seed: int) -> None:
        command = [
            sys.executable,
            __file__,
            "--child",
            game,
            agent,
            str(simulations),
            str(seed),
        ]
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, env=environment, **pipes)
        self.ready()

    def ready(self) -> Any:
        """The next line that it writes.  Raises `click.ClickException` if it has ended."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise click.ClickException("a checkout's process ended; its messages are above")
        return json.loads(line)

    def search(self) -> tuple[float, int]:
        """Seconds and visited nodes of a search."""
        self._process.stdin.write("\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        seconds, nodes = self.ready()
        return seconds, nodes

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def _child(game: str, text: str, simulations: int, seed: int) -> None:
    """Load a game, say so, and search once per line of input; in whatever checkout this is."""
    from ggp_agent.agents import find_agent
    from propnet.machine import PropnetStateMachine

    library = _module("ggp_agent.library.games", "ggp_agent.library")
    importlib.import_module("ggp_agent.tuning.tuners")
    name, *settings = text.split(":")
    agent = find_agent(name).with_settings(
        ["memory=512", "threads=1", f"simulations={simulations}", *settings]
    )
    machine = PropnetStateMachine.from_rules(library.find_game(game).rule_sheet())
    compilation = machine.compile()
    if compilation is not None:
        compilation.wait(300)
    search = _search(machine, agent, seed)
    search.think(time.monotonic() + 3600, lambda: False)
    print("0", flush=True)
    clock = time.process_time if agent["threads"] == 1 else time.perf_counter
    for _ in sys.stdin:
        search = _search(machine, agent, seed)
        begin = clock()
        search.think(time.monotonic() + 3600, lambda: False)
        print(json.dumps((clock() - begin, search.trace().visited_nodes)), flush=True)


def _search(machine: Any, agent: Any, seed: int) -> Any:
    make = _module("ggp_agent.mind.search_factory", "ggp_agent.worker").native_search
    return make(getattr(machine, "compiled", machine), 0, agent, seed)


def _module(name: str, earlier: str) -> Any:
    """A module that checkouts of up to version 0.1.0 have by another name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return importlib.import_module(earlier)


def _compare(before: Checkout, after: Checkout, turns: int) -> tuple[list[float], bool]:
    """Before / after for each pair of turns; whether both did the same."""
    ratios, same = [], True
    for turn in range(turns):
        order = (before, after) if turn % 2 == 0 else (after, before)
        found = {checkout: checkout.search() for checkout in order}
        ratios.append(found[before][0] / found[after][0])
        same = same and found[before][1] == found[after][1]
    return ratios, same


@click.command()
@click.argument("before", type=click.Path(exists=True, path_type=Path))
@click.argument("after", type=click.Path(exists=True, path_type=Path))
@click.option("--game", "games", multiple=True, help="A key or a rule sheet; default: the 14.")
@click.option("--agent", "agents", multiple=True, help="NAME:KEY=VALUE:...; default: ap, default.")
@click.option("--simulations", default=40_000, show_default=True)
@click.option("--turns", default=12, show_default=True, help="Of each checkout.")
@click.option("--seed", default=1, show_default=True)
def main(
    before: Path,
    after: Path,
    games: tuple[str, ...],
    agents: tuple[str, ...],
    simulations: int,
    turns: int,
    seed: int,
) -> None:
    """Compare the checkout AFTER with the checkout BEFORE."""
    for agent in agents or AGENTS:
        medians = []
        click.echo(f"\n| {agent} | times as fast | quartiles | same nodes |\n|---|---:|---:|---|")
        for game in map(sheet_of, games or GAMES):
            checkouts = [
                Checkout(f.resolve(), game, agent, simulations, seed) for f in (before, after)
            ]
            try:
                ratios, same = _compare(*checkouts, turns)
            finally:
                for checkout in checkouts:
                    checkout.close()
            low, middle, high = statistics.quantiles(ratios, n=4)
            medians.append(middle)
            name = Path(game).stem
            click.echo(
                f"| {name} | {middle:.3f} | [{low:.3f}, {high:.3f}] | {'yes' if same else 'NO'} |"
            )
        mean = math.exp(statistics.mean(map(math.log, medians)))
        click.echo(f"| geometric mean | {mean:.3f} | lowest {min(medians):.3f} | |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
