"""One article with all that is known of it: its text, mentions, copies and former versions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from sqlalchemy import select
from sqlalchemy.orm import Session

from newscrawl.storage.database import Database
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    Clutter,
    Company,
    Mention,
    MentionChange,
    Revision,
)
from newscrawl.storage.queries.articles import (
    ArticlePage,
    ArticleRow,
    DiffLine,
    MarkedMention,
    Version,
)
from newscrawl.storage.queries.finding import rows_of
from newscrawl.storage.queries.snippets import sentences
from newscrawl.storage.queries.stories import copies_of

# Ours: a diff compares so many sentences of each version, at most; those behind are "same" or
# not by their place alone.
MOST_COMPARED = 2_000


def article_page(database: Database, url: str) -> ArticlePage | None:
    """The article that was met under this URL, canonical or not; None where none was."""
    query = (
        select(Article)
        .join(ArticleUrl, ArticleUrl.article_id == Article.id)
        .where(ArticleUrl.url == url)
    )
    with database.reading() as session:
        article = session.scalar(query)
        if article is None:
            return None
        (row,) = rows_of(session, [article.id], None)
        return ArticlePage(
            row=row,
            text=article.text,
            authors=tuple(article.authors),
            section=article.section,
            modified_at=article.modified_at,
            first_seen_at=article.first_seen_at,
            last_seen_at=article.last_seen_at,
            method=article.method,
            confidence=article.confidence,
            mentions=_mentions(session, article.id),
            addresses=_addresses(session, article.id),
            copies=_copies(session, row),
            clutter=_clutter(session, article.id),
        )


def history(database: Database, url: str) -> list[Version]:
    """The versions of the article met under this URL, the first one first; none where there is
    no such article."""
    known = select(Article).join(ArticleUrl, ArticleUrl.article_id == Article.id)
    with database.reading() as session:
        article = session.scalar(known.where(ArticleUrl.url == url))
        if article is None:
            return []
        former = session.scalars(
            select(Revision).where(Revision.article_id == article.id).order_by(Revision.number)
        ).all()
        changes = _mention_changes(session, article.id)
    since = former[-1].replaced_at if former else article.first_seen_at
    texts = [(version.title, version.text) for version in former]
    texts.append((article.title, article.text))
    diffs = [_diff((None, ""), texts[0]), *(_diff(old, new) for old, new in pairwise(texts))]
    versions = [
        Version(
            number=version.number,
            title=version.title,
            text=version.text,
            access=version.access,
            seen_at=version.seen_at,
            replaced_at=version.replaced_at,
            diff=diff,
            mentions=changes[version.number],
        )
        for version, diff in zip(former, diffs[:-1], strict=True)
    ]
    latest = Version(
        number=article.revision,
        title=article.title,
        text=article.text,
        access=article.access,
        seen_at=since,
        replaced_at=None,
        diff=diffs[-1],
        mentions=changes[article.revision],
    )
    return [*versions, latest]


def _mentions(session: Session, number: int) -> tuple[MarkedMention, ...]:
    query = (
        select(Mention, Company.name)
        .join(Company, Company.id == Mention.company_id)
        .where(Mention.article_id == number)
    )
    found = [
        MarkedMention(
            company=name,
            section="title" if mention.section == "title" else "body",
            start=mention.start_offset,
            end=mention.end_offset,
            surface=mention.surface,
            rule=mention.rule,
        )
        for mention, name in session.execute(query)
    ]
    return tuple(sorted(found, key=lambda m: (m.section != "title", m.start, m.end, m.company)))


def _addresses(session: Session, number: int) -> tuple[str, ...]:
    query = select(ArticleUrl.url).where(ArticleUrl.article_id == number)
    return tuple(sorted(session.scalars(query)))


def _copies(session: Session, row: ArticleRow) -> tuple[ArticleRow, ...]:
    if row.story is None:
        return ()
    numbers = [number for number in copies_of(session, row.story) if number != row.number]
    return tuple(rows_of(session, numbers, None))


def _clutter(session: Session, number: int) -> tuple[tuple[str, int], ...]:
    query = (
        select(Company.name, Clutter.number)
        .join(Company, Company.id == Clutter.company_id)
        .where(Clutter.article_id == number)
    )
    return tuple(sorted((name, found) for name, found in session.execute(query)))


def _mention_changes(session: Session, number: int) -> dict[int, tuple[tuple[str, int], ...]]:
    query = (
        select(MentionChange.number, Company.name, MentionChange.difference)
        .join(Company, Company.id == MentionChange.company_id)
        .where(MentionChange.article_id == number)
    )
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for version, name, difference in session.execute(query):
        found[version].append((name, difference))
    return defaultdict(tuple, {version: tuple(sorted(rows)) for version, rows in found.items()})


def _diff(old: tuple[str | None, str], new: tuple[str | None, str]) -> tuple[DiffLine, ...]:
    """The new version's headline and sentences, with those of the old one that are gone."""
    before, after = _lines(*old), _lines(*new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        line
        for change, a, b, c, d in matcher.get_opcodes()
        for line in _changed(change, before[a:b], after[c:d])
    )


def _changed(change: str, before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine]:
    if change == "equal":
        yield from (DiffLine(change="same", text=text) for text in after)
        return
    yield from (DiffLine(change="removed", text=text) for text in before)
    yield from (DiffLine(change="added", text=text) for text in after)


def _lines(title: str | None, text: str) -> list[str]:
    """Headline and sentences; what lies behind MOST_COMPARED of them as one piece."""
    lines = sentences(text)
    if len(lines) > MOST_COMPARED:
        lines = [*lines[:MOST_COMPARED], " ".join(lines[MOST_COMPARED:])]
    return [title, *lines] if title else lines
