"""What the pipelines decide by themselves; tests of whole crawls see them at work."""

import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from scrapy.settings import Settings

from newscrawl.extraction.metadata.places import Evidence
from newscrawl.extraction.metadata.reader import Metadata
from newscrawl.items import Article, Document, Hints, Page
from newscrawl.mentions import with_mentions
from newscrawl.reading import PageReader, article_of_hints, with_feed_hints
from newscrawl.storage import COVERAGE_STATES
from pipelines.extraction import pages_pile_up
from pipelines.stats import Counts, abort_note, state_of, summary
from tests.worlds import bundled_companies

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
PAGE = Page(
    url="https://n.example/a",
    source="n",
    html=b"<html><head><link rel='canonical' href='/b'></head>",
    fetched_at=NOW,
    language="de",
    hints=Hints(
        title="Feed title",
        standfirst="Der Satz, der im Feed steht.",
        authors=("Jule",),
        published=NOW - timedelta(hours=1),
        section="Wirtschaft",
    ),
)
GOOD = {
    "newscrawl/listings_read": 1,
    "newscrawl/found": 10,
    "newscrawl/known": 4,
    "newscrawl/requested": 6,
    "newscrawl/pages_fetched": 5,
    "newscrawl/pages_failed": 1,
    "newscrawl/pages_failed/HTTP 404": 1,
    "newscrawl/articles_new": 3,
    "newscrawl/articles_unchanged": 1,
    "newscrawl/mentions": 7,
    "newscrawl/newest_entry": NOW - timedelta(hours=2),
    "item_dropped_reasons_count/TooShort": 1,
}


def state(**changes: object) -> str:
    """The state of a good crawl with some of its counts changed."""
    stats = {**GOOD, **{f"newscrawl/{name}": value for name, value in changes.items()}}
    coverage, note = state_of(Counts.of(stats), NOW, timedelta(days=7))
    assert coverage in COVERAGE_STATES
    assert bool(note) == (coverage != "ok")
    return coverage


def test_crawl_with_new_articles_is_ok():
    assert state() == "ok"


def test_crawl_with_known_articles_only_is_ok():
    assert state(known=10, requested=0, articles_new=0, pages_failed=0) == "ok"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"listings_read": 0}, "failed"),
        ({"listings_read": 0, "listings_disallowed": 2}, "blocked_by_robots"),
        ({"listings_read": 0, "listings_disallowed": 1, "listings_failed": 1}, "failed"),
        ({"listings_read": 0, "listings_rested": 1}, "ok"),
        ({"found": 0, "requested": 0, "known": 0, "unchanged_entries": 3}, "ok"),
        ({"pages_disallowed": 6}, "blocked_by_robots"),
        ({"pages_refused": 6}, "refused"),
        ({"pages_refused": 5, "pages_disallowed": 1}, "refused"),
        ({"pages_disallowed": 1, "pages_paywalled": 5}, "paywalled"),
        ({"pages_unreadable": 6}, "failed"),
        ({"pages_unreadable": 6, "revisits": 6}, "paywalled"),
        ({"pages_unreadable": 5, "pages_paywalled": 1}, "paywalled"),
        ({"pages_failed": 6}, "failed"),
        ({"found": 0, "requested": 0, "known": 0, "offsite": 30}, "failed"),
        ({"newest_entry": NOW - timedelta(days=9)}, "stale_feed"),
        (
            {"sections_only": 1, "found": 0, "requested": 0, "known": 0, "newest_entry": None},
            "failed",
        ),
        ({"feeds_rolled_over": 1, "gap_since": NOW}, "incomplete"),
        ({"feeds_rolled_over": 1, "gap_since": NOW, "pages_failed": 6}, "failed"),
        ({"feeds_rolled_over": 0, "gaps_closed": 1, "gap_since": NOW}, "ok"),
        ({"found": 0, "requested": 0, "known": 0, "newest_entry": None}, "stale_feed"),
    ],
)
def test_crawl_without_articles_has_a_reason(changes, expected):
    assert state(**changes) == expected


