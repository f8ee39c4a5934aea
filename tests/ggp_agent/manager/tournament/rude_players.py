"""Players over HTTP that hang, talk nonsense, or go away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Behaviour = Callable[[str], str | None]
"""What to answer to a request's body; None: nothing, ever."""


def polite(body: str) -> str:
    """An answer to whatever is no PLAY."""
    return "( ( name rude ) ( status available ) )" if "INFO" in body else "ready"


def heads(body: str) -> str:
    """The move heads."""
    return "heads" if "PLAY" in body else polite(body)


def nonsense(body: str) -> str | None:
    """No move of any game."""
    return "(((" if "PLAY" in body else polite(body)


def hanging(body: str) -> str | None:
    """No answer to PLAY."""
    return None if "PLAY" in body else polite(body)


class Server:
    """A server on a loop of its own; `close` makes it disappear."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.bodies: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._answer, "127.0.0.1", 0), self._loop
        )
        self._server = starting.result(10)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def close(self) -> None:
        """Close the port and everything that is open."""
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = (await reader.readexactly(length)).decode()
        self.bodies.append(body)
        text = self.behaviour(body)
        if text is None:
            await reader.read()
        else:
            writer.write(f"HTTP/1.0 200 OK\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
        writer.close()


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Server]:
    """A server that is closed in the end."""
    server = Server(behaviour)
    try:
        yield server
    finally:
        server.close()
