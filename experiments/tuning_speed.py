"""What tuning costs: visited nodes per second of tuned AP against AP with fixed values.

    python experiments/tuning_speed.py GAME... [--tuner ntbea]... [--seconds 0.4] [--positions 2]

Sironi, Liu, Winands: Self-Adaptive MCTS in GGP (2020), Table IV, for four parameters.  In every
position AP and the tuned agents search in turns, in one process, so that all meet the same machine;
times are processor seconds.  `unused` is how AP fares when the tuner works but its values are not
used: what a tuner costs by itself, while other values also make the search visit other nodes.
"""

from __future__ import annotations

import statistics
import time

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ggp_agent.agents import find_agent
from ggp_agent.cli.bench_search import search_positions
from ggp_agent.library import find_game
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.settings import F32, FixedSettings
from ggp_agent.tuning.adaptive import SelfAdaptive
from propnet.machine import PropnetStateMachine
from propnet.vectors import LANES

TUNERS = ("nmc", "lsi", "ea", "ntbea", "cmaes", "mab", "local", "random")


class Unused(SelfAdaptive):
    """A tuner whose values are not used."""

    def ask(self, count: int) -> F32:
        """See `Tuner.ask`."""
        super().ask(count)
        return self.fixed.ask(count)

    fixed: FixedSettings


@click.command()
@click.argument("games", nargs=-1, required=True, metavar="GAME...")
@click.option("--tuner", "tuners", multiple=True, type=click.Choice(TUNERS), help="Default: all.")
@click.option("--parameters", default=4, show_default=True, help="How many are tuned.")
@click.option("--seconds", default=0.4, show_default=True, help="Per search.")
@click.option("--positions", default=2, show_default=True, help="Per game.")
@click.option("--seed", default=1, show_default=True)
def main(
    games: tuple[str, ...],
    tuners: tuple[str, ...],
    parameters: int,
    seconds: float,
    positions: int,
    seed: int,
) -> None:
    """Measure in GAMEs, and print nodes per second in percent of those with fixed values."""
    columns = [kind for tuner in tuners or TUNERS for kind in (tuner, f"{tuner}, unused")]
    rows: dict[str, list[float]] = {}
    for name in games:
        game = find_game(name)
        machine = PropnetStateMachine.from_rules(game.rule_sheet())
        compilation = machine.compile()
        if compilation is not None:
            compilation.wait(60)
        searches = {
            column: _search(machine, column, parameters, seed) for column in ["fixed", *columns]
        }
        ratios: dict[str, list[float]] = {column: [] for column in columns}
        for state in search_positions(machine, positions, seed):
            speeds = {}
            for column, search in searches.items():
                search.enter(state, None)
                begin, until = time.process_time(), time.monotonic() + seconds
                search.think(until, lambda: False)
                speeds[column] = search.trace().visited_nodes / (time.process_time() - begin)
            for column in columns:
                ratios[column].append(100.0 * speeds[column] / speeds["fixed"])
        rows[game.key] = [statistics.geometric_mean(ratios[column]) for column in columns]
        click.echo(f"{game.key}: {', '.join(f'{value:.0f}' for value in rows[game.key])}", err=True)
    table = Table("game", *columns, box=box.MARKDOWN)
    for key, values in rows.items():
        table.add_row(key, *(f"{value:.0f}" for value in values))
    means = [statistics.geometric_mean(column) for column in zip(*rows.values(), strict=True)]
    table.add_row("geometric mean", *(f"{mean:.1f}" for mean in means))
    Console(width=40 + 16 * len(columns)).print(table)


def _search(machine: PropnetStateMachine, column: str, parameters: int, seed: int) -> NativeSearch:
    name, _, unused = column.partition(", ")
    fixed = name == "fixed"
    settings = [] if fixed else [f"tune={parameters}"]
    agent = find_agent("ap" if fixed else f"ap-{name}").with_settings([*settings, "memory=512"])
    roles, tuner = len(machine.roles), None
    if unused:
        tuner = Unused(agent, roles, LANES, seed)
        tuner.fixed = FixedSettings(agent, roles, LANES)
    elif not fixed:
        tuner = SelfAdaptive(agent, roles, LANES, seed)
    search = NativeSearch(machine.network, 0, agent, seed, tuner, machine.layout)
    for batch in (1, LANES):  # kernels are loaded here, and memory is touched
        search.simulate(batch)
    return search


if __name__ == "__main__":
    main()
