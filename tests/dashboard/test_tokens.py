"""Who may do what: every route with every kind of token, on both databases, and behind a proxy."""

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from threading import Thread
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import httpx2
import pytest
from fastapi import FastAPI
from playwright.sync_api import expect
from sqlalchemy import text
from starlette.routing import Route
from starlette.testclient import TestClient

import newscrawl
from newscrawl.dashboard import Config, create_app
from newscrawl.dashboard.pages import access
from newscrawl.dashboard.security import MAX_SESSIONS, SESSION_COOKIE, SIGNED_IN_FOR, Sessions
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.tokens import (
    TokenError,
    add_token,
    find_token,
    has_tokens,
    hash_of,
    list_tokens,
    registry_changes,
    revoke_token,
)
from tests.browsers import Watched
from tests.dashboards import ARTICLE_PAGE, ARTICLE_URL, NOW, explainer, fill_article, serving
from tests.serving import asked, served
from tests.versions import good, shell
from tests.worlds import save_documents

BASE = "http://127.0.0.1:8300"
PROJECT = Path(newscrawl.__file__).parent.parent
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
SHARED = "correct horse battery"
Kind = Literal["none", "wrong", "revoked", "read", "edit", "shared"]
KINDS: tuple[Kind, ...] = ("none", "wrong", "revoked", "read", "edit", "shared")
MAY_READ, MAY_EDIT = {"read", "edit", "shared"}, {"edit", "shared"}
OPEN = {("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-out")}


@pytest.fixture
def news(database_url: str, companies: Path) -> Iterator[Database]:
    with open_database(database_url) as opened:
        fill_article(opened, companies)
        yield opened


@pytest.fixture
def secrets(news: Database) -> dict[Kind, str]:
    """A token of each kind."""
    made: dict[Kind, str] = {"none": "", "wrong": "nc_" + "x" * 43, "shared": SHARED}
    made |= {"read": add_token(news, "ann", "read"), "edit": add_token(news, "ben", "edit")}
    made["revoked"] = add_token(news, "cat", "edit")
    assert revoke_token(news, "cat")
    return made


def config(url: str, companies: Path, **settings: Any) -> Config:
    return Config(
        database_url=url,
        companies=companies,
        explain=explainer(companies.parent),
        clock=lambda: NOW,
        **settings,
    )


Open = Callable[..., TestClient]


@pytest.fixture
def opened(database_url: str, companies: Path) -> Iterator[Open]:
    """Opens the dashboard for a token, sent by a program."""
    with ExitStack() as stack:

        def make(secret: str = "", address: str = "127.0.0.1", **settings: Any) -> TestClient:
            app = create_app(config(database_url, companies, **settings))
            headers = {"Authorization": f"Bearer {secret}"} if secret else {}
            return stack.enter_context(
                TestClient(
                    app,
                    base_url=BASE,
                    follow_redirects=False,
                    headers=headers,
                    client=(address, 5000),
                )
            )

        yield make


def routes_of(app: FastAPI) -> list[tuple[str, str]]:
    """Every method and path of the application."""
    return sorted(
        {
            (method, route.path)
            for route in app.routes
            if isinstance(route, Route)
            for method in route.methods or ()
        }
    )


def filled(path: str) -> str:
    """The path with values in place of its parameters, and the parameters that most routes need."""
    for name in ("{name:path}", "{company}", "{company:path}", "{name}"):
        path = path.replace(name, "Siemens")
    assert "{" not in path
    together = "company=Siemens&company=Alstom&q=line&since=2026-11-01"
    return f"{path}?url={quote(ARTICLE_URL, safe='')}&{together}"


def verdict(answer: Any) -> str:
    """Whether the guard lets the request through, and if not, what it says."""
    if answer.status_code == 401 or answer.headers.get("Location", "").startswith("/sign-in?"):
        return "who are you?"
    if answer.status_code == 403 and "You may only read here." in answer.text:
        return "only read"
    return "answered"


