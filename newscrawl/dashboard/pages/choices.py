"""What the filters of a page offer."""

from dataclasses import dataclass

from newscrawl.storage import Database, queries


@dataclass(frozen=True, slots=True)
class Choices:
    """Sources and languages that are in the database."""

    sources: list[str]
    languages: list[str]


def choices(database: Database) -> Choices:
    """The choices that this database gives."""
    languages = {row.key for row in queries.mention_counts(database, "language")}
    return Choices(queries.source_slugs(database), sorted(languages))
