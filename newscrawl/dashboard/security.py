"""Check every request, and restrict what browsers do with the responses.

The Host header must be an IP address, localhost or a name given at the start, so that a foreign
name that resolves to this machine (DNS rebinding) is refused. With a token, programs send it as
`Authorization: Bearer`; browsers send it once, and get a cookie that proves it.
"""

import hashlib
import hmac
import ipaddress
import secrets
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newscrawl.dashboard.config import Config

SESSION_COOKIE = "newscrawl_session"
FORM_COOKIE = "newscrawl_form"
MIN_TOKEN = 16  # characters; ours: 16 random letters can't be guessed over a network
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
_OPEN_TO_ALL = ("/sign-in", "/static/")
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


class Guard:
    """The outermost layer: checks every request and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._config = config

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

        refusal = self._refusal(Request(scope))
        answer: ASGIApp = refusal if refusal is not None else self._app
        await answer(scope, receive, marked)

    def _refusal(self, request: Request) -> Response | None:
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
        path = request.url.path
        if path.startswith(_OPEN_TO_ALL) or is_known(request, self._config.token):
            return None
        if path.startswith("/api/"):
            return JSONResponse(
                {"detail": "a token is needed: Authorization: Bearer TOKEN"},
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
        if request.method not in _SAFE_METHODS:
            return PlainTextResponse("Sign in first.\n", status_code=401)
        wanted = path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/sign-in?then={quote(wanted, safe='')}", status_code=303)


def is_allowed_host(headers: Headers, names: frozenset[str]) -> bool:
    """Return whether the only Host header is an allowed name or an IP address."""
    given = headers.getlist("host")
    if len(given) != 1:
        return False
    try:
        name = (urlsplit(f"//{given[0]}").hostname or "").rstrip(".")
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


def is_known(request: Request, token: str | None) -> bool:
    """Return whether the request has the token, or the cookie that was given for it."""
    if token is None:
        return True
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer" and is_equal(given.strip(), token):
        return True
    return is_equal(request.cookies.get(SESSION_COOKIE, ""), session_of(token))


def session_of(token: str) -> str:
    """Return the cookie of browsers that have sent the token; it does not reveal the token."""
    return hmac.new(token.encode(), b"newscrawl session", hashlib.sha256).hexdigest()


def is_equal(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode(), expected.encode())


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
