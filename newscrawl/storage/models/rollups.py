"""The tables that answer questions: all of them are derived from articles and mentions.

`newscrawl.storage.articles` updates them in the transaction of the article itself; `newscrawl db
rebuild` rebuilds them. An article counts here by the rules of `newscrawl.storage.queries`; one that
does not has no row in any of these tables but `boilerplate`.

A `minute` is the number of minutes since the calendar's beginning (year 1, UTC; never below 0):
that of publication, or of the first fetch if the page has no date. Language and section are "" if
they are unknown. Only the article's id is a foreign key: the other columns were checked when the
article was stored.
"""

from datetime import date

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base, BigKey

# SQLite stores the rows in the order of their key: a company's appearances, oldest first, are one
# stretch of the file.
_BY_KEY = {"sqlite_with_rowid": False}


def _article_key(*, primary_key: bool = True, index: bool = False) -> Mapped[int]:
    return mapped_column(
        BigKey, ForeignKey("articles.id", ondelete="CASCADE"), primary_key=primary_key, index=index
    )


class CountedArticle(Base):
    """An article that is counted, with the number of companies' occurrences in it."""

    __tablename__ = "counted_articles"
    __table_args__ = (Index(None, "story_id"), _BY_KEY)

    minute: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    article_id: Mapped[int] = _article_key(index=True)
    source_id: Mapped[int]
    language: Mapped[str]
    section: Mapped[str]
    limited: Mapped[int]
    in_title: Mapped[int]
    in_body: Mapped[int]
    story_id: Mapped[int] = mapped_column(BigKey)


class Appearance(Base):
    """A company in an article that is counted, with the number of its occurrences."""

    __tablename__ = "appearances"
    __table_args__ = (_BY_KEY,)

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    minute: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    article_id: Mapped[int] = _article_key(index=True)
    source_id: Mapped[int]
    language: Mapped[str]
    section: Mapped[str]
    limited: Mapped[int]
    in_title: Mapped[int]
    in_body: Mapped[int]
    story_id: Mapped[int] = mapped_column(BigKey)


class Boilerplate(Base):
    """How often a company is named on an article's page outside the article."""

    __tablename__ = "boilerplate"
    __table_args__ = (_BY_KEY,)

    article_id: Mapped[int] = _article_key()
    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int]


class _Sums:
    """The counts of a day: `articles` with a mention, of them `limited`, occurrences, those in
    boilerplate and the number of their pages.

    A row may be of boilerplate alone, with 0 `articles`: the days with a mention are those with
    `articles > 0`.
    """

    articles: Mapped[int]
    limited: Mapped[int]
    in_title: Mapped[int]
    in_body: Mapped[int]
    boilerplate: Mapped[int]
    boilerplate_articles: Mapped[int]


class DailyTotal(_Sums, Base):
    """All sources and companies on a day; `read` are all articles that count."""

    __tablename__ = "daily_totals"

    day: Mapped[date] = mapped_column(primary_key=True)
    read: Mapped[int]


class DailySource(_Sums, Base):
    """A source's articles in one language on a day; `read` as in DailyTotal."""

    __tablename__ = "daily_sources"
    __table_args__ = (_BY_KEY,)

    source_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    day: Mapped[date] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    read: Mapped[int]


class DailyCompany(_Sums, Base):
    """A company on a day, in all sources."""

    __tablename__ = "daily_companies"
    __table_args__ = (Index(None, "day"), _BY_KEY)

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    day: Mapped[date] = mapped_column(primary_key=True)


class DailyCompanySource(_Sums, Base):
    """A company in a source's articles of one language on a day."""

    __tablename__ = "daily_company_sources"
    __table_args__ = (_BY_KEY,)

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    source_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    day: Mapped[date] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)


class Story(Base):
    """A text that many articles may contain, with small edits."""

    __tablename__ = "stories"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    founded_on: Mapped[date]


class Sketch(Base):
    """The sketch of an article's text, by which near duplicates are found (storage/words.py)."""

    __tablename__ = "sketches"

    article_id: Mapped[int] = _article_key()
    story_id: Mapped[int] = mapped_column(BigKey)
    week: Mapped[int]
    shingles: Mapped[int]
    smallest: Mapped[bytes] = mapped_column(LargeBinary)


class SketchValue(Base):
    """The few values of a sketch under which it is indexed; those of a week are stored together."""

    __tablename__ = "sketch_values"
    __table_args__ = (_BY_KEY,)

    week: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    value: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    article_id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)


class MentionChange(Base):
    """By how much a company's occurrences changed with an article's version `number`."""

    __tablename__ = "mention_changes"
    __table_args__ = (_BY_KEY,)

    article_id: Mapped[int] = _article_key()
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    difference: Mapped[int]
