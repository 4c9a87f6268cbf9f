"""Adds articles that are new, all of a transaction at once: a statement for each table, not one
for each article, which is what makes storing many of them fast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import JSON, Connection, Table, bindparam, text

from newscrawl.storage.addresses import add_urls, stored_urls
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.bulk import BulkInsert, RowIds
from newscrawl.storage.documents import Record, day_of, minute_of
from newscrawl.storage.models import Base
from newscrawl.storage.occurrences import write_occurrences
from newscrawl.storage.rollups import Tally, counts

_ARTICLES: Table = Base.metadata.tables["articles"]
_NUMBERS = RowIds(_ARTICLES)
_ADD_ARTICLES = BulkInsert(
    _ARTICLES, [column.name for column in _ARTICLES.c if column.name != "revised_at"]
)
# Pairs, which go to each database as it takes them fastest.
_TWINS = {
    "sqlite": text(
        "SELECT source_id, fingerprint FROM json_each(:texts) AS text JOIN articles ON "
        "source_id = json_extract(value, '$[0]') AND fingerprint = json_extract(value, '$[1]')"
    ).bindparams(bindparam("texts", type_=JSON())),
    "postgresql": text(
        "SELECT source_id, fingerprint FROM json_array_elements(:texts) AS text (value) JOIN "
        "articles ON source_id = CAST(value ->> 0 AS integer) AND fingerprint = value ->> 1"
    ).bindparams(bindparam("texts", type_=JSON())),
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The numbers of a record's source and run."""

    source_id: int
    run_id: int


Incoming = tuple[Record, Origin]


def new_ones(connection: Connection, incoming: Sequence[Incoming]) -> list[bool]:
    """Which of them are certainly new: none of their addresses is stored, nor their text in an
    article of their source, and none came before them."""
    urls = (url for record, _ in incoming for url in record.urls)
    met: set[object] = {*stored_urls(connection, urls)}
    texts = {text for record, origin in incoming if (text := _text(record, origin))}
    if texts:
        twins = connection.execute(_TWINS[connection.dialect.name], {"texts": sorted(texts)})
        met.update(map(tuple, twins))
    new = []
    for record, origin in incoming:
        marks = {*record.urls, _text(record, origin)} - {None}
        new.append(not marks & met)
        met |= marks
    return new


def add_articles(connection: Connection, incoming: Sequence[Incoming], analysis: Analysis) -> None:
    """Stores articles that are new, with their addresses, mentions and boilerplate."""
    if not incoming:
        return
    numbers = _NUMBERS.take(connection, len(incoming))
    rows = [_row(number, *one) for number, one in zip(numbers, incoming, strict=True)]
    _ADD_ARTICLES.write(connection, rows)
    numbered = list(zip(numbers, rows, [record for record, _ in incoming], strict=True))
    add_urls(connection, [(url, number) for number, _, record in numbered for url in record.urls])
    named, boilerplate = write_occurrences(
        connection,
        {number: record.mentions for number, _, record in numbered},
        {number: record.boilerplate for number, _, record in numbered},
    )
    for number, row, record in numbered:
        if counts(row["access"], row["kind"]):
            tally = Tally(
                article_id=number,
                source_id=row["source_id"],
                day=row["day"],
                minute=minute_of(row["published_at"] or row["first_seen_at"]),
                language=row["language"] or "",
                section=row["section"] or "",
                limited=row["access"] != "open",
                companies=named[number],
                boilerplate=boilerplate[number],
            )
            analysis.add(tally, record.wording)


def _text(record: Record, origin: Origin) -> tuple[int, str] | None:
    return None if record.fingerprint is None else (origin.source_id, record.fingerprint)


def _row(number: int, record: Record, origin: Origin) -> dict[str, Any]:
    return {
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
