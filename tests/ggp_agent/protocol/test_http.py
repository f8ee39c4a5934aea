"""The lenient HTTP front: when a request is whole, what aiohttp gets, what is refused."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from ggp_agent.errors import PlayerError, RequestError
from ggp_agent.protocol.gateway import Gateway, bind
from ggp_agent.protocol.http_requests import Limits, RequestReader

GUARD = 20.0
"""Seconds after which a test counts as hanging."""

CAFE = "( PLAY café NIL )"


def post(body: bytes, *, length: int | None = None) -> bytes:
    """A well-formed POST, but for its Content-Length."""
    count = len(body) if length is None else length
    return b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (count, body)


def clean(reader: RequestReader) -> tuple[str, bytes]:
    """First line and body of what aiohttp would get; the rest of the head is checked here."""
    head, _, body = reader.clean_request().partition(b"\r\n\r\n")
    line, *fields = head.decode("ascii").split("\r\n")
    assert fields == ["Host: agent", "Connection: close", f"Content-Length: {len(body)}"]
    return line, body


WHOLE = {
    "http 1.0": (post(b"( INFO )"), "POST / HTTP/1.0", b"( INFO )"),
    "http 1.1": (
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n( INFO )",
        "POST / HTTP/1.1",
        b"( INFO )",
    ),
    "lone line feeds": (
        b"POST / HTTP/1.0\nContent-Length: 8\n\n( INFO )",
        "POST / HTTP/1.0",
        b"( INFO )",
    ),
    "no path": (
        b"POST HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )",
        "POST / HTTP/1.0",
        b"( INFO )",
    ),
    "no path, two blanks": (
        b"POST  HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )",
        "POST / HTTP/1.0",
        b"( INFO )",
    ),
    "no path, no headers": (b"POST HTTP/1.0\r\n\r\n( INFO )", "POST / HTTP/1.0", b"( INFO )"),
    "blank lines first": (b"\r\n\n" + post(b"( INFO )"), "POST / HTTP/1.0", b"( INFO )"),
    "odd case": (
        b"post / http/1.0\r\ncOnTeNt-LeNgTh:8\r\n\r\n( INFO )",
        "POST / HTTP/1.0",
        b"( INFO )",
    ),
    "a header that is none": (
        b"POST / HTTP/1.0\r\nrubbish\r\n: x\r\nContent-Length: 8\r\n\r\n( INFO )",
        "POST / HTTP/1.0",
        b"( INFO )",
    ),
    "whole address as target": (
        b"POST http://[::1]:9147/a HTTP/1.0\r\n\r\n( INFO )",
        "POST /a HTTP/1.0",
        b"( INFO )",
    ),
    "balanced without a length": (
        b"POST / HTTP/1.0\r\n\r\n( STOP m ; ) not yet\n (a b) )",
        "POST / HTTP/1.0",
        b"( STOP m ; ) not yet\n (a b) )",
    ),
    "upgrade and compression are not passed on": (
        b"POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Content-Encoding: gzip\r\nContent-Length: 8\r\n\r\n( INFO )",
        "POST / HTTP/1.1",
        b"( INFO )",
    ),
    "length zero": (post(b""), "POST / HTTP/1.0", b""),
    "counted in bytes": (post(CAFE.encode()), "POST / HTTP/1.0", CAFE.encode()),
    "counted in characters": (
        post(CAFE.encode(), length=len(CAFE)),
        "POST / HTTP/1.0",
        CAFE.encode(),
    ),
    "counted in characters, another script": (
        post("( PLAY m ((мат 1) 中文))".encode(), length=23),
        "POST / HTTP/1.0",
        "( PLAY m ((мат 1) 中文))".encode(),
    ),
    "chunked": (
        b"POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\n( I\r\n05\nNFO )\n0\r\n",
        "POST / HTTP/1.1",
        b"( INFO )",
    ),
    "get": (b"GET /%28+INFO+%29 HTTP/1.1\r\n\r\n", "GET /%28+INFO+%29 HTTP/1.1", b""),
    "get with raw blanks": (b"GET /( INFO ) HTTP/1.1\r\n\r\n", "GET /(%20INFO%20) HTTP/1.1", b""),
    "get with raw bytes": (
        b"GET /\xff#\x01[ HTTP/1.1\r\n\r\n",
        "GET /%FF%23%01%5B HTTP/1.1",
        b"",
    ),
    "options": (b"OPTIONS * HTTP/1.1\r\n\r\n", "OPTIONS /* HTTP/1.1", b""),
}


@pytest.mark.parametrize(("raw", "line", "body"), WHOLE.values(), ids=WHOLE.keys())
def test_a_request_is_whole_with_its_last_byte_however_it_is_cut(
    raw: bytes, line: str, body: bytes
) -> None:
    for cut in range(1, len(raw)):
        reader = RequestReader(Limits())
        reader.feed(raw[:cut])
        assert not reader.whole, raw[:cut]
        reader.feed(raw[cut:])
        assert reader.whole
        assert clean(reader) == (line, body)


@pytest.mark.parametrize(("raw", "line", "body"), WHOLE.values(), ids=WHOLE.keys())
def test_a_request_is_whole_byte_by_byte(raw: bytes, line: str, body: bytes) -> None:
    reader = RequestReader(Limits())
    for byte in raw:
        assert not reader.whole
        reader.feed(bytes([byte]))
    assert clean(reader) == (line, body)


def test_what_follows_the_counted_body_is_cut_off() -> None:
    reader = RequestReader(Limits())
    reader.feed(post(b"( INFO )") + b"\nPOST / HTTP/1.0\r\n\r\n")
    assert clean(reader) == ("POST / HTTP/1.0", b"( INFO )")


UNSURE = {
    "no length, empty": (b"POST / HTTP/1.0\r\n\r\n", True),
    "no length, blanks": (b"POST / HTTP/1.0\r\n\r\n \n", True),
    "no length, a bare word": (b"POST / HTTP/1.0\r\n\r\nINFO", True),
    "no length, only a comment": (b"POST / HTTP/1.0\r\n\r\n; (", True),
    "no length, list open": (b"POST / HTTP/1.0\r\n\r\n( PLAY m", False),
    "no length, closed in a comment": (b"POST / HTTP/1.0\r\n\r\n( PLAY m ; )", False),
    "long enough, not ASCII, list open": (post("( café".encode()), True),
    "length too great, but balanced": (post(b"( INFO )", length=12), True),
    "length too great, list open": (post(b"( INFO ", length=12), False),
    "half a chunk": (
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n( INFO )",
        False,
    ),
    "half a head": (b"POST / HTTP/1.0\r\nContent-", False),
}


@pytest.mark.parametrize(("raw", "settled"), UNSURE.values(), ids=UNSURE.keys())
def test_a_request_that_may_go_on(raw: bytes, settled: bool) -> None:
    reader = RequestReader(Limits())
    reader.feed(raw)
    assert not reader.whole
    assert reader.settled is settled


REFUSED = {
    "binary": (b"\x16\x03\x01\x02\x00\x01", 400),
    "no request line": (b"( INFO )\r\n", 400),
    "words": (b"hello there\r\n", 400),
    "http 0.9": (b"GET /\r\n", 400),
    "unknown method": (b"BREW / HTTP/1.1\r\n", 405),
    "method not for us": (b"DELETE / HTTP/1.1\r\n", 405),
    "length that is none": (b"POST / HTTP/1.0\r\nContent-Length: -1\r\n\r\n", 400),
    "endless length": (b"POST / HTTP/1.0\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
    "length too great": (b"POST / HTTP/1.0\r\nContent-Length: 1001\r\n\r\n", 413),
    "body too long": (b"POST / HTTP/1.0\r\n\r\n(" + b" " * 1000, 413),
    "head too long": (b"POST / HTTP/1.0\r\nX: " + b"x" * 9000, 431),
    "whole head too long": (b"POST / HTTP/1.0\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431),
    "first line too long": (b"GET /" + b"x" * 9000, 431),
    "chunk size": (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
    "negative chunk": (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
    "endless chunk line": (
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 2000,
        400,
    ),
    "chunk longer than said": (
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n",
        400,
    ),
    "chunks too long": (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413),
}


@pytest.mark.parametrize(("raw", "status"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_requests(raw: bytes, status: int) -> None:
    reader = RequestReader(Limits(head=8192, body=1000))
    with pytest.raises(RequestError) as caught:
        reader.feed(raw)
    assert caught.value.status == status
    assert "\n" not in str(caught.value)


def test_half_a_head_is_no_request() -> None:
    reader = RequestReader(Limits())
    reader.feed(b"POST / HTTP/1.0\r\nContent-Length: 8\r\n")
    with pytest.raises(RequestError, match="before its headers did"):
        reader.clean_request()


PIECES = st.lists(
    st.sampled_from([b"(", b")", b"; x", b"\r", b"\n", b"\r\n", b"a b", "é".encode(), b"( PLAY m"])
)


@given(pieces=PIECES, cuts=st.lists(st.integers(0, 200)))
def test_comments_and_parentheses_are_counted_alike_however_cut(
    pieces: list[bytes], cuts: list[int]
) -> None:
    body = b"".join(pieces)
    depth, in_comment, any_list = 0, False, False
    for byte in body:
        if byte in b"\r\n":
            in_comment = False
        elif byte in b";":
            in_comment = True
        elif not in_comment and byte in b"()":
            depth += 1 if byte in b"(" else -1
            any_list = any_list or byte in b"("
    reader = RequestReader(Limits())
    reader.feed(b"POST / HTTP/1.0\r\n\r\n")
    edges = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    for start, end in pairwise(edges):
        reader.feed(body[start:end])
    assert reader.settled == (depth <= 0)
    assert reader.whole == (any_list and depth <= 0)


# --- over a socket ---------------------------------------------------------------------------


@asynccontextmanager
async def echoing(limits: Limits) -> AsyncIterator[int]:
    """The port of a gateway whose aiohttp server replies with the request as it saw it."""

    async def echo(request: web.BaseRequest) -> web.Response:
        body = await request.content.read()
        return web.json_response([request.method, request.raw_path, len(body)])

    server = web.Server(echo, access_log=None)
    gateway = Gateway(server, refusal_headers={"X-Refused-By": "gateway"}, limits=limits)
    sockets = await bind("127.0.0.1", 0)
    await gateway.listen(sockets)
    try:
        yield sockets[0].getsockname()[1]
    finally:
        await server.shutdown(0.5)
        await gateway.close()
        assert not gateway.connections


@dataclass
class Reply:
    """A reply taken apart; reading it to its end shows that the server closed."""

    status: int
    fields: dict[str, str]
    body: bytes


async def exchange(port: int, *parts: bytes, pause: float = 0.0, half_close: bool = False) -> Reply:
    """Send a request in parts, and read the reply until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        if half_close:
            writer.write_eof()
        raw = await asyncio.wait_for(reader.read(), GUARD)
    finally:
        writer.close()
    head, _, body = raw.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("ascii").split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    assert int(fields["Content-Length"]) == len(body)
    return Reply(int(status_line.split()[1]), fields, body)


