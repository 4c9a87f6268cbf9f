"""The proof of a number: the articles behind it with the sentences of each mention, what was left
out of it and why, and the coverage of the sources that were asked."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, get_args

from sqlalchemy import case, func, literal, not_, select
from sqlalchemy.orm import Session, aliased

from newscrawl.items import Counted, Versions, Withheld, copy_fields
from newscrawl.storage import QuestionError, models
from newscrawl.storage.database import reads
from newscrawl.storage.models import (
    Appearance,
    Article,
    ArticleUrl,
    Company,
    Correction,
    CountedArticle,
    Mention,
    Source,
)
from newscrawl.storage.queries.article_details import VERSIONS, versions_by_article
from newscrawl.storage.queries.article_lists import (
    MAX_SNIPPET,
    ArticleRow,
    MarkedMention,
    Snippet,
    article_rows,
    matches_in,
    mentions_in,
    snippet_of,
    texts_of,
)
from newscrawl.storage.queries.company_counts import hits_by_name
from newscrawl.storage.queries.comparisons import count_articles_of_both
from newscrawl.storage.queries.completeness import Completeness, completeness_by
from newscrawl.storage.queries.left_out import (
    REASONS,
    LeftOut,
    Order,
    ProofTarget,
    boilerplate_sums,
    doubtful_in,
    groups_left_in,
    in_groups,
    left_out,
    left_out_rows,
    spellings_of,
    wrong_corrections,
)
from newscrawl.storage.queries.questions import ANY, about, question
from newscrawl.storage.queries.rollup_tables import (
    Hits,
    company_days,
    counts_on,
    hits_of,
    rollup_table,
)
from newscrawl.storage.saved_queries import own_scope
from newscrawl.storage.scope import By, Group, Scope, last_day
from newscrawl.text import sentence_around

__all__ = ["Counted", "LeftOut", "Proof", "ProvenArticle", "ProvenSentence", "SourceRead", "proof"]

# Ours: the days on which the newest articles of several companies are looked for first.
RECENT = timedelta(days=7)
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
        return dict(Counter(article.versions for article in self.articles).most_common())


@question("/proof")
def proof(  # noqa: PLR0913 - one for each part of a number
    session: Session,
    versions: Versions = Versions(),  # noqa: B008 - frozen
    *,
    counted: Counted = "articles",
    company: str | None = None,
    beside: str | None = None,
    split: Group | None = None,
    without: Sequence[str] = (),
    story: str | None = None,
    order: Order = "newest",
    scope: Scope = ANY,
    limit: int = 20,
    offset: int = 0,
) -> Proof:
    """Return what is behind a number: its articles, the newest first, with the sentences of each
    mention, what it leaves out, and the coverage of the sources.

    `beside` is another company that the articles name, too. `without` leaves out sources,
    countries, languages, groups, whichever `split` is. Stories are listed with their
    copies together; articles "read" of a saved query are those that its filters let through.
    `story` is an article's address, and leaves in those of its story. The order "least-sure" begins
    with the mentions least likely right. Raise QuestionError for parts that don't go together.
    """
    target = ProofTarget(
        counted=counted,
        company=None if counted == "read" else company,
        beside=beside,
        # Of articles read, those among which a saved query counts.
        scope=own_scope(session, company, scope) if counted == "read" else scope,
        split=split,
        without=tuple(without),
        story=None if story is None else _story_at(session, story),
        order=order,
    )
    target.check()
    number, total = _sums_of(session, target)
    articles = _articles(session, target, _page_of(session, target, limit, offset))
    query = (
        select(Article.method, func.count())
        .where(Article.id.in_([article.article.number for article in articles]))
        .group_by(Article.method)
        .order_by(func.count().desc(), Article.method)
    )
    slugs = select(Source.slug, Source.name)
    if target.without and target.split != "language":
        slugs = slugs.where(not_(in_groups(target)))
    names = dict(session.execute(slugs).all())
    read_scope = own_scope(session, target.company, target.scope)
    return Proof(
        counted=counted,
        company=company,
        beside=beside,
        number=number,
        total=total,
        articles=articles,
        left_out=tuple(left_out(session, target)),
        coverage=tuple(
            SourceRead(source=slug, name=names[slug], completeness=complete)
            for slug, complete in completeness_by(session, "source", read_scope).items()
            if slug in names
        ),
        methods=tuple((method, number) for method, number in session.execute(query)),
        versions=versions,
    )


@reads
def count_versions(
    session: Session, companies: Sequence[str], *, scope: Scope = ANY
) -> tuple[tuple[Versions, int], ...]:
    """Return the versions that found the articles of these companies or queries, each with the
    number of its articles, most first."""
    versions_of_articles: dict[int, Versions] = {}
    for name in companies:
        rollup = rollup_table(session, scope, by="hour", company=name)
        versions_of_articles |= versions_by_article(session, rollup.select(rollup.table.article_id))
    return tuple(Counter(versions_of_articles.values()).most_common())


def _story_at(session: Session, url: str) -> int:
    """Return the story of the article at an address; raise QuestionError without one. The numbers
    of stories are no addresses: they change when stories are formed anew."""
    query = select(CountedArticle.story_id).join(
        ArticleUrl, ArticleUrl.article_id == CountedArticle.article_id
    )
    number = session.scalar(query.where(ArticleUrl.url == url))
    if number is None:
        raise QuestionError(
            f"story {url!r} is not the address of an article that counts: open the story again "
            "from the page of its company"
        )
    return number


# --- The articles ---


def _page_of(session: Session, target: ProofTarget, limit: int, offset: int) -> dict[int, int]:
    """Return the articles of a page in their order, each with what it adds to the number.

    Articles of several companies are first looked for on the last days: all of them would be
    compared to find those that name several.
    """
    targets = [target]
    is_of_several = target.company and company_days(session, target.company, target.scope)[1:]
    if is_of_several and target.counted != "stories" and target.order == "newest":
        since = last_day(target.scope) - RECENT
        if since > (target.scope.since or date.min):
            targets.insert(0, replace(target, scope=replace(target.scope, since=since)))
    numbers: dict[int, int] = {}
    for each in targets:
        newest = limit + offset if target.counted == "stories" else None
        listed = _article_rows(session, each, newest=newest).c
        page = select(listed.article_id, listed.number).limit(limit).offset(offset)
        order = [listed.minute.desc(), listed.article_id.desc()]
        if target.counted == "stories":  # copies together
            order[:0] = [
                column.desc() for column in (listed.newest, listed.story_id, listed.number)
            ]
        if target.order == "least-sure":
            order.insert(0, _lowest_score(session, target, listed.article_id))
        numbers = dict(session.execute(page.order_by(*order)).all())
        if len(numbers) == limit:
            break
    return numbers


def _lowest_score(session: Session, target: ProofTarget, article: Any) -> Any:
    """Return the score of an article's least likely mention of the company."""
    days = company_days(session, target.company or "", target.scope)
    scores = select(func.min(Mention.score)).where(
        Mention.article_id == article, Mention.company_id.in_([day.number for day in days])
    )
    if target.counted in {"headline", "body"}:
        is_title = Mention.section == "title"
        scores = scores.where(is_title if target.counted == "headline" else not_(is_title))
    # Mentions that people added, and those of saved queries, have no score.
    return func.coalesce(scores.scalar_subquery(), 1)


