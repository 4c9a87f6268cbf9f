"""Fetch single pages outside a crawl: politely, within limits, and from public addresses only.

robots.txt and Crawl-delay are obeyed, and the user agent names us. Crawls use Scrapy; this fetcher
serves `extract URL`, `explain URL`, `sources add` and `check`, and the dashboard, which run in
threads or next to another event loop, so they can't start a Twisted reactor. Both share the rules
of urls.py and robots.py. It connects to the very address that was checked.
"""

import http.client
import io
import ipaddress
import re
import socket
import ssl
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.message import Message
from typing import Any
from urllib.parse import urljoin, urlsplit

from protego import Protego

from newscrawl.items import RobotsPolicy
from newscrawl.sources import robots
from newscrawl.sources.robots import UnreachableRobotsError
from newscrawl.sources.urls import AllowedAddresses, UrlError, is_public, web_url

_CHUNK = 64 * 1024
# Ours: bytes of a response that are not its body: status line, headers, sizes and extensions of
# chunks, trailers, interim responses. nginx, Apache and Node pass on 8 to 16 KiB of headers. Chunks
# of six bytes have as many again: a response may have as many more as its body.
MAX_FRAMING_BYTES = 64 * 1024
LARGE_FRAMING = f"headers or framing of chunks larger than {MAX_FRAMING_BYTES // 1024} KiB"


class FetchError(ValueError):
    """A page can't or must not be fetched; the message is one line with URL and reason."""


class PrivateAddressError(FetchError):
    """An address is not public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPolicy:
    """How pages are fetched.

    `max_bytes` limits a decompressed page, `timeout` is the maximum of seconds for a whole request,
    `pause` the seconds between two requests to a host, and `longest_pause` the longest Crawl-delay
    that is obeyed: a host that asks for more is not fetched.
    """

    user_agent: str
    robots_name: str
    max_bytes: int
    timeout: float
    allow_private: bool = False
    permitted: AllowedAddresses = field(default_factory=AllowedAddresses)
    pause: float = 0.0
    longest_pause: float = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to one request; `body` is decompressed."""

    status: int
    headers: Message
    body: bytes


class _Deadline:
    """Shut a connection down after a total time.

    A server that sends single bytes slowly would never exceed the timeout of the socket.
    """

    def __init__(self, seconds: float, sock: socket.socket) -> None:
        self._end = time.monotonic() + seconds
        self._sock = sock
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, sock: socket.socket) -> None:
        """Watch another socket: TLS replaces the first one."""
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
            return  # it is closed already


def get(url: str, policy: FetchPolicy, limit: int, *, cut: bool = False) -> Answer:
    """Send one request without following redirects; a body over `limit` bytes is an error or cut.

    Raises FetchError.
    """
    parts = urlsplit(url)
    sock = _connect(url, policy)
    deadline = _Deadline(policy.timeout, sock)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.response_class = _LimitedResponse
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
        for name, value in _headers(parts.netloc, policy):
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as response:
            body = _body(response, url, limit, cut=cut)
        if deadline.passed:
            raise TimeoutError("timed out")
        return Answer(response.status, response.headers, body)
    except (OSError, http.client.HTTPException) as error:
        too_slow = f"no complete response within {policy.timeout:g} seconds"
        cause = too_slow if deadline.passed else _cause(error)
        raise FetchError(f"can't fetch {url}: {cause}") from error
    finally:
        connection.close()
        deadline.close()


