"""The agent server over real sockets, with a match that does as the test tells it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import KifSyntaxError, Location
from ggp_agent.errors import MessageError, PlayerError
from ggp_agent.player.server import HEADERS, AgentServer, check_address, serve_until_signal
from ggp_agent.protocol.http_requests import Limits
from ggp_agent.protocol.messages import Start

GUARD = 20.0
"""Seconds after which a test counts as hanging."""

Moves = tuple[str, ...] | None


class FakeMatch:
    """A match that records what it is told; `thinking` and `starting` hold its answers back."""

    def __init__(self, start: Start, came: float) -> None:
        self.start_message = start
        self.came = [came]
        self.calls: list[tuple[str, Moves]] = []
        self.starting = asyncio.Event()
        self.thinking = asyncio.Event()
        self.starting.set()
        self.thinking.set()
        self.failure: Exception | None = None
        self.closed = 0

    async def start(self) -> None:
        self.calls.append(("start", None))
        await self.starting.wait()

    async def play(self, moves: Moves, came: float) -> str:
        self.calls.append(("play", moves))
        self.came.append(came)
        await self.thinking.wait()
        if self.failure is not None:
            raise self.failure
        return "( mark 1 2 )"

    async def stop(self, moves: Moves) -> None:
        self.calls.append(("stop", moves))
        if self.failure is not None:
            raise self.failure

    async def close(self) -> None:
        self.closed += 1


class FakeMaker:
    """Opens fake matches once `opening` is set; `prepare` may change each before it is used."""

    def __init__(self) -> None:
        self.matches: list[FakeMatch] = []
        self.prepare: Callable[[FakeMatch], None] = lambda match: None
        self.opening = asyncio.Event()
        self.opening.set()
        self.opened = 0
        self.closed = 0

    async def open(self, start: Start, came: float) -> FakeMatch:
        self.opened += 1
        await self.opening.wait()
        if "broken" in start.rules:
            raise KifSyntaxError("unbalanced '('", Location("rules", 3, 14))
        match = FakeMatch(start, came)
        self.prepare(match)
        self.matches.append(match)
        return match

    async def close(self) -> None:
        self.closed += 1


@dataclass(frozen=True)
class Reply:
    """A reply taken apart."""

    status: int
    fields: dict[str, str]
    text: str


class Client:
    """Sends requests to one server and checks what holds for every reply."""

    def __init__(self, server: AgentServer, maker: FakeMaker) -> None:
        self.server = server
        self.maker = maker

    @property
    def match(self) -> FakeMatch:
        return self.maker.matches[-1]

    async def send(
        self,
        *parts: bytes,
        host: str = "127.0.0.1",
        pause: float = 0.0,
        half_close: bool = False,
    ) -> Reply:
        """Send raw bytes, read until the server closes, as the strictest managers do."""
        reader, writer = await asyncio.open_connection(host, self.server.port)
        try:
            for part in parts:
                writer.write(part)
                await asyncio.sleep(pause)
            if half_close:
                writer.write_eof()
            raw = await asyncio.wait_for(reader.read(), GUARD)
        finally:
            writer.close()
        return parsed(raw)

    async def say(self, message: str) -> str:
        """The text of the reply to a message in a plain request; it must be a good one."""
        reply = await self.send(post(message))
        assert reply.status == 200, reply.text
        return reply.text

    async def start(self, match_id: str = "m", clocks: str = "4 2") -> FakeMatch:
        """Start a match."""
        assert await self.say(f"( START {match_id} x {RULES} {clocks})") == "ready"
        return self.match

    async def called(self, count: int) -> None:
        """Wait until the match has been called `count` times."""
        await until(lambda: bool(self.maker.matches) and len(self.match.calls) >= count)


RULES = "((role x) (role o) (<= terminal (not open)))"
LONG_RULES = "((role x) " + "(<= (next (cell 1 1 b)) (true (cell 1 1 b)) ) \n" * 4000 + ")"


def post(body: str, *headers: str, length: int | None = None) -> bytes:
    """A plain request."""
    count = len(body.encode()) if length is None else length
    lines = ["POST / HTTP/1.0", *headers, f"Content-Length: {count}", "", ""]
    return "\r\n".join(lines).encode() + body.encode()


def parsed(raw: bytes) -> Reply:
    """Take a reply apart and check it against the rules for all replies."""
    head, _, body = raw.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("ascii").split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    status = int(status_line.split()[1])
    assert len(body) == int(fields["content-length"])
    assert fields["connection"] == "close"
    for name, value in HEADERS.items():
        assert fields[name.lower()] == value
    if status == 200 and body.isascii() and b"General Game" not in body:
        assert fields["content-type"] == "text/acl"
    elif status != 200:
        assert fields["content-type"] == "text/plain"
        assert body and b"\n" not in body and b"Traceback" not in body
    return Reply(status, fields, body.decode())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that must happen."""
    async with asyncio.timeout(GUARD):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def serving(
    *,
    host: str | None = "127.0.0.1",
    silence: float = 600.0,
    silent_clocks: float = 10.0,
    name: str = "Tester",
    limits: Limits | None = None,
) -> AsyncIterator[Client]:
    """A server on a free port; nothing may reach the event loop's handler of last resort."""
    troubles: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: troubles.append(str(context)))
    maker = FakeMaker()
    server = AgentServer(
        maker,
        name=name,
        host=host,
        port=0,
        silence=silence,
        silent_clocks=silent_clocks,
        limits=limits or Limits(idle=0.05),
    )
    await server.start()
    try:
        yield Client(server, maker)
    finally:
        await asyncio.wait_for(server.close(), GUARD)
        assert troubles == []


