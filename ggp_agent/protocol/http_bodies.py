"""The body of an HTTP request as it comes in: when it is whole, and what is in it; no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ggp_agent.errors import RequestError

_LENGTH = re.compile(rb"\d{1,15}")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_COMMENT = re.compile(rb";[^\r\n]*")
_MAX_CHUNK_LINE = 1024


class OpenBody:
    """A body of unknown length: whole when its parentheses are balanced outside comments."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._depth = 0
        self._any_list = False
        self._in_comment = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
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
        """How many bytes have come."""
        return len(self._data)

    @property
    def content(self) -> bytes:
        """What counts of the bytes."""
        return bytes(self._data)

    @property
    def balanced(self) -> bool:
        """Whether there is a list, and every list is closed."""
        return self._any_list and self._depth <= 0

    @property
    def whole(self) -> bool:
        """Nothing more has to come."""
        return self.balanced

    @property
    def settled(self) -> bool:
        """Nothing more has to come if nothing comes for a moment: empty, or a bare `INFO`."""
        return self._depth <= 0


class CountedBody(OpenBody):
    """A body with a Content-Length, in bytes as it should be, or in characters of UTF-8.

    The two differ only where the first `length` bytes are not all ASCII; there the parentheses
    decide.
    """

    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    @property
    def content(self) -> bytes:
        """See `OpenBody`."""
        counted = bytes(self._data[: self._length])
        return counted if counted.isascii() else bytes(self._data)

    @property
    def whole(self) -> bool:
        """See `OpenBody`."""
        return self._enough and (self.balanced or self._data[: self._length].isascii())

    @property
    def settled(self) -> bool:
        """See `OpenBody`."""
        return self._enough or self.balanced

    @property
    def _enough(self) -> bool:
        return len(self._data) >= self._length


class ChunkedBody:
    """A body in HTTP/1.1's chunked coding."""

    settled = False

    def __init__(self, limit: int) -> None:
        self._raw = bytearray()
        self._data = bytearray()
        self._limit = limit
        self.whole = False

    @property
    def size(self) -> int:
        """See `OpenBody`."""
        return len(self._data)

    @property
    def content(self) -> bytes:
        """See `OpenBody`."""
        return bytes(self._data)

    def feed(self, data: bytes) -> None:
        """See `OpenBody`."""
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
            raise body_too_long(self._limit)
        start, end = size_end + 1, size_end + 1 + size
        line_end = self._raw.find(b"\n", end, end + 2)
        if line_end < 0:
            if len(self._raw) >= end + 2:
                raise RequestError(400, "a chunk is longer than its size says")
            return False
        self._data += self._raw[start:end]
        del self._raw[: line_end + 1]
        return True


Body = OpenBody | CountedBody | ChunkedBody


def body_for(method: str, fields: Mapping[bytes, bytes], limit: int) -> Body:
    """The body that a request's method and header fields announce, of at most `limit` bytes.

    Raises `RequestError`.
    """
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        return ChunkedBody(limit)
    length = fields.get(b"content-length")
    if length is None:
        return OpenBody() if method == "POST" else CountedBody(0)
    if not _LENGTH.fullmatch(length):
        raise RequestError(400, "the Content-Length is not a number of bytes")
    if int(length) > limit:
        raise body_too_long(limit)
    return CountedBody(int(length))


def body_too_long(limit: int) -> RequestError:
    """The refusal of a body of more than `limit` bytes."""
    return RequestError(413, f"the message is longer than {limit} bytes")
