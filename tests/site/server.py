"""The demo site over HTTP on 127.0.0.1, and faults that real sites have."""

import contextlib
import hashlib
import io
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from tests.site import content
from tests.site.faults import FAULTS, Answer, always, listing, story

if TYPE_CHECKING:
    from collections.abc import Buffer


@dataclass(frozen=True, slots=True)
class FetchAttempt:
    """A request that the server saw: when it was read (monotonic seconds), for what, by whom.

    `conditional` tells whether it asked only for what has changed. `received` is when the system
    received it (seconds since 1970), which a busy machine doesn't delay; `connection`
    counts the connections of all servers.
    """

    moment: float
    path: str
    user_agent: str
    conditional: bool = False
    received: float = 0.0
    connection: int = 0


@dataclass(slots=True)
class SiteServer:
    """Serves the site while it is open: `with SiteServer() as site: site.url`.

    `routes` adds or replaces answers by path; `visits` tells who asked for what, `sent` how many
    bytes of bodies went out. A visitor who has the ETag of an answer already is answered 304. An
    end is noticed after `poll` seconds.
    """

    routes: dict[str, Callable[[int], Answer]] = field(default_factory=dict)
    visits: list[FetchAttempt] = field(default_factory=list)
    sent: int = 0
    poll: float = 0.05
    host: str = "127.0.0.1"
    _server: ThreadingHTTPServer = field(init=False)

    def __post_init__(self) -> None:
        site = self

        class Handler(_Handler):
            owner = site

        self._server = _Server((self.host, 0), Handler)
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        """The port that the system gave."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The site's URL, without a slash at its end."""
        return f"http://{self.host}:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(self.poll,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def feeds(self) -> str:
        """The argument of a crawl that reads the site's feed."""
        return f"feeds={self.url}/feed.xml"

    def serve(self, path: str, body: Callable[[], bytes], *, kind: str = "text/html") -> None:
        """Answer with the body, and its hash for an ETag."""

        def answer(_visit: int) -> Answer:
            tag = f'"{hashlib.sha256(body()).hexdigest()}"'
            return Answer(body=body(), kind=kind, headers=(("ETag", tag),))

        self.routes[path] = answer

    def serve_stories(self, paths: Sequence[str], *, delay: float = 0.0) -> None:
        """Serve a feed of these paths, a story at each, and no robots.txt if there is none yet."""
        self.routes.setdefault("/robots.txt", always(status=404))
        self.routes["/feed.xml"] = always(listing(self.url, tuple(paths)), kind="application/xml")
        for path in paths:
            self.routes[path] = always(story(f"About {path}", "Siemens"), delay=delay)

    def paths(self) -> list[str]:
        """The paths that were asked for, in order, without their queries."""
        return [urlsplit(attempt.path).path for attempt in self.visits]

    def answer(self, path: str, attempt: int) -> Answer:
        """Return what the site says to the `attempt`th request (from 1) for a path."""
        if path in self.routes:
            return self.routes[path](attempt)
        if path in FAULTS:
            return FAULTS[path](self.url, attempt)
        xml = "application/xml; charset=utf-8"
        listings = {
            "/feed.xml": (content.feed, "application/rss+xml; charset=utf-8"),
            "/sitemap.xml": (content.sitemap, xml),
            "/sitemap-news.xml": (content.sitemap_news, xml),
            "/sitemap-pages.xml": (content.sitemap_pages, xml),
            "/robots.txt": (content.robots, "text/plain; charset=utf-8"),
        }
        if path in listings:
            render, kind = listings[path]
            return Answer(body=render(self.url), kind=kind)
        for page in content.facts():
            if page.path == path:
                # No charset here: a legacy page tells it in its own head.
                return Answer(body=content.page_bytes(page, self.url), kind="text/html")
        return Answer(status=404, body=b"<html><title>Not found</title><h1>Not found</h1></html>")


# SO_TIMESTAMPNS of Linux, which the socket module does not name: the system notes when it received
# what is read. On loopback, that is when the sender sent it.
_TIMESTAMPS = 35
_MOMENT = struct.Struct("qq")
_CONNECTIONS = count(1)


class _Input(io.RawIOBase):
    """What a connection sends; `received` is when the system received what was read last."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.received = time.time()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        space = socket.CMSG_SPACE(_MOMENT.size)
        size, messages, _, _ = self._connection.recvmsg_into([buffer], space)
        self.received = time.time()
        for level, kind, data in messages:
            if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPS) and len(data) == _MOMENT.size:
                seconds, nanoseconds = _MOMENT.unpack(data)
                self.received = seconds + nanoseconds / 1e9
        return size


class _Server(ThreadingHTTPServer):
    def server_bind(self) -> None:
        with contextlib.suppress(OSError):  # not Linux: the times are those of reading
            self.socket.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)
        super().server_bind()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of visitors who are gone; they may have been killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    owner: SiteServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self._input = _Input(self.connection)
        self._number = next(_CONNECTIONS)
        self.rfile = io.BufferedReader(self._input)

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        agent = self.headers.get("User-Agent", "")
        conditional = bool({"If-None-Match", "If-Modified-Since"} & set(self.headers.keys()))
        self.owner.visits.append(
            FetchAttempt(
                time.monotonic(), self.path, agent, conditional, self._input.received, self._number
            )
        )
        answer = self.owner.answer(path, self.owner.paths().count(path))
        time.sleep(answer.delay)
        if answer.instead is not None:
            self.close_connection = True
            with contextlib.suppress(OSError):  # the visitor has heard enough
                answer.instead(self.connection)
            return
        etag = dict(answer.headers).get("ETag")
        if etag and etag == self.headers.get("If-None-Match"):
            answer = Answer(status=304, headers=(("ETag", etag),))
        self.owner.sent += len(answer.body)
        try:
            self._send(answer)
        except OSError:
            self.close_connection = True  # the visitor has heard enough

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(answer.promised or len(answer.body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        for start in range(len(answer.body) if answer.drip else 0):
            self.wfile.write(answer.body[start : start + 1])
            self.wfile.flush()
            time.sleep(answer.drip)
        self.wfile.write(b"" if answer.drip else answer.body)
        if answer.promised:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Stay silent: `visits` is the log."""
