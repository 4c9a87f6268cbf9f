"""What a number leaves out, and why, as far as this is known."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import Any, Literal, Self, TypeVarTuple, get_args

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    and_,
    func,
    literal,
    literal_column,
    select,
)
from sqlalchemy.orm import Session, aliased

from newscrawl.items import Counted, Place, Reason, Section, Withheld
from newscrawl.storage import QuestionError, models
from newscrawl.storage.database import reads
from newscrawl.storage.engine import one_of
from newscrawl.storage.models import (
    Appearance,
    Article,
    Company,
    Correction,
    CountedArticle,
    DailyCompany,
    DailyTotal,
    Mention,
    QuarantinedRevision,
    Source,
)
from newscrawl.storage.models.articles import UNCOUNTED
from newscrawl.storage.queries.article_lists import MarkedMention
from newscrawl.storage.queries.questions import ANY, about, cache_answers
from newscrawl.storage.queries.rollup_tables import (
    ColumnTypes,
    company_days,
    counts_on,
    given_rows,
    rollup_table,
)
from newscrawl.storage.queries.text_search import find_other_articles
from newscrawl.storage.saved_queries import own_scope
from newscrawl.storage.scope import By, Group, Scope, Tenure, day_of_minute, first_minute
from newscrawl.storage.scope_conditions import (
    articles_within,
    between,
    stored_language,
    validate_in,
)
from newscrawl.storage.search_language import Node, Or, Term
from newscrawl.storage.words import (
    folded_words,
    places_of_words,
    without_accents,
    writes_no_blanks,
)

# Ours: the limits of a search (docs/queries.md): spellings of a group or of an owner, articles that
# count for them, among which the others are looked for (the newest ones), and texts that are read.
MAX_SPELLINGS = 200
MAX_COUNTED = 5_000
MAX_TEXTS = 2_000
_AT_ONCE = 200
# Ours: PostgreSQL examines the words of an article in the time of four places in its index.
_FEW = 4
# Characters of an example on both sides of a form.
_AROUND = 40

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DoubtfulWords:
    """The articles, by their keys and the newest first, and the spellings in them, the most
    frequent first. `since` is the first day that was searched, None for all of the scope."""

    articles: tuple[int, ...] = ()
    spellings: tuple[str, ...] = ()
    since: date | None = None


@dataclass(frozen=True, slots=True)
class Spellings:
    """The spellings of companies: each with its company, by folded words."""

    known: Mapping[tuple[str, ...], tuple[str, str]]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, scope: Scope, name: str) -> Self | None:
        """Return the spellings of a company or group; None for a saved query, or without a
        registry."""
        spellings: dict[tuple[str, ...], tuple[str, str]] = {}
        for company in scope.members(name):
            for spelling in scope.structure.spellings.get(company, ()):
                if words := tuple(folded_words(spelling)):
                    spellings.setdefault(words, (company, spelling))
        if not spellings:
            return None
        spellings = dict(list(spellings.items())[:MAX_SPELLINGS])
        longest_first = sorted(
            (spelling for _, spelling in spellings.values()), key=len, reverse=True
        )
        return cls(spellings, re.compile("|".join(map(_as_written, longest_first))))

    @property
    def query(self) -> Node:
        """Return the search for articles with one of the spellings, in any case."""
        return Or(tuple(Term(words) for words in self.known))

    def find(self, section: Section, text: str) -> Iterator[MarkedMention]:
        """Yield the places of the spellings with a capital, as in names."""
        for match in self.pattern.finditer(text):
            spelling = self._company_of(match[0])
            # Capitals may be those of another word: "I" is also the capital of a Turkish letter.
            if spelling is None:
                continue
            company, _ = spelling
            yield MarkedMention(
                company=company,
                section=section,
                start=match.start(),
                end=match.end(),
                surface=match[0],
                rule="doubtful",
            )

    def spelling_of(self, surface: str) -> str:
        """Return the spelling of words that were found."""
        spelling = self._company_of(surface)
        return spelling[1] if spelling else surface

    def _company_of(self, surface: str) -> tuple[str, str] | None:
        return self.known.get(tuple(folded_words(surface)))


def _as_written(spelling: str) -> str:
    """Return a pattern of a spelling: unchanged, in capitals or with a first capital, with or
    without accents, and with any signs between its words."""
    words = [spelling[start:end] for start, end in places_of_words(spelling)]
    pattern = r"(?<!\w)" if not writes_no_blanks(words[0]) else ""
    for place, word in enumerate(words):
        if place:
            least = 0 if writes_no_blanks(word) or writes_no_blanks(words[place - 1]) else 1
            pattern += rf"[\W_]{{{least},3}}"
        bare = without_accents(word)
        forms = {
            form
            for variant in (word, bare)
            for form in (
                variant,
                variant.upper(),
                variant[0].upper() + variant[1:],
            )
        }
        pattern += f"(?:{'|'.join(map(re.escape, sorted(forms)))})"
    return pattern + (r"(?!\w)" if not writes_no_blanks(words[-1]) else "")


def _first_day(
    session: Session, companies: Sequence[int], scope: Scope
) -> tuple[date | None, bool]:
    """Return the day since which the companies have MAX_COUNTED articles, None if they have fewer;
    and whether all articles since then are few beside theirs of all days.

    As theirs have the words, too, the index finds them all: this limits what it finds.
    """
    table, total = DailyCompany, DailyTotal
    query = select(table.day, func.sum(table.articles)).where(table.company_id.in_(companies))
    query = query.where(*between(table.day, scope.widened())).group_by(table.day)
    number, first = 0, None
    for day, articles in session.execute(query.order_by(table.day.desc())):
        number += articles
        if first is None and number > MAX_COUNTED:
            first = day
    if first is None or (scope.since is not None and first <= scope.since):
        return None, False
    read = select(func.sum(total.read)).where(total.day >= first)
    articles = session.scalar(read.where(*between(total.day, scope))) or 0
    return first, articles * _FEW < number


def doubtful_in(
    session: Session, spellings: Spellings, articles: Sequence[int]
) -> dict[int, list[MarkedMention]]:
    """Return the places of the spellings in each article that are not those of a mention, which
    may be of another company: "Siemens" in "Siemens Energy"."""
    place = Mention.article_id, Mention.section, Mention.start, Mention.end
    mentions: dict[tuple[int, str], list[Span]] = defaultdict(list)
    for key, section, start, end in session.execute(
        select(*place).where(Mention.article_id.in_(articles))
    ):
        mentions[key, section].append((start, end))
    query = select(Article.id, Article.title, Article.text).where(Article.id.in_(articles))
    mentions_by_article: dict[int, list[MarkedMention]] = {key: [] for key in articles}
    for key, title, text in session.execute(query):
        words = (*spellings.find("title", title or ""), *spellings.find("body", text))
        mentions_by_article[key] = [
            word
            for word in words
            if not any(
                word.start < end and start < word.end for start, end in mentions[key, word.section]
            )
        ]
    return mentions_by_article


@dataclass(frozen=True, slots=True, kw_only=True)
class FormInArticles:
    """A form of a company with the number of its stored places, their mean score and one place."""

    company: str
    form: str
    places: int
    score: float
    example: str


def least_certain_forms(session: Session, limit: int) -> list[FormInArticles]:
    """Return the forms whose places in stored articles look least like a company, by the mean of
    their scores."""
    score = func.avg(Mention.score)
    query = (
        select(Company.name, Mention.surface, func.count(), score, func.max(Mention.id))
        .join(Company, Company.id == Mention.company_id)
        .where(Mention.score.is_not(None))
        .group_by(Company.name, Mention.surface)
        .order_by(score, func.count().desc(), Company.name, Mention.surface)
        .limit(limit)
    )
    rows = session.execute(query).all()
    places = select(Mention, Article.title, Article.text).join(
        Article, Article.id == Mention.article_id
    )
    examples = {}
    for mention, title, text in session.execute(
        places.where(Mention.id.in_([latest for *_, latest in rows]))
    ):
        section = title or "" if mention.section == "title" else text
        begin, end = max(0, mention.start - _AROUND), mention.end + _AROUND
        examples[mention.id] = " ".join(section[begin:end].split())
    return [
        FormInArticles(
            company=company,
            form=form,
            places=places,
            score=round(mean, 3),
            example=examples.get(latest, ""),
        )
        for company, form, places, mean, latest in rows
    ]


# What a number leaves out (`left_out.LeftOut`).
REASONS = frozenset(get_args(Reason))

OF_MENTIONS = frozenset({"articles", "mentions", *get_args(Place)})
# Of a proof's articles: the newest first, or those whose mentions are least likely right.
Order = Literal["newest", "least-sure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofTarget:
    """What a number is of. `split` and `without` leave out groups: "others" of a chart are the
    articles of all sources but those that have a part of their own."""

    counted: Counted
    company: str | None
    scope: Scope
    beside: str | None = None
    split: Group | None = None
    without: tuple[str, ...] = ()
    story: int | None = None
    order: Order = "newest"

    def check(self) -> None:
        """Raise QuestionError for parts that don't go together."""
        if self.beside is not None and (self.company is None or self.counted in REASONS):
            raise QuestionError("beside needs a company, and articles or mentions of it")
        if self.counted == "doubtful" and self.company is None:
            raise QuestionError("doubtful words are those of a company: give one")
        if self.story is not None and (self.company is None or self.counted != "articles"):
            raise QuestionError("story needs a company, and counts articles")
        if self.order != "newest" and (self.company is None or self.counted not in OF_MENTIONS):
            raise QuestionError("the order least-sure needs a company, and articles or mentions")
        if self.without and self.split in {None, "section"}:
            raise QuestionError("without needs split: source, country, language or group")


