"""Which match is current, and what to reply to each message of a game manager.

`MatchKeeper` does not think: a `MatchMaker` opens a `PlayerMatch`, and that chooses the moves.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine
from typing import Any, Protocol

from gdl.errors import GgpError
from ggp_agent.errors import MessageError
from ggp_agent.protocol.messages import (
    ABORTED,
    BUSY,
    DONE,
    READY,
    Abort,
    Info,
    Message,
    Play,
    Preview,
    Start,
    Stop,
)

log = logging.getLogger(__name__)

SILENCE = 600.0
SILENT_CLOCKS = 10.0
CLOSE_LIMIT = 5.0
"""Seconds that a match gets for its last joint move, and again for letting go."""


class PlayerMatch(Protocol):
    """One match as the player lives it."""

    async def start(self) -> None:
        """Think during the start clock; returns when it is time to answer `ready`."""

    async def play(self, moves: tuple[str, ...] | None, came: float) -> str:
        """Our move as KIF text in START's spelling, in time whatever happens.

        `moves` is the last joint move, None before the first; the PLAY `came` at that moment.
        Raises `MessageError` for a joint move of the wrong length or garbage.
        """

    async def stop(self, moves: tuple[str, ...] | None) -> None:
        """Take the last joint move; quick.  Raises `MessageError` like `play`."""

    async def close(self) -> None:
        """Drop everything, whatever is going on; quick, and may be called again."""


class MatchMaker(Protocol):
    """Opens matches."""

    async def open(self, start: Start, came: float) -> PlayerMatch:
        """A match for these rules, whose START `came` at that moment; quick.

        Raises `GgpError` if the rules can't be read.
        """

    async def close(self) -> None:
        """Release what is kept between matches."""


class _Current:
    """The match that goes on, and the questions to it that are still being answered."""

    def __init__(self, start: Start, match: PlayerMatch, silence: float) -> None:
        self.start = start
        self.match = match
        self.silence = silence
        self.starting = asyncio.create_task(match.start())
        self.playing: dict[Play, asyncio.Task[str]] = {}
        self.under_way = False
        self.silence_timer: asyncio.TimerHandle | None = None

    def play(self, message: Play, came: float) -> asyncio.Task[str]:
        """The task that answers a PLAY; the one at work where the same PLAY came before."""
        self.under_way = self.under_way or message.moves is not None
        task = self.playing.get(message)
        if task is None:
            task = asyncio.create_task(self.match.play(message.moves, came))
            self.playing[message] = task
            task.add_done_callback(lambda _: self.playing.pop(message, None))
        return task

    async def stop(self, moves: tuple[str, ...] | None) -> None:
        async with asyncio.timeout(CLOSE_LIMIT):
            await self.match.stop(moves)

    async def close(self) -> None:
        if self.silence_timer is not None:
            self.silence_timer.cancel()
        try:
            async with asyncio.timeout(CLOSE_LIMIT):
                await self.match.close()
        except Exception:
            log.exception("match %s did not close cleanly", self.start.match_id)
        for task in (self.starting, *self.playing.values()):
            task.cancel()


class MatchKeeper:
    """Answers messages; keeps at most one match.

    Whatever a match does for a message runs in a task of its own: a client that goes away takes
    nothing along, and a message that comes twice is answered once for both.
    """

    def __init__(
        self,
        maker: MatchMaker,
        *,
        name: str,
        silence: float = SILENCE,
        silent_clocks: float = SILENT_CLOCKS,
    ) -> None:
        self._maker = maker
        self._name = re.sub(r"[^!-~]|[();]", "_", name) or "agent"
        self._silence = silence
        self._silent_clocks = silent_clocks
        self._current: _Current | None = None
        self._changing = asyncio.Lock()  # held while a match opens or closes
        self._closed = False
        self._background: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        """The player's name as one KIF symbol."""
        return self._name

    @property
    def match_id(self) -> str | None:
        """The current match."""
        return None if self._current is None else self._current.start.match_id

    @property
    def status(self) -> str:
        """`available`, or `busy` with a match."""
        taken = self._current is not None or self._changing.locked() or self._closed
        return BUSY if taken else "available"

    async def answer(self, message: Message, came: float) -> str:
        """The reply to a message, whose first byte came at that moment (`time.monotonic()`).

        Raises `MessageError` where the message is to blame; anything else is a failure of ours.
        """
        match message:
            case Info():
                return f"( ( name {self._name} ) ( status {self.status} ) ( species agent ) )"
            case Preview():
                return READY
            case Start():
                return await self._start(message, came)
            case Play():
                return await self._play(message, came)
            case Stop() | Abort():
                return await self._end(message)

    async def close(self) -> None:
        """Drop the match, take no other, and let the match maker go."""
        if self._closed:
            return
        self._closed = True
        async with self._changing:
            await self._drop()
        await self._maker.close()

    async def _start(self, start: Start, came: float) -> str:
        async with self._changing:
            if self._current is not None and not self._is_retry(start):
                if self.match_id != start.match_id:
                    return BUSY
                log.warning("match %s starts over: its manager began anew", start.match_id)
                await self._drop()
            if self._closed:
                return BUSY
            if self._current is None:
                self._current = await self._open(start, came)
            current = self._current
            self._heard_from(current)
        return await _outcome(current.starting, READY)

    def _is_retry(self, start: Start) -> bool:
        """Whether a START is the current one sent again.

        Not so once joint moves have been made: then a manager that was stopped has come back
        with the same match id, and begins from the initial state.
        """
        current = self._current
        return current is not None and current.start == start and not current.under_way

    async def _open(self, start: Start, came: float) -> _Current:
        try:
            match = await self._maker.open(start, came)
        except GgpError as error:
            raise MessageError(str(error)) from error
        clocks = self._silent_clocks * (start.start_clock + start.play_clock)
        return _Current(start, match, max(self._silence, clocks))

    async def _play(self, message: Play, came: float) -> str:
        async with self._changing:  # a START that is just being opened goes first
            current = self._current
        if current is None or current.start.match_id != message.match_id:
            return BUSY
        self._heard_from(current)
        return await _outcome(current.play(message, came))

    async def _end(self, message: Stop | Abort) -> str:
        async with self._changing:
            current = self._current
            if current is None or current.start.match_id != message.match_id:
                return BUSY
            try:
                if isinstance(message, Stop):
                    await current.stop(message.moves)
            finally:  # the match is over for its manager, whatever we make of the last move
                await self._drop()
        return DONE if isinstance(message, Stop) else ABORTED

    async def _drop(self) -> None:
        """Close the current match, if any; for holders of `_changing`."""
        current, self._current = self._current, None
        if current is not None:
            await current.close()

    def _heard_from(self, current: _Current) -> None:
        if current.silence_timer is not None:
            current.silence_timer.cancel()
        loop = asyncio.get_running_loop()
        current.silence_timer = loop.call_later(current.silence, self._on_silence, current)

    def _on_silence(self, current: _Current) -> None:
        self._run(self._drop_silent(current))

    async def _drop_silent(self, current: _Current) -> None:
        async with self._changing:
            if self._current is current:
                log.warning(
                    "match %s dropped: nothing heard for %g s",
                    current.start.match_id,
                    current.silence,
                )
                await self._drop()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)  # the event loop itself keeps no strong reference
        task.add_done_callback(self._background.discard)


async def _outcome(task: asyncio.Task[Any], reply: str | None = None) -> str:
    """What a task returns (or `reply`), without being able to cancel it.

    `busy` where the match was closed meanwhile: it isn't the current one any more.
    """
    await asyncio.wait({task})
    if task.cancelled():
        return BUSY
    result: str = task.result()
    return result if reply is None else reply
