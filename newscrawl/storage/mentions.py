"""Mentions: where articles name companies, how often on the rest of their pages, new searches
of stored articles, and how corrections by people change the found mentions."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Literal

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.orm import Session

from newscrawl.items import Mention, Section, UnregisteredName, copy_fields
from newscrawl.storage import models
from newscrawl.storage.company_alerts import rename_company
from newscrawl.storage.database import Database, reads, writes
from newscrawl.storage.documents import clean
from newscrawl.storage.engine import BulkInsert, one_of
from newscrawl.storage.models import Article, Company, Source
from newscrawl.storage.rollups import RollupUpdate
from newscrawl.storage.saved_state import Step, record_step
from newscrawl.storage.scope import Scope
from newscrawl.storage.scope_conditions import articles_within
from newscrawl.storage.unregistered import replace_unregistered

_COMPANIES = (
    select(Company.name, Company.id, models.SavedQuery.company_id.is_not(None).label("is_query"))
    .outerjoin(models.SavedQuery)
    .where(one_of(Company.name, "names"))
)
_ADD_COMPANIES = BulkInsert(Company, conflict=lambda row: row.on_conflict_do_nothing())
_MENTIONS, _BOILERPLATE = BulkInsert(models.Mention), BulkInsert(models.Boilerplate)

# The rule of mentions that people have added.
CORRECTED = "correction"
CorrectionKind = Literal["wrong", "missed"]
CorrectionState = Literal["applied", "redundant", "misplaced"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A correction: the mention of the company at this place is "wrong", or was "missed".

    It is "applied"; or "redundant", since the matcher now agrees; or "misplaced", since no sentence
    of the changed text is similar to its own; a later text may have one.
    """

    id: int
    kind: CorrectionKind
    company: str
    section: Section
    start: int
    end: int
    surface: str
    sentence: str
    sentence_offset: int
    state: CorrectionState
    replaced: tuple[Mention, ...] = ()

    @property
    def mention(self) -> Mention:
        return copy_fields(Mention, self, rule=CORRECTED, score=1.0)


def overlap(first: Mention, second: Mention) -> bool:
    """Return whether two mentions share characters."""
    return first.section == second.section and first.start < second.end and second.start < first.end


def write_occurrences(
    connection: Connection,
    mentions: Mapping[int, Sequence[Mention]],
    boilerplate: Mapping[int, Mapping[str, int]],
) -> None:
    """Write the mentions of articles that have none yet, and the boilerplate."""
    names = {mention.company for matches in mentions.values() for mention in matches}
    names.update(name for numbers in boilerplate.values() for name in numbers)
    ids = _company_ids(connection, names)
    rows = [
        (
            article_id,
            ids[mention.company],
            mention.section,
            mention.start,
            mention.end,
            clean(mention.surface),
            mention.rule,
            mention.score,
        )
        for article_id, matches in mentions.items()
        for mention in matches
    ]
    _MENTIONS.write(connection, rows)
    in_boilerplate = [
        (article_id, ids[name], number)
        for article_id, counted in boilerplate.items()
        for name, number in counted.items()
        if number > 0
    ]
    _BOILERPLATE.write(connection, in_boilerplate)


