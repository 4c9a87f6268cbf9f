"""Digests: summaries of a day or week of companies in the news.

A digest is sent once to each recipient, by whichever worker comes first: before it is sent to one,
this is recorded in the database. If the worker is killed while it sends, that recipient does not
get it again, since it may have arrived; the record says that this is not confirmed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import cast

from newscrawl import config
from newscrawl.answers import words
from newscrawl.answers.company import MAX_STORIES, CompanyPeriod, company_period
from newscrawl.answers.coverage import Reading, reading
from newscrawl.config import DigestTime, SettingError, Span
from newscrawl.items import CompanyStructure
from newscrawl.monitoring.alerts import (
    html_letters,
    link_to,
    markdown_letters,
    structure_in_use,
)
from newscrawl.monitoring.delivery import (
    Attachment,
    Channel,
    DeliveryReport,
    FailedDelivery,
    Link,
    LogChannel,
    Notice,
    RecipientChannel,
    configured_channels,
    deliver,
    named_channels,
    recipient_channels,
)
from newscrawl.reports import (
    MAX_COMPANIES as MAX_REPORTED,
    MEDIA_TYPES,
    ReportFormat,
    make_report,
    report_file,
)
from newscrawl.storage import Database, company_alerts, queries
from newscrawl.storage.company_alerts import CompanyAlert, SentNotice, StoredAlert, failures
from newscrawl.storage.queries import Scope, StoryRow
from newscrawl.storage.scope import NO_STRUCTURE, last_day

# Ours: how long after the end of its days a digest may be sent, and when a failure is repeated.
LATE = timedelta(days=7)
RETRY = timedelta(hours=1)

# Ours: the numbers of rows in a digest.
MAX_COMPANIES = 15
MAX_ARTICLES = 3
_HEADINGS = ("company", "articles", "change of share", "in headlines", "stories", "two weeks")
_BARS = "▁▂▃▄▅▆▇█"
_LENGTHS: dict[Span, int] = {"daily": 1, "weekly": 7}
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The days of a scope, and the same days a week earlier. `chosen` says whether its companies
    are the watched ones: then its stories are about them. `saved` are the names of saved queries,
    `names` those of the sources."""

    span: Span
    reading: Reading
    chosen: bool
    companies: tuple[CompanyPeriod, ...]
    unmentioned: tuple[str, ...]
    stories: tuple[StoryRow, ...]
    alerts: tuple[StoredAlert, ...]
    saved: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        return self.reading.scope

    @property
    def first(self) -> date:
        return self.scope.since or date.min

    @property
    def last(self) -> date:
        return last_day(self.scope)

    @property
    def cause(self) -> str:
        """Return the key under which it is sent once."""
        return _cause(self.span, self.last)


def _cause(span: Span, last: date) -> str:
    return f"digest/{span}/{last}"


def never() -> bool:
    """Return that nothing has to stop."""
    return False


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
    zone: str = "UTC",
) -> Digest:
    """Return the digest of the day, or of the seven days, up to `last` in a time zone, about these
    companies and groups, or by default about the watched ones; `structure` has the groups."""
    first = last - timedelta(days=_LENGTHS[span] - 1)
    scope = Scope(since=first, until=last, zone=zone, structure=structure)
    before = replace(scope, since=first - _WEEK, until=last - _WEEK)
    watched = {
        name
        for watch in company_alerts.watched_companies(database)
        for name in (watch.company, watch.other)
    }
    chosen = sorted({*companies} or watched - {""})
    names = chosen or [
        row.company for row in queries.company_ranking(database, scope=scope, limit=MAX_COMPANIES)
    ]
    periods = [
        company_period(database, name, scope, before, groups=(), articles=MAX_ARTICLES)
        for name in names
    ]
    mentioned = [period for period in periods if period.hits.articles]
    mentioned.sort(key=lambda period: (-period.hits.articles, period.company))
    about = {
        name for company in companies for name in (company, *structure.groups.get(company, ()))
    }
    alerts = [
        stored
        for stored in company_alerts.list_alerts(database, since=first)
        if stored.alert.kind != "digest" and stored.alert.day <= last
        if not companies or not about.isdisjoint((stored.alert.company, stored.alert.other))
    ]
    if chosen:
        shared = (story for period in periods for story in period.top_stories if story.articles > 1)
        by_number = {
            story.story: story for story in sorted(shared, key=lambda story: story.articles)
        }
        stories = [*by_number.values()][: -MAX_STORIES - 1 : -1]
    else:
        stories = queries.stories(database, scope=scope, limit=MAX_STORIES, least=2)
    return Digest(
        span=span,
        reading=reading(database, scope, before=before),
        chosen=bool(chosen),
        companies=tuple(mentioned),
        unmentioned=tuple(period.company for period in periods if not period.hits.articles),
        stories=tuple(stories),
        alerts=tuple(alerts),
        saved=frozenset(row.name for row in queries.saved_queries(database)),
        names=queries.source_names(database),
    )


