"""The server of the world: HTTP/1.1 over bare asyncio, so that it is not the bottleneck.

`python -m benchmarks.crawl.server SITES ARTICLES [CORPUS]` prints its port once it is up. The path
/-/counts of any of its addresses returns the number of requests so far, as JSON.
"""

import asyncio
import gzip
import hashlib
import json
import socket
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.crawl.world import SLOW_SECONDS, World

_REASONS = {200: "OK", 301: "Moved Permanently", 304: "Not Modified", 404: "Not Found"}


@dataclass(slots=True)
class Counts:
    """The responses since the server started; `pages` are requests for articles."""

    requests: int = 0
    pages: int = 0
    bytes: int = 0


class Site(asyncio.Protocol):
    """One connection, with one request after another."""

    def __init__(self, world: World, counts: Counts) -> None:
        self._world = world
        self._counts = counts
        self._waiting = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            request, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            self._answer(request)

    def _answer(self, request: bytes) -> None:
        lines = request.decode("latin-1").split("\r\n")
        path = lines[0].split(" ")[1].partition("?")[0]
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        if path == "/-/counts":
            self._send(200, json.dumps(asdict(self._counts)).encode(), counted=False)
            return
        self._counts.requests += 1
        place = self._world.place(path)
        if place is None:
            self._listing(path, headers)
            return
        self._counts.pages += 1
        match place.temper:
            case "missing":
                self._send(404, b"<h1>Not found</h1>")
            case "broken":
                self._send(500, b"<h1>Out of order</h1>")
            case "moved":
                target = path.replace("/news/", "/news/moved/")
                self._send(301, b"", ("Location", target))
            case "slow":
                page = self._world.page(place.number)
                asyncio.get_running_loop().call_later(SLOW_SECONDS, self._send, 200, page)
            case "cut":
                self._send(200, self._world.page(place.number)[:-500])
            case "fine":
                self._send(200, self._world.page(place.number))

    def _listing(self, path: str, headers: dict[str, str]) -> None:
        if path == "/robots.txt":
            self._send(200, b"User-agent: *\nDisallow: /members/\n", kind="text/plain")
            return
        if path != "/feed.xml":
            self._send(404, b"")
            return
        assert self._transport is not None
        host = self._transport.get_extra_info("sockname")[0]
        _, _, high, low = map(int, host.split("."))
        body = gzip.compress(self._world.feed((high - 1) * 250 + low - 1), 6, mtime=0)
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if headers.get("if-none-match") == tag:
            self._send(304, b"", ("ETag", tag))
            return
        more = (("ETag", tag), ("Content-Encoding", "gzip"))
        self._send(200, body, *more, kind="application/rss+xml")

    def _send(
        self, status: int, body: bytes, *more: tuple[str, str], kind: str = "text/html",
        counted: bool = True,
    ) -> None:  # fmt: skip
        if self._transport is None or self._transport.is_closing():
            return
        headers = (("Content-Type", kind), ("Content-Length", str(len(body))), *more)
        head = f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers
        )
        data = head.encode() + b"\r\n" + body
        if counted:
            self._counts.bytes += len(data)
        self._transport.write(data)


async def serve(world: World, listening: list[socket.socket]) -> None:
    """Serve the world on the bound sockets, until the process ends."""
    counts = Counts()
    loop = asyncio.get_running_loop()
    for listener in listening:
        await loop.create_server(lambda: Site(world, counts), sock=listener)
    sys.stdout.write(f"{world.port}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def main() -> None:
    """Bind all addresses to one free port, and serve."""
    sites, articles, *remaining = sys.argv[1:]
    corpus = Path(remaining[0]) if remaining else None
    plan = World(int(sites), int(articles), 0, corpus)
    first = socket.create_server((plan.host(0), 0))
    world = World(plan.sites, plan.articles, first.getsockname()[1], corpus)
    more = [socket.create_server((world.host(n), world.port)) for n in range(1, world.sites)]
    world.page(0)  # reads all pages
    asyncio.run(serve(world, [first, *more]))


if __name__ == "__main__":
    main()
