"""newscrawl reextract: archived pages, read again by today's extraction."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from newscrawl.archive.ingest import PageProcessor, ReadingConfig
from newscrawl.archive.lookup import Archive
from newscrawl.archive.reread import Change, Reextraction
from newscrawl.archive.warc import Capture
from newscrawl.extraction.template_memory import fingerprints
from newscrawl.items import Hints, Memory
from newscrawl.reading import PageReader
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.batch import IngestionWriter, records_of
from newscrawl.storage.corrections import add_corrections, wrong_mentions
from newscrawl.storage.deletion import articles_under, delete_articles
from newscrawl.storage.frontier.listings import Schedule
from newscrawl.storage.frontier.queue import FrontierEntry, open_frontier
from newscrawl.storage.saved_state import keep_memory
from newscrawl.storage.scope import Scope
from tests.archives import DeadlyReader, capture, written
from tests.conftest import Newscrawl
from tests.site.faults import story
from tests.worlds import NOON, known_urls, register

COMPANIES = 'bundled = false\n[[company]]\nname = "Siemens"\n\n[[company]]\nname = "Nokia"\n'
PATHS = tuple(f"https://news.example/story/{number}" for number in range(8))


@pytest.fixture
def companies(tmp_path: Path) -> Path:
    path = tmp_path / "companies.toml"
    path.write_text(COMPANIES, "utf-8")
    return path


def reading(companies: Path, method: str = "combined") -> ReadingConfig:
    return ReadingConfig(reader=PageReader(method=method, min_characters=120), companies=companies)


def page(url: str, company: str = "Siemens", minutes: float = 0) -> Capture:
    """An article's page with a teaser that an older extraction took for a part of it."""
    number = url.rpartition("/")[2]
    words = " ".join(f"quay{number}x{place}" for place in range(60))
    teaser = "<aside><p>Elsewhere: Nokia sells its old warehouse.</p></aside>"
    body = story(f"Report {number}", company).replace(
        b"</article>", f"<p>{words}.</p></article>{teaser}".encode()
    )
    return capture(url, body, minutes=minutes)


def store(
    database: Database, captures: Sequence[Capture], companies: Path, method: str = "tb"
) -> None:
    """Stores what an older extraction made of the pages."""
    line = PageProcessor(reading(companies, method))
    intake = IngestionWriter(database, "finished")
    documents = [line.document(line.page(capture)) for capture in captures]
    intake.store(list(records_of(documents)), [line.origin(document) for document in documents])
    intake.close()


def archived(database: Database, folder: Path, companies: Path, urls: Sequence[str]) -> Path:
    """An archive of articles' pages, which an older extraction has stored."""
    pages = [page(url) for url in urls]
    written(folder / "archive", *pages)
    store(database, pages, companies)
    return folder / "archive"


def run(database: Database, archive: Path, companies: Path, **options: object) -> dict[str, Change]:
    scope = {name: options.pop(name) for name in ("source", "since") if name in options}
    task = Reextraction(database, Archive(archive), reading(companies), **scope)  # type: ignore[arg-type]
    return {change.url: change for change in task.run(**options)}  # type: ignore[arg-type]


def companies_of(database: Database) -> dict[str, int]:
    return {row.company: row.hits.articles for row in queries.company_ranking(database)}


