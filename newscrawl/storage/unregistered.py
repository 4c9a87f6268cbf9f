"""Names of organisations that no registry lists, as the crawls find them: kept and deleted with
their articles, for suggestions alone."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, delete, select, update

from newscrawl.items import UnregisteredName
from newscrawl.storage.documents import clean
from newscrawl.storage.engine import BulkInsert
from newscrawl.storage.models import UnregisteredName as Row

# Ours: the newest articles of a name that have a sentence.
MOST_SENTENCES = 50

_NAMES = BulkInsert(Row)
# Statements are built once, as those of articles.
_OLDEST = (
    select(Row.article_id)
    .where(Row.name == bindparam("of"), Row.sentence != "")
    .order_by(Row.article_id.desc())
    .limit(1)
    .offset(MOST_SENTENCES - 1)
    .scalar_subquery()
)
_SHORTEN = (
    update(Row)
    .where(Row.name == bindparam("of"), Row.article_id < _OLDEST, Row.sentence != "")
    .values(sentence="")
)


def write_unregistered(
    connection: Connection, names_by_article: Mapping[int, Sequence[UnregisteredName]]
) -> None:
    """Write the names of articles that have none yet; older articles of these names lose their
    sentences beyond MOST_SENTENCES."""
    rows = [
        (clean(each.name), article, clean(each.sentence))
        for article, names in names_by_article.items()
        for each in names
    ]
    if not rows:
        return
    _NAMES.write(connection, rows)
    connection.execute(_SHORTEN, [{"of": name} for name in sorted({name for name, *_ in rows})])


def replace_unregistered(
    connection: Connection, names_by_article: Mapping[int, Sequence[UnregisteredName]]
) -> None:
    """Replace the names of articles."""
    connection.execute(delete(Row).where(Row.article_id.in_([*names_by_article])))
    write_unregistered(connection, names_by_article)
