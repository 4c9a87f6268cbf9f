"""Our pipelines in Scrapy projects of others: the documents' example, carried out as it stands."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from newscrawl.crawl.addon import companies_of
from tests.site import content
from tests.site.crawling import PROJECT, clean_environment
from tests.site.faults import Answer
from tests.site.forking import Forks
from tests.site.server import SiteServer

_FILE = re.compile(
    r"^```(?:python|ini)\n# (\S+?\.(?:py|cfg))(, at its end)?[^\n]*\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_OURS = "pipelines.{0}.{1}Pipeline"
EXTRACTION, MENTIONS, STORAGE = (
    _OURS.format(name, name.title()) for name in ("extraction", "mentions", "storage")
)
# What a page of the site is to the spider that follows its front page.
PATHS = [
    page.path
    for page in content.facts()
    if page.outcome == "article" and not page.path.startswith("/members/")
]


def examples() -> Iterator[tuple[str, bool, str]]:
    """The files of the example, whether each is an end to be added, and what stands in it."""
    text = (PROJECT / "docs" / "scrapy.md").read_text("utf-8")
    for name, at_end, code in _FILE.findall(text):
        yield name, bool(at_end), code


@dataclass
class Project:
    """A project in a folder of its own, and a site to crawl."""

    folder: Path
    site: SiteServer
    forks: Forks | None

    def add(self, name: str, code: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(f"{code}\n")

    def set(self, **settings: object) -> None:
        for name, value in settings.items():
            self.add("harbour/settings.py", f"{name} = {value!r}")

    def crawl(self, *options: str) -> str:
        """Crawl to the end, as a fork or as users start it; return the log."""
        command = ["crawl", "quay", "-a", f"front={self.site.url}/", *options]
        if self.forks:
            done = self.forks.run(command, folder=str(self.folder))
        else:
            done = subprocess.run(
                [sys.executable, "-m", "scrapy", *command],
                cwd=self.folder,
                env=clean_environment() | {"PYTHONWARNINGS": "default"},
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        assert " ERROR: " not in done.stderr, done.stderr
        return done.stderr

    def items(self) -> list[dict[str, Any]]:
        """Crawl, and return what was exported."""
        self.crawl("-O", "articles.jsonl")
        *lines, end = (self.folder / "articles.jsonl").read_bytes().split(b"\n")
        assert end == b""
        return [json.loads(line) for line in lines]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "harbour.sqlite")) as connection:
            return connection.execute(query).fetchall()

    @property
    def is_stored(self) -> bool:
        return any(self.folder.glob("*.sqlite"))


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Starts crawls quickly, which read pages in a thread; with the registry, not the tests'."""
    environment = clean_environment() | {"PYTHONWARNINGS": "default"}
    environment["NEWSCRAWL_EXTRACTION_PROCESSES"] = "0"
    with Forks(environment, tmp_path_factory.mktemp("forks") / "errors.log") as forks:
        yield forks


@pytest.fixture
def project(tmp_path: Path, forks: Forks) -> Iterator[Project]:
    with SiteServer() as site:
        links = "".join(f"<a href='{path}'>{path}</a>" for path in PATHS)
        site.routes["/"] = lambda _: Answer(body=f"<html><main>{links}</main></html>".encode())
        project = Project(tmp_path, site, forks)
        for name, at_end, code in examples():
            if not at_end:
                project.add(name, code)
        project.add("harbour/__init__.py", "")
        project.add("harbour/spiders/__init__.py", "")
        yield project


def without_storage() -> str:
    (code,) = (code for _, at_end, code in examples() if at_end)
    return code


def test_example_stores_and_exports_each_article(project):
    items = replace(project, forks=None).items()
    assert len(items) == len(PATHS) > 5
    stored = project.rows("SELECT url, title, text, run_id FROM articles")
    assert {(i["canonical_url"], i["title"], i["text"], i["run"]) for i in items} == set(stored)
    assert {item["outcome"] for item in items} == {"new"}
    assert {item["source"] for item in items} == {"quay"}
    (mentions,) = project.rows("SELECT count(*) FROM mentions")[0]
    assert sum(len(item["mentions"]) for item in items) == mentions > len(items)
    assert project.rows("SELECT slug, home FROM sources") == [("quay", f"{project.site.url}/")]
    assert project.rows("SELECT reason FROM runs") == [("finished",)]


@pytest.mark.thorough
def test_example_without_storage_exports_articles_with_mentions(project):
    project.add("harbour/settings.py", without_storage())
    items = project.items()
    assert len(items) == len(PATHS)
    assert {(item["run"], item["outcome"]) for item in items} == {(None, None)}
    assert sum(len(item["mentions"]) for item in items) > len(items)
    assert not project.is_stored


