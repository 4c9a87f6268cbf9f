"""Saved queries: searches that are counted like companies, under names of their own.

The history is counted once, in batches that a killed process continues (`count_history`). Until it
is complete, the numbers of a new query are 0, and a changed one keeps those of its former text;
then all numbers change in one transaction. From the moment a text is saved, the transactions that
store articles match them with it (`newscrawl.storage.query_matches`). A change of a query locks the
table first, so that no transaction stores articles by an outdated list of queries.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from sqlalchemy import (
    ColumnElement,
    Connection,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from newscrawl.items import UNKNOWN, copy_fields
from newscrawl.storage import QuestionError
from newscrawl.storage.company_alerts import rename_company
from newscrawl.storage.database import Database, reads, writes
from newscrawl.storage.models import (
    Appearance,
    Article,
    Company,
    CompanySource,
    CountedArticle,
    DailyCompany,
    DailyCompanySource,
    DailySource,
    QueryMatch,
    SavedQuery,
    Source,
    WatchedCompany,
)
from newscrawl.storage.query_matches import count_hits, parse_saved, write_matches
from newscrawl.storage.rollups import days_in_sources
from newscrawl.storage.scope import (
    Scope,
    usual_spelling,
)
from newscrawl.storage.search_language import (
    Facts,
    Node,
    QuerySyntaxError,
    SearchedArticle,
    filters_of,
    parse_query,
)
from newscrawl.storage.text_index import search_index
from newscrawl.storage.words import folded_words
from newscrawl.text import did_you_mean, match_name

# Ours: each query is matched with every article that is stored.
MAX_QUERIES = 100
MAX_NAME = 80
# Ours: articles in one transaction, and keys that are read from the index at a time.
_AT_ONCE = 200
_KEYS = 20_000

Progress = Callable[[int, int], None]
_ROLLUPS = (Appearance, DailyCompany, DailyCompanySource, CompanySource)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedQueryRow:
    """A saved query. `counted` is set if its present text is counted in all stored articles; else
    `pending_text` is the text that is being counted, and `text`, if it was counted before, the one
    whose numbers are shown."""

    name: str
    text: str
    counted: bool
    pending_text: str | None
    created_at: datetime
    created_by: str
    changed_at: datetime
    changed_by: str


@reads
def list_queries(session: Session, *, named: str | None = None) -> list[SavedQueryRow]:
    """Return all saved queries, by name, or those with this name: one or none."""
    query = select(Company.name, SavedQuery).join(Company, Company.id == SavedQuery.company_id)
    if named is not None:
        query = query.where(Company.name == named)
    rows = [
        copy_fields(SavedQueryRow, saved, name=name, counted=saved.pending_text is None)
        for name, saved in session.execute(query)
    ]
    return sorted(rows, key=lambda row: row.name.casefold())


@reads
def find_query(session: Session, name: str) -> SavedQueryRow:
    """Return a saved query by its name in any case; raise QuestionError with similar names."""
    rows = {row.name: row for row in list_queries(session)}
    stored_name, near = match_name(name, [*rows])
    return rows[stored_name] if stored_name is not None else _raise_unknown(name, near)


@reads
def read_query(session: Session, text: str) -> str:
    """Return a query as it is saved, with sources by their slugs; raise QuestionError for a
    fault."""
    text = with_slugs(session, text)
    parse_query(text)  # slugs may be longer than names
    return text


def add_query(
    database: Database, name: str, text: str, made_by: str, *, taken: Collection[str] = ()
) -> str:
    """Save a query, whose history is not counted yet; return its name as it is stored.

    `taken` are names of the registry. Raise QuestionError for a text with a fault, for a name in
    use, and for more than MAX_QUERIES.
    """
    # Read first: a fault is told without waiting for a crawl that writes.
    text = read_query(database, text)
    name = _valid_name(name)

    def work(session: Session) -> str:
        connection = session.connection()
        _lock(connection)
        if (session.scalar(select(func.count()).select_from(SavedQuery)) or 0) >= MAX_QUERIES:
            raise QuestionError(f"{MAX_QUERIES} queries are saved already: remove one first")
        _refuse_name(name, [*taken, *session.scalars(select(Company.name))])
        row = insert(Company).values(name=name).returning(Company.id)
        number, now = connection.execute(row).scalar_one(), datetime.now(UTC)
        made = {"created_at": now, "created_by": made_by, "changed_at": now, "changed_by": made_by}
        saved = SavedQuery(company_id=number, text=text, version=0, pending_text=text, **made)
        saved.position = 0
        session.add(saved)
        return name

    return database.write(work)


def _refuse_name(name: str, names: Sequence[str]) -> None:
    used, _ = match_name(name, names)
    if used is not None:
        raise QuestionError(f"a company, group or query is named {used!r}: choose another")


def edit_query(database: Database, name: str, text: str | None, made_by: str) -> bool:
    """Replace the text of a query, or with None count its present text again; return whether there
    is anything to count. Its numbers stay until the history is counted. Raise QuestionError."""
    new_text = None if text is None else read_query(database, text)

    def work(session: Session) -> bool:
        _lock(session.connection())
        saved = _find_query(session, name)
        if new_text is not None and new_text == (saved.pending_text or saved.text):
            return saved.pending_text is not None
        _delete_matches(session, saved, QueryMatch.version > saved.version)
        saved.pending_text, saved.position = new_text or saved.pending_text or saved.text, 0
        if new_text is not None:
            saved.changed_at, saved.changed_by = datetime.now(UTC), made_by
        return True

    return database.write(work)


@writes
def rename_query(
    session: Session, name: str, new_name: str, made_by: str, *, taken: Collection[str] = ()
) -> str:
    """Give a query another name; return it as it is stored. Its numbers, watches and alerts stay,
    and recipients get those under the new name. `taken` are names of the registry. Raise
    QuestionError for a name in use."""
    new_name = _valid_name(new_name)
    _lock(session.connection())
    saved = _find_query(session, name)
    names = session.scalars(select(Company.name).where(Company.id != saved.company_id))
    _refuse_name(new_name, [*taken, *names])
    company = update(Company).where(Company.id == saved.company_id)
    session.execute(company.values(name=new_name))
    saved.changed_at, saved.changed_by = datetime.now(UTC), made_by
    rename_company(session, name, new_name)
    return new_name


@writes
def remove_query(session: Session, name: str) -> None:
    """Delete a query with its numbers, and stop watching it; raise QuestionError."""
    _lock(session.connection())
    saved = _find_query(session, name)
    number = saved.company_id
    _delete_matches(session, saved, literal(value=True))
    for table in _ROLLUPS:
        session.execute(delete(table).where(table.company_id == number))
    watched = or_(WatchedCompany.company == name, WatchedCompany.other == name)
    session.execute(delete(WatchedCompany).where(watched))
    session.delete(saved)
    session.flush()
    session.execute(delete(Company).where(Company.id == number))


def count_history(
    database: Database, name: str, progress: Progress = lambda _done, _of: None
) -> None:
    """Match all stored articles with the pending text of a query, and count it from then on.

    It continues where another call was stopped. `progress` is called with the numbers of finished
    candidates and of all. Raise QuestionError if there is no such query (any more).
    """
    with database.reading() as session:
        saved = _find_query(session, name)
        pending, position = saved.pending_text, saved.position
        total = 0 if pending is None else _count(session, parse_query(pending))
        done = total - _count(session, parse_query(pending), position) if pending else 0
    while pending is not None:
        node = parse_query(pending)
        with database.reading() as session:
            index = search_index(session)
            matching = select(index.key).where(index.matches(node), index.key > position)
            keys = session.scalars(matching.order_by(index.key).limit(_KEYS)).all()
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            if not _count_batch(database, name, pending, node, some):
                return count_history(database, name, progress)  # its text was changed meanwhile
            done += len(some)
            progress(min(done, total), total)
        if not keys:
            _activate(database, name, pending)
            return None
        position = keys[-1]
    return None


@writes
def _count_batch(
    session: Session, name: str, pending: str, node: Node, keys: Sequence[int]
) -> bool:
    """Store the matches among some articles; return False if the query has another text now."""
    saved = _find_query(session, name, lock=True)
    if saved.pending_text != pending:
        return False
    numbers = [search_index(session).article_at(key) for key in keys]
    _delete_matches(
        session,
        saved,
        (QueryMatch.version == saved.version + 1) & QueryMatch.article_id.in_(numbers),
    )
    rows = [
        (saved.company_id, saved.version + 1, number, *hits)
        for number, article in searched_articles(session, numbers, lock=True).items()
        if (hits := count_hits(node, article))
    ]
    write_matches(session.connection(), rows)
    saved.position = max(saved.position, keys[-1])
    return True


def searched_articles(
    session: Session, numbers: Sequence[int], *, lock: bool = False
) -> dict[int, SearchedArticle]:
    """Return articles of the index as queries are evaluated, by number; with `lock`, they are
    locked until the transaction ends."""
    if lock:
        locked = select(Article.id).where(Article.id.in_(numbers)).order_by(Article.id)
        session.execute(locked.with_for_update())
    columns = Article.id, Article.title, Article.text, CountedArticle.language
    query = (
        select(*columns, Source.slug, Source.country)
        .join(Source, Source.id == Article.source_id)
        .join(CountedArticle, CountedArticle.article_id == Article.id)
        .where(Article.id.in_(numbers))
    )
    return {
        number: SearchedArticle(folded_words(title or ""), folded_words(body), Facts(*facts))
        for number, title, body, *facts in session.execute(query)
    }


@writes
def _activate(session: Session, name: str, pending: str) -> None:
    """Replace the counts of the former text by those of the pending one, in all tables."""
    _lock(session.connection())
    saved = _find_query(session, name)
    if saved.pending_text != pending:
        return
    _delete_matches(session, saved, QueryMatch.version <= saved.version)
    for rollup in _ROLLUPS:
        session.execute(delete(rollup).where(rollup.company_id == saved.company_id))
    saved.version += 1
    saved.text, saved.pending_text, saved.position = pending, None, 0
    session.flush()
    # The rows of the query, from its matches.
    article, table = CountedArticle, Appearance
    same = [article.minute, article.article_id, article.source_id, article.language]
    same += [article.section, article.limited, article.story_id]
    number = literal(saved.company_id).label("company_id")
    matches = (
        select(number, *same, QueryMatch.in_title, QueryMatch.in_body)
        .join(QueryMatch, QueryMatch.article_id == article.article_id)
        .where(QueryMatch.company_id == saved.company_id, QueryMatch.version == saved.version)
    )
    session.execute(_insert_from(table, matches))
    sums: list[Any] = [func.count().label("articles")]
    sums += [
        func.sum(getattr(table, name)).label(name) for name in ("limited", "in_title", "in_body")
    ]
    nothing = [literal(0).label(name) for name in ("boilerplate", "boilerplate_articles")]
    by_source: list[Any] = [table.source_id, Article.day, table.language]
    for rollup, keys in ((DailyCompany, [Article.day]), (DailyCompanySource, by_source)):
        counts = (
            select(number, *keys, *sums, *nothing)
            .join(Article, Article.id == table.article_id)
            .where(table.company_id == saved.company_id)
            .group_by(*keys)
        )
        session.execute(_insert_from(rollup, counts))
    session.execute(days_in_sources(DailyCompanySource.company_id == saved.company_id))


def _insert_from(table: type[Any], rows: Any) -> Any:
    return insert(table).from_select([column.name for column in rows.selected_columns], rows)


def _lock(connection: Connection) -> None:
    """Wait until no transaction uses the list of queries, and keep others from reading it."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE saved_queries IN ACCESS EXCLUSIVE MODE"))


