"""newscrawl extract: pages from files, standard input and servers of every temper."""

import io
import json
from pathlib import Path

import pytest

from newscrawl.extraction.extract import STEPS
from tests.site.faults import Answer
from tests.site.server import SiteServer

SENTENCE = "The harbour council said on Tuesday that the old crane would be mended by the spring. "
PAGE = f"""<!doctype html><html lang="en"><head><title>Crane to be mended</title></head><body>
<nav><a href="/">Home</a> <a href="/sport">Sport</a></nav>
<article><h1>Crane to be mended</h1>{f"<p>{SENTENCE * 3}</p>" * 4}</article>
<footer><a href="/imprint">Imprint</a></footer></body></html>"""


# --- Files and standard input ---


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.html"
    file.write_text(PAGE)
    return file


def test_extract_prints_headline_and_text_of_a_file(newscrawl, page):
    ran = newscrawl("extract", page)
    assert ran.code == 0
    assert ran.out.startswith(f"Crane to be mended\n\n{SENTENCE.strip()}")
    assert "Imprint" not in ran.out


def test_json_has_every_field(newscrawl, page):
    ran = newscrawl("extract", page, "--format", "json", "--method", "FE", "--url", "http://x.org/")
    found = json.loads(ran.out)
    assert found["title"] == "Crane to be mended"
    assert (found["method"], found["url"]) == ("fe", "http://x.org/")
    assert len(found["paragraphs"]) == 4


def test_dash_reads_standard_input(newscrawl, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAGE.encode())))
    assert "the old crane" in newscrawl("extract", "-").out


def test_page_without_an_article_is_exit_code_1(newscrawl, page):
    page.write_text("")
    ran = newscrawl("extract", page)
    assert ran.code == 1
    assert ran.err.startswith("No article found")


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
def test_binary_file_is_refused(newscrawl, page, command, binary):
    page.write_bytes(binary)
    ran = newscrawl(command, page)
    assert (ran.code, ran.out) == (2, "")
    assert "is not HTML but a binary file: give the page itself" in ran.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "iso2022_jp"])
def test_text_in_a_rare_charset_is_read(newscrawl, page, encoding):
    page.write_bytes(PAGE.replace("Sport", "スポーツ").encode(encoding))
    assert newscrawl("extract", page, "--encoding", encoding).code == 0


def test_oversized_file_is_refused(newscrawl, page, monkeypatch):
    monkeypatch.setattr("newscrawl.settings.DOWNLOAD_MAXSIZE", 1000)
    assert "is larger than" in newscrawl("extract", page).err


# --- Servers (tests/sources/test_visits.py has their faults) ---


def test_url_is_fetched_with_our_user_agent(newscrawl):
    routes = {
        "/robots.txt": lambda _: Answer(status=404),
        "/a": lambda _: Answer(body=PAGE.encode()),
    }
    with SiteServer(routes=routes) as site:
        refused = newscrawl("extract", f"{site.url}/a")
        assert site.visits == []
        ran = newscrawl("extract", f"{site.url}/a", "--allow-private")
        assert site.paths() == ["/robots.txt", "/a"]
        assert all(visit.user_agent.startswith("newscrawl/") for visit in site.visits)
        site.routes["/robots.txt"] = lambda _: Answer(body=b"User-agent: *\nDisallow: /a")
        disallowed = newscrawl("extract", f"{site.url}/a", "--allow-private")
    assert (refused.code, "private address" in refused.err) == (2, True)
    assert (ran.code, "the old crane" in ran.out) == (0, True)
    assert disallowed.code == 2
    assert "save the page with your browser and give the file" in disallowed.err


def test_explain_gives_the_time_of_each_step_in_order(newscrawl, page):
    ran = newscrawl("explain", page, "--time")
    assert ran.code == 0
    lines = [line.split() for line in ran.out.splitlines()]
    assert [step for step, _, _ in lines] == [*STEPS, "all"]
    assert {unit for _, _, unit in lines} == {"ms"}
    assert all(float(time) >= 0 for _, time, _ in lines)
