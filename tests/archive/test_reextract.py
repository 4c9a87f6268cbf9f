"""newscrawl reextract: archived pages, read again by today's extraction."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from newscrawl.archive.ingest import PageProcessor, ReadingConfig
from newscrawl.archive.lookup import Archive
from newscrawl.archive.reread import Change, Reextraction
from newscrawl.archive.warc import Capture
from newscrawl.extraction.template_memory import fingerprints
from newscrawl.items import Document, Hints, Memory
from newscrawl.reading import PageReader
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.batch import IngestionWriter, records_of
from newscrawl.storage.corrections import add_corrections, wrong_mentions
from newscrawl.storage.deletion import articles_under, delete_articles
from newscrawl.storage.frontier.listings import Schedule
from newscrawl.storage.frontier.queue import FrontierEntry, open_frontier
from newscrawl.storage.revisions import discard_revision
from newscrawl.storage.saved_state import keep_memory
from newscrawl.storage.scope import Scope
from tests.archives import DeadlyReader, capture, written
from tests.site.faults import story
from tests.worlds import NOON, known_urls, register

COMPANIES = 'bundled = false\n[[company]]\nname = "Siemens"\n\n[[company]]\nname = "Nokia"\n'
PATHS = tuple(f"https://news.example/story/{number}" for number in range(8))


def reading(companies: Path, method: str = "combined") -> ReadingConfig:
    return ReadingConfig(reader=PageReader(method=method, min_characters=120), companies=companies)


def page(url: str, company: str = "Siemens", minutes: float = 0) -> Capture:
    """An article's page with a teaser that an older extraction took for a part of it."""
    number = url.rpartition("/")[2]
    words = " ".join(f"quay{number}x{place}" for place in range(60))
    teaser = "<aside><p>Nokia sells its old warehouse at the quay.</p></aside>"
    body = story(f"Report {number}", company).replace(
        b"</article>", f"<p>{words}.</p></article>{teaser}".encode()
    )
    return capture(url, body, minutes=minutes)


@dataclass(frozen=True)
class Library:
    """A database, and a folder with an archive and the companies that pages are read with."""

    database: Database
    folder: Path

    @property
    def companies(self) -> Path:
        return self.folder / "companies.toml"

    def archive(self, *captures: Capture) -> None:
        written(self.folder / "archive", *captures)

    def store(self, *captures: Capture, method: str = "tb", **facts: object) -> Document:
        """Store what an older extraction made of the pages, with these facts; return the last."""
        line = PageProcessor(reading(self.companies, method))
        intake = IngestionWriter(self.database, "finished")
        documents = []
        for document in (line.document(line.page(each)) for each in captures):
            assert isinstance(document, Document)
            documents.append(replace(document, article=replace(document.article, **facts)))  # type: ignore[arg-type]
        intake.store(list(records_of(documents)), [line.origin(document) for document in documents])
        intake.close()
        return document

    def archive_and_store(self, *urls: str) -> None:
        """Archive articles' pages, which an older extraction has stored."""
        pages = [page(url) for url in urls]
        self.archive(*pages)
        self.store(*pages)

    def run(self, **options: object) -> dict[str, Change]:
        scope = {name: options.pop(name) for name in ("source", "since") if name in options}
        archive = Archive(self.folder / "archive")
        task = Reextraction(self.database, archive, reading(self.companies), **scope)  # type: ignore[arg-type]
        return {change.url: change for change in task.run(**options)}  # type: ignore[arg-type]

    def counts(self) -> dict[str, int]:
        """The articles about each company."""
        return {row.company: row.hits.articles for row in queries.company_ranking(self.database)}

    def rows(self, name: str) -> int:
        return queries.facts(self.database).rows[name]


@pytest.fixture
def library(database: Database, tmp_path: Path) -> Library:
    library = Library(database, tmp_path)
    library.companies.write_text(COMPANIES, "utf-8")
    return library


def test_changed_articles_become_revisions(library):
    library.archive_and_store(*PATHS)
    assert library.counts() == {"Siemens": 8, "Nokia": 8}
    before = queries.facts(library.database)
    expected = library.run(dry_run=True)
    assert queries.facts(library.database) == before
    changes = library.run()
    assert changes == expected
    assert Counter(change.outcome for change in changes.values()) == {"changed": 8}
    change = changes[PATHS[0]]
    assert change.after < change.before
    assert "Nokia" in change.lost
    assert "Siemens" not in change.lost
    assert change.gained == ()
    assert library.counts() == {"Siemens": 8}
    facts = queries.facts(library.database).rows
    assert (facts["articles"], facts["revisions"]) == (8, 8)
    ranking = queries.company_ranking(library.database, stories=True)
    library.database.rebuild()
    assert queries.company_ranking(library.database, stories=True) == ranking
    again = library.run()
    assert {change.outcome for change in again.values()} == {"unchanged"}
    assert all(change.before == change.after for change in again.values())


