"""What a number is of, as its proof is asked for: a company, and the groups that are left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import ColumnElement, and_, func, not_, select

from newscrawl.items import Counted, Place, Reason
from newscrawl.storage import QuestionError
from newscrawl.storage.models import Article, Source
from newscrawl.storage.queries.doubtful_words import Spellings
from newscrawl.storage.queries.rollup_tables import RollupTable
from newscrawl.storage.scope import Group, Scope
from newscrawl.storage.scope_conditions import stored_language

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


def groups_left_in(rollup: RollupTable, target: ProofTarget) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that leaves out the groups of `without`."""
    if not target.without:
        return
    table = rollup.table
    if target.split == "language":
        yield table.language.not_in([stored_language(language) for language in target.without])
        return
    yield table.source_id.not_in(select(Source.id).where(in_groups(target)))


def articles_left_in(target: ProofTarget) -> Iterator[ColumnElement[bool]]:
    """Yield the condition of `groups_left_in` for queries of articles with their sources."""
    if not target.without:
        return
    if target.split == "language":
        languages = [stored_language(language) for language in target.without]
        yield func.coalesce(Article.language, "").not_in(languages)
        return
    yield not_(in_groups(target))


def in_groups(target: ProofTarget) -> ColumnElement[bool]:
    """Return the condition that a source is in one of the groups of `without`."""
    if target.split == "country":
        return and_(Source.country.in_(target.without))
    slugs = set(target.without)
    if target.split == "group":
        groups = target.scope.sources_by_group
        slugs = {slug for group in target.without for slug in groups.get(group, ())}
    return and_(Source.slug.in_(sorted(slugs)))