@pytest.mark.parametrize(
    "reason",
    [
        *("shutdown", "database_failed", "archive_failed", "lease_lost", "monitor_gone"),
        *("queue_failed", "start_error", "no_storage", "cancelled", "anything new"),
    ],
)
def test_interrupted_crawl_is_never_ok(reason):
    counts = Counts.of({"newscrawl/listings_read": 1, "newscrawl/found": 1, "newscrawl/known": 1})
    coverage, note = state_of(counts, NOW, timedelta(days=7), abort_note=abort_note(reason))
    assert (coverage, note.startswith("aborted: ")) == ("failed", True)
    assert summary("ft", counts, coverage, note).endswith(f"; state failed ({note})")


@pytest.mark.parametrize("reason", ["finished", "closespider_itemcount", "closespider_timeout"])
def test_intended_end_is_not_an_interruption(reason):
    assert abort_note(reason) == ""


def test_summary_is_one_line_with_consistent_counts():
    counts = Counts.of(GOOD)
    assert summary("n", counts, "ok", "") == (
        "n: 10 found, 4 known before, 5 fetched, 3 new, 0 revised, 1 unchanged, "
        "1 dropped (TooShort 1), 1 failed (HTTP 404 1), 7 mentions; state ok"
    )
    assert counts.stored == 8


def test_revisit_does_not_count_an_article_twice():
    again = {"newscrawl/revisits": 2, "newscrawl/revisits_stored": 1}
    counts = Counts.of(GOOD | again)
    assert counts.stored == 7
    assert "2 revisited" in summary("n", counts, "ok", "")


def test_article_that_may_not_be_read_has_the_text_of_the_feed():
    article = article_of_hints(replace(PAGE, access="paywalled", html=b""))
    assert (article.title, article.text) == ("Feed title", "Der Satz, der im Feed steht.")
    assert (article.kind, article.method, article.paywalled) == ("paywall", "feed", True)
    assert article.language == "de"
    assert article.published == PAGE.hints.published


def test_article_that_may_not_be_read_can_have_a_headline_only():
    article = article_of_hints(replace(PAGE, access="disallowed", hints=Hints(title="Only this")))
    assert (article.title, article.text, article.paragraphs) == ("Only this", "", ())
    assert article.paywalled is None


def test_hints_of_the_feed_complete_the_page():
    article = with_feed_hints(Article(url=PAGE.url, text="Text."), PAGE)
    assert article.title == "Feed title"
    assert article.authors == ("Jule",)
    assert article.published == PAGE.hints.published
    assert article.section == "Wirtschaft"
    assert article.language == "de"


def test_fields_of_the_page_override_hints_of_the_feed():
    page_says = Article(url=PAGE.url, title="Page title", authors=("Ada",), language="en")
    article = with_feed_hints(page_says, PAGE)
    assert (article.title, article.authors, article.language) == ("Page title", ("Ada",), "en")


@pytest.mark.parametrize(
    ("rank", "of_change", "wins"),
    [("stated", False, False), ("shown", False, True), ("change", False, True),
     ("text", False, True), ("text", True, False), ("", False, False)],
)  # fmt: skip
def test_date_of_the_feed_comes_after_what_the_page_states(rank, of_change, wins):
    page = replace(PAGE, hints=replace(PAGE.hints, of_change=of_change))
    says = Article(url=PAGE.url, published=datetime(2004, 5, 12, 9, tzinfo=UTC))
    metadata = Metadata(date_evidence=Evidence(rank))
    wanted = page.hints.published if wins else says.published
    assert with_feed_hints(says, page, metadata).published == wanted


