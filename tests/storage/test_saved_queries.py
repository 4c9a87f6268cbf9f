"""Saved queries: counted like companies, once, and in step with the articles."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from sqlalchemy import Connection, select, text

from newscrawl.monitoring.alerts import alert_articles, find_alerts
from newscrawl.monitoring.digests import make_digest
from newscrawl.storage import (
    CorrectionError,
    Database,
    QuestionError,
    company_alerts,
    open_database,
    queries,
    saved_queries,
)
from newscrawl.storage.company_alerts import Recipient, add_recipient, list_recipients
from newscrawl.storage.corrections import add_corrections, missed_mentions
from newscrawl.storage.deletion import reduce_articles
from newscrawl.storage.models import Article, QueryMatch
from newscrawl.storage.queries import Scope
from newscrawl.storage.query_matches import QueryMatcher
from newscrawl.storage.saved_queries import (
    add_query,
    count_history,
    edit_query,
    list_queries,
    remove_query,
    rename_query,
)
from tests.counted import counted
from tests.steps import STEPS, Step, carry_out
from tests.worlds import (
    body,
    day,
    document,
    empty,
    headline,
    moment,
    register,
    save_document,
    save_documents,
)

STRIKE = "(strike OR Streik) NEAR/3 (rail OR Bahn) NOT football"


def save_query(database: Database, name: str, text: str) -> None:
    add_query(database, name, text, "ann")
    count_history(database, name)


def fill(database: Database) -> int:
    run = register(database)
    save_documents(
        database,
        [
            document("a", title="Strike on the rail", text="Rail strike.", published=moment(0)),
            document(
                "b",
                text="Der Streik der Bahn dauert an.",
                published=moment(1),
                language="de",
                mentions=[body("Siemens")],
            ),
            document("c", text="A strike, and far away from it all the rail.", published=moment(1)),
            document("d", text="Football: a rail strike.", published=moment(2)),
        ],
        run,
    )
    return run


def numbers(database: Database, name: str, **scope: date | str) -> list[int | None]:
    """Return the articles of a query by day, without the days after them."""
    rows = queries.mention_counts(
        database, "day", company=name, scope=Scope(since=day(0), until=day(2), **scope)
    )
    return [row.hits.articles if row.hits else 0 for row in rows]


def test_saved_query_counts_its_history_and_new_articles(database):
    run = fill(database)
    save_query(database, "rail strike", STRIKE)
    assert found(database) == ["b", "a"]
    save_document(database, document("e", text="Streik bei der Bahn.", published=moment(2)), run)
    assert found(database) == ["e", "b", "a"]
    (row,) = [
        ranked for ranked in queries.company_ranking(database) if ranked.company == "rail strike"
    ]
    assert (row.hits.articles, row.hits.in_title, row.hits.in_body) == (3, 2, 6)


def found(database: Database, name: str = "rail strike") -> list[str]:
    return [hit.article.url[-1] for hit in queries.company_articles(database, name)]


def test_changed_and_reduced_articles_are_matched_again(database):
    run = fill(database)
    save_query(database, "rail strike", STRIKE)
    save_document(
        database, document("c", text="A rail strike and more of it.", published=moment(1)), run
    )
    assert found(database) == ["c", "b", "a"]
    with database.reading() as session:
        number = session.scalar(select(Article.id).where(Article.url.endswith("/c")))
    assert number is not None
    reduce_articles(
        database, {number: document("c", title="Nothing", text="", access="disallowed")}
    )
    assert found(database) == ["b", "a"]


def test_query_has_shares_companions_snippets_and_first_mentions(database):
    fill(database)
    save_query(database, "rail strike", STRIKE)
    save_query(database, "football", "football")
    shares = queries.share_of_voice(database, ["rail strike", "football", "Siemens"])
    assert [share.number for share in shares] == [2, 1, 1]
    (beside,) = queries.co_mentions(database, "rail strike")
    assert (beside.company, beside.articles) == ("Siemens", 1)
    assert [row.company for row in queries.co_mentions(database, "Siemens")] == ["rail strike"]
    newest, _ = queries.company_articles(database, "rail strike")
    assert newest.article.companies == ("Siemens", "rail strike")
    assert [[s.text[a:b] for a, b in s.marks] for s in newest.snippets] == [["Streik", "Bahn"]]
    assert (newest.article.in_title, newest.article.in_body) == (0, 2)  # the words of the query
    listed = {row.url[-1]: (row.in_title, row.in_body) for row in queries.articles(database)}
    assert listed["b"] == (0, 1)  # Siemens, without the words of the queries
    assert queries.mention_counts(database, "month")[0].hits.articles == 1  # of companies alone


def test_first_article_of_a_watched_query_is_an_alert(database):
    run = register(database)
    save_query(database, "rail strike", STRIKE)
    company_alerts.watch_company(database, "rail strike")
    later = datetime.now(UTC) + timedelta(days=1)
    page = document("a", text="Rail strike.", published=moment(1), fetched_at=later)
    save_document(database, page, run)
    (alert,) = find_alerts(database)
    assert (alert.kind, alert.company, alert.day) == ("first mention", "rail strike", day(1))
    assert alert_articles(database, alert).number == 1
    digest = make_digest(database, "daily", day(1))
    assert [(page.company, page.hits.articles) for page in digest.companies] == [("rail strike", 1)]


def test_edited_query_keeps_its_numbers_until_it_is_counted(database):
    fill(database)
    save_query(database, "rail strike", STRIKE)
    assert edit_query(database, "rail strike", "football OR Streik", "bob")
    assert found(database) == ["b", "a"]
    (row,) = list_queries(database)
    assert (row.counted, row.text, row.pending_text) == (False, STRIKE, "football OR Streik")
    count_history(database, "rail strike")
    assert found(database) == ["d", "b"]
    (row,) = list_queries(database)
    assert (row.counted, row.text, row.changed_by) == (True, "football OR Streik", "bob")


def test_killed_count_continues_and_misses_nothing(database, monkeypatch):
    run = register(database)
    texts = [document(f"a{n}", text=f"Rail {n}.", published=moment(n % 3)) for n in range(7)]
    save_documents(database, texts, run)
    monkeypatch.setattr(saved_queries, "_AT_ONCE", 2)
    add_query(database, "rail", "rail", "ann")

    def stop(done: int, _of: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_history(database, "rail", stop)
    assert queries.company_articles(database, "rail") == []
    save_document(database, document("b", text="Rail again.", published=moment(-9)), run)
    steps: list[tuple[int, int]] = []
    count_history(database, "rail", lambda done, of: steps.append((done, of)))
    assert steps[-1] == (8, 8) if steps[0][0] > 2 else steps
    assert len(queries.company_articles(database, "rail")) == 8
    with database.reading() as session:
        assert len(session.scalars(select(QueryMatch.article_id)).all()) == 8


def test_renamed_query_keeps_numbers_watches_alerts_and_recipients(database):
    run = register(database)
    save_query(database, "rail strike", STRIKE)
    company_alerts.watch_company(database, "rail strike")
    company_alerts.watch_company(database, "rail strike", "Siemens")
    later = datetime.now(UTC) + timedelta(days=1)
    text = "Rail strike at Siemens."
    mentions = [body("Siemens", text.index("Siemens"))]
    item = document("a", text=text, mentions=mentions, published=moment(1), fetched_at=later)
    save_document(database, item, run)
    before = counted(database)
    company_alerts.record_alerts(database, find_alerts(database))
    desk = Recipient(name="desk", kind="e-mail", address="a@b.example", companies=("rail strike",))
    add_recipient(database, desk)
    shown = numbers(database, "rail strike")
    assert rename_query(database, "rail strike", " a walkout ", "bob") == "a walkout"
    assert numbers(database, "a walkout") == shown
    assert counted(database) == before
    assert [(row.name, row.changed_by) for row in list_queries(database)] == [("a walkout", "bob")]
    watched = [(item.company, item.other) for item in company_alerts.watched_companies(database)]
    assert watched == [("Siemens", "a walkout"), ("a walkout", "")]
    assert find_alerts(database) == []
    stored = [item.alert for item in company_alerts.list_alerts(database)]
    assert {item.cause.rpartition("/")[0] for item in stored} == {
        "first/a walkout", "first/Siemens/a walkout",
    }  # fmt: skip
    assert list_recipients(database)[0].companies == ("a walkout",)
    save_document(database, document("f", text="A rail strike again.", published=moment(2)), run)
    assert sum(item or 0 for item in numbers(database, "a walkout")) == sum(map(int, shown)) + 1


@pytest.mark.parametrize("name", ["Siemens", "siemens", "Bosch GmbH", "football", ""])
def test_query_is_not_renamed_to_a_name_in_use(database, name):
    fill(database)
    save_query(database, "rail strike", STRIKE)
    save_query(database, "Football", "football")
    with pytest.raises(QuestionError):
        rename_query(database, "rail strike", name, "bob", taken=["Bosch GmbH"])
    assert rename_query(database, "rail strike", "Rail Strike", "bob") == "Rail Strike"
    with pytest.raises(QuestionError, match="rail strikes"):
        rename_query(database, "rail strikes", "other", "bob")


def test_removed_query_leaves_nothing(database):
    fill(database)
    before = counted(database)
    save_query(database, "rail strike", STRIKE)
    assert counted(database) != before
    company_alerts.watch_company(database, "rail strike")
    remove_query(database, "rail strike")
    assert counted(database) == before
    assert queries.company_names(database) == ["Siemens"]
    assert company_alerts.watched_companies(database) == []
    with database.reading() as session:
        assert session.scalars(select(QueryMatch.article_id)).all() == []


def test_company_that_gets_the_name_of_a_query_is_counted_apart(database):
    run = fill(database)
    save_query(database, "Bosch", "strike")
    company_alerts.watch_company(database, "Bosch")
    company_alerts.watch_company(database, "Bosch", "Siemens")
    to = Recipient(name="press", kind="e-mail", address="a@b.example", companies=("Bosch",))
    add_recipient(database, to)
    save_document(database, document("z", text="Bosch grows.", mentions=[headline("Bosch")]), run)
    assert [item.article.url[-1] for item in queries.company_articles(database, "Bosch")] == ["z"]
    (row,) = list_queries(database)
    assert row.name.startswith("Bosch (saved query ")
    watched = {(item.company, item.other) for item in company_alerts.watched_companies(database)}
    assert watched == {(row.name, ""), (row.name, "Siemens")}
    assert [item.companies for item in list_recipients(database)] == [(row.name,)]
    assert len(queries.company_articles(database, row.name)) == 3


def test_mention_of_a_query_is_not_corrected(database):
    fill(database)
    save_query(database, "rail strike", STRIKE)
    page = queries.article_page(database, "https://ft.example/c")
    assert page is not None
    missed = missed_mentions(page, "rail strike", "strike")
    with pytest.raises(CorrectionError, match="'rail strike' is a saved query"):
        add_corrections(database, page.row.url, missed, "ann")
    assert found(database) == ["b", "a"]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("siemens", "rail", "is named 'Siemens'"),
        ("BMW", "rail", "is named 'BMW'"),
        ("taken", "rail", "is named 'Taken'"),
        (" ", "rail", "1 to 80 characters"),
        ("a" * 81, "rail", "1 to 80 characters"),
        ("a\u202eb", "rail", "control characters"),
        ("rail", "rail OR", "must follow OR"),
    ],
)
def test_invalid_query_is_refused(database, name, text, fault):
    fill(database)
    add_query(database, "Taken", "rail", "ann")
    with pytest.raises(QuestionError, match=fault):
        add_query(database, name, text, "ann", taken=["BMW"])
    assert [row.name for row in list_queries(database)] == ["Taken"]


def test_fault_of_a_query_is_told_while_a_crawl_writes(tmp_path):
    url = f"sqlite:///{tmp_path}/news.sqlite?timeout=0.1"

    def work(_: Connection) -> None:
        for save in (add_query, edit_query):
            with pytest.raises(QuestionError, match="must follow OR"):
                save(database, "rail", "rail OR", "ann")

    with open_database(url) as crawl, open_database(url) as database:
        crawl.transact(work)


def test_unknown_query_is_named_with_similar_ones(database):
    add_query(database, "Rail strike", "rail", "ann")
    with pytest.raises(QuestionError, match="did you mean Rail strike"):
        saved_queries.find_query(database, "rail strik")
    assert saved_queries.find_query(database, "RAIL strike").name == "Rail strike"


def test_number_of_queries_is_limited(database, monkeypatch):
    monkeypatch.setattr(saved_queries, "MAX_QUERIES", 1)
    add_query(database, "one", "rail", "ann")
    with pytest.raises(QuestionError, match="remove one first"):
        add_query(database, "two", "rail", "ann")


def test_query_is_saved_after_the_transactions_that_do_not_know_it(postgres, postgres_tables):
    empty(postgres_tables)
    run = register(postgres)
    with ThreadPoolExecutor(1) as threads, postgres.reading() as session:
        QueryMatcher(session.connection())  # as a transaction that stores articles has read them
        saving = threads.submit(add_query, postgres, "rail", "rail", "ann")
        waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        while not saving.done():
            with postgres.reading() as other:
                if other.execute(waiting).scalar():
                    break
        assert not saving.done()
        session.rollback()
        saving.result()
    save_document(postgres, document("a", text="Rail."), run)
    count_history(postgres, "rail")
    assert found(postgres, "rail") == ["a"]


# --- Properties ---

QUERIES = {
    "words": "alpha1 OR headline",
    "near": "alpha1 NEAR/2 alpha2 NOT language:unknown",
    "source": "beta1 source:faz",
    "zero": "0 title:headline",
}


def _keeps_in_step(database: Database, steps: list[Step]) -> None:
    carry_out(database, [])  # which registers the sources
    for name, query in QUERIES.items():
        save_query(database, name, query)
    carry_out(database, steps)
    counts = counted(database)
    database.rebuild()
    assert counted(database) == counts
    for name in QUERIES:
        edit_query(database, name, None, "ann")
        count_history(database, name)
    assert counted(database) == counts


@settings(max_examples=settings().max_examples // 4)
@given(steps=STEPS)
def test_queries_stay_in_step_on_sqlite(new_sqlite, steps):
    with new_sqlite() as database:
        _keeps_in_step(database, steps)


@settings(max_examples=settings().max_examples // 6)
@given(steps=STEPS)
def test_queries_stay_in_step_on_postgresql(postgres, postgres_tables, steps):
    empty(postgres_tables)
    _keeps_in_step(postgres, steps)
