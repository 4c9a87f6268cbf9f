"""The rollups of a database and the results of a search, for comparisons."""

from typing import Any

from sqlalchemy import select

from newscrawl.storage import Database, queries
from newscrawl.storage.models import (
    Appearance,
    CompanyPair,
    CompanySource,
    CountedArticle,
    DailyCompany,
    DailyCompanySource,
    DailySection,
    DailySource,
    DailyTotal,
)

COUNTED = (
    *(Appearance, CompanyPair, CompanySource, CountedArticle),
    *(DailyCompany, DailyCompanySource, DailySection, DailySource, DailyTotal),
)


def counted(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.reading() as session:
        return {
            table.__tablename__: sorted(
                map(tuple, session.execute(select(*table.__table__.columns))), key=repr
            )
            for table in COUNTED
        }


def found_by_search(database: Database) -> list[str]:
    return [found.article.url for found in queries.search(database, "alpha1 OR headline")]
