"""The tables of articles: sources, runs, articles with their addresses and revisions, mentions and
their corrections, coverage, and the quarantine.

An article is one text of one source. All its addresses are in `article_urls`; replaced texts are in
`revisions`, versions that were not applied in `quarantine`; `coverage` has the state of each source
and day, which distinguishes a day without mentions from a day without a crawl.

The tables from `counted_articles` on answer questions: all of them are derived from articles and
mentions. `newscrawl.storage.articles` updates them in the transaction of the article itself;
`newscrawl db rebuild` rebuilds them. An article counts here by the rules of
`newscrawl.storage.queries`; one that does not has no row in any of these tables but `boilerplate`.

A `minute` is the number of minutes since the calendar's beginning (year 1, UTC; never below 0):
that of publication, or of the first fetch if the page has no date. Language and section are "" if
they are unknown. Only the article's id is a foreign key: the other columns were checked when the
article was stored.
"""

from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Text,
    TextClause,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from newscrawl.items import Section


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime; stored as UTC even by SQLite, which has no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"time without a zone: {value.isoformat()}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# SQLite numbers rows itself only if the key is declared INTEGER.
BigKey = BigInteger().with_variant(Integer(), "sqlite")


class Base(DeclarativeBase):
    """Constraints are named by rule, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it off the class
        str: Text(),
        datetime: UtcDateTime(),
        list[str]: JSON(),
        dict[str, Any]: JSON(),
        dict[str, int]: JSON(),
        list[dict[str, Any]]: JSON(),
    }


def partial_index(
    name: str | None, *columns: str, where: TextClause, unique: bool = False
) -> Index:
    """Return an index of the rows for which a condition holds."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


def of_article(**more: Any) -> Mapped[int]:
    """Return the column of an article's id, which is deleted with it."""
    return mapped_column(BigKey, ForeignKey("articles.id", ondelete="CASCADE"), **more)


# Databases use a partial index only for exactly this text: the few articles of which headline and
# standfirst alone are known, and the few stored pages that don't count as articles
# (COUNTED_KINDS of storage/documents.py).
LIMITED = text("limited > 0")
UNCOUNTED = text("access = 'open' AND kind NOT IN ('article', 'live', 'gallery', 'video')")


class Source(Base):
    """A news site."""

    __tablename__ = "sources"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    country: Mapped[str]
    language: Mapped[str]
    home: Mapped[str]
    registered_at: Mapped[datetime]


class Run(Base):
    """One crawl of one source. `finished_at` stays empty if the crawl was killed; `versions` found
    its articles and mentions (newscrawl.items.Versions)."""

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), index=True)
    started_at: Mapped[datetime] = mapped_column(index=True)
    finished_at: Mapped[datetime | None]
    reason: Mapped[str | None]
    counts: Mapped[dict[str, Any] | None]
    versions: Mapped[dict[str, Any] | None]


class Company(Base):
    """A company that was mentioned at least once, by its name in the registry; or a saved query."""

    __tablename__ = "companies"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)


class Article(Base):
    """An article in its newest version.

    `day` is the UTC day of publication, or of the first fetch if the page has no date: the day by
    which articles are counted. `content_hash` distinguishes a revision from an unchanged article,
    `fingerprint` identifies the same text under another URL.
    """

    __tablename__ = "articles"
    __table_args__ = (
        Index(None, "source_id", "fingerprint"),
        Index(None, "source_id", "day"),
        Index(None, "day"),
        partial_index("ix_articles_uncounted", "day", where=UNCOUNTED),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"), index=True)
    url: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str | None]
    text: Mapped[str]
    authors: Mapped[list[str]]
    published_at: Mapped[datetime | None]
    modified_at: Mapped[datetime | None]
    day: Mapped[date]
    language: Mapped[str | None]
    section: Mapped[str | None]
    site_name: Mapped[str | None]
    image: Mapped[str | None]
    paywalled: Mapped[bool | None]
    access: Mapped[str]
    kind: Mapped[str]
    method: Mapped[str]
    confidence: Mapped[float]
    content_hash: Mapped[str]
    fingerprint: Mapped[str | None]
    revision: Mapped[int]
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    revised_at: Mapped[datetime | None]


class ArticleUrl(Base):
    """A URL of an article; its canonical one is among them."""

    __tablename__ = "article_urls"

    url: Mapped[str] = mapped_column(primary_key=True)
    article_id: Mapped[int] = of_article(index=True)