class _LimitedFile(io.BufferedReader):
    """The file of a response, in which headers and framing are lines, and the body is not."""

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__(raw)
        self._line_bytes = self._body_bytes = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line; raise HTTPException if too much of the response is not its body."""
        line = super().readline(size)
        self._line_bytes += len(line)
        if self._line_bytes > MAX_FRAMING_BYTES + self._body_bytes:
            raise http.client.HTTPException(LARGE_FRAMING)
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        """Return bytes of the body, at least one unless it has ended."""
        data = super().read(size)
        self._body_bytes += len(data)
        return data


class _LimitedResponse(http.client.HTTPResponse):
    """A response with a limit of bytes before, between and behind its body.

    http.client limits each line and the number of headers, not interim responses and trailers.
    """

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp = _LimitedFile(self.fp.detach())

    def _read_status(self) -> tuple[str, int, str]:
        """Return the final status line, behind all interim responses (RFC 9110, 15.2)."""
        while True:
            line: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if not 100 <= line[1] < 200:
                return line
            while self.fp.readline(_CHUNK) not in {b"\r\n", b"\n", b""}:
                pass


def _headers(host: str, policy: FetchPolicy) -> list[tuple[str, str]]:
    return [
        ("Host", host),
        ("User-Agent", policy.user_agent),
        ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
    ]


def _body(response: http.client.HTTPResponse, url: str, limit: int, *, cut: bool) -> bytes:
    """Return the decompressed body, up to the limit."""
    packed = (response.headers.get("Content-Encoding") or "identity").strip().lower()
    if packed not in {"identity", "gzip", "x-gzip"}:
        raise FetchError(f"can't read {url}: compressed as {packed!r}, which was not requested")
    unpacker = None if packed == "identity" else zlib.decompressobj(wbits=31)
    body = bytearray()
    received = 0
    while max(len(body), received) <= limit and (chunk := response.read(_CHUNK)):
        received += len(chunk)
        try:
            body += unpacker.decompress(chunk, limit + 1 - len(body)) if unpacker else chunk
        except zlib.error as error:
            raise FetchError(f"can't decompress {url}: {error}") from error
    if response.length and max(len(body), received) <= limit:
        raise FetchError(f"can't fetch {url}: the connection broke")
    if max(len(body), received) > limit and not cut:
        raise FetchError(f"{url} is larger than {limit / 2**20:g} MiB: not an article's page")
    return bytes(body[:limit])


def _connect(url: str, policy: FetchPolicy) -> socket.socket:
    """Return a connection to a public address of the host."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError(f"can't fetch {url}: no address for the host {host!r}") from error
    addresses = [str(entry[4][0]) for entry in found]
    named = policy.allow_private or policy.permitted.host(host, port)
    if not named and not all(_is_allowed(address, policy) for address in addresses):
        raise PrivateAddressError(f"{host} is a private address: --allow-private allows it")
    failure: OSError | None = None
    for address in dict.fromkeys(addresses):
        try:
            return socket.create_connection((address, port), timeout=policy.timeout)
        except OSError as error:
            failure = error
    raise FetchError(f"can't fetch {url}: {_cause(failure)}") from failure


def _is_allowed(text: str, policy: FetchPolicy) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    return is_public(address) or policy.permitted.address(address)


def _cause(error: BaseException | None) -> str:
    cause = str(getattr(error, "strerror", None) or error or type(error).__name__)
    return " ".join(cause.split()).rstrip(".")


_MAX_REDIRECTS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
_PERMANENT = {301, 308}


class DisallowedError(FetchError):
    """robots.txt forbids the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """The bytes of a page, its URL after redirects, and the charset of its HTTP header."""

    url: str
    body: bytes
    encoding: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """The response for the URL `asked`, received from `url` after redirects.

    `moved` is true if all redirects on the way were permanent.
    """

    asked: str
    url: str
    status: int
    headers: Message
    body: bytes
    moved: bool = False

    @property
    def content_type(self) -> str | None:
        """Return the Content-Type header as it was sent."""
        return self.headers.get("Content-Type")


@dataclass(slots=True)
class _Host:
    """The state of a host: a lock for its requests, and its robots.txt."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    free_at: float = 0.0
    policy: RobotsPolicy | None = None
    rules: Protego | None = None
    failure: FetchError | None = None


