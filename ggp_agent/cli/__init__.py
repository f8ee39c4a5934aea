"""The command line, `ggp-agent`: one module per group of commands.

Exit codes: 0 done, 1 a finding or failure in what was asked (a faulty rule sheet, a player out of
reach), 2 wrong use, 130 interrupted.

A module is imported when its command is called (see `lazy`), so that `serve` runs without numba.
"""

from __future__ import annotations

import logging
import sys

import click

from gdl.errors import GgpError
from ggp_agent.cli.lazy import Lazy, LazyGroup

_COMMANDS = {
    "agents": Lazy(
        "ggp_agent.cli.agents",
        "agents",
        "List the agents and the parameters that `--set` changes; with NAME, that agent's values.",
    ),
    "analyze": Lazy(
        "ggp_agent.cli.analyze", "analyze", "Search a position of GAME and show what was found."
    ),
    "bench": Lazy(
        "ggp_agent.cli.bench", "bench", "Measure speed, and how well agents and tuners do."
    ),
    "check": Lazy(
        "ggp_agent.cli.rules",
        "check",
        "Read, check and compile rule sheets; exit code 1 if one has an error.",
    ),
    "format": Lazy(
        "ggp_agent.cli.rules",
        "format_files",
        "Lay out rule sheets in the standard way, in place; - formats standard input.",
    ),
    "games": Lazy(
        "ggp_agent.cli.games",
        "games",
        "List the games of the library; with WORDs, those that have all of them in their texts.",
    ),
    "info": Lazy(
        "ggp_agent.cli.serving",
        "info",
        "Ask the server at URL for its name and whether it is free.",
    ),
    "match": Lazy(
        "ggp_agent.cli.matches",
        "match",
        "Run a match of GAME between PLAYERs, one per role in the order of the rules.",
    ),
    "perft": Lazy(
        "ggp_agent.cli.rules",
        "perft",
        "Count the joint-move sequences of GAME of each length up to DEPTH.",
    ),
    "playthrough": Lazy(
        "ggp_agent.cli.games",
        "playthrough",
        "Print a random game of GAME as text: states, legal moves, goals.",
    ),
    "results": Lazy(
        "ggp_agent.cli.results",
        "results",
        "Print the results in one FILE or several, each a results.jsonl or its folder.",
    ),
    "serve": Lazy(
        "ggp_agent.cli.serving", "serve", "Serve game managers over HTTP until Ctrl-C or SIGTERM."
    ),
    "show": Lazy(
        "ggp_agent.cli.games",
        "show",
        "Describe GAME and draw its start position, or one that random moves lead to.",
    ),
    "tournament": Lazy(
        "ggp_agent.cli.tournaments",
        "tournament",
        "Play all agents against each other in all games, in both or all roles, and tell who won.",
    ),
    "tuning-report": Lazy(
        "ggp_agent.cli.tuning_report", "tuning_report", "Show what tuners found in a match."
    ),
    "warm": Lazy(
        "ggp_agent.cli.warming",
        "warm",
        "Compile the kernels ahead of time (the first start does so otherwise).",
    ),
}


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
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
