"""What the transaction of one article does; `database` opens and retries it."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Insert, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from newscrawl.items import Mention
from newscrawl.storage import models
from newscrawl.storage.documents import Record, clean, day_of, rank
from newscrawl.storage.errors import StorageError

Outcome = Literal["new", "revised", "unchanged"]

# What a revision doesn't change: the address, and the day that the article counts for.
_LASTING = {"url", "published_at"}


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a document, and how many mentions were written for it."""

    outcome: Outcome
    mentions: int


def save_record(session: Session, record: Record, run_id: int) -> Saved:
    """See `Database.save`; raises StorageError for an unknown source or run."""
    # On PostgreSQL the row lock makes writers of one source take turns, so that two of them
    # can't both find that a text is new; SQLite has one writer at a time anyway.
    source_id = source_id_of(session, record.source, lock=True)
    run_of(session, run_id)
    outcome: Outcome = "unchanged"
    if stored := _article_at(session, record.urls):
        held = rank(stored.access, stored.kind, stored.text)
        if stored.source_id == source_id and record.rank >= held:
            outcome = _update(session, record, stored, run_id)
    elif not (stored := _twin(session, source_id, record)):
        stored = _added(session, record, source_id, run_id)
        outcome = "new"
    stored.last_seen_at = max(stored.last_seen_at, record.seen_at)
    session.flush()
    _add_urls(session, stored.id, record.urls)
    if outcome == "unchanged":
        return Saved(outcome, 0)
    return Saved(outcome, _replace_mentions(session, stored.id, record.mentions))


def source_id_of(session: Session, slug: str, *, lock: bool = False) -> int:
    query = select(models.Source.id).where(models.Source.slug == slug)
    found = session.scalar(query.with_for_update(key_share=True) if lock else query)
    if found is None:
        raise StorageError(f"no source {slug!r} in the database: register_source adds it")
    return found


def run_of(session: Session, run_id: int) -> models.Run:
    run = session.get(models.Run, run_id)
    if run is None:
        raise StorageError(f"no run {run_id} in the database: start_run gives one")
    return run


def _article_at(session: Session, urls: tuple[str, ...]) -> models.Article | None:
    """The article stored under the first of the URLs that is known."""
    for url in urls:
        query = select(models.Article).join(models.ArticleUrl).where(models.ArticleUrl.url == url)
        if article := session.scalar(query):
            return article
    return None


def _twin(session: Session, source_id: int, record: Record) -> models.Article | None:
    """The source's article with the same text under another address."""
    if record.fingerprint is None:
        return None
    query = (
        select(models.Article)
        .where(
            models.Article.source_id == source_id,
            models.Article.fingerprint == record.fingerprint,
        )
        .order_by(models.Article.id)
        .limit(1)
    )
    return session.scalar(query)


def _added(session: Session, record: Record, source_id: int, run_id: int) -> models.Article:
    article = models.Article(
        **record.columns,
        source_id=source_id,
        run_id=run_id,
        day=day_of(record.columns["published_at"], record.seen_at),
        content_hash=record.content_hash,
        fingerprint=record.fingerprint,
        revision=1,
        first_seen_at=record.seen_at,
        last_seen_at=record.seen_at,
    )
    session.add(article)
    return article


def _update(session: Session, record: Record, stored: models.Article, run_id: int) -> Outcome:
    if stored.content_hash == record.content_hash:
        stored.access, stored.kind = record.columns["access"], record.columns["kind"]
        return "unchanged"
    session.add(
        models.Revision(
            article_id=stored.id,
            number=stored.revision,
            title=stored.title,
            text=stored.text,
            access=stored.access,
            content_hash=stored.content_hash,
            seen_at=stored.revised_at or stored.first_seen_at,
            replaced_at=record.seen_at,
        )
    )
    for name, value in record.columns.items():
        if name not in _LASTING:
            setattr(stored, name, value)
    stored.published_at = stored.published_at or record.columns["published_at"]
    stored.day = day_of(stored.published_at, stored.first_seen_at)
    stored.run_id = run_id
    stored.content_hash, stored.fingerprint = record.content_hash, record.fingerprint
    stored.revision += 1
    stored.revised_at = record.seen_at
    return "revised"


def _add_urls(session: Session, article_id: int, urls: tuple[str, ...]) -> None:
    rows = [{"url": url, "article_id": article_id} for url in urls]
    session.execute(_insert_new(session, models.ArticleUrl), rows)


def _replace_mentions(session: Session, article_id: int, mentions: tuple[Mention, ...]) -> int:
    session.execute(delete(models.Mention).where(models.Mention.article_id == article_id))
    if not mentions:
        return 0
    ids = _company_ids(session, {clean(mention.company) for mention in mentions})
    rows = [
        {
            "article_id": article_id,
            "company_id": ids[clean(mention.company)],
            "section": mention.section,
            "start_offset": mention.start,
            "end_offset": mention.end,
            "surface": clean(mention.surface),
            "rule": mention.rule,
        }
        for mention in mentions
    ]
    session.execute(insert(models.Mention), rows)
    return len(rows)


def _company_ids(session: Session, names: set[str]) -> dict[str, int]:
    company = models.Company
    query = select(company.name, company.id).where(company.name.in_(names))
    ids = dict(session.execute(query).all())
    if missing := sorted(names - ids.keys()):
        # Sorted, so that two writers that add the same names can't wait for each other.
        session.execute(_insert_new(session, company), [{"name": name} for name in missing])
        ids = dict(session.execute(query).all())
    return ids


def _insert_new(session: Session, table: type[models.Base]) -> Insert:
    """An INSERT that passes over rows that are there; both databases say it in one way."""
    postgres = session.get_bind().dialect.name == "postgresql"
    statement = postgresql.insert(table) if postgres else sqlite.insert(table)
    return statement.on_conflict_do_nothing()
