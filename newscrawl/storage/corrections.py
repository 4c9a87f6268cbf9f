"""Corrections of mentions by people: "not this company" and "missed here".

Making or undoing one is one transaction, which updates all counts. New searches and new versions of
an article apply its corrections to their mentions (`mentions.with_corrections`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, and_, insert, select, update
from sqlalchemy.orm import Session

from newscrawl.items import Mention, Section, copy_fields
from newscrawl.storage import CorrectionError, models
from newscrawl.storage.articles import lock_source, numbers_at
from newscrawl.storage.database import reads, writes
from newscrawl.storage.documents import clean
from newscrawl.storage.mentions import (
    CORRECTED,
    Correction,
    CorrectionKind,
    StoredText,
    corrections_of,
    mentions_of,
    overlap,
    replace_mentions,
    text_of,
    without_corrections,
)
from newscrawl.storage.models import Article
from newscrawl.storage.queries import ArticlePage, MarkedMention, Scope
from newscrawl.storage.queries.article_details import MADE_TOGETHER
from newscrawl.storage.rollups import RollupUpdate
from newscrawl.storage.scope_conditions import articles_within
from newscrawl.text import sentence_around

# Ours: characters of a form in a text, and of a person's name.
MAX_SURFACE, MAX_NAME = 120, 100
_MADE_TOGETHER = [getattr(models.Correction, name) for name in ("article_id", *MADE_TOGETHER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A person's judgement: the mention of a company at a place is "wrong", or was "missed".

    The mention's surface is the text at that place; its rule is not used.
    """

    kind: CorrectionKind
    mention: Mention


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedText:
    """An article with corrections, and its (company, surface) pairs as they count, title first."""

    url: str
    title: str
    text: str
    language: str | None
    mentions: tuple[tuple[str, str], ...]


def wrong_mentions(page: ArticlePage, company: str, surface: str | None = None) -> list[Judgement]:
    """Return that all mentions of a company are wrong, or those with this surface."""
    return [
        Judgement(kind="wrong", mention=_mention(mention))
        for mention in page.mentions
        if mention.company == company and surface in {None, mention.surface}
    ]


def missed_mentions(page: ArticlePage, company: str, surface: str) -> list[Judgement]:
    """Return that a company was missed wherever these characters are words of their own, or
    anywhere if they never are; places where it is already found are left out."""
    sections: tuple[tuple[Section, str], ...] = (
        ("title", page.row.title or ""),
        ("body", page.text),
    )
    places: list[Mention] = []
    for pattern in (rf"(?<!\w){re.escape(surface)}(?!\w)", re.escape(surface)):
        places = places or [
            Mention(
                company=company,
                surface=surface,
                start=match.start(),
                end=match.end(),
                section=section,
            )
            for section, text in sections
            for match in re.finditer(pattern, text)
            if surface
        ]
    present = [_mention(mention) for mention in page.mentions if mention.company == company]
    return [
        Judgement(kind="missed", mention=mention)
        for mention in places
        if not any(overlap(mention, there) for there in present)
    ]


@writes
def add_corrections(
    session: Session, url: str, judgements: Sequence[Judgement], made_by: str
) -> list[int]:
    """Store a person's corrections of an article atomically; return their ids.

    A repeated correction is not stored twice. Raise CorrectionError if there is no such article,
    text or mention, or the company is already found there.
    """
    name = _name(made_by)
    if not judgements:
        raise CorrectionError("no such words are in the article, or they are found already")
    connection = session.connection()
    number = numbers_at(connection, [url]).get(url)
    if number is None:
        raise CorrectionError(f"no article is stored under {url}: newscrawl articles lists them")
    names = {judgement.mention.company for judgement in judgements}
    saved = select(models.Company.name).join(models.SavedQuery)
    query = connection.execute(saved.where(models.Company.name.in_(names))).scalar()
    if query is not None:
        raise CorrectionError(f"{query!r} is a saved query: newscrawl queries edit changes it")
    text, before, mentions = _lock_article(connection, number)
    ids = []
    made_at = datetime.now(UTC)  # of all of them, by which they can be undone together
    for judgement in judgements:
        corrected = replace(judgement.mention, rule=CORRECTED)
        same = [
            correction.id
            for correction in before
            if correction.state != "misplaced"
            and correction.mention == corrected
            and correction.kind == judgement.kind
        ]
        if not same:
            _check(judgement, text, before, mentions)
            mention = judgement.mention
            is_title = mention.section == "title"
            whole = text.title if is_title else text.text
            start, end = 0, len(whole)
            if not is_title:
                start, end = sentence_around(whole, mention.start, mention.end)
            row = insert(models.Correction).values(
                article_id=text.number,
                kind=judgement.kind,
                company=clean(mention.company),
                section=mention.section,
                start=mention.start,
                end=mention.end,
                surface=mention.surface,
                sentence=whole[start:end],
                sentence_offset=mention.start - start,
                state="applied",
                replaced=[],
                made_by=name,
                made_at=made_at,
            )
            same = list(connection.execute(row.returning(models.Correction.id)).scalars())
        ids.append(same[-1])
    _apply_anew(connection, text, without_corrections(before, mentions))
    return ids


