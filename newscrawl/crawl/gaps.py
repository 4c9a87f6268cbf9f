"""Gaps of a crawl: feeds that have rolled over since their last reading, and the listings that
close them.

A sitemap closes a gap if it lists most new articles of the feed and one that was known before, for
then it also lists those between. A section page, which lists older articles for other reasons too,
closes it only if about as many articles as expected were found. A gap that stays open is named: the
days in it don't count as covered.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Final, Literal

from scrapy.crawler import Crawler

from newscrawl.crawl.session import CrawlSession
from newscrawl.sources import Entry, Source, UrlError, canonical_url
from newscrawl.sources.robots import origin_of, stated_sitemaps
from newscrawl.storage.frontier.listings import Reading
from newscrawl.storage.saved_state import robots_policy

logger = logging.getLogger(__name__)

# Ours: sitemaps are read for at most this time before; more is an archive.
MAX_GAP: Final = timedelta(days=31)
# Entries that are looked up at once.
_BATCH: Final = 200
# What is read to close a gap, in this order.
GapCloser = Literal["news_sitemaps", "sitemaps", "stated_sitemaps", "sections"]
# A page that is dated to a day may be younger than a time on the next day, in any time zone.
DAY_AND_ZONE: Final = timedelta(hours=38)


@dataclass(slots=True)
class Reach:
    """The pages that a listing of this crawl names, with those of the listings in it, and whether
    one of them was known at its last reading or, if it is read to close a gap, before the gap."""

    urls: set[str] = field(default_factory=set)
    reaches_back: bool = False
    is_section: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledOver:
    """A listing none of whose articles was known at its last reading, at `since`. Its reading is
    recorded with the gap: a crawl that ends before has not read it."""

    listing_id: int
    url: str
    since: datetime
    reading: Reading
    articles: Set[str]
    reach: Reach


class Gaps:
    """The gaps of a crawl, and the reach of its listings."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._session = CrawlSession.of(crawler)
        self._rolled: list[RolledOver] = []
        self._reaches: list[Reach] = []

    def new_reach(self, *, is_section: bool = False) -> Reach:
        """Return the reach of a further listing."""
        reach = Reach(is_section=is_section)
        self._reaches.append(reach)
        return reach

    def add(self, rolled: RolledOver) -> None:
        """Add a listing that has rolled over."""
        logger.warning(
            "%s rolled over: none of its %d articles was known at its last reading, on %s",
            rolled.url,
            rolled.reading.entry_count,
            f"{rolled.since:%Y-%m-%d at %H:%M} UTC",
        )
        self._rolled.append(rolled)

    @property
    def articles(self) -> Set[str]:
        """Return the new articles of the listings that have rolled over."""
        return {url for rolled in self._rolled for url in rolled.articles}

    @property
    def since(self) -> datetime:
        """Return the time since which articles may be missing, limited to MAX_GAP."""
        oldest = self._session.clock() - MAX_GAP
        return max(oldest, min(rolled.since for rolled in self._rolled))

    async def sitemaps(self, kind: GapCloser, source: Source) -> Sequence[str]:
        """Return the sitemaps of a kind, for all days of the gap; the last robots.txt of the home
        page's host has the "stated_sitemaps"."""
        if kind == "stated_sitemaps":
            frontier, writer = self._session.frontier, self._session.writer
            origin = origin_of(source.home)
            policy = await writer.do(robots_policy, frontier.database, origin)
            return stated_sitemaps(policy) if policy else []
        today = self._session.clock().date()
        span = (today - self.since.date()).days
        dated = source.on(*(today - timedelta(days=back) for back in range(span + 1)))
        return dated.news_sitemaps if kind == "news_sitemaps" else dated.sitemaps

    async def missed(
        self, entries: Sequence[Entry], reach: Reach, since: datetime
    ) -> tuple[Entry, ...]:
        """Return the entries of a sitemap that may belong to the gaps."""
        # An archive of many years is not looked up.
        oldest = since - MAX_GAP
        recent = [entry for entry in entries if entry.moment is None or entry.moment >= oldest]
        earlier = await self.reach_back(recent, reach, since)
        return tuple(within_gap(recent, earlier, self.articles, since))

    async def reach_back(self, entries: Sequence[Entry], reach: Reach, since: datetime) -> set[str]:
        """Return the pages of a listing that were known before the gaps."""
        earlier: set[str] = set()
        frontier, writer = self._session.frontier, self._session.writer
        for start in range(0, len(entries), _BATCH):
            urls = addresses(entries[start : start + _BATCH])
            reach.urls.update(urls)
            overlap = await writer.do(frontier.overlap, None, urls, since)
            earlier |= overlap.before
        reach.reaches_back |= bool(earlier)
        return earlier

    async def are_open(self) -> bool:
        """Return whether an article may be missing that no listing read so far has.

        Listings whose articles, now that they were read, were known at other addresses are dropped.
        """
        frontier, writer = self._session.frontier, self._session.writer
        for rolled in list(self._rolled):
            articles = await writer.do(
                frontier.overlap, rolled.listing_id, rolled.articles, rolled.since
            )
            if articles.before:
                self._rolled.remove(rolled)
                writer.later(frontier.record_reading, rolled.listing_id, rolled.reading)
        return not all(map(self._is_closed, self._rolled))

    def _is_closed(self, rolled: RolledOver, *, by_sections: bool = False) -> bool:
        """Return whether another listing has most of its new articles, and reaches back."""
        most = len(rolled.articles) / 2
        return any(
            reach.reaches_back
            and reach is not rolled.reach
            and reach.is_section == by_sections
            and len(rolled.articles & reach.urls) >= most
            for reach in self._reaches
        )

    async def settle(self) -> None:
        """Note how many articles may be missing; the readings are recorded with that."""
        if not self._rolled:
            return
        frontier, writer = self._session.frontier, self._session.writer
        since = min(rolled.since for rolled in self._rolled)
        estimate = await writer.do(frontier.estimate_gap, self.articles, since)
        still_open = [
            rolled
            for rolled in self._rolled
            if not self._is_closed(rolled)
            and not (estimate.is_filled and self._is_closed(rolled, by_sections=True))
        ]
        self._crawler.stats.set_value("newscrawl/gap_since", since)
        self._session.count("feeds_rolled_over", len(still_open))
        self._session.count("gaps_closed", len(self._rolled) - len(still_open))
        if still_open and estimate.missing is not None:
            self._session.count("articles_missing", estimate.missing)
        self._session.late_readings += [
            (rolled.listing_id, rolled.reading) for rolled in self._rolled
        ]
        self._rolled = []


