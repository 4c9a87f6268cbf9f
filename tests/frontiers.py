"""Entries, pages and runs of a frontier, as short as a test can write them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from newscrawl.items import Document, FetchAttempt, Hints
from newscrawl.storage import Database
from newscrawl.storage.batch import FinishedPage, write_batch
from newscrawl.storage.frontier.listings import Reading, Schedule
from newscrawl.storage.frontier.queue import DequeuedPage, Frontier, FrontierEntry, open_frontier
from tests.worlds import document, register

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SCHEDULE = Schedule(
    revisits=(HOUR, 6 * HOUR, DAY),
    retries=(10 * MINUTE, HOUR),
    poll_min=10 * MINUTE,
    poll_max=6 * HOUR,
)
# Without rests: what failed may be taken again at once.
AT_ONCE = replace(SCHEDULE, retries=(timedelta(), timedelta()))


def now() -> datetime:
    return datetime.now(UTC)


def entry(path: str, moment: datetime | None = None, **hints: object) -> FrontierEntry:
    url = f"https://ft.example/{path}"
    told = Hints(published=moment, **hints)  # type: ignore[arg-type]
    return FrontierEntry(url=url, fetch_url=f"{url}?utm_source=rss", hints=told, moment=moment)


def reading(**facts: object) -> Reading:
    usual = Reading(
        etag='"1"',
        last_modified=None,
        body_hash="h",
        skipped_before=None,
        entry_count=2,
        fresh=1,
        newest_at=None,
        interval=30 * MINUTE,
    )
    return replace(usual, **facts)  # type: ignore[arg-type]


def next_run(database: Database, schedule: Schedule = SCHEDULE) -> Frontier:
    """The frontier as another crawl of the source sees it."""
    return open_frontier(database, "ft", register(database), schedule)


def after(rest: timedelta, frontier: Frontier) -> Frontier:
    """The same frontier at a later time."""
    return replace(frontier, clock=lambda: now() + rest)


def urls(pages: list[DequeuedPage]) -> list[str]:
    return [page.attempt.url.rpartition("/")[2] for page in pages]


def article(page: DequeuedPage, **facts: object) -> Document:
    """The document of a page that was fetched."""
    fetched = document(page.attempt.url.rpartition("/")[2], **facts)  # type: ignore[arg-type]
    return replace(fetched, page=replace(fetched.page, attempt=page.attempt))


def store(frontier: Frontier, attempt: FetchAttempt, document: Document) -> None:
    """Store the document and mark its page as done, as a crawl does."""
    arrival = FinishedPage(
        document=document, result=frontier.fetch_result(attempt, "read", "stored")
    )
    write_batch(frontier.database, frontier.run_id, [arrival])
