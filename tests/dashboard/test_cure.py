"""A wrong mention leads to a change of the registry, with what goes by it."""

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from shutil import copyfile
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from newscrawl.dashboard import create_app, jobs
from newscrawl.mentions import load_companies
from newscrawl.storage import Database, open_database, queries
from tests.dashboards import NOW, config_of, serving
from tests.worlds import document, register, save_document

COMPANIES = """\
bundled = false
[[company]]
name = "Storm Brewing"
aliases = ["Storm"]
context = ["brewery"]
"""
TEXTS = {
    "Roofs": "In the night Storm took the roofs of forty houses. Nobody was hurt.",
    "Trees": "Trees lie on the line since Storm arrived. Trains stand still.",
    "Ferries": "The ferries wait until Storm is over. It may take a day.",
    "Beer": "The brewery Storm sells its beer at the quay. The brewery is old.",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "companies.toml"
    path.write_text(COMPANIES, "utf-8")
    return path


@pytest.fixture
def database(tmp_path: Path, sqlite_template: Path, file: Path) -> Iterator[Database]:
    url = f"sqlite:///{copyfile(sqlite_template, tmp_path / 'news.sqlite')}"
    with open_database(url) as opened:
        companies, run = load_companies(file), register(opened)
        for title, text in TEXTS.items():
            mentions = companies.find(text, title=title, language="en")
            page = document(
                title, title=title, text=text, mentions=mentions, published=NOW, fetched_at=NOW
            )
            save_document(opened, page, run)
        yield opened


def articles(database: Database) -> int:
    return len(queries.company_articles(database, "Storm Brewing"))


def correct(client: TestClient) -> str:
    """The proof of the company after the mention of the roofs was called wrong."""
    page = client.get("/proof?company=Storm+Brewing").text
    (form,) = [each for each in re.findall(r"<form.*?</form>", page, re.DOTALL) if "Roofs" in each]
    values = dict(re.findall(r'name="(seal|url|proof)" value="([^"]*)"', form))
    values = {name: unescape(value) for name, value in values.items()}
    answer = client.post("/article/corrections", data={**values, "wrong": "body:13:Storm Brewing"})
    assert answer.status_code == 200
    return answer.text


def test_wrong_mention_is_cured_for_good(tmp_path, database, file, monkeypatch):
    assert articles(database) == 4
    searched: list[Path | None] = []

    def find_again(_database: object, path: Path | None, *_more: object) -> object:
        searched.append(path)
        return SimpleNamespace(articles=4, changed=3, companies=(), examples=())

    monkeypatch.setattr(jobs, "find_mentions_again", find_again)
    config = config_of(tmp_path / "news.sqlite", companies=file)
    with TestClient(create_app(config), base_url="http://127.0.0.1:8300") as client:
        page = correct(client)
        offers = re.findall(r'href="(/cure[^"]+)">([^<]+)</a>: (\d+) more articles? go', page)
        assert [(text, number) for _, text, number in offers] == [
            ("count “Storm” only with context", "2"),
        ]
        preview = client.get(unescape(offers[0][0])).text
        assert "2 more articles go" in preview
        assert "More than half of its articles go" in preview
        phrase = "/cure?company=Storm+Brewing&kind=phrase&words=Storm+took"
        assert "More than half" not in client.get(phrase).text
        assert "Trees" in preview
        assert "Ferries" in preview
        assert "Beer" not in preview
        (form,) = re.findall(r'<form class="actions" action="/cure".*?</form>', preview, re.DOTALL)
        values = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        answer = client.post("/cure", data={key: unescape(each) for key, each in values.items()})
        assert "Saved." in answer.text
        while 'hx-trigger="every 1s"' in client.get("/registry/history").text:
            time.sleep(0.2)
        assert searched == [file]
        assert load_companies(file)[0].ambiguous == ("Storm",)
        # It can't be done twice.
        again = client.post("/cure", data={key: unescape(each) for key, each in values.items()})
        assert again.status_code == 200
        for answer in (again, client.get(unescape(offers[0][0]))):
            assert "That is so already." in answer.text
            assert 'href="/company/Storm%20Brewing"' in answer.text


def test_number_is_shown_again_after_a_cure(tmp_path, database, file, browser, monkeypatch):
    assert articles(database) == 4
    report = SimpleNamespace(articles=4, changed=0, companies=(), examples=())
    monkeypatch.setattr(jobs, "find_mentions_again", lambda *_, **__: report)
    with serving(config_of(tmp_path / "news.sqlite", companies=file)) as base:
        page = browser.new_page()
        page.goto(f"{base}/company/Storm%20Brewing?days=30")
        page.locator(".tile a.proof").first.click()
        panel = page.get_by_role("dialog")
        roofs = panel.locator("article.line").filter(has_text="Roofs")
        roofs.get_by_role("button", name="Not this company").click()
        panel.get_by_role("link", name="count “Storm” only with context").click()
        panel.get_by_role("button", name="Do it for good").click()
        expect(panel.get_by_role("status")).to_contain_text("Saved.")
        page.reload()
        expect(panel.locator("h1")).to_contain_text("3 articles name Storm Brewing")


def test_without_a_file_the_cure_is_named(tmp_path, database):
    assert articles(database) == 4
    with TestClient(
        create_app(config_of(tmp_path / "news.sqlite")), base_url="http://127.0.0.1:8300"
    ) as client:
        page = correct(client)
        assert "newscrawl serve --companies FILE" in page
        assert client.get("/cure?company=Storm+Brewing&words=Storm").status_code == 409