@writes
def undo_correction(
    session: Session, number: int, undone_by: str, *, together: bool = False
) -> str:
    """Undo a correction, or with `together` all that were made with it at once, and restore the
    article's mentions. The correction's row stays, with the time and the person who undid it.
    Return the URL of the article; raise CorrectionError if no such correction is in force."""
    name = _name(undone_by)
    connection = session.connection()
    in_force = models.Correction.undone_at.is_(None)
    this = and_(models.Correction.id == number, in_force)
    row = connection.execute(select(*_MADE_TOGETHER).where(this)).one_or_none()
    if row is None:
        raise _unknown_correction(number)
    text, before, mentions = _lock_article(connection, row.article_id)
    if together:
        same = (column == value for column, value in zip(_MADE_TOGETHER, row, strict=True))
        this = and_(*same, in_force)
    record = {"undone_by": name, "undone_at": datetime.now(UTC), "replaced": []}
    if not connection.execute(update(models.Correction).where(this).values(record)).rowcount:
        raise _unknown_correction(number)
    _apply_anew(connection, text, without_corrections(before, mentions))
    return text.url


@reads
def corrected_texts(session: Session, scope: Scope) -> list[CorrectedText]:
    """Return the articles of the scope with a correction that has its place in them."""
    with_place = select(models.Correction.article_id).where(
        models.Correction.state != "misplaced", models.Correction.undone_at.is_(None)
    )
    query = articles_within(select(Article.id), scope, every_kind=True)
    connection = session.connection()
    numbers = session.scalars(query.where(Article.id.in_(with_place)).order_by(Article.id)).all()
    mentions = mentions_of(connection, numbers)
    return [
        copy_fields(
            CorrectedText,
            text,
            mentions=tuple(
                (mention.company, mention.surface) for mention in _in_order(mentions[text.number])
            ),
        )
        for text in (text_of(connection, number) for number in numbers)
    ]


def _in_order(mentions: Iterable[Mention]) -> list[Mention]:
    return sorted(
        mentions, key=lambda mention: (mention.section != "title", mention.start, mention.company)
    )


def _mention(marked: MarkedMention) -> Mention:
    return Mention(**asdict(marked))


def _lock_article(
    connection: Connection, number: int
) -> tuple[StoredText, list[Correction], set[Mention]]:
    """Return an article, locked until the transaction ends, with its corrections and mentions."""
    lock_source(connection, number)
    text = text_of(connection, number, lock=True)
    corrections = corrections_of(connection, [number]).get(number, [])
    return text, corrections, mentions_of(connection, [number])[number]


def _apply_anew(connection: Connection, text: StoredText, mentions: Sequence[Mention]) -> None:
    rollups = RollupUpdate(connection)
    replace_mentions(connection, text, _in_order(mentions), rollups)
    rollups.write()


def _check(
    judgement: Judgement,
    text: StoredText,
    before: Iterable[Correction],
    mentions: Iterable[Mention],
) -> None:
    """Raise CorrectionError for a judgement that contradicts the article or earlier corrections."""
    mention = judgement.mention
    section = text.title if mention.section == "title" else text.text
    surface = mention.surface
    if not 0 <= mention.start < mention.end or section[mention.start : mention.end] != surface:
        raise CorrectionError(f"{surface!r} is not there any more: the article has changed")
    here = [
        there for there in mentions if overlap(there, mention) and there.company == mention.company
    ]
    earlier = [
        correction
        for correction in before
        if correction.company == mention.company
        and correction.state != "misplaced"
        and correction.kind != judgement.kind
        and overlap(correction.mention, mention)
    ]
    if earlier:
        raise CorrectionError(
            f"correction {earlier[-1].id} by a person says the opposite of {surface!r}: remove it"
        )
    if judgement.kind == "wrong" and not here:
        raise CorrectionError(f"{mention.company} is not found in {surface!r} there")
    if judgement.kind == "missed" and here:
        raise CorrectionError(f"{mention.company} is found in {here[0].surface!r} there already")
    if len(surface) > MAX_SURFACE or surface != surface.strip() or "\n" in surface:
        raise CorrectionError(
            f"{surface[:MAX_SURFACE]!r} is not a name: choose at most {MAX_SURFACE} characters of "
            "one line, without blanks around them"
        )


def _name(person: str) -> str:
    """Return a person's name as it is stored; raise CorrectionError if it is missing."""
    name = clean(" ".join(person.split()))[:MAX_NAME]
    if not name:
        raise CorrectionError("say who makes the correction: a name is missing")
    return name


def _unknown_correction(number: int) -> CorrectionError:
    return CorrectionError(
        f"there is no correction {number}: newscrawl corrections list shows them"
    )
