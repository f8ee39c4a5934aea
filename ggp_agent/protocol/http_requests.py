"""Lenient reading of HTTP requests, without I/O: real managers' bytes become a clean request.

Managers speak HTTP loosely: no Host, no path, bare LF line ends, a Content-Length that counts
characters while the body is UTF-8, or none at all.  `RequestReader` collects the bytes of one
request, says when it is whole, and gives an equivalent request that is beyond reproach.

Only the method, the target and the body go into it: a message of the GDL protocol has nothing
to say in headers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_from_bytes

from ggp_agent.errors import RequestError
from ggp_agent.protocol.http_bodies import Body, OpenBody, body_for, body_too_long

METHODS = ("GET", "HEAD", "OPTIONS", "POST")

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_VERSION = re.compile(rb"HTTP/\d\.\d", re.IGNORECASE)
_SAFE_IN_TARGET = "/%?&=+()!*',:;@$~"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much, in bytes, and how long, in seconds, one request may take."""

    head: int = 64 * 1024
    body: int = 4 * 1024 * 1024
    read_timeout: float = 30.0
    """From the connection to the last byte of the request."""
    idle: float = 1.0
    """A request that may be whole, or may go on, is taken as whole after this silence."""


@dataclass(frozen=True, slots=True)
class _Head:
    method: str
    target: str
    version: str
    expects_continue: bool


class RequestReader:
    """Collects the bytes of one request; no I/O.

    `feed` raises `RequestError` for what can't become a request.  Once it is `whole`, or once it
    is clear that no more will come, `clean_request` is what aiohttp gets.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffer = bytearray()  # the head, until it is whole
        self._head: _Head | None = None
        self._body: Body = OpenBody()

    def feed(self, data: bytes) -> None:
        """Take the next bytes off the connection."""
        if self._head is not None:
            self._body.feed(data)
        else:
            self._feed_head(data)
        if self._body.size > self._limits.body:
            raise body_too_long(self._limits.body)

    @property
    def empty(self) -> bool:
        """Whether nothing but line ends has come so far."""
        return self._head is None and not self._buffer

    @property
    def whole(self) -> bool:
        """Whether the request is complete."""
        return self._head is not None and self._body.whole

    @property
    def settled(self) -> bool:
        """Whether the request can be taken as complete if nothing comes for a moment."""
        return self._head is not None and self._body.settled

    @property
    def awaits_continue(self) -> bool:
        """Whether the client holds the body back until it is told `100 Continue`."""
        return self._head is not None and self._head.expects_continue and not self._body.size

    def clean_request(self) -> bytes:
        """What came so far as a faultless request.  Raises `RequestError` for half a head."""
        if self._head is None:
            raise RequestError(400, "the request ended before its headers did")
        body = self._body.content
        head = (
            f"{self._head.method} {self._head.target} {self._head.version}\r\n"
            f"Host: agent\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode("ascii") + body

    def _feed_head(self, data: bytes) -> None:
        if not self._buffer:
            data = data.lstrip(b"\r\n")
        searched = max(0, len(self._buffer) - 3)
        self._buffer += data
        self._check_first_line()
        end = _HEAD_END.search(self._buffer, searched)
        if (end.start() if end else len(self._buffer)) > self._limits.head:
            raise RequestError(431, f"the headers are longer than {self._limits.head} bytes")
        if end is None:
            return
        lines = bytes(self._buffer[: end.start()]).split(b"\n")
        rest = bytes(self._buffer[end.end() :])
        self._buffer.clear()
        fields = _header_fields(lines[1:])
        method, target, version = _request_line(lines[0])
        expects_continue = fields.get(b"expect", b"").lower() == b"100-continue"
        self._head = _Head(method, target, version, expects_continue and version == "HTTP/1.1")
        self._body = body_for(method, fields, self._limits.body)
        self._body.feed(rest)

    def _check_first_line(self) -> None:
        """Refuse what isn't HTTP as soon as that shows, rather than when time is up."""
        if self._buffer and not self._buffer[:1].isalpha():
            raise RequestError(400, "this is not an HTTP request")
        line_end = self._buffer.find(b"\n", 0, self._limits.head)
        if line_end >= 0:
            _request_line(bytes(self._buffer[:line_end]))


def _request_line(line: bytes) -> tuple[str, str, str]:
    """Method, target and version of a request line that may lack the target."""
    words = line.split()
    if len(words) < 2 or not _VERSION.fullmatch(words[-1]):
        raise RequestError(400, "this is not an HTTP request; it starts like POST / HTTP/1.0")
    method = words[0].decode("ascii", "replace").upper()
    if method not in METHODS:
        raise RequestError(405, f"method not allowed; use one of {', '.join(METHODS)}")
    version = "HTTP/1.0" if words[-1][5:] < b"1.1" else "HTTP/1.1"
    return method, _origin_form(b" ".join(words[1:-1])), version


def _origin_form(target: bytes) -> str:
    """A target as `/path?query`, without a host, in characters that need no further care."""
    if target[:7].lower() == b"http://":
        target = target[7:].partition(b"/")[2]
    quoted = quote_from_bytes(target, safe=_SAFE_IN_TARGET)
    return quoted if quoted.startswith("/") else "/" + quoted


def _header_fields(lines: list[bytes]) -> dict[bytes, bytes]:
    """Header fields by lower-case name; what is no field is passed over."""
    fields = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if colon:
            fields[name.strip().lower()] = value.strip()
    return fields
