"""Mentions: where companies stand in articles, how often on the rest of their pages, and new
searches of stored articles."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select
from sqlalchemy.orm import Session

from newscrawl.items import Mention, Section
from newscrawl.storage import models
from newscrawl.storage.bulk import BulkInsert
from newscrawl.storage.database import Database
from newscrawl.storage.documents import clean
from newscrawl.storage.models import Article, Base, Company
from newscrawl.storage.progress import Step, record_step
from newscrawl.storage.queries import Scope
from newscrawl.storage.queries.scope import articles_within
from newscrawl.storage.rollups import RollupUpdate

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
    """Write the mentions of articles that have none yet, and the boilerplate; return the counts
    of each by company."""
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
    """Return the companies' ids by the names as given; missing companies are added."""
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


# Ours: articles in one batch, which is one transaction and at most some megabytes of text.
AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """An article in which mentions are to be found. `content_hash` tells whether it is unchanged
    when they are written."""

    number: int
    url: str
    title: str
    text: str
    language: str | None
    content_hash: str


def text_batches(database: Database, scope: Scope, after: int = 0) -> Iterator[list[StoredText]]:
    """Yield all articles of the scope with ids above `after`, in their order, AT_ONCE at a time."""
    while batch := _texts(database, scope, after):
        yield batch
        after = batch[-1].number


def count_texts(database: Database, scope: Scope, after: int = 0) -> int:
    """Return how many articles `text_batches` yields."""
    query = articles_within(select(Article.id), scope, every_kind=True).where(Article.id > after)
    with database.reading() as session:
        return len(session.scalars(query).all())


def _texts(database: Database, scope: Scope, after: int) -> list[StoredText]:
    columns = (
        Article.id,
        Article.url,
        Article.title,
        Article.text,
        Article.language,
        Article.content_hash,
    )
    query = articles_within(select(*columns), scope, every_kind=True).where(Article.id > after)
    with database.reading() as session:
        return [
            StoredText(
                number=number,
                url=url,
                title=title or "",
                text=text,
                language=language,
                content_hash=content_hash,
            )
            for number, url, title, text, language, content_hash in session.execute(
                query.order_by(Article.id).limit(AT_ONCE)
            )
        ]


def stored_mentions(database: Database, numbers: Sequence[int]) -> dict[int, set[Mention]]:
    """Return the stored mentions of articles."""
    with database.reading() as session:
        return _mentions(session, numbers)


def write_mentions(
    database: Database,
    texts: Sequence[StoredText],
    found: Mapping[int, Sequence[Mention]],
    step: Step,
) -> None:
    """Replace the mentions of articles by those that were `found` in their texts, and note the
    step, in one transaction; all rollups follow.

    An article that has changed meanwhile is skipped: the change brought its own mentions.
    """
    read = {text.number: text.content_hash for text in texts if text.number in found}

    def work(session: Session) -> None:
        rows = select(Article.id, Article.content_hash).where(Article.id.in_(list(read)))
        now = session.execute(rows.order_by(Article.id).with_for_update()).all()
        connection = session.connection()
        rollups = RollupUpdate(connection)
        for number, content_hash in now:
            if content_hash == read[number]:
                replace_mentions(connection, number, found[number], rollups)
        rollups.write()
        record_step(session, step)

    database.write(work)


def replace_mentions(
    connection: Connection, article_id: int, mentions: Sequence[Mention], rollups: RollupUpdate
) -> None:
    """Give an article other mentions; all that is counted follows."""
    with rollups.changing([article_id]):
        connection.execute(delete(models.Mention).where(models.Mention.article_id == article_id))
        write_occurrences(connection, {article_id: mentions}, {})


def _mentions(session: Session, numbers: Sequence[int]) -> dict[int, set[Mention]]:
    table = models.Mention
    query = (
        select(
            table.article_id,
            Company.name,
            table.surface,
            table.start_offset,
            table.end_offset,
            table.section,
            table.rule,
        )
        .join(Company, Company.id == table.company_id)
        .where(table.article_id.in_(numbers))
    )
    found: dict[int, set[Mention]] = defaultdict(set)
    for number, company, surface, start, end, section, rule in session.execute(query):
        where: Section = "title" if section == "title" else "body"
        mention = Mention(
            company=company, surface=surface, start=start, end=end, section=where, rule=rule
        )
        found[number].add(mention)
    return found
