"""The quarantine: new versions of stored articles that are worse and are not applied.

One rule decides for all that revise articles: a crawl's revisits, the ingestion of archives and
`newscrawl reextract`, in the transaction that stores the page. People apply, discard and restore
versions by `storage.revisions`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Literal, get_args
from urllib.parse import urlsplit

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    update,
)

from newscrawl.items import Barrier, Mention, copy_fields
from newscrawl.storage.documents import BODY, Record, clean
from newscrawl.storage.models import (
    Article,
    FrontierUrl,
    Incident,
    QuarantinedRevision,
    Source,
)
from newscrawl.storage.words import Wording, folded_words, lines, resemblance, writes_no_blanks
from newscrawl.text import weight_of

# "no_article": the page is now a consent page, a login page, an error or a section front.
# "text_shrank": most of the text is missing. "text_replaced": the text has nothing in common with
# the stored one. "headline_lost": the headline is missing, or it is the site's name.
# "layout_changed": the layout of the source's pages has changed (an open incident).
Reason = Literal["no_article", "text_shrank", "text_replaced", "headline_lost", "layout_changed"]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

# The minimum part of the old version's characters in a new one. Corrections keep more: from one
# version of an article to the next 2.0 sentences are deleted and 3.3 added (NewsEdits,
# arXiv:2104.09647: 6.8 and 10.9 million sentences between 4.6 million versions of 1.3 million
# articles), where an article of the development corpus has 3,600 characters (median of 686). Two
# careful readings of one page (combined-precision, combined-recall) differ by more in 1.9 % of
# them; a shell of 155 characters is below it for 98.8 %, one of 500 for 88 %. Between a half and a
# third there is little difference: 1.3 %, 97.4 %, 78 %.
KEPT_PART: Final = 0.5
# Ours: when a live blog is over, a summary replaces its entries.
KEPT_PART_OF_LIVE: Final = 0.2
# Characters, weighed: a short item may lose a sentence or two of its three, as in corrections.
SMALL_LOSS: Final = 250
# Ours: minimum characters of a word that is characteristic of an article; shorter ones are in any
# headline.
_MIN_WORD_CHARACTERS: Final = 4
# Ours: characteristic words of a headline, of which an article has at least one.
_MIN_WORDS: Final = 3
# Ours: of the shorter of two texts that are too short for sketches, the part of its characteristic
# words that is in the other one if both are of one article; some words are in any two texts.
_COMMON_WORDS: Final = 1 / 3
_PARTS: Final = re.compile(r"\s*[|–—·:»•]\s*|\s+-\s+")


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of an article, stored or new. `rank` is the part of the article that it has
    (documents.rank); `barrier` is the page shown instead, `announced` the headline in a feed. One
    that is `reextracted` is a new reading of the page that the stored one was read from."""

    title: str | None
    text: str
    rank: int
    kind: str
    access: str = "open"
    barrier: Barrier | None = None
    announced: str | None = None
    reextracted: bool = False

    @cached_property
    def wording(self) -> Wording:
        """Return the version's words."""
        return Wording.of(self.title, self.text)


def reason_against(
    stored: Version, new: Version, site_names: Iterable[str] = (), *, layout_changed: bool = False
) -> Reason | None:
    """Return why the new version is worse than the stored one; None if it isn't. `layout_changed`
    says whether a change of the site's layout was known before it was fetched."""
    if new.rank < stored.rank:
        # An article now behind a paywall or refused to us is not a fault: the stored text is kept.
        if stored.rank < BODY:
            return None
        if new.barrier is None:
            return "no_article" if new.access == "open" else None
        is_own = new.barrier.declared or share_words(stored.title, new.barrier.title)
        return None if new.barrier.kind == "paywall" and is_own else "no_article"
    if stored.rank == BODY:
        live = "live" in {stored.kind, new.kind}
        part = KEPT_PART_OF_LIVE if live else KEPT_PART
        before, after = weight_of(stored.text), weight_of(new.text)
        if after < part * before and before - after >= SMALL_LOSS:
            return "text_shrank"
        names = {_fold(name) for name in site_names} - {""}
        had_headline = folded_words(stored.title or "") and not _is_name(stored.title, names)
        if had_headline and _is_name(new.title, names):
            return "headline_lost"
        if _is_replaced(stored, new):
            return "text_replaced"
    # Hints of a feed are not extracted from a page.
    return "layout_changed" if layout_changed and new.access == "open" else None