def _company_ids(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """Return the companies' ids by their names; missing companies are added. A saved query with the
    name of a company that the registry got later is renamed, also in watches and in the addresses
    of recipients."""
    stored = {name: clean(name) for name in names}
    if not stored:
        return {}
    parameters = {"names": sorted(set(stored.values()))}
    ids: dict[str, int] = {}
    for name, number, is_query in connection.execute(_COMPANIES, parameters).all():
        if is_query:
            new_name = f"{name} (saved query {number})"
            connection.execute(update(Company).where(Company.id == number).values(name=new_name))
            with Session(connection, join_transaction_mode="rollback_only") as session:
                rename_company(session, name, new_name)
                session.commit()  # flushes; the caller's transaction continues
        else:
            ids[name] = number
    if missing := [name for name in parameters["names"] if name not in ids]:
        # Sorted, to prevent a deadlock of two writers that add the same names.
        _ADD_COMPANIES.write(connection, [(name,) for name in missing])
        added = connection.execute(_COMPANIES, {"names": missing})
        ids.update((name, number) for name, number, _ in added)
    return {name: ids[cleaned] for name, cleaned in stored.items()}


# Ours: articles in one batch, which is one transaction and at most some megabytes of text.
AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """An article to search for mentions. `content_hash` shows whether it is unchanged when they are
    written, `known` counts the stored ones of a company that is asked for."""

    number: int
    url: str
    title: str
    text: str
    language: str | None
    day: date
    content_hash: str
    source: str = ""
    known: int = 0


def text_batches(
    database: Database, scope: Scope, after: int = 0, numbers: Sequence[int] | None = None
) -> Iterator[list[StoredText]]:
    """Yield all articles of the scope with ids above `after`, in their order, AT_ONCE at a time;
    if `numbers` are given, only these."""
    query = articles_within(select(*STORED_TEXT), scope, every_kind=True)
    if numbers is not None:
        query = query.where(Article.id.in_(numbers))
    query = query.order_by(Article.id).limit(AT_ONCE)
    while True:
        with database.reading() as session:
            rows = session.execute(query.where(Article.id > after)).mappings()
            batch = [StoredText(**row) for row in rows]
        if not batch:
            return
        yield batch
        after = batch[-1].number


@reads
def count_texts(session: Session, scope: Scope, after: int = 0) -> int:
    """Return how many articles `text_batches` yields."""
    query = articles_within(select(Article.id), scope, every_kind=True).where(Article.id > after)
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0


STORED_TEXT = (
    Article.id.label("number"),
    Article.url,
    func.coalesce(Article.title, "").label("title"),
    Article.text,
    Article.language,
    Article.day,
    Article.content_hash,
    select(Source.slug)
    .where(Source.id == Article.source_id)
    .correlate(Article)
    .scalar_subquery()
    .label("source"),
)


def text_of(connection: Connection, number: int, *, lock: bool = False) -> StoredText:
    """Return an article; with `lock`, it is locked until the transaction ends."""
    query = select(*STORED_TEXT).where(Article.id == number)
    query = query.with_for_update() if lock else query
    return StoredText(**connection.execute(query).mappings().one())


@reads
def stored_mentions(session: Session, numbers: Sequence[int]) -> dict[int, set[Mention]]:
    """Return the stored mentions of articles."""
    return mentions_of(session.connection(), numbers)


@reads
def stored_corrections(session: Session, numbers: Sequence[int]) -> dict[int, list[Correction]]:
    """Return the corrections of articles that have any, the oldest first."""
    return corrections_of(session.connection(), numbers)


@writes
def write_mentions(
    session: Session,
    texts: Sequence[StoredText],
    mentions_by_article: Mapping[int, Sequence[Mention]],
    step: Step,
    names_by_article: Mapping[int, Sequence[UnregisteredName]] = MappingProxyType({}),
) -> None:
    """Replace the mentions of articles by those that were `found` in their texts, with their
    corrections, and their names of unregistered organisations, and note the step, in one
    transaction; all rollups follow.

    An article that has changed meanwhile is skipped: its new version has its own mentions.
    """
    changed = mentions_by_article.keys() | names_by_article.keys()
    read = {text.number: text for text in texts if text.number in changed}
    rows = select(Article.id, Article.content_hash).where(Article.id.in_(list(read)))
    now = session.execute(rows.order_by(Article.id).with_for_update()).all()
    connection = session.connection()
    rollups = RollupUpdate(connection)
    for number, content_hash in now:
        if content_hash != read[number].content_hash:
            continue
        if number in names_by_article:
            replace_unregistered(connection, {number: names_by_article[number]})
        if number in mentions_by_article:
            replace_mentions(connection, read[number], mentions_by_article[number], rollups)
    rollups.write()
    record_step(session, step)


def replace_mentions(
    connection: Connection, text: StoredText, matches: Sequence[Mention], rollups: RollupUpdate
) -> None:
    """Replace the mentions of an article by those found in it, with its corrections, and update all
    rollups."""
    mentions = with_corrections(connection, text.number, (text.title, text.text), matches)
    with rollups.updating([text.number]):
        connection.execute(delete(models.Mention).where(models.Mention.article_id == text.number))
        write_occurrences(connection, {text.number: mentions}, {})


def mentions_of(connection: Connection, numbers: Sequence[int]) -> dict[int, set[Mention]]:
    """Return the mentions of articles as they count."""
    table = models.Mention
    query = select(table, Company.name).join(Company).where(table.article_id.in_(numbers))
    by_article: dict[int, set[Mention]] = defaultdict(set)
    for row in connection.execute(query):
        by_article[row.article_id].add(copy_fields(Mention, row, company=row.name))
    return by_article


# --- Corrections by people ---


def corrections_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[Correction]]:
    """Return the corrections of articles that have any, the oldest first."""
    table = models.Correction
    query = select(table).where(table.article_id.in_(numbers), table.undone_at.is_(None))
    by_article: dict[int, list[Correction]] = {}
    for row in connection.execute(query.order_by(table.id)):
        replaced = tuple(Mention(**mention) for mention in row.replaced)
        correction = copy_fields(Correction, row, replaced=replaced)
        by_article.setdefault(row.article_id, []).append(correction)
    return by_article


