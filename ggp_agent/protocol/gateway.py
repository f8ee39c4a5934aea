"""The HTTP gateway in front of aiohttp: one lenient request per connection.

`Gateway` reads a request with a `RequestReader` and hands aiohttp the clean one, which aiohttp
answers.  The connection is closed after the reply.  `bind` opens the sockets to listen on.

The moment at which a request's first byte was read goes along with it (`came_at`): clocks run from
there.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, cast

from aiohttp import web

from ggp_agent.errors import PlayerError, RequestError
from ggp_agent.protocol.http_requests import Limits, RequestReader

log = logging.getLogger(__name__)

LINGER = 2.0
"""Seconds that a peer has to read the reply and close, after we have closed our side."""

_CAME_AT = "ggp_agent.came_at"
"""What a transport is asked for by aiohttp to tell when its request came."""

_FAMILY_MISSING = {errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.EADDRNOTAVAIL}


def came_at(request: web.BaseRequest) -> float:
    """When the first byte of a request was read, a reading of `time.monotonic()`.

    Now, where the connection is gone already and nobody waits for the answer.
    """
    moment: float | None = request.get_extra_info(_CAME_AT)
    return time.monotonic() if moment is None else moment


class _LingeringTransport:
    """A connection's transport for aiohttp, whose `close` lets the peer read the reply first."""

    def __init__(
        self, transport: asyncio.Transport, came: float, close: Callable[[], None]
    ) -> None:
        self._transport, self._came = transport, came
        self.close = close

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._came if name == _CAME_AT else self._transport.get_extra_info(name, default)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Connection(asyncio.Protocol):
    """One connection: reads a request, hands it to aiohttp, closes after the reply."""

    _transport: asyncio.Transport

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._limits = gateway.limits
        self._loop = asyncio.get_running_loop()
        self._reader = RequestReader(gateway.limits)
        self._handler: asyncio.Protocol | None = None
        self._came: float | None = None
        self._reading = True
        self._continued = False
        self._peer_closed = False
        self._deadline: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._gateway.connections.add(self)
        self._deadline = self._loop.call_later(self._limits.read_timeout, self._on_deadline)

    def data_received(self, data: bytes) -> None:
        if not self._reading:
            return  # a line end behind the body, or a second request: nothing that counts
        if self._came is None:
            self._came = time.monotonic()
        if self._idle is not None:
            self._idle.cancel()
        try:
            self._reader.feed(data)
        except RequestError as error:
            self._refuse(error)
            return
        if self._reader.whole:
            self._hand_over()
        elif self._reader.settled:
            self._idle = self._loop.call_later(self._limits.idle, self._hand_over)
        if self._reading and self._reader.awaits_continue and not self._continued:
            self._continued = True
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def eof_received(self) -> bool:
        """The peer has sent all it wants to; it may still wait for the reply (half-closed)."""
        self._peer_closed = True
        if self._linger is not None or (self._reading and self._reader.empty):
            return False  # the transport closes itself
        if self._reading:
            self._hand_over()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_reading()
        if self._linger is not None:
            self._linger.cancel()
        self._gateway.connections.discard(self)
        if self._handler is not None:
            self._handler.connection_lost(exc)

    def pause_writing(self) -> None:
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        if self._handler is not None:
            self._handler.resume_writing()

    def close(self) -> None:
        """Close after what has been written is sent."""
        self._transport.close()

    def _hand_over(self) -> None:
        """The request is whole: aiohttp goes on from here."""
        try:
            request = self._reader.clean_request()
        except RequestError as error:
            self._refuse(error)
            return
        self._stop_reading()
        assert self._came is not None  # no request without bytes
        transport = _LingeringTransport(self._transport, self._came, self._close_gently)
        self._handler = self._gateway.make_handler()
        self._handler.connection_made(cast(asyncio.Transport, transport))
        self._handler.data_received(request)

    def _on_deadline(self) -> None:
        self._refuse(RequestError(408, "the request did not arrive in time"))

    def _refuse(self, error: RequestError) -> None:
        self._stop_reading()
        log.warning("refused a request (%d): %s", error.status, error)
        self._transport.write(_refusal(error, self._gateway.refusal_headers))
        self._close_gently()

    def _stop_reading(self) -> None:
        self._reading = False
        for timer in (self._deadline, self._idle):
            if timer is not None:
                timer.cancel()

    def _close_gently(self) -> None:
        """Close our side; the rest when the peer has closed its own, or soon.

        A socket that is closed at once while bytes of the peer are still unread or under way
        resets the connection, and the peer may lose the reply.
        """
        if self._transport.is_closing():
            return
        if self._peer_closed:
            self._transport.close()
        elif self._linger is None:
            self._transport.write_eof()
            self._linger = self._loop.call_later(LINGER, self._transport.close)


