"""`ggp-agent serve`, `info` and `warm`: the agent as a server for game managers."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import click

from ggp_agent.agents import Agent, tuners_of
from ggp_agent.cli.common import agent_from, agent_options, new_seed, run_async, seed_option
from ggp_agent.errors import PlayerError
from ggp_agent.manager.players import HttpPlayer
from ggp_agent.mind.warming import warm_up
from ggp_agent.player.match import AgentMaker, write_traces
from ggp_agent.player.server import SILENCE, AgentServer, serve_until_signal
from ggp_agent.player.workers import WorkerPool
from ggp_agent.search.parallel import threads_of
from ggp_agent.tuning.tuners import TUNERS

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
    agent = agent_from(agent_name, settings)
    if logging.getLogger().level > logging.INFO:
        logging.getLogger("ggp_agent").setLevel(logging.INFO)
    if trace is not None:
        write_traces(trace)
    run_async(_serve(agent, host, port, name or agent.name, silence, new_seed(seed)))


async def _serve(
    agent: Agent, host: str | None, port: int, name: str, silence: float, seed: int
) -> None:
    pool = WorkerPool(tuners=tuners_of([agent]))
    maker = AgentMaker(agent, pool, seed)
    server = AgentServer(maker, name=name, host=host, port=port, silence=silence)
    logging.getLogger(__name__).info(
        "agent %s, threads %d, seed %d; loading (the very first time takes a minute)",
        agent.name,
        threads_of(agent),
        seed,
    )
    try:
        await server.check_address()
        await pool.prepare()
        await serve_until_signal(server)
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


@click.command()
@click.option("--tuners", is_flag=True, help="Those of all tuners, too.")
def warm(tuners: bool) -> None:
    """Compile the kernels ahead of time (the first start does so otherwise)."""
    begin = time.monotonic()
    warm_up(TUNERS if tuners else (), click.echo)
    click.echo(f"done in {time.monotonic() - begin:.1f} s")
