"""What goes wrong on the web: each path of FAULTS answers as some real site does on a bad day."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from socket import socket
from typing import Any

_PARAGRAPH = (
    "The harbour office of the invented town of Saltmere said on Monday that {company} would move "
    "its maintenance crews to the northern quay before the winter. The change had been discussed "
    "for months, and the crews had asked for warmer rooms and a shorter way to the ships. A "
    "spokesman said that nobody would lose work because of it. The crews call the plan {title}."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP answer; `promised` is a Content-Length that isn't kept, `drip` the seconds between
    two bytes of the body. `instead` is done with the connection where no HTTP comes at all."""

    status: int = 200
    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    promised: int = 0
    drip: float = 0.0
    instead: Callable[[socket], None] | None = None


def always(body: bytes | str = b"", **facts: Any) -> Callable[[int], Answer]:
    """Return a route that gives the same answer at each visit."""
    answer = Answer(body=body.encode() if isinstance(body, str) else body, **facts)
    return lambda _visit: answer


def story(title: str, company: str, *, extra: str = "") -> bytes:
    """Return an article page, long enough to be one."""
    paragraphs = "".join(
        f"<p>{_PARAGRAPH.format(company=company, title=title)} ({n})</p>" for n in range(3)
    )
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{title}</title></head>"
        f"<body><nav><a href='/'>Home</a> <a href='/feed.xml'>Feed</a></nav>{extra}"
        f"<article><h1>{title}</h1>{paragraphs}</article></body></html>"
    ).encode()


def listing(site: str, paths: tuple[str, ...]) -> bytes:
    """Return a feed without dates; what begins with http in `paths` is a URL already."""
    items = "".join(
        f"<item><title>Report from {path}</title>"
        f"<link>{path if path.startswith('http') else site + path}</link>"
        f"<description>What the feed says about {path}.</description></item>"
        for path in paths
    )
    return f"<rss version='2.0'><channel><title>Faults</title>{items}</channel></rss>".encode()


def _overloaded(_site: str, attempt: int) -> Answer:
    if attempt == 1:
        return Answer(status=429, headers=(("Retry-After", "1"),))
    return Answer(body=story("Back after a rest", "Siemens"))


def _nested(_site: str, _visit: int) -> Answer:
    return Answer(body=story("Deep down", "Siemens", extra="<div>" * 10_000))


def _nul(_site: str, _visit: int) -> Answer:
    return Answer(body=story("Zero sum", "Siemens").replace(b"harbour", b"har\0bour"))


def _cut(_site: str, _visit: int) -> Answer:
    return Answer(body=story("Cut short", "Siemens")[:-60])


def _further(turn: int) -> Answer:
    return Answer(status=302, headers=(("Location", f"/fault/spiral/{turn + 1}"),))


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(64 * 1024 * 1024))


def _bomb_answer(_site: str, _visit: int) -> Answer:
    return Answer(body=_bomb(), headers=(("Content-Encoding", "gzip"),))


def _entities(_site: str, _visit: int) -> Answer:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    body = f"<!DOCTYPE urlset [{levels}]><urlset><url><loc>&l9;</loc></url></urlset>"
    return Answer(body=body.encode(), kind="application/xml")


def _fixed(answer: Answer) -> Callable[[str, int], Answer]:
    return lambda _site, _visit: answer


PAGES: dict[str, Callable[[str, int], Answer]] = {
    "/fault/fine": _fixed(Answer(body=story("All is well", "Siemens"))),
    "/fault/overloaded": _overloaded,
    "/fault/missing": _fixed(Answer(status=404, body=b"<h1>Gone</h1>")),
    "/fault/unavailable": _fixed(Answer(status=503)),
    "/fault/part": _fixed(Answer(status=206, body=story("Half of it", "Siemens")[:1000])),
    "/fault/accepted": _fixed(Answer(status=202, body=story("Wait a moment", "Siemens"))),
    "/fault/forbidden": _fixed(Answer(status=403, body=b"<h1>No robots, please</h1>")),
    "/fault/payment": _fixed(Answer(status=402, body=b"<h1>Subscribe</h1>")),
    "/fault/circle": _fixed(Answer(status=302, headers=(("Location", "/fault/circle"),))),
    "/fault/spiral/0": lambda _site, _visit: _further(0),
    "/fault/dropped": _fixed(Answer(body=story("Never whole", "Siemens")[:400], promised=5_000)),
    "/fault/slow": _fixed(Answer(body=story("Too late", "Siemens"), delay=6.0)),
    "/fault/huge": _fixed(Answer(body=story("Big", "Siemens", extra="<p>x</p>" * 1_300_000))),
    "/fault/picture": _fixed(Answer(body=b"\x89PNG\r\n\x1a\n" + bytes(500), kind="image/png")),
    "/fault/empty": _fixed(Answer()),
    "/fault/nested": _nested,
    "/fault/nul": _nul,
    "/fault/cut": _cut,
    "/fault/bomb": _bomb_answer,
    "/fault/latin": _fixed(
        Answer(body=story("Café prices", "Siemens").decode().encode("iso-8859-1"))
    ),
}

FAULTS: dict[str, Callable[[str, int], Answer]] = {
    **PAGES,
    "/fault/feed.xml": lambda site, _: Answer(
        body=listing(site, tuple(PAGES)), kind="application/rss+xml"
    ),
    **{f"/fault/spiral/{n}": lambda _s, _v, n=n: _further(n) for n in range(1, 20)},
    "/fault/circle.xml": _fixed(Answer(status=302, headers=(("Location", "/fault/circle.xml"),))),
    "/fault/no-feed": _fixed(Answer(body=b"<html><body><p>Welcome</p></body></html>")),
    "/fault/entities.xml": _entities,
}
