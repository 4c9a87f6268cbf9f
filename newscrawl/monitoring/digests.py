"""Digests: summaries of a day or week of companies in the news, sent once to each recipient."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Literal

from newscrawl.items import CompanyStructure
from newscrawl.monitoring.alerts import (
    first_words,
    html_letters,
    link_to,
    mark_delivered,
    markdown_letters,
    story_size,
)
from newscrawl.monitoring.delivery import (
    Attachment,
    Channel,
    Delivery,
    DeliveryReport,
    Link,
    Notice,
    RecipientChannel,
    deliver,
    named_channels,
)
from newscrawl.reports import (
    MAX_COMPANIES as MAX_REPORTED,
    MEDIA_TYPES,
    ReportFormat,
    caveat,
    change_text,
    days_of,
    in_short,
    make_report,
    report_file,
)
from newscrawl.storage import Database, company_alerts, queries
from newscrawl.storage.company_alerts import CompanyAlert, StoredAlert
from newscrawl.storage.queries import Completeness, FoundArticle, Scope, StoryRow
from newscrawl.storage.queries.significance import Change, compare
from newscrawl.storage.scope import NO_STRUCTURE
from newscrawl.text import count_of

Span = Literal["daily", "weekly"]

# All ours: the numbers of rows in a digest, and the days of its small charts.
MAX_COMPANIES = 15
MAX_ARTICLES = 3
MAX_STORIES = 5
SPARK_DAYS = 14
_HEADINGS = ("company", "articles", "change of share", "in headlines", "stories", "two weeks")
_BARS = "▁▂▃▄▅▆▇█"
_LENGTHS: dict[Span, int] = {"daily": 1, "weekly": 7}
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyDigest:
    """A company in a digest.

    `change` compares its share of the articles read with that on the same days a week earlier;
    `spark` are articles by day, None in gaps; `newest` a few of the articles, `top` of the stories
    in several articles.
    """

    company: str
    articles: int
    in_title: int
    stories: int
    change: Change
    spark: tuple[int | None, ...]
    newest: tuple[FoundArticle, ...]
    top: tuple[StoryRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The days from `first` to `last`, UTC. `chosen` says whether its companies are the watched
    ones: then its stories are about them. `saved` are the names of saved queries, `names` those of
    the sources."""

    span: Span
    first: date
    last: date
    chosen: bool
    completeness: Completeness
    completeness_before: Completeness
    companies: tuple[CompanyDigest, ...]
    unmentioned: tuple[str, ...]
    stories: tuple[StoryRow, ...]
    alerts: tuple[StoredAlert, ...]
    saved: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def cause(self) -> str:
        """Return the key under which it is sent once."""
        return f"digest/{self.span}/{self.last}"


def last_full_day(span: Span, today: date) -> date:
    """Return yesterday, or the last Sunday before today."""
    if span == "daily":
        return today - timedelta(days=1)
    return today - timedelta(days=today.weekday() + 1)


def make_digest(
    database: Database,
    span: Span,
    last: date,
    structure: CompanyStructure = NO_STRUCTURE,
    companies: Collection[str] = (),
) -> Digest:
    """Return the digest of the day, or of the seven days, up to `last`, about these companies and
    groups, or by default about the watched ones; `structure` has the groups."""
    first = last - timedelta(days=_LENGTHS[span] - 1)
    scope = Scope(since=first, until=last, structure=structure)
    watched = {
        name
        for one in company_alerts.watched_companies(database)
        for name in (one.company, one.other)
    }
    chosen = sorted({*companies} or watched - {""})
    names = chosen or [row.company for row in queries.company_ranking(database, scope=scope)]
    rows = [_company(database, name, scope) for name in (chosen or names[:MAX_COMPANIES])]
    named = sorted(
        (one for one in rows if one.articles), key=lambda one: (-one.articles, one.company)
    )
    about = {name for one in companies for name in (one, *structure.groups.get(one, ()))}
    alerts = [
        stored
        for stored in company_alerts.list_alerts(database, since=first)
        if stored.alert.kind != "digest" and stored.alert.day <= last
        if not companies or not about.isdisjoint((stored.alert.company, stored.alert.other))
    ]
    return Digest(
        span=span,
        first=first,
        last=last,
        chosen=bool(chosen),
        completeness=queries.completeness(database, scope=scope),
        completeness_before=queries.completeness(database, scope=_week_before(scope)),
        companies=tuple(named),
        unmentioned=tuple(one.company for one in rows if not one.articles),
        stories=_top_stories(rows)
        if chosen
        else tuple(queries.stories(database, scope=scope, limit=MAX_STORIES, least=2)),
        alerts=tuple(alerts),
        saved=frozenset(row.name for row in queries.saved_queries(database)),
        names=queries.source_names(database),
    )


