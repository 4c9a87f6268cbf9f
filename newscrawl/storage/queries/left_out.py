"""What a number leaves out, and why, as far as this is known."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

from sqlalchemy import func, literal_column, select
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import models
from newscrawl.storage.engine import one_of
from newscrawl.storage.models import (
    Appearance,
    Article,
    Correction,
    Mention,
    QuarantinedRevision,
)
from newscrawl.storage.models.articles import UNCOUNTED
from newscrawl.storage.ownership import Tenure
from newscrawl.storage.queries.doubtful_words import DoubtfulWords, find_doubtful_words
from newscrawl.storage.queries.proof_target import (
    ProofTarget,
    articles_left_in,
    groups_left_in,
    spellings_of,
)
from newscrawl.storage.queries.questions import about
from newscrawl.storage.queries.rollup_tables import (
    CompanyDays,
    company_days,
    counts_on,
    rollup_table,
)
from newscrawl.storage.scope import By, articles_within, between

LeftOutReason = Literal[
    "boilerplate", "paywalled", "disallowed", "doubtful", "corrected", "quarantined", "kind"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What a number leaves out for a reason; `mentions` is null if it can't be known."""

    reason: LeftOutReason = field(
        metadata=about(
            'in menus and teasers ("boilerplate"); articles of which only headline and standfirst '
            'may be read and do not name the company, though the rest might ("paywalled", '
            '"disallowed"); articles that might count, whose only names of the company lack '
            'support or are part of something else ("doubtful"); mentions that a person called '
            'wrong ("corrected"); versions in the quarantine that name it ("quarantined"); pages '
            'that are not articles ("kind")'
        )
    )
    articles: int
    mentions: int | None
    words: tuple[str, ...] = field(
        default=(), metadata=about("the doubtful words, most frequent first")
    )
    since: date | None = field(
        default=None,
        metadata=about("doubtful words were searched from this day on; null for all days"),
    )


def left_out(session: Session, asked: ProofTarget) -> Iterator[LeftOut]:
    """Yield what the number leaves out, by reason; nothing for a reason without an article."""
    if asked.counted not in {"boilerplate", "doubtful"}:
        mentions, articles = boilerplate_sums(session, asked)
        if articles:
            yield LeftOut(reason="boilerplate", articles=articles, mentions=mentions)
    if asked.counted in {"read", "boilerplate", "doubtful"}:
        return
    doubtful = doubtful_words_of(session, asked)
    if doubtful.articles or doubtful.since:
        yield LeftOut(
            reason="doubtful",
            articles=len(doubtful.articles),
            mentions=None,
            words=doubtful.spellings,
            since=doubtful.since,
        )
    for access, articles in _count_headline_only(session, asked):
        yield LeftOut(
            reason="paywalled" if access == "paywalled" else "disallowed",
            articles=articles,
            mentions=None,
        )
    days = None if asked.company is None else company_days(session, asked.company, asked.scope)
    articles, mentions = _corrected_mentions(session, asked)
    if articles:
        yield LeftOut(reason="corrected", articles=articles, mentions=mentions)
    if quarantined := _count_quarantined(session, asked):
        yield LeftOut(reason="quarantined", articles=len(quarantined), mentions=sum(quarantined))
    articles, mentions = _count_of_other_kinds(session, asked, days)
    if articles:
        yield LeftOut(reason="kind", articles=articles, mentions=mentions)


def boilerplate_sums(session: Session, asked: ProofTarget) -> tuple[int, int]:
    """Return the numbers of mentions in menus and teasers, and of the articles beside them; those
    of one company from its daily sums."""
    if asked.company is None or asked.scope.tenures(asked.company) == [Tenure(asked.company)]:
        scope = replace(asked.scope, section=None, zone="UTC")
        by: By | None = "source" if asked.without else None
        rollup = rollup_table(session, scope, by=by, company=asked.company)
        sums = func.sum(rollup.table.boilerplate), func.sum(rollup.table.boilerplate_articles)
        query = rollup.select(*sums).where(*groups_left_in(rollup, asked))
    else:
        around = boilerplate_rows(session, asked)
        query = select(func.sum(around.c.number), func.count())
    mentions, articles = session.execute(query).one()
    return int(mentions or 0), int(articles or 0)


