"""A digest: what a day or a week brought for the companies that are watched, or the most named."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from newscrawl.storage import Database, company_alerts, queries
from newscrawl.storage.company_alerts import StoredAlert
from newscrawl.storage.queries import FoundArticle, MentionCount, Reach, Scope, StoryRow

Span = Literal["daily", "weekly"]

# All ours: how much a digest shows, and how many days its small charts look back on.
COMPANIES = 15
ARTICLES = 3
STORIES = 5
SPARK_DAYS = 14
_LENGTHS: dict[Span, int] = {"daily": 1, "weekly": 7}
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyDigest:
    """A company in a digest.

    `before` counts articles of as many days a week earlier, None where nobody looked then;
    `spark` are articles by day, None in gaps; `newest` a few of the articles.
    """

    company: str
    articles: int
    in_title: int
    stories: int
    before: int | None
    spark: tuple[int | None, ...]
    newest: tuple[FoundArticle, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """`first` to `last`: the days, UTC. `chosen` is whether the companies are those watched."""

    span: Span
    first: date
    last: date
    chosen: bool
    reach: Reach
    companies: tuple[CompanyDigest, ...]
    quiet: tuple[str, ...]
    stories: tuple[StoryRow, ...]
    alerts: tuple[StoredAlert, ...]

    @property
    def cause(self) -> str:
        """What makes it one and the same, so that it is sent once."""
        return f"digest/{self.span}/{self.last}"


def last_full_day(span: Span, today: date) -> date:
    """Yesterday, or the Sunday that ends the week before this one."""
    if span == "daily":
        return today - timedelta(days=1)
    return today - timedelta(days=today.weekday() + 1)


def make_digest(database: Database, span: Span, last: date) -> Digest:
    """The digest of the day, or of the seven days, that end with `last`."""
    first = last - timedelta(days=_LENGTHS[span] - 1)
    scope = Scope(since=first, until=last)
    watched = {
        name
        for one in company_alerts.watched_companies(database)
        for name in (one.company, one.other)
    }
    chosen = sorted(watched - {""})
    names = chosen or [row.company for row in queries.company_ranking(database, scope=scope)]
    found = [_company(database, name, scope) for name in (chosen or names[:COMPANIES])]
    named = sorted(
        (one for one in found if one.articles), key=lambda one: (-one.articles, one.company)
    )
    alerts = [
        kept
        for kept in company_alerts.list_alerts(database, since=first)
        if kept.alert.kind != "digest" and kept.alert.day <= last
    ]
    return Digest(
        span=span,
        first=first,
        last=last,
        chosen=bool(chosen),
        reach=queries.reach(database, scope=scope),
        companies=tuple(named),
        quiet=tuple(one.company for one in found if not one.articles),
        stories=tuple(queries.stories(database, scope=scope, limit=STORIES, least=2)),
        alerts=tuple(alerts),
    )


def _company(database: Database, company: str, scope: Scope) -> CompanyDigest:
    first, last = scope.since or date.min, scope.until or date.max
    earliest = min(last - timedelta(days=SPARK_DAYS - 1), first - _WEEK)
    rows = queries.mention_counts(
        database, "day", company=company, scope=Scope(since=earliest, until=last)
    )
    by_day = {date.fromisoformat(row.key): row for row in rows}
    now = [row for day, row in by_day.items() if first <= day <= last]
    before = [row for day, row in by_day.items() if first - _WEEK <= day <= last - _WEEK]
    newest = queries.company_articles(database, company, scope=scope, limit=ARTICLES, each=2)
    told = queries.stories(database, company=company, scope=scope, limit=10_000)
    return CompanyDigest(
        company=company,
        articles=_articles(now) or 0,
        in_title=sum(row.hits.in_title for row in now if row.hits),
        stories=len(told),
        before=_articles(before),
        spark=tuple(row.hits.articles if row.hits else None for row in rows[-SPARK_DAYS:]),
        newest=tuple(newest),
    )


def _articles(rows: Sequence[MentionCount]) -> int | None:
    """Articles of these days, None where nobody looked on any of them."""
    counts = [row.hits.articles for row in rows if row.hits is not None]
    return sum(counts) if counts else None
