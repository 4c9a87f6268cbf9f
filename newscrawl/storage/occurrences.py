"""Writes where companies stand in articles, and how often on the rest of their pages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from newscrawl.items import Mention
from newscrawl.storage import models
from newscrawl.storage.bulk import ManyRows
from newscrawl.storage.documents import clean
from newscrawl.storage.models import Company

_COMPANY_IDS = select(Company.name, Company.id).where(
    Company.name.in_(bindparam("names", expanding=True))
)
_ADD_COMPANIES = {
    "sqlite": sqlite.insert(Company).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(Company).on_conflict_do_nothing(),
}
_MENTIONS = ManyRows(
    models.Base.metadata.tables["mentions"],
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
_ADD_CLUTTER = insert(models.Clutter)

# Occurrences in headline and body, by the company's number.
Named = dict[int, tuple[int, int]]


def write_mentions(
    connection: Connection, mentions: Mapping[int, Sequence[Mention]]
) -> dict[int, Named]:
    """Writes the mentions of articles that have none; gives what each article counts."""
    names = {mention.company for found in mentions.values() for mention in found}
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
    return {article_id: _named(found, ids) for article_id, found in mentions.items()}


def write_clutter(
    connection: Connection, clutter: Mapping[int, Mapping[str, int]]
) -> dict[int, dict[int, int]]:
    """Writes what stands outside articles that have nothing of it yet; gives it by company."""
    ids = _company_ids(connection, {name for found in clutter.values() for name in found})
    numbers: dict[int, dict[int, int]] = {}
    for article_id, found in clutter.items():
        numbers[article_id] = {ids[name]: number for name, number in found.items() if number > 0}
    rows = [
        {"article_id": article_id, "company_id": company, "number": number}
        for article_id, found in numbers.items()
        for company, number in found.items()
    ]
    if rows:
        connection.execute(_ADD_CLUTTER, rows)
    return numbers


def _company_ids(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """The companies' numbers, by the names as given; those that are missing are added."""
    stored = {name: clean(name) for name in names}
    if not stored:
        return {}
    asked = {"names": sorted(set(stored.values()))}
    ids = dict(connection.execute(_COMPANY_IDS, asked).all())
    if missing := [name for name in asked["names"] if name not in ids]:
        # Sorted, so that two writers that add the same names can't wait for each other.
        connection.execute(
            _ADD_COMPANIES[connection.dialect.name], [{"name": name} for name in missing]
        )
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
