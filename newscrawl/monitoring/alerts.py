"""Alerts about companies: spikes of watched companies, and the first articles that mention one or a
pair."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment

from newscrawl import config
from newscrawl.answers import words
from newscrawl.items import CompanyStructure
from newscrawl.mentions import load_companies
from newscrawl.monitoring.delivery import (
    Delivery,
    DeliveryError,
    Link,
    LogChannel,
    Notice,
    PendingNotice,
    RecipientChannel,
)
from newscrawl.monitoring.spike_detection import (
    HISTORY_DAYS,
    MIN_ARTICLES,
    Assessment,
    DayCount,
    assess,
)
from newscrawl.storage import Database, company_alerts, queries
from newscrawl.storage.company_alerts import (
    AlertKind,
    CompanyAlert,
    Recipient,
    SentNotice,
    StoredAlert,
    WatchedCompany,
    record_sent,
)
from newscrawl.storage.queries import FoundArticle, Scope
from newscrawl.storage.scope import NO_STRUCTURE
from newscrawl.templating import html_templates, markdown_templates, marked_pieces, safe_url

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
    single = [watch.company for watch in watched if not watch.other]
    names = _often_named(database, today, structure) if everyone else single
    alerts = [*_first_mentions(database, watched, structure)]
    for company in names:
        scope = Scope(until=today, structure=structure)
        alerts += _spikes(database, company, scope)
    return company_alerts.record_alerts(database, alerts)


def structure_in_use() -> CompanyStructure:
    """Return the groups of NEWSCRAWL_COMPANIES; without this file there are none."""
    if not config.NEWSCRAWL_COMPANIES:
        return NO_STRUCTURE
    return load_companies(config.NEWSCRAWL_COMPANIES).structure


def pending_alerts(
    database: Database,
    structure: CompanyStructure = NO_STRUCTURE,
    now: datetime | None = None,
    *,
    retry: bool = False,
) -> Iterator[PendingNotice]:
    """Yield the notices of alerts that are not delivered yet, for `company_alerts.STALE` at most.

    After a pause, or with `retry` at once, only channels that failed get the alert again.
    """
    names = queries.source_names(database)
    for stored in company_alerts.claim_alerts(database, now, retry=retry):
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
    """Store the channels that have delivered an alert, and record what was sent."""
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
    notice = Notice(subject="newscrawl: a test message", text=text, event="test", summary=text)
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
        articles=tuple(
            replace(
                article,
                snippets=tuple(
                    [snippet for snippet in article.snippets if snippet.section == "body"][:1]
                ),
            )
            for article in articles
        ),
        number=number,
    )


def alert_notice(alert: CompanyAlert, articles: AlertArticles, names: Mapping[str, str]) -> Notice:
    """Return the notice of an alert, with its articles; `names` are those of the sources."""
    subject, reason = words.alert_title(alert), words.alert_reason(alert)
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
        links=tuple(link_to(article, names) for article in articles.articles),
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
                    "title": article.article.title,
                    "url": safe_url(article.article.url),
                    "source": article.article.source,
                    "sentences": [each.text for each in article.snippets],
                }
                for article in articles.articles
            ],
        },
    )


def link_to(article: FoundArticle, names: Mapping[str, str]) -> Link:
    """Return the link to an article; `names` are those of the sources."""
    row = article.article
    return Link(
        title=row.title or row.url,
        url=row.url,
        note=f"{names.get(row.source, row.source)}, {row.day}",
        sentence=" ".join(
            snippet.text for snippet in article.snippets if snippet.section == "body"
        ),
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


_FILTERS = {
    "pieces": lambda snippet: marked_pieces(snippet.text, snippet.marks),
    "size": words.story_size,
}


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
    since = day - timedelta(days=HISTORY_DAYS)
    scope = Scope(since=since, until=day, structure=structure)
    rows = queries.mention_counts(database, "day", company=company, scope=scope)
    counts = [
        DayCount(
            day=date.fromisoformat(row.key),
            articles=None if row.hits is None else row.hits.articles,
            read=row.completeness.read,
        )
        for row in rows
    ]
    history = [count for count in counts[:-1] if count.day not in without]
    count = counts[-1]
    is_running = day >= (today or datetime.now(UTC).date())
    reads = sorted(
        past.read for past in history if past.read and past.day.weekday() == day.weekday()
    )
    usual = reads[len(reads) // 2] if reads else 0  # the median of the same weekday
    if is_running and count.read < MIN_READ * usual:
        return None
    return assess(history, count)


def _first_mentions(
    database: Database, watched: Sequence[WatchedCompany], structure: CompanyStructure
) -> Iterator[CompanyAlert]:
    stored = company_alerts.list_alerts(database, kinds=_FIRSTS)
    causes = {row.alert.cause for row in stored}
    for watch in watched:
        cause = f"first/{watch.company}" + (f"/{watch.other}" if watch.other else "")
        # A company that is watched again can have a new first article.
        cause += f"/{watch.added_at:%Y-%m-%dT%H:%M:%S.%f}"
        if cause in causes:
            continue
        day = company_alerts.first_mention_day(database, watch, structure.groups)
        if day is not None:
            kind: AlertKind = "first pair" if watch.other else "first mention"
            facts = {"watched_since": watch.added_at.date().isoformat()}
            yield CompanyAlert(
                cause=cause,
                kind=kind,
                company=watch.company,
                other=watch.other,
                day=day,
                facts=facts,
            )


def _spikes(database: Database, company: str, scope: Scope) -> Iterator[CompanyAlert]:
    """Yield the spike of a company or group on the scope's last day, or on the day before."""
    last = scope.until or datetime.now(UTC).date()
    days = last - timedelta(days=1), last
    since = days[0] - timedelta(days=HISTORY_DAYS)
    alerts = company_alerts.list_alerts(database, kinds=("spike",), company=company, since=since)
    alerted = {stored.alert.day for stored in alerts}
    # Bursts and the days after them are not typical.
    bursts = {
        day + timedelta(days=after) for day in alerted for after in range(SAME_BURST.days + 1)
    }
    for day in days:
        if day in alerted:
            continue
        assessment = assess_day(
            database, company, day, without=bursts, today=last, structure=scope.structure
        )
        if not assessment or not assessment.is_spike:
            continue
        if any(
            timedelta(0) < day - stored.alert.day <= SAME_BURST
            and assessment.articles < HIGHER * stored.alert.facts["articles"]
            for stored in alerts
        ):
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


def _often_named(database: Database, today: date, structure: CompanyStructure) -> list[str]:
    """Return the companies and groups with enough articles in two days for a spike on one of
    them."""
    scope = Scope(since=today - timedelta(days=1), until=today, structure=structure)
    ranked = queries.company_ranking(database, scope=scope)
    return [row.company for row in ranked if row.hits.articles >= MIN_ARTICLES]
