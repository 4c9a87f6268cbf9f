"""The quarantine: versions of stored articles that a revisit brought and that were not applied.

What is done here is part of the transaction that stores or settles the page. People apply, discard
and restore by `storage.revisions`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from newscrawl.items import Mention
from newscrawl.storage.documents import Record, clean
from newscrawl.storage.models import Article, Incident, QuarantinedRevision, Source
from newscrawl.storage.revision_check import (
    Reason,
    SourceContext,
    Version,
    names_of_site,
    reason_against,
)

State = Literal["pending", "superseded", "applied", "discarded", "replaced"]

# The same text is not listed again once it was turned down in one of these ways.
_TURNED_DOWN: tuple[State, ...] = ("discarded", "replaced")
_PENDING = QuarantinedRevision.state == "pending"
# What is kept of a revision that is no longer pending is its hash, not its text.
_EMPTIED: Mapping[str, Any] = {
    "text": "",
    "facts": {},
    "mentions": [],
    "boilerplate": {},
    "fingerprint": None,
}
_TIMES = ("published_at", "modified_at")
_FACTS = (
    "authors",
    *_TIMES,
    "language",
    "section",
    "site_name",
    "image",
    "paywalled",
    "access",
    "kind",
    "method",
    "confidence",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRevision:
    """A version as it goes into the quarantine; one without text is a page that holds no article
    any more."""

    article_id: int
    run_id: int
    reason: Reason
    note: str
    seen_at: datetime
    content_hash: str
    title: str | None = None
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    mentions: Sequence[Mention] = ()
    boilerplate: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str | None = None


def reason_to_hold(
    connection: Connection, record: Record, article_id: int, held_rank: int
) -> Reason | None:
    """Return why the record would make the article worse, which its text differs from or which it
    holds less of."""
    query = (
        select(
            Article.title,
            Article.text,
            Article.kind,
            Article.site_name,
            Source.id,
            Source.name,
            Source.slug,
            Source.home,
        )
        .join(Source, Source.id == Article.source_id)
        .where(Article.id == article_id)
    )
    row = connection.execute(query).one()
    names = (*names_of_site(row.name, row.slug, row.home), row.site_name)
    changed = layout_changed_since(connection, row.id)
    return reason_against(
        Version(title=row.title, text=row.text, rank=held_rank, kind=row.kind),
        version_of(record),
        SourceContext(
            names=tuple(filter(None, (*names, record.columns["site_name"]))),
            layout_changed=changed is not None and changed <= record.seen_at,
        ),
    )


def layout_changed_since(connection: Connection, source_id: int) -> datetime | None:
    """Return since when the watch has known that the source's pages have changed, or those of most
    sources; None where they are as they were."""
    query = select(func.min(Incident.opened_at)).where(
        Incident.kind == "layout_changed",
        or_(Incident.source_id == source_id, Incident.source_id.is_(None)),
        Incident.recovered_at.is_(None),
    )
    return connection.execute(query).scalar()


def version_of(record: Record) -> Version:
    """Return a record as the rule looks at it."""
    columns = record.columns
    return Version(
        title=columns["title"],
        text=columns["text"],
        rank=record.rank,
        kind=columns["kind"],
        access=columns["access"],
        barrier=record.barrier,
    )


def held_revision(record: Record, article_id: int, run_id: int, reason: Reason) -> HeldRevision:
    """Return what is kept of a record in the quarantine."""
    if reason == "no_article":
        barrier = record.barrier
        kind = barrier.kind if barrier else record.columns["kind"]
        return HeldRevision(
            article_id=article_id,
            run_id=run_id,
            reason=reason,
            note=f"the page is of the kind {kind!r}",
            seen_at=record.seen_at,
            content_hash=no_article_hash(kind),
            title=clean(barrier.title) if barrier and barrier.title else None,
        )
    return HeldRevision(
        article_id=article_id,
        run_id=run_id,
        reason=reason,
        note="",
        seen_at=record.seen_at,
        content_hash=record.content_hash,
        title=record.columns["title"],
        text=record.columns["text"],
        facts=packed(record.columns),
        mentions=record.mentions,
        boilerplate=record.boilerplate,
        fingerprint=record.fingerprint,
    )


def no_article_hash(kind: str) -> str:
    """Return what stands for the hash of a page without an article: pages of one kind are alike."""
    return sha256(f"no article\0{kind}".encode()).hexdigest()


def hold(connection: Connection, revision: HeldRevision) -> Literal["held", "again", "turned_down"]:
    """Put a revision into the quarantine, in place of the one that is pending; "again" where that
    says the same, "turned_down" where an operator has discarded what it says."""
    table = QuarantinedRevision
    known = connection.execute(
        select(table.id, table.state, table.content_hash).where(
            table.article_id == revision.article_id,
            or_(_PENDING, table.content_hash == revision.content_hash),
        )
    ).all()
    alike = [row for row in known if row.content_hash == revision.content_hash]
    if any(row.state in _TURNED_DOWN for row in alike):
        return "turned_down"
    values = {
        "run_id": revision.run_id,
        "reason": revision.reason,
        "note": revision.note,
        "seen_at": revision.seen_at,
        "title": revision.title,
        "text": revision.text,
        "characters": len(revision.text),
        "facts": dict(revision.facts),
        "mentions": [_packed_mention(mention) for mention in revision.mentions],
        "boilerplate": dict(revision.boilerplate),
        "content_hash": revision.content_hash,
        "fingerprint": revision.fingerprint,
    }
    pending = next((row for row in known if row.state == "pending"), None)
    if pending is not None:
        times = {"times": table.times + 1}
        connection.execute(update(table).where(table.id == pending.id).values(values | times))
        return "again" if pending in alike else "held"
    first = {
        "article_id": revision.article_id,
        "state": "pending",
        "first_seen_at": revision.seen_at,
        "times": 1,
    }
    connection.execute(insert(table).values(values | first))
    return "held"


def is_turned_down(connection: Connection, article_id: int, content_hash: str) -> bool:
    """Whether an operator has discarded this version of the article, or replaced it."""
    table = QuarantinedRevision
    query = select(table.id).where(
        table.article_id == article_id,
        table.content_hash == content_hash,
        table.state.in_(_TURNED_DOWN),
    )
    return connection.execute(query.limit(1)).first() is not None


def close_pending(connection: Connection, article_id: int, state: State) -> None:
    """End what is pending of an article: a good version came, or an operator has decided."""
    table = QuarantinedRevision
    ended = {"state": state, "closed_at": datetime.now(UTC), **_EMPTIED}
    connection.execute(update(table).where(table.article_id == article_id, _PENDING).values(ended))


def turn_down(connection: Connection, article_id: int, content_hash: str, moment: datetime) -> None:
    """Note that an operator has put another version in the place of this one of an article."""
    accept(connection, article_id, content_hash)
    values = {
        "article_id": article_id,
        "run_id": 0,
        "state": "replaced",
        "reason": "",
        "note": "",
        "first_seen_at": moment,
        "seen_at": moment,
        "closed_at": moment,
        "times": 0,
        "title": None,
        "characters": 0,
        "content_hash": content_hash,
        **_EMPTIED,
    }
    connection.execute(insert(QuarantinedRevision).values(values))


def accept(connection: Connection, article_id: int, content_hash: str) -> None:
    """Forget that a version of an article was turned down: an operator wants it back."""
    table = QuarantinedRevision
    connection.execute(
        delete(table).where(
            table.article_id == article_id,
            table.content_hash == content_hash,
            table.state.in_(_TURNED_DOWN),
        )
    )


def packed(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return an article's columns as JSON holds them, without address, headline and text."""
    facts = {name: columns[name] for name in _FACTS}
    times = {name: facts[name].isoformat() for name in _TIMES if facts[name] is not None}
    return facts | times


def unpacked(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that `packed` has packed."""
    times = {name: datetime.fromisoformat(facts[name]) for name in _TIMES if facts.get(name)}
    return {**facts, **times}


def mention_of(packed_one: Mapping[str, Any]) -> Mention:
    """Return a mention as the quarantine keeps it."""
    return Mention(**packed_one)


def _packed_mention(mention: Mention) -> dict[str, Any]:
    return {
        "company": clean(mention.company),
        "surface": clean(mention.surface),
        "start": mention.start,
        "end": mention.end,
        "section": mention.section,
        "rule": mention.rule,
    }
