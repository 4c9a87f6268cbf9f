"""The page of suggestions: names of organisations in the articles that no registry lists, each of
which one click adds to the user's file."""

from collections import Counter
from typing import Annotated
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from newscrawl.dashboard.companies_file import CompaniesFileError, small_registry
from newscrawl.dashboard.exports import export_format, table_file
from newscrawl.dashboard.pages.registry import record_saved, writable_file
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    choices,
    companies_in_use,
    filters_of,
    page_router,
    render,
)
from newscrawl.mentions import Company
from newscrawl.mentions.legal_forms import forms_of
from newscrawl.mentions.vocabulary import load_vocabulary
from newscrawl.reports import Table
from newscrawl.storage import Database
from newscrawl.storage.queries.suggestions import (
    articles_naming,
    named_sentences,
    suggested_names,
)
from newscrawl.storage.scope import MAX_VALUE

router = page_router()

MAX_NAMES = 50  # on a page
MAX_ROWS = 1_000  # in a file; ours


class NewEntry(BaseModel):
    """A name to add to the file."""

    name: str = Field("", max_length=MAX_VALUE)


@router.get("/registry/suggestions")
def suggestions(
    request: Request,
    database: OpenDatabase,
    added: Annotated[str, Field(max_length=MAX_VALUE)] = "",
) -> Response:
    """Show the names in most articles of the period, with sentences, or return them as a file."""
    if kind := export_format(request):
        filters, is_registered = filters_of(request), companies_in_use(request).is_registered
        rows = suggested_names(database, is_registered, scope=filters.scope, limit=MAX_ROWS)
        table = Table.of_records(rows, "name", "articles", "sentence")
        return table_file(kind, {"Names": table}, "suggestions", filters)
    return _page(request, database, added)


@router.post("/registry/suggestions")
def add(request: Request, database: OpenDatabase, form: Sent[NewEntry]) -> Response:
    """Add a name to the file, with the country of most of its articles, and find it in the
    articles that have it."""
    file, name = writable_file(request), form.name.strip()
    rows = named_sentences(database, name, limit=MAX_NAMES)
    country = Counter(row.country for row in rows).most_common(1)
    company = Company(name=name, facts={"country": country[0][0].upper()} if country else {})
    try:
        forms = forms_of(small_registry(company)[0])
        file.save(company, instead_of=None, mark=file.open().mark)
    except CompaniesFileError as error:
        return _page(request, database, fault=str(error))
    articles = articles_naming(database, name, forms)
    record_saved(request, "saved", name)
    if articles:
        app_state(request).job.rematch_articles(
            file.path, f"the {len(articles):,} with {name}", articles
        )
    address = f"/registry/suggestions?added={quote(name, safe='')}"
    return RedirectResponse(address, status_code=303)


def _page(
    request: Request, database: Database, added: str = "", fault: str | None = None
) -> Response:
    filters, registry = filters_of(request), companies_in_use(request)
    names = suggested_names(database, registry.is_registered, scope=filters.scope, limit=MAX_NAMES)
    sentences = {
        row.name: named_sentences(database, row.name, scope=filters.scope) for row in names
    }
    offered = choices(database, filters)
    company = registry.by_name(added) if added else None
    is_of_many = load_vocabulary().is_of_many
    return render(
        request,
        "suggestions.html",
        status=422 if fault else 200,
        names=names,
        examples=sentences,
        everyday={row.name for row in names if is_of_many(row.name)},
        added=company,
        is_everyday=company is not None and any(map(is_of_many, company.certain)),
        fault=fault,
        file=app_state(request).registry,
        filters=filters,
        choices=offered,
        job=app_state(request).job.state,
    )
