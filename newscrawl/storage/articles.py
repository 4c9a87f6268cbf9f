"""Store articles in a transaction, which `Database.write` opens and retries.

New articles are added all at once: a statement for each table, not one for each article. Statements
are SQLAlchemy's Core: objects of the ORM would take as much time as the database itself.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from newscrawl.items import Outcome
from newscrawl.storage import StorageError, models, quarantine
from newscrawl.storage.documents import (
    BODY,
    DELETED,
    Record,
    clean,
    day_of,
    metadata_changes,
    publication_time,
    rank,
)
from newscrawl.storage.engine import BulkInsert, new_ids, one_of
from newscrawl.storage.mentions import with_corrections, write_occurrences
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    Base,
    QuarantinedRevision,
    Revision,
    Run,
    Source,
)
from newscrawl.storage.quarantine import Reason, share_words
from newscrawl.storage.rollups import RollupUpdate, is_counted
from newscrawl.storage.unregistered import replace_unregistered, write_unregistered
from newscrawl.storage.words import Wording, same_story

_ARTICLE_IDS = select(ArticleUrl.url, ArticleUrl.article_id).where(one_of(ArticleUrl.url, "urls"))
_ADD = BulkInsert(ArticleUrl, conflict=lambda row: row.on_conflict_do_nothing())


def stored_urls(connection: Connection, urls: Iterable[str]) -> set[str]:
    """Return the URLs that are stored."""
    return set(numbers_at(connection, urls))


def numbers_at(connection: Connection, urls: Iterable[str]) -> dict[str, int]:
    """Return the ids of the articles that are stored under the URLs, by URL."""
    addresses = sorted(set(urls))
    return dict(connection.execute(_ARTICLE_IDS, {"urls": addresses}).all()) if addresses else {}


def add_urls(connection: Connection, addresses: Sequence[tuple[str, int]]) -> None:
    """Add URLs to articles, by their ids; a URL that is already stored stays with its article."""
    _ADD.write(connection, addresses)


_COLUMNS = [column.name for column in Article.__table__.c if column.name != "revised_at"]
_ADD_ARTICLES = BulkInsert(Article, _COLUMNS)
_TEXTS_OF_SOURCES = select(Article.source_id, Article.fingerprint).where(
    one_of(Article.source_id, "sources"), one_of(Article.fingerprint, "fingerprints")
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The ids of a record's source and run."""

    source_id: int
    run_id: int


Incoming = tuple[Record, Origin]


def find_new(connection: Connection, incoming: Sequence[Incoming]) -> list[bool]:
    """Return for each record whether it is certainly new: none of its URLs is stored, and its text
    is in no article of its source and in no record before it."""
    urls = (url for record, _ in incoming for url in record.urls)
    known_keys: set[object] = {*stored_urls(connection, urls)}
    texts = {text for record, origin in incoming if (text := _text(record, origin))}
    if texts:
        # Also texts of one of the sources that another one has, too.
        sources, fingerprints = ({*column} for column in zip(*texts, strict=True))
        values = {"sources": sorted(sources), "fingerprints": sorted(fingerprints)}
        known_keys.update(map(tuple, connection.execute(_TEXTS_OF_SOURCES, values)))
    new = []
    for record, origin in incoming:
        marks = {*record.urls, _text(record, origin)} - {None}
        new.append(not marks & known_keys)
        known_keys |= marks
    return new


def add_articles(
    connection: Connection, incoming: Sequence[Incoming], rollups: RollupUpdate
) -> None:
    """Store new articles, with their URLs, mentions and boilerplate."""
    if not incoming:
        return
    numbers = new_ids(connection, Article, len(incoming))
    rows: list[dict[str, Any]] = [
        {
            **record.columns,
            "id": number,
            "source_id": origin.source_id,
            "run_id": origin.run_id,
            "day": day_of(record.columns["published_at"], record.seen_at),
            "content_hash": record.content_hash,
            "fingerprint": record.fingerprint,
            "revision": 1,
            "first_seen_at": record.seen_at,
            "last_seen_at": record.seen_at,
        }
        for number, (record, origin) in zip(numbers, incoming, strict=True)
    ]
    _ADD_ARTICLES.write(connection, list(map(itemgetter(*_COLUMNS), rows)))
    numbered = list(zip(numbers, rows, [record for record, _ in incoming], strict=True))
    add_urls(connection, [(url, number) for number, _, record in numbered for url in record.urls])
    write_occurrences(
        connection,
        {number: record.mentions for number, _, record in numbered},
        {number: record.boilerplate for number, _, record in numbered},
    )
    write_unregistered(connection, {number: record.unregistered for number, _, record in numbered})
    for number, row, record in numbered:
        if is_counted(row["access"], row["kind"]):
            rollups.add(number, record.wording)


