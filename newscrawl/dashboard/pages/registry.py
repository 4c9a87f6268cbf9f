"""The pages of the registry: all companies, an editor for those of the user, and what a definition
would find in the stored articles."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.dashboard.companies_file import (
    FACTS,
    LISTS,
    CompaniesFile,
    CompaniesFileError,
    registry_of,
)
from newscrawl.dashboard.jobs import JobRunningError
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    filters_of,
    name_of_person,
    page_router,
    render,
)
from newscrawl.dashboard.trial import try_out
from newscrawl.mentions import Companies, Company
from newscrawl.mentions.legal_forms import DEFAULT_CONTEXT
from newscrawl.storage import StorageError, queries
from newscrawl.storage.scope import MAX_VALUE, Scope
from newscrawl.storage.tokens import RegistryChange, record_change, registry_changes
from newscrawl.storage.words import folded_words

logger = logging.getLogger(__name__)
router = page_router()

MAX_CHANGES = 8  # on the page
MAX_BUNDLED = 60  # bundled companies on a page
MAX_RANKED = 10_000  # companies that are sorted by their articles
Lines = Annotated[str, Field(max_length=20_000)]
Line = Annotated[str, Field(max_length=MAX_VALUE)]


class Entry(BaseModel):
    """The editor's form; lists have a line for each of their values. `former` is the entry's name
    in the file, empty for a new one."""

    mark: str = Field("", max_length=200)
    former: Line = ""
    name: Line = ""
    aliases: Lines = ""
    ambiguous: Lines = ""
    ambiguous_in: Lines = ""
    local: Lines = ""
    context: Lines = ""
    exclude: Lines = ""
    stems: Lines = ""
    ticker: Lines = ""
    country: Line = ""
    sector: Line = ""
    wikidata: Line = ""
    kind: Line = ""
    parent: Line = ""
    since: Line = ""
    until: Line = ""

    @classmethod
    def of(cls, company: Company, *, mark: str, former: str) -> Self:
        """Return the form of a company."""
        values: dict[str, Any] = {key: company.facts.get(key, "") for key in FACTS}
        values |= {key: "\n".join(getattr(company, key, company.tickers)) for key in LISTS}
        return cls.model_construct(mark=mark, former=former, name=company.name, **values)

    @property
    def company(self) -> Company:
        values = self.model_dump()
        lists: dict[str, Any] = {key: tuple(dict.fromkeys(_lines_of(values[key]))) for key in LISTS}
        facts = {key: values[key].strip() for key in FACTS if values[key].strip()}
        return Company(name=self.name.strip(), tickers=lists.pop("ticker"), facts=facts, **lists)


class GroupEntry(BaseModel):
    """The form of a group; `members` has a line for each company."""

    mark: str = Field("", max_length=200)
    former: Line = ""
    name: Line = ""
    members: Lines = ""


def _lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


@router.get("/registry")
def registry(
    request: Request,
    q: Annotated[str, Field(max_length=MAX_VALUE)] = "",
    order: Literal["", "articles"] = "",
) -> Response:
    """Show the user's companies and the bundled ones, by name or by articles of the period."""
    file, filters = _file(request), filters_of(request)
    matching_companies = _matching_companies(registry_of(None), q)
    articles = articles_by_company(request, filters.scope) if order else {}
    matching_companies.sort(key=lambda each: (-articles.get(each.name, 0), folded(each.name)))
    first = (filters.page - 1) * MAX_BUNDLED
    opened = file.open() if file else None
    in_use = () if opened and opened.fault else registry_of(file)
    return render(
        request,
        "registry.html",
        file=file and file.path,
        opened=opened,
        overridden={company.name for company in in_use if company.origin == "override"},
        used={company.name for company in in_use if company.origin == "bundled"},
        words=q,
        job=app_state(request).job.state,
        found=matching_companies[first : first + MAX_BUNDLED],
        more=len(matching_companies) > first + MAX_BUNDLED,
        number=len(matching_companies),
        filters=filters,
        order=order,
        articles=articles,
        total=len(registry_of(None)),
        changes=_changes(request),
    )