@pytest.mark.asyncio
async def test_a_request_goes_through() -> None:
    async with echoing(Limits()) as port:
        reply = await exchange(port, post(b"( INFO )"))
    assert reply.status == 200
    assert json.loads(reply.body) == ["POST", "/", 8]


@pytest.mark.asyncio
async def test_a_big_body_goes_through() -> None:
    size = 3_000_000
    async with echoing(Limits()) as port:
        reply = await exchange(port, post(b"(" + b"x " * (size // 2 - 1) + b")"))
    assert json.loads(reply.body) == ["POST", "/", size]


@pytest.mark.asyncio
async def test_half_close_ends_a_body_without_length() -> None:
    async with echoing(Limits(idle=3600)) as port:
        reply = await exchange(port, b"POST / HTTP/1.0\r\n\r\n( INFO", half_close=True)
    assert json.loads(reply.body) == ["POST", "/", 6]


@pytest.mark.asyncio
async def test_idle_time_ends_an_empty_body_without_length() -> None:
    async with echoing(Limits(idle=0.05)) as port:
        reply = await exchange(port, b"POST / HTTP/1.0\r\n\r\n")
    assert json.loads(reply.body) == ["POST", "/", 0]


@pytest.mark.asyncio
async def test_idle_time_ends_a_broken_body_of_doubtful_length() -> None:
    body = "( PLAY café".encode()
    async with echoing(Limits(idle=0.05)) as port:
        reply = await exchange(port, post(body))
    assert json.loads(reply.body) == ["POST", "/", len(body)]


@pytest.mark.asyncio
async def test_continue_is_sent_to_who_waits_for_it() -> None:
    head = b"POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 8\r\n\r\n"
    async with echoing(Limits()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        interim = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), GUARD)
        writer.write(b"( INFO )")
        final = await asyncio.wait_for(reader.read(), GUARD)
        writer.close()
    assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert final.startswith(b"HTTP/1.1 200 ")


@pytest.mark.asyncio
async def test_continue_is_not_sent_to_who_does_not_wait() -> None:
    head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 8\r\n\r\n"
    async with echoing(Limits()) as port:
        reply = await exchange(port, head + b"( INFO )")
    assert reply.status == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("sent", [b"", b"POST", b"POST / HTTP/1.0\r\nX", post(b"( INFO", length=9)])
async def test_a_request_that_stops_is_refused_in_time(sent: bytes) -> None:
    async with echoing(Limits(read_timeout=0.1)) as port:
        reply = await exchange(port, sent)
    assert reply.status == 408
    assert reply.fields["X-Refused-By"] == "gateway"
    assert reply.body == b"the request did not arrive in time"


@pytest.mark.asyncio
async def test_a_client_that_sends_for_ever_is_refused_in_time() -> None:
    async with echoing(Limits(read_timeout=0.2)) as port:
        reply = await exchange(port, *[b"POST / HTTP/1.0\r\n", *([b"x"] * 20)], pause=0.02)
    assert reply.status == 408


@pytest.mark.asyncio
async def test_the_refusal_of_a_long_body_arrives_while_the_client_still_sends() -> None:
    body = b"(" + b" " * 2_000_000
    async with echoing(Limits(body=1000)) as port:
        counted = await exchange(port, post(body))
        uncounted = await exchange(port, b"POST / HTTP/1.0\r\n\r\n" + body)
    assert (counted.status, uncounted.status) == (413, 413)


@pytest.mark.asyncio
async def test_half_a_head_and_garbage_get_400() -> None:
    async with echoing(Limits()) as port:
        half = await exchange(port, b"POST / HTTP/1.0\r\nContent-Le", half_close=True)
        garbage = await exchange(port, b"\x00\xff\x00\xff")
    assert (half.status, garbage.status) == (400, 400)


@pytest.mark.asyncio
async def test_a_connection_without_a_request_is_just_closed() -> None:
    async with echoing(Limits()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(), GUARD) == b""
        writer.close()


@pytest.mark.asyncio
async def test_bytes_behind_the_body_do_not_cost_the_reply() -> None:
    async with echoing(Limits()) as port:
        for _ in range(20):
            reply = await exchange(port, post(b"( INFO )"), b"\n", b"\r\n" * 10)
            assert reply.status == 200


@settings(max_examples=25, deadline=None)
@given(data=st.binary(max_size=300), prefix=st.sampled_from([b"", b"POST / HTTP/1.1\r\n", b"GET "]))
def test_random_bytes_neither_hang_nor_break_the_front(data: bytes, prefix: bytes) -> None:
    troubles: list[str] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: troubles.append(str(context)))
        async with echoing(Limits(read_timeout=5, idle=0.02)) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(prefix + data)
            writer.write_eof()
            await asyncio.wait_for(reader.read(), GUARD)
            writer.close()
            assert (await exchange(port, post(b"( INFO )"))).status == 200

    asyncio.run(scenario())
    assert troubles == []


# --- listening -------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_bind_takes_one_port_for_all_families() -> None:
    sockets = await bind(None, 0)
    try:
        assert sockets[0].family == socket.AF_INET
        assert len({sock.getsockname()[1] for sock in sockets}) == 1
    finally:
        for sock in sockets:
            sock.close()


@pytest.mark.asyncio
async def test_bind_does_without_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.socket

    def without_ipv6(family: int, kind: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(97, "Address family not supported by protocol")
        return real(family, kind)

    monkeypatch.setattr("ggp_agent.protocol.gateway.socket.socket", without_ipv6)
    (only,) = await bind(None, 0)
    assert only.family == socket.AF_INET
    only.close()


@pytest.mark.asyncio
async def test_a_port_in_use_is_one_clear_line() -> None:
    (taken,) = await bind("127.0.0.1", 0)
    port = taken.getsockname()[1]
    try:
        for host in ("127.0.0.1", None):
            with pytest.raises(PlayerError, match=rf"^port {port} is in use .*choose another port"):
                await bind(host, port)
    finally:
        taken.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("host", "port", "reason"),
    [
        ("127.0.0.1", 70000, "port 70000 does not exist"),
        ("x" * 300, 0, "cannot listen on host"),
        ("192.0.2.1", 0, "not on this machine"),
    ],
)
async def test_a_place_that_cannot_be_had(host: str, port: int, reason: str) -> None:
    with pytest.raises(PlayerError, match=reason):
        await bind(host, port)
