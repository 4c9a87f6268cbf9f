"""Scrapy's statistics of a crawl become the statistics and the state of its source."""

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from scrapy.crawler import Crawler

from newscrawl.items import Article, Document, Page
from newscrawl.storage import CoverageState


class SourceStatsPipeline:
    """Counts what extraction made of each page that may be read; passes it on unchanged.

    A run's counts are whole numbers: medians are kept as such, confidence in thousandths.
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
        """Count, and return the item as it came."""
        if isinstance(item, Document) and item.page.access == "open":
            self._count(item.page, item.article)
        return item

    def _count(self, page: Page, article: Article) -> None:
        insort(self._lengths, len(article.text))
        insort(self._confidences, article.confidence)
        stats = self._crawler.stats
        stats.inc_value("newscrawl/extraction/articles")
        stats.inc_value("newscrawl/extraction/undated", int(article.published is None))
        stats.inc_value("newscrawl/extraction/untitled", int(not article.title))
        # Exact for nearly all pages; the others are compared with their own past alone.
        characters = len(page.html.decode(errors="ignore"))
        stats.inc_value("newscrawl/extraction/page_characters", characters)
        stats.inc_value("newscrawl/extraction/text_characters", len(article.text))
        middle = len(self._lengths) // 2
        stats.set_value("newscrawl/extraction/median_characters", self._lengths[middle])
        thousandths = round(self._confidences[middle] * 1000)
        stats.set_value("newscrawl/extraction/median_confidence", thousandths)


_DROPPED = "item_dropped_reasons_count/"
_FAILED = "newscrawl/pages_failed/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Scrapy's stats of one crawl, as far as they tell of articles."""

    found: int
    known: int
    offsite: int
    requested: int
    fetched: int
    failed: int
    deferred: int
    disallowed: int
    paywalled: int
    new: int
    revised: int
    unchanged: int
    quarantined: int
    mentions: int
    revisits: int
    revisits_stored: int
    listings_read: int
    listings_unchanged: int
    listings_rested: int
    unchanged_entries: int
    listings_failed: int
    listings_disallowed: int
    listings_unreachable_robots: int
    robots_copies: int
    newest: datetime | None
    dropped: Mapping[str, int]
    failures: Mapping[str, int]

    @classmethod
    def of(cls, stats: Mapping[str, Any]) -> Self:
        """Read the counts off a crawl's stats."""

        def count(name: str) -> int:
            return int(stats.get(f"newscrawl/{name}", 0))

        return cls(
            found=count("found"),
            known=count("known"),
            offsite=count("offsite"),
            requested=count("requested"),
            fetched=count("pages_fetched"),
            failed=count("pages_failed"),
            deferred=count("pages_deferred"),
            disallowed=count("pages_disallowed"),
            paywalled=count("pages_paywalled"),
            new=count("articles_new"),
            revised=count("articles_revised"),
            unchanged=count("articles_unchanged"),
            quarantined=count("revisions_quarantined"),
            mentions=count("mentions"),
            revisits=count("revisits"),
            revisits_stored=count("revisits_stored"),
            listings_read=count("listings_read"),
            listings_unchanged=count("listings_unchanged"),
            listings_rested=count("listings_rested"),
            unchanged_entries=count("unchanged_entries"),
            listings_failed=count("listings_failed"),
            listings_disallowed=count("listings_disallowed"),
            listings_unreachable_robots=count("listings_unreachable_robots"),
            robots_copies=count("robots_copies_obeyed"),
            newest=stats.get("newscrawl/newest_entry"),
            dropped=_starting(stats, _DROPPED),
            failures=_starting(stats, _FAILED),
        )

    @property
    def stored(self) -> int:
        """Articles of the source's listings that are in the database at the end."""
        saved = self.new + self.revised + self.unchanged
        return self.known + saved - self.revisits_stored


# The reasons of ends that broke a crawl off, in words for people.
_BROKEN_OFF = {
    "archive_failed": "its archive failed",
    "database_failed": "its database failed",
    "export_failed": "its export failed",
    "lease_lost": "another process took the source over",
    "monitor_gone": "its monitor was gone",
    "no_storage": "nothing would have been stored",
    "queue_failed": "its queue failed",
    "shutdown": "it was told to stop",
    "start_error": "it could not begin",
}


