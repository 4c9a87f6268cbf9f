"""The labelling page on this machine, for the person before it and nobody else.

Bound to 127.0.0.1. The address holds a random token, the Host header must be the one that was
printed, and a form must come from our own page: so neither another site in the same browser
nor one that resolves to this machine can read pages or write labels.
"""

import hmac
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs

from newscrawl.training.label import Candidate, Draft, Label, LabelError, LabelledSet
from newscrawl.training.label_page import render, render_end

MAX_FORM = 1 << 20  # bytes
MAX_FIELDS = 20_000  # a box a block
HOST = "127.0.0.1"


@dataclass
class LabelServer:
    """Shows the candidates one after another; `run` returns when the last is done."""

    candidates: tuple[Candidate, ...]
    target: LabelledSet
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    saved: int = 0
    position: int = 0
    draft: Draft | None = None  # of the page that is shown
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
        """The page to be labelled now, or the last one."""
        with self._lock:
            if self.position >= len(self.candidates):
                self.finished = True
                return render_end(self.saved, str(self.target.folder))
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
    """A thread a connection, as browsers open some and say nothing; the last answer is awaited."""

    daemon_threads = False
    timeout = 0.2  # seconds between looks whether all is done


def _label(form: dict[str, list[str]]) -> Label:
    def first(name: str) -> str:
        return form.get(name, [""])[0].strip()

    return Label(
        kept=tuple(int(number) for number in form.get("kept", []) if number.isdecimal()),
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
            """Whether the request has the token and comes from the page with it; else 404."""
            host, origin = self.headers.get("Host"), self.headers.get("Origin")
            known = hmac.compare_digest(self.path.encode(), path.encode())
            if known and f"http://{host}" == server.origin and origin in {None, server.origin}:
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
            """Nothing: the token would stand in the log."""

    return Handler
