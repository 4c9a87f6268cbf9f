"""Alerts and digests about companies: spikes of watched companies, the first articles that mention
one or a pair, and summaries of a day or week."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Literal

from jinja2 import Environment

from newscrawl.items import CompanyStructure
from newscrawl.monitoring.delivery import (
    Attachment,
    Channel,
    Delivery,
    DeliveryError,
    DeliveryReport,
    Link,
    LogChannel,
    Notice,
    PendingNotice,
    RecipientChannel,
    deliver,
    named_channels,
)
from newscrawl.monitoring.spike_detection import (
    HISTORY_DAYS,
    MIN_ARTICLES,
    Assessment,
    DayCount,
    assess,
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
from newscrawl.storage.company_alerts import AlertKind, CompanyAlert, StoredAlert, WatchedCompany
from newscrawl.storage.queries import Completeness, FoundArticle, Scope, Snippet, StoryRow
from newscrawl.storage.queries.significance import Change, compare
from newscrawl.storage.recipients import Recipient, SentNotice, record_sent
from newscrawl.storage.scope import NO_STRUCTURE
from newscrawl.templating import html_templates, markdown_templates, marked_pieces, safe_url
from newscrawl.text import count_of

# All ours. A burst is one alert: within these days another spike must be higher by this factor.
SAME_BURST = timedelta(days=3)
HIGHER = 2.0
# Today is assessed once this share of a usual day's articles has been read.
MIN_READ = 0.5
_SHOWN_ARTICLES = 5  # in an alert
_FIRSTS: tuple[AlertKind, ...] = ("first mention", "first pair")
_TEMPLATES = Path(__file__).parent / "templates"


def find_alerts(
    database: Database,
    *,
    today: date | None = None,
    everyone: bool = False,
    structure: CompanyStructure = NO_STRUCTURE,
) -> list[CompanyAlert]:
    """Record and return the new alerts about watched companies and groups of `structure`, or with
    `everyone` about all companies and groups.

    Spikes are searched for on the UTC day before `today`, and on `today` as far as it is read.
    """
    today = today or datetime.now(UTC).date()
    watched = company_alerts.watched_companies(database)
    single = [one.company for one in watched if not one.other]
    names = _often_named(database, today, structure) if everyone else single
    alerts = [*_first_mentions(database, watched, structure)]
    for company in names:
        scope = Scope(until=today, structure=structure)
        alerts += _spikes(database, company, scope)
    return company_alerts.record_alerts(database, alerts)


def pending_alerts(
    database: Database, structure: CompanyStructure = NO_STRUCTURE
) -> Iterator[PendingNotice]:
    """Yield the notices of alerts that are not delivered yet, for `company_alerts.STALE` at most.

    At the next call only channels that failed get the alert again.
    """
    names = queries.source_names(database)
    for stored in company_alerts.claim_alerts(database):
        articles = alert_articles(database, stored.alert, structure)
        notice = alert_notice(stored.alert, articles, names)
        yield PendingNotice(
            notice=notice,
            acknowledge=partial(mark_delivered, database, stored, notice.subject),
            delivered_by=stored.delivered_by,
        )


def mark_delivered(
    database: Database, stored: StoredAlert, subject: str, delivery: Delivery
) -> None:
    """Store the channels that have delivered an alert or a digest, and record what was sent."""
    faults = {name: "" for name in delivery.delivered_by if name not in stored.delivered_by}
    faults |= {failure.channel: failure.reason for failure in delivery.failed}
    sent = [
        SentNotice(recipient=name, cause=stored.alert.cause, subject=subject, fault=fault)
        for name, fault in faults.items()
        if name != LogChannel().name
    ]
    company_alerts.mark_delivered(
        database, stored.number, delivery.delivered_by, sent, done=not delivery.failed
    )


def send_test(database: Database, recipient: Recipient) -> str:
    """Send a test message to a recipient; return why it failed, or an empty text."""
    text = f"This is a test: alerts and digests of newscrawl reach {recipient.name} here."
    notice = Notice(subject="newscrawl: a test message", text=text, summary=text)
    fault = ""
    try:
        RecipientChannel(recipient).deliver(notice)
    except DeliveryError as error:
        fault = str(error)
    sent = SentNotice(recipient=recipient.name, cause="test", subject=notice.subject, fault=fault)
    database.write(lambda session: record_sent(session, [sent]))
    return fault


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertArticles:
    """The articles of an alert: the newest few of them, and their number."""

    articles: tuple[FoundArticle, ...]
    number: int


def alert_articles(
    database: Database, alert: CompanyAlert, structure: CompanyStructure = NO_STRUCTURE
) -> AlertArticles:
    """Return the articles of an alert's day, the newest first; for a pair, those with both."""
    scope = Scope(since=alert.day, until=alert.day, structure=structure)
    if alert.other:
        pair, number = queries.pair_articles(
            database, alert.company, alert.other, scope=scope, limit=_SHOWN_ARTICLES
        )
        return AlertArticles(articles=tuple(pair), number=number)
    articles = queries.company_articles(
        database, alert.company, scope=scope, limit=_SHOWN_ARTICLES, each=2
    )
    rows = queries.mention_counts(database, "day", company=alert.company, scope=scope)
    number = sum(row.hits.articles for row in rows if row.hits)
    return AlertArticles(
        articles=tuple(replace(one, snippets=_first_sentence(one.snippets)) for one in articles),
        number=number,
    )


