"""Addresses that pages declare as their own although other articles are there.

Some sites declare the section, a placeholder of their template or one and the same article as the
rel=canonical of every page, so that each article would be taken for a copy of the first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from newscrawl.storage.articles import numbers_at
from newscrawl.storage.documents import Record
from newscrawl.storage.engine import Statement, one_of
from newscrawl.storage.models import Article
from newscrawl.storage.quarantine import share_words
from newscrawl.storage.words import Wording, same_story

_TEXTS = Statement(select(Article.id, Article.title, Article.text).where(one_of(Article.id, "ids")))


def without_wrong_claims(connection: Connection, records: Sequence[Record]) -> list[Record]:
    """Return the records, without declared addresses at which another article is stored, or is in a
    record before it."""
    stored = _others_at_claims(connection, [record for record in records if record.is_declared])
    earlier: dict[str, Record] = {}
    checked_records = []
    for record in records:
        checked = _without_wrong_claim(record, stored, earlier) if record.is_declared else record
        for url in checked.urls:
            earlier.setdefault(url, checked)
        checked_records.append(checked)
    return checked_records


def _without_wrong_claim(
    record: Record, stored: Mapping[str, Wording], earlier: Mapping[str, Record]
) -> Record:
    claim, *addresses = record.urls
    there = stored.get(claim) or (earlier[claim].wording if claim in earlier else None)
    if there is None or not _is_another(there, record.wording):
        return record
    columns = record.columns | {"url": addresses[0]}
    return replace(record, urls=tuple(addresses), columns=columns, is_declared=False)


def _others_at_claims(connection: Connection, records: Iterable[Record]) -> Mapping[str, Wording]:
    """Return the wording of the articles at the declared addresses, unless the pages' own addresses
    are those of the same article."""
    numbers = numbers_at(connection, (url for record in records for url in record.urls))
    stored = {
        record.urls[0]: numbers[record.urls[0]]
        for record in records
        if record.urls[0] in numbers
        and numbers[record.urls[0]] not in map(numbers.get, record.urls[1:])
    }
    if not stored:
        return {}
    rows = _TEXTS.rows(connection, {"ids": sorted(set(stored.values()))})
    wordings = {number: Wording.of(title, text) for number, title, text in rows}
    return {url: wordings[number] for url, number in stored.items()}


def _is_another(stored: Wording, new: Wording) -> bool:
    """Return whether these are two articles. Copies have the same headline, as has the second page
    of an article, or tell the same story."""
    if not stored.title or not new.title or stored.title == new.title:
        return False
    if stored.sketch is None or new.sketch is None:
        return not share_words(stored.title, new.title)
    return not same_story(stored.sketch, new.sketch)
