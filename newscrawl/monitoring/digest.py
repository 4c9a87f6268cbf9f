"""Digests: a day or a week of the watched companies, or else of those mentioned most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Literal

from newscrawl.monitoring.alerts import html_letters, mark_delivered, markdown_letters
from newscrawl.monitoring.delivery import (
    Channel,
    DeliveryReport,
    Notice,
    PendingNotice,
    deliver_pending,
    named_channels,
)
from newscrawl.storage import Database, company_alerts, queries
from newscrawl.storage.company_alerts import CompanyAlert, StoredAlert
from newscrawl.storage.queries import Completeness, FoundArticle, MentionCount, Scope, StoryRow

Span = Literal["daily", "weekly"]

# All ours: the numbers of rows in a digest, and the days of its small charts.
MAX_COMPANIES = 15
MAX_ARTICLES = 3
MAX_STORIES = 5
SPARK_DAYS = 14
_HEADINGS = ("company", "articles", "change", "in headlines", "stories", "two weeks")
_BARS = "▁▂▃▄▅▆▇█"
_LENGTHS: dict[Span, int] = {"daily": 1, "weekly": 7}
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyDigest:
    """A company in a digest.

    `before` is the number of articles on the same days a week earlier, None where no source was
    covered then; `spark` are articles by day, None in gaps; `newest` a few of the articles.
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
    """The days from `first` to `last`, UTC. `chosen` says whether its companies are the watched
    ones."""

    span: Span
    first: date
    last: date
    chosen: bool
    completeness: Completeness
    companies: tuple[CompanyDigest, ...]
    quiet: tuple[str, ...]
    stories: tuple[StoryRow, ...]
    alerts: tuple[StoredAlert, ...]

    @property
    def cause(self) -> str:
        """The key under which it is sent once."""
        return f"digest/{self.span}/{self.last}"


def last_full_day(span: Span, today: date) -> date:
    """Return yesterday, or the last Sunday before today."""
    if span == "daily":
        return today - timedelta(days=1)
    return today - timedelta(days=today.weekday() + 1)


