"""The agent's HTTP server: answers the messages of game managers, one match at a time.

`Player` knows which match is current and what to reply to each message; `AgentServer` puts it
behind HTTP.  Neither thinks: a `MatchMaker` opens a `PlayerMatch`, and that chooses the moves.
"""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import time
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote_to_bytes

from aiohttp import web

from gdl.errors import GgpError
from ggp_agent.errors import MessageError
from ggp_agent.protocol.gateway import Gateway, bind
from ggp_agent.protocol.http_requests import Limits
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
    parse_message,
)

log = logging.getLogger(__name__)

SILENCE = 600.0
SILENT_CLOCKS = 10.0
CLOSE_LIMIT = 5.0
"""Seconds that a match gets for its last joint move, and again for letting go."""

HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type",
    "Access-Control-Max-Age": "86400",
}
"""What managers that live in a browser want to see in every reply."""

_SMALL_MESSAGE = 16 * 1024
"""A message up to this many bytes is read on the event loop, a longer one in a thread."""

_Result = TypeVar("_Result")


class PlayerMatch(Protocol):
    """One match as the player lives it."""

    async def start(self) -> None:
        """Think during the start clock; returns when it is time to answer `ready`."""

    async def play(self, moves: tuple[str, ...] | None) -> str:
        """Our move as KIF text in START's spelling, in time whatever happens.

        `moves` is the last joint move, None before the first.  Raises `MessageError` for one of
        the wrong length or garbage.
        """

    async def stop(self, moves: tuple[str, ...] | None) -> None:
        """Take the last joint move; quick.  Raises `MessageError` like `play`."""

    async def close(self) -> None:
        """Drop everything, whatever is going on; quick, and may be called again."""


class MatchMaker(Protocol):
    """Opens matches."""

    async def open(self, start: Start) -> PlayerMatch:
        """A match for these rules; quick.  Raises `GgpError` if the rules can't be read."""

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

    def play(self, message: Play) -> asyncio.Task[str]:
        """The task that answers a PLAY; the one at work where the same PLAY came before."""
        self.under_way = self.under_way or message.moves is not None
        task = self.playing.get(message)
        if task is None:
            task = asyncio.create_task(self.match.play(message.moves))
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


class Player:
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

    async def answer(self, message: Message) -> str:
        """The reply to a message.

        Raises `MessageError` where the message is to blame; anything else is a failure of ours.
        """
        match message:
            case Info():
                return f"( ( name {self._name} ) ( status {self.status} ) ( species agent ) )"
            case Preview():
                return READY
            case Start():
                return await self._start(message)
            case Play():
                return await self._play(message)
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

    async def _start(self, start: Start) -> str:
        async with self._changing:
            if self._current is not None and not self._is_retry(start):
                if self.match_id != start.match_id:
                    return BUSY
                log.warning("match %s starts over: its manager began anew", start.match_id)
                await self._drop()
            if self._closed:
                return BUSY
            if self._current is None:
                self._current = await self._open(start)
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

    async def _open(self, start: Start) -> _Current:
        try:
            match = await self._maker.open(start)
        except GgpError as error:
            raise MessageError(str(error)) from error
        clocks = self._silent_clocks * (start.start_clock + start.play_clock)
        return _Current(start, match, max(self._silence, clocks))

    async def _play(self, message: Play) -> str:
        async with self._changing:  # a START that is just being opened goes first
            current = self._current
        if current is None or current.start.match_id != message.match_id:
            return BUSY
        self._heard_from(current)
        return await _outcome(current.play(message))

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