def _top_stories(rows: Sequence[CompanyDigest]) -> tuple[StoryRow, ...]:
    """Return the stories about the companies that most articles report."""
    ranked = sorted((each for one in rows for each in one.top), key=lambda each: each.articles)
    return tuple({each.story: each for each in ranked}.values())[: -MAX_STORIES - 1 : -1]


def _week_before(scope: Scope) -> Scope:
    since, until = scope.since or date.max, scope.until or date.max
    return replace(scope, since=since - _WEEK, until=until - _WEEK)


def _company(database: Database, company: str, scope: Scope) -> CompanyDigest:
    first, last = scope.since or date.min, scope.until or date.max
    earliest = min(last - timedelta(days=SPARK_DAYS - 1), first - _WEEK)
    rows = queries.mention_counts(
        database, "day", company=company, scope=replace(scope, since=earliest)
    )
    by_day = {date.fromisoformat(row.key): row for row in rows}
    now = [row for day, row in by_day.items() if first <= day <= last]
    before = [row for day, row in by_day.items() if first - _WEEK <= day <= last - _WEEK]
    newest = queries.company_articles(database, company, scope=scope, limit=MAX_ARTICLES, each=2)
    stories = queries.stories(database, company=company, scope=scope, limit=10_000)
    return CompanyDigest(
        company=company,
        articles=sum(row.hits.articles for row in now if row.hits),
        in_title=sum(row.hits.in_title for row in now if row.hits),
        stories=len(stories),
        change=compare(days_of(now), days_of(before)),
        spark=tuple(row.hits.articles if row.hits else None for row in rows[-SPARK_DAYS:]),
        newest=tuple(newest),
        top=tuple(each for each in stories[:MAX_STORIES] if each.articles > 1),
    )


def report_on_digest(
    database: Database,
    digest: Digest,
    kind: ReportFormat,
    structure: CompanyStructure = NO_STRUCTURE,
) -> tuple[Attachment, ...]:
    """Return the report on the digest's first companies; nothing if it names none."""
    names = [one.company for one in digest.companies[:MAX_REPORTED]]
    if not names:
        return ()
    scope = Scope(since=digest.first, until=digest.last, structure=structure)
    made = make_report(database, names, scope)
    name = f"{made.file_name}.{kind}"
    return (Attachment(name=name, kind=MEDIA_TYPES[kind], content=report_file(made, kind)),)


def send_digest(
    database: Database,
    digest: Digest,
    channels: Sequence[Channel],
    structure: CompanyStructure = NO_STRUCTURE,
    report: ReportFormat | None = None,
) -> DeliveryReport | None:
    """Send a digest over the channels that have not delivered it yet; None if all have.

    Recipients with companies of their own get a digest about these. With `report`, e-mails carry a
    report.
    """
    alert = CompanyAlert(cause=digest.cause, kind="digest", company="", day=digest.last)
    company_alerts.record_alerts(database, [alert])
    stored = company_alerts.find_alert(database, digest.cause)
    if stored is None or set(named_channels(channels)) <= set(stored.delivered_by):
        return None
    by_companies: dict[tuple[str, ...], list[Channel]] = {}
    for channel in channels:
        names = channel.recipient.companies if isinstance(channel, RecipientChannel) else ()
        by_companies.setdefault(names, []).append(channel)
    delivery = Delivery(delivered_by=stored.delivered_by, failed=())
    for names, some in by_companies.items():
        if set(named_channels(some)) <= set(stored.delivered_by):
            continue
        made = digest
        if names:
            made = make_digest(database, digest.span, digest.last, structure, names)
        files = report_on_digest(database, made, report, structure) if report else ()
        notice = replace(digest_notice(made), attachments=files, companies=frozenset(names))
        sent = deliver(notice, some, delivered_by=delivery.delivered_by)
        delivery = Delivery(delivered_by=sent.delivered_by, failed=delivery.failed + sent.failed)
    mark_delivered(database, stored, digest_title(digest), delivery)
    return DeliveryReport(delivered=int(not delivery.failed), failed=delivery.failed)


