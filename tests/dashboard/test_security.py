"""Who reaches the dashboard, and what a browser may do with what it gets."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copyfile

import hypothesis
import pytest
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message

from newscrawl.dashboard import create_app
from newscrawl.dashboard.pages import access
from newscrawl.dashboard.security import FORM_COOKIE, MAX_BODY, POLICY
from tests.dashboards import config_of

TOKEN = "correct horse battery"  # noqa: S105 - of a test
ORIGIN = "http://127.0.0.1:8300"

Open = Callable[..., TestClient]


@pytest.fixture
def opened(tmp_path: Path, sqlite_template: Path) -> Iterator[Open]:
    """Opens a dashboard over an empty database."""
    clients: list[TestClient] = []
    copyfile(sqlite_template, tmp_path / "news.sqlite")

    def make(base: str = ORIGIN, **settings: object) -> TestClient:
        app = create_app(config_of(tmp_path / "news.sqlite", **settings))
        clients.append(TestClient(app, base_url=base, follow_redirects=False))
        return clients[-1]

    yield make
    for client in clients:
        client.app.state.dashboard.store.close()
        client.close()


def seal_of(client: TestClient, path: str) -> str:
    """The seal of the form on a page, and the browser's cookie with it."""
    text = client.get(path).text
    return text.split('name="seal" value="')[1].split('"')[0]


# Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("127.0.0.1:8300", 200),
        ("localhost:8300", 200),
        ("LOCALHOST", 200),
        ("[::1]:8300", 200),
        ("192.168.1.20:8300", 200),
        ("news.desk.example", 200),
        ("evil.example:8300", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example", 421),
        ("", 421),
        ("[::1", 421),
    ],
)
def test_only_allowed_host_names_are_answered(opened, host, code):
    client = opened(hosts=frozenset({"news.desk.example"}))
    assert client.get("/", headers={"Host": host}).status_code == code


# Headers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["/", "/company/Nobody", "/static/app.js", "/api/facts", "/api/openapi.json", "/nowhere"],
)
def test_every_answer_has_the_security_headers(opened, path):
    headers = opened().get(path).headers
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"


def test_content_policy_allows_nothing_inline_and_no_other_host():
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "default-src 'self'" in POLICY
    assert "frame-ancestors 'none'" in POLICY


def test_templates_have_no_inline_scripts_or_styles():
    folder = Path(access.__file__).parent.parent / "templates"
    texts = [file.read_text("utf-8") for file in folder.glob("*.html")]
    assert len(texts) > 8
    for text in texts:
        assert "<style" not in text
        assert " style=" not in text
        assert "javascript:" not in text
        assert "|safe" not in text
        assert not [part for part in text.split("<script")[1:] if not part.startswith(" src=")]
        assert not [word for word in text.split() if word.startswith("on") and "=" in word]


# The token ---------------------------------------------------------------------------------------


def test_request_without_token_gets_the_sign_in_form(opened):
    client = opened(token=TOKEN)
    answer = client.get("/company/Nokia?days=7")
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/sign-in?then=%2Fcompany%2FNokia%3Fdays%3D7"
    assert client.get("/api/facts").status_code == 401
    assert client.post("/registry/save").status_code == 401
    assert "Token" in client.get("/sign-in").text


@pytest.mark.parametrize("given", ["Bearer wrong", "Bearer ", TOKEN, f"Basic {TOKEN}", ""])
def test_api_refuses_a_wrong_token(opened, given):
    client = opened(token=TOKEN)
    assert client.get("/api/facts", headers={"Authorization": given}).status_code == 401


def test_api_accepts_the_token(opened):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert opened(token=TOKEN).get("/api/facts", headers=headers).status_code == 200


def test_browser_signs_in_and_out(opened):
    client = opened(token=TOKEN)
    form = {"token": TOKEN, "then": "/sources", "seal": seal_of(client, "/sign-in")}
    answer = client.post("/sign-in", data=form)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sources")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert client.get("/").status_code == 200
    client.post("/sign-out", data={"seal": seal_of(client, "/")})
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("then", ["https://evil.example/", "//evil.example", "/\\evil", "/a\r\nb"])
def test_signing_in_leads_to_no_other_site(opened, then):
    client = opened(token=TOKEN)
    form = {"token": TOKEN, "then": then, "seal": seal_of(client, "/sign-in")}
    assert client.post("/sign-in", data=form).headers["Location"] == "/"


# Forms -------------------------------------------------------------------------------------------


@pytest.fixture
def editor(opened: Open, tmp_path: Path) -> TestClient:
    """A dashboard that may write a companies file."""
    return opened(companies=tmp_path / "companies.toml")


def saved(tmp_path: Path) -> bool:
    return (tmp_path / "companies.toml").exists()


def form_of(client: TestClient) -> dict[str, str]:
    text = client.get("/registry/edit").text
    mark = text.split('name="mark" value="')[1].split('"')[0]
    return {"name": "Harbour Bank", "mark": mark, "seal": seal_of(client, "/registry/edit")}


def test_own_form_is_accepted(editor, tmp_path):
    headers = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
    answer = editor.post("/registry/save", data=form_of(editor), headers=headers)
    assert answer.status_code == 303
    assert saved(tmp_path)