class AgentServer:
    """A player behind HTTP, on IPv4 and IPv6.

    A match is dropped after a silence of `silence` seconds or `silent_clocks` times the sum of
    its clocks, whichever is longer.  `host` None means every address of the machine; with `port`
    0 the system chooses one.
    """

    def __init__(
        self,
        maker: MatchMaker,
        *,
        name: str,
        host: str | None,
        port: int,
        silence: float = SILENCE,
        silent_clocks: float = SILENT_CLOCKS,
        limits: Limits | None = None,
    ) -> None:
        self._player = Player(maker, name=name, silence=silence, silent_clocks=silent_clocks)
        self._host = host
        self._port = port
        self._limits = limits or Limits()
        self._web: web.Server | None = None
        self._gateway: Gateway | None = None

    @property
    def name(self) -> str:
        """The player's name as managers see it."""
        return self._player.name

    @property
    def port(self) -> int:
        """The port; the one that the system chose once `start` has returned."""
        return self._port

    async def check_address(self) -> None:
        """Raise `PlayerError` where the port or host can't be had, before anything long begins."""
        for sock in await bind(self._host, self._port):
            sock.close()

    async def start(self) -> None:
        """Listen.  Raises `PlayerError` where the port or host can't be had."""
        sockets = await bind(self._host, self._port)
        self._port = sockets[0].getsockname()[1]
        self._web = web.Server(
            self._respond,
            access_log=None,
            max_line_size=4 * self._limits.head,  # percent-encoding makes three bytes of one
        )
        self._gateway = Gateway(self._web, refusal_headers=HEADERS, limits=self._limits)
        await self._gateway.listen(sockets)

    async def close(self) -> None:
        """Stop listening, close the match and the match maker, let replies go out."""
        if self._gateway is not None:
            self._gateway.stop_listening()
        await self._player.close()
        if self._web is not None:
            await self._web.shutdown(timeout=1.0)
        if self._gateway is not None:
            await self._gateway.close()

    async def _respond(self, request: web.BaseRequest) -> web.Response:
        if request.method == "OPTIONS":
            return _reply("")
        if request.method == "HEAD" or (request.method == "GET" and request.raw_path == "/"):
            return _reply(self._status_text(), content_type="text/plain")
        if request.method == "GET":
            body = unquote_to_bytes(request.raw_path[1:].replace("+", " "))
        else:
            body = await request.content.read()
        return await self._respond_to(body)

    async def _respond_to(self, body: bytes) -> web.Response:
        began = time.monotonic()
        what = "message"
        try:
            message = await _read_message(body)
            what = f"{type(message).__name__.upper()} {getattr(message, 'match_id', '')}".strip()
            answer = await self._player.answer(message)
        except MessageError as error:
            reason = _printable(" ".join(str(error).split()))
            log.warning("%s refused: %s", _printable(what), reason)
            return _reply(reason, status=400, content_type="text/plain")
        except Exception:
            log.exception("%s failed", _printable(what))
            reason = "internal error of the agent; its log says more"
            return _reply(reason, status=500, content_type="text/plain")
        log.log(
            logging.DEBUG if isinstance(message, Info) else logging.INFO,
            "%s answered in %.3f s: %s",
            _printable(what),
            time.monotonic() - began,
            _printable(answer),
        )
        return _reply(answer)

    def _status_text(self) -> str:
        match_id = self._player.match_id
        doing = (
            "waiting for a match" if match_id is None else f"playing match {_printable(match_id)}"
        )
        return (
            f"{self.name}: a General Game Playing agent, {doing}.\n"
            "It answers messages of the GDL protocol by POST, such as ( INFO ).\n"
        )


async def serve_until_signal(server: AgentServer) -> None:
    """Run a server until SIGINT or SIGTERM, then close it.  Raises `PlayerError` as `start`."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        await server.start()
        log.info("%s is ready on port %d", server.name, server.port)
        await stop.wait()
        log.info("%s is closing", server.name)
    finally:
        for number in signals:  # a second signal ends the process without further ado
            loop.remove_signal_handler(number)
        await server.close()


async def _read_message(body: bytes) -> Message:
    if len(body) > _SMALL_MESSAGE:
        return await asyncio.to_thread(_parse, body)
    return _parse(body)


def _parse(body: bytes) -> Message:
    """A request's body as a message; an empty one is a ping."""
    text = body.decode("utf-8-sig", errors="replace")
    return parse_message(text) if text.strip() else Info()


def _reply(text: str, *, status: int = 200, content_type: str = "text/acl") -> web.Response:
    """A reply; ASCII, except for a move that has no other spelling."""
    headers = {**HEADERS, "Content-Type": content_type, "Connection": "close"}
    return web.Response(status=status, body=text.encode("utf-8"), headers=headers)


def _printable(text: str) -> str:
    """Text in ASCII, without control characters other than line ends."""
    return re.sub(r"[^\n -~]", lambda found: ascii(found.group())[1:-1], text)
