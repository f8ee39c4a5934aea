"""One long search: does it stay within its memory, and does it keep its speed?

    python experiments/long_search.py connectFour [--minutes 10] [--agent ap] [--set memory=512]

Prints a line for every interval: visited nodes and simulations per processor second of it, the
tree's nodes and memory, how many nodes were recycled, and the memory of the whole process.
With all cores there is a tree for each, unless it says --set threads=1.
"""

from __future__ import annotations

import resource
import time

import click

from ggp_agent.cli import run
from ggp_agent.cli.reading import agent_from
from ggp_agent.library.games import find_game
from ggp_agent.mind.search_factory import native_search
from propnet.machine import PropnetStateMachine

LINE = "{:>7} {:>10} {:>9} {:>10} {:>8} {:>11} {:>10} {:>6}"
HEAD = (
    "minutes",
    "M nodes/s",
    "k sims/s",
    "tree nodes",
    "tree MB",
    "recycled",
    "process MB",
    "depth",
)


@click.command()
@click.argument("game")
@click.option("--minutes", default=10.0, show_default=True)
@click.option("--lines", default=10, show_default=True, help="How many lines are printed.")
@click.option("--agent", "agent_name", default="ap", show_default=True)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Its parameters.")
@click.option("--seed", default=1, show_default=True)
def main(
    game: str, minutes: float, lines: int, agent_name: str, settings: tuple[str, ...], seed: int
) -> None:
    """Search the initial position of GAME."""
    agent = agent_from(agent_name, settings)
    machine = PropnetStateMachine.from_rules(find_game(game).rule_sheet())
    compilation = machine.compile()
    if compilation is not None:
        compilation.wait(60)
    search = native_search(machine.compiled, 0, agent, seed)
    search.think(time.monotonic() + 0.1, lambda: False)  # kernels are loaded here
    search.enter(machine.initial_state, None)
    click.echo(LINE.format(*HEAD))
    before, begin, used = search.trace(), time.monotonic(), time.process_time()
    for line in range(1, lines + 1):
        search.think(begin + 60 * minutes * line / lines, lambda: False)
        trace = search.trace()
        seconds, used = max(1e-9, time.process_time() - used), time.process_time()
        nodes = trace.visited_nodes - before.visited_nodes
        simulations = trace.simulations - before.simulations
        click.echo(
            LINE.format(
                f"{trace.seconds / 60:.2f}",
                f"{nodes / seconds / 1e6:.2f}",
                f"{simulations / seconds / 1e3:.0f}",
                f"{trace.tree_nodes:,}",
                f"{trace.memory / 2**20:.0f}",
                f"{trace.recycled:,}",
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:.0f}",
                f"{trace.mean_depth:.1f}",
            )
        )
        before = trace


if __name__ == "__main__":
    run(main, "long_search.py")