@router.get("/registry/edit")
def edit(request: Request, name: str = "", copied: str = "", saved: bool = False) -> Response:
    """Show the form for an entry of the file, for a copy of a bundled one, or for a new one."""
    opened = writable_file(request).open()
    source = registry_of(None) if copied else opened.companies
    original = copied or name
    company = next((each for each in source if each.name == original), None)
    if original and company is None:
        raise HTTPException(404, f"No company {original!r} exists.")
    form = Entry.of(company or Company(name=""), mark=opened.mark, former="" if copied else name)
    return _form(request, form, opened.fault, saved=saved)


@router.post("/registry/preview")
def preview(request: Request, database: OpenDatabase, form: Sent[Entry]) -> Response:
    """Return what the definition would match, which the page shows next to the form."""
    if not form.name.strip():
        return render(request, "trial.html", trial=None, fault="Give it a name first.")
    try:
        trial = try_out(database, form.company, form.former or None)
    except CompaniesFileError as error:
        return render(request, "trial.html", trial=None, fault=str(error))
    return render(request, "trial.html", trial=trial, fault=None)


@router.post("/registry/save")
def save(request: Request, form: Sent[Entry]) -> Response:
    """Save the entry, or show the form again with the error."""
    company = form.company
    try:
        writable_file(request).save(company, instead_of=form.former or None, mark=form.mark)
    except CompaniesFileError as error:
        return _form(request, form, str(error), status=422)
    record_saved(request, "saved", company.name)
    name = quote(company.name, safe="")
    return RedirectResponse(f"/registry/edit?name={name}&saved=true", status_code=303)


@router.post("/registry/context")
def count_with_context(request: Request, database: OpenDatabase, form: Sent[Entry]) -> Response:
    """Show the form with its everyday words as ambiguous forms, to be saved."""
    company = form.company
    try:
        everyday = try_out(database, company, form.former or None).everyday
    except CompaniesFileError as error:
        return _form(request, form, str(error), status=422)
    changed = replace(
        company,
        ambiguous=(*company.ambiguous, *everyday),
        context=company.context or (DEFAULT_CONTEXT,),
    )
    return _form(request, Entry.of(changed, mark=form.mark, former=form.former))


@router.post("/registry/drop")
def drop(request: Request, form: Sent[Entry]) -> Response:
    """Delete an entry from the file."""
    try:
        writable_file(request).delete(form.former, mark=form.mark)
    except CompaniesFileError as error:
        return _form(request, form, str(error), status=422)
    record_saved(request, "deleted", form.former)
    return RedirectResponse("/registry", status_code=303)


@router.get("/registry/group")
def group(request: Request, name: str = "", saved: bool = False) -> Response:
    """Show the form for a group of the file, or for a new one."""
    opened = writable_file(request).open()
    if name and name not in opened.groups:
        raise HTTPException(404, f"No group {name!r} exists.")
    form = GroupEntry(
        mark=opened.mark,
        former=name,
        name=name,
        members="\n".join(opened.groups.get(name, ())),
    )
    return _group_form(request, form, opened.fault, saved=saved)


@router.post("/registry/group/save")
def save_group(request: Request, form: Sent[GroupEntry]) -> Response:
    """Save the group, or show the form again with the error."""
    name = form.name.strip()
    try:
        writable_file(request).save_group(
            name, _lines_of(form.members), instead_of=form.former or None, mark=form.mark
        )
    except CompaniesFileError as error:
        return _group_form(request, form, str(error), status=422)
    record_saved(request, "saved", f"{name} (group)")
    address = f"/registry/group?name={quote(name, safe='')}&saved=true"
    return RedirectResponse(address, status_code=303)