def test_corrections_survive_reextraction(library):
    library.archive_and_store(PATHS[0])
    before = queries.article_page(library.database, PATHS[0])
    assert before is not None
    add_corrections(library.database, PATHS[0], wrong_mentions(before, "Siemens"), "ada")
    changes = library.run()
    assert [(change.outcome, change.gained, change.lost) for change in changes.values()] == [
        ("changed", (), ("Nokia",))
    ]
    assert library.counts() == {}
    assert {row.state for row in queries.corrections(library.database)} == {"applied"}


def dated(url: str, day: str, minutes: float = 0) -> Capture:
    """An article's page with a date and an author."""
    metas = (
        f'<meta property="article:published_time" content="{day}T08:30:00Z">'
        '<meta name="author" content="Ada Quill">'
    )
    body = story("Report with a date", "Siemens").replace(b"</head>", f"{metas}</head>".encode())
    return capture(url, body, minutes=minutes)


def days_of(database: Database) -> list[str]:
    """The days on which articles count for Siemens."""
    scope = Scope(since=date(2026, 11, 1), until=date(2026, 11, 30))
    rows = queries.mention_counts(database, company="Siemens", scope=scope)
    return [row.key for row in rows if row.hits and row.hits.articles]


def test_metadata_of_equal_text_are_renewed(library):
    capture = dated(PATHS[0], "2026-11-10")
    library.archive(capture)
    wrong = datetime(2026, 11, 2, 9, tzinfo=UTC)
    page = library.store(capture, method="combined", published=wrong, authors=("Staff",))
    assert days_of(library.database) == ["2026-11-02"]
    expected = library.run(dry_run=True)
    changes = library.run()
    assert expected == changes
    (change,) = changes.values()
    assert (change.outcome, change.metadata) == ("metadata", ("authors", "published_at"))
    assert (change.gained, change.lost) == ((), ())
    assert days_of(library.database) == ["2026-11-10"]
    article = queries.article_page(library.database, PATHS[0])
    assert (article.row.published_at, list(article.authors)) == (
        page.article.published,
        ["Ada Quill"],
    )
    assert article.row.revision == 1
    before = queries.company_ranking(library.database, stories=True)
    library.database.rebuild()
    assert queries.company_ranking(library.database, stories=True) == before
    (again,) = library.run().values()
    assert again.outcome == "unchanged"


def test_later_time_of_a_later_capture_is_not_the_publication(library):
    library.store(dated(PATHS[0], "2026-11-10"), method="combined")
    library.archive(dated(PATHS[0], "2026-11-11", minutes=9))
    (change,) = library.run().values()
    assert change.outcome == "unchanged"
    assert days_of(library.database) == ["2026-11-10"]


def test_template_memory_of_crawls_is_used(library):
    library.archive_and_store(*PATHS)
    library.run()
    line = PageProcessor(reading(library.companies))
    document = line.document(line.page(page(PATHS[0])))
    texts = fingerprints(document.article.paragraphs[-1:])
    keep_memory(
        library.database, document.page.source, Memory(pages=9, seen=dict.fromkeys(texts, 9))
    )
    again = library.run()
    changed = [url for url, change in again.items() if change.outcome == "changed"]
    assert changed == [PATHS[0]]
    assert 0 < again[PATHS[0]].after < again[PATHS[0]].before


def test_deleted_article_is_not_reextracted(library):
    library.archive_and_store(*PATHS[:2])
    articles, _ = articles_under(library.database, PATHS[:1])
    delete_articles(library.database, [article.number for article in articles])
    changes = library.run()
    assert set(changes) == {PATHS[1]}
    assert library.counts() == {"Siemens": 1}


def test_older_capture_does_not_replace_a_newer_article(library):
    library.archive(page(PATHS[0], "Nokia"), page(PATHS[1], minutes=9))
    library.store(page(PATHS[0], minutes=5), page(PATHS[1], minutes=5))
    assert set(library.run()) == {PATHS[1]}


def test_newest_of_several_captures_is_used(library):
    captures = [page(PATHS[0]), page(PATHS[0], "Nokia", minutes=9)]
    library.archive(*captures)
    library.store(captures[0])
    change = library.run()[PATHS[0]]
    assert "Siemens" in change.lost


def test_article_is_kept_when_its_page_is_not_an_article_any_more(library):
    library.store(page(PATHS[0]))
    library.archive(capture(PATHS[0], b"<html><p>Moved.</p></html>", minutes=1))
    before = queries.facts(library.database)
    change = library.run()[PATHS[0]]
    assert (change.outcome, change.after) == ("lost", 0)
    assert library.rows("revisions") == before.rows["revisions"] == 0


