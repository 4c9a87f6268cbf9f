"""What the transaction of one article does; `database` opens and retries it.

It is the write that a crawl waits for, so it speaks SQLAlchemy's Core: objects of the ORM
would cost as much again as the database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    Connection,
    Insert,
    Row,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from newscrawl.items import Mention
from newscrawl.storage import models
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.documents import Record, clean, day_of, minute_of, rank
from newscrawl.storage.errors import StorageError
from newscrawl.storage.models import Article, ArticleUrl, Company, Revision, Run, Source
from newscrawl.storage.models.base import UtcDateTime
from newscrawl.storage.tallies import Tally, counts

Outcome = Literal["new", "revised", "unchanged"]

# A row of _ARTICLE_AT: URL, id, source, content hash, access, kind, published, first seen, text?
_Stored = Row[str, int, int, str, str, str, datetime | None, datetime, bool]


# Statements are built once: to build one costs as much as SQLite takes to carry it out.
_SOURCE_AND_RUN = (
    select(Source.id, select(Run.id).where(Run.id == bindparam("run_id")).scalar_subquery())
    .where(Source.slug == bindparam("slug"))
    .with_for_update(key_share=True, of=Source)
)
_ARTICLE_AT = (
    select(
        ArticleUrl.url,
        Article.id,
        Article.source_id,
        Article.content_hash,
        Article.access,
        Article.kind,
        Article.published_at,
        Article.first_seen_at,
        (Article.text != "").label("has_text"),
    )
    .join(Article, Article.id == ArticleUrl.article_id)
    .where(ArticleUrl.url.in_(bindparam("urls", expanding=True)))
)
_TWIN = select(func.min(Article.id)).where(
    Article.source_id == bindparam("source_id"), Article.fingerprint == bindparam("fingerprint")
)
_ADD_ARTICLE = insert(Article).returning(Article.id)
_TOUCH = (
    update(Article)
    .where(Article.id == bindparam("article_id"), Article.last_seen_at < bindparam("seen_at"))
    .values(last_seen_at=bindparam("seen_at"))
)
_COMPANY_IDS = select(Company.name, Company.id).where(
    Company.name.in_(bindparam("names", expanding=True))
)
_ADD_MENTIONS = insert(models.Mention)
_OCCURRENCES = (
    select(models.Mention.company_id, func.count())
    .where(models.Mention.article_id == bindparam("article_id"))
    .group_by(models.Mention.company_id)
)
# An INSERT that passes over rows that are there; both databases say it in one way.
_ADD_IF_NEW: Mapping[tuple[str, type[models.Base]], Insert] = {
    (dialect, table): said_by.insert(table).on_conflict_do_nothing()
    for dialect, said_by in (("sqlite", sqlite), ("postgresql", postgresql))
    for table in (ArticleUrl, Company)
}


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a document, and how many mentions were written for it."""

    outcome: Outcome
    mentions: int


@dataclass(frozen=True, slots=True)
class _Origin:
    source_id: int
    run_id: int


def save_record(connection: Connection, record: Record, run_id: int, analysis: Analysis) -> Saved:
    """See `Database.save`; raises StorageError for an unknown source or run."""
    origin = _origin(connection, record.source, run_id)
    stored, known = _article_at(connection, record.urls)
    saved = Saved("unchanged", 0)
    if stored is not None:
        article_id = stored.id
        saved = _take_over(connection, record, stored, origin, analysis)
    elif (twin := _twin(connection, record, origin)) is not None:
        article_id = twin
    else:
        article_id, saved = _add_new(connection, record, origin, analysis)
    if saved.outcome != "new":
        _touch(connection, article_id, record)
    if unknown := [url for url in record.urls if url not in known]:
        rows = [{"url": url, "article_id": article_id} for url in unknown]
        _add_if_new(connection, ArticleUrl, rows)
    return saved


def replace_mentions(
    connection: Connection, article_id: int, mentions: Sequence[Mention], analysis: Analysis
) -> None:
    """See `Database.replace_mentions`."""
    with analysis.changing([article_id]):
        connection.execute(delete(models.Mention).where(models.Mention.article_id == article_id))
        _add_mentions(connection, article_id, mentions)


def _origin(connection: Connection, slug: str, run_id: int) -> _Origin:
    """The source's and the run's number.

    On PostgreSQL the lock on the source's row makes its writers take turns, so that two of
    them can't both find that a text is new; SQLite has one writer at a time anyway.
    """
    asked = {"slug": slug, "run_id": run_id}
    found = connection.execute(_SOURCE_AND_RUN, asked).first()
    if found is None:
        raise StorageError(f"no source {slug!r} in the database: register_source adds it")
    if found[1] is None:
        raise StorageError(f"no run {run_id} in the database: start_run gives one")
    return _Origin(found[0], found[1])


def _article_at(connection: Connection, urls: tuple[str, ...]) -> tuple[_Stored | None, set[str]]:
    """What must be known of the article stored under the first of the URLs that is, and all
    of them that are. Its text is not fetched: it may be long."""
    found = {row.url: row for row in connection.execute(_ARTICLE_AT, {"urls": urls})}
    return next((found[url] for url in urls if url in found), None), set(found)


def _twin(connection: Connection, record: Record, origin: _Origin) -> int | None:
    """The source's article with the same text under another address."""
    if record.fingerprint is None:
        return None
    asked = {"source_id": origin.source_id, "fingerprint": record.fingerprint}
    return connection.execute(_TWIN, asked).scalar()


