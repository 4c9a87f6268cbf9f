"""Writes where companies stand in articles, and how often on the rest of their pages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select

from newscrawl.items import Mention
from newscrawl.storage.bulk import BulkInsert
from newscrawl.storage.documents import clean
from newscrawl.storage.models import Base, Company

_COMPANY_IDS = select(Company.name, Company.id).where(
    Company.name.in_(bindparam("names", expanding=True))
)
_ADD_COMPANIES = BulkInsert(
    Base.metadata.tables["companies"], ("name",), lambda row: row.on_conflict_do_nothing()
)
_MENTIONS = BulkInsert(
    Base.metadata.tables["mentions"],
    (
        "article_id",
        "company_id",
        "section",
        "start_offset",
        "end_offset",
        "surface",
        "rule",
    ),
)
_BOILERPLATE = BulkInsert(
    Base.metadata.tables["boilerplate"],
    ("article_id", "company_id", "number"),
)

# Occurrences in headline and body, by the company's number.
Named = dict[int, tuple[int, int]]


def write_occurrences(
    connection: Connection,
    mentions: Mapping[int, Sequence[Mention]],
    boilerplate: Mapping[int, Mapping[str, int]],
) -> tuple[dict[int, Named], dict[int, dict[int, int]]]:
    """Writes the mentions of articles that have none yet, and what stands outside articles; gives
    what each of them counts, by company."""
    names = {mention.company for found in mentions.values() for mention in found}
    names.update(name for found in boilerplate.values() for name in found)
    ids = _company_ids(connection, names)
    rows: list[dict[str, Any]] = [
        {
            "article_id": article_id,
            "company_id": ids[mention.company],
            "section": mention.section,
            "start_offset": mention.start,
            "end_offset": mention.end,
            "surface": clean(mention.surface),
            "rule": mention.rule,
        }
        for article_id, found in mentions.items()
        for mention in found
    ]
    _MENTIONS.write(connection, rows)
    numbers: dict[int, dict[int, int]] = {}
    for article_id, counted in boilerplate.items():
        numbers[article_id] = {ids[name]: number for name, number in counted.items() if number > 0}
    _BOILERPLATE.write(
        connection,
        [
            {"article_id": article_id, "company_id": company, "number": number}
            for article_id, counted in numbers.items()
            for company, number in counted.items()
        ],
    )
    return {article_id: _named(found, ids) for article_id, found in mentions.items()}, numbers


def _company_ids(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """The companies' numbers, by the names as given; those that are missing are added."""
    stored = {name: clean(name) for name in names}
    if not stored:
        return {}
    asked = {"names": sorted(set(stored.values()))}
    ids: dict[str, int] = dict(connection.execute(_COMPANY_IDS, asked).all())
    if missing := [name for name in asked["names"] if name not in ids]:
        # Sorted, so that two writers that add the same names can't wait for each other.
        _ADD_COMPANIES.write(connection, [{"name": name} for name in missing])
        ids = dict(connection.execute(_COMPANY_IDS, asked).all())
    return {name: ids[cleaned] for name, cleaned in stored.items()}


def _named(mentions: Sequence[Mention], ids: Mapping[str, int]) -> Named:
    found: Named = {}
    for mention in mentions:
        company = ids[mention.company]
        in_title, in_body = found.get(company, (0, 0))
        headline = mention.section == "title"
        found[company] = (in_title + headline, in_body + (not headline))
    return found