def test_changed_articles_become_revisions(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    pages = archived(database, tmp_path, companies, PATHS)
    assert companies_of(database) == {"Siemens": 8, "Nokia": 8}
    before = queries.facts(database)
    expected = run(database, pages, companies, dry_run=True)
    assert queries.facts(database) == before
    changes = run(database, pages, companies)
    assert changes == expected
    assert Counter(change.outcome for change in changes.values()) == {"changed": 8}
    change = changes[PATHS[0]]
    assert change.after < change.before
    assert "Nokia" in change.lost
    assert "Siemens" not in change.lost
    assert change.gained == ()
    assert companies_of(database) == {"Siemens": 8}
    facts = queries.facts(database).rows
    assert (facts["articles"], facts["revisions"]) == (8, 8)
    ranking = queries.company_ranking(database, stories=True)
    database.rebuild()
    assert queries.company_ranking(database, stories=True) == ranking
    again = run(database, pages, companies)
    assert {change.outcome for change in again.values()} == {"unchanged"}
    assert all(change.before == change.after for change in again.values())


def test_corrections_survive_reextraction(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    archived(database, tmp_path, companies, PATHS[:1])
    before = queries.article_page(database, PATHS[0])
    assert before is not None
    add_corrections(database, PATHS[0], wrong_mentions(before, "Siemens"), "ada")
    changes = run(database, tmp_path / "archive", companies)
    assert [(change.outcome, change.gained, change.lost) for change in changes.values()] == [
        ("changed", (), ("Nokia",))
    ]
    assert companies_of(database) == {}
    assert {row.state for row in queries.corrections(database)} == {"applied"}


def store_dated(
    database: Database, capture: Capture, companies: Path, **facts: object
) -> datetime | None:
    """Store a page as today's extraction reads it but for these facts; return its time."""
    line = PageProcessor(reading(companies))
    document = line.document(line.page(capture))
    article = replace(document.article, **facts)  # type: ignore[arg-type]
    intake = IngestionWriter(database, "finished")
    changed = replace(document, article=article)
    intake.store(list(records_of([changed])), [line.origin(document)])
    intake.close()
    return document.article.published


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


def test_metadata_of_equal_text_are_renewed(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    capture = dated(PATHS[0], "2026-11-10")
    written(tmp_path / "archive", capture)
    wrong = datetime(2026, 11, 2, 9, tzinfo=UTC)
    published = store_dated(database, capture, companies, published=wrong, authors=("Staff",))
    assert days_of(database) == ["2026-11-02"]
    expected = run(database, tmp_path / "archive", companies, dry_run=True)
    changes = run(database, tmp_path / "archive", companies)
    assert expected == changes
    (change,) = changes.values()
    assert (change.outcome, change.metadata) == ("metadata", ("authors", "published_at"))
    assert (change.gained, change.lost) == ((), ())
    assert days_of(database) == ["2026-11-10"]
    article = queries.article_page(database, PATHS[0])
    assert article is not None
    assert (article.row.published_at, list(article.authors)) == (published, ["Ada Quill"])
    assert article.row.revision == 1
    before = queries.company_ranking(database, stories=True)
    database.rebuild()
    assert queries.company_ranking(database, stories=True) == before
    (again,) = run(database, tmp_path / "archive", companies).values()
    assert again.outcome == "unchanged"


def test_later_time_of_a_later_capture_is_not_the_publication(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    store_dated(database, dated(PATHS[0], "2026-11-10"), companies)
    written(tmp_path / "archive", dated(PATHS[0], "2026-11-11", minutes=9))
    (change,) = run(database, tmp_path / "archive", companies).values()
    assert change.outcome == "unchanged"
    assert days_of(database) == ["2026-11-10"]


def test_template_memory_of_crawls_is_used(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    archived(database, tmp_path, companies, PATHS)
    run(database, tmp_path / "archive", companies)
    line = PageProcessor(reading(companies))
    document = line.document(line.page(page(PATHS[0])))
    texts = fingerprints(document.article.paragraphs[-1:])
    keep_memory(database, document.page.source, Memory(pages=9, seen=dict.fromkeys(texts, 9)))
    again = run(database, tmp_path / "archive", companies)
    changed = [url for url, change in again.items() if change.outcome == "changed"]
    assert changed == [PATHS[0]]
    assert 0 < again[PATHS[0]].after < again[PATHS[0]].before


def test_deleted_article_is_not_reextracted(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    archived(database, tmp_path, companies, PATHS[:2])
    articles, _ = articles_under(database, PATHS[:1])
    delete_articles(database, [article.number for article in articles])
    changes = run(database, tmp_path / "archive", companies)
    assert set(changes) == {PATHS[1]}
    assert companies_of(database) == {"Siemens": 1}


def test_older_capture_does_not_replace_a_newer_article(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    written(tmp_path / "archive", page(PATHS[0], "Nokia"), page(PATHS[1], minutes=9))
    store(database, [page(PATHS[0], minutes=5), page(PATHS[1], minutes=5)], companies)
    assert set(run(database, tmp_path / "archive", companies)) == {PATHS[1]}


def test_newest_of_several_captures_is_used(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    captures = [page(PATHS[0]), page(PATHS[0], "Nokia", minutes=9)]
    written(tmp_path / "archive", *captures)
    store(database, captures[:1], companies)
    change = run(database, tmp_path / "archive", companies)[PATHS[0]]
    assert "Siemens" in change.lost


def test_article_is_kept_when_its_page_is_not_an_article_any_more(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    store(database, [page(PATHS[0])], companies)
    written(tmp_path / "archive", capture(PATHS[0], b"<html><p>Moved.</p></html>", minutes=1))
    before = queries.facts(database)
    change = run(database, tmp_path / "archive", companies)[PATHS[0]]
    assert (change.outcome, change.after) == ("lost", 0)
    assert queries.facts(database).rows["revisions"] == before.rows["revisions"] == 0


def test_captures_of_unknown_pages_are_ignored(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    written(tmp_path / "archive", page(PATHS[0]))
    assert run(database, tmp_path / "archive", companies) == {}


@pytest.mark.parametrize(
    ("since", "outcomes"), [(None, ["new"]), (NOON.date() + timedelta(days=1), [])]
)
def test_listed_page_without_an_article_becomes_one(
    database: Database, tmp_path: Path, companies: Path, since: date | None, outcomes: Sequence[str]
) -> None:
    schedule = Schedule(
        revisits=(), retries=(), poll_min=timedelta(minutes=1), poll_max=timedelta(hours=1)
    )
    run_id = register(database, "ft")
    offer = FrontierEntry(url=PATHS[0], fetch_url=PATHS[0], hints=Hints(title="Told by the feed"))
    open_frontier(database, "ft", run_id, schedule).enqueue(None, [offer])
    written(tmp_path / "archive", page(PATHS[0]), page(PATHS[1]))
    changes = run(database, tmp_path / "archive", companies, since=since)
    assert [change.outcome for change in changes.values()] == outcomes
    assert queries.facts(database).rows["articles"] == len(outcomes)
    assert known_urls(database, PATHS) == set(PATHS[: len(outcomes)])


def test_only_the_requested_source_is_reextracted(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    archived(database, tmp_path, companies, [PATHS[0], "https://other.example/story/1"])
    assert set(run(database, tmp_path / "archive", companies, source="other.example")) == {
        "https://other.example/story/1"
    }


class BrokenOffError(Exception):
    """The run ends here."""


def test_interrupted_reextraction_resumes(
    database: Database, tmp_path: Path, companies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("newscrawl.archive.reread.AT_ONCE", 3)
    archived(database, tmp_path, companies, PATHS)
    heard = []

    def stop(captures: int) -> None:
        heard.append(captures)
        if sum(heard) >= 3:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        run(database, tmp_path / "archive", companies, on_progress=stop)
    changes = run(database, tmp_path / "archive", companies)
    assert len(changes) == 5
    assert {change.outcome for change in changes.values()} == {"changed"}
    assert queries.facts(database).rows["revisions"] == 8
    assert len(run(database, tmp_path / "archive", companies)) == 8


# The command -------------------------------------------------------------------------------------


def test_command_reports_and_stores_changes(
    newscrawl: Newscrawl, tmp_path: Path, companies: Path
) -> None:
    pages = [page(url) for url in PATHS]
    written(tmp_path / "archive", *pages)
    with open_database("sqlite:///newscrawl.sqlite") as database:
        store(database, pages, companies)
        store(database, [page(PATHS[0])], companies, "combined")
    options = ("--archive", tmp_path / "archive", "--companies", companies, "--workers", 1)
    dry = newscrawl("reextract", *options, "--dry-run")
    assert dry.code == 0, dry.err
    assert "0 new, 7 changed, 0 with other metadata, 1 unchanged, 0 lost" in dry.out
    assert max(map(len, dry.out.splitlines())) <= 80
    done = json.loads(newscrawl("reextract", *options, "--all", "--format", "json").out)
    assert Counter(row["outcome"] for row in done) == {"changed": 7, "unchanged": 1}
    changed = next(row for row in done if row["outcome"] == "changed")
    assert changed["after"] < changed["before"]
    assert changed["lost"].count("Nokia") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no archive: name one by --archive DIR or NEWSCRAWL_ARCHIVE"),
        (["--archive", "nowhere"], "no folder nowhere"),
    ],
    ids=["none", "missing"],
)
def test_invalid_input_is_one_line(
    newscrawl: Newscrawl, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.setattr("newscrawl.config.NEWSCRAWL_ARCHIVE", "")
    open_database("sqlite:///newscrawl.sqlite").close()
    done = newscrawl("reextract", *options)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


def test_reextraction_that_loses_text_is_quarantined(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    store(database, [page(url) for url in PATHS[:2]], companies)
    short = story("Report 0", "Nokia").decode().partition("<p>")[0] + (
        f"<p>{'The report of the quay was taken down by its editors. ' * 4}</p></article></html>"
    )
    shell = capture(PATHS[0], short.encode(), minutes=1)
    written(tmp_path / "archive", shell, page(PATHS[1], minutes=1))
    expected = run(database, tmp_path / "archive", companies, dry_run=True)
    assert queries.quarantined(database) == []
    changes = run(database, tmp_path / "archive", companies)
    assert changes == expected
    assert {url: (change.outcome, change.reason) for url, change in changes.items()} == {
        PATHS[0]: ("lost", "text_shrank"),
        PATHS[1]: ("changed", ""),
    }
    (row,) = queries.quarantined(database)
    assert (row.url, row.reason) == (PATHS[0], "text_shrank")
    assert row.after == changes[PATHS[0]].after < row.before == changes[PATHS[0]].before
    assert companies_of(database) == {"Siemens": 2, "Nokia": 1}


def test_page_that_crashes_its_process_costs_no_other_page(
    database: Database, tmp_path: Path, companies: Path
) -> None:
    deadly = replace(
        page(PATHS[3]), body=page(PATHS[3]).body.replace(b"Report", b"A deadly report")
    )
    pages = [*map(page, PATHS[:3]), deadly, *map(page, PATHS[4:])]
    written(tmp_path / "archive", *pages)
    store(database, pages, companies)
    reader = DeadlyReader(method="combined", min_characters=120)
    config = replace(reading(companies), reader=reader)
    task = Reextraction(database, Archive(tmp_path / "archive"), config)
    changes = {change.url: change.outcome for change in task.run(workers=2)}
    assert changes == dict.fromkeys(PATHS, "changed") | {PATHS[3]: "lost"}
