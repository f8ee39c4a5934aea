"""Two checkouts of the project compared in turns on one machine: is one as fast as the other?

    python experiments/in_turns.py BEFORE AFTER [--measure search]... [--game reversi]...

Every command is run with one checkout and with the other, in the order A B B A A B B A ..., so that
both meet the same machine, with the same seeds and positions.  Only the command line of either is
used, `ggp-agent bench ... --json` and `ggp-agent tournament`, so that they may differ in anything
else.  Printed is B / A per game, the median of the rounds with the lowest and the highest, and the
geometric mean over the games.  What is compared:

- `simulate`: transitions of random play per processor second;
- `search`: visited nodes per second of ap and default, with one thread and with two;
- `tuned`: the same of ap tuned by several tuners, four parameters, one thread;
- `matches`: matches per minute of a tournament with a budget of simulations, on one core; what lies
  between matches is left out.

Kernels are compiled before anything is measured.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

GAMES = {
    "tictactoe_3d_2player": "ticTacToe3D",
    "breakthrough": "breakthrough",
    "knightThrough": "knightthrough",
    "chinook": "chinook",
    "chineseCheckers3": "chineseCheckers3",
    "checkers": "checkers",
    "connect5": "connectFive",
    "quad_7x7": "quad",
    "sheepAndWolf": "sheepAndWolf",
    "ttcc4_2player": "ttcc4TwoPlayer",
    "ttcc4": "ttcc4",
    "connectFour": "connectFour",
    "pentago": "pentago",
    "reversi": "reversi",
}
"""The paper's games: public rule sheets, and what the library has of the same games."""
AGENTS = ("ap", "default")
THREADS = (1, 2)
TUNERS = ("nmc", "ntbea", "ea", "lsi", "cmaes")
MAIN = "from ggp_agent.cli import main; main()"
WHERE = "import ggp_agent; print(ggp_agent.__file__)"
LONGEST = 3600.0
"""Seconds after which a command is given up; the first ones compile kernels."""


@dataclass(frozen=True, slots=True)
class Length:
    """How much is measured by one run of a command."""

    seconds: float
    positions: int
    matches: int
    simulations: int
    seed: int


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with the project in it."""

    path: Path

    def run(self, arguments: Sequence[str], code: str = MAIN) -> str:
        """What `ggp-agent ARGUMENTS` prints.  Raises `click.ClickException` where it fails."""
        command = [sys.executable, "-P", "-c", code, *arguments]
        env = {**os.environ, "PYTHONPATH": str(self.path)}
        with tempfile.TemporaryDirectory() as elsewhere:
            done = subprocess.run(
                command, env=env, cwd=elsewhere, capture_output=True, text=True, timeout=LONGEST
            )
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()[-1:] or ["(nothing)"]
            raise click.ClickException(f"{self.path}: {' '.join(arguments)}: {said[0]}")
        return done.stdout

    def check(self) -> None:
        """Raise `click.ClickException` unless it is this checkout's code that runs."""
        found = Path(self.run([], WHERE).strip()).resolve()
        if not found.is_relative_to(self.path):
            raise click.ClickException(f"{self.path} has no ggp_agent; {found} would be measured")


@dataclass(frozen=True, slots=True)
class Measurement:
    """Something to be compared: a speed of a checkout in a game."""

    name: str
    run: Callable[[Checkout, str, Length], float]


@dataclass(slots=True)
class Comparison:
    """The speeds of both checkouts in a game, round by round."""

    measurement: str
    game: str
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """after / before of every round."""
        return [b / a for a, b in zip(self.before, self.after, strict=True)]


def _simulate(checkout: Checkout, game: str, length: Length) -> float:
    flags = ["--runs", "5", "--seconds", str(length.seconds / 5), "--seed", str(length.seed)]
    result = json.loads(checkout.run(["bench", "simulate", "--json", *flags, game]))
    return float(result["transitions_per_cpu_s"])


def _search(agent: str, settings: Sequence[str]) -> Callable[[Checkout, str, Length], float]:
    def run(checkout: Checkout, game: str, length: Length) -> float:
        flags = ["--seconds", str(length.seconds), "--positions", str(length.positions)]
        flags += ["--seed", str(length.seed), "--agent", agent]
        flags += [word for setting in settings for word in ("--set", setting)]
        result = json.loads(checkout.run(["bench", "search", "--json", *flags, game]))
        return float(result["nodes_per_s"])

    return run


def _matches(checkout: Checkout, game: str, length: Length) -> float:
    with tempfile.TemporaryDirectory() as folder:
        flags = {
            "--agents": " ".join(AGENTS),
            "--games": game,
            "--matches": length.matches,
            "--simulations": length.simulations,
            "--seed": length.seed,
            "--cores": 1,
            "--directory": folder,
        }
        words = [str(word) for pair in flags.items() for word in pair]
        checkout.run(["tournament", "--quiet", *words])
        return _per_minute(Path(folder))


