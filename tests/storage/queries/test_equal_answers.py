"""Every question gives equal answers on SQLite and on PostgreSQL, and as a count by hand does."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings, strategies as st

from newscrawl.items import Document, SourceCatalog
from newscrawl.storage import COVERAGE_STATES, CoverageState, Database, queries
from newscrawl.storage.queries import ArticleRow, Group, Measure, Period, Scope
from newscrawl.storage.queries.left_out import withheld_articles
from tests.worlds import NOON, body, day, document, empty, headline, moment, register, save_document


@dataclass(frozen=True, slots=True)
class World:
    documents: tuple[Document, ...]
    coverage: tuple[tuple[str, date, CoverageState], ...]


_SLUGS = st.sampled_from(["ft", "bbc", "faz"])
_MENTIONS = st.lists(
    st.builds(
        lambda company, place: place(company),
        st.sampled_from(["Siemens", "bosch", "Ärzte AG", "アサヒ"]),
        st.sampled_from([headline, body]),
    ),
    max_size=4,
)


def _document(path: int, slug: str, on: int, **rest: Any) -> Document:
    url = f"{path}"
    return document(url, source=slug, published=moment(on), text=f"{slug} {url}", **rest)


_WORLDS = st.builds(
    World,
    st.lists(
        st.builds(
            _document,
            st.integers(0, 5),
            _SLUGS,
            st.integers(-3, 3),
            mentions=_MENTIONS,
            language=st.sampled_from(["en", "de", None]),
            access=st.sampled_from(["open", "open", "paywalled"]),
            kind=st.sampled_from(["article", "article", "video", "front"]),
            section=st.sampled_from(["Business", "Sports", None]),
        ),
        max_size=12,
        unique_by=lambda made: made.article.url,
    ).map(tuple),
    st.lists(
        st.tuples(_SLUGS, st.integers(-3, 3).map(day), st.sampled_from(COVERAGE_STATES)), max_size=8
    ).map(tuple),
)


def _fill(database: Database, world: World) -> None:
    runs = {slug: register(database, slug) for slug in ("ft", "bbc", "faz")}
    for made in world.documents:
        save_document(database, made, runs[made.page.source])
    for slug, on, state in world.coverage:
        database.record_coverage(slug, on, state, 1, 1)


GROUPINGS = get_args(Period) + get_args(Group)


def _answers(database: Database, scope: Scope) -> dict[str, Any]:
    answers: dict[str, Any] = {
        f"{grouping} {company}": queries.mention_counts(
            database, grouping, company=company, scope=scope, stories=True
        )
        for grouping in GROUPINGS
        for company in (None, "Siemens")
    }
    chosen = ["Siemens", "bosch", "Ärzte AG"]
    for measure in get_args(Measure):
        for by in (None, "week", "source"):
            answers[f"share {measure} {by}"] = queries.share_of_voice(
                database, chosen, by=by, measure=measure, scope=scope
            )
    answers["ranking"] = queries.company_ranking(database, scope=scope, stories=True)
    answers["companions"] = queries.co_mentions(database, "Siemens", scope=scope, stories=True)
    answers["overview"] = queries.overview(database, scope=scope)
    answers["stories"] = [
        replace(row, story=0) for row in queries.stories(database, company="Siemens", scope=scope)
    ]
    answers["withheld"] = withheld_articles(database, scope=scope)
    answers["unmentioned"] = queries.unmentioned_companies(database, chosen, scope=scope)
    answers["coverage"] = queries.coverage(database, scope=scope)
    answers["completeness"] = queries.completeness(database, scope=scope)
    answers["boilerplate"] = queries.boilerplate(database, scope=scope)
    answers["articles"] = [_own(row) for row in queries.articles(database, scope=scope)]
    for name, found in (
        ("behind", queries.company_articles(database, "Siemens", scope=scope)),
        ("search", queries.search(database, 'headline OR "ft 1" -4', scope=scope)),
    ):
        answers[name] = [(_own(one.article), one.snippets) for one in found]
    return answers


def _own(row: ArticleRow) -> ArticleRow:
    """The row without the numbers, which are a database's own."""
    return replace(row, number=0, story=0)


def _by_hand(world: World, scope: Scope) -> int:
    return sum(
        any(mention.company == "Siemens" for mention in made.mentions)
        for made in world.documents
        if (made.article.kind != "front" or made.page.access != "open")
        and (scope.source is None or made.page.source == scope.source)
        and (scope.language is None or made.article.language == scope.language)
        and (scope.section is None or made.article.section == scope.section)
    )


@settings(
    max_examples=settings().max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    world=_WORLDS,
    scope=st.builds(
        Scope,
        since=st.just(day(-4)),
        until=st.just(day(4)),
        source=st.sampled_from([None, None, "ft"]),
        language=st.sampled_from([None, None, "de"]),
        section=st.sampled_from([None, None, "Business"]),
        zone=st.sampled_from(["UTC", "UTC", "Asia/Kolkata", "America/St_Johns"]),
        # Amid the articles, a moment before the hour changes, and after all of them.
        now=st.sampled_from([NOON, NOON + timedelta(minutes=59, seconds=59.9), moment(9)]),
        # Each source in one group, so that the rows add up.
        catalog=st.just(SourceCatalog(groups={"mine": ("bbc", "ft"), "others": ("faz",)})),
    ),
)
def test_both_databases_give_the_expected_answers(
    new_sqlite, postgres, postgres_tables, world, scope
):
    empty(postgres_tables)
    with new_sqlite() as sqlite:
        _fill(sqlite, world)
        _fill(postgres, world)
        answers = _answers(sqlite, scope)
        assert answers == _answers(postgres, scope)
    for grouping in GROUPINGS:
        counted = [row.hits.articles for row in answers[f"{grouping} Siemens"] if row.hits]
        assert sum(counted) == _by_hand(world, scope), grouping
    assert len(answers["behind"]) == _by_hand(world, scope)