@router.post("/registry/group/drop")
def drop_group(request: Request, form: Sent[GroupEntry]) -> Response:
    """Delete a group from the file."""
    try:
        writable_file(request).delete_group(form.former, mark=form.mark)
    except CompaniesFileError as error:
        return _group_form(request, form, str(error), status=422)
    record_saved(request, "deleted", f"{form.former} (group)")
    return RedirectResponse("/registry", status_code=303)


@router.get("/registry/history")
def history(request: Request) -> Response:
    """Return the progress or the result of the search of all stored articles."""
    return _history(request)


@router.post("/registry/history")
def preview_history(request: Request, form: Sent[Entry]) -> Response:
    """Begin to try the draft on all stored articles."""
    try:
        text = writable_file(request).draft(
            form.company, instead_of=form.former or None, mark=form.mark
        )
        app_state(request).job.preview(text, form.company.name)
    except CompaniesFileError as error:
        return _history(request, str(error))
    except JobRunningError:
        pass  # its progress is shown
    return _history(request)


@router.post("/registry/rematch")
def rematch(request: Request) -> Response:
    """Begin to find the mentions of all stored articles again."""
    file = _file(request)
    path = file.path if file and file.path.exists() else None
    with suppress(JobRunningError):
        app_state(request).job.rematch(path)
    return _history(request)


@router.post("/registry/stop")
def stop(request: Request) -> Response:
    """Stop the search of all stored articles."""
    app_state(request).job.stop()
    return _history(request)


def _changes(request: Request) -> Sequence[RegistryChange]:
    """Return the last changes; nothing without a database, which the registry does not need."""
    try:
        with app_state(request).store.reading() as database:
            return registry_changes(database, MAX_CHANGES)
    except StorageError:
        return ()


def record_saved(request: Request, action: str, entry: str) -> None:
    """Record who has changed the file. The file is already changed: if the database can't be
    written, only the record is lost."""
    person = name_of_person(request) or "somebody with the shared token"
    try:
        with app_state(request).store.reading() as database:
            record_change(database, person, action, entry)
    except StorageError as error:
        logger.warning("%s %s by %s is not recorded: %s", entry, action, person, error)


def _history(request: Request, fault: str | None = None) -> HTMLResponse:
    return render(request, "history.html", job=app_state(request).job.state, fault=fault)


def _group_form(
    request: Request,
    form: GroupEntry,
    fault: str | None,
    *,
    saved: bool = False,
    status: int = 200,
) -> HTMLResponse:
    return render(
        request,
        "registry_group.html",
        status=status,
        form=form,
        fault=fault,
        saved=saved,
        file=writable_file(request).path,
    )


def _form(
    request: Request,
    form: Entry,
    fault: str | None = None,
    *,
    saved: bool = False,
    status: int = 200,
) -> HTMLResponse:
    return render(
        request,
        "registry_edit.html",
        status=status,
        form=form,
        form_fault=fault,  # `fault` is that of the search on the same page
        saved=saved,
        job=app_state(request).job.state,
        file=writable_file(request).path,
    )


@cache
def folded(form: str) -> str:
    """Return a name as it is searched and sorted: without case and accents, in plain letters."""
    return " ".join(folded_words(form))


def _matching_companies(companies: Companies, words: str) -> list[Company]:
    if not (part := folded(words.strip())):
        return list(companies)
    return [
        company
        for company in companies
        if any(part in folded(form) for form in (company.name, *company.aliases))
    ]


def articles_by_company(request: Request, scope: Scope) -> Mapping[str, int]:
    """Return the articles of each company; nothing without a database, which the registry does not
    need."""
    with suppress(StorageError), app_state(request).store.reading() as database:
        ranked = queries.company_ranking(database, scope=scope, limit=MAX_RANKED)
        return {row.company: row.hits.articles for row in ranked}
    return {}


def _file(request: Request) -> CompaniesFile | None:
    return app_state(request).registry


def writable_file(request: Request) -> CompaniesFile:
    if (file := _file(request)) is None:
        advice = "start with newscrawl serve --companies FILE, a file of your own."
        raise HTTPException(404, f"No file to write to: {advice}")
    return file
