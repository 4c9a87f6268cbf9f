"""What analysts are told of: spikes of watched companies, first mentions of them and of pairs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from newscrawl.monitoring.surprise import FEWEST, HISTORY_DAYS, DayCount, Surprise, surprise
from newscrawl.storage import Database, company_alerts, queries
from newscrawl.storage.company_alerts import CompanyAlert, StoredAlert, WatchedCompany
from newscrawl.storage.queries import FoundArticle, Scope

# All ours. One burst is told once: within so many days another spike must be so much higher.
SAME_BURST = timedelta(days=3)
HIGHER = 2.0
# A day that isn't over is judged when so much of what such a day brings has been read.
READ_ENOUGH = 0.5
# The articles that an alert shows, and those that are looked through for a pair.
_ARTICLES_SHOWN = 5
_ARTICLES_SEARCHED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The articles behind a notice: the newest few of them, and how many there are."""

    articles: tuple[FoundArticle, ...]
    number: int


def notice_all(
    database: Database, *, today: date | None = None, everyone: bool = False
) -> list[CompanyAlert]:
    """Looks at what is watched, or at every company, and keeps what is new; gives that.

    Spikes are looked for on the UTC day before `today`, and on `today` as far as it is read.
    """
    today = today or datetime.now(UTC).date()
    watched = company_alerts.watched_companies(database)
    single = [one.company for one in watched if not one.other]
    names = _named_on(database, today) if everyone else single
    found = [*_firsts(database, watched)]
    for company in names:
        found += _spikes(database, company, (today - timedelta(days=1), today))
    return company_alerts.record_alerts(database, found)


def articles_behind(database: Database, alert: CompanyAlert) -> Behind:
    """The articles of a notice's day, newest first; for a pair those that name both."""
    scope = Scope(since=alert.day, until=alert.day)
    limit = _ARTICLES_SEARCHED if alert.other else _ARTICLES_SHOWN
    found = queries.company_articles(database, alert.company, scope=scope, limit=limit, each=2)
    if alert.other:
        found = [one for one in found if alert.other in one.article.companies]
        return Behind(articles=tuple(found[:_ARTICLES_SHOWN]), number=len(found))
    rows = queries.mention_counts(database, "day", company=alert.company, scope=scope)
    number = sum(row.hits.articles for row in rows if row.hits)
    return Behind(articles=tuple(found), number=number)


def judge(
    database: Database,
    company: str,
    day: date,
    *,
    without: Collection[date] = (),
    today: date | None = None,
) -> Surprise | None:
    """How surprising a company's count on a UTC day is, against the days before; those in
    `without` are left out of its history. None where nothing can be said, as while too few
    articles of `today` are read."""
    counts = _counts(database, company, day)
    history = [count for count in counts[:-1] if count.day not in without]
    count = counts[-1]
    begun = day >= (today or datetime.now(UTC).date())
    if begun and count.read < READ_ENOUGH * _usually_read(history, day):
        return None
    return surprise(history, count)


def _firsts(database: Database, watched: Sequence[WatchedCompany]) -> Iterator[CompanyAlert]:
    told = {kept.alert.cause for kept in company_alerts.list_alerts(database, kinds=_FIRSTS)}
    for one in watched:
        cause = f"first/{one.company}" + (f"/{one.other}" if one.other else "")
        # Who is waited for again, after all, is waited for anew.
        cause += f"/{one.added_at:%Y-%m-%dT%H:%M:%S.%f}"
        if cause in told:
            continue
        day = company_alerts.first_mention_day(database, one)
        if day is not None:
            kind: company_alerts.AlertKind = "first pair" if one.other else "first mention"
            yield CompanyAlert(
                cause=cause, kind=kind, company=one.company, other=one.other, day=day
            )


_FIRSTS: tuple[company_alerts.AlertKind, ...] = ("first mention", "first pair")


def _spikes(database: Database, company: str, days: Sequence[date]) -> Iterator[CompanyAlert]:
    since = days[0] - timedelta(days=HISTORY_DAYS)
    past = company_alerts.list_alerts(database, kinds=("spike",), company=company, since=since)
    told = {kept.alert.day for kept in past}
    # A burst and its days after are not what is usual.
    bursts = {day + timedelta(days=after) for day in told for after in range(SAME_BURST.days + 1)}
    for day in days:
        if day in told:
            continue
        found = judge(database, company, day, without=bursts, today=days[-1])
        if found is None or not found.is_spike or _is_same_burst(found, day, past):
            continue
        facts = {
            "articles": found.articles,
            "expected": round(found.expected, 2),
            "chance": found.chance,
            "history_days": found.history,
        }
        cause = f"spike/{company}/{day}"
        yield CompanyAlert(cause=cause, kind="spike", company=company, day=day, facts=facts)
        # A burst that goes on today is that of yesterday.
        return


def _is_same_burst(found: Surprise, day: date, past: Sequence[StoredAlert]) -> bool:
    return any(
        timedelta(0) < day - kept.alert.day <= SAME_BURST
        and found.articles < HIGHER * kept.alert.facts["articles"]
        for kept in past
    )


def _counts(database: Database, company: str, day: date) -> list[DayCount]:
    scope = Scope(since=day - timedelta(days=HISTORY_DAYS), until=day)
    rows = queries.mention_counts(database, "day", company=company, scope=scope)
    return [
        DayCount(
            day=date.fromisoformat(row.key),
            articles=None if row.hits is None else row.hits.articles,
            read=row.reach.read,
        )
        for row in rows
    ]


def _usually_read(history: Sequence[DayCount], day: date) -> float:
    """The articles that are read on such a weekday, in the middle."""
    alike = sorted(
        count.read for count in history if count.read and count.day.weekday() == day.weekday()
    )
    return alike[len(alike) // 2] if alike else 0.0


def _named_on(database: Database, today: date) -> list[str]:
    """The companies with enough articles in two days that one of these may be a spike."""
    scope = Scope(since=today - timedelta(days=1), until=today)
    ranked = queries.company_ranking(database, scope=scope)
    return [row.company for row in ranked if row.hits.articles >= FEWEST]