INFO_TEXT = "( ( name Tester ) ( status available ) ( species agent ) )"

# --- requests byte for byte --------------------------------------------------------------------

GB_HEAD = (
    "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\nSender: GAMESERVER\r\n"
    "Receiver: Tester\r\nContent-Type: text/acl\r\nContent-Length: {}\r\n\r\n"
)
DR_HEAD = (
    "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: GAMECONTROLLER\r\nReceiver: localhost\r\n"
    "Content-type: text/acl\r\nContent-length: {}\r\n\r\n"
)
TY_HEAD = (
    "POST / HTTP/1.1\r\nUser-Agent: Java/1.7.0\r\nHost: localhost:9147\r\n"
    "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2\r\nConnection: keep-alive\r\n"
    "Content-type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n"
)


def framed(head: str, body: str) -> bytes:
    """A manager's head, its length counted in characters, and the body."""
    return head.format(len(body)).encode() + body.encode()


GB_START = "( START gb.ticTacToe.1 xplayer (( role xplayer ) ( <= terminal ( not open ) ) ) 4 2)"
DR_START = "(START A_Match XPLAYER ((ROLE XPLAYER) (ROLE OPLAYER) (<= TERMINAL (NOT OPEN)) ) 4 2)"
BARE = b"POST / HTTP/1.0\r\n\r\n"