def _is_name(title: str | None, names: set[str]) -> bool:
    """Return whether a headline is only the site's name, or empty."""
    parts = [_fold(part) for part in _PARTS.split(title or "")]
    return all(part in names for part in parts if part) or _fold(title or "") in names


def _fold(name: str) -> str:
    return "".join(word for word in folded_words(name) if word not in {"the", "www"})


def _is_replaced(stored: Version, new: Version) -> bool:
    if not stored.title or not new.title:
        return False
    if share_words(new.announced, new.title) and not share_words(new.announced, stored.title):
        return False  # what was stored is not the article: a page of a site under maintenance
    if new.reextracted and share_words(stored.title, new.title):
        return False  # the site hasn't changed the page
    return _is_another_text(stored.wording, new.wording)


def _is_another_text(first: Wording, second: Wording) -> bool:
    if first.sketch and second.sketch:
        return not resemblance(first.sketch, second.sketch)
    shorter, longer = sorted(
        (_significant_words(first.body), _significant_words(second.body)), key=len
    )
    return len(shorter) >= _MIN_WORDS and len(shorter & longer) < _COMMON_WORDS * len(shorter)


def is_unannounced(record: Record) -> bool:
    """Return whether headline and text have no word of the headline that a feed gives the page, and
    the page does not declare another address: an AMP page may be listed under a headline of its
    own."""
    if record.is_declared:
        return False
    words = _significant_words(record.announced)
    words_here = {*lines(record.wording.title), *lines(record.wording.body)}
    return len(words) >= _MIN_WORDS and words.isdisjoint(words_here)


def share_words(first: str | None, second: str | None) -> bool:
    """Return whether two headlines have a word in common that is characteristic of an article."""
    return not _significant_words(first).isdisjoint(_significant_words(second))


def _significant_words(title: str | None) -> set[str]:
    words = folded_words(title or "")
    return {word for word in words if len(word) >= _MIN_WORD_CHARACTERS or writes_no_blanks(word)}


def names_of_site(name: str, slug: str, home: str) -> tuple[str, ...]:
    """Return the names of the site that a wrong headline may consist of, in words and as an
    address."""
    try:
        host = (urlsplit(home).hostname or "").removeprefix("www.")
    except ValueError:
        host = ""
    return tuple(filter(None, (name, slug, host, host.partition(".")[0])))


State = Literal["pending", "superseded", "applied", "discarded", "replaced", "gone"]

# Reasons in the queue of pages that were read again and have their articles.
_READ_AGAIN = frozenset({"unmodified", "unchanged", "revised"})
# The states in which a version is not listed again.
_REJECTED: tuple[State, ...] = ("discarded", "replaced")
_PENDING = QuarantinedRevision.state == "pending"
# The reasons of a page that may be another one than the article's.
_OTHER_TEXT: tuple[Reason, ...] = ("text_replaced", "text_shrank")
# Only the hash of a revision that is no longer pending is kept, not its text.
_EMPTIED: Mapping[str, Any] = {
    "text": "",
    "facts": {},
    "mentions": [],
    "boilerplate": {},
    "fingerprint": None,
}
# Of the facts of a revision: the address to which the article's address redirects.
_TARGET = "redirected_to"
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
class SuspectRevision:
    """A version for the quarantine; without text, it is a page that has no article any more.
    `redirected_to` is the address to which the article's address redirects."""

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
    redirected_to: str | None = None


def quarantine_reason(
    connection: Connection, record: Record, article_id: int, held_rank: int
) -> Reason | None:
    """Return why the record is worse than the article; None if it isn't."""
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
    columns = record.columns
    version = copy_fields(
        Version, record, **{name: columns[name] for name in ("title", "text", "kind", "access")}
    )
    names = (*names_of_site(row.name, row.slug, row.home), row.site_name, columns["site_name"])
    # Since when the layout of the source's pages, or of most sources, has changed.
    incidents = select(func.min(Incident.opened_at)).where(
        Incident.kind == "layout_changed",
        or_(Incident.source_id == row.id, Incident.source_id.is_(None)),
        Incident.recovered_at.is_(None),
    )
    since = connection.execute(incidents).scalar()
    reason = reason_against(
        Version(title=row.title, text=row.text, rank=held_rank, kind=row.kind),
        version,
        filter(None, names),
        layout_changed=since is not None and since <= record.seen_at,
    )
    is_likely = share_words(row.title, record.columns["title"])
    if reason == "text_replaced" and is_likely and _is_confirmed(connection, record, article_id):
        return None
    return reason


