"""A capture: what a server answered to one request, and when."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from io import BytesIO
from typing import Any, Final

from fastwarc.stream_io import BrotliReader, ChunkedReader, GzipReader, ZstdReader

Headers = tuple[tuple[str, str], ...]

# What a crawl takes of a page (DOWNLOAD_MAXSIZE), packed and unpacked.
MAX_BYTES: Final = 8 * 1024 * 1024
# Servers pack once, a proxy before them maybe once more.
_MAX_CODINGS = 2
_UNPACKERS: Final[dict[str, Callable[[BytesIO], Any]]] = {
    "gzip": GzipReader,
    "x-gzip": GzipReader,
    "deflate": partial(GzipReader, zlib=True),
    "br": BrotliReader,
    "zstd": ZstdReader,
    "chunked": ChunkedReader,
}
_CHUNK = 256 * 1024


class ArchiveError(ValueError):
    """An archive that can't be read or written as asked: one line that says why."""


class ContentError(ArchiveError):
    """A body that can't be unpacked, or only to more than is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A response as it came: `body` is still packed as `headers` say.

    `url` is without a fragment, `fetched_at` aware, `status` the HTTP status. `request` are the
    request's headers where they are known. Headers are their bytes read as Latin-1.
    """

    url: str
    fetched_at: datetime
    status: int
    headers: Headers
    body: bytes
    method: str = "GET"
    request: Headers = ()
    ip_address: str | None = None

    def header(self, name: str) -> str:
        """The first header of the name (in small letters), or an empty text."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def media_type(self) -> str:
        """The content's type without parameters, in small letters; empty where none is told."""
        return self.header("content-type").partition(";")[0].strip().lower()


def content_of(capture: Capture, *, limit: int = MAX_BYTES) -> bytes:
    """The body unpacked, at most `limit` bytes; raises ContentError for more, and for damage.

    Archives exist that unpacked a body and left its header: what isn't packed is returned as
    it is.
    """
    codings = [*_codings(capture, "content-encoding"), *_codings(capture, "transfer-encoding")]
    if len(codings) > _MAX_CODINGS:
        raise ContentError(f"{capture.url} is packed {len(codings)} times")
    body = capture.body
    for coding in reversed(codings):
        body = _unpacked(body, coding, limit)
    if len(body) > limit:
        raise ContentError(f"{capture.url} holds more than {limit} bytes")
    return body


def _codings(capture: Capture, name: str) -> list[str]:
    named = (coding.strip().lower() for coding in capture.header(name).split(","))
    return [coding for coding in named if coding not in {"", "identity"}]


def _unpacked(body: bytes, coding: str, limit: int) -> bytes:
    unpacker = _UNPACKERS.get(coding)
    if unpacker is None or not body:
        return body
    found = bytearray()
    try:
        reader = unpacker(BytesIO(body))
        while len(found) <= limit and (chunk := reader.read(min(_CHUNK, limit + 1))):
            found += chunk
    except OSError as error:
        if body.lstrip()[:1] in {b"<", b"{"}:
            return body
        raise ContentError(f"can't unpack {coding}: {error}") from error
    return bytes(found)
