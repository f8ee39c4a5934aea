"""The agent's HTTP server: answers the messages of game managers, one match at a time."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
from urllib.parse import unquote_to_bytes

from aiohttp import web

from ggp_agent.errors import MessageError
from ggp_agent.player.clock import seconds_since
from ggp_agent.player.match_keeper import SILENCE, SILENT_CLOCKS, MatchKeeper, MatchMaker
from ggp_agent.protocol.gateway import Gateway, bind, came_at
from ggp_agent.protocol.http_requests import Limits
from ggp_agent.protocol.messages import Info, Message, parse_message

log = logging.getLogger(__name__)

HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type",
    "Access-Control-Max-Age": "86400",
}
"""What managers that live in a browser want to see in every reply."""

_SMALL_MESSAGE = 16 * 1024
"""A message up to this many bytes is read on the event loop, a longer one in a thread."""


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
        self._keeper = MatchKeeper(maker, name=name, silence=silence, silent_clocks=silent_clocks)
        self._host = host
        self._port = port
        self._limits = limits or Limits()
        self._web: web.Server | None = None
        self._gateway: Gateway | None = None

    @property
    def name(self) -> str:
        """The player's name as managers see it."""
        return self._keeper.name

    @property
    def port(self) -> int:
        """The port; the one that the system chose once `start` has returned."""
        return self._port

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
        await self._keeper.close()
        if self._web is not None:
            await self._web.shutdown(timeout=1.0)
        if self._gateway is not None:
            await self._gateway.close()

    async def _respond(self, request: web.BaseRequest) -> web.Response:
        came = came_at(request)
        if request.method == "OPTIONS":
            return _reply("")
        if request.method == "HEAD" or (request.method == "GET" and request.raw_path == "/"):
            return _reply(self._status_text(), content_type="text/plain")
        if request.method == "GET":
            body = unquote_to_bytes(request.raw_path[1:].replace("+", " "))
        else:
            body = await request.content.read()
        return await self._respond_to(body, came)

    async def _respond_to(self, body: bytes, came: float) -> web.Response:
        what = "message"
        try:
            message = await _read_message(body)
            what = f"{type(message).__name__.upper()} {getattr(message, 'match_id', '')}".strip()
            answer = await self._keeper.answer(message, came)
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
            seconds_since(came),
            _printable(answer),
        )
        return _reply(answer)

    def _status_text(self) -> str:
        match_id = self._keeper.match_id
        doing = (
            "waiting for a match" if match_id is None else f"playing match {_printable(match_id)}"
        )
        return (
            f"{self.name}: a General Game Playing agent, {doing}.\n"
            "It answers messages of the GDL protocol by POST, such as ( INFO ).\n"
        )


async def check_address(host: str | None, port: int) -> None:
    """Raise `PlayerError` where the port or host can't be had, before anything long begins."""
    for sock in await bind(host, port):
        sock.close()


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