def _is_confirmed(connection: Connection, record: Record, article_id: int) -> bool:
    """Return whether a text written anew is the article's own: its page has it again, other pages
    of the source were meanwhile read again, and none of them has the same. One page for all
    addresses, such as the welcome of a relaunched site, would else replace every article."""
    table = QuarantinedRevision
    pending = connection.execute(
        select(table.seen_at, Article.source_id)
        .join(Article, Article.id == table.article_id)
        .where(table.article_id == article_id, _PENDING, table.content_hash == record.content_hash)
    ).one_or_none()
    if pending is None:
        return False
    source_id, since = pending.source_id, pending.seen_at
    other_pages = select(FrontierUrl.id).where(
        FrontierUrl.source_id == source_id,
        FrontierUrl.due_at.is_not(None),
        FrontierUrl.visited_at > since,
        FrontierUrl.reason.in_(_READ_AGAIN),
        FrontierUrl.url.not_in(record.urls),
    )
    if connection.execute(other_pages.limit(1)).first() is None:
        return False
    if _is_stored_elsewhere(connection, record.fingerprint, article_id, source_id):
        return False
    texts = connection.execute(
        select(table.text)
        .join(Article, Article.id == table.article_id)
        .where(*_shown_elsewhere(article_id, source_id), table.text != "")
    ).scalars()
    return all(_is_another_text(Wording.of("", text), record.wording) for text in texts)


def _is_stored_elsewhere(
    connection: Connection, fingerprint: str | None, article_id: int, source_id: int
) -> bool:
    if fingerprint is None:
        return False
    same = (Article.source_id == source_id, Article.fingerprint == fingerprint)
    query = select(Article.id).where(*same, Article.id != article_id).limit(1)
    return connection.execute(query).first() is not None


def _shown_elsewhere(article_id: int, source_id: int) -> tuple[ColumnElement[bool], ...]:
    """Return conditions for revisions that are pending for other articles of the source, or that
    several articles had before."""
    table = QuarantinedRevision
    pending_elsewhere = and_(_PENDING, table.article_id != article_id)
    return Article.source_id == source_id, or_(pending_elsewhere, table.state == "gone")


def is_shown_elsewhere(connection: Connection, revision: SuspectRevision, source_id: int) -> bool:
    """Return whether addresses of other articles of the source show the page of this revision, too:
    they redirect to the same address, or have the same headline and a text like this one instead of
    their own, such as the welcome of a relaunched site. The articles' pages are gone then, and
    their revisions end as "gone"; the first one keeps its text, with which others are compared."""
    table = QuarantinedRevision
    article_id = revision.article_id
    target = revision.redirected_to
    same_target = table.facts[_TARGET].as_string() == target if target else false()
    same_headline = and_(
        table.title == revision.title, table.text != "", table.reason.in_(_OTHER_TEXT)
    )
    rows = connection.execute(
        select(table.id, table.text, same_target.label("same_target"))
        .join(Article, Article.id == table.article_id)
        .where(*_shown_elsewhere(article_id, source_id), or_(same_target, same_headline))
    ).all()
    has_other_text = revision.reason in _OTHER_TEXT
    wording = Wording.of("", revision.text)
    alike = [
        row.id
        for row in rows
        if row.same_target
        or (has_other_text and not _is_another_text(Wording.of("", row.text), wording))
    ]
    if not alike and not (
        has_other_text
        and _is_stored_elsewhere(connection, revision.fingerprint, article_id, source_id)
    ):
        return False
    ended = {"state": "gone", "closed_at": datetime.now(UTC), "mentions": []}
    connection.execute(update(table).where(table.id.in_(alike), _PENDING).values(ended))
    close_pending(connection, article_id, "gone")
    return True


