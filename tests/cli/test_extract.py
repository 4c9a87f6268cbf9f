"""newscrawl extract: pages from files, standard input and servers of every temper."""

import gzip
import io
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from newscrawl.sources.fetcher import (
    FetchedPage,
    FetchError,
    FetchPolicy,
    PrivateAddressError,
    fetch,
)
from tests.conftest import Newscrawl

SENTENCE = "The harbour council said on Tuesday that the old crane would be mended by the spring. "
PAGE = f"""<!doctype html><html lang="en"><head><title>Crane to be mended</title></head><body>
<nav><a href="/">Home</a> <a href="/sport">Sport</a></nav>
<article><h1>Crane to be mended</h1>{f"<p>{SENTENCE * 3}</p>" * 4}</article>
<footer><a href="/imprint">Imprint</a></footer></body></html>"""
POLICY = FetchPolicy(
    user_agent="newscrawl/0 (+tests)",
    robots_name="newscrawl",
    max_bytes=100_000,
    timeout=5.0,
    allow_private=True,
)

PUBLIC = replace(POLICY, allow_private=False)

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Site:
    """A server on 127.0.0.1; what it was asked, and by whom."""

    url: str
    asked: list[tuple[str, str]] = field(default_factory=list)


def answer(
    body: bytes | str = PAGE, status: int = 200, kind: str = "text/html", **headers: str
) -> Answer:
    data = body.encode() if isinstance(body, str) else body

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return send


@contextmanager
def serving(pages: dict[str, Answer]) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.path, self.headers["User-Agent"]))
            try:
                pages.get(self.path, answer("", 404))(self)
            except OSError:
                return  # the client has gone, as some tests want it to

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def failure(pages: dict[str, Answer], policy: FetchPolicy = POLICY, path: str = "/a") -> str:
    """What fetching a page says, in one line."""
    with serving(pages) as site, pytest.raises(FetchError) as caught:
        fetch(site.url + path, policy)
    said = str(caught.value)
    assert "\n" not in said
    return said


# --- Files and standard input ---


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.html"
    file.write_text(PAGE)
    return file


def test_extract_prints_headline_and_text_of_a_file(newscrawl: Newscrawl, page: Path) -> None:
    ran = newscrawl("extract", page)
    assert ran.code == 0
    assert ran.out.startswith(f"Crane to be mended\n\n{SENTENCE.strip()}")
    assert "Imprint" not in ran.out


def test_json_has_every_field(newscrawl: Newscrawl, page: Path) -> None:
    ran = newscrawl("extract", page, "--format", "json", "--method", "FE", "--url", "http://x.org/")
    found = json.loads(ran.out)
    assert found["title"] == "Crane to be mended"
    assert (found["method"], found["url"]) == ("fe", "http://x.org/")
    assert len(found["paragraphs"]) == 4


def test_dash_reads_standard_input(newscrawl: Newscrawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAGE.encode())))
    assert "the old crane" in newscrawl("extract", "-").out


def test_page_without_an_article_is_exit_code_1(newscrawl: Newscrawl, page: Path) -> None:
    page.write_text("")
    ran = newscrawl("extract", page)
    assert ran.code == 1
    assert ran.err.startswith("No article found")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.html"], "can't read 'nowhere.html': No such file"),
        (["."], "can't read '.': Is a directory"),
        ([""], "can't read '': an empty name. Give a file"),
        (["ftp://a.example/b"], "ftp:// is not supported. Give a file, a URL with http://"),
        (["page.html", "--method", "fee"], "unknown method 'fee': did you mean fe"),
    ],
    ids=["no file", "folder", "no name", "other protocol", "method"],
)
def test_invalid_input_is_one_line(
    newscrawl: Newscrawl, page: Path, arguments: list[str], says: str
) -> None:
    ran = newscrawl("extract", *arguments)
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("command", ["extract", "explain"])
@pytest.mark.parametrize(
    "binary",
    [
        b"%PDF-1.7\n<a>",
        b"\x89PNG\r\n\x1a\n" + bytes(900),
        b"\x7fELF" + bytes(60) + b"<a>",
        bytes(9),
    ],
    ids=["PDF", "picture", "program", "zeros"],
)
def test_binary_file_is_refused(
    newscrawl: Newscrawl, page: Path, command: str, binary: bytes
) -> None:
    page.write_bytes(binary)
    ran = newscrawl(command, page)
    assert (ran.code, ran.out) == (2, "")
    assert "is not HTML but a binary file: give the page itself" in ran.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "iso2022_jp"])
def test_text_in_a_rare_charset_is_read(newscrawl: Newscrawl, page: Path, encoding: str) -> None:
    page.write_bytes(PAGE.replace("Sport", "スポーツ").encode(encoding))
    assert newscrawl("extract", page, "--encoding", encoding).code == 0


def test_oversized_file_is_refused(
    newscrawl: Newscrawl, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("newscrawl.settings.DOWNLOAD_MAXSIZE", 1000)
    assert "is larger than" in newscrawl("extract", page).err


# --- Servers ---


def test_url_is_fetched_with_our_user_agent(newscrawl: Newscrawl) -> None:
    with serving({"/a": answer()}) as site:
        ran = newscrawl("extract", f"{site.url}/a", "--allow-private")
    assert ran.code == 0
    assert "the old crane" in ran.out
    assert [path for path, _ in site.asked] == ["/robots.txt", "/a"]
    assert all(agent.startswith("newscrawl/") for _, agent in site.asked)


def test_private_addresses_are_refused(newscrawl: Newscrawl) -> None:
    with serving({"/a": answer()}) as site:
        ran = newscrawl("extract", f"{site.url}/a")
    assert ran.code == 2
    assert "private address" in ran.err
    assert site.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "192.168.0.1",
        "0.0.0.0",  # noqa: S104
        "224.0.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
    ],
)
def test_host_with_a_private_address_is_not_requested(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 80))])
    with pytest.raises(PrivateAddressError, match=r"news\.example is a private address"):
        fetch("http://news.example/a", PUBLIC)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700:4700::1111"])