def report_on_digest(
    database: Database,
    digest: Digest,
    kind: ReportFormat,
    structure: CompanyStructure = NO_STRUCTURE,
) -> tuple[Attachment, ...]:
    """Return the report on the digest's first companies; nothing if it names none."""
    names = [company.company for company in digest.companies[:MAX_REPORTED]]
    if not names:
        return ()
    report = make_report(database, names, replace(digest.scope, structure=structure))
    name = f"{report.file_name}.{kind}"
    return (Attachment(name=name, kind=MEDIA_TYPES[kind], content=report_file(report, kind)),)


def send_digest(
    database: Database,
    digest: Digest,
    channels: Sequence[Channel],
    structure: CompanyStructure = NO_STRUCTURE,
    report: ReportFormat | None = None,
    stopping: Callable[[], bool] = never,
) -> DeliveryReport | None:
    """Send a digest over the channels that have not delivered it yet; None if all have, or another
    worker sends it.

    Recipients with companies of their own get a digest about these. With `report`, e-mails carry a
    report. When `stopping`, the rest is left for a later call.
    """
    alert = CompanyAlert(cause=digest.cause, kind="digest", company="", day=digest.last)
    stored = company_alerts.claim_digest(database, alert)
    if stored is None:
        return None
    by_companies: dict[tuple[str, ...], dict[str, Channel]] = {}
    for name, channel in named_channels(channels).items():
        about = channel.recipient.companies if isinstance(channel, RecipientChannel) else ()
        if name not in stored.delivered_by:
            by_companies.setdefault(about, {})[name] = channel
    failed: list[FailedDelivery] = []
    done = False
    try:
        for names, some in by_companies.items():
            if stopping():
                break
            own_digest = digest
            if names:
                own_digest = make_digest(
                    database, digest.span, digest.last, structure, names, digest.scope.zone
                )
            files = report_on_digest(database, own_digest, report, structure) if report else ()
            notice = replace(
                digest_notice(own_digest), attachments=files, companies=frozenset(names)
            )
            for name, channel in some.items():
                if not stopping():
                    failed += _send(database, stored.number, notice, name, channel)
        done = not failed and not stopping()
    finally:
        company_alerts.release_digest(database, stored.number, done=done)
    if not by_companies:
        return None
    return DeliveryReport(delivered=int(done), failed=tuple(failed))


def _send(
    database: Database, number: int, notice: Notice, name: str, channel: Channel
) -> tuple[FailedDelivery, ...]:
    """Send a digest over a channel, and return the failure, if there is one."""
    sent = SentNotice(recipient=name, cause=notice.cause, subject=notice.subject)
    if not company_alerts.begin_sending(database, number, sent):
        return ()
    failed = deliver(notice, [channel]).failed
    for failure in failed:
        sent = replace(sent, fault=failure.reason)
    company_alerts.end_sending(database, number, sent)
    return failed


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPlan:
    """When digests are sent, and the report that their e-mails carry."""

    times: tuple[DigestTime, ...]
    report: ReportFormat | None = None


def digest_plan() -> DigestPlan:
    """Return the plan of NEWSCRAWL_DIGEST and NEWSCRAWL_DIGEST_REPORT; raise SettingError for an
    invalid one."""
    report = config.NEWSCRAWL_DIGEST_REPORT
    if report not in {"", *MEDIA_TYPES}:
        raise SettingError(f"NEWSCRAWL_DIGEST_REPORT={report}: write html or xlsx")
    times = config.digest_times("NEWSCRAWL_DIGEST", config.NEWSCRAWL_DIGEST)
    return DigestPlan(times=times, report=cast("ReportFormat", report) if report else None)


def digest_channels(database: Database, structure: CompanyStructure) -> list[Channel]:
    """Return the channels that get digests, of the settings and of recipients; raise SettingError
    for an invalid setting."""
    recipients = recipient_channels(database, structure.groups)
    everything = configured_channels(recipients=bool(recipients))
    return [
        # A digest is too long for the log.
        *(channel for channel in everything if not isinstance(channel, LogChannel)),
        *(recipient for recipient in recipients if "digests" in recipient.recipient.gets),
    ]