def addresses(entries: Iterable[Entry], since: datetime | None = None) -> list[str]:
    """Return the canonical URLs of a listing's entries, by which it may overlap with its last
    reading, whose newest article was published at `since`.

    Entries far older than that are left out: some feeds keep an old article at their top for weeks.
    """
    entries = list(entries)
    moments = sorted(entry.moment for entry in entries if entry.moment)
    oldest = None
    if since and moments:
        # The span of the listing, in which one old article has no weight.
        oldest = since - 2 * (moments[-1] - moments[len(moments) // 2])
    urls = []
    for entry in entries:
        if oldest is None or entry.moment is None or entry.moment >= oldest:
            with suppress(UrlError):
                urls.append(canonical_url(entry.url))
    return urls


def within_gap(
    entries: Iterable[Entry], earlier: Set[str], new: Set[str], since: datetime
) -> Iterator[Entry]:
    """Yield the entries of a sitemap that may belong to a gap, by their dates, or else by their
    places: with a `new` article of the feed and without an `earlier` one between."""

    def is_earlier(entry: Entry) -> bool:
        return not earlier.isdisjoint(addresses([entry]))

    for has_overlap, group in groupby(entries, key=is_earlier):
        run = [] if has_overlap else list(group)
        is_beside = bool(earlier) and not new.isdisjoint(addresses(run))
        for entry in run:
            if entry.moment is None:
                if is_beside:
                    yield entry
                continue
            # A moment may state only its day.
            tolerance = DAY_AND_ZONE if entry.moment.time() == time() else timedelta()
            if entry.moment >= since - tolerance:
                yield entry
