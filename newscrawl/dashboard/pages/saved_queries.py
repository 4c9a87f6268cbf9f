"""The pages of saved queries: their list, and the editor with a preview. What they count is shown
by the pages of companies."""

from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.dashboard.exports import export_format, table_file
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    companies_in_use,
    filters_of,
    name_of_person,
    page_router,
    render,
)
from newscrawl.reports import Table
from newscrawl.storage import Database, QuestionError, queries
from newscrawl.storage.queries import Scope
from newscrawl.storage.queries.completeness import completeness_by
from newscrawl.storage.queries.text_search import WIDER_NEAR
from newscrawl.storage.saved_queries import (
    SavedQueryRow,
    add_query,
    edit_query,
    find_query,
    languages_of_sources,
    list_queries,
    read_query,
    remove_query,
    rename_query,
    scope_of_text,
)
from newscrawl.storage.scope import MAX_VALUE
from newscrawl.storage.scope_conditions import validate_in
from newscrawl.storage.search_language import MAX_LENGTH, NEAR_WORDS

router = page_router()

EXAMPLES = 6  # articles of a preview


class QueryForm(BaseModel):
    """The editor's form; `former` is the name of the query that is edited."""

    former: str = Field("", max_length=MAX_VALUE)
    name: str = Field("", max_length=MAX_VALUE)
    text: str = Field("", max_length=2 * MAX_LENGTH)
    person: str = Field("", max_length=MAX_VALUE)


@router.get("/queries")
def show_queries(request: Request, database: OpenDatabase) -> Response:
    """Show the saved queries with their numbers in the period, or return them as a file."""
    filters = filters_of(request)
    rows = queries.saved_queries(database)
    hits = {
        row.name: sum(
            each.hits.articles
            for each in queries.mention_counts(
                database, "month", company=row.name, scope=filters.scope
            )
            if each.hits
        )
        for row in rows
    }
    if kind := export_format(request):
        table = [
            (row.name, hits[row.name], row.text, row.changed_at, row.changed_by) for row in rows
        ]
        head = ("name", "articles", "text", "changed_at", "changed_by")
        return table_file(kind, {"Queries": Table(head, table)}, "queries", filters)
    progress = {row.name: app_state(request).counting.progress(row.name) for row in rows}
    return render(request, "queries.html", rows=rows, hits=hits, filters=filters, progress=progress)


@router.get("/queries/edit")
def edit(
    request: Request, database: OpenDatabase, name: str = "", text: str = "", saved: bool = False
) -> Response:
    """Show the form for a saved query, or for a new one with this text."""
    form = QueryForm.model_construct(former="", name="", text=text[:MAX_LENGTH], person="")
    if name:
        try:
            query = find_query(database, name)
        except QuestionError as error:
            raise HTTPException(404, f"{error}.") from error
        form = form.model_copy(
            update={
                "former": query.name,
                "name": query.name,
                "text": query.pending_text or query.text,
            }
        )
    return _form(request, database, form, saved=saved)


@router.post("/queries/preview")
def preview(request: Request, database: OpenDatabase, form: Sent[QueryForm]) -> Response:
    """Return the query's matches in the period, which the page shows next to the form."""
    filters = filters_of(request)
    matches, fault, searched = None, None, {}
    if form.text.strip():
        try:
            scope = filters.scope
            matches = queries.preview_query(database, form.text, scope=scope, limit=EXAMPLES)
            searched = _searched(database, form.text, scope, matches)
        except QuestionError as error:
            fault = error
    return render(
        request,
        "query_preview.html",
        found=matches,
        fault=fault,
        filters=filters,
        words=form.text.strip(),
        wider_near=WIDER_NEAR,
        **searched,
    )


def _searched(
    database: Database, text: str, scope: Scope, preview: queries.QueryPreview
) -> dict[str, Any]:
    """Return the number of sources that a query can find, the articles read in each language, the
    most first, and the read sources in which nothing was found, with their languages."""
    with database.reading() as session:
        limited = scope_of_text(session, text, validate_in(session, scope))
        by_language = completeness_by(session, "language", limited)
        sources = completeness_by(session, "source", limited)
        languages = languages_of_sources(session)
    read = {language: each.read for language, each in by_language.items() if each.read}
    most = dict(sorted(read.items(), key=lambda pair: -pair[1]))
    # Articles that were not examined may be of any source.
    certain = preview.complete and preview.articles
    without = {
        slug: languages[slug]
        for slug, source in sources.items()
        if certain and source.read and slug not in preview.sources
    }
    return {"sources": len(sources), "languages": most, "without": without}


@router.post("/queries/save")
def save(request: Request, database: OpenDatabase, form: Sent[QueryForm]) -> Response:
    """Save the query and begin to count its history, or show the form again with the fault."""
    filters = filters_of(request)
    made_by = name_of_person(request) or form.person.strip()
    if not made_by:
        fault = QuestionError("who saves it? write your name")
        return _form(request, database, form, fault=fault, status=422)
    spellings = companies_in_use(request).spellings()
    try:
        if form.former:
            read_query(database, form.text)  # after an error the form keeps the name, too
            name = find_query(database, form.former).name
            if form.name.strip() not in {"", name}:
                name = rename_query(database, name, form.name, made_by, taken=spellings)
            edit_query(database, name, form.text, made_by)
        else:
            name = add_query(database, form.name, form.text, made_by, taken=spellings)
    except QuestionError as error:
        return _form(request, database, form, fault=error, status=422)
    app_state(request).counting.start(name)
    return RedirectResponse(f"/queries/edit{filters.address(name=name, saved='true')}", 303)


@router.post("/queries/count")
def count(request: Request, form: Sent[QueryForm]) -> Response:
    """Continue to count the history of a query whose count was stopped."""
    app_state(request).counting.start(form.former)
    return RedirectResponse(f"/queries/edit?name={quote(form.former, safe='')}", 303)


@router.post("/queries/remove")
def remove(request: Request, database: OpenDatabase, form: Sent[QueryForm]) -> Response:
    """Delete a query with its numbers."""
    try:
        remove_query(database, form.former)
    except QuestionError as error:
        return _form(request, database, form, fault=error, status=422)
    return RedirectResponse(f"/queries{filters_of(request).address()}", 303)


@router.get("/queries/progress")
def progress(request: Request, database: OpenDatabase, name: str = "") -> Response:
    """Return the progress of the count of a query's history."""
    row, counted = _progress(request, database, name)
    return render(request, "query_progress.html", row=row, counted=counted)


def _progress(
    request: Request, database: Database, name: str
) -> tuple[SavedQueryRow | None, tuple[int, int] | None]:
    """Return the saved query of this name, if there is one, and the progress of its count."""
    counted = app_state(request).counting.progress(name)
    row = next(iter(list_queries(database, named=name)), None)
    return row, counted


def _form(
    request: Request,
    database: Database,
    form: QueryForm,
    *,
    fault: QuestionError | None = None,
    saved: bool = False,
    status: int = 200,
) -> HTMLResponse:
    row, counted = _progress(request, database, form.former)
    source = next(iter(queries.source_names(database).items()), None)
    return render(
        request,
        "query_edit.html",
        status=status,
        filters=filters_of(request),
        form=form,
        fault=fault,
        saved=saved,
        person=name_of_person(request),
        row=row,
        counted=counted,
        source=source,
        near_words=NEAR_WORDS,
    )
