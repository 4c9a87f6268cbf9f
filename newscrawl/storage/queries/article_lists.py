"""Lists of articles and stories: the newest ones, and those behind a number."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice

from sqlalchemy import (
    BindParameter,
    Row,
    Select,
    bindparam,
    case,
    false,
    func,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.orm import Session

from newscrawl.items import Section, copy_fields
from newscrawl.storage.database import reads
from newscrawl.storage.documents import COUNTED_KINDS
from newscrawl.storage.mentions import STORED_TEXT, StoredText
from newscrawl.storage.models import (
    Appearance,
    Article,
    Company,
    CountedArticle,
    Mention,
    SavedQuery,
    Source,
)
from newscrawl.storage.queries.questions import ANY, about, question
from newscrawl.storage.queries.rollup_tables import company_days, counts_on, rollup_table
from newscrawl.storage.query_matches import parse_saved
from newscrawl.storage.scope import Scope, Tenure, day_of_minute
from newscrawl.storage.scope_conditions import articles_within
from newscrawl.storage.search_language import Facts, spans
from newscrawl.text import sentence_around, sentence_ends

__all__ = [
    "ArticleRow",
    "FoundArticle",
    "MarkedMention",
    "Snippet",
    "StoryRow",
    "articles",
    "articles_at",
    "company_articles",
    "newest_texts",
    "pair_articles",
    "stories",
]

# Ours: maximum number of a story's copies in a list.
MAX_COPIES = 200

# Ours, in characters: three lines of a list, and the part of them before the first mark.
MAX_SNIPPET = 280
_BEFORE = 80

Span = tuple[int, int]
# An article's number, a company or saved query, whether it is one, and occurrences.
_Named = Row[int, str, bool, int, int]

# Statements of each list, made once.
_NUMBERS: BindParameter[int] = bindparam("numbers", expanding=True)
_LISTED = (
    select(Article.id, Article.day, Article.url, Article.title, Article.published_at)
    .add_columns(Article.language, Article.access, Article.kind, Article.revision)
    .add_columns(Source.slug.label("source"), CountedArticle.story_id.label("story"))
    .join(Source, Source.id == Article.source_id)
    .outerjoin(CountedArticle, CountedArticle.article_id == Article.id)
    .where(Article.id.in_(_NUMBERS))
)
_NAMED = union_all(
    select(
        Mention.article_id,
        Company.name,
        false().label("is_query"),
        func.count(case((Mention.section == "title", 1))).label("in_title"),
        func.count(case((Mention.section == "body", 1))).label("in_body"),
    )
    .join(Company, Company.id == Mention.company_id)
    .where(Mention.article_id.in_(_NUMBERS))
    .group_by(Mention.article_id, Company.name),
    select(Appearance.article_id, Company.name, true(), Appearance.in_title, Appearance.in_body)
    .join(Company, Company.id == Appearance.company_id)
    .join(SavedQuery, SavedQuery.company_id == Appearance.company_id)
    .where(Appearance.article_id.in_(_NUMBERS)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleRow:
    """An article in a list. `in_title` and `in_body` count occurrences of the requested company, or
    of all companies."""

    number: int = field(metadata=about("its key in this database", shown="nowhere", json=False))
    day: date
    source: str
    in_title: int = field(metadata=about("occurrences in the headline", column="headline"))
    in_body: int = field(metadata=about("occurrences in the text", column="body"))
    url: str
    title: str | None
    published_at: datetime | None
    language: str | None
    access: str
    kind: str
    revision: int
    companies: tuple[str, ...]
    story: int | None = field(metadata=about("its story's number", shown="nowhere"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedMention:
    """A company at a place of an article; offsets count characters of its title or text."""

    company: str
    section: Section
    start: int
    end: int
    surface: str
    rule: str
    score: float | None = field(
        default=None,
        metadata=about("the probability that it is right; null if it was stored without one"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A piece of an article: untrusted plain text, which must be escaped in HTML."""

    section: Section
    text: str
    marks: tuple[tuple[int, int], ...] = field(
        metadata=about("start and end of each match, in characters of text")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundArticle:
    """An article with the sentences that match, the headline first."""

    article: ArticleRow
    snippets: tuple[Snippet, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryRow:
    """A story: the same text, with small edits, in several articles. Title and URL are those of its
    first article in scope."""

    story: int
    title: str | None
    url: str
    articles: int
    sources: int
    first_day: date
    last_day: date


@question("/articles")
def articles(
    session: Session,
    *,
    company: str | None = None,
    scope: Scope = ANY,
    limit: int = 50,
    offset: int = 0,
    every_kind: bool = False,
) -> list[ArticleRow]:
    """Return the newest articles first; with `every_kind` also pages that don't count."""
    numbers = _newest(session, company, scope, every_kind=every_kind)
    members = scope.tenures(company) if company is not None else None
    return article_rows(
        session, list(session.scalars(numbers.limit(limit).offset(offset))), members
    )


@question("/companies/{company}/articles")
def company_articles(
    session: Session,
    company: str,
    *,
    scope: Scope = ANY,
    limit: int = 50,
    offset: int = 0,
    each: int = 3,
) -> list[FoundArticle]:
    """Return the articles that mention a company, the newest first, each with up to `each` of the
    sentences that mention it; the marks are the counted mentions."""
    numbers = _newest(session, company, scope, every_kind=False).limit(limit).offset(offset)
    return _load_articles(session, session.scalars(numbers).all(), scope.tenures(company), each)


@reads
def articles_at(
    session: Session, urls: Sequence[str], companies: Sequence[str], *, scope: Scope, each: int
) -> list[FoundArticle]:
    """Return the articles with these canonical URLs, in this order, each with up to `each` of the
    sentences that mention the companies; those that are not stored are left out."""
    members = [tenure for company in companies for tenure in scope.tenures(company)]
    stored = session.execute(select(Article.url, Article.id).where(Article.url.in_(urls)))
    numbers = dict(stored.all())
    return _load_articles(session, [numbers[url] for url in urls if url in numbers], members, each)


@reads
def pair_articles(
    session: Session, company: str, other: str, *, scope: Scope, limit: int
) -> tuple[list[FoundArticle], int]:
    """Return the newest articles that mention both companies or groups, and the number of all.

    Each has a sentence that names both; if there is none, and the headline does not, one sentence
    for each.
    """
    members, members_beside = scope.tenures(company), scope.tenures(other)
    naming = select(Appearance.article_id).join(Company, Company.id == Appearance.company_id)
    numbers = _newest(session, company, scope, every_kind=False)
    (number,) = numbers.selected_columns
    is_beside = Company.name.in_(scope.members(other))
    keys = session.scalars(numbers.where(number.in_(naming.where(is_beside)))).all()
    rows = article_rows(session, keys[:limit], [*members, *members_beside])
    texts = texts_of(session, [row.number for row in rows])
    places, beside = (matches_in(session, rows, texts, some) for some in (members, members_beside))
    articles_of_both = [
        FoundArticle(
            article=row,
            snippets=_pair_snippets(
                row.title, texts[row.number], *(_marks(of[row.number]) for of in (places, beside))
            ),
        )
        for row in rows
    ]
    return articles_of_both, len(keys)


def _load_articles(
    session: Session, numbers: Sequence[int], members: Sequence[Tenure], each: int
) -> list[FoundArticle]:
    rows = article_rows(session, numbers, members)
    texts = texts_of(session, [row.number for row in rows])
    places = matches_in(session, rows, texts, members)
    return [
        FoundArticle(
            article=row,
            snippets=snippets(row.title, texts[row.number], _marks(places[row.number]), each),
        )
        for row in rows
    ]


def _marks(mentions: Iterable[MarkedMention]) -> dict[Section, list[Span]]:
    """Return the places of mentions in headline and text."""
    marks: dict[Section, list[Span]] = {"title": [], "body": []}
    for mention in mentions:
        marks[mention.section].append((mention.start, mention.end))
    return marks


@question("/stories")
def stories(
    session: Session,
    *,
    company: str | None = None,
    scope: Scope = ANY,
    limit: int = 20,
    least: int = 1,
) -> list[StoryRow]:
    """Return the stories of the scope that most articles report.

    Only stories with `least` articles in the scope are returned. With a company, only articles that
    mention it are counted.
    """
    rollup = rollup_table(session, scope, by=None, company=company, stories=True)
    table = rollup.table
    articles, newest = func.count(), func.max(table.minute)
    query = (
        rollup.select(
            table.story_id,
            articles,
            func.count(table.source_id.distinct()),
            func.min(table.minute),
            newest,
        )
        .group_by(table.story_id)
        .having(articles >= least)
        .order_by(articles.desc(), newest.desc(), table.story_id.desc())
        .limit(limit)
    )
    rows = session.execute(query).all()
    headline_query = (
        select(CountedArticle.story_id, Article.title, Article.url)
        .join(Article, Article.id == CountedArticle.article_id)
        .order_by(Article.id.desc())
    )
    firsts = {}
    for story, _, _, minute, _ in rows:
        first = CountedArticle.story_id == story, CountedArticle.minute == minute
        for key, headline, address in session.execute(headline_query.where(*first)):
            firsts[key] = (headline, address)
    return [
        StoryRow(
            story=story,
            title=firsts[story][0],
            url=firsts[story][1],
            articles=number,
            sources=sources,
            first_day=day_of_minute(first),
            last_day=day_of_minute(last),
        )
        for story, number, sources, first, last in rows
    ]


@reads
def newest_texts(
    session: Session, *, company: str, limit: int, naming: bool = False
) -> list[StoredText]:
    """Return the newest articles that count, the newest first, with the number of their mentions of
    the company; only those `naming` it, if set."""
    naming_it = select(Mention.article_id).join(Company).where(Company.name == company)
    in_article = naming_it.where(Mention.article_id == Article.id).with_only_columns(func.count())
    newest = (
        select(*STORED_TEXT, in_article.correlate(Article).scalar_subquery().label("known"))
        .where(or_(Article.kind.in_(COUNTED_KINDS), Article.access != "open"))
        .order_by(Article.day.desc(), Article.id.desc())
        .limit(limit)
    )
    if naming:
        newest = newest.where(Article.id.in_(naming_it))
    return [StoredText(**row) for row in session.execute(newest).mappings()]


def article_rows(
    session: Session, numbers: Sequence[int], companies: Sequence[Tenure] | None
) -> list[ArticleRow]:
    """Return the rows of these articles, in this order; occurrences are those of `companies`, which
    may be saved queries, or of all companies."""
    if not numbers:
        return []
    stored = {article.id: article for article in session.execute(_LISTED, {"numbers": numbers})}
    companies_by_article: dict[int, list[_Named]] = defaultdict(list)
    for naming in session.execute(_NAMED, {"numbers": numbers}):
        companies_by_article[naming.article_id].append(naming)
    rows = []
    for number in (number for number in numbers if number in stored):
        article, in_article = stored[number], companies_by_article[number]
        counted = [company for company in in_article if not company.is_query]
        if companies is not None:
            names = {company.company for company in companies if company.covers(article.day)}
            counted = [company for company in in_article if company.name in names]
        row = copy_fields(
            ArticleRow,
            article,
            number=number,
            companies=tuple(sorted({company.name for company in in_article})),
            in_title=sum(company.in_title for company in counted),
            in_body=sum(company.in_body for company in counted),
        )
        rows.append(row)
    return rows


def copies_of(session: Session, story: int) -> Sequence[int]:
    """Return the keys of a story's articles, the oldest first."""
    query = (
        select(CountedArticle.article_id)
        .where(CountedArticle.story_id == story)
        .order_by(CountedArticle.minute, CountedArticle.article_id)
        .limit(MAX_COPIES)
    )
    return session.scalars(query).all()


def _newest(
    session: Session, company: str | None, scope: Scope, *, every_kind: bool
) -> Select[int]:
    if every_kind:
        moment = func.coalesce(Article.published_at, Article.first_seen_at)
        query = articles_within(select(Article.id).select_from(Article), scope, every_kind=True)
        if company is not None:
            days = company_days(session, company, scope)
            # Of saved queries, there are only appearances.
            naming = (
                select(table.article_id)
                .join(Article, Article.id == table.article_id)
                .where(counts_on(table.company_id, Article, days))
                for table in (Mention, Appearance)
            )
            query = query.where(or_(*map(Article.id.in_, naming)))
        return query.order_by(Article.day.desc(), moment.desc(), Article.id.desc())
    rollup = rollup_table(session, scope, by="hour", company=company)
    table = rollup.table
    return rollup.select(table.article_id).order_by(table.minute.desc(), table.article_id.desc())


def texts_of(session: Session, numbers: Sequence[int]) -> dict[int, str]:
    query = select(Article.id, Article.text).where(Article.id.in_(numbers))
    return dict(session.execute(query).all())


def mentions_in(
    session: Session, rows: Sequence[ArticleRow], companies: Sequence[Tenure] | None = None
) -> dict[int, list[MarkedMention]]:
    """Return the mentions of the companies, or of all, in each of the articles, in their order."""
    days = {row.number: row.day for row in rows}
    columns = [Mention.section, Mention.start, Mention.end, Mention.surface, Mention.rule]
    query = select(Mention.article_id, Company.name.label("company"), *columns, Mention.score)
    query = query.join(Company).where(Mention.article_id.in_(days))
    if companies is not None:
        query = query.where(Company.name.in_({company.company for company in companies}))
    mentions: dict[int, list[MarkedMention]] = {number: [] for number in days}
    for row in session.execute(query.order_by(Mention.start, Mention.id)):
        day = days[row.article_id]
        if companies is None or any(company.covers(day, row.company) for company in companies):
            mentions[row.article_id].append(copy_fields(MarkedMention, row))
    return mentions


def matches_in(
    session: Session,
    rows: Sequence[ArticleRow],
    texts: Mapping[int, str],
    companies: Sequence[Tenure],
) -> dict[int, list[MarkedMention]]:
    """Return the mentions of the companies in each of the articles, and the places of the words of
    those that are saved queries, in their order."""
    mentions = mentions_in(session, rows, companies)
    saved = select(Company.name, SavedQuery.text).join(SavedQuery)
    names = {company.company for company in companies}
    queries = session.execute(saved.where(Company.name.in_(names))).all()
    countries = dict(session.execute(select(Source.slug, Source.country)).all()) if queries else {}
    for name, text in queries:
        if (node := parse_saved(text)) is None:
            continue
        for row in rows:
            facts = Facts(row.language, row.source, countries[row.source])
            contents: dict[Section, str] = {"title": row.title or "", "body": texts[row.number]}
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
    for in_article in mentions.values():
        in_article.sort(key=lambda mention: (mention.start, mention.end))
    return mentions


# --- Snippets ---


def snippets(
    title: str | None, text: str, spans: dict[Section, list[Span]], limit: int
) -> tuple[Snippet, ...]:
    """Return the headline, if it has a mark, and the first sentences with one: at most `limit`."""
    chosen = []
    if title and spans.get("title"):
        chosen.append(snippet_of("title", title, (0, len(title)), spans["title"]))
    last_end = 0
    for span in sorted(spans.get("body", ())):
        if len(chosen) >= limit:
            break
        if span[0] < last_end:
            continue  # its sentence is already a snippet
        start, last_end = sentence_around(text, *span, MAX_SNIPPET)
        inside = [(a, b) for a, b in spans["body"] if start <= a and b <= last_end]
        chosen.append(snippet_of("body", text, (start, last_end), inside))
    return tuple(chosen[:limit])


def _pair_snippets(
    title: str | None,
    text: str,
    spans: dict[Section, list[Span]],
    others: dict[Section, list[Span]],
) -> tuple[Snippet, ...]:
    """Return the sentence in which the two are closest; if none has both, one for each of them,
    or nothing if the headline has both."""
    together, beside = [], sorted(others["body"])
    for span in spans["body"]:
        start, end = sentence_around(text, *span, MAX_SNIPPET)
        for span_beside in islice(beside, bisect_left(beside, (start, 0)), None):
            if span_beside[1] > end:
                break
            together.append(
                (abs(span[0] - span_beside[0]), (start, end), sorted((span, span_beside)))
            )
    if together:
        _, (start, end), marks = min(together)
        # A long sentence is shown around the two.
        start = max(start, marks[0][0] - _BEFORE)
        end = min(end, max(start + MAX_SNIPPET, marks[1][1]))
        return (snippet_of("body", text, (start, end), marks, end - start),)
    if title and spans["title"] and others["title"]:
        return ()
    first = snippets(None, text, {"body": spans["body"]}, 1)
    return first + snippets(None, text, {"body": others["body"]}, 1)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, stripped of blanks."""
    ends = [stop.end() for stop in sentence_ends(text, 0, len(text))]
    parts = [text[a:b].strip() for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def snippet_of(
    section: Section, text: str, part: Span, marks: Sequence[Span], most: int = MAX_SNIPPET
) -> Snippet:
    """Return the part as a snippet of at most `most` characters around the first mark, with
    an ellipsis at each cut."""
    start, end = part
    if end - start > most:
        first = min(mark[0] for mark in marks)
        start = max(start, first - _BEFORE)
        end = min(end, start + most)
    head = "…" if start > part[0] else ""
    tail = "…" if end < part[1] else ""
    shift = len(head) - start
    inside = sorted((a + shift, b + shift) for a, b in marks if start <= a and b <= end)
    joined: list[Span] = []
    for opens, closes in inside:
        if joined and opens < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(closes, joined[-1][1]))
        else:
            joined.append((opens, closes))
    return Snippet(
        section=section,
        text=head + re.sub(r"\s", " ", text[start:end]) + tail,
        marks=tuple(joined),
    )
