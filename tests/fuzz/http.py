"""Whole crawls of a site with a faulty server: each response has another fault.

One crawl reads a site of good articles and of faulty pages, by feeds of which some are faulty too,
and in every fourth example by a faulty robots.txt. Whatever those do, the crawl ends by itself with
an exit code of ours, nobody at a private address is asked for anything, and the good articles are
stored unless robots.txt can't be read, which forbids all.
"""

import gzip
import random
import socket
import sqlite3
import struct
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import brotli

from tests.site.crawling import PROJECT, crawl_command, crawl_environment
from tests.site.faults import Answer, listing, story
from tests.site.server import SiteServer

GOOD = 4
# Faulty pages of one crawl, and the longest that one may take, in seconds: an order of magnitude
# more than any has taken.
FAULTY = 12
# How many of the examples have a faulty robots.txt.
ROBOTS = 0.25
_ROBOTS = "/robots.txt"
LONGEST = 240
SETTINGS = {"DOWNLOAD_TIMEOUT": "2", "NEWSCRAWL_RETRY_AFTER_MAX": "1", "RETRY_TIMES": "1"}

Send = Callable[[socket.socket], None]


def raw(*parts: bytes, pause: float = 0.0, cut: bool = False) -> Send:
    """Send these bytes unchanged; with `cut`, reset the connection afterwards."""

    def send(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        if cut:
            option = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
        else:
            connection.shutdown(socket.SHUT_WR)
        connection.close()

    return send


def answered(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """Return an HTTP response with these header lines only."""
    return b"\r\n".join([b"HTTP/1.1 " + status, *headers, b"", body])


@dataclass(frozen=True)
class Maker:
    """Makes faulty responses around a body; `site` is the target of redirects."""

    chance: random.Random
    site: str
    private: str
    body: bytes
    kind: bytes = b"text/html; charset=utf-8"

    def __call__(self) -> tuple[str, Send]:
        """Return a fault by name, and the function that sends it."""
        make = self.chance.choice(
            [self.cut, self.status, self.header, self.length, self.chunks, self.coding, self.moved]
        )
        return make()

    def _page(self, *headers: bytes, body: bytes | None = None) -> bytes:
        body = self.body if body is None else body
        length = b"Content-Length: %d" % len(body)
        return answered(body, b"Content-Type: " + self.kind, length, b"Connection: close", *headers)

    def cut(self) -> tuple[str, Send]:
        """End the connection early: closed or reset, quickly or slowly."""
        body = self._page()
        place = self.chance.choice([0, 1, 9, 17, 40, len(body) // 2, len(body) - 1])
        pause = self.chance.choice([0.0, 0.0, 0.2])
        cut = self.chance.random() < 0.5
        return f"cut at {place}", raw(
            body[: place // 2], body[place // 2 : place], pause=pause, cut=cut
        )

    def status(self) -> tuple[str, Send]:
        """Begin with an invalid or unusual status line."""
        line = self.chance.choice(
            [
                *(b"", b"\r\n" * 500, b"HTTP/1.1", b"HTTP/1.1 abc OK", b"HTTP/9.9 200 OK"),
                *(b"HTTP/1.1 99999 X", b"HTTP/1.1 -1 X", b"HTTP/1.1 000", b"HTTP/1.1 100 Continue"),
                *(
                    b"ICY 200 OK",
                    b"\xff\xfe\x00",
                    b"HTTP/1.1 200 " + b"x" * 100_000,
                    b"HTTP/1.1 101 S",
                ),
                *(b"HTTP/1.1 204 No", b"HTTP/1.1 206 P", b"HTTP/1.1 304 N", b"HTTP/1.1 451 L"),
                *(b"HTTP/1.1 599 X", b"HTTP/1.1 503 X\r\nRetry-After: 1e309", b"HTTP/0.9 200"),
            ]
        )
        return f"status {line[:30]!r}", raw(line + b"\r\n" + self._page().partition(b"\r\n")[2])

    def header(self) -> tuple[str, Send]:
        """Add a header that no server should send."""
        line = self.chance.choice(
            [
                b"Retry-After: Fri, 31 Dec 99999 23:59:59 GMT",
                b"Retry-After: " + b"9" * 5000,
                b"Set-Cookie: " + b"a=b;" * 5_000,
                b"Set-Cookie: \xff\x00=\xff; Expires=Thu, 99 Foo 99999; Max-Age=-9e99",
                b"Content-Type: text/html; charset=" + b"x" * 2_000,
                b"Content-Type: text/html; charset=utf-7",
                b"Content-Type: \xff/\xfe; charset=\x00",
                b"Content-Type: application/octet-stream",
                b"ETag: " + b'"x' * 5_000,
                b"ETag: \xff\xfe\r\nLast-Modified: \xff",
                b"Last-Modified: Fri, 99 Zzz 99999 99:99:99 XYZ",
                b"X-Many: y\r\n" * 2_000 + b"X-Last: z",
                b"X-Long: " + b"y" * 200_000,
                b"No colon in this line",
                b": no name",
                b" folded",
                b"Link: <" + b"x" * 10_000 + b">; rel=canonical",
                b"Refresh: 0; url=http://" + self.private.encode() + b"/secret",
                b"Date: never\r\nAge: -1\r\nExpires: " + b"9" * 400,
            ]
        )
        return f"header {line[:40]!r}", raw(self._page(line))

    def length(self) -> tuple[str, Send]:
        """Send a wrong Content-Length."""
        claim = self.chance.choice(
            [*(b"0", b"1", b"-1", b"1e9", b"", b"0x10", b"99999999999999999999", b"5, 6", b"\xff")]
        )
        twice = b"\r\nContent-Length: 7" if self.chance.random() < 0.3 else b""
        head = b"Content-Length: " + claim + twice
        body = answered(self.body, b"Content-Type: " + self.kind, head)
        return f"length {claim!r} {twice!r}", raw(body)

    def chunks(self) -> tuple[str, Send]:
        """Send invalid or endless chunks."""
        part = self.chance.choice(
            [
                *(
                    b"zz\r\nabc\r\n0\r\n\r\n",
                    b"-5\r\nabc\r\n",
                    b"5\r\nab",
                    b"ffffffffffffffffff\r\nabc",
                ),
                *(
                    b"0\r\n" + b"X: y\r\n" * 5_000 + b"\r\n",
                    b"5;" + b"x" * 50_000 + b"\r\nabcde\r\n",
                ),
                *(b"", b"\r\n\r\n", b"1\r\nx\r\n" * 3_000 + b"0\r\n\r\n"),
            ]
        )
        kind = b"Content-Type: " + self.kind
        body = answered(part, kind, b"Transfer-Encoding: chunked")
        return f"chunks {part[:20]!r}", raw(body)

    def coding(self) -> tuple[str, Send]:
        """Compress the body wrongly, repeatedly, or as a bomb."""
        bomb = bytes(64 * 1024 * 1024)
        name, body = self.chance.choice(
            [
                (b"gzip", self.body),
                (b"gzip", gzip.compress(self.body)[:-9]),
                (b"gzip", gzip.compress(bomb, 1)),
                (b"gzip, gzip, gzip", gzip.compress(gzip.compress(gzip.compress(self.body)))),
                (b"deflate", zlib.compress(self.body)[2:-4]),
                (b"deflate", b"\x78\x9c" + b"\xff" * 50),
                (b"br", brotli.compress(bomb, quality=1)),
                (b"br", self.body),
                (b"zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 50),
                (b"zstd", self.body),
                (b"compress, x-what", self.body),
                (b"gzip" * 1_000, self.body),
                (b"br", gzip.compress(self.body)),
            ]
        )
        return f"coding {name[:20]!r}", raw(self._page(b"Content-Encoding: " + name, body=body))

    def moved(self) -> tuple[str, Send]:
        """Redirect to another address."""
        private = self.private
        place = self.chance.choice(
            [
                *("file:///etc/passwd", "ftp://example.org/", "gopher://x/", "data:text/html,x"),
                *(f"http://{private}/secret", f"https://{private}/secret", f"//{private}/secret"),
                *(f"http://user:word@{private}/secret", "http://169.254.169.254/latest"),
                *("http://[", "http://[::1]/", "http://0/", "http://2130706433/", "javascript:x"),
                *(
                    "",
                    "/loop",
                    "/loop/1",
                    "?" + "x" * 20_000,
                    "\xff\xfe",
                    "http://..",
                    "http://%00/",
                ),
                *(self.site + "/good/0", "//", "http:", "http://localhost.:1/", " /loop "),
            ]
        )
        code = self.chance.choice([b"301", b"302", b"303", b"307", b"308", b"300"])
        head = b"Location: " + place.encode("utf-8")
        return f"moved to {place[:40]!r}", raw(
            answered(b"", head, b"Content-Length: 0", status=code + b" M")
        )


Routes = Callable[[SiteServer, str, random.Random], list[str]]


class Trap:
    """A server at a private address that the crawl may not request."""

    def __enter__(self) -> "Trap":
        self._server = SiteServer()
        self._server.__enter__()
        self.address = f"127.0.0.1:{self._server.port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__(None, None, None)

    @property
    def visits(self) -> Sequence[object]:
        """Return the requests that it has received."""
        return self._server.visits


def example(seed: str, routes: Routes | None = None) -> list[str]:
    """Crawl a site whose faults the seed picks; return the failures of the crawl, if any."""
    chance = random.Random(seed)  # noqa: S311
    with SiteServer() as site, Trap() as trap, tempfile.TemporaryDirectory() as folder:
        told = (routes or add_routes)(site, trap.address, chance)
        database = Path(folder, "news.sqlite")
        feeds = [f"feeds={site.url}/good.xml,{site.url}/bad-0.xml,{site.url}/bad-1.xml"]
        try:
            done = subprocess.run(
                crawl_command("ft", feeds, SETTINGS),
                cwd=PROJECT,
                env=crawl_environment(database) | {"NEWSCRAWL_EXTRACTION_PROCESSES": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=LONGEST,
            )
        except subprocess.TimeoutExpired:
            return [f"no end within {LONGEST} s", *told]
        log = done.stdout.decode(errors="replace")
        stored_urls = stored(database)
        wrong = find_failures(done.returncode, log, len(trap.visits))
        obeyed = any(one.startswith(_ROBOTS) for one in told)
        if len(stored_urls) != GOOD and not obeyed:
            wrong.append(f"only {sorted(stored_urls)} are stored")
        return [*wrong, *told, log] if wrong else []


def add_routes(site: SiteServer, private: str, chance: random.Random) -> list[str]:
    """Set the routes of the site; return the faulty paths with their faults."""
    told = []
    good = tuple(f"/good/{number}" for number in range(GOOD))
    bad = tuple(f"/bad/{number}" for number in range(FAULTY))

    def faulty(path: str, maker: Maker) -> None:
        name, send = maker()
        told.append(f"{path}: {name}")
        site.routes[path] = lambda _visit: Answer(instead=send)

    site.routes["/robots.txt"] = lambda _: Answer(status=404)
    if chance.random() < ROBOTS:
        allowed = b"User-agent: *\nAllow: /\n"
        faulty(_ROBOTS, Maker(chance, site.url, private, allowed, b"text/plain"))
    feed = listing(site.url, (*bad, *good))
    site.routes["/good.xml"] = lambda _: Answer(body=feed, kind="application/rss+xml")
    for path in good:
        site.routes[path] = lambda _, path=path: Answer(body=story(f"About {path}", "Siemens"))
    for path in bad:
        faulty(path, Maker(chance, site.url, private, story(f"Faulty {path}", "Siemens")))
    for number in range(2):
        xml = b"application/rss+xml"
        faulty(f"/bad-{number}.xml", Maker(chance, site.url, private, feed, xml))
    site.routes["/loop"] = lambda _: Answer(status=302, headers=(("Location", "/loop"),))
    site.routes["/loop/1"] = lambda visit: Answer(
        status=302, headers=(("Location", f"/loop/1?{visit}"),)
    )
    return told


def stored(database: Path) -> set[str]:
    """Return the paths of the stored articles without a fault."""
    if not database.exists():
        return set()
    connection = sqlite3.connect(database)
    rows = connection.execute("SELECT url FROM articles WHERE url LIKE '%/good/%'").fetchall()
    connection.close()
    return {"/good/" + url.rpartition("/")[2] for (url,) in rows}


def find_failures(code: int, log: str, visits: int) -> list[str]:
    wrong = []
    if code not in {0, 1}:
        wrong.append(f"exit code {code}")
    if "Traceback" in log or " ERROR: " in log or " CRITICAL: " in log:
        wrong.append("an error in the log")
    if visits:
        wrong.append(f"{visits} requests of a private address")
    return wrong


def run(count: int, seed: int) -> int:
    """Crawl `count` sites; return the number of failures."""
    failed = 0
    for number in range(count):
        wrong = example(f"{seed}/{number}")
        failed += bool(wrong)
        for line in wrong:
            print(f"http {seed}/{number}: {line}", flush=True)
    print(f"http: {count} crawls, {failed} failed")
    return failed