def with_corrections(
    connection: Connection,
    article_id: int,
    text: tuple[str | None, str],
    matches: Sequence[Mention],
) -> Sequence[Mention]:
    """Return the mentions found in headline and body of an article with its corrections; store the
    present place of each correction, and the mentions that it replaces."""
    corrections = corrections_of(connection, [article_id]).get(article_id)
    if not corrections:
        return matches
    mentions, placed = apply_corrections(corrections, text, matches)
    for before, now in zip(corrections, placed, strict=True):
        if before != now:
            values = {
                "start": now.start,
                "end": now.end,
                "state": now.state,
                "replaced": [asdict(mention) for mention in now.replaced],
            }
            this = models.Correction.id == now.id
            connection.execute(update(models.Correction).where(this).values(values))
    return mentions


def apply_corrections(
    corrections: Sequence[Correction], text: tuple[str | None, str], matches: Iterable[Mention]
) -> tuple[list[Mention], list[Correction]]:
    """Return the mentions found in headline and body with the corrections, and the applied
    corrections. Each is applied to the result of the earlier ones."""
    mentions, placed = list(matches), []
    for correction in corrections:
        here = _place_correction(
            correction, (text[0] or "") if correction.section == "title" else text[1]
        )
        if here.state != "misplaced":
            beside = [mention for mention in mentions if overlap(here.mention, mention)]
            same = [mention for mention in beside if mention.company == here.company]
            if here.kind == "missed":
                replaced = () if same else tuple(beside)
                added = () if same else (here.mention,)
                redundant = bool(same)
            else:
                replaced, added, redundant = tuple(same), (), not same
            mentions = [mention for mention in mentions if mention not in replaced] + [*added]
            by_matcher = tuple(mention for mention in replaced if mention.rule != CORRECTED)
            state: CorrectionState = "redundant" if redundant else "applied"
            here = replace(here, state=state, replaced=by_matcher)
        placed.append(here)
    return mentions, placed


def without_corrections(
    corrections: Sequence[Correction], mentions: Iterable[Mention]
) -> list[Mention]:
    """Return the mentions that the matcher found, given those that count."""
    matches = [mention for mention in mentions if mention.rule != CORRECTED]
    return matches + [mention for correction in corrections for mention in correction.replaced]


# Ours: the minimum unchanged part of a sentence, and the maximum length of a sentence and number of
# places of its words that are compared.
_SAME_SHARE = 0.9
_LONGEST_COMPARED = 1_000
_MOST_PLACES = 20


def _place_correction(correction: Correction, text: str) -> Correction:
    """Return the correction at the sentence in the text that is nearest to its last place; if the
    text does not have it, at one that differs little from it."""
    sentence, offset, surface = correction.sentence, correction.sentence_offset, correction.surface
    places, begin = [], text.find(sentence)
    while begin >= 0:
        places.append(begin + offset)
        begin = text.find(sentence, begin + 1)
    if not places and len(sentence) <= _LONGEST_COMPARED:
        near = [match.start() for match in re.finditer(re.escape(surface), text)]
        near.sort(key=lambda place: abs(place - correction.start))
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(sentence)
        for place in near[:_MOST_PLACES]:
            begin = max(0, place - offset)
            matcher.set_seq1(text[begin : begin + len(sentence)])
            if matcher.quick_ratio() >= _SAME_SHARE and matcher.ratio() >= _SAME_SHARE:
                places.append(place)
    if not places:
        return replace(correction, state="misplaced", replaced=())
    start = min(places, key=lambda place: abs(place - correction.start))
    return replace(correction, start=start, end=start + len(surface), state="applied")