def _per_minute(folder: Path) -> float:
    """Matches per minute of playing, by the results in a tournament's folder."""
    (results,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    matches = [line for line in lines if "match" in line and not line.get("aborted")]
    if not matches:
        raise click.ClickException("no match could be played; see `ggp-agent tournament`")
    seconds: float = sum(match["seconds"] for match in matches)
    return 60.0 * len(matches) / seconds


MEASURES = {
    "simulate": [Measurement("simulate", _simulate)],
    "search": [
        Measurement(f"search {agent}, threads {threads}", _search(agent, [f"threads={threads}"]))
        for agent in AGENTS
        for threads in THREADS
    ],
    "tuned": [
        Measurement(f"search ap-{name}", _search(f"ap-{name}", ["threads=1", "tune=4"]))
        for name in TUNERS
    ],
    "matches": [Measurement("matches per minute", _matches)],
}


@click.command()
@click.argument("before", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--measure", "measures", multiple=True, type=click.Choice(list(MEASURES)),
              help="Default: all.")  # fmt: skip
@click.option(
    "--game", "games", multiple=True, help="A key or a rule sheet; default: the paper's 14."
)
@click.option("--seconds", default=1.0, show_default=True, help="Length of a search.")
@click.option("--positions", default=3, show_default=True, help="Searches per run.")
@click.option("--matches", default=4, show_default=True, help="Matches per run.")
@click.option("--simulations", default=1000, show_default=True, help="Per move of these.")
@click.option("--rounds", default=4, show_default=True, help="Runs of each checkout.")
@click.option("--seed", default=1, show_default=True)
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path),
              help="Write all speeds to this file, after every game.")  # fmt: skip
def main(
    before: Path,
    after: Path,
    measures: tuple[str, ...],
    games: tuple[str, ...],
    rounds: int,
    json_path: Path | None,
    **length: float,
) -> None:
    """Compare the checkout AFTER with the checkout BEFORE."""
    pair = Checkout(before.resolve()), Checkout(after.resolve())
    for checkout in pair:
        checkout.check()
    chosen = [m for name in measures or MEASURES for m in MEASURES[name]]
    sheets = _sheets(games)
    done: list[Comparison] = []
    for measurement in chosen:
        for checkout in pair:  # compiles its kernels
            measurement.run(checkout, next(iter(sheets.values())), Length(0.05, 1, 1, 20, 1))
        here = []
        for game, sheet in sheets.items():
            here.append(_compare(measurement, game, sheet, pair, rounds, Length(**length)))  # type: ignore[arg-type]
            click.echo(f"{measurement.name}: {_line(here[-1])}", err=True)
            if json_path:
                _write(json_path, pair, rounds, length, done + here)
        done += here
        _print(measurement.name, here)


def _sheets(games: Sequence[str]) -> dict[str, str]:
    """The same for every game, by its name."""
    return {Path(game).stem: sheet_of(game) for game in games or GAMES}


def sheet_of(game: str) -> str:
    """What commands are told of a game: the public sheet where there is one, else our key."""
    if Path(game).is_file():
        return str(Path(game).resolve())  # commands run in another folder
    public = Path(os.environ.get("GGP_RULESHEETS", ".")).resolve() / f"{game}.kif"
    return str(public) if public.is_file() else GAMES.get(game, game)


def _compare(
    measurement: Measurement,
    game: str,
    sheet: str,
    pair: tuple[Checkout, Checkout],
    rounds: int,
    length: Length,
) -> Comparison:
    """Run both in turns, each first in every second round."""
    comparison = Comparison(measurement.name, game)
    speeds = comparison.before, comparison.after
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            speeds[which].append(measurement.run(pair[which], sheet, length))
    return comparison


def _line(comparison: Comparison) -> str:
    low, middle, high = _spread(comparison.ratios)
    speed = statistics.median(comparison.before)
    return f"{comparison.game}: {middle:.3f} [{low:.3f}, {high:.3f}] (before: {speed:,.0f})"


def _spread(ratios: Sequence[float]) -> tuple[float, float, float]:
    """The lowest, the median (of two in the middle the geometric mean), the highest."""
    middle = math.exp(statistics.median(math.log(ratio) for ratio in ratios))
    return min(ratios), middle, max(ratios)


def _print(name: str, comparisons: Sequence[Comparison]) -> None:
    """A table in Markdown."""
    click.echo(f"\n| {name} | before | after / before | [lowest, highest] |\n|---|---:|---:|---:|")
    for comparison in comparisons:
        low, middle, high = _spread(comparison.ratios)
        speed = statistics.median(comparison.before)
        click.echo(f"| {comparison.game} | {speed:,.0f} | {middle:.3f} | [{low:.3f}, {high:.3f}] |")
    mean = statistics.geometric_mean(_spread(c.ratios)[1] for c in comparisons)
    by_round = zip(*(c.ratios for c in comparisons), strict=True)
    means = [statistics.geometric_mean(ratios) for ratios in by_round]
    click.echo(f"| geometric mean | | {mean:.3f} | [{min(means):.3f}, {max(means):.3f}] |")


def _write(
    path: Path,
    pair: tuple[Checkout, Checkout],
    rounds: int,
    length: dict[str, float],
    comparisons: Sequence[Comparison],
) -> None:
    said = {
        "before": str(pair[0].path),
        "after": str(pair[1].path),
        "written": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "rounds": rounds,
        **length,
        "comparisons": [{**asdict(c), "ratios": c.ratios} for c in comparisons],
    }
    path.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
