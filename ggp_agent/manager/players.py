"""A player as the manager sees it, and the one behind a URL.

Requests look like those of the public GameServer: HTTP/1.0, one line of body, no keep-alive.
What comes back is not trusted: bodies are bounded, bytes that are no UTF-8 are tolerated, and
whatever fails on the way is a `PlayerError` of one line.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp

from gdl.errors import RuleSheetError
from gdl.kif import Expression, Source, read, write
from ggp_agent.errors import PlayerError
from ggp_agent.player.search_totals import SearchTotals
from ggp_agent.player.tuning_record import TuningRecord
from ggp_agent.protocol.messages import Abort, Info, Message, Play, Start, Stop

MAX_REPLY_BYTES = 65_536
"""A longer reply is refused; the moves of public games have less than a hundred bytes."""

CONNECT_SECONDS = 10.0
"""Longest wait for a connection, whatever the clocks say."""

_MAX_NAME = 60
_STATUS_WORDS = frozenset({"available", "busy", "ready"})

log = logging.getLogger(__name__)


class Player(Protocol):
    """Someone who plays one role of a match.

    All methods raise `GgpError` or `OSError` when the player can't be reached or its answer can't
    be understood; they set no time limit of their own, the caller cancels them when time is up.
    """

    @property
    def name(self) -> str:
        """What records and boards call the player."""

    @property
    def cut_short(self) -> int:
        """Moves for which the clock ran out before its simulations were done, where it tells."""

    async def greet(self) -> None:
        """See, before a match, that the player is there and what it is called."""

    @property
    def totals(self) -> SearchTotals | None:
        """What its thinking took in the match; None where it does not tell."""

    @property
    def tuning(self) -> TuningRecord | None:
        """How the tuning of its parameters went in the match; None where it does not tell."""

    async def start(self, start: Start) -> None:
        """Tell the rules; returns when the player is ready."""

    async def play(self, play: Play) -> str:
        """Ask for the next move; the reply is the player's text, unchecked."""

    async def stop(self, stop: Stop) -> None:
        """Tell the last joint move of a match that has ended."""

    async def abort(self, abort: Abort) -> None:
        """Tell that the match ends without a result."""

    async def close(self) -> None:
        """Release what the manager holds for the player."""


class HttpPlayer:
    """A player that listens at a URL, `http://host:port` with an optional path."""

    cut_short = 0
    totals: None = None
    tuning: None = None

    def __init__(self, url: str, name: str = "") -> None:
        self.url = _checked_url(url)
        self.name = name or urlsplit(self.url).netloc

    async def info(self, seconds: float = 3.0) -> str:
        """The player's status, "available" or "busy" ("unknown" where it says nothing).

        A player that tells its name is called so from now on.
        """
        try:
            async with asyncio.timeout(seconds):
                text = await self._request(Info())
        except TimeoutError:
            raise PlayerError(
                f"the player at {self.url} did not answer INFO within {seconds:g} s; "
                "is it running and free?"
            ) from None
        details = _info_details(text)
        if details is None:
            raise PlayerError(
                f"what listens at {self.url} is no player: it answered INFO with {text[:60]!r}; "
                "correct the address"
            )
        self.name = _header_safe(details.get("name", "")) or self.name
        return details.get("status", "unknown")

    async def greet(self) -> None:
        """Ask for `info`."""
        await self.info()

    async def start(self, start: Start) -> None:
        """Send START; the text of the reply is of no interest."""
        await self._request(start)

    async def play(self, play: Play) -> str:
        """Send PLAY and return the reply."""
        return await self._request(play)

    async def stop(self, stop: Stop) -> None:
        """Send STOP."""
        await self._request(stop)

    async def abort(self, abort: Abort) -> None:
        """Send ABORT."""
        await self._request(abort)

    async def close(self) -> None:
        """Nothing to release: every request has a connection of its own."""

    async def _request(self, message: Message) -> str:
        """One POST over a fresh connection; raises `PlayerError` for whatever goes wrong."""
        headers = {
            "Accept": "text/delim",
            "Sender": "GAMESERVER",
            "Receiver": _header_safe(self.name),
            "Content-Type": "text/acl",
        }
        try:
            async with (
                _session() as session,
                session.post(
                    self.url,
                    data=wire_text(message).encode(),
                    headers=headers,
                    allow_redirects=False,
                ) as response,
            ):
                body = await self._bounded_body(response)
                status = response.status
        except aiohttp.ClientConnectorError as error:
            reason = error.os_error.strerror or str(error.os_error)
            raise PlayerError(
                f"no player at {self.url}: {_one_line(reason)}; start one or correct the address"
            ) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise PlayerError(
                f"the player at {self.url} broke off or did not speak HTTP: {_reason(error)}"
            ) from error
        text = body.decode("utf-8", errors="replace").strip()
        if not 200 <= status < 300:
            raise PlayerError(
                f"the player at {self.url} answered with HTTP status {status}: {_one_line(text)}"
            )
        return text

    async def _bounded_body(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > MAX_REPLY_BYTES:
                raise PlayerError(
                    f"the player at {self.url} sent a reply of more than {MAX_REPLY_BYTES} bytes"
                )
        return bytes(body)


def wire_text(message: Message) -> str:
    """A message with every blank where the public GameServer puts it.

    Players are known that split lines instead of reading KIF, so that the layout counts.
    """
    match message:
        case Start():
            return (
                f"( START {message.match_id} {message.role} ({message.rules} ) "
                f"{message.start_clock:g} {message.play_clock:g})"
            )
        case Play(match_id, moves):
            return f"( PLAY {match_id} {_moves_text(moves)} )"
        case Stop(match_id, moves):
            return f"( STOP {match_id} {_moves_text(moves)} )"
        case _:
            return str(message)


def _moves_text(moves: tuple[str, ...] | None) -> str:
    return "NIL" if moves is None else "(" + "".join(f"{move} " for move in moves) + ")"


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(force_close=True),
        version=aiohttp.HttpVersion10,
        timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
        skip_auto_headers=("Accept-Encoding", "User-Agent"),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    )


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme == "http" and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in url):
        raise PlayerError(f"'{url}' is no player's address; write http://HOST:PORT")
    return url


def _info_details(text: str) -> dict[str, str] | None:
    """What an INFO reply says: `( ( name X ) ( status available ) )`, older ones just a word.

    None where the text is no such reply.
    """
    try:
        nodes = read(Source(text, "INFO reply"))
    except RuleSheetError:
        return None
    if not nodes:
        return {}
    if not isinstance(nodes[0], Expression):
        word = write(nodes[0]).lower()
        return {"status": word} if word in _STATUS_WORDS else None
    pairs = (item.items for item in nodes[0] if isinstance(item, Expression) and len(item) > 1)
    details = {write(key).lower(): " ".join(map(write, value)) for key, *value in pairs}
    if "status" in details:
        details["status"] = details["status"].lower()
    return details


def _header_safe(name: str) -> str:
    """A name that may stand in a header line and in a record."""
    printable = "".join(character for character in name if character.isprintable())
    return printable.strip()[:_MAX_NAME]


def _reason(error: Exception) -> str:
    """What the HTTP library has to say, without the request it repeats."""
    text = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
    return _one_line(text) or type(error).__name__


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
