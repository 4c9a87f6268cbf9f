"""The indexes of texts: stories of near duplicates, and the full-text search.

An article joins the story of its near duplicates, or starts a new one. The index (`sketch_values`)
is queried for texts of the same and the adjacent weeks that share one of the few values under which
a text is indexed; those that share most of them are compared by their sketches. Values that many
texts share are cut: beyond MAX_PER_VALUE texts a week, further texts are not indexed under them. So
the time for an article does not grow with their number.

The full-text index is FTS5 in SQLite, a tsvector with a GIN index in PostgreSQL. Both get the same
words, folded by `newscrawl.storage.words`, and so find the same articles; of a text over
MAX_INDEXED they get the beginning. SQLite's index stores no text, only words (`content=''`): to
delete an article from it, the same words must be given again. Its rows are numbered by time, so
that the newest are found without sorting.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    Connection,
    Executable,
    Integer,
    bindparam,
    cast,
    column,
    delete,
    func,
    literal_column,
    select,
    table,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from newscrawl.storage.engine import BulkInsert, new_ids, one_of
from newscrawl.storage.models import Sketch as SketchRow, SketchValue, Story
from newscrawl.storage.search_language import Node, for_postgres, for_sqlite
from newscrawl.storage.words import MAX_INDEXED, Sketch, Wording, same_story

# Ours, as bounds of work: further copies of a text in a week are found by the first ones; and of
# all texts that share a value, those that share most values are compared.
MAX_PER_VALUE = 200
MAX_COMPARED = 20
_MINUTES_PER_DAY = 24 * 60
_MINUTES_PER_WEEK = 7 * _MINUTES_PER_DAY

# SQLite is queried for each week and value as one number: otherwise, if texts are of many weeks,
# each value would be searched in all of them. PostgreSQL's planner would read the whole table for
# that.
_VALUE_BITS = 32
_NEAR: Mapping[str, Executable] = {
    "sqlite": text(
        "SELECT week, sketch_values.value, article_id FROM "
        "(SELECT value AS key FROM json_each(:keys)) CROSS JOIN sketch_values "
        "ON week = key >> 32 AND sketch_values.value = key & 4294967295"
    ).bindparams(bindparam("keys", type_=JSON())),
    "postgresql": select(SketchValue.week, SketchValue.value, SketchValue.article_id).where(
        one_of(SketchValue.week, "weeks"),
        one_of(SketchValue.value, "values"),
    ),
}
_SKETCHES = select(
    SketchRow.article_id,
    SketchRow.story_id,
    SketchRow.week,
    SketchRow.shingles,
    SketchRow.smallest,
).where(one_of(SketchRow.article_id, "numbers"))
_ADD_STORIES = BulkInsert(Story, ("id", "founded_on"))
_ADD_SKETCHES, _VALUES = BulkInsert(SketchRow), BulkInsert(SketchValue)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An article as it is indexed: its words and its time."""

    article_id: int
    minute: int
    wording: Wording

    @property
    def week(self) -> int:
        return self.minute // _MINUTES_PER_WEEK


@dataclass(slots=True)
class _Story:
    """A story of a candidate: a stored one, or a new one without an id yet."""

    story_id: int | None
    day: date


@dataclass(frozen=True, slots=True)
class _KnownArticle:
    article_id: int
    sketch: Sketch
    story: _Story


