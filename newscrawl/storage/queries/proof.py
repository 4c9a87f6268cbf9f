"""The proof of a number: the articles behind it with the sentences of each mention, what was left
out of it and why, and the coverage of the sources that were asked."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, case, func, literal, literal_column, not_, select
from sqlalchemy.orm import Session, aliased

from newscrawl.items import Section, Versions
from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.engine import one_of
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.models import (
    Appearance,
    Article,
    Company,
    Correction,
    CountedArticle,
    Mention,
    QuarantinedRevision,
    SavedQuery,
    Source,
)
from newscrawl.storage.models.articles import UNCOUNTED
from newscrawl.storage.ownership import Tenure
from newscrawl.storage.queries.article_details import (
    VERSIONS,
    MarkedMention,
    versions_by_article,
)
from newscrawl.storage.queries.article_lists import (
    MAX_SNIPPET,
    ArticleRow,
    Snippet,
    article_rows,
    sentence_around,
    snippet_of,
    texts_of,
)
from newscrawl.storage.queries.completeness import Completeness, completeness_by
from newscrawl.storage.queries.doubtful_words import (
    DoubtfulWords,
    Spellings,
    doubtful_in,
    find_doubtful_words,
)
from newscrawl.storage.queries.questions import ANY, about, question
from newscrawl.storage.queries.rollup_tables import (
    CompanyDays,
    RollupTable,
    company_days,
    counts_on,
    rollup_table,
)
from newscrawl.storage.query_matches import parsed
from newscrawl.storage.scope import (
    UNKNOWN,
    By,
    Group,
    Scope,
    articles_within,
    between,
    stored_language,
)
from newscrawl.storage.search_language import Facts, spans

__all__ = ["Counted", "LeftOut", "Proof", "ProvenArticle", "ProvenSentence", "SourceRead", "proof"]

# What a number counts: articles with a mention, mentions, those in headlines or bodies, stories;
# all articles that were read; mentions in menus and teasers; articles with doubtful words.
Counted = Literal[
    "articles", "mentions", "headline", "body", "stories", "read", "boilerplate", "doubtful"
]
LeftOutReason = Literal[
    "boilerplate", "paywalled", "disallowed", "doubtful", "corrected", "quarantined", "kind"
]

# Ours: sentences of an article that are listed; `ProvenArticle.mentions` counts those of all.
MAX_SENTENCES = 50
# Ours: characters that a sentence which is cut shows from its first mention on, at least.
_SHOWN = MAX_SNIPPET // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenSentence:
    """A sentence with the mentions in it, each with the rule that found it and its score."""

    snippet: Snippet
    mentions: tuple[MarkedMention, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenArticle:
    """An article behind a number. The sum of `number` over all articles is the number: 1 for
    articles, the occurrences for mentions; of a story's copies, the first one has 1."""

    article: ArticleRow
    number: int = field(metadata=about("how much it adds to the number"))
    mentions: int = field(metadata=about("mentions of the company in it", shown="nowhere"))
    sentences: tuple[ProvenSentence, ...]
    boilerplate: tuple[tuple[str, int], ...] = field(
        default=(), metadata=about("companies elsewhere on its page, which are not counted")
    )
    versions: Versions = field(default_factory=Versions, metadata=about(VERSIONS, shown="nowhere"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What a number leaves out for a reason; `mentions` is null if it can't be known."""

    reason: LeftOutReason = field(
        metadata=about(
            'in menus and teasers ("boilerplate"); articles of which only headline and standfirst '
            'may be read and do not name the company, though the rest might ("paywalled", '
            '"disallowed"); articles that might count, whose only names of the company lack '
            'support or are part of something else ("doubtful"); mentions that a person called '
            'wrong ("corrected"); versions in the quarantine that name it ("quarantined"); pages '
            'that are not articles ("kind")'
        )
    )
    articles: int
    mentions: int | None
    words: tuple[str, ...] = field(
        default=(), metadata=about("the doubtful words, most frequent first")
    )
    since: date | None = field(
        default=None,
        metadata=about("doubtful words were searched from this day on; null for all days"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRead:
    """How completely a source was read in the scope."""

    source: str
    name: str
    completeness: Completeness


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A number and what proves it. `total` are the articles behind it, of which `articles` has
    those from `offset` on."""

    counted: Counted
    company: str | None
    beside: str | None
    number: int
    total: int
    articles: tuple[ProvenArticle, ...]
    left_out: tuple[LeftOut, ...]
    coverage: tuple[SourceRead, ...]
    methods: tuple[tuple[str, int], ...] = field(
        metadata=about("the methods of extraction of the articles that are listed")
    )
    versions: Versions = field(metadata=about("what is in use now"))

    @property
    def article_versions(self) -> Mapping[Versions, int]:
        """Return the versions that found the articles that are listed, most first."""
        return dict(Counter(one.versions for one in self.articles).most_common())


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProofTarget:
    """What a number is of. `split` and `without` leave out groups: "others" of a chart are the
    articles of all sources but those that have a part of their own."""

    counted: Counted
    company: str | None
    beside: str | None
    scope: Scope
    split: Group | None
    without: tuple[str, ...]

    def check(self) -> None:
        """Raise QuestionError for parts that don't go together."""
        if self.counted == "read" and self.company is not None:
            raise QuestionError("articles read are those of no company: leave company out")
        if self.beside is not None and (
            self.company is None or self.counted in {"boilerplate", "doubtful"}
        ):
            raise QuestionError("beside needs a company, and articles or mentions of it")
        if self.counted == "doubtful" and self.company is None:
            raise QuestionError("doubtful words are those of a company: give one")
        if self.without and self.split in {None, "section"}:
            raise QuestionError("without needs split: source, country, language, group or tier")


@question("/proof")
def proof(  # noqa: PLR0913 - one for each part of a number
    database: Database,
    versions: Versions = Versions(),  # noqa: B008 - frozen
    *,
    counted: Counted = "articles",
    company: str | None = None,
    beside: str | None = None,
    split: Group | None = None,
    without: Sequence[str] = (),
    scope: Scope = ANY,
    limit: int = 20,
    offset: int = 0,
) -> Proof:
    """Return what is behind a number: its articles, the newest first, with the sentences of each
    mention, what it leaves out, and the coverage of the sources.

    `beside` is another company that the articles name, too. `without` leaves out sources,
    countries, languages, groups or tiers, whichever `split` is. Stories are listed with their
    copies together. Raise QuestionError for parts that don't go together.
    """
    asked = _ProofTarget(
        counted=counted,
        company=company,
        beside=beside,
        scope=scope,
        split=split,
        without=tuple(without),
    )
    asked.check()
    with database.reading() as session:
        listed = _article_rows(session, asked)
        number, total = session.execute(select(func.sum(listed.c.number), func.count())).one()
        page = select(listed.c.article_id, listed.c.number).limit(limit).offset(offset)
        newest_first = (column.desc() for column in _order(listed, counted))
        page_numbers: dict[int, int] = dict(session.execute(page.order_by(*newest_first)).all())
        articles = _articles(session, asked, page_numbers)
        return Proof(
            counted=counted,
            company=company,
            beside=beside,
            number=int(number or 0),
            total=total,
            articles=articles,
            left_out=tuple(_left_out(session, asked)),
            coverage=_coverage(session, asked),
            methods=_methods(session, [one.article.number for one in articles]),
            versions=versions,
        )


# --- The articles ---


def _article_rows(session: Session, asked: _ProofTarget) -> Any:
    """Return the articles behind the number as a subquery, each with what it adds."""
    scope = asked.scope
    if asked.counted == "boilerplate":
        return _with_boilerplate(session, asked)
    if asked.counted == "doubtful":
        return _with_doubtful_words(session, asked)
    rollup = rollup_table(session, scope, by="hour", company=asked.company)
    table = rollup.table
    named = table.in_title + table.in_body
    numbers: dict[Counted, Any] = {
        "mentions": named,
        "headline": table.in_title,
        "body": table.in_body,
    }
    number = numbers.get(asked.counted, literal(1))
    query = rollup.select(table.article_id, number.label("number"), table.minute, table.story_id)
    if asked.counted in numbers:
        query = query.where(number > 0)
    elif asked.company is None and asked.counted != "read":
        query = query.where(named > 0)
    if asked.company is not None and asked.beside is not None:
        query = query.where(_names_beside(session, table, asked.company, asked.beside, scope))
    listed = query.where(*_left_in(rollup, asked)).subquery()
    return _first_of_stories(listed) if asked.counted == "stories" else listed


def _with_boilerplate(session: Session, asked: _ProofTarget) -> Any:
    """Boilerplate is kept by UTC days; section and zone are ignored."""
    scope = replace(asked.scope, section=None, zone="UTC")
    rollup = rollup_table(session, scope, by="hour", company=None)
    table, around = rollup.table, models.Boilerplate
    number = func.sum(around.number).label("number")
    key = table.article_id, table.minute, table.story_id
    query = rollup.select(table.article_id, number, table.minute, table.story_id)
    query = query.join(around, around.article_id == table.article_id).where(around.number > 0)
    if asked.company is not None:
        days = company_days(session, asked.company, scope)
        query = query.where(counts_on(around.company_id, table, days))
    return query.where(*_left_in(rollup, asked)).group_by(*key).subquery()


def _with_doubtful_words(session: Session, asked: _ProofTarget) -> Any:
    table, one = CountedArticle, literal(1).label("number")
    query = select(table.article_id, one, table.minute, table.story_id)
    return query.where(table.article_id.in_(_doubtful_words(session, asked).articles)).subquery()


def _doubtful_words(session: Session, asked: _ProofTarget) -> DoubtfulWords:
    """Return the doubtful words of the company. Articles of which only the headline is known are
    left out for that reason, whatever it says."""
    spellings = _spellings(asked)
    if spellings is None:
        return DoubtfulWords()
    rollup = rollup_table(session, asked.scope, by="hour", company=None)
    articles = rollup.select(rollup.table.article_id).where(rollup.table.limited == 0)
    eligible = articles.where(*_left_in(rollup, asked))
    return find_doubtful_words(session, spellings, asked.scope, eligible)


def _spellings(asked: _ProofTarget) -> Spellings | None:
    return None if asked.company is None else Spellings.of(asked.scope, asked.company)


def _names_beside(
    session: Session, table: Any, company: str, beside: str, scope: Scope
) -> ColumnElement[bool]:
    """Return the condition that an article names another company, too, as `co_mentions` counts."""
    other = aliased(Appearance)
    return (
        select(1)
        .where(
            other.article_id == table.article_id,
            counts_on(other.company_id, other, company_days(session, beside, scope)),
            counts_on(other.company_id, other, company_days(session, company, scope), negated=True),
        )
        .correlate(table)
        .exists()
    )


def _left_in(rollup: RollupTable, asked: _ProofTarget) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that leaves out the groups of `without`."""
    if not asked.without:
        return
    table = rollup.table
    if asked.split == "language":
        yield table.language.not_in([stored_language(one) for one in asked.without])
        return
    yield table.source_id.not_in(select(Source.id).where(_in_groups(asked)))


def _first_of_stories(listed: Any) -> Any:
    """Return the articles with 1 for the first one of each story, and 0 for its copies."""
    place = func.row_number().over(
        partition_by=listed.c.story_id, order_by=(listed.c.minute, listed.c.article_id)
    )
    newest = func.max(listed.c.minute).over(partition_by=listed.c.story_id)
    return select(
        listed.c.article_id,
        listed.c.story_id,
        listed.c.minute,
        case((place == 1, 1), else_=0).label("number"),
        newest.label("newest"),
    ).subquery()


def _order(listed: Any, counted: Counted) -> tuple[Any, ...]:
    """Return the columns by which articles are listed: the newest first, copies together."""
    columns = listed.c
    if counted == "stories":
        return columns.newest, columns.story_id, columns.number, columns.minute, columns.article_id
    return columns.minute, columns.article_id


def _articles(
    session: Session, asked: _ProofTarget, numbers: Mapping[int, int]
) -> tuple[ProvenArticle, ...]:
    company, scope = asked.company, asked.scope
    tenures = None if company is None else scope.tenures(company)
    rows = article_rows(session, list(numbers), tenures)
    around = _boilerplate_of(session, asked, rows)
    versions = versions_by_article(session, list(numbers))
    texts = {} if asked.counted in {"read", "boilerplate"} else texts_of(session, list(numbers))
    mentions = _marked_mentions(session, asked, rows, texts) if texts else {}
    return tuple(
        ProvenArticle(
            article=row,
            number=numbers[row.number],
            mentions=row.in_title + row.in_body,
            sentences=tuple(
                _sentences(row, texts.get(row.number, ""), mentions.get(row.number, ()))
            )[:MAX_SENTENCES],
            boilerplate=tuple(around[row.number]),
            versions=versions[row.number],
        )
        for row in rows
    )


def _marked_mentions(
    session: Session, asked: _ProofTarget, rows: Sequence[ArticleRow], texts: Mapping[int, str]
) -> dict[int, list[MarkedMention]]:
    """Return the mentions that are counted in each of the articles, or its doubtful words."""
    if asked.counted == "doubtful" and (spellings := _spellings(asked)) is not None:
        return doubtful_in(session, spellings, [row.number for row in rows])
    names = [name for name in (asked.company, asked.beside) if name is not None]
    shown = [tenure for name in names for tenure in asked.scope.tenures(name)]
    mentions = _mentions_of(session, rows, shown if names else None)
    if names:
        _add_matches(session, rows, texts, {one.company for one in shown}, mentions)
    return {key: _counted_mentions(found, asked.counted) for key, found in mentions.items()}


def _counted_mentions(mentions: Iterable[MarkedMention], counted: Counted) -> list[MarkedMention]:
    """Return the mentions that are counted: those in headlines or bodies, or all."""
    wanted = {"headline": "title", "body": "body"}.get(counted)
    return [one for one in mentions if wanted in {None, one.section}]


def _mentions_of(
    session: Session, rows: Sequence[ArticleRow], companies: Sequence[Tenure] | None
) -> dict[int, list[MarkedMention]]:
    """Return the mentions of the companies, or of all, in each of the articles."""
    query = (
        select(Mention, Company.name)
        .join(Company, Company.id == Mention.company_id)
        .where(Mention.article_id.in_([row.number for row in rows]))
        .order_by(Mention.start_offset, Mention.id)
    )
    if companies is not None:
        query = query.where(Company.name.in_({one.company for one in companies}))
    days = {row.number: row.day for row in rows}
    found: dict[int, list[MarkedMention]] = defaultdict(list)
    for mention, name in session.execute(query):
        day = days[mention.article_id]
        if companies is None or any(one.company == name and one.covers(day) for one in companies):
            found[mention.article_id].append(_mark(mention, name))
    return found


def _add_matches(
    session: Session,
    rows: Sequence[ArticleRow],
    texts: Mapping[int, str],
    names: Set[str],
    mentions: dict[int, list[MarkedMention]],
) -> None:
    """Add the places of the words of saved queries, by the rule "query"."""
    saved = select(Company.name, SavedQuery.text).join(Company, Company.id == SavedQuery.company_id)
    queries = session.execute(saved.where(Company.name.in_(names))).all()
    countries = dict(session.execute(select(Source.slug, Source.country)).all()) if queries else {}
    for name, text in queries:
        if (node := parsed(text)) is None:
            continue
        for row in rows:
            contents: dict[Section, str] = {"title": row.title or "", "body": texts[row.number]}
            facts = Facts(row.language or UNKNOWN, row.source, countries[row.source])
            for section, marks in spans(node, contents["title"], contents["body"], facts).items():
                mentions[row.number] += [
                    MarkedMention(
                        company=name,
                        section=section,
                        start=start,
                        end=end,
                        surface=contents[section][start:end],
                        rule="query",
                    )
                    for start, end in marks
                ]
    for found in mentions.values():
        found.sort(key=lambda one: (one.start, one.end))


def _mark(mention: Mention, company: str) -> MarkedMention:
    section: Section = "title" if mention.section == "title" else "body"
    return MarkedMention(
        company=company,
        section=section,
        start=mention.start_offset,
        end=mention.end_offset,
        surface=mention.surface,
        rule=mention.rule,
        score=mention.score,
    )


def _sentences(
    row: ArticleRow, text: str, mentions: Sequence[MarkedMention]
) -> Iterator[ProvenSentence]:
    """Yield the headline, then the sentences of the body; each mention is in one of them."""
    for section, content in (("title", row.title or ""), ("body", text)):
        waiting = [one for one in mentions if one.section == section]
        while waiting:
            first = waiting[0]
            span = sentence_around(content, (first.start, first.end))
            if section == "title":
                span = 0, len(content)
            is_cut = span[1] - span[0] > MAX_SNIPPET
            end = min(span[1], first.start + _SHOWN) if is_cut else span[1]
            inside = [one for one in waiting if one.end <= end] or [first]
            marks = [(one.start, one.end) for one in inside]
            snippet = snippet_of(first.section, content, span, marks)
            yield ProvenSentence(snippet=snippet, mentions=tuple(inside))
            waiting = [one for one in waiting if one not in inside]


def _boilerplate_of(
    session: Session, asked: _ProofTarget, rows: Sequence[ArticleRow]
) -> dict[int, list[tuple[str, int]]]:
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    if asked.counted != "boilerplate":
        return found
    table = models.Boilerplate
    query = (
        select(table.article_id, Company.name, table.number)
        .join(Company, Company.id == table.company_id)
        .where(table.article_id.in_([row.number for row in rows]), table.number > 0)
        .order_by(table.number.desc(), Company.name)
    )
    days = {row.number: row.day for row in rows}
    tenures = None if asked.company is None else asked.scope.tenures(asked.company)
    for article, name, number in session.execute(query):
        day = days[article]
        if tenures is None or any(one.company == name and one.covers(day) for one in tenures):
            found[article].append((name, number))
    return found


def _methods(session: Session, numbers: Sequence[int]) -> tuple[tuple[str, int], ...]:
    query = (
        select(Article.method, func.count())
        .where(Article.id.in_(numbers))
        .group_by(Article.method)
        .order_by(func.count().desc(), Article.method)
    )
    return tuple((method, number) for method, number in session.execute(query))


# --- What was left out ---


def _left_out(session: Session, asked: _ProofTarget) -> Iterator[LeftOut]:
    """Yield what the number leaves out, by reason; nothing for a reason without an article."""
    if asked.counted not in {"boilerplate", "doubtful"}:
        mentions, articles = _boilerplate_sums(session, asked)
        if articles:
            yield LeftOut(reason="boilerplate", articles=articles, mentions=mentions)
    if asked.counted in {"read", "boilerplate", "doubtful"}:
        return
    doubtful = _doubtful_words(session, asked)
    if doubtful.articles or doubtful.since:
        yield LeftOut(
            reason="doubtful",
            articles=len(doubtful.articles),
            mentions=None,
            words=doubtful.spellings,
            since=doubtful.since,
        )
    for access, articles in _count_headline_only(session, asked):
        yield LeftOut(
            reason="paywalled" if access == "paywalled" else "disallowed",
            articles=articles,
            mentions=None,
        )
    days = None if asked.company is None else company_days(session, asked.company, asked.scope)
    articles, mentions = _corrected_mentions(session, asked)
    if articles:
        yield LeftOut(reason="corrected", articles=articles, mentions=mentions)
    if quarantined := _count_quarantined(session, asked):
        yield LeftOut(reason="quarantined", articles=len(quarantined), mentions=sum(quarantined))
    articles, mentions = _count_of_other_kinds(session, asked, days)
    if articles:
        yield LeftOut(reason="kind", articles=articles, mentions=mentions)


def _boilerplate_sums(session: Session, asked: _ProofTarget) -> tuple[int, int]:
    """Return the numbers of mentions in menus and teasers, and of the articles beside them; those
    of one company from its daily sums."""
    if asked.company is None or asked.scope.tenures(asked.company) == [Tenure(asked.company)]:
        scope = replace(asked.scope, section=None, zone="UTC")
        by: By | None = "source" if asked.without else None
        rollup = rollup_table(session, scope, by=by, company=asked.company)
        sums = func.sum(rollup.table.boilerplate), func.sum(rollup.table.boilerplate_articles)
        query = rollup.select(*sums).where(*_left_in(rollup, asked))
    else:
        around = _with_boilerplate(session, asked)
        query = select(func.sum(around.c.number), func.count())
    mentions, articles = session.execute(query).one()
    return int(mentions or 0), int(articles or 0)


def _count_headline_only(session: Session, asked: _ProofTarget) -> list[tuple[str, int]]:
    """Return the articles, by access, of which headline and standfirst alone are known and do not
    name the company."""
    rollup = rollup_table(session, asked.scope, by="hour", company=None)
    table = rollup.table
    query = (
        rollup.select(Article.access, func.count())
        .join(Article, Article.id == table.article_id)
        # As the index of limited articles has it: no parameter.
        .where(table.limited > literal_column("0"), *_left_in(rollup, asked))
    )
    if asked.company is None:
        query = query.where(table.in_title + table.in_body == 0)
    else:
        named = aliased(Appearance)
        days = company_days(session, asked.company, asked.scope)
        names = named.article_id == table.article_id, counts_on(named.company_id, named, days)
        query = query.where(~select(1).where(*names).correlate(table).exists())
    query = query.group_by(Article.access).order_by(Article.access)
    return [(access, articles) for access, articles in session.execute(query)]


def _corrected_mentions(session: Session, asked: _ProofTarget) -> tuple[int, int]:
    """Return the numbers of articles and of mentions that people have called wrong."""
    query = select(Correction.article_id, func.count()).group_by(Correction.article_id)
    query = query.where(Correction.kind == "wrong", Correction.undone_at.is_(None))
    if asked.company is not None:
        query = query.where(Correction.company.in_(asked.scope.members(asked.company)))
    mentions = dict(session.execute(query).all())
    left = _within(session, asked, mentions)
    return len(left), sum(mentions[number] for number in left)


def _count_quarantined(session: Session, asked: _ProofTarget) -> list[int]:
    """Return the mentions of the company in each quarantined version that has one."""
    query = select(QuarantinedRevision.article_id, QuarantinedRevision.mentions)
    members = None if asked.company is None else set(asked.scope.members(asked.company))
    found = [
        (article, sum(members is None or one.get("company") in members for one in mentions))
        for article, mentions in session.execute(
            query.where(QuarantinedRevision.state == "pending")
        )
    ]
    naming = [(article, number) for article, number in found if number]
    left = _within(session, asked, [article for article, _ in naming], every_kind=True)
    return [number for article, number in naming if article in left]


def _count_of_other_kinds(
    session: Session, asked: _ProofTarget, days: Sequence[CompanyDays] | None
) -> tuple[int, int]:
    """Return the numbers of stored pages that do not count as articles but name the company, and of
    its mentions on them."""
    uncounted = select(Article.id).where(UNCOUNTED, *between(Article.day, asked.scope.widened()))
    numbers = _within(session, asked, session.scalars(uncounted).all(), every_kind=True)
    if not numbers:
        return 0, 0
    query = select(func.count(Mention.article_id.distinct()), func.count(Mention.id))
    query = query.where(one_of(Mention.article_id, "numbers"))
    if days is not None:
        query = query.where(Mention.company_id.in_({one.number for one in days}))
    articles, mentions = session.execute(query, {"numbers": list(numbers)}).one()
    return articles, mentions


def _within(
    session: Session, asked: _ProofTarget, articles: Collection[int], *, every_kind: bool = False
) -> set[int]:
    """Return those of the articles that are in the scope.

    Where few articles have a property they are read first, by it alone: a planner would begin with
    all articles of the period, or with all mentions.
    """
    if not articles:
        return set()
    query = articles_within(
        select(Article.id).where(one_of(Article.id, "numbers")), asked.scope, every_kind=every_kind
    )
    query = query.where(*_articles_left_in(asked))
    return {*session.scalars(query, {"numbers": list(articles)})}


def _articles_left_in(asked: _ProofTarget) -> Iterator[ColumnElement[bool]]:
    """Yield the condition of `_left_in` for queries of articles with their sources."""
    if not asked.without:
        return
    if asked.split == "language":
        languages = [stored_language(one) for one in asked.without]
        yield func.coalesce(Article.language, "").not_in(languages)
        return
    yield not_(_in_groups(asked))


def _in_groups(asked: _ProofTarget) -> ColumnElement[bool]:
    """Return the condition that a source is in one of the groups of `without`."""
    if asked.split == "country":
        return and_(Source.country.in_(asked.without))
    slugs = set(asked.without)
    if asked.split in {"group", "tier"}:
        groups = asked.scope.sources_by(asked.split)
        slugs = {slug for group in asked.without for slug in groups.get(group, ())}
    return and_(Source.slug.in_(sorted(slugs)))


# --- The sources ---


def _coverage(session: Session, asked: _ProofTarget) -> tuple[SourceRead, ...]:
    """Return how the sources were read, without those that the number leaves out; a source may be
    written in several languages."""
    query = select(Source.slug, Source.name)
    if asked.without and asked.split != "language":
        query = query.where(not_(_in_groups(asked)))
    names = dict(session.execute(query).all())
    return tuple(
        SourceRead(source=slug, name=names[slug], completeness=known)
        for slug, known in completeness_by(session, "source", asked.scope).items()
        if slug in names
    )
