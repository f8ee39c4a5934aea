"""Commands are imported when they are called: the server runs without what thinks."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from ggp_agent.cli import cli
from ggp_agent.cli.lazy import LazyGroup
from tests.ggp_agent.processes import GUARD

HEAVY = """
import sys
def heavy():
    rooms = ("mind", "search", "tuning")
    packages = ("numba", "numpy", "propnet", *(f"ggp_agent.{room}" for room in rooms))
    return [m for m in sys.modules if m.startswith(packages)]
"""

SERVE = (
    HEAVY
    + """
import asyncio
from ggp_agent.cli import main, serving
from ggp_agent.manager.players import HttpPlayer
from ggp_agent.protocol.messages import Play, Start, Stop
RULES = "(role r) (legal r go) (legal r stay) (goal r 50) (init on) (<= terminal (not (true on)))"

async def play_a_match(server):
    await server.start()
    player = HttpPlayer(f"http://127.0.0.1:{server.port}")
    await player.start(Start("m", "r", RULES, 5, 30))
    move = await player.play(Play("m", None))
    await player.stop(Stop("m", (move,)))
    print(await player.info(), player.name, move, *heavy())
    await server.close()

serving.serve_until_signal = play_a_match
sys.argv = ["ggp-agent", "serve", "--host", "127.0.0.1", "--port", "0", "--agent", "legal"]
main()
"""
)


def python(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=GUARD, check=False
    )


def test_a_server_that_has_played_a_match_has_not_imported_what_thinks() -> None:
    done = python(SERVE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "available legal go\n"


def test_neither_has_the_help() -> None:
    done = python(
        HEAVY
        + """
import atexit
atexit.register(lambda: print("heavy:", *heavy()))
from ggp_agent.cli import main
sys.argv = ["ggp-agent", "--help"]
main()
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: ") and done.stdout.endswith("heavy:\n")


def groups() -> list[tuple[str, LazyGroup]]:
    context = click.Context(cli)
    bench = cli.get_command(context, "bench")
    assert isinstance(cli, LazyGroup) and isinstance(bench, LazyGroup)
    return [("ggp-agent", cli), ("bench", bench)]


@pytest.mark.parametrize(("name", "group"), groups(), ids=lambda each: str(each))
def test_summaries_are_those_of_the_commands(name: str, group: LazyGroup) -> None:
    context = click.Context(group)
    for command in group.list_commands(context):
        found = group.get_command(context, command)
        assert found is not None and found.name == command
        for limit in (10, 45, 80, 200):
            assert group.summary(context, command, limit) == found.get_short_help_str(limit)


def test_what_is_not_there_is_not_found() -> None:
    assert cli.get_command(click.Context(cli), "nonsense") is None
