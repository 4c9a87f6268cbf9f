"""What waits in the quarantine: versions of articles that would make them worse."""

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import func, select

from newscrawl.storage.database import Database
from newscrawl.storage.models import Article, QuarantinedRevision, Source
from newscrawl.storage.queries.rows import Scope
from newscrawl.storage.queries.scoping import scoped


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineRow:
    """A revision that was not applied, for the named reason, beside its article.

    `before` and `after` are characters of text, of the article and of the revision, of which there
    is none where the page holds no article any more. It came first at `since`, then `times` times
    in a row up to `seen_at`.
    """

    id: int
    url: str
    source: str
    day: date
    title: str | None
    new_title: str | None
    reason: str
    note: str
    before: int
    after: int
    since: datetime
    seen_at: datetime
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldText:
    """A quarantined revision in full, in plain text written by strangers."""

    row: QuarantineRow
    text: str


_COLUMNS = (
    QuarantinedRevision.id,
    Article.url,
    Source.slug.label("source"),
    Article.day,
    Article.title,
    QuarantinedRevision.title.label("new_title"),
    QuarantinedRevision.reason,
    QuarantinedRevision.note,
    func.length(Article.text).label("before"),
    QuarantinedRevision.characters.label("after"),
    QuarantinedRevision.first_seen_at.label("since"),
    QuarantinedRevision.seen_at,
    QuarantinedRevision.times,
)
_PENDING = QuarantinedRevision.state == "pending"


def quarantined(
    database: Database, *, scope: Scope | None = None, limit: int | None = None, offset: int = 0
) -> list[QuarantineRow]:
    """The revisions in the quarantine of the scope's articles, the newest first."""
    query = select(*_COLUMNS).select_from(QuarantinedRevision)
    query = query.join(Article, Article.id == QuarantinedRevision.article_id).where(_PENDING)
    query = scoped(query, scope or Scope(), every_kind=True)
    newest_first = (QuarantinedRevision.seen_at.desc(), QuarantinedRevision.id.desc())
    with database.reading() as session:
        rows = session.execute(query.order_by(*newest_first).limit(limit).offset(offset))
        return [QuarantineRow(**row) for row in rows.mappings()]


def quarantined_text(database: Database, url: str) -> HeldText | None:
    """The revision in the quarantine of the article whose own URL this is; None where none is."""
    query = (
        select(*_COLUMNS, QuarantinedRevision.text.label("held"))
        .select_from(QuarantinedRevision)
        .join(Article, Article.id == QuarantinedRevision.article_id)
        .join(Source, Source.id == Article.source_id)
        .where(_PENDING, Article.url == url)
    )
    with database.reading() as session:
        row = session.execute(query).mappings().one_or_none()
    if row is None:
        return None
    values = dict(row)
    text = values.pop("held")
    return HeldText(row=QuarantineRow(**values), text=text)


def quarantine_sizes(database: Database) -> dict[str, int]:
    """How many revisions of each source are in the quarantine."""
    query = (
        select(Source.slug, func.count())
        .join(Article, Article.source_id == Source.id)
        .join(QuarantinedRevision, QuarantinedRevision.article_id == Article.id)
        .where(_PENDING)
        .group_by(Source.slug)
    )
    with database.reading() as session:
        return {slug: int(number) for slug, number in session.execute(query)}
