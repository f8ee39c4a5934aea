"""`ggp-agent check`, `format` and `perft`: look at rule sheets."""

from __future__ import annotations

import difflib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from gdl.errors import GgpError, RuleSheetError
from gdl.formatting import format_text
from gdl.perft import perft as count_sequences
from gdl.rules import RuleSheet
from gdl.validation import check_rules
from ggp_agent.cli.common import game_argument, json_option, reasoner_option
from ggp_agent.cli.reading import state_machine
from ggp_agent.library.games import find_game
from propnet.machine import PropnetStateMachine

COMPILE_SECONDS = 60.0


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--quick", is_flag=True, help="Only read and check; do not compile.")
@json_option
@click.pass_context
def check(context: click.Context, files: tuple[str, ...], quick: bool, as_json: bool) -> None:
    """Read, check and compile rule sheets; exit code 1 if one has an error.

    A FILE is a path or a key of the games library.  Every error and warning is shown with its
    place in the file and what to do about it.
    """
    failed = False
    for file in files:
        result = _check(file, quick)
        failed |= not result["ok"]
        click.echo(json.dumps(result)) if as_json else _show(result)
    context.exit(1 if failed else 0)


def _check(file: str, quick: bool) -> dict[str, Any]:
    """What `--json` prints; `rendered` and `error` are for people."""
    result: dict[str, Any] = {"file": file, "ok": False, "findings": []}
    begin = time.perf_counter()
    try:
        game = find_game(file)
        text, name = game.text(), str(game.path)
        findings = check_rules(text, name)
        result["findings"] = [finding.as_json() for finding in findings]
        result["rendered"] = [finding.render() for finding in findings]
        if any(finding.severity == "error" for finding in findings):
            return result
        sheet = RuleSheet.from_text(text, name)
        result["roles"] = [sheet.write(role) for role in sheet.roles]
        result["rules"] = len(sheet.rules)
        if not quick:
            machine = PropnetStateMachine.from_rules(sheet, seconds=COMPILE_SECONDS)
            network = machine.network
            result["roles"] = [sheet.write(role) for role in network.roles]
            result["fluents"] = len(network.fluents)
            result["moves"] = sum(map(len, network.moves))
            result["gates"] = network.gate_count
        result["ok"] = True
    except GgpError as error:
        result["error"] = str(error)
    result["seconds"] = round(time.perf_counter() - begin, 3)
    return result


def _show(result: dict[str, Any]) -> None:
    for text in result.get("rendered", ()):
        click.echo(text, err=True)
    if "error" in result:
        click.echo(f"error: {result['error']}", err=True)
    if result["ok"]:
        size = ", ".join(
            f"{result[what]} {what}"
            for what in ("rules", "fluents", "moves", "gates")
            if what in result
        )
        click.echo(
            f"{result['file']}: ok; roles {' '.join(result['roles'])}; {size}, "
            f"{result['seconds']:.2f} s"
        )


@click.command(name="format")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option(
    "--check", "only_check", is_flag=True, help="Change nothing; exit code 1 if any would."
)
@click.option("--diff", is_flag=True, help="Change nothing; show what would change.")
@click.pass_context
def format_files(
    context: click.Context, files: tuple[Path, ...], only_check: bool, diff: bool
) -> None:
    """Lay out rule sheets in the standard way, in place; - formats standard input.

    Comments, spelling and meaning stay as they are.
    """
    changed, failed = 0, False
    for file in files:
        try:
            old = sys.stdin.read() if str(file) == "-" else _read(file)
            new = format_text(old, "<stdin>" if str(file) == "-" else str(file))
        except GgpError as error:
            click.echo(f"error: {error}", err=True)
            failed = True
            continue
        changed += new != old
        if diff:
            lines = difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), str(file), str(file)
            )
            click.echo("".join(lines), nl=False)
        elif str(file) == "-":
            click.echo(new, nl=False)
        elif new != old:
            click.echo(f"{'would change' if only_check else 'formatted'} {file}")
            if not only_check:
                _replace(file, new)
    context.exit(1 if failed or (only_check and changed) else 0)


def _read(file: Path) -> str:
    """The file's text with its line ends as they are, so that a change of them is a change."""
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise RuleSheetError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RuleSheetError(f"{file} is not UTF-8 text ({error}); convert it first") from error


def _replace(file: Path, text: str) -> None:
    """Write a file so that a crash leaves the old one or the new one, whole."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        temporary.write_bytes(text.encode("utf-8"))
        temporary.chmod(file.stat().st_mode)
        temporary.replace(file)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RuleSheetError(f"cannot write {file}: {error.strerror}") from error


@click.command()
@game_argument
@click.argument("depth", type=click.IntRange(min=1))
@reasoner_option
@json_option
def perft(game: str, depth: int, reasoner: str, as_json: bool) -> None:
    """Count the joint-move sequences of GAME of each length up to DEPTH.

    Prints a line per depth: the depth, the sequences of so many joint moves from the initial
    state, and how many of them end in a terminal state (where no further move is counted).
    """
    machine = state_machine(find_game(game).rule_sheet(), reasoner)
    try:
        for line in count_sequences(machine, depth):
            click.echo(json.dumps(line._asdict()) if as_json else str(line))
    finally:
        machine.close()
