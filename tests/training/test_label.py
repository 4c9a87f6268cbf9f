"""`newscrawl label`: a person ticks blocks in a local page, and a corpus grows."""

import gzip
import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode, urlsplit

import pytest
from lxml import html as lxml_html

import newscrawl
from newscrawl.training.corpus import load_corpus
from newscrawl.training.label import (
    Candidate,
    Draft,
    Label,
    LabelError,
    LabelledSet,
    LabelServer,
    render,
)

PAGES = Path(__file__).parents[1] / "corpus" / "mini" / "pages"
PAGE = PAGES / "northwind-factory.html"
HTML = PAGE.read_bytes()
HOSTILE = (
    b"<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><p>One &lt;img src=x onerror=alert(2)&gt;"
    b" two</p><script>alert(3)</script><form action=//evil.example><input name=kept value=9></form>"
)


def candidate(html: bytes = HTML) -> Candidate:
    return Candidate("page.html", html, "https://news.example/a")


def label(**changes: object) -> Label:
    facts = {"numbers": (0,), "lang": "en", "site": "news.example", "title": "A title"}
    return Label(**{**facts, **changes})  # type: ignore[arg-type]


@pytest.fixture
def target(tmp_path: Path) -> LabelledSet:
    return LabelledSet(tmp_path / "corpus" / "mine")


def test_label_is_stored_as_a_page_of_a_corpus(target):
    page = candidate()
    draft = Draft.begin(page)
    page_id = target.add(page, draft.label)
    (gold,) = load_corpus(target.folder).pages
    assert gold.id == page_id
    assert gold.html == HTML
    assert gold.text == "\n\n".join(page.blocks[number] for number in draft.label.numbers)
    assert (gold.lang, gold.site, gold.url) == ("en", "news.example", "https://news.example/a")
    assert gold.title == newscrawl.extract(HTML).title


def test_draft_selects_the_blocks_of_our_method():
    page = candidate()
    kept = [page.blocks[number] for number in Draft.begin(page).label.numbers]
    assert kept == list(newscrawl.extract(HTML, page.url).paragraphs)


def test_labels_are_appended_to_existing_ones(target):
    target.add(candidate(), label())
    target.add(candidate(HTML + b"<p>more</p>"), label())
    assert len(load_corpus(target.folder)) == 2


def test_page_with_a_charset_in_its_header_only_is_stored_as_utf_8(target):
    page = Candidate("p", "<p>Заря над рекой".encode("cp1251"), None, "windows-1251")
    page_id = target.add(page, label(lang="ru"))
    stored = gzip.decompress((target.folder / "pages" / f"{page_id}.html.gz").read_bytes())
    assert "Заря" in stored.decode("utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"numbers": ()}, "tick at least one block"),
        ({"numbers": (9999, -1)}, "tick at least one block"),
        ({"lang": "english"}, "'english' is not a language"),
        ({"lang": ""}, "is not a language"),
        ({"site": " "}, "give the site"),
    ],
)
def test_incomplete_label_is_not_saved(changes, message, target):
    with pytest.raises(LabelError, match=message):
        target.add(candidate(), label(**changes))
    assert not target.folder.exists()


def test_page_is_labelled_once(target):
    target.add(candidate(), label())
    with pytest.raises(LabelError, match="has a label already"):
        target.add(candidate(), label())
    assert len(load_corpus(target.folder)) == 1


def test_invalid_gold_file_is_not_changed(target):
    target.folder.mkdir(parents=True)
    (target.folder / "gold.jsonl").write_text("{broken\n")
    with pytest.raises(LabelError, match="not a file of gold lines"):
        target.add(candidate(), label())
    assert (target.folder / "gold.jsonl").read_text() == "{broken\n"


