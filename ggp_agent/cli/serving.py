"""`ggp-agent serve`: the agent as a server for game managers."""

from __future__ import annotations

import logging

import click

from ggp_agent.cli.common import agent_from, agent_options, new_seed, run_async, seed_option
from ggp_agent.match import AgentMaker
from ggp_agent.parameters import Agent
from ggp_agent.server import SILENCE, AgentServer, serve_until_signal
from ggp_agent.workers import WorkerPool


@click.command()
@click.option("--host", default=None, help="Address to listen on; default: all, IPv4 and IPv6.")
@click.option("--port", type=click.IntRange(0, 65535), default=9147, show_default=True,
              help="Port to listen on; 0: any free one.")
@click.option("--name", default=None, help="Name told to managers; default: the agent's.")
@click.option("--silence", type=click.FloatRange(min=1), default=SILENCE, show_default=True,
              help="Drop a match in which nothing was heard for so many seconds (and ten times "
              "its clocks).")
@agent_options
@seed_option
def serve(
    host: str | None,
    port: int,
    name: str | None,
    silence: float,
    agent_name: str,
    settings: tuple[str, ...],
    seed: int | None,
) -> None:
    """Serve game managers over HTTP until Ctrl-C or SIGTERM."""
    agent = agent_from(agent_name, settings)
    if logging.getLogger().level > logging.INFO:
        logging.getLogger("ggp_agent").setLevel(logging.INFO)
    run_async(_serve(agent, host, port, name or agent.name, silence, new_seed(seed)))


async def _serve(
    agent: Agent, host: str | None, port: int, name: str, silence: float, seed: int
) -> None:
    pool = WorkerPool()
    maker = AgentMaker(agent, pool, seed)
    server = AgentServer(maker, name=name, host=host, port=port, silence=silence)
    logging.getLogger(__name__).info(
        "agent %s, seed %d; loading (the very first time takes a minute)", agent.name, seed
    )
    try:
        await pool.prepare()
        await serve_until_signal(server)
    finally:
        await pool.close()