def _find_query(session: Session, name: str, *, lock: bool = False) -> SavedQuery:
    query = select(SavedQuery).join(Company, Company.id == SavedQuery.company_id)
    query = query.where(Company.name == name)
    saved = session.scalar(query.with_for_update(of=SavedQuery) if lock else query)
    return saved if saved is not None else _raise_unknown(name, [])


def _raise_unknown(name: str, near: Sequence[str]) -> NoReturn:
    advice = did_you_mean(near) if near else "newscrawl queries list shows them"
    raise QuestionError(f"no saved query {name!r}: {advice}")


def _delete_matches(session: Session, saved: SavedQuery, which: ColumnElement[bool]) -> None:
    session.execute(
        delete(QueryMatch)
        .where(QueryMatch.company_id == saved.company_id, which)
        .execution_options(synchronize_session=False)
    )


def _valid_name(text: str) -> str:
    name = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()
    if not name or len(name) > MAX_NAME:
        raise QuestionError(f"a name has 1 to {MAX_NAME} characters: write one of that length")
    if any(unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Cn"} for sign in name):
        raise QuestionError("a name has no control characters: leave them out")
    return name


def _count(session: Session, node: Node, after: int = 0) -> int:
    index = search_index(session)
    query = select(func.count(index.key)).where(index.matches(node), index.key > after)
    return session.scalar(query) or 0


_SUGGESTED = 3  # as `match_name` has them


def with_slugs(session: Session, text: str) -> str:
    """Return a query with the slugs of the sources that it names.

    Articles are matched by the slug of their source, so a saved query keeps its numbers when a
    source is renamed. Raise QuerySyntaxError for a fault, and for a source, country or language of
    which nothing is stored. A database without sources knows none: there, all are accepted.
    """
    done, parts = 0, []
    filters = {leaf.place: leaf for leaf in filters_of(parse_query(text))}
    if filters and session.scalar(select(Source.id).limit(1)) is None:
        return text
    for place, leaf in sorted(filters.items()):
        try:
            if leaf.name == "source":
                slugs = ",".join(_slugs(session, leaf.as_written))
                gap = " " if text[leaf.end : leaf.end + 1].strip(" )") else ""
                parts += [text[done:place], f"source:{slugs}{gap}"]
                done = leaf.end
            else:
                column = Source.country if leaf.name == "country" else Source.language
                stored_codes = set(session.scalars(select(column).distinct()))
                if leaf.name == "language":
                    read = select(DailySource.language).where(DailySource.read > 0).distinct()
                    stored_codes |= {UNKNOWN, *session.scalars(read)}
                for code in re.split(r"[,\s]+", leaf.as_written):
                    usual_spelling(code, sorted(filter(None, stored_codes)), leaf.name)
        except QuestionError as error:
            raise QuerySyntaxError(str(error), text, place) from error
    return "".join([*parts, text[done:]])


def languages_of_sources(session: Session) -> dict[str, str]:
    """Return the main language of each source by its slug."""
    return dict(session.execute(select(Source.slug, Source.language)).all())


def _slugs(session: Session, names_written: str) -> list[str]:
    """Return the slugs of one source or several with commas, by slug or name; sources may share a
    name."""
    names = dict(session.execute(select(Source.slug, Source.name).order_by(Source.slug)).all())
    slugs_by_name: dict[str, list[str]] = defaultdict(list)
    for slug, name in names.items():
        slugs_by_name[name.casefold()].append(slug)
    slugs_by_name |= {slug.casefold(): [slug] for slug in names}
    if slugs := slugs_by_name.get(names_written.casefold()):  # a name may have a comma
        return slugs
    slugs = []
    for name in filter(None, map(str.strip, names_written.split(","))):
        if name.casefold() not in slugs_by_name:
            # Sources whose names are like the written one or contain it.
            near = [slug for slug, each in names.items() if name.casefold() in each.casefold()]
            by_name = {each: slug for slug, each in names.items()}
            near += [*match_name(name, [*names])[1]]
            near += [by_name[each] for each in match_name(name, [*by_name])[1]]
            if shown := [f"{names[slug]} ({slug})" for slug in dict.fromkeys(near)][:_SUGGESTED]:
                raise QuestionError(f"unknown source {name!r}: {did_you_mean(shown)}")
            usual_spelling(name, [*names], "source")
        slugs += slugs_by_name[name.casefold()]
    return slugs


# --- What a saved query can match ---


def scope_of_text(session: Session, text: str, scope: Scope) -> Scope:
    """Return the scope of the articles that the filters of a query let through; raise
    QuerySyntaxError."""
    node = parse_query(with_slugs(session, text))
    return replace(scope, among=node) if any(filters_of(node)) else scope


@reads
def own_scope(session: Session, name: str | None, scope: Scope) -> Scope:
    """Return the scope of the articles that the filters of the saved query of this name let
    through; unchanged for a company, for a query without filters, and without a name."""
    return limited_to(session, [name], scope)[name]


def limited_to(session: Session, names: Collection[str | None], scope: Scope) -> dict[Any, Scope]:
    """Return the `own_scope` of each of the names."""
    query = select(Company.name, SavedQuery.text).where(Company.name.in_(set(names) - {None}))
    saved = session.execute(query.join(Company, Company.id == SavedQuery.company_id))
    nodes = ((name, parse_saved(text)) for name, text in saved)
    filtered = {name: node for name, node in nodes if node and any(filters_of(node))}
    return {
        name: replace(scope, among=filtered[name]) if name in filtered else scope for name in names
    }