def digest_notice(digest: Digest) -> Notice:
    """Return the digest as a notice: in Markdown for plain text, and in HTML."""
    return Notice(
        subject=digest_title(digest),
        text=markdown_digest(digest),
        html=html_digest(digest),
        cause=digest.cause,
        summary=_summary(digest),
        links=tuple(
            Link(title=story.title or story.url, url=story.url, note=story_size(story))
            for story in digest.stories
        )
        or tuple(link_to(row, digest.names) for one in digest.companies for row in one.newest[:1]),
        kind="digests",
        facts={
            "kind": "digest",
            "span": digest.span,
            "first": digest.first,
            "last": digest.last,
            "companies": {one.company: one.articles for one in digest.companies},
        },
    )


def _summary(digest: Digest) -> str:
    """Return a sentence for each company, and how complete the numbers are."""
    reads = digest.completeness.read, digest.completeness_before.read
    before = "a week before" if digest.span == "daily" else "in the 7 days before"
    lines = [
        in_short(_marked(digest, one.company), one.change, reads, before)
        for one in digest.companies
    ]
    return "\n".join([*lines, _coverage(digest)])


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
        "coverage": _coverage(digest),
        "alerts": [_alert_line(stored) for stored in digest.alerts],
        "headings": _HEADINGS,
        "rows": [(_marked(digest, one.company), *_cells(one)) for one in digest.companies],
        "companies": [(_marked(digest, one.company), one.newest) for one in digest.companies],
        "names": digest.names,
        "unmentioned": [_marked(digest, name) for name in digest.unmentioned],
        "stories": digest.stories,
    }


def _marked(digest: Digest, name: str) -> str:
    """Return a name as people read it, with the remark that it is that of a saved query."""
    return f"{name} (saved query)" if name in digest.saved else name


def _coverage(digest: Digest) -> str:
    """Return how complete the numbers are, and how comparable with the week before."""
    known, before = digest.completeness, digest.completeness_before
    length = _LENGTHS[digest.span]
    period = "a week before" if length == 1 else "before"
    return f"{_covered(known)} {caveat(period, length, before)}".rstrip()


def _covered(completeness: Completeness) -> str:
    read = count_of(completeness.read, "article")
    read += " was read" if completeness.read == 1 else " were read"
    if completeness.level == "full":
        return f"{read}; every source was read on every day."
    if completeness.level == "none":
        return "No source was crawled: there are no numbers for these days."
    if completeness.covered < completeness.expected:
        missing = completeness.expected - completeness.covered
        return (
            f"{read}. Of the {completeness.expected:,} days of all sources together, {missing:,} "
            f"{'was' if missing == 1 else 'were'} not read: the numbers may be too low."
        )
    return f"{read}. Some of these days lie before the first crawl: the numbers may be too low."


def _cells(one: CompanyDigest) -> Sequence[str]:
    return (
        str(one.articles),
        change_text(one.change),
        str(one.in_title),
        str(one.stories),
        spark_bars(one.spark),
    )


def _alert_line(stored: StoredAlert) -> str:
    alert = stored.alert
    if alert.kind == "spike":
        return (
            f"{alert.company}: {alert.facts['articles']} articles on {alert.day}, "
            f"{alert.facts['expected']:.0f} expected"
        )
    return f"{first_words(alert)}, of {alert.day}"


def spark_bars(counts: Sequence[int | None]) -> str:
    """Return counts as a line of small bars; gaps are dots."""
    most = max((count for count in counts if count is not None), default=0)
    return "".join("·" if count is None else _bar(count, most) for count in counts)


def _bar(count: int, max_count: int) -> str:
    return _BARS[round(count / max_count * (len(_BARS) - 1))] if max_count else _BARS[0]