def test_hostile_page_is_shown_as_text():
    page = lxml_html.document_fromstring(render(Draft.begin(candidate(HOSTILE)), 0, 1))
    assert len(page.xpath("//script")) == 1  # ours
    assert len(page.xpath("//form")) == 1
    assert not page.xpath("//img")
    assert "<img src=x onerror=alert(2)>" in page.text_content()
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert "unsafe" not in policy
    assert re.search(r"script-src 'sha256-[^' ]+'$", policy)


@pytest.fixture
def server(target: LabelledSet) -> Iterator[LabelServer]:
    pages = (candidate(), candidate(HTML + b"<p>another</p>"))
    served = LabelServer(pages, target)
    thread = Thread(target=served.run)
    thread.start()
    yield served
    served.finished = True
    thread.join(timeout=120)
    assert not thread.is_alive()


def ask(
    url: str, form: list[tuple[str, str]] | None = None, headers: dict[str, str] | None = None
) -> tuple[int, str]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
    body = None if form is None else urlencode(form)
    with closing(connection):
        connection.request("GET" if form is None else "POST", parts.path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def form_for(position: int, **fields: str) -> list[tuple[str, str]]:
    facts = {"position": str(position), "lang": "en", "site": "news.example", "kept": "3"}
    return list({**facts, **fields}.items())


def test_pages_are_shown_and_saved_one_after_another(server):
    assert "Page 1 of 2" in ask(server.url)[1]
    assert (
        ask(f"{server.url}save", [*form_for(0), ("kept", "5"), ("authors", "A B; C D")])[0] == 303
    )
    assert "Page 2 of 2" in ask(server.url)[1]
    ask(f"{server.url}save", form_for(1, do="skip"))
    assert "1 page saved" in ask(server.url)[1]
    (gold,) = load_corpus(server.target.folder).pages
    blocks = server.candidates[0].blocks
    assert gold.text == f"{blocks[3]}\n\n{blocks[5]}"
    assert gold.authors == ("A B", "C D")


def test_form_that_could_not_be_saved_keeps_its_input(server):
    ask(f"{server.url}save", form_for(0, lang="klingon", title="My own title"))
    shown = lxml_html.document_fromstring(ask(server.url)[1])
    assert "'klingon' is not a language" in shown.find_class("complaint")[0].text_content()
    assert shown.xpath("//input[@name='title']/@value") == ["My own title"]
    assert shown.xpath("//input[@name='kept'][@checked]/@value") == ["3"]


def test_form_sent_twice_counts_once(server):
    for _ in range(2):
        ask(f"{server.url}save", form_for(0))
    assert (server.saved, server.position) == (1, 1)


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Host": "evil.example"},
], ids=["other origin", "no origin", "name bound to this machine"])  # fmt: skip
def test_form_of_another_site_is_refused(headers, server):
    assert ask(f"{server.url}save", form_for(0), headers)[0] == 404
    assert server.position == 0


@pytest.mark.parametrize("path", ["/", "/save", "/wrong/", "/wrong/save"])
def test_request_without_the_token_is_refused(path, server):
    assert ask(server.origin + path) == (404, "")
    assert ask(server.origin + path, form_for(0)) == (404, "")


def test_oversized_form_is_refused(server):
    many = [("kept", "1")] * 30_000
    assert ask(f"{server.url}save", many)[0] == 413
    assert ask(f"{server.url}save", form_for(0), {"Content-Length": "2000000"})[0] == 413
    assert server.position == 0


@pytest.mark.thorough
def test_command_prints_its_url_and_ends_after_the_last_page(tmp_path):
    command = [sys.executable, "-m", "newscrawl", "label", str(PAGE), "--no-browser"]
    with subprocess.Popen(
        [*command, "--set", "mine"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr
        url = re.search(r"http://\S+", child.stderr.readline())
        assert url
        ask(f"{url[0]}save", form_for(0))
        assert "1 page saved" in ask(url[0])[1]
        assert child.wait(timeout=120) == 0
        assert "1 saved in mine" in child.stderr.read()
    lines = (tmp_path / "mine" / "gold.jsonl").read_text().splitlines()
    assert [json.loads(line)["site"] for line in lines] == ["news.example"]
