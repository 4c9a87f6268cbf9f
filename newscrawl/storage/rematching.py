"""Reads stored articles for a new count of their mentions, and writes what it changes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from newscrawl.items import Mention, Section
from newscrawl.storage import models
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.database import Database
from newscrawl.storage.models import Article, Company
from newscrawl.storage.progress import Step, note_step
from newscrawl.storage.queries import Scope
from newscrawl.storage.queries.scope import articles_within
from newscrawl.storage.saving import replace_mentions

# Ours: articles in one batch, which is one transaction and at most some megabytes of text.
AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """An article as its mentions are found in it. `content_hash` tells whether it is still the
    same when they are written."""

    number: int
    url: str
    title: str
    text: str
    language: str | None
    content_hash: str


def text_batches(database: Database, scope: Scope, after: int = 0) -> Iterator[list[StoredText]]:
    """All articles of the scope with numbers above `after`, by their numbers, AT_ONCE at a time."""
    while batch := _texts(database, scope, after):
        yield batch
        after = batch[-1].number


def count_texts(database: Database, scope: Scope, after: int = 0) -> int:
    """How many articles `text_batches` would give."""
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
    """The mentions of articles as they stand in the database."""
    with database.reading() as session:
        return _mentions(session, numbers)


def write_mentions(
    database: Database,
    texts: Sequence[StoredText],
    found: Mapping[int, Sequence[Mention]],
    step: Step,
) -> None:
    """Gives articles the mentions that were `found` in their texts, and notes the step, in one
    transaction; all that is counted follows.

    An article that has changed meanwhile is left alone: whoever changed it has looked for
    mentions himself.
    """
    read = {text.number: text.content_hash for text in texts if text.number in found}

    def work(session: Session) -> None:
        rows = select(Article.id, Article.content_hash).where(Article.id.in_(list(read)))
        now = session.execute(rows.order_by(Article.id).with_for_update()).all()
        connection = session.connection()
        analysis = Analysis(connection)
        for number, content_hash in now:
            if content_hash == read[number]:
                replace_mentions(connection, number, found[number], analysis)
        analysis.write()
        note_step(session, step)

    database.write(work)


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