def suspect_revision(
    record: Record, article_id: int, run_id: int, reason: Reason
) -> SuspectRevision:
    """Return a record as a revision for the quarantine."""
    if reason == "no_article":
        barrier = record.barrier
        kind = barrier.kind if barrier else record.columns["kind"]
        return SuspectRevision(
            article_id=article_id,
            run_id=run_id,
            reason=reason,
            note=f"the page is of the kind {kind!r}",
            seen_at=record.seen_at,
            content_hash=no_article_hash(kind),
            title=clean(barrier.title) if barrier and barrier.title else None,
            redirected_to=record.redirected_to,
        )
    return copy_fields(
        SuspectRevision,
        record,
        article_id=article_id,
        run_id=run_id,
        reason=reason,
        note="",
        title=record.columns["title"],
        text=record.columns["text"],
        facts=pack_columns(record.columns),
        redirected_to=record.redirected_to,
    )


def no_article_hash(kind: str) -> str:
    """Return a hash for a page without an article: the same for all pages of one kind."""
    return sha256(f"no article\0{kind}".encode()).hexdigest()


def add_revision(
    connection: Connection, revision: SuspectRevision
) -> Literal["held", "again", "rejected"]:
    """Add a revision in place of the pending one; return "again" if that has the same content,
    "rejected" if an operator has discarded this content."""
    table = QuarantinedRevision
    revisions = connection.execute(
        select(table.id, table.state, table.content_hash).where(
            table.article_id == revision.article_id,
            or_(_PENDING, table.content_hash == revision.content_hash),
        )
    ).all()
    alike = [row for row in revisions if row.content_hash == revision.content_hash]
    if any(row.state in _REJECTED for row in alike):
        return "rejected"
    columns = asdict(revision)
    target = columns.pop("redirected_to")
    values = columns | {
        "facts": {**revision.facts, _TARGET: target} if target else revision.facts,
        "characters": len(revision.text),
        "mentions": [
            asdict(mention) | {"company": clean(mention.company), "surface": clean(mention.surface)}
            for mention in revision.mentions
        ],
    }
    pending = next((row for row in revisions if row.state == "pending"), None)
    if pending is not None:
        times = {"times": table.times + 1}
        connection.execute(update(table).where(table.id == pending.id).values(values | times))
        return "again" if pending in alike else "held"
    first = {"state": "pending", "first_seen_at": revision.seen_at, "times": 1}
    connection.execute(insert(table).values(values | first))
    return "held"


def is_rejected(connection: Connection, article_id: int, content_hash: str) -> bool:
    """Return whether an operator has discarded this version of the article, or replaced it."""
    table = QuarantinedRevision
    query = select(table.id).where(
        table.article_id == article_id,
        table.content_hash == content_hash,
        table.state.in_(_REJECTED),
    )
    return connection.execute(query.limit(1)).first() is not None


def close_pending(
    connection: Connection, article_id: int, state: State, decided_by: str | None = None
) -> None:
    """Close the pending revision of an article: there is a good version, or an operator has
    decided."""
    table = QuarantinedRevision
    now = datetime.now(UTC)
    ended = {"state": state, "closed_at": now, "decided_by": decided_by, **_EMPTIED}
    connection.execute(update(table).where(table.article_id == article_id, _PENDING).values(ended))


def reject_version(
    connection: Connection,
    article_id: int,
    content_hash: str,
    moment: datetime,
    decided_by: str | None = None,
) -> None:
    """Record that an operator has replaced this version of an article by another one."""
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
        "decided_by": decided_by,
        **_EMPTIED,
    }
    connection.execute(insert(QuarantinedRevision).values(values))


def accept(connection: Connection, article_id: int, content_hash: str) -> None:
    """Delete the rejection of a version: an operator wants it back."""
    table = QuarantinedRevision
    connection.execute(
        delete(table).where(
            table.article_id == article_id,
            table.content_hash == content_hash,
            table.state.in_(_REJECTED),
        )
    )


def pack_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return an article's columns as JSON, without address, headline and text."""
    facts = {name: columns[name] for name in _FACTS}
    times = {name: facts[name].isoformat() for name in _TIMES if facts[name] is not None}
    return facts | times


def unpack_columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the JSON that `packed` returns."""
    times = {name: datetime.fromisoformat(facts[name]) for name in _TIMES if facts.get(name)}
    return {name: facts[name] for name in _FACTS if name in facts} | times
