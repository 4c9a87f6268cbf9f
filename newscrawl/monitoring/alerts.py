"""Alerts about companies: spikes of watched companies, and the first articles that mention one or a
pair."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from pathlib import Path

import numpy as np
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
from newscrawl.templating import html_templates, markdown_templates, safe_url

# All ours; ALPHA, MIN_SCATTER and CAUTION set by `python -m benchmarks.spikes`.
HISTORY_DAYS = 56
MIN_HISTORY = 14
ALPHA = 0.0005
FACTOR = 2.0
MIN_ARTICLES = 5
# The least scatter that is assumed, the factor by which the measured scatter is raised (few days
# measure it badly, and too little of it means false alarms), and how many articles a weekday's
# factor must outweigh.
MIN_SCATTER = 0.1
CAUTION = 1.5
WEEKDAY_PRIOR = 10.0
# A tail's terms below this share of its sum change nothing.
_NEGLIGIBLE = 1e-12
_DAYS_OF_WEEK = 7


@dataclass(frozen=True, slots=True)
class DayCount:
    """A company's articles on a day, None if no source was covered, and all articles read."""

    day: date
    articles: int | None
    read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A day's count against the expected number; `chance` is that of this count or more,
    `history` the number of days that the expectation comes from."""

    articles: int
    expected: float
    chance: float
    history: int

    @property
    def is_spike(self) -> bool:
        return (
            self.chance < ALPHA
            and self.articles >= MIN_ARTICLES
            and self.articles >= FACTOR * self.expected
        )


def assess(history: Sequence[DayCount], today: DayCount) -> Assessment | None:
    """Return how today's count compares to the days before; None if these are too few, or today is
    not covered."""
    days = [day for day in history if day.articles is not None and day.read > 0]
    if len(days) < MIN_HISTORY or today.articles is None or today.read <= 0:
        return None
    counts = np.array([day.articles for day in days], dtype=float)
    read = np.array([day.read for day in days], dtype=float)
    weekdays = np.array([day.day.weekday() for day in days])
    # Half an article more: otherwise 0 would be expected of a company that was never named.
    rate = (counts.sum() + 0.5) / read.sum()
    observed = np.bincount(weekdays, counts, _DAYS_OF_WEEK)
    average = np.bincount(weekdays, read * rate, _DAYS_OF_WEEK)
    factors = (observed + WEEKDAY_PRIOR) / (average + WEEKDAY_PRIOR)
    fitted = read * rate * factors[weekdays]
    expected = today.read * rate * factors[today.day.weekday()]
    # The negative binomial's 1/r, by moments: variance = mean + mean² / r.
    freedom = len(counts) / max(1, len(counts) - _DAYS_OF_WEEK)
    excess = freedom * ((counts - fitted) ** 2).sum() - fitted.sum()
    scatter = max(MIN_SCATTER, CAUTION * float(excess / (fitted**2).sum()))
    same_weekdays = len(days) / _DAYS_OF_WEEK + WEEKDAY_PRIOR / max(fitted.mean(), WEEKDAY_PRIOR)
    uncertainty = 1 / len(days) + 1 / (same_weekdays * _DAYS_OF_WEEK)
    scatter += (scatter + 1 / fitted.mean()) * uncertainty
    chance = tail(today.articles, float(expected), float(scatter))
    return Assessment(
        articles=today.articles, expected=float(expected), chance=chance, history=len(days)
    )


def tail(count: int, mean: float, scatter: float) -> float:
    """Return the chance of `count` or more under a negative binomial of variance
    mean + scatter·mean²."""
    if count <= mean:
        return 1.0
    size = 1 / scatter
    odds = mean / (mean + size)
    term = math.exp(
        math.lgamma(count + size)
        - math.lgamma(size)
        - math.lgamma(count + 1)
        + count * math.log(odds)
        - size * math.log1p(mean / size)
    )
    total, number = term, count
    while term > total * _NEGLIGIBLE:
        term *= (number + size) / (number + 1) * odds
        total += term
        number += 1
    return min(1.0, total)


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
    names = [watch.company for watch in watched if not watch.other]
    if everyone:
        # Those with enough articles in two days for a spike on one of them.
        scope = Scope(since=today - timedelta(days=1), until=today, structure=structure)
        ranked = queries.company_ranking(database, scope=scope)
        names = [row.company for row in ranked if row.hits.articles >= MIN_ARTICLES]
    alerts = [*_first_mentions(database, watched, structure)]
    for company in names:
        scope = Scope(until=today, structure=structure)
        alerts += _spikes(database, company, scope)
    return company_alerts.record_alerts(database, alerts) if alerts else []


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
    record_sent(database, [sent])
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
    templates.filters["size"] = words.story_size
    return templates


@cache
def markdown_letters() -> Environment:
    """Return the Markdown templates of notices."""
    templates = markdown_templates(_TEMPLATES)
    templates.filters["size"] = words.story_size
    return templates


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