def send_due_digests(
    database: Database,
    plan: DigestPlan,
    now: datetime,
    stopping: Callable[[], bool] = never,
) -> list[FailedDelivery]:
    """Send the digests that are due to those who don't have them, and return the failures, which
    are repeated after RETRY. No digest is sent about days on which nothing was crawled."""
    failed: list[FailedDelivery] = []
    for digest_time, last in due_digests(database, plan.times, now):
        structure = structure_in_use()
        channels = digest_channels(database, structure)
        first = last - timedelta(days=_LENGTHS[digest_time.span] - 1)
        scope = Scope(since=first, until=last, zone=digest_time.zone)
        failed_at = max(failures(database, _cause(digest_time.span, last)), default=None)
        if (
            not channels
            or stopping()
            or (failed_at and now - failed_at < RETRY)
            or queries.completeness(database, scope=scope).level == "none"
        ):
            continue
        digest = make_digest(database, digest_time.span, last, structure, zone=digest_time.zone)
        sent = send_digest(database, digest, channels, structure, plan.report, stopping)
        failed += sent.failed if sent else ()
    return failed


def due_digests(
    database: Database, times: Iterable[DigestTime], now: datetime
) -> list[tuple[DigestTime, date]]:
    """Return the digests that are due and that not all have yet, with the last day in the time zone
    of the time, the oldest first.

    Their time has come, and their last day ended less than LATE ago. After a pause, all that were
    missed since the last one are due; without one in the last weeks, only the newest.
    """
    alerts = company_alerts.list_alerts(database, kinds=("digest",), since=now.date() - 2 * LATE)
    stored = {digest_time.alert.cause: digest_time for digest_time in alerts}
    due = []
    for digest_time in times:
        lasts = sorted(
            {
                last_full_day(digest_time.span, at.date())
                for at in digest_time.moments(now)
                if at <= now
            }
        )
        causes = {last: _cause(digest_time.span, last) for last in lasts}
        sent = [
            alert.alert.day for cause, alert in stored.items() if f"/{digest_time.span}/" in cause
        ]
        first = min(sent, default=lasts[-1])
        due += [
            (digest_time, last)
            for last, cause in causes.items()
            if last >= first
            and now
            < datetime.combine(last + timedelta(days=1), time(), digest_time.at.tzinfo) + LATE
            and not (cause in stored and stored[cause].delivered_at)
        ]
    return due


def digest_notice(digest: Digest) -> Notice:
    """Return the digest as a notice: in Markdown for plain text, and in HTML."""
    lines = [
        words.in_short(_display_name(digest, company.company), company.change, digest.reading)
        for company in digest.companies
    ]
    return Notice(
        event="digest",
        subject=digest_title(digest),
        text=markdown_digest(digest),
        html=html_digest(digest),
        cause=digest.cause,
        summary="\n".join([*lines, _coverage(digest)]),
        links=tuple(
            Link(title=story.title or story.url, url=story.url, note=words.story_size(story))
            for story in digest.stories
        )
        or tuple(
            link_to(row, digest.names) for company in digest.companies for row in company.newest[:1]
        ),
        kind="digests",
        facts={
            "kind": "digest",
            "span": digest.span,
            "first": digest.first,
            "last": digest.last,
            "companies": {company.company: company.hits.articles for company in digest.companies},
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
        "coverage": _coverage(digest),
        "alerts": [
            words.alert_title(stored.alert) + words.alert_day(stored.alert)
            for stored in digest.alerts
        ],
        "headings": _HEADINGS,
        "rows": [
            (
                _display_name(digest, period.company),
                str(period.hits.articles),
                words.change_text(period.change),
                str(period.hits.in_title),
                str(period.stories),
                spark_bars([day.hits.articles if day.hits else None for day in period.recent]),
            )
            for period in digest.companies
        ],
        "companies": [
            (_display_name(digest, company.company), company.newest) for company in digest.companies
        ],
        "names": digest.names,
        "unmentioned": [_display_name(digest, name) for name in digest.unmentioned],
        "stories": digest.stories,
    }


def _display_name(digest: Digest, name: str) -> str:
    """Return a name as people read it, with the remark that it is that of a saved query."""
    return f"{name} (saved query)" if name in digest.saved else name


def _coverage(digest: Digest) -> str:
    """Return how complete the numbers are, and how comparable with the week before."""
    texts = [words.coverage(digest.reading), *map(str, words.before_notices(digest.reading))]
    if digest.scope.zone != "UTC":
        texts.append(f"Days are those of {digest.scope.zone}.")
    return " ".join(texts)


def spark_bars(counts: Sequence[int | None]) -> str:
    """Return counts as a line of small bars; gaps are dots."""
    most = max((count for count in counts if count is not None), default=0) or 1
    return "".join(
        "·" if count is None else _BARS[round(count / most * (len(_BARS) - 1))] for count in counts
    )