def _add_new(
    connection: Connection, record: Record, origin: _Origin, analysis: Analysis
) -> tuple[int, Saved]:
    columns = record.columns
    row = {
        **columns,
        "source_id": origin.source_id,
        "run_id": origin.run_id,
        "day": day_of(columns["published_at"], record.seen_at),
        "content_hash": record.content_hash,
        "fingerprint": record.fingerprint,
        "revision": 1,
        "first_seen_at": record.seen_at,
        "last_seen_at": record.seen_at,
    }
    article_id = connection.execute(_ADD_ARTICLE, row).scalar_one()
    companies = _add_mentions(connection, article_id, record.mentions)
    clutter = _add_clutter(connection, article_id, record.clutter)
    if counts(columns["access"], columns["kind"]):
        tally = Tally(
            article_id=article_id,
            source_id=origin.source_id,
            day=row["day"],
            minute=minute_of(columns["published_at"] or record.seen_at),
            language=columns["language"] or "",
            section=columns["section"] or "",
            limited=columns["access"] != "open",
            companies=companies,
            clutter=clutter,
        )
        analysis.add(tally, columns["title"], columns["text"])
    return article_id, Saved("new", len(record.mentions))


def _take_over(
    connection: Connection, record: Record, stored: _Stored, origin: _Origin, analysis: Analysis
) -> Saved:
    held = rank(stored.access, stored.kind, has_text=stored.has_text)
    if stored.source_id != origin.source_id or record.rank < held:
        return Saved("unchanged", 0)
    if stored.content_hash != record.content_hash:
        with analysis.changing([stored.id]):
            _revise(connection, record, stored, origin)
        return Saved("revised", len(record.mentions))
    how = {"access": record.columns["access"], "kind": record.columns["kind"]}
    if how != {"access": stored.access, "kind": stored.kind}:
        with analysis.changing([stored.id]):
            connection.execute(update(Article).where(Article.id == stored.id).values(how))
    return Saved("unchanged", 0)


def _revise(connection: Connection, record: Record, stored: _Stored, origin: _Origin) -> None:
    _keep_revision(connection, record, stored.id)
    published_at = stored.published_at or record.columns["published_at"]
    changes = {
        # The address stays, and the day that the article counts for.
        **{name: value for name, value in record.columns.items() if name != "url"},
        "published_at": published_at,
        "day": day_of(published_at, stored.first_seen_at),
        "run_id": origin.run_id,
        "content_hash": record.content_hash,
        "fingerprint": record.fingerprint,
        "revision": Article.revision + 1,
        "revised_at": record.seen_at,
    }
    this = Article.id == stored.id
    number = connection.execute(
        update(Article).where(this).values(changes).returning(Article.revision)
    ).scalar_one()
    before = dict(connection.execute(_OCCURRENCES, {"article_id": stored.id}).all())
    for table in (models.Mention, models.Clutter):
        connection.execute(delete(table).where(table.article_id == stored.id))
    companies = _add_mentions(connection, stored.id, record.mentions)
    _add_clutter(connection, stored.id, record.clutter)
    after = {company: sum(found) for company, found in companies.items()}
    differences = [
        {
            "article_id": stored.id,
            "number": number,
            "company_id": company,
            "difference": after.get(company, 0) - before.get(company, 0),
        }
        for company in sorted(before.keys() | after.keys())
        if after.get(company, 0) != before.get(company, 0)
    ]
    if differences:
        connection.execute(insert(models.MentionChange), differences)


def _keep_revision(connection: Connection, record: Record, article_id: int) -> None:
    version = {
        "article_id": Article.id,
        "number": Article.revision,
        "title": Article.title,
        "text": Article.text,
        "access": Article.access,
        "content_hash": Article.content_hash,
        "seen_at": func.coalesce(Article.revised_at, Article.first_seen_at),
        "replaced_at": literal(record.seen_at, UtcDateTime()),
    }
    old = select(*version.values()).where(Article.id == article_id)
    connection.execute(insert(Revision).from_select(list(version), old))


def _touch(connection: Connection, article_id: int, record: Record) -> None:
    connection.execute(_TOUCH, {"article_id": article_id, "seen_at": record.seen_at})


def _add_if_new(
    connection: Connection, table: type[models.Base], rows: list[dict[str, Any]]
) -> None:
    connection.execute(_ADD_IF_NEW[connection.dialect.name, table], rows)


def _add_mentions(
    connection: Connection, article_id: int, mentions: Sequence[Mention]
) -> dict[int, tuple[int, int]]:
    """Writes the mentions; gives the occurrences in headline and body by company."""
    if not mentions:
        return {}
    ids = _company_ids(connection, {clean(mention.company) for mention in mentions})
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
    connection.execute(_ADD_MENTIONS, rows)
    found: dict[int, tuple[int, int]] = {}
    for mention in mentions:
        company = ids[clean(mention.company)]
        in_title, in_body = found.get(company, (0, 0))
        headline = mention.section == "title"
        found[company] = (in_title + headline, in_body + (not headline))
    return found


def _add_clutter(
    connection: Connection, article_id: int, clutter: Mapping[str, int]
) -> dict[int, int]:
    """Writes what stands outside the article; gives it by company."""
    found = {clean(name): number for name, number in clutter.items() if number > 0}
    if not found:
        return {}
    ids = _company_ids(connection, set(found))
    numbers = {ids[name]: number for name, number in found.items()}
    connection.execute(
        insert(models.Clutter),
        [
            {"article_id": article_id, "company_id": company, "number": number}
            for company, number in numbers.items()
        ],
    )
    return numbers


def _company_ids(connection: Connection, names: set[str]) -> dict[str, int]:
    asked = {"names": list(names)}
    ids = dict(connection.execute(_COMPANY_IDS, asked).all())
    if missing := sorted(names - ids.keys()):
        # Sorted, so that two writers that add the same names can't wait for each other.
        _add_if_new(connection, Company, [{"name": name} for name in missing])
        ids = dict(connection.execute(_COMPANY_IDS, asked).all())
    return ids