def make_digest(database: Database, span: Span, last: date) -> Digest:
    """Return the digest of the day, or of the seven days, up to `last`."""
    first = last - timedelta(days=_LENGTHS[span] - 1)
    scope = Scope(since=first, until=last)
    watched = {
        name
        for one in company_alerts.watched_companies(database)
        for name in (one.company, one.other)
    }
    chosen = sorted(watched - {""})
    names = chosen or [row.company for row in queries.company_ranking(database, scope=scope)]
    rows = [_company(database, name, scope) for name in (chosen or names[:MAX_COMPANIES])]
    named = sorted(
        (one for one in rows if one.articles), key=lambda one: (-one.articles, one.company)
    )
    alerts = [
        stored
        for stored in company_alerts.list_alerts(database, since=first)
        if stored.alert.kind != "digest" and stored.alert.day <= last
    ]
    return Digest(
        span=span,
        first=first,
        last=last,
        chosen=bool(chosen),
        completeness=queries.completeness(database, scope=scope),
        companies=tuple(named),
        quiet=tuple(one.company for one in rows if not one.articles),
        stories=tuple(queries.stories(database, scope=scope, limit=MAX_STORIES, least=2)),
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
    newest = queries.company_articles(database, company, scope=scope, limit=MAX_ARTICLES, each=2)
    stories = queries.stories(database, company=company, scope=scope, limit=10_000)
    return CompanyDigest(
        company=company,
        articles=_articles(now) or 0,
        in_title=sum(row.hits.in_title for row in now if row.hits),
        stories=len(stories),
        before=_articles(before),
        spark=tuple(row.hits.articles if row.hits else None for row in rows[-SPARK_DAYS:]),
        newest=tuple(newest),
    )


def _articles(rows: Sequence[MentionCount]) -> int | None:
    """Return the articles of these days, None where no source was covered on any of them."""
    counts = [row.hits.articles for row in rows if row.hits is not None]
    return sum(counts) if counts else None


def send_digest(
    database: Database, digest: Digest, channels: Sequence[Channel]
) -> DeliveryReport | None:
    """Send a digest over the channels that have not delivered it yet; None where all have."""
    alert = CompanyAlert(cause=digest.cause, kind="digest", company="", day=digest.last)
    company_alerts.record_alerts(database, [alert])
    stored = company_alerts.find_alert(database, digest.cause)
    if stored is None or set(named_channels(channels)) <= set(stored.delivered_by):
        return None
    pending = PendingNotice(
        notice=digest_notice(digest),
        acknowledge=partial(mark_delivered, database, stored),
        delivered_by=stored.delivered_by,
    )
    return deliver_pending([pending], channels)


def digest_notice(digest: Digest) -> Notice:
    """Return the digest as a notice: in Markdown for plain text, and in HTML."""
    return Notice(
        subject=digest_title(digest),
        text=markdown_digest(digest),
        html=html_digest(digest),
        cause=digest.cause,
        facts={
            "kind": "digest",
            "span": digest.span,
            "first": digest.first,
            "last": digest.last,
            "companies": {one.company: one.articles for one in digest.companies},
        },
    )


def digest_title(digest: Digest) -> str:
    """Return the digest's title."""
    if digest.span == "daily":
        return f"Companies in the news on {digest.last}"
    return f"Companies in the news, {digest.first} to {digest.last}"


def markdown_digest(digest: Digest) -> str:
    """Return the digest as Markdown, with tables and links."""
    text = markdown_letters().get_template("digest.md").render(_values(digest))
    return text.rstrip() + "\n"


def html_digest(digest: Digest) -> str:
    """Return the digest as an HTML page that loads nothing from any other host."""
    return html_letters().get_template("digest.html").render(_values(digest))


def _values(digest: Digest) -> Mapping[str, object]:
    return {
        "title": digest_title(digest),
        "coverage": _coverage(digest.completeness),
        "alerts": [_alert_line(stored) for stored in digest.alerts],
        "headings": _HEADINGS,
        "rows": [_cells(one) for one in digest.companies],
        "companies": digest.companies,
        "quiet": digest.quiet,
        "stories": digest.stories,
    }


def _coverage(completeness: Completeness) -> str:
    """Return how far the numbers can be trusted, in a sentence."""
    read = f"{completeness.read:,} article{' was' if completeness.read == 1 else 's were'} read"
    if completeness.level == "full":
        return f"{read}; every source was read on every day."
    if completeness.level == "none":
        return "No source was crawled: there are no numbers for these days."
    if completeness.covered < completeness.expected:
        missing = completeness.expected - completeness.covered
        return (
            f"{read}. On {missing:,} of {completeness.expected:,} source-days (one source on one "
            "day) nothing was read: the numbers may be too low."
        )
    return f"{read}. Some of these days lie before the first crawl: the numbers may be too low."


def _cells(one: CompanyDigest) -> Sequence[str]:
    return (
        one.company,
        str(one.articles),
        _change(one),
        str(one.in_title),
        str(one.stories),
        spark_bars(one.spark),
    )


def _change(one: CompanyDigest) -> str:
    """Return the change against the same days a week before."""
    if one.before is None:
        return "?"
    if not one.before:
        return "new"
    return f"{one.articles / one.before - 1:+.0%}"


def _alert_line(stored: StoredAlert) -> str:
    alert = stored.alert
    if alert.kind == "spike":
        return (
            f"{alert.company}: {alert.facts['articles']} articles on {alert.day}, "
            f"{alert.facts['expected']:.0f} expected"
        )
    names = f"{alert.company} and {alert.other}" if alert.other else alert.company
    return f"{names}: first article on {alert.day}"


def spark_bars(counts: Sequence[int | None]) -> str:
    """Return counts as a line of small bars; gaps are dots."""
    most = max((count for count in counts if count is not None), default=0)
    return "".join("·" if count is None else _bar(count, most) for count in counts)


def _bar(count: int, most: int) -> str:
    return _BARS[round(count / most * (len(_BARS) - 1))] if most else _BARS[0]