INFO_REQUESTS = {
    "GB": framed(GB_HEAD, "( INFO )"),
    "GB, newline behind the body": framed(GB_HEAD, "( INFO )") + b"\r\n",
    "TY": framed(TY_HEAD, "( INFO )"),
    "TY, empty body": framed(TY_HEAD, ""),
    "lower case": framed(GB_HEAD, "(info)"),
    "one word": framed(GB_HEAD, "INFO"),
    "further arguments": framed(GB_HEAD, "( INFO now (please) )"),
    "byte-order mark": framed(GB_HEAD, "\ufeff( INFO )"),
    "CR, tabs and comments": framed(GB_HEAD, ";(\r(\tINFO ; ping )\r\n)"),
    "lone line feeds": b"POST / HTTP/1.0\nContent-Length: 8\n\n( INFO )\n",
    "no path": b"POST HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )",
    "no path, two blanks": b"POST  HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )",
    "some other path": b"POST /ggp/x%20y?z HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )",
    "no length": BARE + b"( INFO )",
    "no length, empty body": BARE,
    "no length, http 1.1": b"POST / HTTP/1.1\r\nHost: x\r\n\r\n( INFO )",
    "http 1.1 without host": b"POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n( INFO )",
    "length in bytes, not ASCII": post("( INFO é )"),
    "length in characters, not ASCII": post("( INFO ééé中 )", length=13),
    "odd header case": b"POST / HTTP/1.0\r\nCONTENT-LENGTH:8\r\nhOsT: x\r\n\r\n( INFO )",
    "chunked": b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
    b"4\r\n( IN\r\n4\r\nFO )\r\n0\r\n\r\n",
    "GET, percent": b"GET /(%20INFO%20) HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET, plus": b"GET /%28+INFO+%29 HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET, raw": b"GET /( INFO ) HTTP/1.0\r\n\r\n",
}

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
@pytest.mark.parametrize("raw", INFO_REQUESTS.values(), ids=INFO_REQUESTS.keys())
def test_info_is_answered_however_it_is_sent(
    raw: bytes, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def scenario() -> None:
        async with serving() as client:
            reply = await client.send(raw)
            assert (reply.status, reply.text) == (200, INFO_TEXT)
            assert client.server.name == "Tester"

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(scenario())


MATCHES = {
    "GB": (
        GB_HEAD,
        [
            ("( PREVIEW (( role xplayer ) ( <= terminal ( not open ) ) ) 2 )", "ready"),
            (GB_START, "ready"),
            ("( PLAY gb.ticTacToe.1 NIL )", "( mark 1 2 )"),
            ("( PLAY gb.ticTacToe.1 (noop ( mark 2 2 ) ) )", "( mark 1 2 )"),
            ("( STOP gb.ticTacToe.1 (( mark 2 1 ) noop ) )", "done"),
            ("( ABORT gb.ticTacToe.1 )", "busy"),
        ],
        [
            ("start", None),
            ("play", None),
            ("play", ("noop", "(mark 2 2)")),
            ("stop", ("(mark 2 1)", "noop")),
        ],
    ),
    "GB, aborted": (
        GB_HEAD,
        [
            (GB_START, "ready"),
            ("( PLAY gb.ticTacToe.1 nil )", "( mark 1 2 )"),
            ("( ABORT gb.ticTacToe.1 )", "aborted"),
            ("( PLAY gb.ticTacToe.1 NIL )", "busy"),
        ],
        [("start", None), ("play", None)],
    ),
    "DR": (
        DR_HEAD,
        [
            (DR_START, "ready"),
            ("(PLAY A_Match NIL)", "( mark 1 2 )"),
            ("(PLAY A_Match ((MARK 1 2) NOOP))", "( mark 1 2 )"),
            ("(STOP A_Match ((MARK 1 3) NOOP))", "done"),
        ],
        [
            ("start", None),
            ("play", None),
            ("play", ("(MARK 1 2)", "NOOP")),
            ("stop", ("(MARK 1 3)", "NOOP")),
        ],
    ),
    "TY, scrambled, initial state terminal": (
        TY_HEAD,
        [
            (
                "( START ty.x.1 hat (( role hat ) ( <= terminal ( not fez ) ) ) 0.5 1.5 more)",
                "ready",
            ),
            ("( STOP ty.x.1 NIL )", "done"),
        ],
        [("start", None), ("stop", None)],
    ),
}


@pytest.mark.parametrize(("head", "dialogue", "calls"), MATCHES.values(), ids=MATCHES.keys())
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_a_match_as_managers_send_it(
    loop: Callable[[], asyncio.AbstractEventLoop],
    head: str,
    dialogue: list[tuple[str, str]],
    calls: list[tuple[str, Moves]],
) -> None:
    async def scenario() -> None:
        async with serving() as client:
            for message, answer in dialogue:
                reply = await client.send(framed(head, message))
                assert (reply.status, reply.text) == (200, answer), message
            assert client.match.calls == calls
            assert client.match.closed == 1
            assert await client.say("( INFO )") == INFO_TEXT

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(scenario())


@pytest.mark.asyncio
async def test_expect_continue() -> None:
    async with serving() as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
        writer.write(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 8\r\n\r\n")
        async with asyncio.timeout(GUARD):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"( INFO )")
            assert parsed(await reader.read()).text == INFO_TEXT
        writer.close()


@pytest.mark.asyncio
async def test_no_length_read_to_the_end_of_the_stream() -> None:
    async with serving(limits=Limits(idle=3600)) as client:
        reply = await client.send(BARE + b"INFO", half_close=True)
        assert reply.text == INFO_TEXT


@pytest.mark.asyncio
async def test_start_in_the_path_of_a_get() -> None:
    async with serving() as client:
        path = "(START%20m%20x%20((role%20x)+(%3C=%20(next%20?f)%20(true%20?f)))%204%202)"
        reply = await client.send(f"GET /{path} HTTP/1.1\r\n\r\n".encode())
        assert reply.text == "ready"
        assert client.match.start_message.rules == "(role x) (<= (next ?f) (true ?f))"


@pytest.mark.asyncio
async def test_a_slow_client_that_sends_byte_by_byte() -> None:
    raw = framed(GB_HEAD, "( INFO )")
    async with serving() as client:
        reply = await client.send(*(bytes([byte]) for byte in raw), pause=0.001)
        assert reply.text == INFO_TEXT


@pytest.mark.asyncio
async def test_a_silent_client_is_cut_off_with_408() -> None:
    async with serving(limits=Limits(read_timeout=0.1)) as client:
        assert (await client.send()).status == 408
        assert (await client.send(b"POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\n(")).status == 408
        assert await client.say("( INFO )") == INFO_TEXT


@pytest.mark.asyncio
async def test_sizes_are_bounded() -> None:
    async with serving(limits=Limits(body=10_000)) as client:
        assert (await client.send(post("(" + " " * 20_000))).status == 413
        assert (await client.send(BARE + b"(" + b" " * 20_000)).status == 413
        assert (await client.send(b"POST / HTTP/1.0\r\nX: " + b"x" * 70_000)).status == 431
        assert await client.say("( INFO )") == INFO_TEXT


def ipv6_works() -> bool:
    """Whether this machine has ::1."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.asyncio
async def test_listens_on_ipv4_and_ipv6_by_default() -> None:
    async with serving(host=None) as client:
        assert (await client.send(post("( INFO )"), host="127.0.0.1")).text == INFO_TEXT
        if not ipv6_works():
            pytest.skip("no IPv6 on this machine")
        assert (await client.send(post("( INFO )"), host="::1")).text == INFO_TEXT


# --- what isn't a message ------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_get_of_the_root_is_for_people() -> None:
    async with serving() as client:
        idle = await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.start("m.1")
        busy = await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.fields["content-type"] == busy.fields["content-type"] == "text/plain"
        assert idle.text.startswith("Tester: a General Game Playing agent, waiting for a match")
        assert "playing match m.1" in busy.text


@pytest.mark.asyncio
async def test_head_has_the_headers_only() -> None:
    async with serving() as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
        writer.write(b"HEAD / HTTP/1.1\r\n\r\n")
        raw = await asyncio.wait_for(reader.read(), GUARD)
        writer.close()
        assert raw.startswith(b"HTTP/1.1 200 ") and raw.endswith(b"\r\n\r\n")


@pytest.mark.asyncio
async def test_options_is_answered_for_browsers() -> None:
    async with serving() as client:
        reply = await client.send(
            b"OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: http://tiltyard.example\r\n"
            b"Access-Control-Request-Method: POST\r\n\r\n"
        )
        assert (reply.status, reply.text) == (200, "")


BROKEN = {
    "unbalanced": (post("( PLAY m"), 400, "message:1:1: unbalanced '('"),
    "closed too often": (post("( INFO ) )"), 400, "unbalanced ')'"),
    "unknown word": (post("( HELLO )"), 400, "unknown message 'HELLO'"),
    "no word": (post("( ( INFO ) )"), 400, "starts with its word"),
    "empty list": (post("()"), 400, "starts with its word"),
    "play without moves": (post("( PLAY m )"), 400, "PLAY needs at least 2 arguments"),
    "start without clocks": (post(f"( START m x {RULES} )"), 400, "START needs at least 5"),
    "clock that is none": (post(f"( START m x {RULES} soon 2 )"), 400, "start clock"),
    "negative clock": (post(f"( START m x {RULES} 4 -2 )"), 400, "play clock"),
    "endless clock": (post(f"( START m x {RULES} inf 2 )"), 400, "start clock"),
    "rules that are none": (post("( START m x rules 4 2 )"), 400, "rules must be a list"),
    "id that is none": (post("( STOP (m) NIL )"), 400, "match id must be one word"),
    "only a comment": (post("; nothing"), 400, "empty message"),
    "nested too deep": (post("(" * 5000 + ")" * 5000), 400, "nested more than"),
    "not ASCII": (post("( spéak )"), 400, r"unknown message 'sp\xe9ak'"),
    "control characters": (post("( \x1b[31mred\x00 )"), 400, r"'\x1b[31mred\x00'"),
    "binary body": (post("\x00\x01\x02"), 400, "unknown message"),
    "no HTTP": (b"( INFO )\r\n\r\n", 400, "not an HTTP request"),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "not an HTTP request"),
    "wrong method": (b"DELETE / HTTP/1.1\r\n\r\n", 405, "method not allowed"),
    "wrong path": (b"GET /favicon.ico HTTP/1.1\r\n\r\n", 400, "unknown message"),
    "bad length": (b"POST / HTTP/1.0\r\nContent-Length: x\r\n\r\n", 400, "Content-Length"),
    "bad chunk": (
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        400,
        "chunk",
    ),
}


@pytest.mark.asyncio
@pytest.mark.parametrize(("raw", "status", "reason"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_request_gets_a_reason_and_the_match_goes_on(
    raw: bytes, status: int, reason: str
) -> None:
    async with serving() as client:
        match = await client.start()
        reply = await client.send(raw)
        assert reply.status == status
        assert reason in reply.text
        assert await client.say("( PLAY m NIL )") == "( mark 1 2 )"
        assert match.closed == 0


@pytest.mark.asyncio
async def test_rules_that_cannot_be_read_leave_the_player_available() -> None:
    async with serving() as client:
        reply = await client.send(post("( START m x ((broken)) 4 2 )"))
        assert (reply.status, reply.text) == (400, "rules:3:14: unbalanced '('")
        assert await client.say("( INFO )") == INFO_TEXT
        assert (await client.start()).calls == [("start", None)]


@settings(max_examples=20, deadline=None)
@given(body=st.binary(max_size=200) | st.text("()INFOPLAYm ;\n", max_size=60).map(str.encode))
def test_random_bodies_never_hang_or_break_the_server(body: bytes) -> None:
    async def scenario() -> None:
        async with serving() as client:
            await client.start()
            head = b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body)
            assert (await client.send(head + body)).status in (200, 400)
            assert await client.say("( PLAY m NIL )") == "( mark 1 2 )"

    asyncio.run(scenario())


# --- one match at a time -------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_busy_while_in_a_match_and_for_any_other() -> None:
    async with serving() as client:
        for message in ("( PLAY m NIL )", "( STOP m NIL )", "( ABORT m )"):
            assert await client.say(message) == "busy"
        match = await client.start("m")
        assert "( status busy )" in await client.say("( INFO )")
        for message in (f"( START other x {RULES} 4 2)", "( PLAY M NIL )", "( STOP other (a b))"):
            assert await client.say(message) == "busy"
        assert await client.say("( ABORT other )") == "busy"
        assert await client.say(f"( PREVIEW {RULES} 2 )") == "ready"
        assert (match.calls, match.closed) == ([("start", None)], 0)
        assert await client.say("( STOP m (a b))") == "done"
        assert await client.say("( INFO )") == INFO_TEXT
        await client.start("other")


@pytest.mark.asyncio
async def test_two_managers_that_start_at_once() -> None:
    async with serving() as client:
        replies = await asyncio.gather(
            *(client.say(f"( START m{number} x {RULES} 4 2)") for number in range(4))
        )
        assert sorted(replies) == ["busy", "busy", "busy", "ready"]
        assert len(client.maker.matches) == 1


@pytest.mark.asyncio
async def test_info_is_answered_while_the_match_thinks() -> None:
    async with serving() as client:
        match = await client.start()
        match.thinking.clear()
        playing = asyncio.create_task(client.say("( PLAY m NIL )"))
        await client.called(2)
        for _ in range(3):
            assert "( status busy )" in await client.say("( INFO )")
        assert not playing.done()
        match.thinking.set()
        assert await playing == "( mark 1 2 )"


@pytest.mark.asyncio
async def test_long_rules_arrive_whole() -> None:
    async with serving() as client:
        assert await client.say(f"( START m x {LONG_RULES} 4 2)") == "ready"
        assert client.match.start_message.rules == LONG_RULES[1:-1]


@pytest.mark.asyncio
async def test_play_that_overtakes_ready_goes_to_the_match_at_once() -> None:
    async with serving() as client:
        client.maker.prepare = lambda match: match.starting.clear()
        starting = asyncio.create_task(client.say(f"( START m x {RULES} 4 2)"))
        await client.called(1)
        assert await client.say("( PLAY m NIL )") == "( mark 1 2 )"
        assert not starting.done()
        client.match.starting.set()
        assert await starting == "ready"


@pytest.mark.asyncio
async def test_messages_for_a_match_that_is_just_being_opened_wait_for_it() -> None:
    async with serving() as client:
        client.maker.opening.clear()
        starting = asyncio.create_task(client.say(f"( START m x {RULES} 4 2)"))
        await until(lambda: client.maker.opened == 1)
        playing = asyncio.create_task(client.say("( PLAY m NIL )"))
        assert "( status busy )" in await client.say("( INFO )")
        await asyncio.sleep(0.05)
        assert not playing.done()
        client.maker.opening.set()
        assert (await starting, await playing) == ("ready", "( mark 1 2 )")


@pytest.mark.asyncio
async def test_start_sent_again_joins_the_first() -> None:
    async with serving() as client:
        client.maker.prepare = lambda match: match.starting.clear()
        both = [asyncio.create_task(client.say(f"( START m x {RULES} 4 2)")) for _ in range(2)]
        await client.called(1)
        assert not any(task.done() for task in both)
        client.match.starting.set()
        assert await asyncio.gather(*both) == ["ready", "ready"]
        assert await client.say("( PLAY m NIL )") == "( mark 1 2 )"
        assert await client.say(f"( START m x {RULES} 4 2)") == "ready"
        assert client.match.calls == [("start", None), ("play", None)]
        assert len(client.maker.matches) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("played", "again"),
    [
        (True, f"( START m x {RULES} 4 2)"),
        (False, f"( START m o {RULES} 4 2)"),
        (False, "( START m x ((role x)) 4 2)"),
        (False, f"( START m x {RULES} 4 3)"),
    ],
)
async def test_a_manager_that_begins_anew_under_the_same_id(played: bool, again: str) -> None:
    async with serving() as client:
        old = await client.start()
        if played:
            await client.say("( PLAY m (a b) )")
        assert await client.say(again) == "ready"
        assert client.match is not old
        assert (old.closed, client.match.closed) == (1, 0)


@pytest.mark.asyncio
async def test_the_same_play_twice_is_one_question() -> None:
    async with serving() as client:
        match = await client.start()
        match.thinking.clear()
        both = [asyncio.create_task(client.say("( PLAY m (a b) )")) for _ in range(2)]
        other = asyncio.create_task(client.say("( PLAY m (a c) )"))
        await client.called(3)
        await asyncio.sleep(0.05)
        match.thinking.set()
        assert await asyncio.gather(*both, other) == ["( mark 1 2 )"] * 3
        played = sorted(moves or () for word, moves in match.calls if word == "play")
        assert played == [("a", "b"), ("a", "c")]
        assert await client.say("( PLAY m (a b) )") == "( mark 1 2 )"
        assert match.calls[-1] == ("play", ("a", "b"))


@pytest.mark.asyncio
@pytest.mark.parametrize("reset", [False, True])
async def test_a_client_that_leaves_does_not_cancel_the_move(reset: bool) -> None:
    async with serving() as client:
        match = await client.start()
        match.thinking.clear()
        _, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
        writer.write(post("( PLAY m NIL )"))
        await client.called(2)
        if reset:
            writer.transport.abort()
        else:
            writer.close()
        await asyncio.sleep(0.05)
        again = asyncio.create_task(client.say("( PLAY m NIL )"))
        await asyncio.sleep(0.05)
        match.thinking.set()
        assert await again == "( mark 1 2 )"
        assert match.calls == [("start", None), ("play", None)]


@pytest.mark.asyncio
async def test_a_joint_move_that_does_not_fit_gets_400() -> None:
    async with serving() as client:
        match = await client.start()
        match.failure = MessageError("PLAY with 3 moves; this game has 2 roles")
        reply = await client.send(post("( PLAY m (a b c) )"))
        assert (reply.status, reply.text) == (400, "PLAY with 3 moves; this game has 2 roles")
        match.failure = None
        assert await client.say("( PLAY m (a b) )") == "( mark 1 2 )"


@pytest.mark.asyncio
async def test_a_failure_in_play_is_logged_and_the_match_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving() as client:
        match = await client.start()
        match.failure = ZeroDivisionError("by nothing")
        reply = await client.send(post("( PLAY m NIL )"))
        assert (reply.status, match.closed) == (500, 0)
        assert "by nothing" not in reply.text
        assert "PLAY m failed" in caplog.text and "ZeroDivisionError: by nothing" in caplog.text
        match.failure = None
        assert await client.say("( PLAY m NIL )") == "( mark 1 2 )"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("failure", "status"), [(MessageError("no such move"), 400), (OSError("broken"), 500)]
)
async def test_stop_ends_the_match_whatever_its_last_move(failure: Exception, status: int) -> None:
    async with serving() as client:
        match = await client.start()
        match.failure = failure
        assert (await client.send(post("( STOP m (a b) )"))).status == status
        assert match.closed == 1
        assert await client.say("( INFO )") == INFO_TEXT


@pytest.mark.asyncio
async def test_abort_frees_those_who_wait() -> None:
    async with serving() as client:
        client.maker.prepare = lambda match: match.starting.clear()
        starting = asyncio.create_task(client.say(f"( START m x {RULES} 4 2)"))
        await client.called(1)
        client.match.thinking.clear()
        playing = asyncio.create_task(client.say("( PLAY m NIL )"))
        await client.called(2)
        assert await client.say("( ABORT m )") == "aborted"
        assert (await starting, await playing) == ("busy", "busy")
        client.maker.prepare = lambda match: None
        await client.start("next")


# --- silence -------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_silent_match_is_dropped_and_a_new_one_accepted() -> None:
    async with serving(silence=0.1, silent_clocks=0) as client:
        match = await client.start("dead")
        await until(lambda: match.closed == 1)
        assert await client.say("( PLAY dead NIL )") == "busy"
        await client.start("alive")


@pytest.mark.asyncio
async def test_long_clocks_lengthen_the_silence() -> None:
    async with serving(silence=0.05, silent_clocks=10) as client:
        slow = await client.start("slow", clocks="4 2")
        await asyncio.sleep(0.2)
        assert slow.closed == 0
        await client.say("( ABORT slow )")
        quick = await client.start("quick", clocks="0 0.001")
        await until(lambda: quick.closed == 1)


@pytest.mark.asyncio
async def test_only_messages_of_the_match_break_its_silence() -> None:
    async with serving() as client:
        await client.start()

        def end_of_patience() -> float:
            current = client.server._keeper._current
            assert current is not None and current.silence_timer is not None
            return current.silence_timer.when()

        before = end_of_patience()
        for message in ("( INFO )", "( PLAY other NIL )", "( ABORT other )", f"( PREVIEW {RULES})"):
            await client.say(message)
        await client.send(post("( START other"))
        assert end_of_patience() == before
        await client.say("( PLAY m NIL )")
        assert end_of_patience() > before


# --- life and death of the server ----------------------------------------------------------------


@pytest.mark.asyncio
async def test_close_ends_everything() -> None:
    async with serving() as client:
        match = await client.start()
        match.thinking.clear()
        playing = asyncio.create_task(client.say("( PLAY m NIL )"))
        await client.called(2)
        reader, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
        writer.write(b"POST / HTTP/1.0\r\n")  # and nothing more
        await asyncio.sleep(0.05)
        await asyncio.wait_for(client.server.close(), GUARD)
        assert await asyncio.wait_for(playing, GUARD) == "busy"
        assert await asyncio.wait_for(reader.read(), GUARD) == b""
        writer.close()
        assert (match.closed, client.maker.closed) == (1, 1)
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", client.server.port)


@pytest.mark.asyncio
async def test_port_in_use_is_one_clear_line() -> None:
    async with serving() as client:
        port = client.server.port
        second = AgentServer(FakeMaker(), name="Second", host="127.0.0.1", port=port)
        for attempt in (lambda: check_address("127.0.0.1", port), second.start):
            with pytest.raises(PlayerError, match=f"port {port} is in use"):
                await attempt()
        await second.close()


@pytest.mark.asyncio
async def test_the_port_is_free_again_after_close() -> None:
    async with serving() as client:
        await client.say("( INFO )")
        port = client.server.port
    again = AgentServer(FakeMaker(), name="Again", host="127.0.0.1", port=port)
    await again.start()
    await again.close()


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_cleanly(
    number: signal.Signals,
    loop: Callable[[], asyncio.AbstractEventLoop],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        maker = FakeMaker()
        server = AgentServer(maker, name="Tester", host="127.0.0.1", port=0)
        running = asyncio.create_task(serve_until_signal(server))
        await until(lambda: server.port != 0)
        client = Client(server, maker)
        await client.start()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(running, GUARD)
        assert (client.match.closed, maker.closed) == (1, 1)
        assert f"Tester is ready on port {server.port}" in caplog.text

    with caplog.at_level(logging.INFO), asyncio.Runner(loop_factory=loop) as runner:
        runner.run(scenario())


@pytest.mark.asyncio
async def test_each_message_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "ggp_agent.player.server"):
        async with serving() as client:
            await client.start("m")
            await client.say("( PLAY m NIL )")
            await client.say("( INFO )")
    lines = [(r.levelname, r.getMessage()) for r in caplog.records if "answered" in r.getMessage()]
    assert [level for level, _ in lines] == ["INFO", "INFO", "DEBUG"]
    assert lines[1][1].startswith("PLAY m answered in 0.")
    assert lines[1][1].endswith(" s: ( mark 1 2 )")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "symbol"), [("My (best) player;1", "My__best__player_1"), ("é", "_"), ("", "agent")]
)
async def test_the_name_is_one_symbol(name: str, symbol: str) -> None:
    async with serving(name=name) as client:
        assert f"( name {symbol} )" in await client.say("( INFO )")


class TestClocks:
    """They run from the first byte of a request, however slowly the rest comes."""

    def test_a_start_that_comes_slowly(self) -> None:
        async def session() -> None:
            async with serving() as client:
                request = post(f"( START m x {RULES} 4 2)")
                before = time.monotonic()
                sending = asyncio.create_task(client.send(request[:1], request[1:], pause=0.4))
                await until(lambda: bool(client.maker.matches))
                handed_over = time.monotonic()
                assert (await sending).text == "ready"
                (came,) = client.match.came
                assert before <= came <= handed_over - 0.35

        asyncio.run(session())

    def test_a_play_that_comes_slowly(self) -> None:
        async def session() -> None:
            async with serving() as client:
                await client.start()
                request = post("( PLAY m NIL )")
                parts = [request[:1], request[1:25], request[25:-3], request[-3:]]
                before = time.monotonic()
                sending = asyncio.create_task(client.send(*parts, pause=0.2))
                await client.called(2)
                handed_over = time.monotonic()
                assert (await sending).text == "( mark 1 2 )"
                assert before <= client.match.came[1] <= handed_over - 0.55

        asyncio.run(session())

    def test_a_play_that_waits_for_its_start_to_be_opened(self) -> None:
        """Its clock runs meanwhile."""

        async def session() -> None:
            async with serving() as client:
                client.maker.opening.clear()
                starting = asyncio.create_task(client.say(f"( START m x {RULES} 4 2)"))
                await until(lambda: client.maker.opened == 1)
                playing = asyncio.create_task(client.say("( PLAY m NIL )"))
                await asyncio.sleep(0.3)
                opened = time.monotonic()
                client.maker.opening.set()
                assert await playing == "( mark 1 2 )"
                assert client.match.came[1] <= opened - 0.2
                await starting

        asyncio.run(session())