class Revision(Base):
    """A version of an article that has been replaced; the newest one is in `articles`.

    `facts` are its other columns there, such as language and authors, as JSON; they are empty for
    versions that were replaced before facts were stored.
    """

    __tablename__ = "revisions"
    __table_args__ = (UniqueConstraint("article_id", "number"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    article_id: Mapped[int] = of_article()
    number: Mapped[int]
    title: Mapped[str | None]
    text: Mapped[str]
    access: Mapped[str]
    content_hash: Mapped[str]
    seen_at: Mapped[datetime]
    replaced_at: Mapped[datetime]
    facts: Mapped[dict[str, Any] | None]


class Mention(Base):
    """One occurrence of a company; offsets count characters of the title or the text, `rule`
    names the rule that found it, `score` the probability that it is right (null: stored without
    one)."""

    __tablename__ = "mentions"
    __table_args__ = (Index(None, "company_id", "article_id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    article_id: Mapped[int] = of_article(index=True)
    company_id: Mapped[int] = mapped_column(ForeignKey("companies.id"))
    section: Mapped[Section] = mapped_column(Text)
    start: Mapped[int] = mapped_column("start_offset", key="start")
    end: Mapped[int] = mapped_column("end_offset", key="end")
    surface: Mapped[str]
    rule: Mapped[str]
    score: Mapped[float | None]


class Correction(Base):
    """A person's correction: a mention is wrong, or one was missed here.

    The offsets are those of its place in the present text, or in the last one that had it;
    `sentence` is the sentence around it when it was made, and begins `sentence_offset` characters
    before it. `replaced` are the matcher's mentions that it replaces. An undone correction stays as
    a record of who undid it.
    """

    __tablename__ = "corrections"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    article_id: Mapped[int] = of_article(index=True)
    kind: Mapped[str]
    company: Mapped[str]
    section: Mapped[Section] = mapped_column(Text)
    surface: Mapped[str]
    sentence: Mapped[str]
    made_by: Mapped[str]
    state: Mapped[str]
    start: Mapped[int] = mapped_column("start_offset", key="start")
    end: Mapped[int] = mapped_column("end_offset", key="end")
    sentence_offset: Mapped[int]
    made_at: Mapped[datetime]
    replaced: Mapped[list[dict[str, Any]]]
    undone_by: Mapped[str | None]
    undone_at: Mapped[datetime | None]


class Coverage(Base):
    """The state of a source on a day, after its crawls."""

    __tablename__ = "coverage"
    __table_args__ = (Index(None, "day", "state"),)

    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    state: Mapped[str]
    found: Mapped[int]
    stored: Mapped[int]
    note: Mapped[str]
    recorded_at: Mapped[datetime]


_PENDING = text("state = 'pending'")


class QuarantinedRevision(Base):
    """A version of an article that was not applied, for a `reason` of storage/quarantine.py.

    An article has one that is "pending", the newest; `first_seen_at` is the time of the first such
    version in a row, `times` their number. It ends as "superseded" (a good version came),
    "applied", "discarded" or "gone" (several articles have it); "replaced" is a text that an
    operator has replaced by an earlier version. A version that is not pending keeps its hash, so
    that a rejected text is not listed again, and no text; the first that is gone keeps it. A page
    without any article has an empty text, and can't be applied. `decided_by` is the name of who has
    applied, discarded or replaced it.

    `run_id` is not a foreign key: runs without articles are deleted earlier.
    """

    __tablename__ = "quarantine"
    __table_args__ = (
        partial_index("uq_quarantine_pending", "article_id", where=_PENDING, unique=True),
        Index(None, "article_id", "content_hash"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    article_id: Mapped[int] = of_article()
    run_id: Mapped[int]
    state: Mapped[str]
    reason: Mapped[str]
    note: Mapped[str]
    first_seen_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    times: Mapped[int]
    title: Mapped[str | None]
    text: Mapped[str]
    characters: Mapped[int]
    facts: Mapped[dict[str, Any]]
    mentions: Mapped[list[dict[str, Any]]]
    boilerplate: Mapped[dict[str, int]]
    content_hash: Mapped[str]
    fingerprint: Mapped[str | None]
    decided_by: Mapped[str | None]


# SQLite stores the rows in the order of their key: a company's appearances, oldest first, are
# adjacent in the file. In PostgreSQL the key of `appearances` has all columns, and that of
# `daily_company_sources` those of mentions, so that the index answers alone.
_BY_KEY = {"sqlite_with_rowid": False}


class CountedArticle(Base):
    """An article that is counted, with the number of companies' occurrences in it."""

    __tablename__ = "counted_articles"
    __table_args__ = (
        Index(None, "story_id"),
        partial_index("ix_counted_articles_limited", "minute", where=LIMITED),
        _BY_KEY,
    )

    minute: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    article_id: Mapped[int] = of_article(primary_key=True, index=True)
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
    # For co-mentions, PostgreSQL reads only this index. SQLite's indexes contain the key anyway.
    __table_args__ = (
        PrimaryKeyConstraint(
            *("company_id", "minute", "article_id"),
            postgresql_include=[
                *("source_id", "language", "section", "limited", "in_title", "in_body", "story_id")
            ],
        ),
        Index(None, "article_id", postgresql_include=["company_id", "minute"]),
        _BY_KEY,
    )

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    minute: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    article_id: Mapped[int] = of_article(primary_key=True)
    source_id: Mapped[int]
    language: Mapped[str]
    section: Mapped[str]
    limited: Mapped[int]
    in_title: Mapped[int]
    in_body: Mapped[int]
    story_id: Mapped[int] = mapped_column(BigKey)


class UnregisteredName(Base):
    """A name of an organisation that no registry lists, in an article; no count uses it.

    The newest articles of a name have the sentence, older ones "".
    """

    __tablename__ = "unregistered_names"
    __table_args__ = (_BY_KEY,)

    name: Mapped[str] = mapped_column(primary_key=True)
    article_id: Mapped[int] = of_article(primary_key=True, index=True)
    sentence: Mapped[str]


class SavedQuery(Base):
    """A search that counts like a company, under the number and the name of a row of `companies`.

    The matches of `version` are those that count, 0 before the first ones. While a new text is
    counted, it is `pending_text`: its matches have the next version, and `position` is the last key
    of the search index that was examined. New articles are matched with both texts.
    """

    __tablename__ = "saved_queries"

    company_id: Mapped[int] = mapped_column(
        ForeignKey("companies.id"), primary_key=True, autoincrement=False
    )
    text: Mapped[str]
    version: Mapped[int]
    pending_text: Mapped[str | None]
    position: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    changed_at: Mapped[datetime]
    changed_by: Mapped[str]


class QueryMatch(Base):
    """An article that a saved query matches, with the number of places of the query's words."""

    __tablename__ = "query_matches"
    __table_args__ = (_BY_KEY,)

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    article_id: Mapped[int] = of_article(primary_key=True, index=True)
    in_title: Mapped[int]
    in_body: Mapped[int]


class Boilerplate(Base):
    """How often a company is named on an article's page outside the article."""

    __tablename__ = "boilerplate"
    __table_args__ = (_BY_KEY,)

    article_id: Mapped[int] = of_article(primary_key=True)
    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int]


class _Hits:
    """The counts of a day: `articles` with a mention, of them `limited`, and occurrences."""

    articles: Mapped[int]
    limited: Mapped[int]
    in_title: Mapped[int]
    in_body: Mapped[int]


class _Sums(_Hits):
    """The counts of a day with occurrences in boilerplate and the number of their pages.

    A row may be of boilerplate alone, with 0 `articles`: the days with a mention are those with
    `articles > 0`.
    """

    boilerplate: Mapped[int] = mapped_column(sort_order=1)
    boilerplate_articles: Mapped[int] = mapped_column(sort_order=1)


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


class DailySection(_Hits, Base):
    """A source's articles of one section and language on a day; `read` as in DailyTotal."""

    __tablename__ = "daily_sections"
    __table_args__ = (_BY_KEY,)

    day: Mapped[date] = mapped_column(primary_key=True)
    source_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    language: Mapped[str] = mapped_column(primary_key=True)
    section: Mapped[str] = mapped_column(primary_key=True)
    read: Mapped[int]


class DailyCompany(_Sums, Base):
    """A company on a day, in all sources."""

    __tablename__ = "daily_companies"
    __table_args__ = (Index(None, "day"), _BY_KEY)

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    day: Mapped[date] = mapped_column(primary_key=True)


class DailyCompanySource(_Sums, Base):
    """A company in a source's articles of one language on a day; `articles` is 0 where only their
    menus and teasers mention it."""

    __tablename__ = "daily_company_sources"
    __table_args__ = (
        PrimaryKeyConstraint(
            *("company_id", "source_id", "day", "language"),
            postgresql_include=["articles", "limited", "in_title", "in_body"],
        ),
        _BY_KEY,
    )

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    source_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    day: Mapped[date] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)


class CompanySource(Base):
    """The first and the last day on which a source mentions a company."""

    __tablename__ = "company_sources"
    __table_args__ = (_BY_KEY,)

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    source_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    first_day: Mapped[date]
    last_day: Mapped[date]


class CompanyPair(Base):
    """Two companies, the one with the lower number first, in an article that is counted; without
    saved queries.

    An article of more than MAX_PAIRED companies (storage/rollups.py) has a row for each of them
    instead, whose `other_id` is 0. All columns are in the key, so that its index answers alone.
    There is no other index and no foreign key, which would slow down the storage of articles.
    """

    __tablename__ = "company_pairs"
    __table_args__ = (_BY_KEY,)

    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    other_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    minute: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    article_id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    limited: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    story_id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)


class Story(Base):
    """A text that several articles have, with small edits."""

    __tablename__ = "stories"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    founded_on: Mapped[date]


class Sketch(Base):
    """The sketch of an article's text, by which near duplicates are found (storage/words.py)."""

    __tablename__ = "sketches"

    article_id: Mapped[int] = of_article(primary_key=True)
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

    article_id: Mapped[int] = of_article(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    company_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    difference: Mapped[int]
