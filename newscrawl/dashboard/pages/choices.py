"""What the filters of a page offer."""

from dataclasses import dataclass

from newscrawl.storage import Database, queries


@dataclass(frozen=True, slots=True)
class Choices:
    """Sources, their countries, and the languages of articles that are in the database."""

    sources: list[str]
    languages: list[str]
    countries: list[str]


def choices(database: Database) -> Choices:
    """The choices that this database gives."""
    return Choices(
        queries.source_slugs(database), queries.languages(database), queries.countries(database)
    )
