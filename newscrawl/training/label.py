"""Label pages: a person ticks the content of a page in a browser, and a gold line is added to a
corpus.

A set of labelled pages grows by one line of gold.jsonl and one file in pages/; docs/training.md
describes both.

The form is served only to the person at this machine: the server is bound to 127.0.0.1. The address
holds a random token, the Host header must be the one that was printed, and a form must come from
our own page. So neither another site in the same browser nor one that resolves to this machine can
read pages or write labels.
"""

import gzip
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from markupsafe import Markup

from newscrawl.extraction.blocks import clean, read_blocks
from newscrawl.extraction.explain import taken_blocks
from newscrawl.extraction.extract import extract
from newscrawl.extraction.html import decode, parse
from newscrawl.items import Article
from newscrawl.templating import TEMPLATES, content_hash, html_templates
from newscrawl.training.corpus import GOLD_FILE, PAGES_FOLDER

MAX_FORM = 1 << 20  # bytes
MAX_FIELDS = 20_000  # a box a block
HOST = "127.0.0.1"
LANGUAGE = re.compile(r"[a-z]{2}")  # ISO 639-1


class LabelError(Exception):
    """A label that can't be saved; the message is one line that says what to change."""


@dataclass(frozen=True)
class Candidate:
    """A page to be labelled. `encoding` is the charset of its HTTP header."""

    name: str
    html: bytes
    url: str | None = None
    encoding: str | None = None

    @cached_property
    def article(self) -> Article:
        return extract(self.html, self.url, encoding=self.encoding)

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """Its blocks in order, as a person reads them."""
        raw = read_blocks(parse(decode(self.html, self.encoding))).raw
        return tuple(clean(text) for text in raw)

    @property
    def site(self) -> str:
        """Return the host it was fetched from; empty for a file."""
        return urlsplit(self.url or "").hostname or ""

    @property
    def id(self) -> str:
        """Return a readable name that differs for other bytes."""
        name = self.site or Path(self.name).stem
        digest = hashlib.sha256(self.html).hexdigest()[:10]
        return f"{re.sub(r'[^a-z0-9.-]+', '-', name.lower()).strip('-.')[:60]}-{digest}"


@dataclass(frozen=True, kw_only=True)
class Label:
    """The answers of a person about a page; `numbers` are those of blocks."""

    numbers: Sequence[int]
    lang: str
    site: str
    title: str = ""
    authors: tuple[str, ...] = ()
    date: str = ""
    page_type: str = "article"


@dataclass(frozen=True)
class Draft:
    """A page and the values of its form; `complaint` says why they were not saved."""

    candidate: Candidate
    label: Label
    complaint: str = ""

    @classmethod
    def begin(cls, candidate: Candidate) -> "Draft":
        """Return the draft with the answers of our method, which the person corrects."""
        article = candidate.article
        ticks = taken_blocks(candidate.blocks, article.paragraphs)
        label = Label(
            numbers=tuple(number for number, ticked in enumerate(ticks) if ticked),
            lang=article.language or "",
            site=candidate.site,
            title=article.title or "",
            authors=article.authors,
            date=article.published.isoformat() if article.published else "",
            page_type=article.kind,
        )
        return cls(candidate, label)


