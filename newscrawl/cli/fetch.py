"""One page for `newscrawl extract URL`: asked for as a crawl would ask, no faster way in.

The server hears who we are, robots.txt is obeyed, and what comes back is limited in size,
time and redirects. The address that was checked is the one that is connected to.
"""

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
import zlib
from dataclasses import dataclass
from email.message import Message
from urllib.parse import urljoin, urlsplit

from protego import Protego

from newscrawl.sources.addresses import is_public
from newscrawl.sources.urls import UrlError, web_url

_MAX_REDIRECTS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
# RFC 9309, section 2.5: at least 500 KiB of a robots.txt are to be read.
_MAX_ROBOTS = 500 * 1024
_CHUNK = 64 * 1024


class FetchError(ValueError):
    """A page that can't or may not be fetched: one line that says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a page is asked for. `max_bytes` limits a page unpacked, `timeout` is the number of
    seconds for each of its requests as a whole."""

    user_agent: str
    robots_name: str
    max_bytes: int
    timeout: float
    allow_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A page's bytes, the URL they came from at last, and the charset of its HTTP header."""

    url: str
    body: bytes
    encoding: str | None


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Message
    body: bytes


def fetch(url: str, manners: Manners) -> Fetched:
    """The page at the URL; raises FetchError."""
    try:
        current = web_url(url)
        for _ in range(_MAX_REDIRECTS + 1):
            _check_robots(current, manners)
            answer = _get(current, manners, manners.max_bytes)
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return _page(current, answer)
            current = web_url(urljoin(current, target))
    except UrlError as error:
        shown = re.sub(r"//[^/]*@", "//***@", url)
        raise FetchError(f"can't fetch {shown}: {error}") from error
    raise FetchError(f"can't fetch {url}: more than {_MAX_REDIRECTS} redirects")


def _page(url: str, answer: _Answer) -> Fetched:
    if answer.status != 200:
        raise FetchError(f"can't fetch {url}: the server answered {answer.status}")
    kind = answer.headers.get_content_type()
    if "Content-Type" in answer.headers and kind not in {
        "text/html",
        "application/xhtml+xml",
        "text/plain",
        "application/xml",
        "text/xml",
    }:
        raise FetchError(f"can't read {url}: it is {kind}, not HTML")
    return Fetched(url=url, body=answer.body, encoding=answer.headers.get_content_charset())


def _check_robots(url: str, manners: Manners) -> None:
    # RFC 9309, section 2.3.1: no robots.txt (4xx) allows all, one out of reach (5xx) nothing.
    current = urljoin(url, "/robots.txt")
    for _ in range(_MAX_REDIRECTS + 1):
        answer = _get(current, manners, _MAX_ROBOTS, cut=True)
        target = answer.headers.get("Location")
        if answer.status not in _REDIRECTS or not target:
            break
        current = web_url(urljoin(current, target))
    if answer.status >= 500:
        raise FetchError(
            f"can't fetch {url}: its robots.txt is out of order ({answer.status}), which forbids "
            "all; try later"
        )
    if answer.status != 200:
        return
    rules = Protego.parse(answer.body.decode("utf-8", errors="replace"))
    if not rules.can_fetch(url, manners.robots_name):
        raise FetchError(
            f"robots.txt forbids {url}: save the page with your browser and give the file"
        )


def _get(url: str, manners: Manners, limit: int, *, cut: bool = False) -> _Answer:
    """One request; a body above the limit is an error, or is cut there."""
    parts = urlsplit(url)
    deadline = time.monotonic() + manners.timeout
    sock = _connected(url, manners)
    # A server that sends a byte now and then would pass every timeout of the socket.
    watchdog = threading.Timer(manners.timeout, _shut, (sock,))
    watchdog.start()
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context()
            sock = context.wrap_socket(sock, server_hostname=parts.hostname)
        connection.sock = sock
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, value in _headers(parts.netloc, manners):
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as response:
            body = _body(response, url, limit, cut=cut)
        if time.monotonic() >= deadline:
            raise TimeoutError("timed out")
        return _Answer(response.status, response.headers, body)
    except (OSError, http.client.HTTPException) as error:
        late = time.monotonic() >= deadline
        cause = f"no whole answer in {manners.timeout:g} seconds" if late else _cause(error)
        raise FetchError(f"can't fetch {url}: {cause}") from error
    finally:
        watchdog.cancel()
        connection.close()
        sock.close()


def _headers(host: str, manners: Manners) -> list[tuple[str, str]]:
    return [
        ("Host", host),
        ("User-Agent", manners.user_agent),
        ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
    ]


def _body(response: http.client.HTTPResponse, url: str, limit: int, *, cut: bool) -> bytes:
    """The body unpacked, as much of it as the limit allows."""
    packed = (response.headers.get("Content-Encoding") or "identity").strip().lower()
    if packed not in {"identity", "gzip", "x-gzip"}:
        raise FetchError(f"can't read {url}: packed as {packed!r}, which nobody asked for")
    unpacker = None if packed == "identity" else zlib.decompressobj(wbits=31)
    body = bytearray()
    while len(body) <= limit and (chunk := response.read(_CHUNK)):
        try:
            body += unpacker.decompress(chunk, limit + 1 - len(body)) if unpacker else chunk
        except zlib.error as error:
            raise FetchError(f"can't unpack {url}: {error}") from error
    if response.length and len(body) <= limit:
        raise FetchError(f"can't fetch {url}: the connection was dropped midway")
    if len(body) > limit and not cut:
        raise FetchError(f"{url} is larger than {limit / 2**20:g} MiB: not an article's page")
    return bytes(body[:limit])


def _connected(url: str, manners: Manners) -> socket.socket:
    """A connection to an address of the host that was found to be public."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise FetchError(f"can't fetch {url}: no address for the host {host!r}") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not manners.allow_private and not all(map(_is_public, addresses)):
        raise FetchError(
            f"{host} is a private address: --allow-private fetches from it all the same"
        )
    failure: OSError | None = None
    for address in dict.fromkeys(addresses):
        try:
            return socket.create_connection((address, port), timeout=manners.timeout)
        except OSError as error:
            failure = error
    raise FetchError(f"can't fetch {url}: {_cause(failure)}") from failure


def _is_public(text: str) -> bool:
    return is_public(ipaddress.ip_address(text.partition("%")[0]))


def _shut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has been closed meanwhile


def _cause(error: BaseException | None) -> str:
    cause = str(getattr(error, "strerror", None) or error or type(error).__name__)
    return " ".join(cause.split()).rstrip(".")
