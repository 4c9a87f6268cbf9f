"""Convert Scrapy's statistics of a crawl to the statistics and the state of its source."""

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Self

from scrapy.crawler import Crawler

from newscrawl.items import Document
from newscrawl.storage import CoverageState


class SourceStatsPipeline:
    """Counts the results of extraction for each page that may be read; passes items on unchanged.

    A run's counts are whole numbers: medians are stored, confidence in thousandths.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._lengths: list[int] = []
        self._confidences: list[float] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline."""
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Count the item, and return it unchanged."""
        if not isinstance(item, Document) or item.page.access != "open":
            return item
        page, article = item.page, item.article
        insort(self._lengths, len(article.text))
        insort(self._confidences, article.confidence)
        stats = self._crawler.stats
        stats.inc_value("newscrawl/extraction/articles")
        stats.inc_value("newscrawl/extraction/undated", int(article.published is None))
        stats.inc_value("newscrawl/extraction/untitled", int(not article.title))
        # Exact for nearly all pages; the others are only compared with earlier pages of their
        # source.
        characters = len(page.html.decode(errors="ignore"))
        stats.inc_value("newscrawl/extraction/page_characters", characters)
        stats.inc_value("newscrawl/extraction/text_characters", len(article.text))
        middle = len(self._lengths) // 2
        stats.set_value("newscrawl/extraction/median_characters", self._lengths[middle])
        thousandths = round(self._confidences[middle] * 1000)
        stats.set_value("newscrawl/extraction/median_confidence", thousandths)
        return item


_DROPPED = "item_dropped_reasons_count/"
_OWN = "newscrawl/"
_FAILED = f"{_OWN}pages_failed/"
_LISTINGS_FAILED = f"{_OWN}listings_failed/"
_FORBIDDEN = "HTTP 403"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The statistics of a crawl about its source, by their names in Scrapy's stats after
    `newscrawl/`; `dropped` and the failures are counted by reason. `listing_fault` and
    `robots_fault` are the first cause for which a listing, and a robots.txt, was not read."""

    found: int = 0
    known: int = 0
    offsite: int = 0
    requested: int = 0
    pages_fetched: int = 0
    pages_failed: int = 0
    pages_deferred: int = 0
    pages_disallowed: int = 0
    pages_paywalled: int = 0
    pages_refused: int = 0
    pages_unreadable: int = 0
    articles_new: int = 0
    articles_revised: int = 0
    articles_unchanged: int = 0
    revisions_quarantined: int = 0
    mentions: int = 0
    revisits: int = 0
    revisits_stored: int = 0
    listings_read: int = 0
    listings_unchanged: int = 0
    listings_rested: int = 0
    unchanged_entries: int = 0
    listings_failed: int = 0
    listings_disallowed: int = 0
    listings_unreachable_robots: int = 0
    robots_copies_obeyed: int = 0
    newest_entry: datetime | None = None
    listing_fault: str = ""
    robots_fault: str = "robots.txt can't be read"
    sections_only: int = 0
    feeds_rolled_over: int = 0
    gap_since: datetime | None = None
    articles_missing: int | None = None
    dropped: Mapping[str, int]
    failures: Mapping[str, int]
    listing_failures: Mapping[str, int]

    @classmethod
    def of(cls, stats: Mapping[str, Any]) -> Self:
        """Read the counts from a crawl's stats."""
        values = {name.removeprefix(_OWN): value for name, value in stats.items()}
        counts = {count.name: values[count.name] for count in fields(cls) if count.name in values}
        return cls(
            **counts,
            dropped=_with_prefix(stats, _DROPPED),
            failures=_with_prefix(stats, _FAILED),
            listing_failures=_with_prefix(stats, _LISTINGS_FAILED),
        )

    @property
    def withheld(self) -> int:
        """Pages that may not be read."""
        forbidden = self.pages_disallowed + self.pages_refused
        return forbidden + self.pages_paywalled + self.pages_unreadable

    @property
    def stored(self) -> int:
        """Articles of the source's listings that are in the database at the end."""
        saved = self.articles_new + self.articles_revised + self.articles_unchanged
        return self.known + saved - self.revisits_stored


# The reasons why a crawl was aborted, in words.
_ABORT_REASONS = {
    "archive_failed": "its archive failed",
    "database_failed": "its database failed",
    "export_failed": "its export failed",
    "lease_lost": "it had lost its lease of the source",
    "monitor_gone": "its monitor had ended",
    "no_storage": "no pipeline stores its articles",
    "queue_failed": "its queue failed",
    "shutdown": "it was stopped",
    "start_error": "it could not start",
}


def abort_note(reason: str) -> str:
    """Return why a crawl was aborted, by Scrapy's finish_reason; empty if it was finished, or
    stopped at a limit that its user set (CLOSESPIDER_...)."""
    if reason == "finished" or reason.startswith("closespider"):
        return ""
    return f"aborted: {_ABORT_REASONS.get(reason, reason)}"


