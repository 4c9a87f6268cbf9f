"""What people decide on versions of articles: apply or discard what is quarantined, restore what
was replaced. Each decision is one transaction, and all that is counted follows in it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from newscrawl.items import Mention
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.database import Database
from newscrawl.storage.documents import Record, fingerprint_of, rank
from newscrawl.storage.errors import RevisionError
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    Base,
    Boilerplate,
    Company,
    QuarantinedRevision,
    Revision,
)
from newscrawl.storage.quarantine import (
    accept,
    close_pending,
    mention_of,
    packed,
    turn_down,
    unpacked,
)
from newscrawl.storage.saving import StoredArticle, lock_source, revise, stored_article

_ARTICLES = Base.metadata.tables["articles"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierVersion:
    """A version that was replaced, as its mentions are found anew. `has_language` says whether the
    language is that version's own, or the one of the article as it is now."""

    article_id: int
    url: str
    number: int
    title: str
    text: str
    language: str | None
    has_language: bool


def apply_revision(database: Database, number: int) -> str:
    """Make the quarantined revision its article's newest version; return the article's URL.

    Raises RevisionError where it is not pending, or is a page without an article.
    """

    def work(session: Session) -> str:
        connection = session.connection()
        held, stored = _pending(connection, number)
        if not held["text"]:
            raise RevisionError(
                f"revision {number} can't be applied: its page holds no article; "
                f"newscrawl revisions discard {number} takes it off the list"
            )
        columns = {
            **unpacked(held["facts"]),
            "url": stored.url,
            "title": held["title"],
            "text": held["text"],
        }
        record = _record(
            columns,
            content_hash=held["content_hash"],
            fingerprint=held["fingerprint"],
            mentions=tuple(map(mention_of, held["mentions"])),
            boilerplate=held["boilerplate"],
        )
        close_pending(connection, stored.id, "applied")
        _revise(connection, record, stored)
        return str(stored.url)

    return database.write(work)


def discard_revision(database: Database, number: int) -> str:
    """Turn the quarantined revision down, for as long as its hash is kept; return the article's
    URL. Raises RevisionError where it is not pending."""

    def work(session: Session) -> str:
        connection = session.connection()
        _, stored = _pending(connection, number)
        close_pending(connection, stored.id, "discarded")
        return str(stored.url)

    return database.write(work)


def earlier_version(database: Database, url: str, number: int) -> EarlierVersion:
    """Return the version of the article under this address, to be restored; RevisionError where
    there is none such."""
    with database.reading() as session:
        article = _article_under(session, url)
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


def restore_version(
    database: Database,
    version: EarlierVersion,
    mentions: Sequence[Mention],
    language: str | None,
) -> int:
    """Make an earlier version, with the mentions found in it, the article's newest one; return the
    number that it has now. What it replaces becomes a revision, and is not taken from the site
    again."""

    def work(session: Session) -> int:
        connection = session.connection()
        lock_source(connection, version.article_id)
        stored = stored_article(connection, version.article_id)
        asked = (Revision.article_id == version.article_id, Revision.number == version.number)
        revision = session.scalar(select(Revision).where(*asked))
        if stored is None or revision is None:
            raise RevisionError(f"{version.url} is not stored any more")
        if stored.content_hash == revision.content_hash:
            raise RevisionError(f"{version.url} says what version {version.number} says already")
        now = _row(connection, stored.id)
        columns = {
            **unpacked(revision.facts or packed(now)),
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
            boilerplate=_boilerplate(connection, stored.id),
        )
        turn_down(connection, stored.id, stored.content_hash, record.seen_at)
        accept(connection, stored.id, revision.content_hash)
        _revise(connection, record, stored)
        return int(now["revision"]) + 1

    return database.write(work)


def decide_all(
    database: Database, numbers: Sequence[int], decide: Callable[[Database, int], str]
) -> tuple[list[str], list[str]]:
    """Apply or discard several revisions; return the URLs of the articles, and why others were left
    as they are."""
    done, left = [], []
    for number in dict.fromkeys(numbers):
        try:
            done.append(decide(database, number))
        except RevisionError as error:
            left.append(str(error))
    return done, left


def _pending(connection: Connection, number: int) -> tuple[dict[str, Any], StoredArticle]:
    """The quarantined revision and its article, of which no other writer is at work now."""
    table = Base.metadata.tables[QuarantinedRevision.__tablename__]
    query = table.select().where(table.c.id == number, table.c.state == "pending")
    article_id = connection.execute(query.with_only_columns(table.c.article_id)).scalar()
    if article_id is not None:
        lock_source(connection, article_id)
    row = connection.execute(query).mappings().one_or_none()
    stored = stored_article(connection, article_id) if article_id is not None else None
    if row is None or stored is None:
        raise RevisionError(
            f"no revision {number} is in the quarantine: newscrawl articles --quarantined lists "
            "those that are"
        )
    return {str(name): value for name, value in row.items()}, stored


def _revise(connection: Connection, record: Record, stored: StoredArticle) -> None:
    analysis = Analysis(connection)
    with analysis.changing([stored.id]):
        revise(connection, record, stored, stored.run_id)
    analysis.write()


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


def _row(connection: Connection, number: int) -> dict[str, Any]:
    row = connection.execute(_ARTICLES.select().where(_ARTICLES.c.id == number)).mappings().one()
    return {str(name): value for name, value in row.items()}


def _boilerplate(connection: Connection, number: int) -> dict[str, int]:
    query = select(Company.name, Boilerplate.number).join(
        Company, Company.id == Boilerplate.company_id
    )
    return dict(connection.execute(query.where(Boilerplate.article_id == number)).all())


def _article_under(session: Session, url: str) -> Article:
    query = select(Article).join(ArticleUrl, ArticleUrl.article_id == Article.id)
    article = session.scalar(query.where(ArticleUrl.url == url))
    if article is None:
        raise RevisionError(f"no article is stored under {url}: newscrawl articles lists them")
    return article