def _sums_of(session: Session, target: ProofTarget) -> tuple[int, int]:
    """Return the number, and how many articles it is of: from the daily sums where they have both,
    as they have in all questions but those about two companies, headlines or bodies."""
    if target.counted == "boilerplate":
        return boilerplate_sums(session, target)
    is_whole = target.beside is None and target.story is None
    if target.counted in {"articles", "mentions", "read", "stories"} and is_whole:
        by: By | None = "source" if target.without else None
        rollup = rollup_table(session, target.scope, by=by, company=target.company)
        query = rollup.select(*rollup.hits()).where(*groups_left_in(rollup.table, target))
        if target.counted == "read":
            read = session.scalar(query.with_only_columns(rollup.read())) or 0
            return int(read), int(read)
        if target.company is None or target.without:
            hits = hits_of(session.execute(query).one())
        else:
            hits_of_company = hits_by_name(session, [target.company], target.scope)
            hits = hits_of_company[target.company] or Hits()
        if target.counted == "stories":
            rollup = rollup_table(session, target.scope, by="hour", company=target.company)
            query = rollup.select(rollup.stories()).where(*groups_left_in(rollup.table, target))
            return session.scalar(query) or 0, hits.articles
        return hits.mentions if target.counted == "mentions" else hits.articles, hits.articles
    if target.counted == "articles" and target.company and target.beside and not target.without:
        articles_of_both = count_articles_of_both(
            session, target.company, target.beside, target.scope
        )
        if articles_of_both is not None:
            return articles_of_both, articles_of_both
    listed = _article_rows(session, target)
    number, total = session.execute(select(func.sum(listed.c.number), func.count())).one()
    return int(number or 0), total


