"""What several commands share: options, agents as texts, event loops.

It is imported by all of them, and so imports nothing that takes long (see `reading`).
"""

from __future__ import annotations

import asyncio
import functools
import secrets
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click
import uvloop

from ggp_agent.agents import AGENTS, DEFAULT_AGENT

T = TypeVar("T")
V = TypeVar("V")
TUNING = "ggp_agent.tuning"

game_argument = click.argument("game")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
reasoner_option = click.option(
    "--reasoner",
    type=click.Choice(["propnet", "prolog"]),
    default="propnet",
    show_default=True,
    help="What computes the game.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=None,
    help="Seed of every random choice; default: a new one, which is shown.",
)


def new_seed(seed: int | None) -> int:
    """The seed asked for, or a fresh one."""
    return secrets.randbelow(2**32) if seed is None else seed


def agent_text(name: str, settings: tuple[str, ...]) -> str:
    """An agent by name with `KEY=VALUE` settings, as one text; not checked.

    The options --tuner and --tune of the command count as settings.
    """
    return ":".join([name, *tuner_settings(), *settings])


def tuner_settings() -> list[str]:
    """What the options --tuner and --tune of the present command say, as settings."""
    context = click.get_current_context(silent=True)
    return list(context.meta.get(TUNING, [])) if context else []


def _note_tuning(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta.setdefault(TUNING, []).append(f"{option.name}={value}")


def gathered(
    name: str, make: Callable[..., V], *options: str
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Hands several options to a command as one value: `name`, made of them in their order.

    It stands below the decorators of the options.  What `make` raises is the command's error.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(function)
        def call(**values: Any) -> T:
            value = make(*(values.pop(option) for option in options))
            return function(**values, **{name: value})

        return call

    return decorate


def tuner_options(function: Callable[..., T]) -> Callable[..., T]:
    """The options --tuner and --tune."""
    function = click.option(
        "--tune",
        metavar="NAMES",
        expose_value=False,
        callback=_note_tuning,
        help="What is tuned: names, some with own values (K,Ref,C=0.1,0.2), or how many.",
    )(function)
    return click.option(
        "--tuner",
        metavar="NAME",
        expose_value=False,
        callback=_note_tuning,
        help="Tune parameters during the game, by this tuner (`ggp-agent agents` lists them).",
    )(function)


def agent_options(function: Callable[..., T]) -> Callable[..., T]:
    """The options --agent, --set, --tuner and --tune."""
    function = tuner_options(function)
    function = click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set a parameter of the agent (see `ggp-agent agents`); may be repeated.",
    )(function)
    return click.option(
        "--agent",
        "agent_name",
        default=DEFAULT_AGENT,
        show_default=True,
        metavar="|".join(AGENTS) + "|AGENT-TUNER",
        help="The agent that plays.",
    )(function)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on uvloop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
