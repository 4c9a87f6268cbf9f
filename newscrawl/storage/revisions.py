"""Versions of articles: the stored ones, and decisions of operators, who apply or discard a
quarantined version or restore a replaced one. Each decision is one transaction that updates all
rollups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from newscrawl.items import Hints, Mention, copy_fields
from newscrawl.storage import RevisionError
from newscrawl.storage.articles import StoredArticle, lock_source, revise, stored_article
from newscrawl.storage.database import Database, reads, writes
from newscrawl.storage.documents import Record, fingerprint_of, rank
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    Boilerplate,
    Company,
    FrontierUrl,
    QuarantinedRevision,
    Revision,
    Source,
)
from newscrawl.storage.quarantine import (
    accept,
    close_pending,
    pack_columns,
    reject_version,
    unpack_columns,
)
from newscrawl.storage.rollups import RollupUpdate


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierVersion:
    """A replaced version, in which mentions are to be found again. `has_language` says whether the
    language is that version's own, or the article's present one."""

    article_id: int
    url: str
    number: int
    title: str
    text: str
    language: str | None
    has_language: bool


@writes
def apply_revision(session: Session, number: int, decided_by: str = "") -> str:
    """Make the quarantined revision its article's newest version; return the article's URL.

    Raise RevisionError if it is not pending, or is a page without an article.
    """
    connection = session.connection()
    revision, stored = _lock_pending(session, number)
    if not revision.text:
        raise RevisionError(
            f"revision {number} can't be applied: its page holds no article; "
            f"newscrawl revisions discard {number} removes it from the list"
        )
    columns = {
        **unpack_columns(revision.facts),
        "url": stored.url,
        "title": revision.title,
        "text": revision.text,
    }
    record = _record(
        columns,
        content_hash=revision.content_hash,
        fingerprint=revision.fingerprint,
        mentions=tuple(Mention(**mention) for mention in revision.mentions),
        boilerplate=revision.boilerplate,
    )
    close_pending(connection, stored.id, "applied", decided_by)
    _revise(connection, record, stored)
    return str(stored.url)


@writes
def discard_revision(session: Session, number: int, decided_by: str = "") -> str:
    """Reject the quarantined revision until its hash is deleted; return the article's URL. Raise
    RevisionError if it is not pending."""
    _, stored = _lock_pending(session, number)
    close_pending(session.connection(), stored.id, "discarded", decided_by)
    return str(stored.url)


@reads
def earlier_version(session: Session, url: str, number: int) -> EarlierVersion:
    """Return the version of the article under this address, for restoring; raise RevisionError if
    there is no such version."""
    under = select(Article).join(ArticleUrl, ArticleUrl.article_id == Article.id)
    article = session.scalar(under.where(ArticleUrl.url == url))
    if article is None:
        raise RevisionError(f"no article is stored under {url}: newscrawl articles lists them")
    revision = session.scalar(
        select(Revision).where(Revision.article_id == article.id, Revision.number == number)
    )
    if number == article.revision:
        raise RevisionError(f"version {number} is the newest one of {article.url} already")
    if revision is None:
        raise RevisionError(
            f"{article.url} has no version {number}, they go from 1 to {article.revision}: "
            "newscrawl revisions list shows them"
        )
    facts = revision.facts
    return EarlierVersion(
        article_id=article.id,
        url=article.url,
        number=number,
        title=revision.title or "",
        text=revision.text,
        language=facts["language"] if facts else article.language,
        has_language=facts is not None,
    )


@writes
def restore_version(
    session: Session,
    version: EarlierVersion,
    mentions: Sequence[Mention],
    language: str | None,
    decided_by: str = "",
) -> int:
    """Make an earlier version, with the mentions found in it, the article's newest one; return its
    new number. The version before becomes a revision, and is not taken from the site again."""
    connection = session.connection()
    lock_source(connection, version.article_id)
    stored = stored_article(connection, version.article_id)
    conditions = (Revision.article_id == version.article_id, Revision.number == version.number)
    revision = session.scalar(select(Revision).where(*conditions))
    article = session.get(Article, version.article_id)
    if stored is None or revision is None or article is None:
        raise RevisionError(f"{version.url} is not stored any more")
    if stored.content_hash == revision.content_hash:
        raise RevisionError(f"{version.url} already has the text of version {version.number}")
    boilerplate = select(Company.name, Boilerplate.number).join(
        Company, Company.id == Boilerplate.company_id
    )
    columns = {
        **unpack_columns(revision.facts or pack_columns(vars(article))),
        "url": stored.url,
        "title": revision.title,
        "text": revision.text,
        "access": revision.access,
        "language": language,
    }
    record = _record(
        columns,
        content_hash=revision.content_hash,
        fingerprint=fingerprint_of(revision.title, revision.text, stored.published_at),
        mentions=mentions,
        boilerplate=dict(
            connection.execute(boilerplate.where(Boilerplate.article_id == stored.id)).all()
        ),
    )
    reject_version(connection, stored.id, stored.content_hash, record.seen_at, decided_by)
    accept(connection, stored.id, revision.content_hash)
    _revise(connection, record, stored)
    return article.revision + 1


def decide_all(
    database: Database,
    numbers: Sequence[int],
    decide: Callable[[Database, int, str], str],
    decided_by: str = "",
) -> tuple[list[str], list[str]]:
    """Apply or discard several revisions; return the URLs of the articles, and the errors of the
    others."""
    done, errors = [], []
    for number in dict.fromkeys(numbers):
        try:
            done.append(decide(database, number, decided_by))
        except RevisionError as error:
            errors.append(str(error))
    return done, errors


def _lock_pending(session: Session, number: int) -> tuple[QuarantinedRevision, StoredArticle]:
    """Return the quarantined revision and its article, and lock its writers."""
    table = QuarantinedRevision
    pending = select(table).where(table.id == number, table.state == "pending")
    article_id = session.scalar(pending.with_only_columns(table.article_id)) or 0
    lock_source(session.connection(), article_id)
    revision = session.scalar(pending)
    stored = stored_article(session.connection(), article_id)
    if revision is None or stored is None:
        raise RevisionError(
            f"no revision {number} is in the quarantine: newscrawl articles --quarantined lists "
            "those that are"
        )
    return revision, stored


def _revise(connection: Connection, record: Record, stored: StoredArticle) -> None:
    rollups = RollupUpdate(connection)
    with rollups.updating([stored.id]):
        revise(connection, record, stored, stored.run_id)
    rollups.write()


def _record(
    columns: dict[str, Any],
    *,
    content_hash: str,
    fingerprint: str | None,
    mentions: Sequence[Mention],
    boilerplate: Mapping[str, int],
) -> Record:
    return Record(
        source="",
        urls=(columns["url"],),
        columns=columns,
        mentions=tuple(mentions),
        boilerplate=dict(boilerplate),
        seen_at=datetime.now(UTC),
        content_hash=content_hash,
        fingerprint=fingerprint,
        rank=rank(columns["access"], columns["kind"], has_text=bool(columns["text"])),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """An article in its newest version, which was fetched at `seen_at`; `facts` come from its page
    or its feed."""

    source: str
    day: date
    facts: Hints
    characters: int
    access: str
    kind: str
    seen_at: datetime


@reads
def articles_at(session: Session, urls: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return the ids and own URLs of the articles under canonical URLs."""
    query = (
        select(ArticleUrl.url, Article.id, Article.url)
        .join(Article, Article.id == ArticleUrl.article_id)
        .where(ArticleUrl.url.in_(urls))
    )
    return {url: (number, article_url) for url, number, article_url in session.execute(query)}


@reads
def versions_at(session: Session, urls: Sequence[str]) -> dict[str, StoredVersion]:
    """Return the articles under canonical URLs, their own or an alias."""
    query = (
        select(ArticleUrl.url, Article, Source)
        .join(Article, Article.id == ArticleUrl.article_id)
        .join(Source, Source.id == Article.source_id)
        .where(ArticleUrl.url.in_(urls))
    )
    return {
        url: copy_fields(
            StoredVersion,
            article,
            source=source.slug,
            facts=Hints(
                title=article.title,
                authors=tuple(article.authors),
                published=article.published_at,
                section=article.section,
                language=article.language,
            ),
            characters=len(article.text),
            seen_at=article.revised_at or article.first_seen_at,
        )
        for url, article, source in session.execute(query)
    }


@reads
def listed_at(session: Session, urls: Sequence[str]) -> dict[str, str]:
    """Return the sources of those canonical URLs that a feed or sitemap has listed."""
    query = (
        select(FrontierUrl.url, Source.slug)
        .join(Source, Source.id == FrontierUrl.source_id)
        .where(FrontierUrl.url.in_(urls))
    )
    return dict(session.execute(query).all())
