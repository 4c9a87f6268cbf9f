"""Updates of the tables of models.articles and of the search index, in the transactions of the
articles.

A transaction that adds or changes articles makes one `RollupUpdate`, passes it each of them, and
ends with `write`. All rollups are derived from `articles`, `mentions` and `boilerplate`; `rebuild`
rebuilds them. The daily sums are changed once, at the end of a transaction: by one row for each
day, company and source, not by one for each article.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import combinations
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Insert,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    text,
)

from newscrawl.storage import models
from newscrawl.storage.documents import COUNTED_KINDS, minute_of
from newscrawl.storage.engine import BulkInsert, one_of
from newscrawl.storage.models import (
    Appearance,
    Article,
    Boilerplate,
    CompanyPair,
    CompanySource,
    CountedArticle,
    Mention,
)
from newscrawl.storage.query_matches import QueryMatcher, stored_matches
from newscrawl.storage.text_index import (
    IndexEntry,
    add_to_search,
    assign_stories,
    clear_search,
    remove_from_search,
    remove_sketch,
)
from newscrawl.storage.words import Wording

_SUMS = (
    "read",
    "articles",
    "limited",
    "in_title",
    "in_body",
    "boilerplate",
    "boilerplate_articles",
)
_KEYS: Mapping[type[Any], tuple[str, ...]] = {
    models.DailyTotal: ("day",),
    models.DailySource: ("source_id", "day", "language"),
    models.DailySection: ("day", "source_id", "language", "section"),
    models.DailyCompany: ("company_id", "day"),
    models.DailyCompanySource: ("company_id", "source_id", "day", "language"),
}


def _sums_of(table: type[Any]) -> list[str]:
    return [name for name in _SUMS if hasattr(table, name)]


def _add_statement(table: type[Any]) -> BulkInsert:
    """Return an INSERT that adds to an existing row."""
    keys, names = _KEYS[table], _sums_of(table)

    def add(row: Any) -> Any:
        sums = {name: getattr(table, name) + row.excluded[name] for name in names}
        return row.on_conflict_do_update(index_elements=list(keys), set_=sums)

    return BulkInsert(table, (*keys, *names), add)


def _delete_statement(table: type[Any]) -> Delete:
    """Return a DELETE of a row whose sums are all 0."""
    keys = [getattr(table, name) == bindparam(f"of_{name}") for name in _KEYS[table]]
    empty = [getattr(table, name) == 0 for name in _sums_of(table)]
    return delete(table).where(*keys, *empty)


_ADD = {table: _add_statement(table) for table in _KEYS}
_DROP = {table: _delete_statement(table) for table in _KEYS}


def _widen(row: Any) -> Any:
    """Return an INSERT of a company's days in a source that widens the days of an existing row."""
    earlier = row.excluded.first_day < CompanySource.first_day
    later = row.excluded.last_day > CompanySource.last_day
    first = case((earlier, row.excluded.first_day), else_=CompanySource.first_day)
    last = case((later, row.excluded.last_day), else_=CompanySource.last_day)
    return row.on_conflict_do_update(
        index_elements=["company_id", "source_id"],
        set_={"first_day": first, "last_day": last},
        where=or_(earlier, later),
    )


_ADD_SOURCES = BulkInsert(CompanySource, conflict=_widen)
_DROP_SOURCE = delete(CompanySource).where(
    CompanySource.company_id == bindparam("company"), CompanySource.source_id == bindparam("source")
)


def days_in_sources(*conditions: ColumnElement[bool]) -> Insert:
    """Return an INSERT of the first and last day of companies in sources, by the daily sums."""
    table = models.DailyCompanySource
    key = table.company_id, table.source_id
    days = select(*key, func.min(table.day), func.max(table.day))
    periods = days.where(table.articles > 0, *conditions).group_by(*key)
    return insert(CompanySource).from_select([*CompanySource.__table__.c], periods)


