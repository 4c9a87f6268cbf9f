"""Deleted articles leave nothing but their addresses, and don't come back."""

from datetime import timedelta

import pytest
from sqlalchemy import MetaData, Table, select

from newscrawl.items import Document
from newscrawl.storage import Database, models, queries
from newscrawl.storage.deletion import articles_of, articles_under, delete_articles
from newscrawl.storage.saved_queries import add_query, count_history
from tests.counted import counted
from tests.worlds import LONG, NOON, body, document, moment, register, save_document

URL = "https://ft.example/a"
WORD = "Bridgework"


def story(path: str = "a", *, hours: int = 0, more: str = "") -> Document:
    return document(
        path,
        title=f"{WORD} in the harbour",
        text=f"{WORD} by Siemens. {more}{LONG}",
        mentions=[body("Siemens")],
        boilerplate=[("Bosch", 2)],
        fetched_at=moment(hours),
    )


def delete(database: Database, url: str = URL) -> None:
    articles, missing = articles_under(database, [url])
    assert missing == []
    delete_articles(database, [article.number for article in articles])


def everything(database: Database) -> str:
    """Return what all tables hold."""
    rows = []
    with database.reading() as session:
        connection = session.connection()
        metadata = MetaData()
        metadata.reflect(connection)
        for table in metadata.sorted_tables:
            chosen: Table = table
            rows += [f"{chosen.name} {row}" for row in connection.execute(select(chosen))]
    return "\n".join(rows)


@pytest.fixture
def run(database: Database) -> int:
    run = register(database)
    save_document(database, document("b", text=f"Another text. {LONG}"), run)
    save_document(database, story(), run)
    save_document(database, story(hours=1, more="Corrected. "), run)
    return run


def test_nothing_of_a_deleted_article_is_left_but_its_address(database, run):
    assert WORD.lower() in everything(database).lower()
    delete(database)
    content = everything(database)
    assert WORD.lower() not in content.lower()
    assert URL in content
    assert queries.search(database, WORD) == []
    assert [article.url for article in queries.articles(database)] == ["https://ft.example/b"]


def test_counts_follow_a_deletion(database, run):
    add_query(database, "bridges", WORD, "ann")
    count_history(database, "bridges")
    assert {row.company for row in queries.company_ranking(database)} == {"Siemens", "bridges"}
    delete(database)
    assert queries.company_ranking(database) == []
    assert queries.boilerplate(database).mentions == 0
    before = counted(database)
    database.rebuild()
    assert counted(database) == before


@pytest.mark.parametrize("path", ["a", "another-address-of-the-same-text"])
def test_deleted_article_is_not_stored_again(database, run, path):
    delete(database)
    again = story(path, hours=2, more="Corrected. ")
    assert save_document(database, again, run).outcome == "unchanged"
    assert WORD not in everything(database)
    assert articles_under(database, [URL]) == ([], [URL])


def test_all_articles_of_a_source_are_deleted(database, run):
    zdf = register(database, "zdf", "de")
    save_document(database, document("c", source="zdf", text=f"Kept. {LONG}"), zdf)
    articles = articles_of(database, "ft")
    delete_articles(database, [article.number for article in articles])
    assert [article.source for article in queries.articles(database)] == ["zdf"]


@pytest.mark.parametrize(
    ("source", "days", "left"),
    [
        (None, 0, {"ft/old", "ft/new", "zdf/old", "zdf/new"}),
        (None, 1, {"ft/new", "zdf/new"}),
        ("zdf", 1, {"ft/old", "ft/new", "zdf/new"}),
    ],
)
def test_articles_of_earlier_days_are_deleted(database, source, days, left):
    for slug in ("ft", "zdf"):
        run = register(database, slug, "gb")
        for path, day in (("old", 0), ("new", 1)):
            text = f"{slug} {path}. {LONG}"
            when = NOON + timedelta(days=day)
            save_document(database, document(path, source=slug, text=text, published=when), run)
    articles = articles_of(database, source, NOON.date() + timedelta(days=days))
    delete_articles(database, [path.number for path in articles])
    urls = {article.url for article in queries.articles(database)}
    assert urls == {f"https://{path.replace('/', '.example/')}" for path in left}


def test_waiting_page_of_a_deleted_article_is_not_fetched_again(database, run):
    with database.reading() as session:
        source = session.scalars(select(models.Source.id)).one()
    row = models.FrontierUrl(
        source_id=source,
        url=URL,
        fetch_url=URL,
        hints={"title": WORD},
        discovered_at=moment(0),
        state="done",
        due_at=moment(3),
        visits=1,
        attempts=0,
        crash_count=0,
    )
    database.write(lambda session: session.add(row))
    delete(database)
    with database.reading() as session:
        page = session.scalars(select(models.FrontierUrl)).one()
        assert (page.due_at, page.hints, page.reason) == (None, {}, "deleted")