@dataclass(frozen=True)
class LabelledSet:
    """A folder with gold.jsonl and pages/, to which pages are added."""

    folder: Path

    def add(self, candidate: Candidate, label: Label) -> str:
        """Write page and gold line; returns the page's id. The page comes first, so that a
        gold line never lacks its page.

        Raises:
            LabelError: no block, no language, no site, or a page labelled before.
        """
        numbers = sorted(
            {number for number in label.numbers if 0 <= number < len(candidate.blocks)}
        )
        if not numbers:
            raise LabelError("tick at least one block, or skip the page")
        if not LANGUAGE.fullmatch(label.lang):
            raise LabelError(f"{label.lang!r} is not a language: give two letters, as in 'de'")
        if not label.site.strip():
            raise LabelError("give the site, as in 'example.org': corpora are split by it")
        record = {
            "id": candidate.id,
            "lang": label.lang,
            "site": label.site.strip(),
            "url": candidate.url,
            "page_type": label.page_type.strip() or "article",
            "title": label.title.strip() or None,
            "authors": list(label.authors) or None,
            "date": label.date.strip() or None,
            "text": "\n\n".join(candidate.blocks[number] for number in numbers),
        }
        if candidate.id in self.ids():
            raise LabelError(f"{candidate.id} has a label already: delete its line in {GOLD_FILE}")
        pages = self.folder / PAGES_FOLDER
        pages.mkdir(parents=True, exist_ok=True)
        target = pages / f"{candidate.id}.html.gz"
        fresh = target.with_name(target.name + ".new")
        html = candidate.html
        if candidate.encoding is not None:  # only the HTTP header named it
            html = decode(html, candidate.encoding)
        fresh.write_bytes(gzip.compress(html, mtime=0))
        fresh.replace(target)
        with (self.folder / GOLD_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return candidate.id

    def ids(self) -> set[str]:
        """Return the ids of the pages that have a label."""
        path = self.folder / GOLD_FILE
        if not path.is_file():
            return set()
        lines = path.read_text("utf-8").split("\n")
        try:
            return {json.loads(line)["id"] for line in lines if line.strip()}
        except (ValueError, KeyError, TypeError) as error:
            raise LabelError(
                f"{path}: not a file of gold lines ({error}); correct it first"
            ) from error


_KEYS = (
    ("j k", "next, previous block"),
    ("space", "tick"),
    ("shift + click", "tick from the last one to here"),
    ("a n", "tick all, none"),
    ("ctrl + enter", "save"),
)


def render(draft: Draft, position: int, total: int) -> str:
    """Return the page with the form for one candidate; positions count from 0."""
    heading = f"Page {position + 1} of {total}: {draft.candidate.name}"
    numbers = frozenset(draft.label.numbers)
    return _render(heading, draft=draft, kept=numbers, position=position, keys=_KEYS)


def _render(heading: str, **values: object) -> str:
    style, script = ((TEMPLATES / name).read_text("utf-8") for name in ("label.css", "label.js"))
    policy = (
        f"default-src 'none'; style-src {content_hash(style)}; base-uri 'none'; "
        f"form-action 'self'; script-src {content_hash(script)}"
    )
    return (
        html_templates(TEMPLATES)
        .get_template("label.html")
        .render(
            heading=heading,
            policy=policy,
            style=Markup(style),  # noqa: S704 - files of ours
            script=Markup(script),  # noqa: S704
            **values,
        )
    )


@dataclass
class LabelServer:
    """Shows the candidates one after another; `run` returns when the last is done."""

    candidates: tuple[Candidate, ...]
    target: LabelledSet
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    saved: int = 0
    position: int = 0
    draft: Draft | None = None  # of the current page
    finished: bool = False  # the last page has been shown

    def __post_init__(self) -> None:
        self._http = _Threads((HOST, self.port), _handler(self))
        self._lock = Lock()
        self.port = self._http.server_port

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/{self.token}/"

    def run(self) -> None:
        """Answer requests until every page is saved or skipped."""
        try:
            while not self.finished:
                self._http.handle_request()
        finally:
            self._http.server_close()

    def page(self) -> str:
        """Return the page with the current form, or the last page."""
        with self._lock:
            if self.position >= len(self.candidates):
                self.finished = True
                pages = "1 page" if self.saved == 1 else f"{self.saved} pages"
                return _render(f"{pages} saved", draft=None, folder=self.target.folder)
            self.draft = self.draft or Draft.begin(self.candidates[self.position])
            return render(self.draft, self.position, len(self.candidates))

    def take(self, form: dict[str, list[str]]) -> None:
        """Save or skip the page that the form was for, then turn to the next; a form that was
        sent twice counts once."""
        with self._lock:
            if form.get("position") != [str(self.position)] or self.finished:
                return
            if form.get("do") != ["skip"]:
                candidate, label = self.candidates[self.position], _label(form)
                try:
                    self.target.add(candidate, label)
                except LabelError as error:
                    self.draft = Draft(candidate, label, str(error))
                    return
                self.saved += 1
            self.position += 1
            self.draft = None


class _Threads(ThreadingHTTPServer):
    """A thread for each connection, as browsers open idle ones; the last answer is awaited."""

    daemon_threads = False
    timeout = 0.2  # seconds between checks whether all is done


def _label(form: dict[str, list[str]]) -> Label:
    def first(name: str) -> str:
        return form.get(name, [""])[0].strip()

    return Label(
        numbers=tuple(int(number) for number in form.get("kept", []) if number.isdecimal()),
        lang=first("lang").lower(),
        site=first("site"),
        title=first("title"),
        authors=tuple(name.strip() for name in first("authors").split(";") if name.strip()),
        date=first("date"),
        page_type=first("page_type"),
    )


def _handler(server: LabelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 5  # seconds that a silent connection is kept

        def do_GET(self) -> None:
            if self._is_ours(f"/{server.token}/"):
                self._answer(HTTPStatus.OK, server.page())

        def do_POST(self) -> None:
            if not self._is_ours(f"/{server.token}/save"):
                return
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MAX_FORM:
                self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "")
                return
            body = self.rfile.read(int(length)).decode("utf-8", "replace")
            try:
                form = parse_qs(body, keep_blank_values=True, max_num_fields=MAX_FIELDS)
            except ValueError:
                self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "")
                return
            server.take(form)
            self._answer(HTTPStatus.SEE_OTHER, "")

        def _is_ours(self, path: str) -> bool:
            """Return whether a request has the token and comes from our page; else answer 404."""
            host, origin = self.headers.get("Host"), self.headers.get("Origin")
            is_ours = hmac.compare_digest(self.path.encode(), path.encode())
            if is_ours and f"http://{host}" == server.origin and origin in {None, server.origin}:
                return True
            self._answer(HTTPStatus.NOT_FOUND, "")
            return False

        def _answer(self, status: HTTPStatus, document: str) -> None:
            body = document.encode("utf-8")
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            if status == HTTPStatus.SEE_OTHER:
                self.send_header("Location", server.url)
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("X-Frame-Options", "DENY")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: the token would appear in the log."""

    return Handler
