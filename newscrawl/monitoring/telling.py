"""Alerts as letters, and their way out: each channel passes each of them on once."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lxml.builder import E

from newscrawl.monitoring import markup
from newscrawl.monitoring.notify import Channel, DeliveryError, Notice, Undelivered
from newscrawl.monitoring.spikes import Behind, articles_behind, notice_all
from newscrawl.storage import Database, company_alerts
from newscrawl.storage.company_alerts import CompanyAlert, StoredAlert


@dataclass(frozen=True, slots=True)
class Told:
    """How many alerts went out over every channel, and which could not."""

    alerts: int = 0
    failed: tuple[Undelivered, ...] = ()


def tell_all(database: Database, channels: Iterable[Channel]) -> Told:
    """Sends what is still to be told.

    A channel that fails gets the alert again when this is called again, for as long as
    `company_alerts.STALE`; one that passed it on does not.
    """
    named = _named(channels)
    alerts, failed = 0, []
    for kept in company_alerts.claim_alerts(database):
        letter = alert_letter(kept.alert, articles_behind(database, kept.alert))
        missed = _pass_on(database, kept, letter, named)
        alerts += not missed
        failed += missed
    return Told(alerts, tuple(failed))


def look_and_tell(database: Database, channels: Iterable[Channel]) -> None:
    """What `newscrawl monitor` does with each inspection, where anything is watched."""
    if company_alerts.watched_companies(database):
        notice_all(database)
        tell_all(database, channels)


def tell_digest(
    database: Database, alert: CompanyAlert, letter: Notice, channels: Iterable[Channel]
) -> Told | None:
    """Sends a digest over the channels that have not passed it on yet; None where all have."""
    company_alerts.record_alerts(database, [alert])
    kept = company_alerts.find_alert(database, alert.cause)
    named = _named(channels)
    if kept is None or set(named) <= set(kept.told):
        return None
    missed = _pass_on(database, kept, letter, named)
    return Told(int(not missed), tuple(missed))


def _pass_on(
    database: Database, kept: StoredAlert, letter: Notice, named: Mapping[str, Channel]
) -> list[Undelivered]:
    told, missed = list(kept.told), []
    for name, channel in named.items():
        if name in told:
            continue
        try:
            channel.deliver(letter)
        except DeliveryError as error:
            missed.append(Undelivered(channel.name, str(error)))
        else:
            told.append(name)
    company_alerts.mark_delivered(database, kept.number, told, done=not missed)
    return missed


def alert_letter(alert: CompanyAlert, behind: Behind) -> Notice:
    """The alert as people and programs get it, with the articles behind it."""
    subject, why = _said(alert)
    more = behind.number - len(behind.articles)
    lines = [why, "", *markup.markdown_articles(behind.articles)]
    if more > 0:
        lines += ["", _more(more)]
    parts = [E.p(why), markup.articles(behind.articles)]
    if more > 0:
        parts.append(markup.note(_more(more)))
    return Notice(
        subject=subject,
        text="\n".join(lines),
        html=markup.page(subject, *parts),
        cause=alert.cause,
        facts={
            "kind": alert.kind,
            "company": alert.company,
            "other": alert.other,
            "day": alert.day,
            **alert.facts,
            "articles_behind": [
                {
                    "title": one.article.title,
                    "url": markup.safe_url(one.article.url),
                    "source": one.article.source,
                }
                for one in behind.articles
            ],
        },
    )


def _said(alert: CompanyAlert) -> tuple[str, str]:
    """The subject, and a sentence that says why."""
    company, day = alert.company, alert.day.isoformat()
    if alert.kind == "first pair":
        both = f"{company} and {alert.other}"
        return f"First article that names {both}", f"{both} are named together since {day}."
    if alert.kind == "first mention":
        return f"First article that names {company}", f"{company} is in the news since {day}."
    facts = alert.facts
    articles, expected = facts["articles"], facts["expected"]
    why = (
        f"{company} is named in {articles} articles of {day}; its own history of "
        f"{facts['history_days']} days lets expect {expected:.1f}. So many or more have a chance "
        f"of {facts['chance']:.2g}."
    )
    return f"{company}: {articles} articles on {day}, {expected:.0f} expected", why


def _more(number: int) -> str:
    return f"And {number} more: newscrawl articles shows them."


def _named(channels: Iterable[Channel]) -> dict[str, Channel]:
    """Channels by a name of their own: two webhooks may lead to one host."""
    seen: Counter[str] = Counter()
    named = {}
    for channel in channels:
        seen[channel.name] += 1
        number = seen[channel.name]
        named[channel.name if number == 1 else f"{channel.name} {number}"] = channel
    return named