def spellings_of(target: ProofTarget) -> Spellings | None:
    """Return the spellings of the company."""
    return None if target.company is None else Spellings.of(target.scope, target.company)


def groups_left_in(table: Any, target: ProofTarget) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that leaves out the groups of `without` from a table of articles or of
    their counts."""
    if target.without and target.split == "language":
        languages = [stored_language(language) for language in target.without]
        yield func.coalesce(table.language, "").not_in(languages)
    elif target.without:
        yield table.source_id.not_in(select(Source.id).where(in_groups(target)))


def in_groups(target: ProofTarget) -> ColumnElement[bool]:
    """Return the condition that a source is in one of the groups of `without`."""
    if target.split == "country":
        return and_(Source.country.in_(target.without))
    slugs = set(target.without)
    if target.split == "group":
        groups = target.scope.sources_by_group
        slugs = {slug for group in target.without for slug in groups.get(group, ())}
    return and_(Source.slug.in_(sorted(slugs)))


_Columns = TypeVarTuple("_Columns")
LeftOutReason = Literal["boilerplate", Withheld, "doubtful", "corrected", "quarantined", "kind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What a number leaves out for a reason; `mentions` is null if it can't be known."""

    reason: LeftOutReason = field(
        metadata=about(
            'in menus and teasers ("boilerplate"); articles of which only headline and '
            "introduction may be read and do not name the company, though the rest might, or all "
            'such articles where those read are counted ("paywalled", "disallowed" by robots.txt, '
            '"refused" by the site with HTTP 403, "unreadable" if their pages show something '
            "else); articles that might count, whose only names of the company lack support or "
            'are part of something else ("doubtful"); mentions that a person called wrong '
            '("corrected"); versions in the quarantine that name it ("quarantined"); pages that '
            'are not articles ("kind")'
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
    sources: tuple[tuple[str, int], ...] = field(
        default=(),
        metadata=about("of articles that can't be read, the number from each source, most first"),
    )


def left_out(session: Session, target: ProofTarget) -> Iterator[LeftOut]:
    """Yield what the number leaves out, by reason; nothing for a reason without an article."""
    if target.counted in REASONS or target.story is not None:
        return
    mentions, articles = boilerplate_sums(session, target)
    if articles and target.scope.among is None:
        yield LeftOut(reason="boilerplate", articles=articles, mentions=mentions)
    if target.counted == "read":
        yield from _withheld_articles(session, target)
        return
    doubtful = doubtful_words_of(session, target)
    if doubtful.articles or doubtful.since:
        yield LeftOut(
            reason="doubtful",
            articles=len(doubtful.articles),
            mentions=None,
            words=doubtful.spellings,
            since=doubtful.since,
        )
    yield from _withheld_articles(session, target)
    for reason, find in _BY_ARTICLE.items():
        if numbers := find(session, target):
            mentions = sum(numbers.values())
            yield LeftOut(reason=reason, articles=len(numbers), mentions=mentions)


@reads
@cache_answers
def withheld_articles(
    session: Session, company: str | None = None, *, scope: Scope = ANY
) -> tuple[LeftOut, ...]:
    """Return how many more articles may name the company, by reason: only their headline and
    standfirst may be read, and do not name it. Without a company, return those of all articles
    read, whatever they name."""
    counted: Counted = "read" if company is None else "articles"
    target = ProofTarget(counted=counted, company=company, scope=validate_in(session, scope))
    return tuple(_withheld_articles(session, target))


def _withheld_articles(session: Session, target: ProofTarget) -> Iterator[LeftOut]:
    limited = _headline_only(session, target).subquery().c
    query = select(limited.access, Source.slug, func.count())
    query = query.join(Source, Source.id == limited.source_id)
    query = query.group_by(limited.access, Source.slug)
    most_first = limited.access, func.count().desc(), Source.slug
    rows = session.execute(query.order_by(*most_first)).all()
    for access, each in groupby(rows, key=lambda row: row[0]):
        sources = tuple((slug, number) for _, slug, number in each)
        articles = sum(number for _, number in sources)
        yield LeftOut(reason=access, articles=articles, mentions=None, sources=sources)


def left_out_rows(session: Session, target: ProofTarget) -> Any:
    """Return what a number leaves out for the reason that is asked for as a subquery, with a row
    for each article."""
    if target.counted == "boilerplate":
        return _boilerplate_rows(session, target)
    if target.counted in get_args(Withheld):
        limited = _headline_only(session, target)
        return limited.where(Article.access == target.counted).subquery()
    if target.counted == "doubtful":
        numbers = dict.fromkeys(doubtful_words_of(session, target).articles, 1)
    else:
        numbers = _BY_ARTICLE[target.counted](session, target)
    columns: ColumnTypes = {"article_id": BigInteger, "number": Integer}
    each = given_rows(session, columns, [*numbers.items()]).c
    moment = func.coalesce(Article.published_at, Article.first_seen_at)
    query = select(each.article_id, each.number, moment.label("minute"))
    return query.join(Article, Article.id == each.article_id).subquery()


def boilerplate_sums(session: Session, target: ProofTarget) -> tuple[int, int]:
    """Return the numbers of mentions in menus and teasers, and of the articles beside them; those
    of one company from its daily sums."""
    if target.company is None or target.scope.tenures(target.company) == [Tenure(target.company)]:
        scope = target.scope.of_days()
        by: By | None = "source" if target.without else None
        rollup = rollup_table(session, scope, by=by, company=target.company)
        sums = func.sum(rollup.table.boilerplate), func.sum(rollup.table.boilerplate_articles)
        query = rollup.select(*sums).where(*groups_left_in(rollup.table, target))
    else:
        around = _boilerplate_rows(session, target)
        query = select(func.sum(around.c.number), func.count())
    mentions, articles = session.execute(query).one()
    return int(mentions or 0), int(articles or 0)


def _headline_only(session: Session, target: ProofTarget) -> Select[Any]:
    """Return the articles of which headline and standfirst alone are known; of a number of mentions
    those that do not name the company."""
    scope = own_scope(session, target.company, target.scope)
    rollup = rollup_table(session, scope, by="hour", company=None)
    table = rollup.table
    query = (
        rollup.select(table.article_id, literal(1).label("number"), table.minute)
        .add_columns(Article.access, table.source_id)
        .join(Article, Article.id == table.article_id)
        # As the index of limited articles has it: no parameter.
        .where(table.limited > literal_column("0"), *groups_left_in(rollup.table, target))
    )
    if target.counted == "read":
        return query
    if target.company is None:
        return query.where(table.in_title + table.in_body == 0)
    mention = aliased(Appearance)
    days = company_days(session, target.company, target.scope)
    names = mention.article_id == table.article_id, counts_on(mention.company_id, mention, days)
    return query.where(~select(1).where(*names).correlate(table).exists())


def corrected_articles(session: Session, target: ProofTarget) -> dict[int, int]:
    """Return the articles with mentions that people have called wrong, with their number."""
    query = wrong_corrections(select(Correction.article_id, func.count()), target)
    numbers = dict(session.execute(query.group_by(Correction.article_id)).all())
    return {key: numbers[key] for key in _within(session, target, numbers)}


def quarantined_articles(session: Session, target: ProofTarget) -> dict[int, int]:
    """Return the articles of which a version in the quarantine names the company, with the number
    of its mentions there."""
    query = select(QuarantinedRevision.article_id, QuarantinedRevision.mentions)
    members = None if target.company is None else set(target.scope.members(target.company))
    numbers = {
        article: sum(members is None or mention.get("company") in members for mention in mentions)
        for article, mentions in session.execute(
            query.where(QuarantinedRevision.state == "pending")
        )
    }
    naming = [article for article, number in numbers.items() if number]
    return {key: numbers[key] for key in _within(session, target, naming, every_kind=True)}


def wrong_corrections(query: Select[*_Columns], target: ProofTarget) -> Select[*_Columns]:
    """Return a query of corrections, limited to mentions of the company that people have called
    wrong."""
    query = query.where(Correction.kind == "wrong", Correction.undone_at.is_(None))
    if target.company is None:
        return query
    return query.where(Correction.company.in_(target.scope.members(target.company)))


def on_other_kinds(session: Session, target: ProofTarget) -> dict[int, int]:
    """Return the stored pages that do not count as articles but name the company, with the number
    of its mentions."""
    uncounted = select(Article.id).where(UNCOUNTED, *between(Article.day, target.scope.widened()))
    keys = _within(session, target, session.scalars(uncounted).all(), every_kind=True)
    query = select(Mention.article_id, func.count()).group_by(Mention.article_id)
    query = query.where(one_of(Mention.article_id, "keys"))
    if target.company is not None:
        days = company_days(session, target.company, target.scope)
        query = query.where(Mention.company_id.in_({day.number for day in days}))
    return dict(session.execute(query, {"keys": sorted(keys)}).all())


# What is left out article by article: the mentions in each.
_BY_ARTICLE: Mapping[Any, Callable[[Session, ProofTarget], dict[int, int]]] = {
    "corrected": corrected_articles,
    "quarantined": quarantined_articles,
    "kind": on_other_kinds,
}


def _within(
    session: Session, target: ProofTarget, articles: Collection[int], *, every_kind: bool = False
) -> set[int]:
    """Return those of the articles that are in the scope.

    Where few articles have a property they are read first, by it alone: a planner would begin with
    all articles of the period, or with all mentions.
    """
    if not articles:
        return set()
    query = articles_within(
        select(Article.id).where(one_of(Article.id, "numbers")), target.scope, every_kind=every_kind
    )
    query = query.where(*groups_left_in(Article, target))
    return {*session.scalars(query, {"numbers": list(articles)})}


def doubtful_words_of(session: Session, target: ProofTarget) -> DoubtfulWords:
    """Return the articles of the scope that contain a spelling of the company as a name is written
    and mention none of its companies there; the newest ones are searched, up to the limits above.

    Articles with a correction by a person are left out, and those of which only the headline is
    known, which are left out for that reason, whatever it says.
    """
    spellings, scope = spellings_of(target), target.scope
    if spellings is None:
        return DoubtfulWords()
    names = {company for company, _ in spellings.known.values()}
    companies = session.scalars(select(Company.id).where(Company.name.in_(names))).all()
    since, few = _first_day(session, companies, scope)
    begins = None if since is None else first_minute(since)
    keys = find_other_articles(
        session, spellings.query, scope, MAX_TEXTS + 1, companies, begins, few=few
    )
    if len(keys) > MAX_TEXTS:
        keys = keys[:MAX_TEXTS]
        minute = select(CountedArticle.minute).where(CountedArticle.article_id == keys[-1])
        since = day_of_minute(session.scalars(minute).one())
    rollup = rollup_table(session, scope, by="hour", company=None)
    eligible = rollup.select(rollup.table.article_id).where(rollup.table.limited == 0)
    eligible = eligible.where(*groups_left_in(rollup.table, target))
    within = eligible.where(one_of(CountedArticle.article_id, "numbers"))
    keys_left = {*session.scalars(within, {"numbers": list(keys)})}
    keys_left -= {
        *session.scalars(
            select(Correction.article_id).where(
                Correction.company.in_(names),
                Correction.kind == "wrong",
                Correction.undone_at.is_(None),
            )
        )
    }
    unread = [key for key in keys if key in keys_left]
    articles: list[int] = []
    times: Counter[str] = Counter()
    for start in range(0, len(unread), _AT_ONCE):
        some = unread[start : start + _AT_ONCE]
        doubtful = doubtful_in(session, spellings, some)
        articles += [key for key in some if doubtful[key]]
        times.update(
            spellings.spelling_of(word.surface) for words in doubtful.values() for word in words
        )
    in_order = sorted(times, key=lambda spelling: (-times[spelling], spelling))
    return DoubtfulWords(tuple(articles), tuple(in_order), since)


def _boilerplate_rows(session: Session, target: ProofTarget) -> Any:
    """Return the rows of boilerplate, kept by UTC days; section and zone are ignored."""
    scope = target.scope.of_days()
    rollup = rollup_table(session, scope, by="hour", company=None)
    table, around = rollup.table, models.Boilerplate
    number = func.sum(around.number).label("number")
    key = table.article_id, table.minute, table.story_id
    query = rollup.select(table.article_id, number, table.minute, table.story_id)
    query = query.join(around, around.article_id == table.article_id).where(around.number > 0)
    if target.company is not None:
        days = company_days(session, target.company, scope)
        query = query.where(counts_on(around.company_id, table, days))
    return query.where(*groups_left_in(rollup.table, target)).group_by(*key).subquery()
