"""Sources are added, tested and paused on their page."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from shutil import copyfile

import pytest
from starlette.testclient import TestClient

from newscrawl.dashboard import create_app
from newscrawl.dashboard.pages import sources
from newscrawl.dashboard.rendering import clock
from newscrawl.sources import Source, SourceError
from newscrawl.sources.checks import check_registered
from newscrawl.sources.discovery import add_site
from newscrawl.storage import Database, open_database
from newscrawl.storage.frontier.listings import due_sources
from newscrawl.storage.source_stats import Checkup, record_checkups
from tests.dashboards import NOW, config_of, save_past
from tests.worlds import headline


@pytest.fixture
def database(tmp_path: Path, sqlite_template: Path) -> Iterator[Database]:
    url = f"sqlite:///{copyfile(sqlite_template, tmp_path / 'news.sqlite')}"
    with open_database(url) as opened:
        save_past(opened, 0, headline("Siemens"))
        yield opened


def add(database: Database, url: str, country: str, language: str) -> Source:
    """A stub, which visits no site."""
    if "known" in url:
        raise SourceError("it is registered already as 'known': newscrawl sources show known")
    source = Source(
        slug="courier", name="Courier", country=country, languages=(language,), home=url
    )
    database.register_source(*source.stored_facts)
    return source


def check(database: Database, slug: str) -> None:
    checkup = Checkup(slug=slug, state="stale", note="no new article")
    record_checkups(database, [checkup])


@pytest.fixture
def client(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TestClient]:
    assert database.name
    monkeypatch.setattr(sources, "add_site", add)
    monkeypatch.setattr(sources, "check_registered", check)
    config = config_of(tmp_path / "news.sqlite")
    with TestClient(create_app(config), base_url="http://127.0.0.1:8300") as opened:
        yield opened


def send(client: TestClient, path: str, **values: str) -> str:
    seal = client.get("/sources").text.split('name="seal" value="')[1].split('"')[0]
    return client.post(path, data={"seal": seal, **values}).text


def test_source_is_added_and_found_at_once(client):
    url = "https://courier.example/"
    page = send(client, "/sources/add", url=url, country="gb", language="en")
    assert "<strong>Added.</strong>" in page
    assert "Courier" in page.partition("<tbody>")[2]


def test_refused_source_stays_in_the_form(client):
    page = send(client, "/sources/add", url="https://known.example/", country="gb")
    assert "it is registered already as 'known'.</p>" in unescape(page)
    assert "newscrawl sources show" not in page
    (form,) = re.findall(r'<details class="opens" open>.*?</form>', page, re.DOTALL)
    assert dict(re.findall(r'name="(url|country|language)" value="([^"]*)"', form)) == {
        "url": "https://known.example/",
        "country": "gb",
        "language": "",
    }


def test_source_is_tested(client):
    page = send(client, "/sources/change", slug="ft", do="test")
    assert "<strong>Tested: stale.</strong> no new article" in page
    assert "No source" in send(client, "/sources/change", slug="nowhere", do="test")


def test_paused_source_is_not_due_until_it_is_resumed(client, database):
    assert [source.slug for source in due_sources(database, NOW, ["ft"])] == ["ft"]
    page = send(client, "/sources/change", slug="ft", do="pause")
    assert ">paused</span>" in page
    assert due_sources(database, NOW, ["ft"]) == []
    (button,) = re.findall(r'<button[^>]* value="(resume|pause)">', unescape(page))
    assert button == "resume"
    assert "next due" not in page
    page = send(client, "/sources/change", slug="ft", do="resume")
    assert ">paused</span>" not in page
    assert f"next due: <bdi>FT</bdi>, {clock(NOW)}" in page
    assert [source.slug for source in due_sources(database, NOW, ["ft"])] == ["ft"]


def test_faults_of_the_command_line_are_told(database):
    with pytest.raises(SourceError, match="registered already"):
        add_site(database, "https://www.ft.com/", "", "")
    with pytest.raises(SourceError, match="no list of sources"):
        check_registered(database, "nowhere")