class _NearIndex:
    """The index around some texts, and the texts that were added to it since."""

    def __init__(
        self, connection: Connection, candidates: Sequence[tuple[IndexEntry, Sketch]]
    ) -> None:
        # The ids of the texts under a value, by week: most values have none.
        self._under: dict[int, dict[int, list[int]]] = defaultdict(dict)
        self._known: dict[int, _KnownArticle] = {}
        self._new: list[tuple[IndexEntry, _KnownArticle]] = []
        self._new_values: list[tuple[int, int, int]] = []
        if not candidates:
            return
        if connection.dialect.name == "sqlite":
            keys = {
                week << _VALUE_BITS | value
                for candidate, sketch in candidates
                for week in _weeks_around(candidate)
                for value in sketch.index
            }
            parameters = {"keys": sorted(keys)}
        else:
            weeks = {week for candidate, _ in candidates for week in _weeks_around(candidate)}
            values = {value for _, sketch in candidates for value in sketch.index}
            parameters = {"weeks": sorted(weeks), "values": sorted(values)}
        indexed = connection.execute(_NEAR[connection.dialect.name], parameters)
        for week, value, article_id in indexed:
            self._under[value].setdefault(week, []).append(article_id)
        near = {
            number
            for candidate, sketch in candidates
            for number in self._nearest(candidate, sketch)
        }
        stories: dict[int, _Story] = {}
        rows = connection.execute(_SKETCHES, {"numbers": sorted(near)}) if near else ()
        for article_id, story_id, _, shingles, smallest in rows:
            story = stories.setdefault(story_id, _Story(story_id, date.min))
            sketch = Sketch.from_bytes(shingles, smallest)
            self._known[article_id] = _KnownArticle(article_id, sketch, story)

    def matches(self, candidate: IndexEntry, sketch: Sketch) -> list[_Story]:
        """Return the stories that the text may belong to, the most similar first, then the
        oldest."""
        article = [self._known[number] for number in self._nearest(candidate, sketch)]
        pairs = [(same_story(sketch, article.sketch), article) for article in article]
        pairs.sort(key=lambda pair: (-pair[0], pair[1].article_id))
        return [article.story for resemblance, article in pairs if resemblance > 0]

    def put(self, candidate: IndexEntry, sketch: Sketch, story: _Story) -> None:
        """Add the text to the index, for the candidates after it."""
        article = _KnownArticle(candidate.article_id, sketch, story)
        self._known[candidate.article_id] = article
        self._new.append((candidate, article))
        week = candidate.week
        for value in sketch.index:
            there = self._under[value].setdefault(week, [])
            if len(there) < MAX_PER_VALUE:
                there.append(candidate.article_id)
                self._new_values.append((week, value, candidate.article_id))

    def write(self, connection: Connection) -> None:
        """Write the texts that were added; their stories must have their ids."""
        rows = [
            (
                candidate.article_id,
                article.story.story_id,
                candidate.week,
                article.sketch.shingles,
                article.sketch.to_bytes(),
            )
            for candidate, article in self._new
        ]
        _ADD_SKETCHES.write(connection, rows)
        _VALUES.write(connection, self._new_values)

    def _nearest(self, candidate: IndexEntry, sketch: Sketch) -> list[int]:
        shared: dict[int, int] = {}
        weeks = _weeks_around(candidate)
        for value in sketch.index:
            if there := self._under.get(value):
                for week in weeks:
                    for number in there.get(week, ()):
                        shared[number] = shared.get(number, 0) + 1
        return sorted(shared, key=lambda number: (-shared[number], number))[:MAX_COMPARED]


def _weeks_around(candidate: IndexEntry) -> range:
    return range(max(0, candidate.week - 1), candidate.week + 2)