def _article_rows(session: Session, target: ProofTarget, newest: int | None = None) -> Any:
    """Return the articles behind the number as a subquery, each with what it adds; of stories only
    those of the `newest` articles, if a number of these is given."""
    scope = target.scope
    if target.counted in REASONS:
        return left_out_rows(session, target)
    rollup = rollup_table(session, scope, by="hour", company=target.company)
    table = rollup.table
    in_article = table.in_title + table.in_body
    numbers: dict[Counted, Any] = {
        "mentions": in_article,
        "headline": table.in_title,
        "body": table.in_body,
    }
    number = numbers.get(target.counted, literal(1))
    query = rollup.select(table.article_id, number.label("number"), table.minute, table.story_id)
    if target.counted in numbers:
        query = query.where(number > 0)
    elif target.company is None and target.counted != "read":
        query = query.where(in_article > 0)
    if target.company is not None and target.beside is not None:
        beside = aliased(Appearance)
        query = query.where(
            select(1)
            .where(
                beside.article_id == table.article_id,
                counts_on(beside.company_id, beside, company_days(session, target.beside, scope)),
                counts_on(
                    beside.company_id,
                    beside,
                    company_days(session, target.company, scope),
                    negated=True,
                ),
            )
            .correlate(table)
            .exists()
        )
    query = query.where(*groups_left_in(rollup.table, target))
    if target.story is not None:
        query = query.where(table.story_id == target.story)
    if newest is not None:
        minutes = query.with_only_columns(table.minute).order_by(table.minute.desc())
        begins = session.scalar(minutes.offset(newest - 1).limit(1))
        if begins is not None:
            # The stories of the newest articles have at least as many, and are listed first.
            stories = query.with_only_columns(table.story_id).where(table.minute >= begins)
            same = CountedArticle.story_id.in_(session.scalars(stories.distinct()).all())
            query = query.where(table.article_id.in_(select(CountedArticle.article_id).where(same)))
    listed = query.subquery()
    if target.counted != "stories":
        return listed
    # 1 for the first article of each story, and 0 for its copies.
    rank = func.row_number().over(
        partition_by=listed.c.story_id, order_by=(listed.c.minute, listed.c.article_id)
    )
    last = func.max(listed.c.minute).over(partition_by=listed.c.story_id)
    return select(
        listed.c.article_id,
        listed.c.story_id,
        listed.c.minute,
        case((rank == 1, 1), else_=0).label("number"),
        last.label("newest"),
    ).subquery()


def _articles(
    session: Session, target: ProofTarget, numbers: Mapping[int, int]
) -> tuple[ProvenArticle, ...]:
    company, scope = target.company, target.scope
    tenures = None if company is None else scope.tenures(company)
    rows = article_rows(session, list(numbers), tenures)
    around = _boilerplate_of(session, target, rows)
    versions = versions_by_article(session, list(numbers))
    without_sentences = {"read", "boilerplate", *get_args(Withheld)}
    texts = {} if target.counted in without_sentences else texts_of(session, list(numbers))
    mentions = _marked_mentions(session, target, rows, texts) if texts else {}
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
    session: Session, target: ProofTarget, rows: Sequence[ArticleRow], texts: Mapping[int, str]
) -> dict[int, list[MarkedMention]]:
    """Return the mentions that are counted in each of the articles, or its doubtful words."""
    if target.counted == "doubtful" and (spellings := spellings_of(target)) is not None:
        return doubtful_in(session, spellings, [row.number for row in rows])
    if target.counted == "corrected":
        query = wrong_corrections(select(Correction), target)
        query = query.where(Correction.article_id.in_([row.number for row in rows]))
        query = query.where(Correction.state != "misplaced").order_by(Correction.start)
        by_article: dict[int, list[MarkedMention]] = defaultdict(list)
        for correction in session.scalars(query):
            mention = copy_fields(MarkedMention, correction, rule="wrong", score=None)
            by_article[correction.article_id].append(mention)
        return by_article
    names = [name for name in (target.company, target.beside) if name is not None]
    shown = [tenure for name in names for tenure in target.scope.tenures(name)]
    mentions = matches_in(session, rows, texts, shown) if names else mentions_in(session, rows)
    only = {"headline": "title", "body": "body"}.get(target.counted)
    return {
        key: [mention for mention in in_article if only in {None, mention.section}]
        for key, in_article in mentions.items()
    }


def _sentences(
    row: ArticleRow, text: str, mentions: Sequence[MarkedMention]
) -> Iterator[ProvenSentence]:
    """Yield the headline, then the sentences of the body; each mention is in one of them."""
    for section, content in (("title", row.title or ""), ("body", text)):
        waiting = [mention for mention in mentions if mention.section == section]
        while waiting:
            first = waiting[0]
            span = sentence_around(content, first.start, first.end, MAX_SNIPPET)
            if section == "title":
                span = 0, len(content)
            is_cut = span[1] - span[0] > MAX_SNIPPET
            end = min(span[1], first.start + _SHOWN) if is_cut else span[1]
            inside = [mention for mention in waiting if mention.end <= end] or [first]
            marks = [(mention.start, mention.end) for mention in inside]
            snippet = snippet_of(first.section, content, span, marks)
            yield ProvenSentence(snippet=snippet, mentions=tuple(inside))
            waiting = [mention for mention in waiting if mention not in inside]


def _boilerplate_of(
    session: Session, target: ProofTarget, rows: Sequence[ArticleRow]
) -> dict[int, list[tuple[str, int]]]:
    by_article: dict[int, list[tuple[str, int]]] = defaultdict(list)
    if target.counted != "boilerplate":
        return by_article
    table = models.Boilerplate
    query = (
        select(table.article_id, Company.name, table.number)
        .join(Company, Company.id == table.company_id)
        .where(table.article_id.in_([row.number for row in rows]), table.number > 0)
        .order_by(table.number.desc(), Company.name)
    )
    days = {row.number: row.day for row in rows}
    tenures = None if target.company is None else target.scope.tenures(target.company)
    for article, name, number in session.execute(query):
        if tenures is None or any(tenure.covers(days[article], name) for tenure in tenures):
            by_article[article].append((name, number))
    return by_article


# --- The sources ---