def broken_off(reason: str) -> str:
    """Return why a crawl did not come to its end, by the reason of its finish; empty where it did,
    or where it stopped at a limit that its user set (CLOSESPIDER_...)."""
    if reason == "finished" or reason.startswith("closespider"):
        return ""
    return f"broken off: {_BROKEN_OFF.get(reason, reason)}"


def state_of(
    counts: Counts, now: datetime, recent_days: int, *, broken_off: str = ""
) -> tuple[CoverageState, str]:
    """Return the state of the source, and a note that says why it isn't ok.

    A crawl that was broken off, and why it was, has not seen all that there was to see: of such a
    day nothing can be said, however much was stored.
    """
    if broken_off:
        return "failed", broken_off
    # Ours, of listings as of pages below: with half of them unseen, a day without mentions would
    # say nothing.
    if counts.listings_unreachable_robots > counts.listings_read:
        return "failed", "robots.txt can't be read, so feeds and sitemaps wait until it can"
    if not counts.listings_read and not counts.listings_rested:
        if counts.listings_disallowed and not counts.listings_failed:
            return "blocked_by_robots", "robots.txt allows none of the feeds and sitemaps"
        return "failed", "no feed or sitemap could be read"
    return _refused(counts) or _stale(counts, now, recent_days) or ("ok", _remark(counts))


def _remark(counts: Counts) -> str:
    if waiting := counts.deferred + counts.listings_unreachable_robots:
        return f"{waiting} feeds and pages wait for a robots.txt that can't be read"
    if counts.robots_copies:
        return "robots.txt can't be read; its copy of the last 24 hours is obeyed"
    if lost := counts.listings_failed:
        return f"{lost} of its feeds and sitemaps could not be read"
    return ""


def _refused(counts: Counts) -> tuple[CoverageState, str] | None:
    if not counts.requested:
        return None
    if 2 * counts.deferred >= counts.requested:
        return "failed", "robots.txt can't be read, so article pages wait until it can"
    if counts.disallowed == counts.requested:
        return "blocked_by_robots", "robots.txt or the server refuses all article pages"
    if counts.disallowed + counts.paywalled == counts.requested:
        return "paywalled", "headlines and standfirsts only"
    if counts.failed == counts.requested:
        return "failed", "no article page could be fetched"
    return None


def _stale(counts: Counts, now: datetime, recent_days: int) -> tuple[CoverageState, str] | None:
    listed = counts.found + counts.unchanged_entries
    if counts.offsite and not listed:
        return "failed", "all links lead to other sites"
    if not listed and not counts.newest:
        return "stale_feed", "the feeds and sitemaps list no article"
    if counts.newest and now - counts.newest > timedelta(days=recent_days):
        return "stale_feed", f"nothing newer than {counts.newest:%Y-%m-%d}"
    return None


def summary(source: str, counts: Counts, state: CoverageState, note: str) -> str:
    """Return what came of the crawl, in one line."""
    parts = [
        f"{counts.found} found",
        f"{counts.known} known before",
        f"{counts.fetched} fetched",
        f"{counts.new} new",
        f"{counts.revised} revised",
        f"{counts.unchanged} unchanged",
    ]
    if counts.quarantined:
        parts.append(f"{counts.quarantined} quarantined")
    if counts.disallowed or counts.paywalled:
        parts.append(f"{counts.disallowed + counts.paywalled} told by the feed only")
    for name, reasons in (("dropped", counts.dropped), ("failed", counts.failures)):
        if reasons:
            told = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
            parts.append(f"{sum(reasons.values())} {name} ({told})")
    if counts.deferred:
        parts.append(f"{counts.deferred} waiting for robots.txt")
    if counts.revisits:
        parts.append(f"{counts.revisits} looked at again")
    if as_before := counts.listings_unchanged + counts.listings_rested:
        parts.append(f"{as_before} feeds and sitemaps as before")
    if counts.offsite:
        parts.append(f"{counts.offsite} links to other sites")
    parts.append(f"{counts.mentions} mentions")
    return f"{source}: {', '.join(parts)}; state {state}{f' ({note})' if note else ''}"


def _starting(stats: Mapping[str, Any], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): int(count)
        for name, count in stats.items()
        if name.startswith(prefix)
    }
