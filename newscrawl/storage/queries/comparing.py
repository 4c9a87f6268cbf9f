"""Companies beside each other: shares of voice, who is named together, who rises and falls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from sqlalchemy import func
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.models import Company
from newscrawl.storage.queries.counting import company_ranking, hits_by
from newscrawl.storage.queries.ledgers import companies_ledger, hits_of
from newscrawl.storage.queries.reaching import reach_of, reaches
from newscrawl.storage.queries.rows import (
    By,
    CoMention,
    Hits,
    Measure,
    Overview,
    Reach,
    Scope,
    Share,
    Standing,
)
from newscrawl.storage.queries.scoping import company_id, last_day

# Ours: the days that an overview looks back on where nothing else is asked for.
OVERVIEW_DAYS = 30


def share_of_voice(
    database: Database,
    companies: Sequence[str],
    *,
    by: By | None = None,
    measure: Measure = "articles",
    scope: Scope | None = None,
) -> list[Share]:
    """Each company's share of what all of them together got, in the order they are given.

    With `by` there is a share for each period or group, else one over the whole scope. An
    article that names two of the companies counts for both. Raises QuestionError where
    fewer than two are given.
    """
    chosen = list(dict.fromkeys(companies))
    if len(chosen) < 2:
        raise QuestionError("a share of voice needs two companies or more")
    scope = (scope or Scope()).at_now()
    stories = measure == "stories"
    with database.reading() as session:
        if by is None:
            looked = reach_of(session, scope)
            return _shares(None, looked, _hits_of(session, chosen, scope, stories=stories), measure)
        hits = {name: hits_by(session, by, name, scope, stories=stories) for name in chosen}
        return [
            share
            for key, looked in reaches(session, by, scope).items()
            for share in _shares(key, looked, {n: hits[n].get(key) for n in chosen}, measure)
        ]


def _hits_of(
    session: Session, names: Sequence[str], scope: Scope, *, stories: bool = False
) -> dict[str, Hits | None]:
    """The hits of each of the companies, None where it has none."""
    found = companies_ledger(session, scope, stories=stories)
    told = [found.stories()] if stories else []
    query = (
        found.select(Company.name, *found.hits(), *told)
        .join(Company, Company.id == found.table.company_id)
        .where(Company.name.in_(names))
        .group_by(Company.name)
    )
    hits: dict[str, Hits | None] = dict.fromkeys(names)
    for name, *sums in session.execute(query):
        number = int(sums.pop()) if stories else None
        hits[name] = replace(hits_of(sums), stories=number)
    return hits


def _shares(
    key: str | None, looked: Reach, hits: Mapping[str, Hits | None], measure: Measure
) -> list[Share]:
    if looked.level == "none":
        return [Share(key=key, company=name, number=None, share=None) for name in hits]
    numbers = {name: getattr(found, measure) if found else 0 for name, found in hits.items()}
    whole = sum(numbers.values())
    return [
        Share(key=key, company=name, number=number, share=number / whole if whole else None)
        for name, number in numbers.items()
    ]


def co_mentions(
    database: Database, company: str, *, scope: Scope | None = None, limit: int = 20
) -> list[CoMention]:
    """The companies named in the same articles as this one, most articles first."""
    scope = (scope or Scope()).at_now()
    with database.reading() as session:
        found = companies_ledger(session, scope, by="hour")
        asked = found.table.company_id == company_id(session, company)
        whole = session.scalar(found.select(func.count()).where(asked)) or 0
        other = aliased(models.Appearance)
        query = (
            found.select(Company.name, func.count(), found.stories())
            .join(other, other.article_id == found.table.article_id)
            .join(Company, Company.id == other.company_id)
            .where(asked, other.company_id != found.table.company_id)
            .group_by(Company.name)
        )
        rows = [
            CoMention(company=name, articles=articles, stories=told, share=articles / whole)
            for name, articles, told in session.execute(query)
        ]
    return sorted(rows, key=lambda row: (-row.articles, -row.stories, row.company))[:limit]


def overview(database: Database, *, scope: Scope | None = None, limit: int = 20) -> Overview:
    """The companies of the scope by articles, each beside the same number of days before it.

    Without `since`, the scope is the last OVERVIEW_DAYS days. Raises QuestionError for a
    range in the wrong order, or with fewer days before it than it has.
    """
    scope = (scope or Scope()).at_now()
    last = last_day(scope)
    since = scope.since or date.fromordinal(max(last.toordinal() - OVERVIEW_DAYS + 1, 1))
    until = last if since <= last else scope.until or last
    if since > until:
        raise QuestionError(f"the range begins on {since} and ends before, on {until}: swap them")
    scope, earlier = _now_and_before(scope, since, until)
    ranked = company_ranking(database, scope=scope, limit=limit)
    names = [row.company for row in ranked]
    with database.reading() as session:
        whole = reaches(session, "day", scope)
        looked_before = reach_of(session, earlier)
        past = _hits_of(session, names, earlier)
        lines = {name: hits_by(session, "day", name, scope) for name in names}
    standings = []
    for row in ranked:
        before = None if looked_before.level == "none" else past[row.company] or Hits()
        standings.append(
            Standing(
                company=row.company,
                hits=row.hits,
                before=before,
                change=_change(row.hits, before),
                spark=_spark(lines[row.company], whole),
            )
        )
    return Overview(
        days=tuple(map(date.fromisoformat, whole)),
        reach=sum(whole.values(), Reach()),
        before=looked_before,
        companies=tuple(standings),
    )


def _now_and_before(scope: Scope, since: date, until: date) -> tuple[Scope, Scope]:
    """The scope with both ends, and as many days right before it."""
    length = until - since + timedelta(days=1)
    if length.days >= since.toordinal():
        raise QuestionError(f"no calendar has so many days before {since}: begin later")
    before = replace(scope, since=since - length, until=since - timedelta(days=1))
    return replace(scope, since=since, until=until), before


def _change(hits: Hits, before: Hits | None) -> float | None:
    if before is None or not before.articles:
        return None
    return hits.articles / before.articles - 1


def _spark(hits: Mapping[str, Hits], looked: Mapping[str, Reach]) -> tuple[int | None, ...]:
    return tuple(
        None if reach.level == "none" else hits.get(key, Hits()).articles
        for key, reach in looked.items()
    )
