"""What the filters of a query mean in a database: its sources, countries and languages."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from newscrawl.storage import QuestionError
from newscrawl.storage.database import Database
from newscrawl.storage.models import Company, DailySource, SavedQuery, Source
from newscrawl.storage.query_matches import parse_saved
from newscrawl.storage.scope import (
    UNKNOWN,
    Scope,
    did_you_mean,
    usual_spelling,
)
from newscrawl.storage.search_language import (
    QuerySyntaxError,
    filters_of,
    parse_query,
    written_filters,
)
from newscrawl.text import match_name

_SUGGESTED = 3  # as `match_name` has them


def with_slugs(session: Session, text: str) -> str:
    """Return a query with the slugs of the sources that it names.

    Articles are matched by the slug of their source, so a saved query keeps its numbers when a
    source is renamed. Raise QuerySyntaxError for a fault, and for a source, country or language of
    which nothing is stored. A database without sources knows none: there, all are accepted.
    """
    rest, parts = 0, []
    filters = written_filters(text)
    if filters and session.scalar(select(Source.id).limit(1)) is None:
        return text
    for one in filters:
        try:
            if one.name == "source":
                slugs = ",".join(_slugs(session, one.value))
                gap = " " if text[one.end : one.end + 1].strip(" )") else ""
                parts += [text[rest : one.place], f"source:{slugs}{gap}"]
                rest = one.end
            else:
                _check_codes(session, one.name, one.value)
        except QuestionError as error:
            raise QuerySyntaxError(str(error), text, one.place) from error
    return "".join([*parts, text[rest:]])


def languages_of_sources(session: Session) -> dict[str, str]:
    """Return the main language of each source by its slug."""
    return dict(session.execute(select(Source.slug, Source.language)).all())


def _slugs(session: Session, written: str) -> list[str]:
    """Return the slugs of one source or several with commas, by slug or name; sources may share a
    name."""
    names = dict(session.execute(select(Source.slug, Source.name).order_by(Source.slug)).all())
    if whole := _slugs_named(written, names):  # a name may have a comma
        return whole
    slugs: list[str] = []
    for one in filter(None, map(str.strip, written.split(","))):
        found = _slugs_named(one, names)
        if not found:
            _refuse_source(one, names)
        slugs += found
    return slugs


def _slugs_named(written: str, names: Mapping[str, str]) -> list[str]:
    folded = written.casefold()
    by_slug = [slug for slug in names if slug.casefold() == folded]
    return by_slug or [slug for slug, name in names.items() if name.casefold() == folded]


def _refuse_source(written: str, names: Mapping[str, str]) -> None:
    """Raise QuestionError with the sources whose names are like the written one or contain it."""
    folded = written.casefold()
    near = [slug for slug, name in names.items() if folded in name.casefold()]
    for known in (names, {name: slug for slug, name in names.items()}):
        _, like = match_name(written, [*known])
        near += like if known is names else [known[name] for name in like]
    shown = [f"{names[slug]} ({slug})" for slug in [*dict.fromkeys(near)][:_SUGGESTED]]
    if shown:
        raise QuestionError(f"unknown source {written!r}: {did_you_mean(shown)}")
    usual_spelling(written, [*names], "source")


def _check_codes(session: Session, name: str, written: str) -> None:
    """Raise QuestionError for a country or language of no source and no article."""
    column = Source.country if name == "country" else Source.language
    known = set(session.scalars(select(column).distinct()))
    if name == "language":
        read = select(DailySource.language).where(DailySource.read > 0).distinct()
        known |= {UNKNOWN, *session.scalars(read)}
    for one in re.split(r"[,\s]+", written):
        usual_spelling(one, sorted(filter(None, known)), name)


# --- What a saved query can match ---


def scope_of_query(database: Database, name: str, scope: Scope) -> Scope:
    """Return the scope of the articles that the filters of the saved query of this name let
    through; unchanged for a company, and for a query without filters."""
    with database.reading() as session:
        return own_scope(session, name, scope)


def scope_of_text(session: Session, text: str, scope: Scope) -> Scope:
    """Return the scope of the articles that the filters of a query let through; raise
    QuerySyntaxError."""
    node = parse_query(with_slugs(session, text))
    return replace(scope, among=node) if any(filters_of(node)) else scope


def own_scope(session: Session, name: str | None, scope: Scope) -> Scope:
    """Return what `scope_of_query` does, in an open session; None is no company."""
    return limited_to(session, [name], scope)[name]


def limited_to(session: Session, names: Collection[str | None], scope: Scope) -> dict[Any, Scope]:
    """Return the `own_scope` of each of the names."""
    query = select(Company.name, SavedQuery.text).where(Company.name.in_(set(names) - {None}))
    saved = session.execute(query.join(Company, Company.id == SavedQuery.company_id))
    nodes = ((name, parse_saved(text)) for name, text in saved)
    filtered = {name: node for name, node in nodes if node and any(filters_of(node))}
    return {
        name: replace(scope, among=filtered[name]) if name in filtered else scope for name in names
    }