def _text(record: Record, origin: Origin) -> tuple[int, str] | None:
    return None if record.fingerprint is None else (origin.source_id, record.fingerprint)


# A row of _STORED: URL, id, source, run, content hash, access, kind, published, first seen, has
# text, has a pending revision in the quarantine.
StoredArticle = Row[str, int, int, int, str, str, str, datetime | None, datetime, bool, bool]


# Statements are built once: to build one takes as long as SQLite takes to execute it.
_SOURCES = (
    select(Source.slug, Source.id)
    .where(one_of(Source.slug, "slugs"))
    .order_by(Source.slug)
    .with_for_update(key_share=True)
)
_RUNS = select(Run.id).where(one_of(Run.id, "runs"))
_STORED = select(
    ArticleUrl.url,
    Article.id,
    Article.source_id,
    Article.run_id,
    Article.content_hash,
    Article.access,
    Article.kind,
    Article.published_at,
    Article.first_seen_at,
    (Article.text != "").label("has_text"),
    exists()
    .where(QuarantinedRevision.article_id == Article.id, QuarantinedRevision.state == "pending")
    .label("has_pending"),
).join(Article, Article.id == ArticleUrl.article_id)
_ARTICLE_AT = _STORED.where(one_of(ArticleUrl.url, "urls"))
_ARTICLE = _STORED.where(Article.id == bindparam("article_id"), ArticleUrl.url == Article.url)
_TWIN = select(func.min(Article.id)).where(
    Article.source_id == bindparam("source_id"), Article.fingerprint == bindparam("fingerprint")
)
_TOUCH = (
    update(Article)
    .where(Article.id == bindparam("article_id"), Article.last_seen_at < bindparam("seen_at"))
    .values(last_seen_at=bindparam("seen_at"))
)
_METADATA = select(
    Article.authors, Article.section, Article.published_at, Article.first_seen_at
).where(Article.id == bindparam("article_id"))
_OCCURRENCES = (
    select(models.Company.id, models.Company.name, func.count())
    .join(models.Mention)
    .where(models.Mention.article_id == bindparam("article_id"))
    .group_by(models.Company.id)
)


@dataclass(frozen=True, slots=True)
class SaveResult:
    """The outcome of storing a document, and the number of mentions written.

    `reason` is why it was quarantined; `again` is set if the same version was already pending.
    `unannounced` is set if the page is neither that of the feed's headline nor an article of its
    own, as where a site under maintenance answers each address with the same page. `applied` is
    set unless the article was stored already and stays as it was, though the page is another: the
    page's addresses are then not the article's. Of a page that was read again, `metadata` are the
    columns that have changed, and `differences` the mentions of companies gained or lost.
    """

    outcome: Outcome
    mentions: int
    reason: Reason | None = None
    again: bool = False
    unannounced: bool = False
    applied: bool = field(default=True, compare=False)
    metadata: tuple[str, ...] = field(default=(), compare=False)
    differences: Mapping[str, int] = field(default_factory=dict, compare=False)


