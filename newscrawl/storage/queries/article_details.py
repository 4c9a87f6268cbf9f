"""One article in full: its text, mentions, copies and versions, and what is quarantined."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from difflib import SequenceMatcher
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from newscrawl.items import Versions, copy_fields
from newscrawl.storage.database import reads
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    Boilerplate,
    Company,
    Correction,
    MentionChange,
    QuarantinedRevision,
    Rematch,
    Revision,
    Run,
    Source,
)
from newscrawl.storage.queries.article_lists import (
    ArticleRow,
    MarkedMention,
    article_rows,
    copies_of,
    mentions_in,
    sentences,
)
from newscrawl.storage.queries.questions import ANY, about, question
from newscrawl.storage.scope import Scope
from newscrawl.storage.scope_conditions import articles_within, sources_within
from newscrawl.text import count_of

__all__ = [
    "ArticlePage",
    "CorrectionRow",
    "DiffLine",
    "HeldText",
    "QuarantineDecision",
    "QuarantineRow",
    "Version",
    "article_page",
    "corrections",
    "history",
    "quarantine_decisions",
    "quarantine_sizes",
    "quarantined",
    "quarantined_text",
    "versions_text",
]

Change = Literal["same", "added", "removed"]

# Ours: maximum number of sentences of a version that a diff compares; the others count as one.
MAX_COMPARED = 2_000
MISSING = "no article with this address in this database"
VERSIONS = "what found the article and its mentions; empty if it was stored without them"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionRow:
    """A correction of a mention by a person: it is "wrong", or was "missed"."""

    id: int
    day: date = field(metadata=about("the day of the article", shown="files"))
    kind: str
    company: str
    surface: str
    state: str = field(
        metadata=about(
            'whether it is "applied"; or "redundant", since the matcher now agrees; or '
            '"misplaced", since the text has changed and the sentence is gone'
        )
    )
    made_by: str
    made_at: datetime
    sentence: str = field(metadata=about("the sentence when it was made"))
    url: str
    source: str = field(metadata=about(shown="files"))
    section: str = field(metadata=about(shown="files"))
    start: int = field(metadata=about("offset in title or text", shown="files"))
    end: int = field(metadata=about(shown="files"))
    undone_by: str | None = field(metadata=about(shown="files"))
    undone_at: datetime | None = field(metadata=about("null unless it was undone", shown="files"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticlePage:
    """An article in full."""

    row: ArticleRow
    text: str
    authors: tuple[str, ...]
    section: str | None
    modified_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime
    method: str
    confidence: float
    mentions: tuple[MarkedMention, ...]
    corrections: tuple[CorrectionRow, ...]
    addresses: tuple[str, ...] = field(metadata=about("all its URLs"))
    copies: tuple[ArticleRow, ...] = field(metadata=about("the other articles of its story"))
    boilerplate: tuple[tuple[str, int], ...] = field(
        metadata=about("companies elsewhere on its page, which are not counted")
    )
    versions: Versions = field(metadata=about(VERSIONS))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A sentence or headline of a version, against the version before."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of an article: number 1 is the first one, and the last is today's."""

    number: int
    seen_at: datetime
    replaced_at: datetime | None = field(metadata=about("null for today's version"))
    title: str | None
    text: str
    access: str
    diff: tuple[DiffLine, ...] = field(
        metadata=about("headline and sentences against the version before", shown="nowhere")
    )
    mentions: tuple[tuple[str, int], ...] = field(
        metadata=about("companies that it mentions more or less often, with the difference")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineRow:
    """A revision that was not applied because it is worse than its article."""

    id: int
    day: date
    source: str
    url: str
    title: str | None
    new_title: str | None
    reason: str
    note: str
    before: int = field(metadata=about("characters of the article's text"))
    after: int = field(metadata=about("characters of the revision's; 0 without an article"))
    since: datetime = field(metadata=about("when it was first seen"))
    seen_at: datetime
    times: int = field(metadata=about("how often it was seen in a row"))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineDecision:
    """A revision that a person has applied or discarded, whose text is not kept; or an earlier
    version that a person has restored."""

    url: str
    title: str | None
    decision: str = field(metadata=about("applied, discarded or restored"))
    decided_at: datetime
    decided_by: str = field(metadata=about("the person's name or the token's; empty if unknown"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldText:
    """A quarantined revision in full, as plain text; the text is untrusted."""

    row: QuarantineRow
    text: str


@question("/article", missing=MISSING)
def article_page(session: Session, url: str) -> ArticlePage | None:
    """Return the article with this URL, canonical or not; None if it is not stored."""
    article = session.scalar(_article_at(url))
    if article is None:
        return None
    (row,) = article_rows(session, [article.id], None)
    mentions = mentions_in(session, [row])[article.id]
    query = _CORRECTIONS.join(Source, Source.id == Article.source_id).where(
        Article.id == article.id
    )
    query = query.where(Correction.undone_at.is_(None))
    addresses = select(ArticleUrl.url).where(ArticleUrl.article_id == article.id)
    same_story = [] if row.story is None else copies_of(session, row.story)
    copies = [number for number in same_story if number != row.number]
    boilerplate = (
        select(Company.name, Boilerplate.number)
        .join(Company, Company.id == Boilerplate.company_id)
        .where(Boilerplate.article_id == article.id)
    )
    return copy_fields(
        ArticlePage,
        article,
        row=row,
        authors=tuple(article.authors),
        mentions=tuple(
            sorted(mentions, key=lambda m: (m.section != "title", m.start, m.end, m.company))
        ),
        corrections=tuple(_correction_rows(session, query)),
        addresses=tuple(sorted(session.scalars(addresses))),
        copies=tuple(article_rows(session, copies, None)),
        boilerplate=tuple(sorted((name, count) for name, count in session.execute(boilerplate))),
        versions=versions_by_article(session, [article.id])[article.id],
    )


def versions_by_article(
    session: Session, numbers: Sequence[int] | Select[Any]
) -> dict[int, Versions]:
    """Return the versions that found the articles, by number, and their mentions: those of the run
    that stored its text, or for companies those of a later search for mentions."""
    query = (
        select(
            Article.id,
            Article.day,
            Source.slug,
            func.coalesce(Article.revised_at, Article.first_seen_at),
            Run.started_at,
            Run.versions,
        )
        .join(Source, Source.id == Article.source_id)
        .join(Run, Run.id == Article.run_id)
        .where(Article.id.in_(numbers))
    )
    rematches = session.scalars(select(Rematch).order_by(Rematch.started_at)).all()
    by_article = {}
    for number, day, slug, stored_at, run_at, versions in session.execute(query):
        by_article[number] = Versions(**versions or {})
        for rematch in rematches:
            covers = rematch.source in {None, slug} and (
                rematch.since is None or rematch.since <= day
            )
            if covers and rematch.started_at >= max(stored_at, run_at):
                companies = rematch.versions["companies"]
                by_article[number] = replace(by_article[number], companies=companies)
    return by_article


def versions_text(numbers: Iterable[tuple[Versions, int]]) -> str:
    """Return versions with their numbers of articles, in words."""
    return "; ".join(
        f"{versions.summary} ({count_of(number, 'article')})" for versions, number in numbers
    )


@question("/article/history", missing=MISSING)
def history(session: Session, url: str) -> list[Version]:
    """Return the versions of the article with this URL, the oldest first; none if it is not
    stored."""
    article = session.scalar(_article_at(url))
    if article is None:
        return []
    former = session.scalars(
        select(Revision).where(Revision.article_id == article.id).order_by(Revision.number)
    ).all()
    changes_query = (
        select(MentionChange.number, Company.name, MentionChange.difference)
        .join(Company, Company.id == MentionChange.company_id)
        .where(MentionChange.article_id == article.id)
    )
    by_version: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for changed, name, difference in session.execute(changes_query):
        by_version[changed].append((name, difference))
    stored: list[Article | Revision] = [*former, article]
    replaced = [revision.replaced_at for revision in former]
    seen_times = [revision.seen_at for revision in former]
    seen_times.append(replaced[-1] if replaced else article.first_seen_at)
    numbers = [*(revision.number for revision in former), article.revision]
    texts = [(None, ""), *((version.title, version.text) for version in stored)]
    return [
        copy_fields(
            Version,
            version,
            number=number,
            seen_at=seen_at,
            replaced_at=replaced_at,
            diff=_diff(old, new),
            mentions=tuple(sorted(by_version[number])),
        )
        for number, version, seen_at, replaced_at, (old, new) in zip(
            numbers, stored, seen_times, [*replaced, None], pairwise(texts), strict=True
        )
    ]


# --- Corrections by people ---

_CORRECTIONS = (
    select(Correction, Article.day, Article.url, Source.slug)
    .select_from(Correction)
    .join(Article)
    .order_by(Correction.id.desc())
)


def _correction_rows(
    session: Session, query: Select[Correction, date, str, str]
) -> list[CorrectionRow]:
    return [
        copy_fields(CorrectionRow, correction, day=day, url=url, source=source)
        for correction, day, url, source in session.execute(query)
    ]


@question("/corrections")
def corrections(
    session: Session,
    *,
    scope: Scope = ANY,
    undone: bool = False,
    limit: int | None = None,
    offset: int = 0,
) -> list[CorrectionRow]:
    """Return the corrections of mentions in the scope's articles, the newest first; `undone`: the
    undone ones, instead of those in force."""
    was_undone = Correction.undone_at.is_not(None)
    query = articles_within(_CORRECTIONS, scope, every_kind=True)
    query = query.where(was_undone if undone else ~was_undone)
    return _correction_rows(session, query.limit(limit).offset(offset))


@reads
def correction_of_number(session: Session, number: int) -> CorrectionRow | None:
    """Return a correction, in force or undone; None if there is none with this number."""
    query = _CORRECTIONS.join(Source, Source.id == Article.source_id)
    return next(iter(_correction_rows(session, query.where(Correction.id == number))), None)


# What corrections of an article that were made at once have in common.
MADE_TOGETHER = ("kind", "company", "made_by", "made_at")


def made_together(rows: Iterable[CorrectionRow]) -> list[list[CorrectionRow]]:
    """Return corrections in lists of those that one click or command made, in the order of the
    first of each."""
    by_decision: dict[tuple[object, ...], list[CorrectionRow]] = {}
    key = attrgetter("url", *MADE_TOGETHER)
    for row in rows:
        by_decision.setdefault(key(row), []).append(row)
    return list(by_decision.values())


# --- The quarantine ---

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


@question("/quarantine")
def quarantined(
    session: Session, *, scope: Scope = ANY, limit: int | None = None, offset: int = 0
) -> list[QuarantineRow]:
    """Return the quarantined revisions of the scope's articles, the newest first."""
    query = articles_within(_of_revisions(*_COLUMNS).where(_PENDING), scope, every_kind=True)
    newest_first = (QuarantinedRevision.seen_at.desc(), QuarantinedRevision.id.desc())
    rows = session.execute(query.order_by(*newest_first).limit(limit).offset(offset))
    return [QuarantineRow(**row) for row in rows.mappings()]


def _of_revisions(*columns: Any) -> Select[Any]:
    """Return a query of the quarantine with its articles."""
    return select(*columns).select_from(QuarantinedRevision).join(Article)


@question("/quarantine/text", missing="no revision of this article is quarantined")
def quarantined_text(session: Session, url: str) -> HeldText | None:
    """Return the quarantined revision of the article with this canonical URL; None without one."""
    query = _of_revisions(*_COLUMNS, QuarantinedRevision.text.label("held")).join(Source)
    row = session.execute(query.where(_PENDING, Article.url == url)).one_or_none()
    if row is None:
        return None
    return HeldText(row=copy_fields(QuarantineRow, row), text=row.held)


@question("/quarantine/decisions")
def quarantine_decisions(
    session: Session, *, scope: Scope = ANY, limit: int | None = None, offset: int = 0
) -> list[QuarantineDecision]:
    """Return the decisions to apply, discard or restore a revision of an article of the scope, the
    last one first."""
    state = QuarantinedRevision.state
    query = _of_revisions(
        Article.url,
        Article.title,
        case((state == "replaced", "restored"), else_=state).label("decision"),
        QuarantinedRevision.closed_at.label("decided_at"),
        func.coalesce(QuarantinedRevision.decided_by, "").label("decided_by"),
    ).where(state.in_(("applied", "discarded", "replaced")))
    query = articles_within(query, scope, every_kind=True)
    last_first = (QuarantinedRevision.closed_at.desc(), QuarantinedRevision.id.desc())
    rows = session.execute(query.order_by(*last_first).limit(limit).offset(offset))
    return [QuarantineDecision(**row) for row in rows.mappings()]


@question("/quarantine/sizes")
def quarantine_sizes(session: Session, *, scope: Scope = ANY) -> dict[str, int]:
    """Return the number of quarantined revisions of each source of the scope.

    The days of the scope are ignored.
    """
    query = (
        _of_revisions(Source.slug, func.count())
        .join(Source)
        .where(_PENDING, *sources_within(scope))
        .group_by(Source.slug)
    )
    return {slug: int(number) for slug, number in session.execute(query)}


# --- Parts of an article ---


def _article_at(url: str) -> Select[Article]:
    return (
        select(Article)
        .join(ArticleUrl, ArticleUrl.article_id == Article.id)
        .where(ArticleUrl.url == url)
    )


def _diff(old: tuple[str | None, str], new: tuple[str | None, str]) -> tuple[DiffLine, ...]:
    """Return headline and sentences of the new version, and those that only the old one has."""
    before, after = _lines(*old), _lines(*new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    lines: list[DiffLine] = []
    for change, a, b, c, d in matcher.get_opcodes():
        if change != "equal":
            lines += [DiffLine(change="removed", text=text) for text in before[a:b]]
        kind: Literal["same", "added"] = "same" if change == "equal" else "added"
        lines += [DiffLine(change=kind, text=text) for text in after[c:d]]
    return tuple(lines)


def _lines(title: str | None, text: str) -> list[str]:
    """Return headline and sentences; those after the first MAX_COMPARED are one."""
    lines = sentences(text)
    if len(lines) > MAX_COMPARED:
        lines = [*lines[:MAX_COMPARED], " ".join(lines[MAX_COMPARED:])]
    return [title, *lines] if title else lines
