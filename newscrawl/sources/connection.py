"""One GET of one address, for what isn't a crawl: limited in size and time, and kept out of our
own network. The address that was checked is the one that is connected to.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
import time
import zlib
from dataclasses import dataclass, field
from email.message import Message
from urllib.parse import urlsplit

from newscrawl.sources.addresses import Permitted, is_public

_CHUNK = 64 * 1024


class FetchError(ValueError):
    """A page that can't or may not be fetched: one line that says which and why."""


class PrivateAddressError(FetchError):
    """An address that isn't of the public internet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How pages are asked for. `max_bytes` limits a page unpacked, `timeout` is the number of
    seconds for each of its requests as a whole, `pause` that between two requests to a host, and
    `longest_pause` the longest Crawl-delay that is kept: who asks for more isn't visited.
    """

    user_agent: str
    robots_name: str
    max_bytes: int
    timeout: float
    allow_private: bool = False
    permitted: Permitted = field(default_factory=Permitted)
    pause: float = 0.0
    longest_pause: float = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said to one request; `body` is unpacked."""

    status: int
    headers: Message
    body: bytes


class _Deadline:
    """Shuts a connection that takes too long as a whole.

    A server that sends a byte now and then would pass every timeout of the socket.
    """

    def __init__(self, seconds: float, sock: socket.socket) -> None:
        self._end = time.monotonic() + seconds
        self._sock = sock
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, sock: socket.socket) -> None:
        """Shut this one instead: TLS puts a socket of its own in the place of the first."""
        self._sock = sock

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self._end

    def close(self) -> None:
        self._timer.cancel()
        self._sock.close()

    def _shut(self) -> None:
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it has been closed meanwhile


def get(url: str, manners: Manners, limit: int, *, cut: bool = False) -> Answer:
    """Ask once, following no redirect; a body above `limit` bytes is an error, or is cut there.

    Raises FetchError.
    """
    parts = urlsplit(url)
    sock = _connected(url, manners)
    deadline = _Deadline(manners.timeout, sock)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context()
            secured = context.wrap_socket(
                sock, server_hostname=parts.hostname, do_handshake_on_connect=False
            )
            deadline.watch(secured)
            secured.do_handshake()
            sock = secured
        connection.sock = sock
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, value in _headers(parts.netloc, manners):
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as response:
            body = _body(response, url, limit, cut=cut)
        if deadline.passed:
            raise TimeoutError("timed out")
        return Answer(response.status, response.headers, body)
    except (OSError, http.client.HTTPException) as error:
        cause = (
            f"no whole answer in {manners.timeout:g} seconds" if deadline.passed else _cause(error)
        )
        raise FetchError(f"can't fetch {url}: {cause}") from error
    finally:
        connection.close()
        deadline.close()


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
    except (OSError, UnicodeError) as error:
        raise FetchError(f"can't fetch {url}: no address for the host {host!r}") from error
    addresses = [str(entry[4][0]) for entry in found]
    named = manners.allow_private or manners.permitted.host(host, port)
    if not named and not all(_is_allowed(address, manners) for address in addresses):
        raise PrivateAddressError(
            f"{host} is a private address: --allow-private fetches from it all the same"
        )
    failure: OSError | None = None
    for address in dict.fromkeys(addresses):
        try:
            return socket.create_connection((address, port), timeout=manners.timeout)
        except OSError as error:
            failure = error
    raise FetchError(f"can't fetch {url}: {_cause(failure)}") from failure


def _is_allowed(text: str, manners: Manners) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    return is_public(address) or manners.permitted.address(address)


def _cause(error: BaseException | None) -> str:
    cause = str(getattr(error, "strerror", None) or error or type(error).__name__)
    return " ".join(cause.split()).rstrip(".")