def _first_sentence(snippets: Sequence[Snippet]) -> tuple[Snippet, ...]:
    return tuple([one for one in snippets if one.section == "body"][:1])


def alert_notice(alert: CompanyAlert, articles: AlertArticles, names: Mapping[str, str]) -> Notice:
    """Return the notice of an alert, with its articles; `names` are those of the sources."""
    subject, reason = _words(alert)
    values = {
        "title": subject,
        "reason": reason,
        "articles": articles.articles,
        "names": names,
        "sentences": 2,  # of a pair, if no sentence names both
        "more": articles.number - len(articles.articles),
    }
    return Notice(
        subject=subject,
        text=markdown_letters().get_template("alert.md").render(values),
        html=html_letters().get_template("alert.html").render(values),
        cause=alert.cause,
        summary=reason,
        links=tuple(_link(one, names) for one in articles.articles),
        companies=frozenset({alert.company, alert.other} - {""}),
        kind="alerts",
        facts={
            "kind": alert.kind,
            "company": alert.company,
            "other": alert.other,
            "day": alert.day,
            **alert.facts,
            "articles_behind": [
                {
                    "title": one.article.title,
                    "url": safe_url(one.article.url),
                    "source": one.article.source,
                    "sentences": [each.text for each in one.snippets],
                }
                for one in articles.articles
            ],
        },
    )


def _link(article: FoundArticle, names: Mapping[str, str]) -> Link:
    row = article.article
    return Link(
        title=row.title or row.url,
        url=row.url,
        note=f"{names.get(row.source, row.source)}, {row.day}",
        sentence=" ".join(one.text for one in article.snippets if one.section == "body"),
    )


@cache
def html_letters() -> Environment:
    """Return the HTML templates of notices."""
    templates = html_templates(_TEMPLATES)
    templates.filters |= _FILTERS
    return templates


@cache
def markdown_letters() -> Environment:
    """Return the Markdown templates of notices."""
    templates = markdown_templates(_TEMPLATES)
    templates.filters |= _FILTERS
    return templates


def _story_size(story: StoryRow) -> str:
    return f"{count_of(story.articles, 'article')} in {count_of(story.sources, 'source')}"


def _pieces(snippet: Snippet) -> list[tuple[str, bool]]:
    return marked_pieces(snippet.text, snippet.marks)


_FILTERS = {"pieces": _pieces, "size": _story_size}


def _words(alert: CompanyAlert) -> tuple[str, str]:
    """Return the subject, and a sentence with the reason."""
    company, day = alert.company, alert.day.isoformat()
    if alert.kind in _FIRSTS:
        named = f"both {company} and {alert.other}" if alert.other else company
        found = f"is the first one found{_since_watch(alert)} that names {named}."
        return _first_words(alert), f"An article of {day} {found}"
    facts = alert.facts
    articles, expected = facts["articles"], facts["expected"]
    reason = (
        f"{company} is named in {articles} articles of {day}; {expected:.1f} were expected from "
        f"its history of {facts['history_days']} days. The chance of {articles} or more is "
        f"{facts['chance']:.2g}."
    )
    return f"{company}: {articles} articles on {day}, {expected:.0f} expected", reason


def _first_words(alert: CompanyAlert) -> str:
    """Return the subject of a first article, which need not be the oldest: it was found first."""
    names = f"{alert.company} and {alert.other}" if alert.other else alert.company
    return f"{names}: first article found{_since_watch(alert)}"


def _since_watch(alert: CompanyAlert) -> str:
    since = alert.facts.get("watched_since")
    return f" since the watch began on {since}" if since else ""


def assess_day(
    database: Database,
    company: str,
    day: date,
    *,
    without: Collection[date] = (),
    today: date | None = None,
    structure: CompanyStructure = NO_STRUCTURE,
) -> Assessment | None:
    """Return how a company's count on a UTC day compares to the days before, except for those in
    `without`. None if it can't be compared, for instance while too few articles of `today` are
    read."""
    counts = _counts(database, company, day, structure)
    history = [count for count in counts[:-1] if count.day not in without]
    count = counts[-1]
    is_running = day >= (today or datetime.now(UTC).date())
    if is_running and count.read < MIN_READ * _usually_read(history, day):
        return None
    return assess(history, count)