def test_host_with_a_public_address_is_requested(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    def refuse(place: tuple[str, int], timeout: float) -> None:
        raise ConnectionRefusedError(f"{place} refused the connection")

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 80))])
    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(FetchError, match=rf"'{re.escape(address)}', 80\) refused the connection"):
        fetch("http://news.example/a", PUBLIC)


def test_redirect_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = socket.getaddrinfo

    def resolve(host: str, *rest: object, **more: object) -> object:
        # As if the server's name were that of a public host.
        found = looked_up(host, *rest, **more)  # type: ignore[arg-type]
        return (
            [(*entry[:4], ("93.184.215.14", 80)) for entry in found]
            if host != "127.0.0.1"
            else found
        )

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with serving({"/b": answer()}) as inner:
        pages = {"/a": answer("", 302, Location=f"{inner.url}/b")}
        with serving(pages) as site:
            connect = socket.create_connection
            port = int(site.url.rpartition(":")[2])
            monkeypatch.setattr(
                socket,
                "create_connection",
                lambda _, timeout: connect(("127.0.0.1", port), timeout=timeout),
            )
            with pytest.raises(FetchError, match=r"127\.0\.0\.1 is a private address"):
                fetch("http://localhost/a", PUBLIC)
    assert inner.asked == []


@pytest.mark.parametrize(
    "robots",
    ["User-agent: *\nDisallow: /", "User-agent: newscrawl\nDisallow: /a"],
    ids=["all", "newscrawl"],
)
def test_robots_txt_is_obeyed(robots: str) -> None:
    said = failure({"/robots.txt": answer(robots, kind="text/plain"), "/a": answer()})
    assert said.startswith("robots.txt forbids http://127.0.0.1")


def test_unreadable_robots_txt_forbids_the_page() -> None:
    assert "can't be read (HTTP 503)" in failure({"/robots.txt": answer("", 503), "/a": answer()})


@pytest.mark.parametrize(
    "robots",
    ["User-agent: *\nDisallow: /b", "User-agent: other\nDisallow: /", "\x00\x01<html>"],
    ids=["other page", "other crawler", "garbage"],
)
def test_page_allowed_by_robots_txt_is_fetched(robots: str) -> None:
    with serving({"/robots.txt": answer(robots, kind="text/plain"), "/a": answer()}) as site:
        assert fetch(f"{site.url}/a", POLICY).body == PAGE.encode()


def test_redirects_are_followed_to_the_page() -> None:
    pages = {"/a": answer("", 301, Location="/b?x=1"), "/b?x=1": answer()}
    with serving(pages) as site:
        assert fetch(f"{site.url}/a#top", POLICY) == FetchedPage(
            url=f"{site.url}/b?x=1", body=PAGE.encode(), encoding=None
        )


def test_charset_of_the_header_is_used() -> None:
    with serving({"/a": answer(kind="text/html; charset=windows-1251")}) as site:
        assert fetch(f"{site.url}/a", POLICY).encoding == "windows-1251"


def test_compressed_page_is_decompressed() -> None:
    packed = answer(gzip.compress(PAGE.encode()), Content_Encoding="gzip")
    with serving({"/a": packed}) as site:
        assert fetch(f"{site.url}/a", POLICY).body == PAGE.encode()


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A byte now and then: no read of the socket ever waits long."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        threading.Event().wait(0.05)


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"<html>")


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (answer("", 404), "the server answered 404"),
        (answer("", 500), "the server answered 500"),
        (answer(b"%PDF", kind="application/pdf"), "it is application/pdf, not HTML"),
        (answer("", 302, Location="/a"), "more than 5 redirects"),
        (answer("", 302, Location="file:///etc/passwd"), "neither http nor https"),
        (answer("", 302, Location="http://me:secret@127.0.0.1/"), "has credentials"),
        (answer("x" * 100_001), "not an article's page"),
        (answer(gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip"), "not an article's"),
        (answer(b"no gzip", Content_Encoding="gzip"), "can't decompress"),
        (answer(b"x", Content_Encoding="br"), "compressed as 'br'"),
        (hang_up, "can't fetch"),
        (lambda handler: handler.wfile.write(b"SSH-2.0\r\n"), "can't fetch"),
    ],
    ids=[
        "404",
        "500",
        "pdf",
        "redirect loop",
        "redirect to a file",
        "redirect with credentials",
        "too large",
        "bomb",
        "no gzip",
        "unasked packing",
        "hangs up",
        "no HTTP",
    ],
)
def test_failed_request_is_one_line(page: Answer, says: str) -> None:
    said = failure({"/a": page})
    assert says in said
    assert "secret" not in said


def test_slow_response_is_aborted_in_time() -> None:
    hasty = replace(POLICY, timeout=0.4)
    assert "no complete response within 0.4 seconds" in failure({"/a": drip}, hasty)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:1/", "Connection refused"),
        ("http://nowhere.invalid/", "no address for the host 'nowhere.invalid'"),
        ("http:///a", "has no host"),
        ("http://me:secret@x.org/", "has credentials"),
        ("http://[::1/", "not a URL"),
    ],
)
def test_unresolvable_url_is_one_line(newscrawl: Newscrawl, url: str, says: str) -> None:
    ran = newscrawl("extract", url, "--allow-private")
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert "secret" not in ran.err
