"""Names that nobody has registered: stored with an article, replaced and deleted with it."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from newscrawl.items import Document, UnregisteredName
from newscrawl.storage import Database
from newscrawl.storage.deletion import articles_under, delete_articles
from newscrawl.storage.models import UnregisteredName as Row
from newscrawl.storage.queries import Scope
from newscrawl.storage.queries.suggestions import named_sentences, suggested_names
from newscrawl.storage.unregistered import MOST_SENTENCES
from tests.worlds import LONG, day, document, moment, register, save_document, save_documents


def story(path: str, *names: str, days: int = 0) -> Document:
    unregistered = tuple(UnregisteredName(name, f"{name} opens in {path}.") for name in names)
    when = moment(24 * days)
    written = document(path, text=f"{path} {LONG}", published=when, fetched_at=when)
    return replace(written, unregistered=unregistered)


@pytest.fixture
def run(database: Database) -> int:
    run = register(database)
    save_documents(
        database,
        [story("a", "Moser Bau", "Yorkshire Soap"), story("b", "Moser Bau", days=1), story("c")],
        run,
    )
    return run


def names(database: Database, scope: Scope | None = None) -> list[tuple[str, int, str]]:
    rows = suggested_names(database, {"Acme"}.__contains__, scope=scope or Scope())
    return [(row.name, row.articles, row.sentence) for row in rows]


def test_names_are_listed_by_articles_with_the_newest_sentence(database, run):
    save_document(database, story("d", "Acme"), run)
    soap = ("Yorkshire Soap", 1, "Yorkshire Soap opens in a.")
    assert names(database) == [("Moser Bau", 2, "Moser Bau opens in b."), soap]
    assert names(database, Scope(until=day(0))) == [("Moser Bau", 1, "Moser Bau opens in a."), soap]


def test_names_follow_their_article(database, run):
    changed = replace(story("b", "Lian Sports", days=2), page=story("b", days=2).page)
    revised = replace(changed, article=replace(changed.article, text=f"b, again. {LONG}"))
    assert save_document(database, revised, run).outcome == "revised"
    assert [name for name, *_ in names(database)] == ["Lian Sports", "Moser Bau", "Yorkshire Soap"]
    articles, _ = articles_under(database, ["https://ft.example/a"])
    delete_articles(database, [article.number for article in articles])
    assert [name for name, *_ in names(database)] == ["Lian Sports"]


def test_only_the_newest_articles_keep_the_sentence(database, run):
    more = [story(f"x{number}", "Moser Bau", days=2) for number in range(MOST_SENTENCES)]
    save_documents(database, more, run)
    with database.reading() as session:
        kept = select(func.count()).where(Row.name == "Moser Bau", Row.sentence != "")
        assert session.scalar(kept) == MOST_SENTENCES
    assert names(database)[0][1] == MOST_SENTENCES + 2
    sentences = named_sentences(database, "Moser Bau", limit=1)
    assert sentences[0].sentence == f"Moser Bau opens in x{MOST_SENTENCES - 1}."
