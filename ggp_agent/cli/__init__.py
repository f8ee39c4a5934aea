"""The command line, `ggp-agent`: one module per group of commands.

Exit codes: 0 done, 1 a finding or failure in what was asked (a faulty rule sheet, a player out of
reach), 2 wrong use, 130 interrupted.
"""

from __future__ import annotations

import logging
import sys

import click

from gdl.errors import GgpError
from ggp_agent.cli import (
    agents,
    analyze,
    bench,
    bench_search,
    bench_tuning,
    games,
    matches,
    results,
    rules,
    serving,
    tournaments,
    tuning_report,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="ggp-agent")
@click.option("-v", "--verbose", count=True, help="Log more: -v progress, -vv everything.")
def cli(verbose: int) -> None:
    """A General Game Playing agent: reads any game's rules and plays it.

    GAME is a key of the games library (see `ggp-agent games`) or a path to a rule sheet.
    """
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(
        level=level, format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", force=True
    )
    logging.getLogger("asyncio").setLevel(logging.WARNING)


for _command in (
    serving.serve,
    serving.info,
    serving.warm,
    matches.match,
    tournaments.tournament,
    results.results,
    tuning_report.tuning_report,
    rules.check,
    rules.format_files,
    rules.perft,
    bench.bench,
    games.games,
    games.show,
    games.playthrough,
    agents.agents,
    analyze.analyze,
):
    cli.add_command(_command)


bench.bench.add_command(bench_search.search)
bench.bench.add_command(bench_tuning.tuning)


def main() -> None:
    """Run the command line."""
    run(cli, "ggp-agent")


def run(command: click.Command, name: str) -> None:
    """Run a command and exit; errors of the project become one line on standard error."""
    try:
        code = command.main(prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        click.echo(_explain(error), err=True)
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = 130
    except GgpError as error:
        click.echo(f"error: {error}", err=True)
        code = 1
    except BrokenPipeError:  # the reader of our output has had enough
        sys.stderr.close()
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _explain(error: click.ClickException) -> str:
    """One line about wrong use, or the help where no command was given."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        return error.format_message()
    context = getattr(error, "ctx", None)
    hint = f" (see `{context.command_path} --help`)" if context else ""
    return f"error: {error.format_message()}{hint}"
