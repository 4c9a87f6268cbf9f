"""Pages of a crawl are stored and marked as done several at a time, on both databases."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, event, select

from newscrawl.items import Document, Hints
from newscrawl.storage import Database, SaveResult, StorageError, UnstorableDocument
from newscrawl.storage.batch import FinishedPage, Written, write_batch
from newscrawl.storage.frontier.queue import DequeuedPage, Frontier, FrontierEntry, open_frontier
from newscrawl.storage.models import Article, ArticleUrl, FrontierUrl
from tests.frontiers import SCHEDULE, article, entry
from tests.worlds import body, document, headline, register


@pytest.fixture
def frontier(database: Database) -> Frontier:
    return open_frontier(database, "ft", register(database), SCHEDULE)


def taken(frontier: Frontier, *paths: str) -> list[DequeuedPage]:
    """Pages of the queue, in this order."""
    day = datetime(2026, 11, 20, tzinfo=UTC)
    offers: list[FrontierEntry] = [
        entry(path, day.replace(minute=59 - place)) for place, path in enumerate(paths)
    ]
    frontier.enqueue(None, offers)
    return frontier.dequeue(len(paths))


def arrival(frontier: Frontier, page: DequeuedPage, stored: Document | None = None) -> FinishedPage:
    result = frontier.fetch_result(page.attempt, "read", "stored" if stored else "Empty")
    return FinishedPage(document=stored, result=result)


def write(frontier: Frontier, *arrivals: FinishedPage) -> list[Written]:
    return write_batch(frontier.database, frontier.run_id, arrivals)


def article_and_print(frontier: Frontier) -> tuple[FinishedPage, FinishedPage]:
    """A page, and its print view, which says the same in other words."""
    page, print_view = taken(frontier, "a", "print/a")
    original = article(page, text="What the article says. " * 20)
    copy = article(print_view, text="What the article says in print. " * 20)
    copy = replace(copy, article=replace(copy.article, url=original.article.url))
    return arrival(frontier, page, original), arrival(frontier, print_view, copy)


def states(database: Database) -> dict[str, tuple[str, str | None]]:
    """State and reason of each page of the queue."""
    columns = select(FrontierUrl.url, FrontierUrl.state, FrontierUrl.reason)
    with database.reading() as session:
        rows = session.execute(columns).all()
    return {url.rpartition("/")[2]: (state, reason) for url, state, reason in rows}


def test_batch_returns_the_outcome_of_each_page(database, frontier):
    first, empty, second = taken(frontier, "a", "b", "c")
    results = write(
        frontier,
        arrival(frontier, first, article(first, text="The first one. " * 30)),
        arrival(frontier, empty),
        arrival(frontier, second, article(second, text="The second one. " * 30)),
    )
    assert [isinstance(result, SaveResult) and result.outcome for result in results] == [
        "new",
        False,
        "new",
    ]
    assert states(database) == {"a": ("done", "new"), "b": ("done", "Empty"), "c": ("done", "new")}


def test_copy_in_the_same_batch_adds_only_its_url(database, frontier):
    original, copy = article_and_print(frontier)
    assert original.document
    assert copy.document
    results = write(frontier, original, copy)
    assert [result.outcome for result in results if isinstance(result, SaveResult)] == [
        "new",
        "unchanged",
    ]
    with database.reading() as session:
        (stored,) = session.scalars(select(Article.text))
        addresses = set(session.scalars(select(ArticleUrl.url)))
    assert stored == original.document.article.text
    assert addresses == {original.document.page.attempt.url, copy.document.page.attempt.url}


def test_copy_of_a_stored_article_adds_only_its_url(database, frontier):
    original, copy = article_and_print(frontier)
    write(frontier, original)
    assert write(frontier, copy) == [SaveResult("unchanged", 0)]
    with database.reading() as session:
        assert session.scalar(select(Article.revision)) == 1


def test_revisited_page_revises_its_article(database, frontier):
    (page,) = taken(frontier, "a")
    write(frontier, arrival(frontier, page, article(page, text="As it was. " * 30)))
    again = replace(page, attempt=replace(page.attempt, first=False))
    corrected = article(again, text="As it is now. " * 30)
    (result,) = write(frontier, arrival(frontier, again, corrected))
    assert result == SaveResult("revised", 0)


def test_unstorable_document_does_not_fail_its_batch(database, frontier):
    page, long = taken(frontier, "a", "b")
    unstorable = article(long)
    address = "https://ft.example/" + "x" * 3000
    unstorable = replace(unstorable, article=replace(unstorable.article, url=address))
    stored, refused = write(
        frontier, arrival(frontier, page, article(page)), arrival(frontier, long, unstorable)
    )
    assert isinstance(stored, SaveResult)
    assert isinstance(refused, UnstorableDocument)
    assert states(database)["b"][0] == "pending"


def test_batch_is_atomic(database, frontier):
    page, second = taken(frontier, "a", "b")
    stranger = article(second)
    stranger = replace(stranger, page=replace(stranger.page, source="unknown"))
    with pytest.raises(StorageError, match="no source"):
        write(frontier, arrival(frontier, page, article(page)), arrival(frontier, second, stranger))
    assert {state for state, _ in states(database).values()} == {"pending"}
    with database.reading() as session:
        assert session.scalars(select(Article.id)).all() == []


def test_page_outside_the_frontier_is_stored(frontier):
    (result,) = write(frontier, FinishedPage(document=document("a")))
    assert isinstance(result, SaveResult)
    assert result.outcome == "new"


# Of a batch in a database without saved queries, with BEGIN.
MAX_STATEMENTS = 32


@contextmanager
def sent_statements() -> Iterator[list[str]]:
    """Yield a list that gets the SQL of each statement."""
    sent: list[str] = []

    def record(_connection, _cursor, statement: str, *_rest: object) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", record)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", record)


def new_articles(batch: str, number: int) -> list[FinishedPage]:
    """Pages with texts and companies of their own."""
    return [
        FinishedPage(
            document=document(
                f"{batch}/{place}",
                text=" ".join(f"{batch}{place}word{word}" for word in range(60)),
                mentions=[headline(f"Company {batch} {place}"), body(f"Other {batch} {place}")],
                boilerplate=[(f"Third {batch} {place}", 2)],
            )
        )
        for place in range(number)
    ]


def test_larger_batch_sends_the_same_statements(frontier):
    """Neither a statement for each article, nor a parameter for each value of a list."""
    sent: dict[int, list[str]] = {}
    for number in (20, 60):
        with sent_statements() as sent[number]:
            results = write(frontier, *new_articles(f"of-{number}", number))
        assert [result.outcome for result in results if isinstance(result, SaveResult)] == [
            "new"
        ] * number
    assert sent[60] == sent[20]
    assert len(sent[60]) <= MAX_STATEMENTS


# --- A site under maintenance answers each address with the same page ---

MAINTENANCE = " ".join(f"Our engineers work on server {number}." for number in range(30))
HEADLINES = {
    "a": "Bridge over the harbour opens",
    "b": "Museum shows oldest maps",
    "c": "Farmers expect poor harvest",
}


def told(page: DequeuedPage, title: str, text: str, *, first: bool = True) -> Document:
    """The article of a page whose headline a feed has told."""
    path = page.attempt.url[-1]
    document = article(page, title=title, text=text)
    attempt = replace(page.attempt, first=first)
    hints = Hints(title=HEADLINES[path])
    return replace(document, page=replace(document.page, hints=hints, attempt=attempt))


def redirected(document: Document, path: str) -> Document:
    """The document of a page that was redirected there."""
    url = f"https://ft.example/{path}"
    return replace(
        document,
        page=replace(document.page, final_url=url),
        article=replace(document.article, url=url),
    )


@pytest.mark.parametrize("to", [None, "maintenance"])
@pytest.mark.parametrize("together", [True, False])
def test_articles_hidden_by_maintenance_are_read_later(database, frontier, to, together):
    pages = taken(frontier, *HEADLINES)
    hidden = [told(page, "The Saltmere Times", MAINTENANCE) for page in pages]
    if to:
        hidden = [redirected(hidden_page, to) for hidden_page in hidden]
    parts = [
        arrival(frontier, page, hidden_page)
        for page, hidden_page in zip(pages, hidden, strict=True)
    ]
    for batch in [parts] if together else [[part] for part in parts]:
        write(frontier, *batch)
    assert states(database) == {
        "a": ("done", "new"),
        "b": ("done", "unannounced"),
        "c": ("done", "unannounced"),
    }
    later = [
        told(page, title, " ".join(f"{title} {number}." for number in range(30)), first=False)
        for page, title in zip(pages, HEADLINES.values(), strict=True)
    ]
    results = write(
        frontier,
        *(
            arrival(frontier, page, hidden_page)
            for page, hidden_page in zip(pages, later, strict=True)
        ),
    )
    assert [
        hidden_page.outcome for hidden_page in results if isinstance(hidden_page, SaveResult)
    ] == ["revised", "new", "new"]


def test_copy_under_the_headline_of_the_feed_is_an_alias(database, frontier):
    pages = taken(frontier, "a", "b")
    text = "The museum shows the oldest maps of the harbour. " * 8
    copies = [told(page, "Maps", text) for page in pages]
    write(frontier, *(arrival(frontier, p, copy) for p, copy in zip(pages, copies, strict=True)))
    assert states(database) == {"a": ("done", "new"), "b": ("done", "alias")}