def state_of(
    counts: Counts, now: datetime, recent: timedelta, *, abort_note: str = ""
) -> tuple[CoverageState, str]:
    """Return the state of the source, and a note that says why it isn't ok.

    A crawl that was aborted, for the reason `abort_note`, has not read everything: the coverage of
    such a day is unknown, however many articles were stored.
    """
    if abort_note:
        return "failed", abort_note
    # Ours, for listings as for pages below: with half of them unread, a day without mentions means
    # nothing.
    if counts.listings_unreachable_robots > counts.listings_read:
        wait = "feeds and sitemaps wait for robots.txt"
        return "failed", f"{counts.robots_fault}; {wait}"
    if not counts.listings_read and not counts.listings_rested:
        if counts.listings_disallowed and not counts.listings_failed:
            return "blocked_by_robots", "robots.txt allows none of the feeds and sitemaps"
        more = counts.listings_failed - 1
        note = counts.listing_fault or "no feed or sitemap could be read"
        refused = counts.listing_failures.get(_FORBIDDEN) == counts.listings_failed > 0
        return "refused" if refused else "failed", f"{note} and {more} more" if more > 0 else note
    state, note = (
        _refused_state(counts) or _stale_state(counts, now, recent) or ("ok", _source_note(counts))
    )
    if state in {"ok", "paywalled"} and (gap := gap_note(counts)):
        return "incomplete", gap
    return state, note


def gap_note(counts: Counts) -> str:
    """Return how many articles may be missing because a feed has rolled over; empty if none has, or
    if the gaps were closed."""
    missing, since = counts.articles_missing, counts.gap_since
    if since is None or not counts.feeds_rolled_over:
        return ""
    number = "an unknown number of" if missing is None else f"up to {missing:,}"
    articles = "article" if missing == 1 else "articles"
    return f"feed rolled over, {number} {articles} missing since {since:%Y-%m-%d %H:%M} UTC"


def _source_note(counts: Counts) -> str:
    if waiting := counts.pages_deferred + counts.listings_unreachable_robots:
        return f"{counts.robots_fault}; {waiting} feeds and pages wait for robots.txt"
    if counts.robots_copies_obeyed:
        return f"{counts.robots_fault}; its copy of the last 24 hours is obeyed"
    if lost := counts.listings_failed:
        note = f"{lost} of its feeds and sitemaps could not be read"
        return f"{counts.listing_fault}; {note}" if counts.listing_fault else note
    return ""


def _refused_state(counts: Counts) -> tuple[CoverageState, str] | None:
    if not counts.requested:
        return None
    if 2 * counts.pages_deferred >= counts.requested:
        return "failed", f"{counts.robots_fault}; article pages wait for robots.txt"
    forbidden, causes = counts.pages_disallowed, counts.failures
    withheld = "headlines and introductions only"
    if unreadable := counts.pages_unreadable:
        withheld += f"; {unreadable} pages show no article"
    new = counts.requested - counts.revisits
    usual = max(causes, key=causes.__getitem__, default="unknown cause")
    reasons: tuple[tuple[int, CoverageState, str], ...] = (
        (forbidden, "blocked_by_robots", "robots.txt allows none of the article pages"),
        (forbidden + counts.pages_refused, "refused", "HTTP 403 from all article pages"),
        # Pages that are read again had an article.
        (counts.pages_unreadable if new else -1, "failed", "no page shows its article"),
        (counts.withheld, "paywalled", withheld),
        (counts.pages_failed, "failed", f"{usual}: no article page could be fetched"),
    )
    return next(
        ((state, note) for number, state, note in reasons if number == counts.requested), None
    )


def _stale_state(
    counts: Counts, now: datetime, recent: timedelta
) -> tuple[CoverageState, str] | None:
    listed = counts.found + counts.unchanged_entries
    if counts.offsite and not listed:
        return "failed", "all links lead to other sites"
    if not listed and not counts.newest_entry:
        if counts.sections_only:
            return "failed", "its home page and section pages link to no article"
        return "stale_feed", "the feeds and sitemaps list no article"
    if counts.newest_entry and now - counts.newest_entry > recent:
        return "stale_feed", f"nothing newer than {counts.newest_entry:%Y-%m-%d}"
    return None


def summary(source: str, counts: Counts, state: CoverageState, note: str) -> str:
    """Return the results of the crawl in one line."""
    parts = [
        f"{counts.found} found",
        f"{counts.known} known before",
        f"{counts.pages_fetched} fetched",
        f"{counts.articles_new} new",
        f"{counts.articles_revised} revised",
        f"{counts.articles_unchanged} unchanged",
    ]
    if counts.revisions_quarantined:
        parts.append(f"{counts.revisions_quarantined} quarantined")
    if counts.withheld:
        parts.append(f"{counts.withheld} from the feed only")
    for name, reasons in (("dropped", counts.dropped), ("failed", counts.failures)):
        if reasons:
            by_reason = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
            parts.append(f"{sum(reasons.values())} {name} ({by_reason})")
    if counts.pages_deferred:
        parts.append(f"{counts.pages_deferred} waiting for robots.txt")
    if counts.revisits:
        parts.append(f"{counts.revisits} revisited")
    if as_before := counts.listings_unchanged + counts.listings_rested:
        parts.append(f"{as_before} feeds and sitemaps unchanged")
    if counts.offsite:
        parts.append(f"{counts.offsite} links to other sites")
    parts.append(f"{counts.mentions} mentions")
    return f"{source}: {', '.join(parts)}; state {state}{f' ({note})' if note else ''}"


def _with_prefix(stats: Mapping[str, Any], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): int(count)
        for name, count in stats.items()
        if name.startswith(prefix)
    }
