"""Makes anew what questions are answered from, out of articles, mentions and boilerplate."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, delete, select, text

from newscrawl.storage import models, search_index
from newscrawl.storage.analysis import Analysis

# Ours: articles whose texts are in memory at a time.
_AT_ONCE = 500

_BY_DAY: tuple[type[Any], ...] = (
    models.DailyTotal,
    models.DailySource,
    models.DailyCompany,
    models.DailyCompanySource,
)
_OF_STORIES: tuple[type[Any], ...] = (
    models.CountedArticle,
    models.SketchValue,
    models.Sketch,
    models.Story,
)


def rebuild(
    connection: Connection,
    *,
    stories: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> int:
    """Makes counts and search index anew; gives the number of articles looked at.

    Articles stay in their stories unless `stories` is set: then these too are found anew, in
    the order in which the articles were stored. All in the caller's transaction; on PostgreSQL
    whoever wants to store an article waits for its end. `progress` is told how many articles are
    done, and of how many.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE articles IN SHARE ROW EXCLUSIVE MODE"))
    for table in (*_BY_DAY, *(_OF_STORIES if stories else ())):
        connection.execute(delete(table))
    search_index.clear(connection)
    numbers = connection.scalars(select(models.Article.id).order_by(models.Article.id)).all()
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        analysis = Analysis(connection)
        analysis.renew(some)
        analysis.write()
        progress(start + len(some), len(numbers))
    return len(numbers)