@pytest.mark.thorough
@pytest.mark.parametrize("with_mentions", [False, True])
def test_pipelines_work_without_the_addon(project, with_mentions):
    places = {EXTRACTION: 100} | ({MENTIONS: 200} if with_mentions else {})
    project.set(ADDONS={}, ITEM_PIPELINES=places)
    items = project.items()
    assert {item["title"] for item in items} == {
        page.title for page in content.facts() if page.path in PATHS
    }
    assert any(item["mentions"] for item in items) == with_mentions
    assert not project.is_stored


OWN_EXTRACTION = """
from newscrawl.items import ArticleItem

class OwnSpider(QuaySpider):
    def parse_article(self, response):
        yield ArticleItem(
            url=response.url,
            canonical_url=response.url,
            source="quay",
            title=response.css("h1::text").get(),
            text="\\n\\n".join(response.css("article p::text").getall()),
        )
        yield {"another": "item"}

QuaySpider = OwnSpider
"""


@pytest.mark.thorough
def test_mentions_are_found_in_articles_of_another_extractor(project):
    project.add("harbour/spiders/quay.py", OWN_EXTRACTION)
    project.set(ITEM_PIPELINES={EXTRACTION: None, STORAGE: None})
    items = project.items()
    articles = [item for item in items if "another" not in item]
    assert len(articles) == len(PATHS)
    assert items.count({"another": "item"}) == len(PATHS)
    assert sum(bool(item["mentions"]) for item in articles) > len(PATHS) / 2
    assert not project.is_stored


@pytest.mark.thorough
def test_storage_alone_stores_articles_of_another_extractor(project):
    project.add("harbour/spiders/quay.py", OWN_EXTRACTION)
    project.set(ITEM_PIPELINES={EXTRACTION: None, MENTIONS: None})
    items = [item for item in project.items() if "another" not in item]
    assert len(items) == len(PATHS)
    assert project.rows("SELECT count(*) FROM articles") == [(len(PATHS),)]
    assert project.rows("SELECT count(*) FROM mentions") == [(0,)]
    assert {item["outcome"] for item in items} == {"new"}


@pytest.mark.thorough
def test_page_without_an_extraction_pipeline_is_reported_and_not_stored(project):
    project.set(ITEM_PIPELINES={EXTRACTION: None})
    log = project.crawl("-O", "articles.jsonl")
    assert "put pipelines.extraction.ExtractionPipeline before it in ITEM_PIPELINES" in log
    assert "<html" not in log
    assert (project.folder / "articles.jsonl").read_text() == ""
    assert project.rows("SELECT count(*) FROM articles") == [(0,)]


def test_page_without_an_article_is_dropped_with_a_reason(project):
    project.site.routes["/"] = lambda _: Answer(
        body=b"<html><main><a href=/bare>1</a></main></html>"
    )
    project.site.routes["/bare"] = lambda _: Answer(body=b"<html><p>Nothing.</p></html>")
    log = project.crawl()
    assert "item_dropped_count': 1" in log
    assert project.rows("SELECT count(*) FROM articles") == [(0,)]


PIPELINE = """
from dataclasses import replace

class Shout:
    def process_item(self, item):
        return replace(item, article=replace(item.article, title="Volkswagen!"))
"""


@pytest.mark.thorough
def test_pipeline_between_ours_can_change_the_article(project):
    project.add("harbour/shout.py", PIPELINE)
    project.set(ITEM_PIPELINES={"harbour.shout.Shout": 150})
    items = project.items()
    assert {item["title"] for item in items} == {"Volkswagen!"}
    for item in items:
        assert item["mentions"][0]["form"] == "Volkswagen"
        assert item["mentions"][0]["place"] == "headline"


@pytest.mark.thorough
def test_settings_of_the_project_have_precedence(project):
    project.set(NEWSCRAWL_METHOD="nonsense")
    assert project.forks
    done = project.forks.run(["crawl", "quay"], folder=str(project.folder))
    assert done.returncode == 1
    assert "NEWSCRAWL_METHOD=nonsense: use one of combined" in done.stderr
    assert project.site.visits == []


@pytest.mark.thorough
def test_every_export_format_is_available(project):
    options = [f"articles.{kind}" for kind in ("csv", "xml", "parquet")]
    project.crawl(*(part for option in options for part in ("-O", option)))
    sizes = {option: os.path.getsize(project.folder / option) for option in options}  # noqa: PTH202
    assert min(sizes.values()) > 1_000, sizes
    assert '""company"": ' in (project.folder / "articles.csv").read_text("utf-8")


@pytest.mark.thorough
def test_companies_are_loaded_again_only_when_their_file_changes(tmp_path):
    file = tmp_path / "companies.toml"
    settings = Settings({"NEWSCRAWL_COMPANIES": str(file)})

    def names() -> list[str]:
        return [company.name for company in companies_of(settings)[1]]

    file.write_text('bundled = false\n[[company]]\nname = "Quaywerk"\n', "utf-8")
    first = companies_of(settings)[1]
    assert companies_of(settings)[1] is first
    assert names() == ["Quaywerk"]
    file.write_text('bundled = false\n[[company]]\nname = "Quaywerk Nord"\n', "utf-8")
    assert names() == ["Quaywerk Nord"]