def _count_headline_only(session: Session, asked: ProofTarget) -> list[tuple[str, int]]:
    """Return the articles, by access, of which headline and standfirst alone are known and do not
    name the company."""
    rollup = rollup_table(session, asked.scope, by="hour", company=None)
    table = rollup.table
    query = (
        rollup.select(Article.access, func.count())
        .join(Article, Article.id == table.article_id)
        # As the index of limited articles has it: no parameter.
        .where(table.limited > literal_column("0"), *groups_left_in(rollup, asked))
    )
    if asked.company is None:
        query = query.where(table.in_title + table.in_body == 0)
    else:
        named = aliased(Appearance)
        days = company_days(session, asked.company, asked.scope)
        names = named.article_id == table.article_id, counts_on(named.company_id, named, days)
        query = query.where(~select(1).where(*names).correlate(table).exists())
    query = query.group_by(Article.access).order_by(Article.access)
    return [(access, articles) for access, articles in session.execute(query)]


def _corrected_mentions(session: Session, asked: ProofTarget) -> tuple[int, int]:
    """Return the numbers of articles and of mentions that people have called wrong."""
    query = select(Correction.article_id, func.count()).group_by(Correction.article_id)
    query = query.where(Correction.kind == "wrong", Correction.undone_at.is_(None))
    if asked.company is not None:
        query = query.where(Correction.company.in_(asked.scope.members(asked.company)))
    mentions = dict(session.execute(query).all())
    left = _within(session, asked, mentions)
    return len(left), sum(mentions[number] for number in left)


def _count_quarantined(session: Session, asked: ProofTarget) -> list[int]:
    """Return the mentions of the company in each quarantined version that has one."""
    query = select(QuarantinedRevision.article_id, QuarantinedRevision.mentions)
    members = None if asked.company is None else set(asked.scope.members(asked.company))
    found = [
        (article, sum(members is None or one.get("company") in members for one in mentions))
        for article, mentions in session.execute(
            query.where(QuarantinedRevision.state == "pending")
        )
    ]
    naming = [(article, number) for article, number in found if number]
    left = _within(session, asked, [article for article, _ in naming], every_kind=True)
    return [number for article, number in naming if article in left]


def _count_of_other_kinds(
    session: Session, asked: ProofTarget, days: Sequence[CompanyDays] | None
) -> tuple[int, int]:
    """Return the numbers of stored pages that do not count as articles but name the company, and of
    its mentions on them."""
    uncounted = select(Article.id).where(UNCOUNTED, *between(Article.day, asked.scope.widened()))
    numbers = _within(session, asked, session.scalars(uncounted).all(), every_kind=True)
    if not numbers:
        return 0, 0
    query = select(func.count(Mention.article_id.distinct()), func.count(Mention.id))
    query = query.where(one_of(Mention.article_id, "numbers"))
    if days is not None:
        query = query.where(Mention.company_id.in_({one.number for one in days}))
    articles, mentions = session.execute(query, {"numbers": list(numbers)}).one()
    return articles, mentions


def _within(
    session: Session, asked: ProofTarget, articles: Collection[int], *, every_kind: bool = False
) -> set[int]:
    """Return those of the articles that are in the scope.

    Where few articles have a property they are read first, by it alone: a planner would begin with
    all articles of the period, or with all mentions.
    """
    if not articles:
        return set()
    query = articles_within(
        select(Article.id).where(one_of(Article.id, "numbers")), asked.scope, every_kind=every_kind
    )
    query = query.where(*articles_left_in(asked))
    return {*session.scalars(query, {"numbers": list(articles)})}


def doubtful_words_of(session: Session, asked: ProofTarget) -> DoubtfulWords:
    """Return the doubtful words of the company. Articles of which only the headline is known are
    left out for that reason, whatever it says."""
    spellings = spellings_of(asked)
    if spellings is None:
        return DoubtfulWords()
    rollup = rollup_table(session, asked.scope, by="hour", company=None)
    articles = rollup.select(rollup.table.article_id).where(rollup.table.limited == 0)
    eligible = articles.where(*groups_left_in(rollup, asked))
    return find_doubtful_words(session, spellings, asked.scope, eligible)


def boilerplate_rows(session: Session, asked: ProofTarget) -> Any:
    """Boilerplate is kept by UTC days; section and zone are ignored."""
    scope = replace(asked.scope, section=None, zone="UTC")
    rollup = rollup_table(session, scope, by="hour", company=None)
    table, around = rollup.table, models.Boilerplate
    number = func.sum(around.number).label("number")
    key = table.article_id, table.minute, table.story_id
    query = rollup.select(table.article_id, number, table.minute, table.story_id)
    query = query.join(around, around.article_id == table.article_id).where(around.number > 0)
    if asked.company is not None:
        days = company_days(session, asked.company, scope)
        query = query.where(counts_on(around.company_id, table, days))
    return query.where(*groups_left_in(rollup, asked)).group_by(*key).subquery()