_NOT_APPLIED = SaveResult("unchanged", 0, applied=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LostArticle:
    """A page that was fetched again and no longer has an article, with the kind of page and a
    note. `redirected_to` is the address to which it redirects."""

    url: str
    seen_at: datetime
    kind: str
    note: str
    redirected_to: str | None = None


def save_records(
    connection: Connection, records: Sequence[tuple[Record, int]], rollups: RollupUpdate
) -> list[SaveResult]:
    """Store records, each with the number of its run, and return the outcome of each.

    - "new": no article of the source has this URL, nor this text.
    - "revised": headline or text differ from the stored ones, which become a revision; the mentions
      are those of the new text.
    - "unchanged": the same headline and text, or the text of another article of the source, of
      which the URL becomes an alias; or a page with less than the stored text, such as a paywall
      for an article that was read before, or one without the introduction that the feed gave, as
      where an archive is ingested. Nothing is counted twice.
    - "quarantined": the version would make the article worse.
    - "gone": the version would make it worse, and other articles' addresses show the same page.

    Only an article's own source rewrites it: a page elsewhere that names its URL as the canonical
    one is a copy. Raise StorageError for an unknown source or run.
    """
    sources = _sources(connection, {record.source for record, _ in records})
    runs = {run_id for _, run_id in records}
    stored_runs = {run_id for (run_id,) in connection.execute(_RUNS, {"runs": sorted(runs)})}
    if missing := runs - stored_runs:
        raise StorageError(f"no run {min(missing)} in the database: start_run gives one")
    incoming = [(record, Origin(sources[record.source], run_id)) for record, run_id in records]
    new = find_new(connection, incoming)
    add_articles(
        connection, [entry for entry, is_new in zip(incoming, new, strict=True) if is_new], rollups
    )
    return [
        SaveResult("new", len(record.mentions))
        if is_new
        else _save_known(connection, record, origin, rollups)
        for (record, origin), is_new in zip(incoming, new, strict=True)
    ]


def _save_known(
    connection: Connection, record: Record, origin: Origin, rollups: RollupUpdate
) -> SaveResult:
    """Store a record whose URL or text is stored, or was stored by the record before it."""
    stored, stored_urls_here = _article_at(connection, record.urls)
    same = {"source_id": origin.source_id, "fingerprint": record.fingerprint}
    saved = SaveResult("unchanged", 0)
    # The last of the URLs is that of the feed.
    if record.urls[-1] not in stored_urls_here and quarantine.is_unannounced(record):
        return replace(saved, unannounced=True, applied=False)
    if stored is not None:
        article_id = stored.id
        saved = _update_known(connection, record, stored, origin, rollups)
    elif (twin := connection.execute(_TWIN, same).scalar()) is not None:
        article_id = twin
    else:
        # It equalled the record before it, which has since become a revision.
        add_articles(connection, [(record, origin)], rollups)
        return SaveResult("new", len(record.mentions))
    connection.execute(_TOUCH, {"article_id": article_id, "seen_at": record.seen_at})
    if saved.applied or record.urls[-1] not in stored_urls_here:
        # Not what another page at the article's own address declares or redirects to.
        unknown = [url for url in record.urls if url not in stored_urls_here]
        add_urls(connection, [(url, article_id) for url in unknown])
    return saved


def _sources(connection: Connection, slugs: Collection[str]) -> dict[str, int]:
    """Return the sources' ids, and lock their rows.

    On PostgreSQL the locks, taken in one order, serialize the writers of a source, so that no two
    of them find the same text to be new; SQLite has one writer at a time anyway.
    """
    source_ids = dict(connection.execute(_SOURCES, {"slugs": sorted(slugs)}).all())
    for slug in slugs:
        if slug not in source_ids:
            raise StorageError(f"no source {slug!r} in the database: register_source adds it")
    return source_ids


def _article_at(
    connection: Connection, urls: tuple[str, ...]
) -> tuple[StoredArticle | None, set[str]]:
    """Return the article under the first stored URL, and all stored URLs. The text, which may be
    long, is not fetched."""
    rows_by_url = {row.url: row for row in connection.execute(_ARTICLE_AT, {"urls": urls})}
    return next((rows_by_url[url] for url in urls if url in rows_by_url), None), set(rows_by_url)


def _update_known(
    connection: Connection,
    record: Record,
    stored: StoredArticle,
    origin: Origin,
    rollups: RollupUpdate,
) -> SaveResult:
    if stored.source_id != origin.source_id or record.only_address or stored.kind == DELETED:
        return SaveResult("unchanged", 0)
    held_rank = _rank(stored)
    differs = stored.content_hash != record.content_hash
    if record.rank < held_rank or differs:
        reason = quarantine.quarantine_reason(connection, record, stored.id, held_rank)
        if reason is not None:
            revision = quarantine.suspect_revision(record, stored.id, origin.run_id, reason)
            return _quarantine(connection, revision, origin.source_id)
    if record.rank < held_rank or (stored.has_text and not record.columns["text"]):
        return _NOT_APPLIED
    if differs and quarantine.is_rejected(connection, stored.id, record.content_hash):
        return _NOT_APPLIED
    if stored.has_pending and (differs or not record.reextracted):
        quarantine.close_pending(connection, stored.id, "superseded")
    renewed = {}
    if record.reextracted:
        row = connection.execute(_METADATA, {"article_id": stored.id}).mappings().one()
        renewed = metadata_changes({**row}, record)
    saved = SaveResult("unchanged", 0, metadata=tuple(renewed))
    if differs:
        with rollups.updating([stored.id]):
            differences = revise(connection, record, stored, origin.run_id)
        number = len(record.mentions)
        return replace(saved, outcome="revised", mentions=number, differences=differences)
    before = {"access": stored.access, "kind": stored.kind}
    changes = renewed | {
        name: record.columns[name] for name in before if record.columns[name] != before[name]
    }
    if "published_at" in changes:
        changes["day"] = day_of(changes["published_at"], stored.first_seen_at)
        changes["fingerprint"] = record.fingerprint
    if changes:
        with rollups.updating([stored.id]):
            connection.execute(update(Article).where(Article.id == stored.id).values(changes))
    return saved


def _rank(stored: StoredArticle) -> int:
    return rank(stored.access, stored.kind, has_text=stored.has_text)


def _quarantine(
    connection: Connection, revision: quarantine.SuspectRevision, source_id: int
) -> SaveResult:
    if quarantine.is_shown_elsewhere(connection, revision, source_id):
        return replace(_NOT_APPLIED, outcome="gone", reason=revision.reason)
    done = quarantine.add_revision(connection, revision)
    if done == "rejected":
        return _NOT_APPLIED
    return replace(
        _NOT_APPLIED, outcome="quarantined", reason=revision.reason, again=done == "again"
    )


def quarantine_lost_article(
    connection: Connection, lost: LostArticle, run_id: int
) -> SaveResult | None:
    """Quarantine a page without its article; return None unless an article of its source with a
    text is stored under its URL."""
    stored, _ = _article_at(connection, (lost.url,))
    source_id = connection.execute(select(Run.source_id).where(Run.id == run_id)).scalar_one()
    if stored is None or stored.source_id != source_id or _rank(stored) < BODY:
        return None
    revision = quarantine.SuspectRevision(
        article_id=stored.id,
        run_id=run_id,
        reason="no_article",
        note=clean(lost.note),
        seen_at=lost.seen_at,
        content_hash=quarantine.no_article_hash(lost.kind),
        redirected_to=lost.redirected_to,
    )
    return _quarantine(connection, revision, source_id)


def lock_source(connection: Connection, article_id: int) -> None:
    """Wait for the writers of the article's source, and lock the source until the transaction
    ends."""
    query = select(Source.slug).join(Article, Article.source_id == Source.id)
    slug = connection.execute(query.where(Article.id == article_id)).scalar()
    if slug is not None:
        _sources(connection, [slug])


def stored_article(connection: Connection, number: int) -> StoredArticle | None:
    """Return the article with this id, for `revise`."""
    return connection.execute(_ARTICLE, {"article_id": number}).one_or_none()


def revise(
    connection: Connection, record: Record, stored: StoredArticle, run_id: int
) -> dict[str, int]:
    """Make the record the article's newest version; the version before it becomes a revision.
    Return by how much the occurrences of companies differ. Call it within `RollupUpdate.updating`.
    """
    articles = Base.metadata.tables["articles"]
    row = connection.execute(articles.select().where(articles.c.id == stored.id)).mappings().one()
    old = {str(name): value for name, value in row.items()}
    connection.execute(
        insert(Revision).values(
            article_id=stored.id,
            number=old["revision"],
            title=old["title"],
            text=old["text"],
            access=old["access"],
            content_hash=old["content_hash"],
            seen_at=old["revised_at"] or old["first_seen_at"],
            replaced_at=record.seen_at,
            facts=quarantine.pack_columns(old),
        )
    )
    published_at = publication_time(record, stored.published_at, stored.first_seen_at)
    changes = {
        # The URL is kept.
        **{name: value for name, value in record.columns.items() if name != "url"},
        "published_at": published_at,
        "day": day_of(published_at, stored.first_seen_at),
        "run_id": run_id,
        "content_hash": record.content_hash,
        "fingerprint": record.fingerprint,
        "revision": Article.revision + 1,
        "revised_at": record.seen_at,
    }
    this = Article.id == stored.id
    number = connection.execute(
        update(Article).where(this).values(changes).returning(Article.revision)
    ).scalar_one()
    before = _occurrences(connection, stored.id)
    for table in (models.Mention, models.Boilerplate):
        connection.execute(delete(table).where(table.article_id == stored.id))
    text = (record.columns["title"], record.columns["text"])
    mentions = with_corrections(connection, stored.id, text, record.mentions)
    write_occurrences(connection, {stored.id: mentions}, {stored.id: record.boilerplate})
    replace_unregistered(connection, {stored.id: record.unregistered})
    after = _occurrences(connection, stored.id)
    differences = {
        company: difference
        for company in sorted(before.keys() | after.keys())
        if (difference := after.get(company, 0) - before.get(company, 0))
    }
    if differences:
        rows = [
            {"article_id": stored.id, "number": number, "company_id": company, "difference": change}
            for (company, _), change in differences.items()
        ]
        connection.execute(insert(models.MentionChange), rows)
    return {name: change for (_, name), change in differences.items()}


def _occurrences(connection: Connection, article_id: int) -> dict[tuple[int, str], int]:
    """Return the number of an article's mentions of each company, by its id and name."""
    rows = connection.execute(_OCCURRENCES, {"article_id": article_id})
    return {(company, name): number for company, name, number in rows}


# --- Addresses that pages declare as their own although other articles are there ---

# Some sites declare the section, a placeholder of their template or one and the same article as the
# rel=canonical of every page, so that each article would be taken for a copy of the first.
_TEXTS = select(Article.id, Article.title, Article.text).where(one_of(Article.id, "ids"))


def without_wrong_claims(connection: Connection, records: Sequence[Record]) -> list[Record]:
    """Return the records, without declared addresses at which another article is stored, or is in a
    record before it."""
    declared = [record for record in records if record.is_declared]
    numbers = numbers_at(connection, (url for record in declared for url in record.urls))
    # The articles at the declared addresses, unless the pages' own addresses are those of the same.
    claimed = {
        record.urls[0]: numbers[record.urls[0]]
        for record in declared
        if record.urls[0] in numbers
        and numbers[record.urls[0]] not in map(numbers.get, record.urls[1:])
    }
    ids = {"ids": sorted(set(claimed.values()))}
    texts = connection.execute(_TEXTS, ids) if claimed else ()
    wordings = {number: Wording.of(title, text) for number, title, text in texts}
    stored = {url: wordings[number] for url, number in claimed.items()}
    earlier: dict[str, Record] = {}
    checked_records = []
    for record in records:
        claim, *addresses = record.urls
        there = stored.get(claim) or (earlier[claim].wording if claim in earlier else None)
        checked, new = record, record.wording
        is_another = False
        if there is not None and there.title and new.title and there.title != new.title:
            # Copies have the same headline, as has the second page of an article, or tell the
            # same story.
            is_another = (
                not share_words(there.title, new.title)
                if there.sketch is None or new.sketch is None
                else not same_story(there.sketch, new.sketch)
            )
        if record.is_declared and is_another:
            columns = record.columns | {"url": addresses[0]}
            checked = replace(record, urls=tuple(addresses), columns=columns, is_declared=False)
        for url in checked.urls:
            earlier.setdefault(url, checked)
        checked_records.append(checked)
    return checked_records
