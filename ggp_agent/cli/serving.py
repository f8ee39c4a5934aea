"""`ggp-agent serve` and `info`: the agent as a server for game managers.

What thinks runs in processes of its own: nothing here imports it (see `ggp_agent.cli`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import click

from ggp_agent.agents import find_agent
from ggp_agent.cli.common import agent_options, agent_text, new_seed, run_async, seed_option
from ggp_agent.errors import ParameterError, PlayerError
from ggp_agent.manager.players import HttpPlayer
from ggp_agent.player.log_lines import write_traces
from ggp_agent.player.match import AgentMaker
from ggp_agent.player.match_keeper import SILENCE
from ggp_agent.player.server import AgentServer, check_address, serve_until_signal
from ggp_agent.player.workers import WorkerPool

log = logging.getLogger(__name__)

DEFAULT_PORT = 9147


@click.command()
@click.option("--host", help="Address to listen on; default: all, IPv4 and IPv6.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen on; 0: any free one.",
)
@click.option("--name", help="Name told to managers; default: the agent's.")
@click.option(
    "--silence",
    type=click.FloatRange(min=1),
    default=SILENCE,
    show_default=True,
    help="Drop a match in which nothing was heard for so many seconds (or ten times its clocks).",
)
@click.option(
    "--trace",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append what the search found, one JSON object per move.",
)
@agent_options
@seed_option
def serve(
    host: str | None,
    port: int,
    name: str | None,
    silence: float,
    trace: Path | None,
    agent_name: str,
    settings: tuple[str, ...],
    seed: int | None,
) -> None:
    """Serve game managers over HTTP until Ctrl-C or SIGTERM."""
    text = agent_text(agent_name, settings)
    if logging.getLogger().level > logging.INFO:
        logging.getLogger("ggp_agent").setLevel(logging.INFO)
    if trace is not None:
        write_traces(trace)
    try:
        default_name = find_agent(agent_name).name
        run_async(_serve(text, host, port, name or default_name, silence, new_seed(seed)))
    except ParameterError as error:
        raise click.UsageError(str(error)) from error


async def _serve(
    agent: str, host: str | None, port: int, name: str, silence: float, seed: int
) -> None:
    pool = WorkerPool(agent)
    try:
        await check_address(host, port)
        log.info("loading (the very first time takes most of a minute)")
        profile = await pool.prepare()
        log.info("agent %s, threads %d, seed %d", profile.name, profile.threads, seed)
        maker = AgentMaker(pool, profile, seed)
        await serve_until_signal(
            AgentServer(maker, name=name, host=host, port=port, silence=silence)
        )
    finally:
        await pool.close()


@click.command()
@click.argument("url", default=f"http://localhost:{DEFAULT_PORT}")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="Keep trying for so long until there is an answer.",
)
def info(url: str, wait: float) -> None:
    """Ask the server at URL for its name and whether it is free."""
    click.echo(run_async(_info(url, time.monotonic() + wait)))


async def _info(url: str, until: float) -> str:
    player = HttpPlayer(url)
    while True:
        try:
            status = await player.info()
            return f"{player.name}: {status}"
        except PlayerError:
            if time.monotonic() >= until:
                raise
        await asyncio.sleep(0.2)
