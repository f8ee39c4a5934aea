"""Lenient reading of HTTP requests, without I/O: real managers' bytes become a clean request.

Managers speak HTTP loosely: no Host, no path, bare LF line ends, a Content-Length that counts
characters while the body is UTF-8, or none at all.  `RequestReader` collects the bytes of one
request, says when it is whole, and gives an equivalent request that is beyond reproach.

Only the method, the target and the body go into it: a message of the GDL protocol has nothing
to say in headers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote_from_bytes

from gdl.errors import GgpError

METHODS = ("GET", "HEAD", "OPTIONS", "POST")

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_VERSION = re.compile(rb"HTTP/\d\.\d", re.IGNORECASE)
_LENGTH = re.compile(rb"\d{1,15}")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_COMMENT = re.compile(rb";[^\r\n]*")
_MAX_CHUNK_LINE = 1024
_SAFE_IN_TARGET = "/%?&=+()!*',:;@$~"


class RequestError(GgpError):
    """A request that aiohttp never gets to see; `status` is the HTTP status to refuse it with."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Limits:
    """How much, in bytes, and how long, in seconds, one request may take."""

    head: int = 64 * 1024
    body: int = 4 * 1024 * 1024
    read_timeout: float = 30.0
    """From the connection to the last byte of the request."""
    idle: float = 1.0
    """A request that may be whole, or may go on, is taken as whole after this silence."""


class _OpenBody:
    """A body of unknown length: whole when its parentheses are balanced outside comments."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._depth = 0
        self._any_list = False
        self._in_comment = False

    def feed(self, data: bytes) -> None:
        self._data += data
        if self._in_comment:
            data = b";" + data
        code = _COMMENT.sub(b"", data)
        opened = code.count(b"(")
        self._depth += opened - code.count(b")")
        self._any_list = self._any_list or opened > 0
        last_line = data[max(data.rfind(b"\n"), data.rfind(b"\r")) + 1 :]
        self._in_comment = b";" in last_line

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def content(self) -> bytes:
        return bytes(self._data)

    @property
    def balanced(self) -> bool:
        return self._any_list and self._depth <= 0

    @property
    def whole(self) -> bool:
        """Nothing more has to come."""
        return self.balanced

    @property
    def settled(self) -> bool:
        """Nothing more has to come if nothing comes for a moment: empty, or a bare `INFO`."""
        return self._depth <= 0


class _CountedBody(_OpenBody):
    """A body with a Content-Length, in bytes as it should be, or in characters of UTF-8.

    The two differ only where the first `length` bytes are not all ASCII; there the parentheses
    decide.
    """

    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    @property
    def content(self) -> bytes:
        counted = bytes(self._data[: self._length])
        return counted if counted.isascii() else bytes(self._data)

    @property
    def whole(self) -> bool:
        return self._enough and (self.balanced or self._data[: self._length].isascii())

    @property
    def settled(self) -> bool:
        return self._enough or self.balanced

    @property
    def _enough(self) -> bool:
        return len(self._data) >= self._length


class _ChunkedBody:
    """A body in HTTP/1.1's chunked coding."""

    settled = False

    def __init__(self, limit: int) -> None:
        self._raw = bytearray()
        self._data = bytearray()
        self._limit = limit
        self.whole = False

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def content(self) -> bytes:
        return bytes(self._data)

    def feed(self, data: bytes) -> None:
        self._raw += data
        while self._take_chunk():
            pass

    def _take_chunk(self) -> bool:
        """Move one chunk from the raw bytes to the content; False when there is none."""
        size_end = self._raw.find(b"\n", 0, _MAX_CHUNK_LINE)
        if size_end < 0:
            if len(self._raw) >= _MAX_CHUNK_LINE:
                raise RequestError(400, "the size line of a chunk is too long")
            return False
        size_text = self._raw[:size_end].partition(b";")[0].strip()
        if not _CHUNK_SIZE.fullmatch(size_text):
            raise RequestError(400, "a chunk does not start with its size in hexadecimal")
        size = int(size_text, 16)
        if size == 0:
            self.whole = True  # trailers may follow; they say nothing to us
            return False
        if len(self._data) + size > self._limit:
            raise _body_too_long(self._limit)
        start, end = size_end + 1, size_end + 1 + size
        line_end = self._raw.find(b"\n", end, end + 2)
        if line_end < 0:
            if len(self._raw) >= end + 2:
                raise RequestError(400, "a chunk is longer than its size says")
            return False
        self._data += self._raw[start:end]
        del self._raw[: line_end + 1]
        return True


_Body = _OpenBody | _CountedBody | _ChunkedBody


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
        self._body: _Body = _OpenBody()

    def feed(self, data: bytes) -> None:
        """Take the next bytes off the connection."""
        if self._head is not None:
            self._body.feed(data)
        else:
            self._feed_head(data)
        if self._body.size > self._limits.body:
            raise _body_too_long(self._limits.body)

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
        self._body = _body_for(method, fields, self._limits.body)
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


def _body_for(method: str, fields: Mapping[bytes, bytes], limit: int) -> _Body:
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        return _ChunkedBody(limit)
    length = fields.get(b"content-length")
    if length is None:
        return _OpenBody() if method == "POST" else _CountedBody(0)
    if not _LENGTH.fullmatch(length):
        raise RequestError(400, "the Content-Length is not a number of bytes")
    if int(length) > limit:
        raise _body_too_long(limit)
    return _CountedBody(int(length))


def _body_too_long(limit: int) -> RequestError:
    return RequestError(413, f"the message is longer than {limit} bytes")
