"""The HTTP player against servers that answer well, badly, or not at all."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from ggp_agent.errors import PlayerError
from ggp_agent.manager.players import MAX_REPLY_BYTES, HttpPlayer, wire_text
from ggp_agent.protocol.messages import Abort, Info, Play, Preview, Start, Stop

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PLAY = Play("match.1", None)


class Heard:
    """The URL of a test server and the requests that it got, byte for byte."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[bytes] = []


@asynccontextmanager
async def serving(answer: Answer | bytes) -> AsyncIterator[Heard]:
    """A server on a free port that reads one request and answers as told, then closes."""
    heard = Heard("")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            heard.requests.append(head + await reader.readexactly(length))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        heard.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield heard


async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Say nothing until the other side gives up."""
    assert await reader.read() == b""


async def reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close with a TCP reset."""
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def pour(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Write a body that never ends."""
    writer.write(b"HTTP/1.0 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


def reply(body: bytes, head: bytes = b"HTTP/1.0 200 OK\r\n") -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Info(), "( INFO )"),
        (Preview("( role x )", 2), "( PREVIEW (( role x )) 2 )"),
        (
            Start("gb.t.17", "x", "( role x ) ( role o )", 4, 2),
            "( START gb.t.17 x (( role x ) ( role o ) ) 4 2)",
        ),
        (Start("m", "x", "( role x )", 0.5, 1.25), "( START m x (( role x ) ) 0.5 1.25)"),
        (Play("gb.t.17", None), "( PLAY gb.t.17 NIL )"),
        (Play("gb.t.17", ("noop", "( mark 2 2 )")), "( PLAY gb.t.17 (noop ( mark 2 2 ) ) )"),
        (Stop("gb.t.17", ("( mark 2 1 )", "noop")), "( STOP gb.t.17 (( mark 2 1 ) noop ) )"),
        (Stop("gb.t.17", None), "( STOP gb.t.17 NIL )"),
        (Abort("gb.t.17"), "( ABORT gb.t.17 )"),
    ],
)
def test_messages_have_the_layout_of_the_public_server(message: Info, text: str) -> None:
    assert wire_text(message) == text


@pytest.mark.asyncio
async def test_a_request_is_that_of_the_public_server() -> None:
    async with serving(reply(b"( mark 1 2 )")) as heard:
        player = HttpPlayer(heard.url, "ann")
        assert await player.play(Play("m", ("noop", "( mark 2 2 )"))) == "( mark 1 2 )"
        await player.close()
    (request,) = heard.requests
    head, body = request.split(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    assert first == b"POST / HTTP/1.0"
    assert sorted(headers) == sorted(
        [
            b"Accept: text/delim",
            b"Host: " + urlsplit(heard.url).netloc.encode(),
            b"Sender: GAMESERVER",
            b"Receiver: ann",
            b"Content-Type: text/acl",
            b"Content-Length: 31",
        ]
    )
    assert body == b"( PLAY m (noop ( mark 2 2 ) ) )"


@pytest.mark.asyncio
async def test_every_message_is_sent_once_over_its_own_connection() -> None:
    async with serving(reply(b"ready")) as heard:
        player = HttpPlayer(heard.url + "/my/path")
        await player.start(Start("m", "x", "( role x )", 1, 1))
        await player.play(PLAY)
        await player.stop(Stop("m", ("a",)))
        await player.abort(Abort("m"))
    assert [r.split()[1] for r in heard.requests] == [b"/my/path"] * 4
    assert [r.split(b"\r\n\r\n( ")[1].split()[0] for r in heard.requests] == [
        b"START",
        b"PLAY",
        b"STOP",
        b"ABORT",
    ]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\n\r\n( mark 1 2 )",
        b"HTTP/1.0 200 OK\r\nContent-type: text/acl\r\n\r\n( mark 1 2 )\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n( mark 1 2 )",
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: keep-alive\r\n\r\n( mark 1 2 )",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n( mark 1 2 )",
        b"HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\n( mark 1 2 )\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n( mark 1 2 )\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\nContent-Length: 12\n\n( mark 1 2 )",
        b"HTTP/1.1 200 \r\nContent-Length: 12\r\n\r\n( mark 1 2 )",
        b"HTTP/1.0 200 OK\r\nContent-Type: text/acl; charset=none\r\n\r\n( mark 1 2 )",
    ],
)
@pytest.mark.asyncio
async def test_answers_in_all_the_forms_that_players_use(answer: bytes) -> None:
    async with serving(answer) as heard:
        assert await HttpPlayer(heard.url).play(PLAY) == "( mark 1 2 )"


@pytest.mark.asyncio
async def test_an_open_connection_does_not_delay_a_counted_answer() -> None:
    async def answer_and_wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(b"noop", b"HTTP/1.1 200 OK\r\n"))
        await reader.read()

    async with serving(answer_and_wait) as heard, asyncio.timeout(20):
        assert await HttpPlayer(heard.url).play(PLAY) == "noop"


@pytest.mark.asyncio
async def test_bytes_that_are_no_text_are_tolerated() -> None:
    async with serving(reply(b"n\xc3\xb6\xff\xfe op")) as heard:
        assert await HttpPlayer(heard.url).play(PLAY) == "n\u00f6\ufffd\ufffd op"


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (reset, "broke off or did not speak HTTP"),
        (pour, f"more than {MAX_REPLY_BYTES} bytes"),
        (b"", "broke off or did not speak HTTP"),
        (b"noop", "broke off or did not speak HTTP"),
        (b"\x00\xff\x00\xff\r\n\r\n", "broke off or did not speak HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "broke off or did not speak HTTP"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 30\r\n\r\n( mark", "broke off or did not speak"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: many\r\n\r\nnoop", "broke off or did not speak"),
        (b"HTTP/1.0 200 OK\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\nnoop", "broke off or did"),
        (reply(b"x" * (MAX_REPLY_BYTES + 1)), f"more than {MAX_REPLY_BYTES} bytes"),
        (reply(b"not a\nmessage", b"HTTP/1.0 400 Bad Request\r\n"), "status 400: not a message"),
        (reply(b"", b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"), "status 302"),
    ],
)
@pytest.mark.asyncio
async def test_broken_answers_are_one_clear_line(answer: Answer | bytes, complaint: str) -> None:
    async with serving(answer) as heard, asyncio.timeout(20):
        with pytest.raises(PlayerError, match=complaint) as caught:
            await HttpPlayer(heard.url).play(PLAY)
    assert heard.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.asyncio
async def test_a_silent_player_is_left_when_the_time_is_up() -> None:
    """Cancelling closes the connection, which is what ends `hang`."""
    async with serving(hang) as heard:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await HttpPlayer(heard.url).play(PLAY)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.asyncio
async def test_nobody_there_says_where_and_what_to_do() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    asks: list[Callable[[], Awaitable[str]]] = [
        HttpPlayer(url).info,
        lambda: HttpPlayer(url).play(PLAY),
    ]
    for ask in asks:
        with pytest.raises(PlayerError) as caught:
            await ask()
        assert str(caught.value).startswith(f"no player at {url}: ")
        assert "start one or correct the address" in str(caught.value)


@pytest.mark.asyncio
async def test_an_unknown_host_says_so() -> None:
    with pytest.raises(PlayerError, match=r"no player at http://no-such-host\.invalid:9147: "):
        await HttpPlayer("http://no-such-host.invalid:9147").info(20)


@pytest.mark.parametrize(
    ("answer", "name", "status"),
    [
        (b"( ( name Ann ) ( status available ) )", "Ann", "available"),
        (b"((name Ann the Great)(STATUS BUSY)(species agent))", "Ann the Great", "busy"),
        (b"((status available))", "", "available"),
        (b"((name Ann))", "Ann", "unknown"),
        (b"available", "", "available"),
        (b"BUSY", "", "busy"),
        (b"", "", "unknown"),
        (b"((name \x01) (status busy))", "", "busy"),
    ],
)
@pytest.mark.asyncio
async def test_info_tells_name_and_status(answer: bytes, name: str, status: str) -> None:
    async with serving(reply(answer)) as heard:
        player = HttpPlayer(heard.url)
        address = urlsplit(heard.url).netloc
        assert player.name == address
        assert await player.info() == status
        assert player.name == (name or address)
        await player.play(PLAY)
    assert f"Receiver: {player.name}\r\n".encode() in heard.requests[1]


@pytest.mark.parametrize("answer", [b"<html><body>It works!</body></html>", b"((name Ann"])
@pytest.mark.asyncio
async def test_something_else_that_listens_is_no_player(answer: bytes) -> None:
    async with serving(reply(answer)) as heard:
        with pytest.raises(PlayerError, match="is no player: it answered INFO with"):
            await HttpPlayer(heard.url).info()


@pytest.mark.asyncio
async def test_info_does_not_wait_for_ever() -> None:
    async with serving(hang) as heard:
        with pytest.raises(PlayerError, match=r"did not answer INFO within 0\.1 s"):
            await HttpPlayer(heard.url).info(0.1)


@pytest.mark.parametrize(
    "url", ["http://localhost:9147", "http://[::1]:9147/", "http://127.0.0.1:80/a/b", "HTTP://h:1"]
)
def test_addresses_of_players(url: str) -> None:
    assert HttpPlayer(url).url == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost",
        "localhost:9147",
        "http://",
        "http://:9147",
        "http://localhost",
        "http://localhost:99999",
        "http://localhost:port",
        "http://local host:9147",
        "http://[::1:9147",
        "https://localhost:9147",
        "ftp://localhost:21",
    ],
)
def test_what_is_no_address_of_a_player(url: str) -> None:
    with pytest.raises(PlayerError, match=r"write http://HOST:PORT"):
        HttpPlayer(url)