def assign_stories(
    connection: Connection,
    candidates: Sequence[IndexEntry],
    before: Mapping[int, int] = MappingProxyType({}),
) -> dict[int, int]:
    """Return the id of each article's story, and add the texts to the index.

    Each candidate is compared with those before it too. It keeps the story that it had `before`,
    unless the story has other articles and none of them is similar.
    """
    sketches = {each.article_id: each.wording.sketch for each in candidates}
    near = _NearIndex(
        connection, [(each, sketch) for each in candidates if (sketch := sketches[each.article_id])]
    )
    stories: dict[int, _Story] = {}
    for candidate in candidates:
        sketch, former = sketches[candidate.article_id], before.get(candidate.article_id)
        alike = near.matches(candidate, sketch) if sketch else []
        day = date.fromordinal(candidate.minute // _MINUTES_PER_DAY + 1)
        story = alike[0] if alike else _Story(None, day)
        if former is not None:
            # The candidate itself is not in the index.
            members = select(SketchRow.article_id).where(SketchRow.story_id == former)
            if not alike and connection.execute(members.limit(1)).first() is None:
                story = _Story(former, day)
            story = next((same for same in alike if same.story_id == former), story)
        stories[candidate.article_id] = story
        if sketch is not None:
            near.put(candidate, sketch, story)
    new = list({id(story): story for story in stories.values() if story.story_id is None}.values())
    if new:
        numbers = new_ids(connection, Story, len(new))
        for story, number in zip(new, numbers, strict=True):
            story.story_id = number
        _ADD_STORIES.write(connection, [(story.story_id, story.day) for story in new])
    near.write(connection)
    return {
        number: story.story_id for number, story in stories.items() if story.story_id is not None
    }


def remove_sketch(connection: Connection, article_id: int) -> None:
    """Remove an article's text from the index."""
    rows = connection.execute(_SKETCHES, {"numbers": [article_id]}).all()
    for _, _, week, shingles, smallest in rows:
        values = Sketch.from_bytes(shingles, smallest).index
        connection.execute(
            delete(SketchValue).where(
                SketchValue.week == week,
                SketchValue.value.in_(values),
                SketchValue.article_id == article_id,
            )
        )
        connection.execute(delete(SketchRow).where(SketchRow.article_id == article_id))


NUMBER_BITS = 32

SQLITE_SEARCH = table("article_search", column("rowid"), column("title"), column("body"))
POSTGRES_SEARCH = table(
    "article_search",
    column("article_id", BigInteger()),
    column("minute", Integer()),
    column("words", postgresql.TSVECTOR()),
)

_SQLITE_COLUMNS = ("rowid", "title", "body")
_SQLITE_ADD = BulkInsert(SQLITE_SEARCH)
_SQLITE_REMOVE = text(
    "INSERT INTO article_search (article_search, rowid, title, body) "
    "VALUES ('delete', :rowid, :title, :body)"
)
_SQLITE_CLEAR = text("INSERT INTO article_search (article_search) VALUES ('delete-all')")
_POSTGRES_ADD = BulkInsert(POSTGRES_SEARCH)
_POSTGRES_REMOVE = delete(POSTGRES_SEARCH).where(
    POSTGRES_SEARCH.c.article_id == bindparam("number")
)


def search_key(minute: int, article_id: int) -> int:
    """Return the id of an article's row in SQLite's index."""
    return minute << NUMBER_BITS | article_id


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The index of a database: the `key` of its rows, and their `minute` and `article`. A `moment`
    is a minute with `shift` further bits. In SQLite it is the key: the newest rows are not sorted,
    and a period is a range of keys."""

    key: ColumnElement[int]
    minute: ColumnElement[int]
    article: ColumnElement[int]
    moment: ColumnElement[int]
    shift: int

    def matches(self, node: Node, *, by_index: bool = True) -> ColumnElement[bool]:
        """Return the condition for rows that may match a query; in PostgreSQL it can be examined
        without its index."""
        if self.shift:
            return literal_column("article_search").op("MATCH")(for_sqlite(node))
        words: ColumnElement[Any] = POSTGRES_SEARCH.c.words
        words = words if by_index else func.coalesce(words, literal_column("''"))
        return words.op("@@")(cast(for_postgres(node), postgresql.TSQUERY()))

    def article_at(self, key: int) -> int:
        """Return the article of a key."""
        return key & ((1 << self.shift) - 1) if self.shift else key

    def within(self, since: int | None, until: int | None = None) -> list[ColumnElement[bool]]:
        """Return the conditions for rows from a minute on, and before another."""
        conditions = [] if since is None else [self.moment >= since << self.shift]
        return conditions if until is None else [*conditions, self.moment < until << self.shift]

    @property
    def newest_first(self) -> tuple[ColumnElement[int], ...]:
        """Return the order of the newest rows first."""
        if self.shift:
            return (self.key.desc(),)
        # The sum keeps the planner from scanning all articles by time for a word whose frequency it
        # overestimates.
        return self.minute.op("+")(0).desc(), self.article.desc()


_KEY = SQLITE_SEARCH.c.rowid
_SQLITE_INDEX = SearchIndex(
    _KEY, _KEY.op(">>")(NUMBER_BITS), _KEY.op("&")((1 << NUMBER_BITS) - 1), _KEY, NUMBER_BITS
)
_NUMBER, _MINUTE = POSTGRES_SEARCH.c.article_id, POSTGRES_SEARCH.c.minute
_POSTGRES_INDEX = SearchIndex(_NUMBER, _MINUTE, _NUMBER, _MINUTE, 0)


def search_index(session: Session) -> SearchIndex:
    """Return the index of the session's database."""
    sqlite = session.get_bind().dialect.name == "sqlite"
    return _SQLITE_INDEX if sqlite else _POSTGRES_INDEX


def add_to_search(connection: Connection, entries: Sequence[IndexEntry]) -> None:
    """Add articles to the index that are not in it."""
    if not entries:
        return
    if connection.dialect.name == "sqlite":
        # In the order of their keys: FTS5 flushes its buffer at each smaller key.
        ordered = sorted(entries, key=lambda entry: (entry.minute, entry.article_id))
        _SQLITE_ADD.write(connection, list(map(_sqlite_row, ordered)))
        return
    rows = [(entry.article_id, entry.minute, entry.wording.vector) for entry in entries]
    _POSTGRES_ADD.write(connection, rows)


def remove_from_search(connection: Connection, entries: Sequence[IndexEntry]) -> None:
    """Remove articles from the index, each exactly as it was added."""
    if not entries:
        return
    if connection.dialect.name == "sqlite":
        rows = [dict(zip(_SQLITE_COLUMNS, _sqlite_row(entry), strict=True)) for entry in entries]
        connection.execute(_SQLITE_REMOVE, rows)
        return
    connection.execute(_POSTGRES_REMOVE, [{"number": entry.article_id} for entry in entries])


def clear_search(connection: Connection) -> None:
    """Empty the index."""
    sqlite = connection.dialect.name == "sqlite"
    connection.execute(_SQLITE_CLEAR if sqlite else delete(POSTGRES_SEARCH))


def _sqlite_row(entry: IndexEntry) -> tuple[int, str, str]:
    title, body = entry.wording.title, entry.wording.body
    if len(title) + len(body) > MAX_INDEXED:
        title, body = map("\n".join, entry.wording.indexed)
    return search_key(entry.minute, entry.article_id), title, body