@pytest.mark.parametrize("path", ["/registry/save", "/registry/drop", "/registry/preview"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=["origin", "null", "no address", "empty", "cross-site", "same-site"],
)
def test_form_of_another_site_is_refused(editor, tmp_path, path, headers):
    assert editor.post(path, data=form_of(editor), headers=headers).status_code == 403
    assert not saved(tmp_path)


def test_form_without_the_seal_of_its_browser_is_refused(editor, tmp_path):
    form = form_of(editor)
    assert editor.post("/registry/save", data={**form, "seal": ""}).status_code == 403
    editor.cookies.clear()
    assert editor.post("/registry/save", data=form).status_code == 403
    assert not saved(tmp_path)


def test_too_large_body_is_refused(editor):
    answer = editor.post("/registry/save", data={"name": "x" * MAX_BODY})
    assert answer.status_code == 413


@pytest.mark.parametrize("length", ["9" * 5000, "0" * 5000 + "9" * 7, "-1", "1e3", "", "\xb2"])
def test_invalid_content_length_is_refused(opened, length):
    answer = asked(opened().app, "GET", "/", [(b"content-length", length.encode("latin-1"))])
    assert answer == 413


# All of them at once -----------------------------------------------------------------------------

_TRICKY = st.sampled_from(
    [
        *(
            "http://[",
            "http://[::1",
            "http://]",
            "[",
            "]:80",
            "//",
            "http://a:b:c",
            "http://\u2100",
        ),
        *("127.0.0.1:8300", "127.0.0.1:x", "127.0.0.1:99999", "[::1%lo]", "localhost.", "0", "@"),
        *("newscrawl_form", 'newscrawl_form="\\', 'newscrawl_form="\\377"', "=;=;", "a=b; a"),
        *("Bearer \xff", "Bearer", "bearer " * 100, "9" * 5000, "chunked", "null", "\x00", "%"),
    ]
)
_VALUES = st.one_of(
    _TRICKY.map(lambda text: text.encode("utf-8")),
    st.binary(max_size=60),
    st.tuples(_TRICKY, st.text(max_size=8)).map(lambda two: "".join(two).encode("utf-8")),
)
_NAMES = st.sampled_from(
    [
        *(b"origin", b"referer", b"cookie", b"sec-fetch-site", b"authorization", b"content-type"),
        *(b"content-length", b"transfer-encoding", b"host", b"accept", b"if-none-match", b"range"),
    ]
)


def asked(
    app: ASGIApp, method: str, path: str, headers: list[tuple[bytes, bytes]], body: bytes = b""
) -> int:
    """The status that the application answers to these very bytes; no client stands between."""
    if not any(name == b"host" for name, _ in headers):
        headers = [(b"host", b"127.0.0.1:8300"), *headers]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8300),
    }
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        said.append(message)

    asyncio.run(app(scope, receive, send))
    return int(said[0]["status"])


@pytest.mark.parametrize("token", [None, TOKEN], ids=["open", "with a token"])
@hypothesis.given(
    headers=st.lists(st.tuples(_NAMES, _VALUES), max_size=6),
    target=st.sampled_from(
        [("GET", "/"), ("POST", "/sign-in"), ("POST", "/registry/save"), ("GET", "/api/facts")]
    ),
    seal=st.binary(max_size=40),
)
def test_no_header_crashes_the_application(header_fuzzed, token, headers, target, seal):
    app, cookie, sealed = header_fuzzed(token)
    # Half of the forms bear a seal that holds: what is behind it must stand, too.
    good = len(seal) % 2 == 0
    body = b"name=x&mark=&seal=" + (sealed.encode() if good else seal)
    form = [(b"content-type", b"application/x-www-form-urlencoded"), (b"cookie", cookie)]
    status = asked(app, *target, [*form, *headers] if good else headers, body)
    assert status < 500, (headers, target, status)


@pytest.fixture(scope="module")
def header_fuzzed(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Iterator[Callable[[str | None], tuple[ASGIApp, bytes, str]]]:
    """Applications with and without a token: each with a browser's cookie and its seal."""
    folder = tmp_path_factory.mktemp("headers")
    copyfile(sqlite_template, folder / "news.sqlite")
    made: dict[str | None, tuple[ASGIApp, bytes, str]] = {}
    clients = []

    def get(token: str | None) -> tuple[ASGIApp, bytes, str]:
        if token not in made:
            config = config_of(
                folder / "news.sqlite", token=token, companies=folder / "companies.toml"
            )
            client = TestClient(create_app(config), base_url=ORIGIN, follow_redirects=False)
            clients.append(client)
            sealed = seal_of(client, "/sign-in" if token else "/registry/edit")
            cookie = f"{FORM_COOKIE}={client.cookies[FORM_COOKIE]}".encode()
            made[token] = (client.app, cookie, sealed)
        return made[token]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "WRONG_PAUSE", 0.0)
        yield get
    for client in clients:
        client.app.state.dashboard.store.close()
        client.close()


def test_editor_needs_a_companies_file(opened):
    client = opened()
    assert "newscrawl serve --companies" in client.get("/registry").text
    assert client.get("/registry/edit").status_code == 404
