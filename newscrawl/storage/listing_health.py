"""Which feeds and sitemaps of a source can be read, and which have failed again and again."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select

from newscrawl.storage.database import Database
from newscrawl.storage.models import Listing, Source

# Ours: a listing whose next poll was due longer ago is not asked for any more (it has left the
# registry, or nobody crawls), and says nothing. NEWSCRAWL_POLL_MAX is six hours.
_ABANDONED = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedListing:
    """A feed or sitemap that failed so many times in a row; `last_read` is None where it was never
    read."""

    url: str
    failures: int
    last_read: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingHealth:
    """The listings that a source names itself: how many of them work, and those that don't."""

    working: int = 0
    failed: tuple[FailedListing, ...] = ()


def listing_health(database: Database, now: datetime) -> Mapping[str, ListingHealth]:
    """Return the health of each source's listings, by slug; sitemaps of an index are left out."""
    query = (
        select(Source.slug, Listing.url, Listing.failures, Listing.checked_at)
        .join(Listing, Listing.source_id == Source.id)
        .where(Listing.parent_id.is_(None), Listing.next_poll_at > now - _ABANDONED)
        .order_by(Source.slug, Listing.id)
    )
    working: dict[str, int] = defaultdict(int)
    failed: dict[str, list[FailedListing]] = defaultdict(list)
    with database.reading() as session:
        for slug, url, failures, checked_at in session.execute(query):
            if failures:
                failed[slug].append(FailedListing(url=url, failures=failures, last_read=checked_at))
            else:
                working[slug] += 1
    return {
        slug: ListingHealth(working=working[slug], failed=tuple(failed[slug]))
        for slug in sorted({*working, *failed})
    }