@pytest.mark.parametrize(("rank", "wins"), [("stated", False), ("shown", False), ("text", True)])
def test_persons_of_the_feed_come_after_a_byline(rank, wins):
    page = replace(PAGE, hints=replace(PAGE.hints, authors=("Jule Hay",)))
    says = Article(url=PAGE.url, authors=("Robert Trollman",))
    metadata = Metadata(author_evidence=Evidence(rank))
    assert with_feed_hints(says, page, metadata).authors == (
        ("Jule Hay",) if wins else says.authors
    )


def test_time_of_the_feed_completes_a_day_of_the_page():
    published = PAGE.hints.published
    says = Article(url=PAGE.url, published=published.replace(hour=0, minute=0, second=0))
    metadata = Metadata(date_evidence=Evidence("stated"))
    assert with_feed_hints(says, PAGE, metadata).published == published


def test_article_has_the_canonical_url_of_its_page():
    assert with_feed_hints(Article(url=PAGE.url), PAGE).url == "https://n.example/b"
    bare = replace(PAGE, html=b"<html></html>")
    assert with_feed_hints(Article(url=PAGE.url), bare).url == "https://n.example/a"


# --- What stands outside the article ---

TEASERS = b"""<html><head><title>Siemens builds trains</title></head><body>
<nav><ul><li><a href=/1>Volkswagen recalls cars</a></li><li><a href=/2>Home</a></li></ul></nav>
<article><h1>Siemens builds trains</h1>
<p>Siemens has won an order for forty trains in the north of the country, it said on
Tuesday. They are to run from the spring of next year, and will be built at two of its plants.</p>
<p>The order is worth some hundreds of millions, people who know the contract said, and is one of
the largest of the year. The shares of Siemens rose by two per cent on Tuesday.</p></article>
<aside><p><a href=/3>Volkswagen and Siemens agree on charging stations</a></p></aside>
</body></html>"""


def test_companies_outside_the_article_are_counted_separately():
    page = Page(url="https://n.example/a", source="n", html=TEASERS, fetched_at=NOW)
    document = with_mentions(
        PageReader(method="combined", min_characters=100).read(page), bundled_companies()
    )
    assert {mention.company for mention in document.mentions} == {"Siemens"}
    assert dict(document.boilerplate) == {"Volkswagen": 2, "Siemens": 1}
    assert document.rest == ""


def test_document_is_searched_once():
    page = Page(url="https://n.example/a", source="n", html=TEASERS, fetched_at=NOW)
    companies = bundled_companies()
    document = with_mentions(
        PageReader(method="combined", min_characters=100).read(page), companies
    )
    assert with_mentions(document, companies) is document
    sent: Document = pickle.loads(pickle.dumps(document))  # noqa: S301
    assert with_mentions(sent, companies) is sent


def test_changed_article_is_searched_again():
    page = Page(url="https://n.example/a", source="n", html=TEASERS, fetched_at=NOW)
    companies = bundled_companies()
    document = with_mentions(
        PageReader(method="combined", min_characters=100).read(page), companies
    )
    changed = replace(document, article=replace(document.article, text="Volkswagen builds cars."))
    again = with_mentions(changed, companies)
    assert [mention.company for mention in again.mentions] == ["Siemens", "Volkswagen"]
    assert again.boilerplate == document.boilerplate


# --- When processes read from the beginning ---


@pytest.mark.parametrize(
    ("settings", "piles_up"),
    [
        ({"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "CONCURRENT_REQUESTS": 32}, True),
        ({"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": True, "CONCURRENT_REQUESTS": 32}, False),
        ({"DOWNLOAD_DELAY": 0.5, "AUTOTHROTTLE_ENABLED": False, "CONCURRENT_REQUESTS": 32}, False),
        ({"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "CONCURRENT_REQUESTS": 1}, False),
    ],
    ids=["hasty", "adaptive", "delayed", "replay"],
)
def test_pages_accumulate_without_backpressure(settings, piles_up):
    assert pages_pile_up(Settings(settings)) == piles_up