def test_captures_of_unknown_pages_are_ignored(library):
    library.archive(page(PATHS[0]))
    assert library.run() == {}


@pytest.mark.parametrize(
    ("since", "outcomes"), [(None, ["new"]), (NOON.date() + timedelta(days=1), [])]
)
def test_listed_page_without_an_article_becomes_one(library, since, outcomes):
    schedule = Schedule(
        revisits=(), retries=(), poll_min=timedelta(minutes=1), poll_max=timedelta(hours=1)
    )
    run_id = register(library.database, "ft")
    offer = FrontierEntry(url=PATHS[0], fetch_url=PATHS[0], hints=Hints(title="Told by the feed"))
    open_frontier(library.database, "ft", run_id, schedule).enqueue(None, [offer])
    library.archive(page(PATHS[0]), page(PATHS[1]))
    changes = library.run(since=since)
    assert [change.outcome for change in changes.values()] == outcomes
    assert library.rows("articles") == len(outcomes)
    assert known_urls(library.database, PATHS) == set(PATHS[: len(outcomes)])


def test_only_the_requested_source_is_reextracted(library):
    library.archive_and_store(PATHS[0], "https://other.example/story/1")
    assert set(library.run(source="other.example")) == {"https://other.example/story/1"}


class BrokenOffError(Exception):
    """The run ends here."""


def test_interrupted_reextraction_resumes(library, monkeypatch):
    monkeypatch.setattr("newscrawl.archive.reread.AT_ONCE", 3)
    library.archive_and_store(*PATHS)
    heard = []

    def stop(captures: int) -> None:
        heard.append(captures)
        if sum(heard) >= 3:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        library.run(on_progress=stop)
    changes = library.run()
    assert len(changes) == 5
    assert {change.outcome for change in changes.values()} == {"changed"}
    assert library.rows("revisions") == 8
    assert len(library.run()) == 8


# The command -------------------------------------------------------------------------------------


def test_command_reports_and_stores_changes(newscrawl, tmp_path):
    (tmp_path / "companies.toml").write_text(COMPANIES, "utf-8")
    with open_database("sqlite:///newscrawl.sqlite") as database:
        library = Library(database, tmp_path)
        library.archive_and_store(*PATHS)
        library.store(page(PATHS[0]), method="combined")
    options = ("--archive", "archive", "--companies", "companies.toml", "--workers", 1)
    dry = newscrawl("reextract", *options, "--dry-run")
    assert dry.code == 0, dry.err
    assert "0 new, 7 changed, 0 with other metadata, 1 unchanged, 0 lost" in dry.out
    assert dry.fits
    done = json.loads(newscrawl("reextract", *options, "--all", "--format", "json").out)
    assert Counter(row["outcome"] for row in done) == {"changed": 7, "unchanged": 1}
    changed = next(row for row in done if row["outcome"] == "changed")
    assert changed["after"] < changed["before"]
    assert changed["lost"].count("Nokia") == 1


def test_reextraction_that_loses_text_is_quarantined(library):
    library.store(*map(page, PATHS[:2]))
    short = story("Report 0", "Nokia").decode().partition("<p>")[0] + (
        f"<p>{'The report of the quay was taken down by its editors. ' * 4}</p></article></html>"
    )
    shell = capture(PATHS[0], short.encode(), minutes=1)
    library.archive(shell, page(PATHS[1], minutes=1))
    expected = library.run(dry_run=True)
    assert queries.quarantined(library.database) == []
    changes = library.run()
    assert changes == expected
    assert {url: (change.outcome, change.reason) for url, change in changes.items()} == {
        PATHS[0]: ("lost", "text_shrank"),
        PATHS[1]: ("changed", ""),
    }
    (row,) = queries.quarantined(library.database)
    assert (row.url, row.reason) == (PATHS[0], "text_shrank")
    assert row.after == changes[PATHS[0]].after < row.before == changes[PATHS[0]].before
    assert library.counts() == {"Siemens": 2, "Nokia": 1}
    discard_revision(library.database, row.id)
    assert (library.run()[PATHS[0]].outcome, queries.quarantined(library.database)) == ("lost", [])


def test_page_that_crashes_its_process_costs_no_other_page(library):
    deadly = replace(
        page(PATHS[3]), body=page(PATHS[3]).body.replace(b"Report", b"A deadly report")
    )
    pages = [*map(page, PATHS[:3]), deadly, *map(page, PATHS[4:])]
    library.archive(*pages)
    library.store(*pages)
    reader = DeadlyReader(method="combined", min_characters=120)
    config = replace(reading(library.companies), reader=reader)
    task = Reextraction(library.database, Archive(library.folder / "archive"), config)
    changes = {change.url: change.outcome for change in task.run(workers=2)}
    assert changes == dict.fromkeys(PATHS, "changed") | {PATHS[3]: "lost"}
