"""Asking players: all at once, each within its limit; what goes wrong becomes an error entry."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass

from gdl.errors import GgpError
from ggp_agent.manager.players import Player
from ggp_agent.manager.record import CONNECTION_ERROR, NO_ERROR, TIMEOUT

Reply = Coroutine[None, None, str | None]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from a player."""

    text: str = ""
    error: str = NO_ERROR
    """what the record calls what went wrong: `NO_ERROR`, `TIMEOUT` or `CONNECTION_ERROR`"""
    milliseconds: int = 0


async def ask_all(
    players: Sequence[Player | None], call: Callable[[Player, int], Reply], seconds: float
) -> list[Answer]:
    """Call all players at once, each with the number of its role; an empty answer for None."""

    async def answer(role: int, player: Player | None) -> Answer:
        return Answer() if player is None else await _ask(player, call(player, role), seconds)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(answer(role, player)) for role, player in enumerate(players)]
    return [task.result() for task in tasks]


async def _ask(player: Player, call: Reply, seconds: float) -> Answer:
    """One call within its seconds; what goes wrong becomes an error entry."""
    text, error = "", NO_ERROR
    begun = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            text = await call or ""
    except TimeoutError:
        error = TIMEOUT
        log.warning("%s did not answer within %g s", player.name, seconds)
    except (GgpError, OSError) as trouble:
        error = CONNECTION_ERROR
        log.warning("%s: %s", player.name, trouble)
    return Answer(text, error, round((time.monotonic() - begun) * 1000))
