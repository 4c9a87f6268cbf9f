"""Which story an article tells: that of its near duplicates, or a new one.

The index (`sketch_values`) is asked for texts of the same and the neighbouring weeks that share
one of the few values under which a text is found; those that share most of them are compared by
their sketches. A phrase that many texts share leads nowhere: past MOST_UNDER_A_VALUE texts a week,
further ones are not found by it. So the time for an article stays the same however many there are.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, bindparam, delete, insert, select

from newscrawl.storage.models import Sketch as SketchRow
from newscrawl.storage.models import SketchValue, Story
from newscrawl.storage.sketching import Sketch, same_story, sketch

# Ours, as bounds of work: more copies than that of one text in a week are found by the first
# ones; and of all that share a value, so many that share most of them are compared.
MOST_UNDER_A_VALUE = 200
MOST_COMPARED = 20
_MINUTES_PER_WEEK = 7 * 24 * 60

_NEAR = select(SketchValue.article_id, SketchValue.week, SketchValue.value).where(
    SketchValue.week.in_(bindparam("weeks", expanding=True)),
    SketchValue.value.in_(bindparam("values", expanding=True)),
)
_SKETCHES = select(
    SketchRow.article_id, SketchRow.story_id, SketchRow.shingles, SketchRow.smallest
).where(SketchRow.article_id.in_(bindparam("numbers", expanding=True)))
_ADD_STORY = insert(Story).returning(Story.id)
_ADD_SKETCH = insert(SketchRow)
_ADD_VALUES = insert(SketchValue)


@dataclass(frozen=True, slots=True)
class _Known:
    article_id: int
    story_id: int
    sketch: Sketch


def story_of(connection: Connection, article_id: int, minute: int, words: Sequence[str]) -> int:
    """The number of the story of an article that has none yet; its text's folded words are
    put into the index."""
    made = sketch(words)
    if made is None:
        return _found_story(connection, minute)
    week = minute // _MINUTES_PER_WEEK
    near = _near(connection, week, made)
    alike = _alike(connection, made, near)
    story = alike[0].story_id if alike else _found_story(connection, minute)
    _keep(connection, article_id, story, week, made, near)
    return story


def moved_story(
    connection: Connection, article_id: int, minute: int, words: Sequence[str], story: int
) -> int:
    """As `story_of`, for an article whose text or time has changed. It stays in its story if it
    is alone there or still like another article of it."""
    forget(connection, article_id)
    made = sketch(words)
    alone = not _others(connection, story)
    if made is None:
        return story if alone else _found_story(connection, minute)
    week = minute // _MINUTES_PER_WEEK
    near = _near(connection, week, made)
    alike = _alike(connection, made, near)
    stays = (alone and not alike) or any(known.story_id == story for known in alike)
    if not stays:
        story = alike[0].story_id if alike else _found_story(connection, minute)
    _keep(connection, article_id, story, week, made, near)
    return story


def forget(connection: Connection, article_id: int) -> None:
    """Takes an article's text out of the index."""
    query = _SKETCHES.add_columns(SketchRow.week)
    for row in connection.execute(query, {"numbers": [article_id]}).all():
        values = Sketch.from_bytes(row.shingles, row.smallest).index
        connection.execute(
            delete(SketchValue).where(
                SketchValue.week == row.week,
                SketchValue.value.in_(values),
                SketchValue.article_id == article_id,
            )
        )
        connection.execute(delete(SketchRow).where(SketchRow.article_id == article_id))


def _found_story(connection: Connection, minute: int) -> int:
    day = date.fromordinal(minute // (24 * 60) + 1)
    return connection.execute(_ADD_STORY, {"founded_on": day}).scalar_one()


def _others(connection: Connection, story: int) -> bool:
    query = select(SketchRow.article_id).where(SketchRow.story_id == story).limit(1)
    return connection.execute(query).first() is not None


def _near(connection: Connection, week: int, made: Sketch) -> list[tuple[int, int, int]]:
    """The articles that share a value: article, week, value."""
    asked = {"weeks": [week - 1, week, week + 1], "values": made.index}
    return [(number, week, value) for number, week, value in connection.execute(_NEAR, asked)]


def _alike(
    connection: Connection, made: Sketch, near: Sequence[tuple[int, int, int]]
) -> list[_Known]:
    """The near ones that tell the same story, the most alike first, then the oldest."""
    if not near:
        return []
    shared = Counter(article_id for article_id, _, _ in near)
    nearest = sorted(shared, key=lambda number: (-shared[number], number))[:MOST_COMPARED]
    known = [
        _Known(row.article_id, row.story_id, Sketch.from_bytes(row.shingles, row.smallest))
        for row in connection.execute(_SKETCHES, {"numbers": nearest})
    ]
    alike = [(same_story(made, other.sketch), other) for other in known]
    alike.sort(key=lambda pair: (-pair[0], pair[1].article_id))
    return [other for resemblance, other in alike if resemblance > 0]


def _keep(
    connection: Connection,
    article_id: int,
    story: int,
    week: int,
    made: Sketch,
    near: Sequence[tuple[int, int, int]],
) -> None:
    row = {
        "article_id": article_id,
        "story_id": story,
        "week": week,
        "shingles": made.shingles,
        "smallest": made.to_bytes(),
    }
    connection.execute(_ADD_SKETCH, row)
    full = Counter(value for _, found_in, value in near if found_in == week)
    values = [value for value in made.index if full[value] < MOST_UNDER_A_VALUE]
    if values:
        connection.execute(
            _ADD_VALUES,
            [{"week": week, "value": value, "article_id": article_id} for value in values],
        )
