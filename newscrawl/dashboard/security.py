"""Check every request, and restrict what browsers do with the responses.

The Host header must be an IP address, localhost or a name given at the start, so that a foreign
name that resolves to this machine (DNS rebinding) is refused. With a token, programs send it as
`Authorization: Bearer`; browsers send it once, and get the cookie of a session. A proxy that signs
people in names them in a header, which is accepted only from the proxy's own address. Each request
has an `Identity`; without the right to edit, only requests that change nothing are answered. While
the database of tokens can't be read, requests whose identity depends on it are answered by 503.
"""

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from urllib.parse import quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newscrawl.dashboard.config import Config
from newscrawl.storage import Database, StorageError
from newscrawl.storage.tokens import Right, find_token, has_tokens, hash_of

# Opens the database for one request.
Reading = Callable[[], AbstractContextManager[Database]]
# Answers a request while the database can't be read.
NoDatabase = Callable[[Request, Exception], Response]

SESSION_COOKIE = "newscrawl_session"
FORM_COOKIE = "newscrawl_form"
MIN_TOKEN = 16  # characters; ours: 16 random letters can't be guessed over a network
SIGNED_IN_FOR = timedelta(days=30)
MAX_SESSIONS = 10_000  # ours: as many take five megabytes
MAX_BODY = 1 << 18  # bytes; the largest form is a company's definition
_DIGITS = len(str(MAX_BODY))

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
USER_HEADER = "X-Forwarded-User"
MAX_USER = 100  # characters of a name
ANYBODY = "*"  # among the editors: every user whom the proxy names
_OPEN_TO_ALL = {"/sign-in", "/sign-out"}  # and static files
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


@dataclass(frozen=True, slots=True)
class Identity:
    """Who makes a request: the name of a token or of a user of the proxy, None for the token of the
    settings and for users of this machine; the right; and whether a token was needed."""

    name: str | None
    right: Right
    signed_in: bool = False


class Guard:
    """The outermost layer: checks every request and adds the headers to every answer."""

    def __init__(
        self,
        app: ASGIApp,
        config: Config,
        reading: Reading,
        sessions: "Sessions",
        no_database: NoDatabase,
    ) -> None:
        self._app = app
        self._config = config
        self._reading = reading
        self._sessions = sessions
        self._no_database = no_database

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                kept = "no-cache" if scope["path"].startswith("/static/") else "no-store"
                headers.setdefault("Cache-Control", kept)
            await send(message)

        request = Request(scope)
        if self._is_proxy(request) and request.headers.get("X-Forwarded-Proto") == "https":
            scope["scheme"] = "https"
        refusal = self._unfit(request)
        if refusal is None and not _is_open_to_all(request):
            refusal = await run_in_threadpool(self._identify, request)
        answer: ASGIApp = refusal if refusal is not None else self._app
        if scope["method"] == "HEAD":
            # FastAPI's routes have no HEAD, which services that watch sites ask for; the server,
            # which has the first scope, leaves the body out.
            scope = {**scope, "method": "GET"}
        await answer(scope, receive, marked)

    def _unfit(self, request: Request) -> Response | None:
        """Return the response to a request that is refused for everybody."""
        if not is_allowed_host(request.headers, self._config.hosts):
            return PlainTextResponse(
                "This host name is not allowed. To allow it, start with "
                "newscrawl serve --allow-host NAME\n",
                status_code=421,
            )
        length = request.headers.get("Content-Length", "0")
        chunked = "Transfer-Encoding" in request.headers
        # Python refuses to read numbers of thousands of digits.
        digits = length.lstrip("0") or "0"
        unfit = not length.isdecimal() or len(digits) > _DIGITS or int(digits) > MAX_BODY
        if chunked or unfit:
            return PlainTextResponse("Too much at once.\n", status_code=413)
        return None

    def _is_proxy(self, request: Request) -> bool:
        try:
            peer = ipaddress.ip_address(request.client.host if request.client else "")
        except ValueError:
            return False
        return any(peer in network for network in self._config.proxies)

    def _identify(self, request: Request) -> Response | None:
        """Put the identity into the state of the request; return the response to one without the
        required right."""
        try:
            identity = self._identity(request)
        except StorageError as error:
            return self._no_database(request, error)
        request.state.identity = identity
        return _refusal(request, identity)

    def _identity(self, request: Request) -> Identity | None:
        user = _forwarded_user(request) if self._is_proxy(request) else None
        if user:
            editors = self._config.editors
            return Identity(user, "edit" if editors & {user, ANYBODY} else "read")
        session = self._sessions.token_of(request.cookies.get(SESSION_COOKIE, ""))
        secret = _bearer(request)
        hashes = [hash_of(secret)] if secret else []
        return identity_of(self._config, self._reading, [*hashes, *filter(None, [session])])


