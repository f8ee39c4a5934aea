"""`ggp-agent tournament`: play many matches, and go on after any interruption."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ggp_agent.cli.common import run_async
from ggp_agent.cli.results import format_option, result_notes
from ggp_agent.manager.tournament import (
    MatchResult,
    Plan,
    check_settings,
    make_plan,
    read_settings,
    resumed_plan,
    run_tournament,
)
from ggp_agent.manager.tournament import Progress as TournamentProgress
from ggp_agent.manager.tournament.settings import SETTINGS, Setting
from ggp_agent.manager.tournament.tables import render, summary_table
from ggp_agent.statistics import SprtState

_TYPES: dict[str, dict[str, Any]] = {
    "text": {},
    "texts": {"multiple": True, "metavar": "GAME"},
    "agents": {"multiple": True, "metavar": "AGENT"},
    "count": {"type": click.IntRange(min=1)},
    "number": {"type": click.IntRange(min=0)},
    "seconds": {"type": float, "metavar": "SECONDS"},
    "switch": {"is_flag": True},
    "chance": {"type": float},
    "pair": {"type": float, "nargs": 2, "metavar": "H0 H1"},
}
_SPEED_PERIOD = 1800.0
"""Seconds of the past from which the time that remains is told."""


def _setting_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """A flag for every setting."""
    for setting in reversed(SETTINGS.values()):
        option = click.option(setting.flag, default=None, help=setting.help, **_TYPES[setting.kind])
        function = option(function)
    return function


@click.command()
@click.argument(
    "config", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@_setting_options
@click.option(
    "--resume",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIRECTORY",
    help="Go on with the tournament whose results are in this folder.",
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
@format_option
def tournament(
    config: Path | None, resume: Path | None, quiet: bool, form: str, **flags: Any
) -> None:
    """Play all agents against each other in all games, in both or all roles, and tell who won.

    CONFIG is a TOML file with any of the settings below as keys (start_clock = 1.0); flags go
    before it.  --games and --agents may be repeated, or list several with blanks between.  Every
    finished match is on the disk at once: give the same command again to go on after any
    interruption, with a larger --matches to play more.
    """
    plan = _plan(config, resume, flags)
    bar = _Bar(plan, quiet)
    try:
        with bar:
            results = run_async(_run(plan, bar))
    except (KeyboardInterrupt, asyncio.CancelledError):
        command = shlex.join(["ggp-agent", "tournament", "--resume", str(plan.directory)])
        click.echo(
            f"stopped: {bar.done} of {len(plan.fixtures)} matches are done; resume with: {command}",
            err=True,
        )
        sys.exit(130)
    notes = [*result_notes(results, [bar.test] if bar.test else [], plan.agents[0].name)]
    notes.append(f"seed {plan.seed}; results: {plan.results_path}")
    click.echo(render(summary_table(results), form, notes), nl=False)


def _plan(config: Path | None, resume: Path | None, flags: dict[str, Any]) -> Plan:
    given = {key: _value(SETTINGS[key], value) for key, value in flags.items()}
    settings = check_settings({k: v for k, v in given.items() if v is not None}, "command line")
    if resume is not None:
        if config is not None:
            raise click.UsageError("--resume knows the settings; give no config file")
        return resumed_plan(resume, settings)
    if config is not None:
        settings = {"name": config.stem, **read_settings(config), **settings}
    return make_plan(settings)


def _value(setting: Setting, value: Any) -> Any:
    """A flag's value as the config file would have it; None where the flag was not given."""
    if setting.kind == "texts":
        return [word for text in value for word in text.replace(",", " ").split()] or None
    if setting.kind == "agents":
        return [word for text in value for word in text.split()] or None
    return value or None if setting.kind == "switch" else value


async def _run(plan: Plan, bar: _Bar) -> list[MatchResult]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await run_tournament(plan, bar)


class _Bar:
    """Shows the progress on standard error: a bar, or now and then a line where that is a file."""

    def __init__(self, plan: Plan, quiet: bool) -> None:
        self.done = 0
        self.test: SprtState | None = None
        self._errors, self._aborted = 0, 0
        self._plan, self._quiet = plan, quiet
        console = Console(stderr=True)
        self._lines = not console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[notes]}"),
            console=console,
            disable=quiet or self._lines,
            speed_estimate_period=_SPEED_PERIOD,
        )
        self._task = self._progress.add_task(plan.name, total=len(plan.fixtures), notes="")

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, progress: TournamentProgress) -> None:
        """Show how far it is."""
        before, self.done, self.test = self.done, progress.done, progress.test
        if progress.result is not None:
            self._errors += sum(map(sum, progress.result.errors.values()))
            self._aborted += not progress.result.is_complete
        notes = self._notes()
        if progress.result is None:
            self._progress.reset(self._task, completed=progress.done, notes=notes)
        else:
            self._progress.update(self._task, completed=progress.done, notes=notes)
        if self._lines and not self._quiet and self._is_worth_a_line(before, progress):
            line = f"{self._plan.name}: {progress.done} of {progress.total} {notes}"
            click.echo(line.rstrip(), err=True)

    def _notes(self) -> str:
        parts = [f"{self._errors} errors"] if self._errors else []
        if self._aborted:
            parts.append(f"{self._aborted} not played")
        if self.test is not None:
            test = self.test
            parts.append(f"LLR {test.ratio:.2f} ({test.low:.2f}, {test.high:.2f})")
        return ", ".join(parts)

    @staticmethod
    def _is_worth_a_line(before: int, progress: TournamentProgress) -> bool:
        tenth = max(1, progress.total // 10)
        return progress.result is None or progress.done // tenth > before // tenth