# Which database has the tokens makes no difference to a route; the next tests use both.
@pytest.mark.parametrize("tables_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_every_route_asks_for_its_right(opened, secrets, kind):
    client = opened(secrets[kind], token=SHARED)
    app: Any = client.app
    routes = routes_of(app)
    assert len(routes) > 45
    assert {path for _, path in routes} >= {"/", "/alerts", "/report", "/api/counts"}
    for method, path in routes:
        expected = "answered"
        if (method, path) not in OPEN:
            if kind not in MAY_READ:
                expected = "who are you?"
            elif method == "POST" and kind not in MAY_EDIT:
                expected = "only read"
        answer = client.request(method, filled(path), data={} if method == "POST" else None)
        assert verdict(answer) == expected, (method, path, answer.status_code)
        assert answer.status_code < 500, (method, path, answer.text)


def test_no_route_is_missed(opened):
    app: Any = opened().app
    documented = {path for path, about in app.openapi()["paths"].items() if "get" in about}
    known = {path for _, path in routes_of(app)}
    assert documented <= known
    assert {method for method, _ in routes_of(app)} <= {"GET", "HEAD", "POST"}


def test_first_token_closes_the_dashboard_and_revoking_it_does_not_open_it(opened, news):
    client = opened()
    assert client.get("/").status_code == 200
    secret = add_token(news, "ann", "read")
    assert client.get("/").status_code == 303
    assert opened(secret).get("/").status_code == 200
    revoke_token(news, "ann")
    assert opened(secret).get("/").status_code == 303
    assert client.get("/").status_code == 303


def seal_of(client: TestClient, path: str = ARTICLE_PAGE) -> str:
    return client.get(path).text.split('name="seal" value="')[1].split('"')[0]


def test_correction_carries_the_name_of_the_token(opened, secrets, news):
    client = opened(secrets["edit"])
    client.post(
        "/article/name", data={"seal": seal_of(client), "url": ARTICLE_URL, "name": "somebody"}
    )
    form = {"seal": seal_of(client), "url": ARTICLE_URL, "everywhere": "Alstom"}
    assert client.post("/article/corrections", data=form).status_code == 303
    assert {row.made_by for row in queries.corrections(news)} == {"ben"}
    page = client.get(ARTICLE_PAGE).text
    assert "Saved as ben" in page
    assert "Your name" not in page


def test_change_of_the_registry_carries_the_name_of_the_token(opened, secrets, news):
    client = opened(secrets["edit"])
    for path, fields in (
        ("/registry", {"name": "Harbour Bank"}),
        ("/registry/group", {"name": "ships", "members": "BMW\nAlstom"}),
    ):
        edit = "/registry/edit" if path == "/registry" else path
        text = client.get(edit).text
        mark = text.split('name="mark" value="')[1].split('"')[0]
        form = {"seal": seal_of(client, edit), "mark": mark, **fields}
        assert client.post(f"{path}/save", data=form).status_code == 303
    assert [(one.made_by, one.action, one.entry) for one in registry_changes(news, 5)] == [
        ("ben", "saved", "ships (group)"),
        ("ben", "saved", "Harbour Bank"),
    ]
    assert "saved by ben" in " ".join(client.get("/registry").text.split())


def test_decision_on_the_quarantine_carries_the_name_of_the_token(opened, secrets, news):
    run = news.start_run("ft")
    save_documents(news, [good(path="held"), shell(path="held")], run)
    (held,) = queries.quarantined(news)
    client = opened(secrets["edit"])
    form = {"seal": seal_of(client), "number": str(held.id), "decision": "discard"}
    assert client.post("/article/quarantine", data=form).status_code == 303
    assert [one.decided_by for one in queries.quarantine_decisions(news)] == ["ben"]
    assert "discarded by ben" in client.get("/quarantine").text


def test_reader_sees_nothing_to_press(opened, secrets):
    client = opened(secrets["read"])
    page = client.get(ARTICLE_PAGE).text
    assert "bid for the new line over the river" in page
    assert "<button" not in page.split("<main")[1].split("</main>")[0]
    registry = client.get("/registry").text
    assert "New company" not in registry
    assert "Re-scan stored articles" not in registry


def test_browser_signs_in_with_a_token_until_it_is_revoked(opened, secrets, news):
    client = opened()
    form = {"token": secrets["read"], "then": "/sources", "seal": seal_of(client, "/sign-in")}
    answer = client.post("/sign-in", data=form)
    assert answer.headers["Location"] == "/sources"
    assert secrets["read"] not in answer.headers["Set-Cookie"]
    assert client.get("/").status_code == 200
    assert "Sign out" in client.get("/").text
    assert client.post("/registry/save", data={}).status_code == 403
    revoke_token(news, "ann")
    assert client.get("/").status_code == 303


def signed_in(client: TestClient, secret: str) -> str:
    """The cookie of a browser that signs in."""
    form = {"token": secret, "seal": seal_of(client, "/sign-in")}
    assert client.post("/sign-in", data=form).status_code == 303
    return client.cookies[SESSION_COOKIE]


@pytest.mark.parametrize("kind", ["read", "edit", "shared"])
def test_cookie_is_worth_nothing_after_its_session(opened, secrets, kind):
    client = opened(token=SHARED)
    others: list[str] = [signed_in(client, secrets[kind])]
    client.cookies.delete(SESSION_COOKIE)
    old = signed_in(client, secrets[kind])
    assert client.post("/sign-out", data={"seal": seal_of(client, "/")}).status_code == 303
    assert SESSION_COOKIE not in client.cookies
    client.cookies.set(SESSION_COOKIE, old)
    assert client.get("/").status_code == 303
    assert client.get("/api/facts").status_code == 401
    client.cookies.delete(SESSION_COOKIE)
    # Another browser with the same token stays signed in.
    client.cookies.set(SESSION_COOKIE, *others)
    assert client.get("/").status_code == 200


def test_signing_in_again_ends_the_session_before(opened, secrets):
    client = opened()
    first = signed_in(client, secrets["read"])
    second = signed_in(client, secrets["edit"])
    assert client.get("/").status_code == 200
    client.cookies.clear()
    client.cookies.set(SESSION_COOKIE, first)
    assert client.get("/").status_code == 303
    assert first != second


def test_session_ends_with_its_process_and_its_token(opened, secrets, news):
    client = opened()
    cookie = signed_in(client, secrets["read"])
    restarted = opened()
    restarted.cookies.set(SESSION_COOKIE, cookie)
    assert restarted.get("/").status_code == 303
    # A token that is deleted, not revoked, ends its sessions, too.
    news.write(lambda session: session.execute(text("DELETE FROM tokens WHERE name = 'ann'")))
    assert client.get("/").status_code == 303


def test_sessions_end_after_their_time_and_are_limited():
    now = [NOW]
    sessions = Sessions(lambda: now[0])
    first = sessions.begin("a")
    for _ in range(MAX_SESSIONS - 1):
        last = sessions.begin("b")
    assert sessions.token_of(first) == "a"
    sessions.begin("c")
    assert sessions.token_of(first) is None
    now[0] += SIGNED_IN_FOR
    assert sessions.token_of(last) is None
    assert sessions.token_of("") is None


@pytest.mark.parametrize("kind", ["wrong", "revoked", "none"])
def test_invalid_token_signs_nobody_in(opened, secrets, kind, monkeypatch):
    monkeypatch.setattr(access, "WRONG_PAUSE", 0.0)
    client = opened()
    form = {"token": secrets[kind], "seal": seal_of(client, "/sign-in")}
    answer = client.post("/sign-in", data=form)
    assert (answer.status_code, "not valid here" in answer.text) == (401, True)
    assert client.get("/").status_code == 303


def test_database_holds_no_secret(news):
    secret = add_token(news, "ann", "edit")
    with news.reading() as session:
        stored = str(session.connection().exec_driver_sql("SELECT * FROM tokens").all())
    assert secret not in stored
    found = find_token(news, [hash_of(secret)])
    assert (found.name, found.right) == ("ann", "edit")
    with pytest.raises(TokenError, match="a token was named ann before"):
        add_token(news, "ann", "read")


def test_what_the_database_holds_opens_nothing(opened, secrets, news):
    with news.reading() as session:
        rows = session.connection().exec_driver_sql("SELECT * FROM tokens").all()
    client = opened(token=SHARED)
    for value in {str(value) for row in rows for value in row}:
        client.cookies.set(SESSION_COOKIE, value)
        headers = {"Authorization": f"Bearer {value}"}
        assert client.get("/api/facts", headers=headers).status_code == 401


# A proxy that signs users in ---------------------------------------------------------------------


PROXY = (ip_network("10.0.0.7"),)


@pytest.mark.parametrize(
    ("address", "users", "editors", "expected"),
    [
        ("10.0.0.7", ["ann@example.org"], set(), "read"),
        ("10.0.0.7", ["ann@example.org"], {"ann@example.org"}, "edit"),
        ("10.0.0.7", ["ann@example.org"], {"*"}, "edit"),
        ("10.0.0.7", [], {"*"}, "nobody"),
        ("10.0.0.7", [" "], {"*"}, "nobody"),
        ("10.0.0.7", ["*"], set(), "read"),
        ("10.0.0.7", ["ann", "root"], {"root"}, "nobody"),
        ("10.0.0.7", ["x" * 101], {"*"}, "nobody"),
        ("10.0.0.8", ["ann@example.org"], {"*"}, "nobody"),
        ("127.0.0.1", ["ann@example.org"], {"*"}, "nobody"),
    ],
)
def test_only_the_proxy_may_name_users(opened, news, address, users, editors, expected):
    client = opened(address=address, proxies=PROXY, editors=frozenset(editors))
    headers = [("X-Forwarded-User", user) for user in users]
    read = client.get("/", headers=headers)
    change = client.post("/article/name", headers=headers, data={"url": ARTICLE_URL, "name": "a"})
    assert read.status_code == (303 if expected == "nobody" else 200)
    assert (
        verdict(change)
        == {"nobody": "who are you?", "read": "only read", "edit": "answered"}[expected]
    )


def test_other_addresses_need_a_token_beside_the_proxy(opened, secrets):
    client = opened(secrets["read"], proxies=PROXY, editors=frozenset({"*"}))
    headers = {"X-Forwarded-User": "root"}
    assert client.get("/", headers=headers).status_code == 200
    assert client.post("/article/name", headers=headers, data={}).status_code == 403


class SignIn(BaseHTTPRequestHandler):
    """Answers as oauth2-proxy does: a cookie says who is signed in, others get a form."""

    def do_GET(self) -> None:
        name = SimpleCookie(self.headers.get("Cookie", "")).get("_oauth2_proxy")
        if self.path == "/oauth2/auth":
            self.send_response(202 if name else 401)
            if name:
                self.send_header("X-Auth-Request-Email", f"{name.value}@example.org")
            self.end_headers()
            return
        self.send_response(403)
        self.end_headers()
        self.wfile.write(f"Sign in to go to {self.headers['X-Auth-Request-Redirect']}".encode())

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@contextmanager
def nginx(folder: Path, dashboard: str, sign_in: int) -> Iterator[str]:
    """The address of nginx with the example of the docs, without TLS and on ports of our own."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    example = (PROJECT / "docs" / "deploy" / "nginx.conf").read_text()
    ours = {
        "listen 443 ssl;": f"listen 127.0.0.1:{port};",
        "http://10.0.0.8:8300": dashboard.rstrip("/"),
        "127.0.0.1:4180": f"127.0.0.1:{sign_in}",
    }
    assert all(theirs in example for theirs in ours)
    # All at once, since a free port such as 41803 would be taken for the example's 4180.
    example = re.sub("|".join(map(re.escape, ours)), lambda found: ours[found[0]], example)
    example = re.sub(r"(?m)^ *ssl_certificate.*$", "", example)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    started = (
        f"http {{ access_log off; {paths}\n{example}\n}}\nevents {{}}\npid {folder}/nginx.pid;"
    )
    (folder / "nginx.conf").write_text(f"daemon off; master_process off; {started}")
    command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    with subprocess.Popen(command) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def behind_nginx(front: str, name: str) -> httpx2.Client:
    """A browser in which this user is signed in, and says to be somebody else."""
    headers = {"Host": f"news.example.org:{urlsplit(front).port}", "X-Forwarded-User": "mallory"}
    cookies = {"_oauth2_proxy": name} if name else {}
    transport = httpx2.HTTPTransport(retries=5)  # until nginx listens
    return httpx2.Client(
        base_url=front, headers=headers, cookies=cookies, transport=transport, timeout=60
    )


@pytest.mark.thorough
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_example_of_the_docs_works_behind_nginx(tmp_path, companies):
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        fill_article(database, companies)
    settings = {"NEWSCRAWL_SERVE_PROXY": "127.0.0.1", "NEWSCRAWL_SERVE_EDITORS": "ann@example.org"}
    host = ("--allow-host", "news.example.org")
    with ExitStack() as stack:
        signing = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), SignIn))
        Thread(target=signing.serve_forever, args=(0.05,), daemon=True).start()
        stack.callback(signing.shutdown)
        url = stack.enter_context(served(tmp_path, *host, **settings))
        front = stack.enter_context(nginx(tmp_path, url, signing.server_address[1]))
        stranger, ann, bob = (
            stack.enter_context(behind_nginx(front, name)) for name in ("", "ann", "bob")
        )
        assert (
            stranger.get("/search?q=line&days=7").text == "Sign in to go to /search?q=line&days=7"
        )
        assert "Saved as ann@example.org" in ann.get(ARTICLE_PAGE).text
        assert ann.get("/api/facts").json()["rows"]["articles"] == 1
        seal = ann.get(ARTICLE_PAGE).text.split('name="seal" value="')[1].split('"')[0]
        form = {"seal": seal, "url": ARTICLE_URL, "everywhere": "Alstom"}
        origin = {"Origin": f"http://news.example.org:{urlsplit(front).port}"}
        assert ann.post("/article/corrections", data=form, headers=origin).status_code == 303
        assert verdict(bob.post("/article/corrections", data=form, headers=origin)) == "only read"
        assert bob.get("/").status_code == 200
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        assert {row.made_by for row in queries.corrections(database)} == {"ann@example.org"}


# In a browser, and on the command line -----------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_signing_in_by_keyboard(tmp_path, companies, browser, width, scheme):
    url = f"sqlite:///{tmp_path}/news.sqlite"
    with open_database(url) as database:
        fill_article(database, companies)
        secret = add_token(database, "ann", "read")
    with serving(config(url, companies)) as base:
        context = browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme)
        watched = Watched(context.new_page(), base)
        page = watched.open(ARTICLE_PAGE)
        assert watched.violations() == []
        expect(page.get_by_label("Token")).to_be_focused()
        page.keyboard.type(secret)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Siemens bids")
        assert watched.violations() == []
        assert page.get_by_role("main").get_by_role("button").count() == 0
        page.get_by_role("button", name="Sign out").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Token")).to_be_visible()
        assert watched.elsewhere == []
        context.close()


def test_tokens_are_made_listed_and_revoked(newscrawl):
    open_database("sqlite:///newscrawl.sqlite").close()
    assert "No tokens" in newscrawl("tokens", "list").err
    made = newscrawl("tokens", "add", "ann", "--right", "edit")
    assert (made.code, "ann may edit" in made.err) == (0, True)
    with open_database("sqlite:///newscrawl.sqlite") as database:
        found = find_token(database, [hash_of(made.out.strip())])
        assert found.right == "edit"
    assert newscrawl("tokens", "add", "ann").code == 2
    assert newscrawl("tokens", "add", " ").code == 2
    assert newscrawl("tokens", "revoke", "ann").code == 0
    assert newscrawl("tokens", "revoke", "ann").code == 1
    (row,) = json.loads(newscrawl("tokens", "list", "--format", "json").out)
    assert (row["name"], row["right"]) == ("ann", "edit")
    assert row["revoked"]
    with open_database("sqlite:///newscrawl.sqlite") as database:
        assert has_tokens(database)
        assert list_tokens(database)[0].revoked_at is not None


@pytest.mark.thorough
def test_tokens_are_enough_to_give_other_machines_access(tmp_path):
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        secret = add_token(database, "ann", "read")
    with served(tmp_path, "--host", "0.0.0.0") as url:  # noqa: S104
        at = url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        assert asked(f"{at}api/facts", Authorization=f"Bearer {secret}")