_ADD_SOURCE_AGAIN = days_in_sources(
    models.DailyCompanySource.company_id == bindparam("company"),
    models.DailyCompanySource.source_id == bindparam("source"),
)
_ADD_COUNTED, _ADD_APPEARANCES = BulkInsert(CountedArticle), BulkInsert(Appearance)
_ADD_PAIRS = BulkInsert(CompanyPair)
_DROP_PAIR = delete(CompanyPair).where(
    CompanyPair.company_id == bindparam("of_company"),
    CompanyPair.other_id == bindparam("of_other"),
    CompanyPair.minute == bindparam("of_minute"),
    CompanyPair.article_id == bindparam("of_article"),
)
_PAIRED = select(Appearance.minute, Appearance.article_id, Appearance.company_id).where(
    one_of(Appearance.article_id, "numbers"),
    Appearance.company_id.not_in(select(models.SavedQuery.company_id)),
)
# Ours: an article of more companies, such as a list of share prices, has too many pairs of them.
MAX_PAIRED = 30
_ARTICLES = (
    select(Article.id, Article.source_id, Article.day, Article.published_at, Article.first_seen_at)
    .add_columns(Article.language, Article.section, Article.access, Article.kind)
    .where(one_of(Article.id, "numbers"))
    .order_by(Article.id)
)
_OCCURRENCES = (
    select(
        Mention.article_id,
        Mention.company_id,
        func.sum(case((Mention.section == "title", 1), else_=0)),
        func.sum(case((Mention.section == "title", 0), else_=1)),
    )
    .where(one_of(Mention.article_id, "numbers"))
    .group_by(Mention.article_id, Mention.company_id)
)
_IN_BOILERPLATE = select(Boilerplate.article_id, Boilerplate.company_id, Boilerplate.number).where(
    one_of(Boilerplate.article_id, "numbers")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """The addition of an article to the daily sums, if it is counted. `companies` are the numbers
    of its occurrences in headline and body by company, `boilerplate` those on the rest of its
    page, `queries` those of the words of saved queries."""

    article_id: int
    source_id: int
    day: date
    minute: int
    language: str
    section: str
    limited: bool
    companies: Mapping[int, tuple[int, int]]
    boilerplate: Mapping[int, int]
    queries: Mapping[int, tuple[int, int]] = field(default_factory=dict)


class DailySums:
    """Changes of the daily sums that are not yet written."""

    def __init__(self) -> None:
        self._changes: dict[type[Any], dict[tuple[Any, ...], list[int]]] = {
            table: {} for table in _KEYS
        }

    def write(self, connection: Connection) -> None:
        """Write the changes in the order of their keys, so that no two writers wait for each
        other."""
        # The days on which articles of a company in a source are added or removed, each with the
        # number of articles.
        place = _SUMS.index("articles")
        in_sources: dict[tuple[int, int], list[tuple[date, int]]] = defaultdict(list)
        for (company, source, day, _), change in self._changes[models.DailyCompanySource].items():
            if change[place]:
                in_sources[company, source].append((day, change[place]))
        for table, changes in self._changes.items():
            keys, sums = _KEYS[table], _sums_of(table)
            columns = slice(first := _SUMS.index(sums[0]), first + len(sums))
            rows = [
                (*key, *change[columns])
                for key, change in sorted(changes.items())
                if any(change[columns])
            ]
            changes.clear()
            if not rows:
                continue
            _ADD[table].write(connection, rows)
            keys_of_rows = [
                {f"of_{name}": value for name, value in zip(keys, row, strict=False)}
                for row in rows
                if min(row[len(keys) :]) < 0
            ]
            if keys_of_rows:
                connection.execute(_DROP[table], keys_of_rows)
        # The first and last days of companies in sources, after the daily sums.
        widened, read_again = [], []
        for (company, source), numbers in sorted(in_sources.items()):
            days = [day for day, number in numbers if number > 0]
            if len(days) < len(numbers):
                read_again.append({"company": company, "source": source})
            else:
                widened.append((company, source, min(days), max(days)))
        _ADD_SOURCES.write(connection, widened)
        if read_again:
            connection.execute(_DROP_SOURCE, read_again)
            connection.execute(_ADD_SOURCE_AGAIN, read_again)

    def add(self, contribution: Contribution, times: int = 1) -> None:
        """Add an article's contribution, or with -1 `times` subtract it."""
        counted = {**contribution.companies, **contribution.queries}
        for company in counted.keys() | contribution.boilerplate.keys():
            occurrences, boilerplate = (
                counted.get(company),
                contribution.boilerplate.get(company, 0),
            )
            change = _sums(occurrences, boilerplate, limited=contribution.limited)
            self._add_to(models.DailyCompany, (company, contribution.day), change, times)
            here = (company, contribution.source_id, contribution.day, contribution.language)
            self._add_to(models.DailyCompanySource, here, change, times)
        sums = _sums(
            _all(contribution.companies),
            sum(contribution.boilerplate.values()),
            limited=contribution.limited,
        )
        self._add_to(models.DailyTotal, (contribution.day,), sums, times)
        key = (contribution.source_id, contribution.day, contribution.language)
        self._add_to(models.DailySource, key, sums, times)
        of_section = (contribution.day, contribution.source_id, contribution.language)
        self._add_to(models.DailySection, (*of_section, contribution.section), sums, times)

    def _add_to(
        self, table: type[Any], key: tuple[Any, ...], change: Sequence[int], times: int
    ) -> None:
        so_far = self._changes[table].setdefault(key, [0] * len(_SUMS))
        for place, number in enumerate(change):
            so_far[place] += times * number


def is_counted(access: str, kind: str) -> bool:
    """Return whether an article counts (see `newscrawl.storage.queries`)."""
    return kind in COUNTED_KINDS or access != "open"


def contributions_of(connection: Connection, numbers: Sequence[int]) -> dict[int, Contribution]:
    """Return the contributions of those of the articles that count, without saved queries."""
    parameters = {"numbers": list(numbers)}
    companies: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    for number, company, in_title, in_body in connection.execute(_OCCURRENCES, parameters):
        companies[number][company] = (int(in_title), int(in_body))
    boilerplate: dict[int, dict[int, int]] = defaultdict(dict)
    for number, company, occurrences in connection.execute(_IN_BOILERPLATE, parameters):
        boilerplate[number][company] = occurrences
    return {
        row.id: Contribution(
            article_id=row.id,
            source_id=row.source_id,
            day=row.day,
            minute=minute_of(row.published_at or row.first_seen_at),
            language=row.language or "",
            section=row.section or "",
            limited=row.access != "open",
            companies=companies[row.id],
            boilerplate=boilerplate[row.id],
        )
        for row in connection.execute(_ARTICLES, parameters)
        if is_counted(row.access, row.kind)
    }


def pairs_of(companies: Collection[int]) -> Iterator[tuple[int, int]]:
    """Return the pairs of an article's companies, as `company_pairs` has them."""
    if len(companies) > MAX_PAIRED:
        return ((company, 0) for company in companies)
    return combinations(sorted(companies), 2)


def delete_rows(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete the rows of these articles."""
    companies: dict[tuple[int, int], list[int]] = defaultdict(list)
    for minute, article, company in connection.execute(_PAIRED, {"numbers": list(numbers)}):
        companies[minute, article].append(company)
    pairs = [
        {"of_company": company, "of_other": second, "of_minute": minute, "of_article": article}
        for (minute, article), numbers_of_companies in companies.items()
        for company, second in pairs_of(numbers_of_companies)
    ]
    if pairs:
        connection.execute(_DROP_PAIR, pairs)
    for table in (CountedArticle, Appearance):
        connection.execute(delete(table).where(table.article_id.in_(numbers)))


def _all(companies: Mapping[int, tuple[int, int]]) -> tuple[int, int] | None:
    if not companies:
        return None
    return sum(n for n, _ in companies.values()), sum(n for _, n in companies.values())


def _sums(
    occurrences: tuple[int, int] | None, boilerplate: int, *, limited: bool
) -> tuple[int, ...]:
    """Return the sums in the order of _SUMS; `read` is 1, and unused in a table without it."""
    articles = int(occurrences is not None)
    in_title, in_body = occurrences or (0, 0)
    return (
        1,
        articles,
        articles * int(limited),
        in_title,
        in_body,
        boilerplate,
        int(boilerplate > 0),
    )


_TEXTS = select(Article.id, Article.title, Article.text).where(one_of(Article.id, "numbers"))
_STORIES = select(CountedArticle.article_id, CountedArticle.story_id).where(
    one_of(CountedArticle.article_id, "numbers")
)


class RollupUpdate:
    """The changes of one transaction; not to be used after `write`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sums = DailySums()
        self._new: dict[int, Wording] = {}
        self._matcher: QueryMatcher | None = None

    def add(self, number: int, wording: Wording) -> None:
        """Add a new article, whose rows are stored."""
        self._new[number] = wording

    @contextmanager
    def updating(self, numbers: Sequence[int]) -> Iterator[None]:
        """Update the rollups of these articles after the block, which may change their rows, texts,
        mentions and boilerplate."""
        self._flush()
        before = contributions_of(self._connection, numbers)
        queries = stored_matches(self._connection, numbers)
        old_words = self._words(before)
        yield
        after, words = self._match(numbers, stored=True)
        # The story of each article that counts after the change.
        stories = dict(self._connection.execute(_STORIES, {"numbers": list(before)}).all())
        changed = [number for number in sorted(after) if old_words.get(number) != words[number]]
        for number in (*changed, *sorted(before.keys() - after.keys())):
            remove_sketch(self._connection, number)
        candidates = [words[number] for number in changed]
        stories |= assign_stories(self._connection, candidates, stories)
        for number, article in before.items():
            self._sums.add(replace(article, queries=queries.get(number, {})), times=-1)
        delete_rows(self._connection, numbers)
        self._insert(after, stories)
        moved = {number for number in numbers if old_words.get(number) != words.get(number)}
        remove_from_search(
            self._connection, [old_words[number] for number in sorted(moved & old_words.keys())]
        )
        add_to_search(self._connection, [words[number] for number in sorted(moved & words.keys())])

    def add_stored(self, numbers: Sequence[int]) -> None:
        """Add stored articles that are neither in the daily sums nor in the search index; each
        keeps its story if it has one."""
        articles, words = self._match(numbers, stored=True)
        stories = dict(self._connection.execute(_STORIES, {"numbers": list(numbers)}).all())
        delete_rows(self._connection, numbers)
        without = [words[number] for number in sorted(articles.keys() - stories.keys())]
        for entry in without:
            remove_sketch(self._connection, entry.article_id)
        stories |= assign_stories(self._connection, without)
        self._insert(articles, stories)
        add_to_search(self._connection, [words[number] for number in sorted(articles)])

    def write(self) -> None:
        """Write all changes, at the end of the transaction."""
        self._flush()
        self._sums.write(self._connection)

    def _flush(self) -> None:
        if self._new:
            articles, words = self._match([*self._new], stored=False)
            self._new = {}
            entries = [*words.values()]
            self._insert(articles, assign_stories(self._connection, entries))
            add_to_search(self._connection, entries)

    def _match(
        self, numbers: Sequence[int], *, stored: bool
    ) -> tuple[dict[int, Contribution], dict[int, IndexEntry]]:
        """Return the contributions and the words of articles, after the articles, which may have
        been `stored` before, were matched with the saved queries."""
        articles = contributions_of(self._connection, numbers)
        words = self._words(articles)
        self._matcher = self._matcher or QueryMatcher(self._connection)
        searched = [
            (number, article.source_id, article.language, words[number].wording)
            for number, article in articles.items()
        ]
        matches = self._matcher.update(searched, numbers if stored else ())
        for number in matches:
            articles[number] = replace(articles[number], queries=matches[number])
        return articles, words

    def _insert(self, articles: Mapping[int, Contribution], stories: Mapping[int, int]) -> None:
        """Insert the rows of articles that have none, each with the id of its story."""
        counted, appearances, pairs = [], [], []
        for number, article in articles.items():
            self._sums.add(article)
            key, story_id = (article.minute, number), stories[number]
            limited = int(article.limited)
            entry = (*key, article.source_id, article.language, article.section, limited)
            counted.append((*entry, *(_all(article.companies) or (0, 0)), story_id))
            appearances += [
                (company, *entry, *occurrences, story_id)
                for company, occurrences in (*article.companies.items(), *article.queries.items())
            ]
            pairs += [(*pair, *key, limited, story_id) for pair in pairs_of(article.companies)]
        _ADD_COUNTED.write(self._connection, counted)
        _ADD_APPEARANCES.write(self._connection, appearances)
        _ADD_PAIRS.write(self._connection, pairs)

    def _words(self, articles: Mapping[int, Contribution]) -> dict[int, IndexEntry]:
        wordings = {number: self._new[number] for number in articles if number in self._new}
        numbers = [number for number in articles if number not in wordings]
        for row in self._connection.execute(_TEXTS, {"numbers": numbers}) if numbers else ():
            wordings[row.id] = Wording.of(row.title, row.text)
        return {
            number: IndexEntry(number, article.minute, wordings[number])
            for number, article in articles.items()
        }


# Ours: articles whose texts are in memory at a time.
_AT_ONCE = 500

BY_DAY: tuple[type[Any], ...] = (
    models.DailyTotal,
    models.DailySource,
    models.DailySection,
    models.DailyCompany,
    models.DailyCompanySource,
    models.CompanySource,
    models.CompanyPair,
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
    """Rebuild rollups and search index; return the number of articles.

    Articles keep their stories unless `stories` is set: then stories are assigned again, in the
    order in which the articles were stored. All in the caller's transaction; on PostgreSQL, writers
    of articles wait for its end. `progress` is called with the number of finished articles, and of
    all.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE articles IN SHARE ROW EXCLUSIVE MODE"))
    for table in (*BY_DAY, *(_OF_STORIES if stories else ())):
        connection.execute(delete(table))
    clear_search(connection)
    numbers = connection.scalars(select(models.Article.id).order_by(models.Article.id)).all()
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        rollups = RollupUpdate(connection)
        rollups.add_stored(some)
        rollups.write()
        progress(start + len(some), len(numbers))
    return len(numbers)
