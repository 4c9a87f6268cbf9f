"""Counts by day, stories and search stay in step with the articles, whatever is written."""

from typing import get_args

import pytest
from hypothesis import given, settings
from sqlalchemy import event, select

from newscrawl.storage import Database, QuestionError, open_database, queries
from newscrawl.storage.models import Article, DailyCompany, DailyCompanySource, DailyTotal, Sketch
from tests.counted import counted, found_by_search
from tests.steps import STEPS, WORDS, carry_out, rematch
from tests.worlds import (
    LONG,
    NOON,
    body,
    day,
    document,
    empty,
    headline,
    register,
    save_document,
    save_documents,
)


def test_revision_updates_the_rollups(database):
    run = register(database)
    save_document(
        database, document(text="First.", mentions=[headline("Siemens"), body("Bosch")]), run
    )
    save_document(
        database, document(text="Second.", mentions=[body("Bosch"), body("Bosch", 9)]), run
    )
    with database.reading() as session:
        rows = session.execute(select(DailyTotal.read, DailyTotal.articles, DailyTotal.in_body))
        assert rows.all() == [(1, 1, 2)]
    assert [row.company for row in queries.company_ranking(database)] == ["Bosch"]


def test_rematched_articles_count_for_their_new_companies(database):
    run = register(database)
    save_document(database, document("a", text=LONG, mentions=[body("Siemens")]), run)
    with database.reading() as session:
        number = session.scalar(select(Article.id))
    assert number is not None
    rematch(database, number, [headline("Bosch"), body("Bosch")])
    (row,) = queries.company_ranking(database)
    assert (row.company, row.hits.in_title, row.hits.in_body) == ("Bosch", 1, 1)


def test_save_of_several_documents_is_atomic(database):
    run = register(database)
    unknown = document("b", source="nowhere", text="Other.")
    with pytest.raises(Exception, match="no source 'nowhere'"):
        save_documents(database, [document("a"), unknown], run)
    assert queries.articles(database) == []
    saved = save_documents(database, [document("a"), document("b", text="Other.")], run)
    assert [result.outcome for result in saved] == ["new", "new"]


def test_recomputed_stories_are_equal(database):
    ft, faz = register(database, "ft"), register(database, "faz")
    copy = " ".join(WORDS)
    save_document(database, document("a", text=copy), ft)
    save_document(database, document("b", source="faz", text=copy + " And a word more."), faz)
    save_document(
        database, document("c", text=copy.replace("alpha", "delta").replace("beta", "eta")), ft
    )
    articles = [row.articles for row in queries.stories(database)]
    database.rebuild(stories=True)
    assert [row.articles for row in queries.stories(database)] == articles == [2, 1]
    with database.reading() as session:
        assert len(set(session.scalars(select(Sketch.story_id)))) == 2


def test_rebuild_reports_its_progress(database):
    run = register(database)
    save_documents(database, [document(str(path), text=f"Text {path}.") for path in range(3)], run)
    steps: list[tuple[int, int]] = []
    assert database.rebuild(progress=lambda done, of: steps.append((done, of))) == 3
    assert steps == [(3, 3)]
    assert queries.completeness(database, scope=queries.Scope(since=day(0), until=day(0))).read == 3


# --- Properties: whatever is written, what is kept in step is what would be made anew ---


@settings(max_examples=settings().max_examples // 2)
@given(steps=STEPS)
def test_incremental_rollups_equal_rebuilt_ones_on_sqlite(new_sqlite, steps):
    with new_sqlite() as database:
        carry_out(database, steps)
        counts, hits = counted(database), found_by_search(database)
        with database.reading() as session:
            for table in (DailyCompany, DailyCompanySource):
                rows = session.scalars(select(table)).all()
                assert all(row.articles > 0 or row.boilerplate > 0 for row in rows)
        database.rebuild()
        assert counted(database) == counts
        assert found_by_search(database) == hits


@settings(max_examples=settings().max_examples // 5)
@given(steps=STEPS)
def test_incremental_rollups_equal_rebuilt_ones_on_postgresql(postgres, postgres_tables, steps):
    empty(postgres_tables)
    carry_out(postgres, steps)
    counts, hits = counted(postgres), found_by_search(postgres)
    postgres.rebuild()
    assert counted(postgres) == counts
    assert found_by_search(postgres) == hits


# --- Kept answers: whatever is written, they are those of the present articles ---


def answers(database: Database) -> list[object]:
    scope = queries.Scope(since=day(-5), until=day(5), now=NOON)
    return [
        queries.company_ranking(database, scope=scope, stories=True),
        queries.overview(database, scope=scope),
        queries.completeness(database, scope=scope),
        queries.languages(database),
        *(queries.co_mentions(database, name, scope=scope) for name in ("Siemens", "Bosch")),
        *(
            queries.mention_counts(database, by, company=company, scope=scope, stories=True)
            for by in get_args(queries.By)[:9]
            for company in (None, "Siemens")
        ),
    ]


@pytest.mark.thorough
@settings(max_examples=settings().max_examples // 4)
@given(steps=STEPS)
def test_kept_answers_are_those_of_the_present_articles(new_sqlite, steps):
    with (
        new_sqlite() as database,
        open_database(f"sqlite:///{database.name}", keep_answers=True) as keeping,
    ):
        for step in steps:
            carry_out(database, [step])
            assert answers(keeping) == answers(database) == answers(keeping)


def test_kept_answer_is_computed_again_after_any_change_only(tables_url):
    statements: list[str] = []
    with (
        open_database(tables_url) as database,
        open_database(tables_url, keep_answers=True) as keeping,
    ):
        run = register(database)
        save_document(database, document("a", text=LONG, mentions=[headline("Siemens")]), run)
        before = answers(keeping)
        event.listen(keeping._engine, "before_cursor_execute", lambda *of: statements.append(of[2]))
        assert queries.company_ranking(keeping) == queries.company_ranking(database)
        statements.clear()
        assert queries.company_ranking(keeping) == queries.company_ranking(database)
        assert [statement for statement in statements if "daily" in statement] == []
        database.record_coverage("ft", day(0), "ok", 1, 1)
        now = answers(keeping)
        assert now == answers(database) != before
        # Its own writes count as well.
        keeping.record_coverage("ft", day(1), "ok", 1, 1)
        assert answers(keeping) == answers(database) != now


def test_error_is_no_kept_answer(new_sqlite):
    with (
        new_sqlite() as database,
        open_database(f"sqlite:///{database.name}", keep_answers=True) as keeping,
    ):
        for _ in range(2):
            with pytest.raises(QuestionError, match="can't count by 'mood'"):
                queries.mention_counts(keeping, "mood")  # type: ignore[arg-type]
