"""The dashboard shows what is in the quarantine, and lets people decide on it."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from newscrawl.config import user_name
from newscrawl.dashboard import Config, create_app
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.articles import LostArticle
from newscrawl.storage.batch import FinishedPage, write_batch
from tests.dashboards import EVIL, SCRIPT, TODAY
from tests.versions import SHELL, TEXT, URL, good, shell
from tests.worlds import body, moment, register, save_document, save_documents

PAGE = f"/article?url={quote(URL, safe='')}"
LOST_URL = "https://ft.example/lost"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An article with a revision in the quarantine, and one whose page is gone."""
    with open_database(database_url) as opened:
        run = register(opened)
        register(opened, "faz", "de")
        save_documents(opened, [good(), good("Another. " + TEXT[::-1], path="lost")], run)
        save_document(
            opened, shell(f"{SHELL} {EVIL}", fetched_at=moment(1), mentions=[body("Nokia")]), run
        )
        lost = LostArticle(url=LOST_URL, seen_at=moment(2), kind="Empty", note=f"no text {EVIL}")
        write_batch(opened, run, [FinishedPage(lost=lost)])
        opened.record_coverage("ft", TODAY, "ok", 2, 2)
        yield opened


@pytest.fixture
def client(database_url: str, database: Database) -> Iterator[TestClient]:
    assert database.name
    app = create_app(Config(database_url=database_url))
    with TestClient(app, base_url="http://127.0.0.1:8300", follow_redirects=False) as opened:
        yield opened


def form_of(client: TestClient, path: str, decision: str) -> dict[str, str]:
    """The form on an article's page, filled in."""
    text = client.get(path).text
    seal, number = (
        text.split(f'name="{name}" value="')[1].split('"')[0] for name in ("seal", "number")
    )
    return {"seal": seal, "number": number, "decision": decision}


def test_pages_and_api_show_the_quarantine(client):
    assert "2 versions in the quarantine" in client.get("/").text
    assert "2 in quarantine" in client.get("/sources").text
    listed = client.get("/quarantine").text
    assert "most of the text is gone" in listed
    assert "there is no longer an article at its address" in listed
    assert SCRIPT not in listed
    assert "The quarantine of this source is empty" in client.get("/quarantine?source=faz").text
    rows = client.get("/api/quarantine?since=2026-01-01").json()
    assert [(row["url"], row["reason"]) for row in rows] == [
        (LOST_URL, "no_article"),
        (URL, "text_shrank"),
    ]


def test_all_listed_versions_are_discarded_at_once(client, database):
    listed = client.get("/quarantine").text
    assert "Discard 2 versions" in listed
    seal = listed.split('name="seal" value="')[1].split('"')[0]
    numbers = re.findall(r'name="numbers" value="(\d+)"', listed)
    assert client.post("/quarantine/discard", data={"numbers": numbers}).status_code == 403
    answer = client.post("/quarantine/discard", data={"seal": seal, "numbers": numbers})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/quarantine?")
    assert queries.quarantined(database) == []
    decided = queries.quarantine_decisions(database)
    assert {(one.decision, one.decided_by) for one in decided} == {("discarded", user_name())}
    again = client.post("/quarantine/discard", data={"seal": seal, "numbers": numbers})
    assert again.status_code == 303


def test_article_shows_what_a_quarantined_version_would_change(client):
    text = client.get(PAGE).text
    assert "A later version was not applied:" in text
    assert "JavaScript" in text
    assert SCRIPT not in text
    assert 'value="apply"' in text
    assert "</del> <ins>" in text
    assert "</del><ins>" not in text
    lost = client.get(f"/article?url={quote(LOST_URL, safe='')}").text
    assert "The page holds no article." in lost
    assert 'value="apply"' not in lost
    assert SCRIPT not in lost


def test_applied_version_becomes_the_newest(client, database):
    answer = client.post("/article/quarantine", data=form_of(client, PAGE, "apply"))
    assert (answer.status_code, answer.headers["Location"]) == (303, PAGE)
    page = queries.article_page(database, URL)
    assert page.row.title == "Financial Times"
    assert page.row.companies == ("Nokia",)
    assert "A later version was not applied:" not in client.get(PAGE).text


def test_discarded_version_leaves_the_list_only(client, database):
    form = form_of(client, PAGE, "discard")
    assert client.post("/article/quarantine", data=form).status_code == 303
    page = queries.article_page(database, URL)
    assert page.text == TEXT
    assert queries.quarantine_sizes(database) == {"ft": 1}
    again = client.post("/article/quarantine", data=form)
    assert again.status_code == 409
    assert "is in the quarantine" in again.text
    (decided,) = queries.quarantine_decisions(database)
    assert (decided.url, decided.decision) == (URL, "discarded")
    assert decided.decided_by == user_name()
    assert "Last decisions" in client.get("/quarantine").text
    (row,) = client.get("/api/quarantine/decisions").json()
    assert row["decided_by"] == user_name()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"seal": ""}, 403),
        ({"seal": "0" * 64}, 403),
        ({"decision": "drop"}, 422),
        ({"number": "x"}, 422),
        ({"number": str(2**70)}, 422),
    ],
)
def test_foreign_form_decides_nothing(client, database, change, code):
    form = form_of(client, PAGE, "apply") | change
    assert client.post("/article/quarantine", data=form).status_code == code
    assert queries.quarantine_sizes(database) == {"ft": 2}


def test_form_from_another_site_decides_nothing(client, database):
    form = form_of(client, PAGE, "apply")
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = client.post("/article/quarantine", data=form, headers=headers)
        assert answer.status_code == 403
    assert queries.quarantine_sizes(database) == {"ft": 2}


def test_overview_of_a_source_counts_its_versions_only(client, database):
    database.register_source("stadtbote", "Stadtbote", "de", "de", "https://stadtbote.example/")
    database.start_run("stadtbote")
    assert '<a href="/quarantine">2 versions in' in client.get("/").text
    assert '<a href="/quarantine?source=ft">2 versions in' in client.get("/?source=ft").text
    assert "in the quarantine" not in client.get("/?source=stadtbote").text


def test_page_without_an_article_cannot_be_applied(client, database):
    path = f"/article?url={quote(LOST_URL, safe='')}"
    answer = client.post("/article/quarantine", data=form_of(client, path, "apply"))
    assert answer.status_code == 409
    assert "its page holds no article" in answer.text
    assert queries.quarantine_sizes(database) == {"ft": 2}