def _first_mentions(
    database: Database, watched: Sequence[WatchedCompany], structure: CompanyStructure
) -> Iterator[CompanyAlert]:
    stored = company_alerts.list_alerts(database, kinds=_FIRSTS)
    known = {one.alert.cause for one in stored}
    for one in watched:
        cause = f"first/{one.company}" + (f"/{one.other}" if one.other else "")
        # A company that is watched again can have a new first article.
        cause += f"/{one.added_at:%Y-%m-%dT%H:%M:%S.%f}"
        if cause in known:
            continue
        day = company_alerts.first_mention_day(database, one, structure.groups)
        if day is not None:
            kind: AlertKind = "first pair" if one.other else "first mention"
            facts = {"watched_since": one.added_at.date().isoformat()}
            yield CompanyAlert(
                cause=cause, kind=kind, company=one.company, other=one.other, day=day, facts=facts
            )


def _spikes(database: Database, company: str, scope: Scope) -> Iterator[CompanyAlert]:
    """Yield the spike of a company or group on the scope's last day, or on the day before."""
    last = scope.until or datetime.now(UTC).date()
    days = last - timedelta(days=1), last
    since = days[0] - timedelta(days=HISTORY_DAYS)
    past = company_alerts.list_alerts(database, kinds=("spike",), company=company, since=since)
    known = {stored.alert.day for stored in past}
    # Bursts and the days after them are not typical.
    bursts = {day + timedelta(days=after) for day in known for after in range(SAME_BURST.days + 1)}
    for day in days:
        if day in known:
            continue
        assessment = assess_day(
            database, company, day, without=bursts, today=last, structure=scope.structure
        )
        if not assessment or not assessment.is_spike or _is_same_burst(assessment, day, past):
            continue
        facts = {
            "articles": assessment.articles,
            "expected": round(assessment.expected, 2),
            "chance": assessment.chance,
            "history_days": assessment.history,
        }
        cause = f"spike/{company}/{day}"
        yield CompanyAlert(cause=cause, kind="spike", company=company, day=day, facts=facts)
        # A burst that began yesterday and continues today is one alert.
        return


def _is_same_burst(assessment: Assessment, day: date, past: Sequence[StoredAlert]) -> bool:
    return any(
        timedelta(0) < day - stored.alert.day <= SAME_BURST
        and assessment.articles < HIGHER * stored.alert.facts["articles"]
        for stored in past
    )


def _counts(
    database: Database, company: str, day: date, structure: CompanyStructure
) -> list[DayCount]:
    since = day - timedelta(days=HISTORY_DAYS)
    scope = Scope(since=since, until=day, structure=structure)
    rows = queries.mention_counts(database, "day", company=company, scope=scope)
    return [
        DayCount(
            day=date.fromisoformat(row.key),
            articles=None if row.hits is None else row.hits.articles,
            read=row.completeness.read,
        )
        for row in rows
    ]


def _usually_read(history: Sequence[DayCount], day: date) -> float:
    """Return the median of the articles read on the same weekday."""
    numbers = sorted(
        count.read for count in history if count.read and count.day.weekday() == day.weekday()
    )
    return numbers[len(numbers) // 2] if numbers else 0.0


def _often_named(database: Database, today: date, structure: CompanyStructure) -> list[str]:
    """Return the companies and groups with enough articles in two days for a spike on one of
    them."""
    scope = Scope(since=today - timedelta(days=1), until=today, structure=structure)
    ranked = queries.company_ranking(database, scope=scope)
    return [row.company for row in ranked if row.hits.articles >= MIN_ARTICLES]


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
    ones: then its stories are about them. `names` are those of the sources."""

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
            Link(title=story.title or story.url, url=story.url, note=_story_size(story))
            for story in digest.stories
        )
        or tuple(_link(row, digest.names) for one in digest.companies for row in one.newest[:1]),
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
    lines = [in_short(one.company, one.change, reads, before) for one in digest.companies]
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
        "rows": [_cells(one) for one in digest.companies],
        "companies": digest.companies,
        "names": digest.names,
        "unmentioned": digest.unmentioned,
        "stories": digest.stories,
    }


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
        one.company,
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
    return f"{_first_words(alert)}, of {alert.day}"


def spark_bars(counts: Sequence[int | None]) -> str:
    """Return counts as a line of small bars; gaps are dots."""
    most = max((count for count in counts if count is not None), default=0)
    return "".join("·" if count is None else _bar(count, most) for count in counts)


def _bar(count: int, max_count: int) -> str:
    return _BARS[round(count / max_count * (len(_BARS) - 1))] if max_count else _BARS[0]
