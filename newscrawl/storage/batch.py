"""What came of the pages that a crawl asked for, several pages in one transaction.

Each of them in one of its own would cost twice the time (make bench-crawl). A crawl that is killed
loses no more than the pages of one batch, which the next crawl asks for again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from newscrawl.items import Article, Document
from newscrawl.storage.addresses import stored_urls
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.database import Database
from newscrawl.storage.documents import Record, record_of
from newscrawl.storage.errors import UnstorableDocument
from newscrawl.storage.frontier.queue import FetchResult, mark_done, mark_stored
from newscrawl.storage.saving import LostArticle, Saved, hold_lost_article, save_records


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedPage:
    """A page that a crawl is done with: the document that came of it, if one did, and what is to
    be written into its row of the queue, if it has one. `lost` is a page that was looked at again
    and holds no article any more."""

    document: Document | None = None
    result: FetchResult | None = None
    lost: LostArticle | None = None


# None for a page without a document, unless an article was stored under its address; else what
# became of it or why no database can hold it.
Written = Saved | UnstorableDocument | None


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A document on its way into the tables, and where its arrival stands in the batch."""

    place: int
    document: Document
    record: Record

    @property
    def is_first(self) -> bool:
        visit = self.document.page.visit
        return visit is not None and visit.first


def write_batch(database: Database, run_id: int, arrivals: Sequence[FinishedPage]) -> list[Written]:
    """Store the documents and write the results of their fetches, in one transaction: all of it
    or nothing. Raise StorageError.

    A page whose document can't be stored is not settled. One that we see for the first time, of an
    article that we have already, adds its address and changes nothing else.
    """
    written: list[Written] = [None] * len(arrivals)
    incoming = []
    for place, document in enumerate(one.document for one in arrivals):
        if document is not None:
            try:
                incoming.append(_Incoming(place, document, record_of(document)))
            except UnstorableDocument as error:
                written[place] = error

    def work(session: Session) -> tuple[list[Saved], list[Saved | None]]:
        connection = session.connection()
        records = _without_copies(connection, incoming)
        analysis = Analysis(connection)
        saved = save_records(connection, [(record, run_id) for record in records], analysis)
        analysis.write()
        for one, record, outcome in zip(incoming, records, saved, strict=True):
            if (result := arrivals[one.place].result) is not None:
                mark_stored(connection, result, _reason_of(outcome), record.urls)
        without = [one.result for one in arrivals if one.document is None]
        mark_done(connection, [result for result in without if result is not None])
        held = [
            hold_lost_article(connection, one.lost, run_id) if one.lost else None
            for one in arrivals
        ]
        return saved, held

    stored, held = database.write(work)
    for one, saved in zip(incoming, stored, strict=True):
        written[one.place] = saved
    return [one or other for one, other in zip(written, held, strict=True)]


def _reason_of(saved: Saved) -> str:
    """What is noted in the queue: a page that says again what was quarantined says nothing new."""
    return "unchanged" if saved.again else saved.outcome


def _without_copies(connection: Connection, incoming: Sequence[_Incoming]) -> list[Record]:
    """The documents' records; those of copies hold nothing but their addresses."""
    asked = (url for one in incoming if one.is_first for url in _addresses(one))
    met = stored_urls(connection, asked)
    records = []
    for one in incoming:
        is_copy = one.is_first and not met.isdisjoint(_addresses(one))
        records.append(_only_address(one.document) if is_copy else one.record)
        met.update(one.record.urls)
    return records


def _addresses(one: _Incoming) -> set[str]:
    return {one.record.urls[0], one.document.page.url}


def _only_address(document: Document) -> Record:
    """A record that adds its page's address to the article and changes nothing else.

    A print view, an AMP twin or a reader's view says the same in slightly other words, which
    would otherwise count as a correction of the article.
    """
    nothing = Article(url=document.article.url, kind="other")
    record = record_of(replace(document, article=nothing, mentions=(), barrier=None))
    return replace(record, only_address=True)