def identity_of(config: Config, reading: Reading, hashes: Collection[str]) -> Identity | None:
    """Return the identity of a request with tokens of these hashes; None without a right. While
    there is no token, all requests have the right to edit. Raise StorageError if the database can't
    be read: whether it has the token, or any, is unknown then."""
    if config.token and any(is_equal(value, hash_of(config.token)) for value in hashes):
        return Identity(None, "edit", signed_in=True)
    if config.is_closed and not hashes:
        return None
    with reading() as database:
        token = find_token(database, hashes)
        if token is not None:
            return Identity(token.name, token.right, signed_in=True)
        return None if config.is_closed or has_tokens(database) else Identity(None, "edit")


@dataclass(frozen=True, slots=True)
class _Session:
    token_hash: str
    ends_at: datetime


class Sessions:
    """The browsers that are signed in: their random cookies, by hashes, and the hashes of their
    tokens. They are in memory, and end with the process.

    A session is worth what its token is worth at each request, and nothing after it has ended.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[str, _Session] = {}

    def begin(self, token_hash: str) -> str:
        """Return the cookie of a new session; the oldest of more than MAX_SESSIONS ends."""
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[hash_of(cookie)] = _Session(token_hash, self._clock() + SIGNED_IN_FOR)
            if len(self._sessions) > MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return cookie

    def token_of(self, cookie: str) -> str | None:
        """Return the hash of the token with which the session of this cookie began; None if it has
        ended."""
        session = self._sessions.get(hash_of(cookie))
        return session.token_hash if session and self._clock() < session.ends_at else None

    def end(self, cookie: str) -> None:
        """End the session of this cookie, if there is one."""
        with self._lock:
            self._sessions.pop(hash_of(cookie), None)


def _bearer(request: Request) -> str:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _forwarded_user(request: Request) -> str | None:
    """Return the name in the only header of the proxy, if it can be one."""
    headers_of_name = request.headers.getlist(USER_HEADER)
    name = headers_of_name[0].strip() if len(headers_of_name) == 1 else ""
    return name if name and len(name) <= MAX_USER and name.isprintable() else None


def _is_open_to_all(request: Request) -> bool:
    # The path by which the request is routed; that of `request.url` also depends on headers.
    path: str = request.scope["path"]
    return path in _OPEN_TO_ALL or path.startswith("/static/")


def _refusal(request: Request, identity: Identity | None) -> Response | None:
    """Return the response to a request without the required right."""
    path, changes = request.scope["path"], request.method not in _SAFE_METHODS
    if identity is not None:
        if not changes or identity.right == "edit":
            return None
        return PlainTextResponse("You may only read here.\n", status_code=403)
    if path.startswith("/api/"):
        return JSONResponse(
            {"detail": "a token is needed: Authorization: Bearer TOKEN"},
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
    if changes:
        return PlainTextResponse("Sign in first.\n", status_code=401)
    address = path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/sign-in?then={quote(address, safe='')}", status_code=303)


def is_allowed_host(headers: Headers, names: frozenset[str]) -> bool:
    """Return whether the only Host header is an allowed name or an IP address."""
    headers_of_name = headers.getlist("host")
    if len(headers_of_name) != 1:
        return False
    try:
        name = (urlsplit(f"//{headers_of_name[0]}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if name in {"localhost", *names}:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _host_of(origin: str) -> str | None:
    """Return the host and port of an Origin header; None for an invalid one."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def is_equal(secret: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(secret.encode(), expected.encode())


class FormSeal:
    """Protects forms against other sites: a form must have a seal made for the browser's random
    cookie, which a page of another site can neither read nor set."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def for_browser(self, request: Request) -> tuple[str, str]:
        """Return the browser's cookie, a new one where it has none, and the seal for its forms."""
        cookie = request.cookies.get(FORM_COOKIE) or secrets.token_urlsafe(24)
        return cookie, self._seal(cookie)

    def holds(self, request: Request, seal: str) -> bool:
        """Return whether the seal is valid and the form was sent from one of our pages."""
        cookie = request.cookies.get(FORM_COOKIE)
        if not cookie or not is_equal(seal, self._seal(cookie)):
            return False
        origin = request.headers.get("Origin")
        if origin is not None and _host_of(origin) != request.headers.get("Host"):
            return False
        return request.headers.get("Sec-Fetch-Site", "same-origin") in {"same-origin", "none"}

    def _seal(self, cookie: str) -> str:
        return hmac.new(self._secret, cookie.encode(), hashlib.sha256).hexdigest()