def _refusal(error: RequestError, headers: Mapping[str, str]) -> bytes:
    """A reply of ours, for a request that aiohttp never sees."""
    body = str(error).encode("ascii", "backslashreplace")
    fields = {
        **headers,
        "Content-Type": "text/plain",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    status = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
    head = status + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
    return head.encode("ascii") + body


class Gateway:
    """Listens, and gives every whole request to a handler of aiohttp's.

    `make_handler` is an `aiohttp.web.Server`; `refusal_headers` go with each reply that the
    gateway writes itself.
    """

    def __init__(
        self,
        make_handler: Callable[[], asyncio.Protocol],
        *,
        refusal_headers: Mapping[str, str],
        limits: Limits,
    ) -> None:
        self.make_handler = make_handler
        self.refusal_headers = refusal_headers
        self.limits = limits
        self.connections: set[_Connection] = set()
        self._servers: list[asyncio.Server] = []

    async def listen(self, sockets: list[socket.socket]) -> None:
        """Accept connections on sockets that listen already; the gateway owns them now."""
        loop = asyncio.get_running_loop()
        for sock in sockets:
            self._servers.append(await loop.create_server(lambda: _Connection(self), sock=sock))

    def stop_listening(self) -> None:
        """Accept no more connections; those that are open go on."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    async def close(self) -> None:
        """Stop listening and close all connections."""
        self.stop_listening()
        for connection in list(self.connections):
            connection.close()
        await asyncio.sleep(0)  # lets the transports tell their protocols


async def bind(host: str | None, port: int) -> list[socket.socket]:
    """Listening sockets on a host's IPv4 and IPv6 addresses, or (None) on all of the machine's.

    All have the same port, also where `port` is 0 and the system chooses.  A missing address
    family is passed over if the other is there.  Raises `PlayerError`.
    """
    if not 0 <= port <= 65535:
        raise PlayerError(f"port {port} does not exist; choose one from 1 to 65535")
    sockets: list[socket.socket] = []
    for family, address in await _addresses(host):
        try:
            sockets.append(_listening_socket(family, (address[0], port, *address[2:])))
        except OSError as error:
            if error.errno in _FAMILY_MISSING:
                log.info("not listening on %s: %s", address[0], error.strerror)
                continue
            for sock in sockets:
                sock.close()
            raise PlayerError(_bind_failure(address[0], port, error)) from error
        port = sockets[-1].getsockname()[1]
    if not sockets:
        raise PlayerError(f"cannot listen on {host or 'any address'}: it is not on this machine")
    return sockets


async def _addresses(host: str | None) -> list[tuple[int, tuple[Any, ...]]]:
    if host is None:
        return [(socket.AF_INET, ("0.0.0.0", 0)), (socket.AF_INET6, ("::", 0))]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "not a host name"
        raise PlayerError(f"cannot listen on host '{host}': {reason}") from error
    return list(dict.fromkeys((family, address) for family, *_, address in found))


def _listening_socket(family: int, address: tuple[Any, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        sock.listen(128)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def _bind_failure(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use on {host}; stop what listens there, or choose another port"
    if error.errno == errno.EACCES:
        return f"port {port} needs special permission; choose one above 1023"
    return f"cannot listen on {host}, port {port}: {error.strerror}"
