"""What `Database` writes, on SQLite and on PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import func, select

from newscrawl.items import Document, Origin
from newscrawl.storage import CoverageState, Database, SaveResult, StorageError, UnstorableDocument
from newscrawl.storage.batch import IngestionWriter, records_of
from newscrawl.storage.documents import MAX_URL_BYTES
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    Base,
    Company,
    Coverage,
    Mention,
    Revision,
    Run,
    Source,
)
from tests.worlds import (
    LONG,
    NOON,
    body,
    day,
    document,
    headline,
    known_urls,
    moment,
    register,
    save_document,
    save_documents,
)


@pytest.fixture
def run(database: Database) -> int:
    return register(database)


def rows(database: Database, table: type[Base]) -> list[Any]:
    with database.reading() as session:
        return list(session.scalars(select(table)))


def count(database: Database, table: type[Base]) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


# --- New, revised, unchanged ---


def test_repeated_document_is_unchanged(database, run):
    save_document(database, document(mentions=[headline("Siemens")]), run)
    saved = save_document(
        database, document(mentions=[headline("Siemens")], fetched_at=moment(1)), run
    )
    assert saved == SaveResult("unchanged", 0)
    assert (count(database, Article), count(database, Mention)) == (1, 1)
    assert rows(database, Article)[0].last_seen_at == moment(1)


@pytest.mark.parametrize("change", [{"text": LONG + "More."}, {"title": "Another headline"}])
def test_changed_text_or_headline_is_a_revision(database, run, change):
    save_document(database, document(), run)
    saved = save_document(database, document(fetched_at=moment(1), **change), run)
    assert saved.outcome == "revised"
    assert count(database, Article) == 1


def test_revision_keeps_the_old_text_and_its_times(database, run):
    save_document(database, document(text="First."), run)
    save_document(database, document(text="Second.", fetched_at=moment(1)), run)
    save_document(database, document(text="Third.", fetched_at=moment(2)), run)
    revisions = [(r.number, r.text, r.seen_at, r.replaced_at) for r in rows(database, Revision)]
    assert revisions == [(1, "First.", NOON, moment(1)), (2, "Second.", moment(1), moment(2))]
    assert [(a.text, a.revision) for a in rows(database, Article)] == [("Third.", 3)]


def test_revision_replaces_the_mentions(database, run):
    save_document(database, document(text="First.", mentions=[body("Siemens"), body("Bosch")]), run)
    saved = save_document(database, document(text="Second.", mentions=[body("Bosch")]), run)
    assert saved == SaveResult("revised", 1)
    assert count(database, Mention) == 1


# The next day in UTC.
LATE = datetime(2026, 11, 20, 23, 30, tzinfo=timezone(-timedelta(hours=5)))


@pytest.mark.parametrize(
    ("times", "counted_on"),
    [
        ([{}, {"published": moment(3)}], day(0)),
        ([{"published": None, "fetched_at": moment(2)}], day(2)),
        (
            [{"published": datetime(2026, 11, 20, 23, 30, tzinfo=timezone(-timedelta(hours=5)))}],
            day(1),
        ),
    ],
    ids=["of its first version", "of the fetch", "in UTC"],
)
def test_article_counts_for_the_day_of_publication(database, run, times, counted_on):
    for number, facts in enumerate(times):
        save_document(database, document(text=f"Version {number}.", **facts), run)
    assert rows(database, Article)[0].day == counted_on


# --- One article, several addresses ---


def test_equal_text_at_another_url_is_an_alias_in_its_source(database, run):
    save_document(database, document("a", mentions=[body("Siemens")]), run)
    copy = {"title": "Shorter", "text": LONG.replace(". ", ".\n\n"), "mentions": [body("Siemens")]}
    assert save_document(database, document("b", **copy), run) == SaveResult("unchanged", 0)
    assert (count(database, Article), count(database, Mention)) == (1, 1)
    urls = {row.url for row in rows(database, ArticleUrl)}
    assert urls == {"https://ft.example/a", "https://ft.example/b"}
    elsewhere = document(source="bbc")
    assert save_document(database, elsewhere, register(database, "bbc")).outcome == "new"


@pytest.mark.parametrize(
    ("change", "outcome"),
    [({"title": "Another headline"}, "new"), ({"published": moment(1)}, "new"), ({}, "unchanged")],
    ids=["other headline", "other day", "same headline and day"],
)
def test_equal_short_texts_need_equal_headline_and_date(database, run, change, outcome):
    save_document(database, document("a", text="More follows."), run)
    assert (
        save_document(database, document("b", text="More follows.", **change), run).outcome
        == outcome
    )


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({}, "unchanged"),
        ({"title": "HARBOUR REOPENS after eleven weeks"}, "unchanged"),
        ({"published": moment(0) + timedelta(hours=1)}, "new"),
        ({"title": "Harbour reopens after ten weeks"}, "new"),
        ({"access": "open"}, "new"),
    ],
    ids=["another introduction", "capitals", "another hour", "another headline", "open"],
)
def test_limited_articles_of_a_headline_and_hour_are_one(database, run, change, outcome):
    facts = {
        "title": "Harbour reopens after eleven weeks",
        "access": "refused",
        "published": moment(0),
    }
    save_document(database, document("a", text="The quay opened.", **facts), run)
    listed_again = document("b", text="Ships return to the quay.", **facts | change)
    assert save_document(database, listed_again, run).outcome == outcome


@pytest.mark.parametrize("title", ["Live: the harbour reopens today", "Letters to you"])
def test_limited_articles_of_a_returning_headline_are_several(database, run, title):
    facts = {"title": title, "access": "refused", "published": moment(0)}
    save_document(database, document("a", text="The quay opened.", **facts), run)
    later = document("b", text="Ships return to the quay.", **facts)
    assert save_document(database, later, run).outcome == "new"


def test_pages_without_text_and_date_are_separate_articles(database, run):
    save_document(database, document("a", text="", published=None), run)
    assert save_document(database, document("b", text="", published=None), run).outcome == "new"


def test_changed_page_at_an_alias_revises_the_article(database, run):
    save_document(database, document("a"), run)
    save_document(database, document("b"), run)
    assert (
        save_document(database, document("b", text=LONG + "Corrected."), run).outcome == "revised"
    )
    assert [a.url for a in rows(database, Article)] == ["https://ft.example/a"]


def test_another_source_cannot_rewrite_an_article(database, run):
    save_document(database, document(), run)
    bbc = register(database, "bbc")
    copy = document(source="bbc", text="Something else.")
    copy = replace(copy, article=replace(copy.article, url="https://ft.example/a"))
    assert save_document(database, copy, bbc).outcome == "unchanged"
    assert [a.text for a in rows(database, Article)] == [LONG]


def test_canonical_fetched_and_alias_urls_are_known(database, run):
    save_document(database, document("a", fetched_from="https://ft.example/a?from=feed"), run)
    save_document(database, document("b"), run)
    stored = {"https://ft.example/a", "https://ft.example/a?from=feed", "https://ft.example/b"}
    assert known_urls(database, [*stored, "https://ft.example/c"]) == stored


def test_any_number_of_urls_can_be_looked_up(database, run):
    save_document(database, document("1234"), run)
    urls = (f"https://ft.example/{number}" for number in range(2000))
    assert known_urls(database, urls) == {"https://ft.example/1234"}


# --- Addresses that pages declare ---

HEADLINES = {
    "bridge": "The bridge opens in spring",
    "museum": "Museum shows its oldest maps",
    "harvest": "Farmers expect a poor harvest",
}


def story(topic: str) -> str:
    """A text that has no phrase in common with that of another topic."""
    return " ".join(f"{topic}{number}" for number in range(60))


def declaring(path: str, title: str, text: str) -> Document:
    """A page at a path that declares the section as its address."""
    return document("news/", title=title, text=text, fetched_from=f"https://ft.example/news/{path}")


def declaring_pages() -> list[Document]:
    return [declaring(topic, title, story(topic)) for topic, title in HEADLINES.items()]


@pytest.mark.parametrize("together", [True, False])
def test_articles_that_declare_one_address_are_separate(database, run, together):
    pages = declaring_pages()
    for batch in [pages] if together else [[page] for page in pages]:
        saved = save_documents(database, batch, run)
        assert {result.outcome for result in saved} == {"new"}
    # The first article keeps the declared address, which could be right.
    urls = [article.url.rpartition("/")[2] for article in rows(database, Article)]
    assert urls == ["", "museum", "harvest"]


def test_article_with_a_wrongly_declared_address_is_revised(database, run):
    save_documents(database, declaring_pages(), run)
    title = HEADLINES["museum"]
    corrected = declaring("museum", title, f"{story('museum')} is open.")
    assert save_document(database, corrected, run).outcome == "revised"
    revised = [article.title for article in rows(database, Article) if article.revision == 2]
    assert revised == [title]


def test_ingested_articles_that_declare_one_address_are_separate(database):
    writer = IngestionWriter(database, "ingested")
    records = list(records_of(declaring_pages()))
    origin = Origin(slug="ft", name="FT", country="", language="", home="https://ft.example/")
    assert writer.store(records, [origin])["new"] == 3


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Our guide to the new crossing", story("bridge") + " and its cost."),
        (HEADLINES["bridge"], story("second page")),
        ("How the bridge was built", "More follows."),
    ],
)
def test_page_that_declares_its_article_is_an_alias(database, run, title, text):
    article = declaring("bridge", HEADLINES["bridge"], story("bridge"))
    copy = declaring("copy", title, text)
    save_documents(database, [article, copy], run)
    assert len(rows(database, Article)) == 1
    assert known_urls(database, [copy.page.url]) == {copy.page.url}


# --- A version gives way only to one that holds as much ---

_VERSIONS: dict[str, dict[str, Any]] = {
    "body": {"text": LONG},
    "paywalled": {"text": "Standfirst.", "access": "paywalled", "kind": "paywall"},
    "disallowed": {"text": "Standfirst.", "access": "disallowed", "kind": "paywall"},
    "refused": {"text": "Standfirst.", "access": "refused", "kind": "paywall"},
    "emptied": {"text": ""},
    "consent": {"text": "We value your privacy. " * 20, "kind": "consent"},
}


@pytest.mark.parametrize("later", ["paywalled", "disallowed", "refused", "emptied", "consent"])
def test_text_is_kept_when_a_later_page_has_less(database, run, later):
    save_document(database, document(mentions=[body("Siemens")]), run)
    saved = save_document(database, document(**_VERSIONS[later]), run)
    # An article that goes behind a paywall, or is refused to us, is not a page gone wrong.
    lost = later in {"emptied", "consent"}
    assert saved == (
        SaveResult("quarantined", 0, "no_article") if lost else SaveResult("unchanged", 0)
    )
    stored = rows(database, Article)[0]
    assert (stored.text, stored.access, stored.kind) == (LONG, "open", "article")
    assert count(database, Mention) == 1


@pytest.mark.parametrize("earlier", ["paywalled", "disallowed", "refused", "emptied", "consent"])
def test_text_replaces_a_page_that_had_less(database, run, earlier):
    save_document(database, document(**_VERSIONS[earlier]), run)
    assert save_document(database, document(mentions=[body("Siemens")]), run) == SaveResult(
        "revised", 1
    )
    stored = rows(database, Article)[0]
    assert (stored.text, stored.access, stored.kind) == (LONG, "open", "article")


@pytest.mark.parametrize("earlier", ["paywalled", "disallowed"])
def test_introduction_is_kept_when_the_page_is_read_without_its_feed(database, run, earlier):
    intro = document(**_VERSIONS[earlier], mentions=[body("Siemens")])
    save_document(database, intro, run)
    bare = document(text="", access="paywalled", kind="paywall")
    assert save_document(database, bare, run) == SaveResult("unchanged", 0)
    assert rows(database, Article)[0].text == "Standfirst."
    assert count(database, Mention) == 1


@pytest.mark.parametrize(
    "facts",
    [
        *({"access": access} for access in ("open", "paywalled", "disallowed")),
        *({"kind": kind} for kind in ("live", "gallery", "video", "front", "other")),
    ],
    ids=str,
)
def test_access_and_kind_are_stored(database, run, facts):
    save_document(database, document(**facts), run)
    (article,) = rows(database, Article)
    assert {name: getattr(article, name) for name in facts} == facts


# --- What the web sends ---


def test_characters_refused_by_databases_are_replaced_at_equal_offsets(database, run):
    text = "\x00\ud800 Siemens said. " + LONG
    hostile = document(title="A\x00B\udfff", text=text, mentions=[body("Siemens", 3)])
    hostile = replace(
        hostile, article=replace(hostile.article, authors=("\ud83d",), section="\x00", image="\x00")
    )
    assert save_document(database, hostile, run).outcome == "new"
    article, mention = rows(database, Article)[0], rows(database, Mention)[0]
    assert article.text[mention.start : mention.end] == "Siemens"
    assert (article.title, article.authors) == ("A\ufffdB\ufffd", ["\ufffd"])


def test_unicode_text_is_stored_unchanged(database, run):
    text = "日本語 Ελληνικά русский العربية 🙂 \U0010ffff"
    save_document(database, document(title=text, text=text), run)
    stored = rows(database, Article)[0]
    assert (stored.title, stored.text) == (text, text)


def test_times_are_read_with_their_zone(database, run):
    published = datetime(2026, 11, 20, 8, 15, 30, 123456, timezone(timedelta(hours=5, minutes=30)))
    save_document(database, document(published=published), run)
    stored = rows(database, Article)[0]
    assert stored.published_at == published
    assert stored.published_at.utcoffset() == timedelta(0)


def _fetched_naive(document: Document) -> Document:
    return replace(document, page=replace(document.page, fetched_at=NOON.replace(tzinfo=None)))


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (document("x" * MAX_URL_BYTES), "URL of more than"),
        (document(published=NOON.replace(tzinfo=None)), "'published' has no zone"),
        (_fetched_naive(document()), "'fetched_at' has no zone"),
        (document(kind="poem"), "unknown kind 'poem'"),  # type: ignore[arg-type]
        (document(access="stolen"), "unknown access 'stolen'"),  # type: ignore[arg-type]
    ],
    ids=["long URL", "naive time", "naive fetch", "kind", "access"],
)
def test_unstorable_document_is_refused_with_the_reason(database, run, bad, says):
    with pytest.raises(UnstorableDocument, match=says):
        save_document(database, bad, run)
    assert count(database, Article) == 0


# --- Transactions ---


def test_failed_save_stores_nothing(database, run):
    broken = replace(body("Siemens"), section=None)  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="refused"):
        save_document(database, document(mentions=[body("Bosch"), broken]), run)
    assert [count(database, table) for table in (Article, ArticleUrl, Company, Mention)] == [0] * 4


def test_save_requires_a_registered_source(database, run):
    with pytest.raises(StorageError, match="no source 'bbc'"):
        save_document(database, document(source="bbc"), run)


def test_save_requires_a_run(database, run):
    with pytest.raises(StorageError, match=f"no run {run + 1}"):
        save_document(database, document(), run + 1)


def test_concurrent_writers_store_one_article_for_one_text(database, run):
    with ThreadPoolExecutor(8) as pool:
        saved = list(
            pool.map(lambda n: save_document(database, document(f"{n % 2}"), run), range(16))
        )
    assert sum(s.outcome == "new" for s in saved) == 1
    assert count(database, Article) == 1


def test_concurrent_writers_share_the_companies(database):
    runs = {slug: register(database, slug) for slug in ("a", "b", "c", "d")}
    names = [f"Company {number}" for number in range(30)]

    def save(slug: str) -> SaveResult:
        order = names if slug in "ab" else names[::-1]
        return save_document(database, document(source=slug, mentions=map(body, order)), runs[slug])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(save, runs)) == [SaveResult("new", 30)] * 4
    assert count(database, Company) == 30


# --- Sources and runs ---


def test_registering_again_updates_the_source(database):
    database.register_source("ft", "Financial Times", "gb", "en", "https://ft.example/")
    database.register_source("ft", "FT", "gb", "en", "https://www.ft.example/")
    stored = [(s.slug, s.name, s.home) for s in rows(database, Source)]
    assert stored == [("ft", "FT", "https://www.ft.example/")]


def test_run_is_open_until_it_is_finished(database, run):
    assert rows(database, Run)[0].finished_at is None
    database.finish_run(run, "finished", {"new": 3})
    stored = rows(database, Run)[0]
    assert (stored.reason, stored.counts) == ("finished", {"new": 3})
    assert stored.finished_at >= stored.started_at


def test_finishing_an_unknown_run_is_refused(database, run):
    with pytest.raises(StorageError, match=f"no run {run + 1}"):
        database.finish_run(run + 1, "finished", {})


# --- Coverage ---


@pytest.mark.parametrize(
    ("crawls", "day_of_source"),
    [
        ([("failed", 0, "a"), ("ok", 0, "b")], ("ok", 0, "b")),
        ([("ok", 0, "a"), ("failed", 0, "b")], ("ok", 0, "a")),
        ([("failed", 0, "a"), ("blocked_by_robots", 0, "b")], ("blocked_by_robots", 0, "b")),
        (
            [("stale_feed", 0, "a"), ("paywalled", 0, "b"), ("failed", 0, "c")],
            ("paywalled", 0, "b"),
        ),
        ([("ok", 0, "a"), ("incomplete", 0, "b"), ("ok", 0, "c")], ("incomplete", 0, "b")),
        ([("failed", 0, "no route"), ("failed", 0, "timed out")], ("failed", 0, "timed out")),
        (
            [("incomplete", 0, "3"), ("incomplete", 0, "5"), ("incomplete", 0, "3")],
            ("incomplete", 0, "3; 5"),
        ),
        ([("ok", 38, ""), ("ok", 39, ""), ("ok", 37, "")], ("ok", 39, "")),
    ],
    ids=lambda value: (
        " then ".join(state for state, *_ in value) if isinstance(value, list) else ""
    ),
)
def test_day_has_the_best_state_and_the_most_articles_of_its_crawls(
    database, run, crawls, day_of_source
):
    for state, articles, note in crawls:
        database.record_coverage("ft", day(0), state, 40, articles, note)
    (row,) = rows(database, Coverage)
    assert (row.state, row.stored, row.note) == day_of_source
    assert row.found == 40


def test_days_of_a_gap_that_counted_as_covered_are_incomplete(database, run):
    states: tuple[CoverageState, ...] = ("ok", "failed", "paywalled", "ok")
    for number, state in enumerate(states):
        database.record_coverage("ft", day(number), state, 1, 1, note=state)
    database.record_gap("ft", day(0), day(3), "3 missing")
    coverage = sorted(rows(database, Coverage), key=lambda row: row.day)
    assert [(row.state, row.note) for row in coverage] == [
        ("incomplete", "3 missing"),
        ("failed", "failed"),
        ("incomplete", "3 missing"),
        ("incomplete", "3 missing"),
    ]


def test_days_without_a_crawl_are_covered_once_a_gap_is_closed(database, run):
    states: dict[int, CoverageState] = {0: "paywalled", 2: "failed", 3: "ok"}
    for number, state in states.items():
        database.record_coverage("ft", day(number), state, 1, 1, note=state)
    database.record_gap("ft", day(0), day(3), "")
    coverage = sorted((row.day, row.state, row.note) for row in rows(database, Coverage))
    assert coverage == [
        (day(0), "paywalled", "paywalled"),
        (day(1), "ok", f"read on {day(3)}"),
        (day(2), "ok", f"read on {day(3)}"),
        (day(3), "ok", "ok"),
    ]


def test_unknown_coverage_state_is_refused(database, run):
    with pytest.raises(ValueError, match="unknown coverage state 'sunny'"):
        database.record_coverage("ft", day(0), "sunny", 0, 0)  # type: ignore[arg-type]