class Fetcher:
    """Fetch pages; thread-safe, with one request to a host at a time."""

    def __init__(self, policy: FetchPolicy, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._policy = policy
        self._sleep = sleep
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)
        self._lock = threading.Lock()

    def fetch(self, url: str, *, max_bytes: int | None = None, cut: bool = False) -> FetchResult:
        """Fetch a page, following redirects, whatever its status.

        `max_bytes` overrides that of the policy; a longer page is cut or an error. Raise
        DisallowedError if robots.txt forbids it, else FetchError.
        """
        limit = max_bytes or self._policy.max_bytes
        try:
            return self._follow(web_url(url), limit, cut=cut)
        except UrlError as error:
            shown = re.sub(r"//[^/]*@", "//***@", url)
            raise FetchError(f"can't fetch {shown}: {error}") from error

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps in the robots.txt of a URL's host. Raises FetchError."""
        host = self._host(url)
        with host.turn:
            rules = self._rules(url, host)
        return tuple(dict.fromkeys(rules.sitemaps)) if rules else ()

    def robots_policy(self, url: str) -> RobotsPolicy:
        """Return the robots policy of a URL's host. Raises FetchError if it can't be read."""
        host = self._host(url)
        with host.turn:
            self._rules(url, host)
        if host.policy is None:
            raise FetchError(f"can't fetch {url}: its robots.txt was not read")
        return host.policy

    def _follow(self, url: str, limit: int, *, cut: bool) -> FetchResult:
        current, moved = url, True
        for hop in range(_MAX_REDIRECTS + 1):
            answer = self._ask(current, limit, cut=cut)
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return FetchResult(
                    asked=url,
                    url=current,
                    status=answer.status,
                    headers=answer.headers,
                    body=answer.body,
                    moved=moved and hop > 0,
                )
            moved = moved and answer.status in _PERMANENT
            current = web_url(urljoin(current, target))
        raise FetchError(f"can't fetch {url}: more than {_MAX_REDIRECTS} redirects")

    def _ask(self, url: str, limit: int, *, cut: bool) -> Answer:
        host = self._host(url)
        with host.turn:
            delay = self._allowed_after(url, self._rules(url, host))
            self._sleep(max(0.0, host.free_at - time.monotonic()))
            try:
                return get(url, self._policy, limit, cut=cut)
            finally:
                host.free_at = time.monotonic() + delay

    def _allowed_after(self, url: str, rules: Protego | None) -> float:
        """Return the delay between requests to the host. Raises DisallowedError."""
        policy = self._policy
        if rules is None:
            return policy.pause
        if not rules.can_fetch(url, policy.robots_name):
            raise DisallowedError(f"robots.txt forbids {url}")
        delay = float(rules.crawl_delay(policy.robots_name) or 0.0)
        if delay > policy.longest_pause:
            raise DisallowedError(
                f"can't fetch {url}: robots.txt asks for {delay:g} seconds between pages, more "
                "than NEWSCRAWL_CRAWL_DELAY_MAX"
            )
        return max(delay, policy.pause)

    def _host(self, url: str) -> _Host:
        with self._lock:
            return self._hosts[robots.origin_of(url)]

    def _rules(self, url: str, host: _Host) -> Protego | None:
        """Return the rules of a host, read once; the caller holds the host's lock."""
        if host.failure is None and host.rules is None:
            try:
                host.policy = self._fetch_robots(url)
            except FetchError as error:
                host.failure = error
            else:
                host.rules = Protego.parse(robots.rules_for(host.policy, self._policy.robots_name))
        if host.failure is not None:
            raise host.failure
        return host.rules

    def _fetch_robots(self, url: str) -> RobotsPolicy:
        """Fetch robots.txt. Raises FetchError if it can't be read, which forbids all pages too."""
        try:
            answer = self._robots_answer(urljoin(url, "/robots.txt"))
            return robots.policy_of(
                robots.origin_of(url), answer.status, answer.body, datetime.now(UTC)
            )
        except UnreachableRobotsError as error:
            raise DisallowedError(
                f"can't fetch {url}: its robots.txt can't be read ({error}), which forbids all "
                "pages; try later"
            ) from error

    def _robots_answer(self, url: str) -> Answer:
        """Return the response after at most five redirects, whatever its status."""
        longest = robots.MAX_ANSWER_BYTES
        for _ in range(robots.MAX_REDIRECTS + 1):
            answer = get(url, self._policy, longest + 1, cut=True)
            if len(answer.body) > longest:
                raise UnreachableRobotsError(f"larger than {longest // 1024} KiB")
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return answer
            try:
                url = web_url(urljoin(url, target))
            except ValueError as error:
                raise UnreachableRobotsError(f"it redirects to no URL: {error}") from error
        raise UnreachableRobotsError(f"more than {robots.MAX_REDIRECTS} redirects")


def fetch(url: str, policy: FetchPolicy) -> FetchedPage:
    """Return the page at the URL. Raises FetchError, also for responses other than HTML."""
    result = Fetcher(replace(policy, pause=0.0)).fetch(url)
    if result.status != 200:
        raise FetchError(f"can't fetch {result.url}: the server answered {result.status}")
    kind = result.headers.get_content_type()
    if result.content_type and kind not in {
        "text/html",
        "application/xhtml+xml",
        "text/plain",
        "application/xml",
        "text/xml",
    }:
        raise FetchError(f"can't read {result.url}: it is {kind}, not HTML")
    return FetchedPage(
        url=result.url, body=result.body, encoding=result.headers.get_content_charset()
    )
