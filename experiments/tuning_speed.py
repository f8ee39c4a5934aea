"""What tuning costs: visited nodes per second of tuned AP against AP with fixed values.

    python experiments/tuning_speed.py GAME... [--tuner ntbea]... [--seconds 1]

Sironi, Liu, Winands: Self-Adaptive MCTS in GGP (2020), Table IV, for four parameters.  In every
position one search runs with fixed and with tuned values in turns, in the same memory, so that all
meet the same machine; times are processor seconds.  The positions are taken for a match: a tuner
keeps what it has learned from one to the next.  In the columns `unused` the tuner works, but its
values are not used: that is what a tuner costs by itself, while other values also make the search
visit other nodes.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Self

import click
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from gdl.state_machine import State
from ggp_agent.agents import Agent, find_agent
from ggp_agent.cli import run
from ggp_agent.cli.bench_search import search_positions
from ggp_agent.library.games import find_game
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.settings import F32, F64, FixedSettings, Tuner, new_settings
from ggp_agent.tuning.self_adaptive import SelfAdaptive
from propnet.layout import I32
from propnet.machine import PropnetStateMachine
from propnet.vectors import LANES

PAGE = 4096
"""bytes"""
TUNERS = ("nmc", "lsi", "ea", "ntbea", "cmaes", "mab", "local", "choosing", "random-values")


class Switch:
    """A `Tuner` that can be exchanged, with an agent's own values where there is none."""

    watches_batches = False
    is_fixed = False

    def __init__(self, agent: Agent, roles: int) -> None:
        self._agent = agent
        self._aside = new_settings(LANES, roles).values
        self.switch(None, used=False)

    def switch(self, tuner: Tuner | None, *, used: bool) -> None:
        """From now on `tuner` works; `used` says whether its values are."""
        self._tuner, self._used = tuner, used
        self._fixed = FixedSettings(self._agent)  # which finds other values in the settings

    def share(self, count: int) -> int:
        """See `Tuner.share`."""
        return (self._tuner or self._fixed).share(count)

    def ask(self, rows: I32, weights: I32, values: F32) -> None:
        """See `Tuner.ask`."""
        if self._tuner:
            self._tuner.ask(rows, weights, values if self._used else self._aside)
        if not self._used:
            self._fixed.ask(rows, weights, values)

    def tell(self, rows: I32, totals: F64, weights: I32) -> None:
        """See `Tuner.tell`."""
        if self._tuner:
            self._tuner.tell(rows, totals, weights)

    def ask_batch(self, values: F64) -> None:
        """See `Tuner.ask_batch`."""
        self._fixed.ask_batch(values)

    def tell_batch(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_batch`."""

    def ask_move(self, values: F64) -> None:
        """See `Tuner.ask_move`."""
        self._fixed.ask_move(values)

    def tell_move(self, totals: F64, weight: int) -> None:
        """See `Tuner.tell_move`."""

    def new_move(self) -> None:
        """See `Tuner.new_move`."""
        if self._tuner:
            self._tuner.new_move()

    def report(self, others: Sequence[Self] = ()) -> dict[str, object]:
        """See `Tuner.report`."""
        return {}


@click.command()
@click.argument("games", nargs=-1, required=True, metavar="GAME...")
@click.option("--tuner", "tuners", multiple=True, type=click.Choice(TUNERS), help="Default: all.")
@click.option("--parameters", default=4, show_default=True, help="How many are tuned.")
@click.option("--seconds", default=1.0, show_default=True, help="Length of a search.")
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
    names = tuners or TUNERS
    columns = [kind for name in names for kind in (name, f"{name}, unused")]
    rows: dict[str, list[float]] = {}
    for game in map(find_game, games):
        machine = PropnetStateMachine.from_rules(game.rule_sheet())
        compilation = machine.compile()
        if compilation is not None:
            compilation.wait(60)
        agent, roles = find_agent("ap").with_settings([f"seconds={seconds}"]), machine.roles
        switch, settings = Switch(agent, len(roles)), new_settings(LANES, len(roles))
        one = np.ones(1, np.int32)
        search = NativeSearch(machine.compiled, 0, agent, seed, switch)
        ratios: dict[str, list[float]] = {column: [] for column in columns}
        tuners_of_game: dict[str, SelfAdaptive] = {}
        for name in names:
            tuned = find_agent(f"ap-{name}").with_settings([f"tune={parameters}"])
            warm, tuner = (SelfAdaptive(tuned, len(roles), LANES, seed) for _ in range(2))
            warm.ask(settings.free[:1], one, settings.values)
            warm.tell(settings.free[:1], settings.totals[:1], one)
            tuner.watch(search.trace)
            tuners_of_game[name] = tuner
        _touch(search)
        _speed(search, machine.initial_state)  # loads kernels
        for state in search_positions(machine, positions, seed):
            for name, tuner in tuners_of_game.items():
                speeds = [_speed(search, state)]
                for used in (True, False):
                    switch.switch(tuner, used=used)
                    speeds.append(_speed(search, state))
                switch.switch(None, used=False)
                speeds.append(_speed(search, state))
                for column, speed in zip((name, f"{name}, unused"), speeds[1:3], strict=True):
                    ratios[column].append(200.0 * speed / (speeds[0] + speeds[3]))
                tuner.new_move()
        rows[game.key] = [statistics.geometric_mean(ratios[column]) for column in columns]
        click.echo(f"{game.key}: {', '.join(f'{value:.0f}' for value in rows[game.key])}", err=True)
    _print(columns, rows)


def _touch(search: NativeSearch) -> None:
    """Have the system give all memory of the tree now, not to the search that is first to use it.

    That takes longer than filling it with nodes, and tuned searches need more of it: they make
    more, and shorter, simulations.
    """
    tree = search._tree
    for array in (tree.nodes, tree.states, tree.scores, tree.buckets, tree.edges, *tree.pool):
        array.reshape(-1).view(np.uint8)[::PAGE] |= 0


def _speed(search: NativeSearch, state: State) -> float:
    """Visited nodes per processor second."""
    search.enter(state, None)
    begin = time.process_time()
    search.think(time.monotonic() + 3600, lambda: False)
    return search.trace().visited_nodes / (time.process_time() - begin)


def _print(columns: list[str], rows: dict[str, list[float]]) -> None:
    table = Table("game", *columns, box=box.MARKDOWN)
    for key, values in rows.items():
        table.add_row(key, *(f"{value:.0f}" for value in values))
    means = [statistics.geometric_mean(column) for column in zip(*rows.values(), strict=True)]
    table.add_row("geometric mean", *(f"{mean:.1f}" for mean in means))
    Console(width=40 + 16 * len(columns)).print(table)


if __name__ == "__main__":
    run(main, "tuning_speed.py")
