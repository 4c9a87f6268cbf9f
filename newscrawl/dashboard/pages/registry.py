"""The registry's pages: the companies that are looked for, and an editor for those of the user."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.dashboard.filters import MAX_VALUE
from newscrawl.dashboard.registry import Definition, RegistryError, RegistryFile
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.dashboard.trial import try_out
from newscrawl.mentions import Companies, Company, load_companies

router = APIRouter()

SHOWN = 60  # bundled companies; a search narrows them down
Lines = Annotated[str, Field(max_length=20_000)]
Line = Annotated[str, Field(max_length=MAX_VALUE)]


class Entry(BaseModel):
    """The editor's form; lists have a line for each of their values."""

    seal: str = Field("", max_length=200)
    mark: str = Field("", max_length=200)
    former: Line = ""
    name: Line = ""
    aliases: Lines = ""
    ambiguous: Lines = ""
    ambiguous_in: Lines = ""
    context: Lines = ""
    exclude: Lines = ""
    stems: Lines = ""
    ticker: Lines = ""
    country: Line = ""
    sector: Line = ""
    wikidata: Line = ""

    @property
    def definition(self) -> Definition:
        values = self.model_dump()
        lists = {
            key: tuple(
                dict.fromkeys(line.strip() for line in values[key].splitlines() if line.strip())
            )
            for key in (
                "aliases",
                "ambiguous",
                "ambiguous_in",
                "context",
                "exclude",
                "stems",
                "ticker",
            )
        }
        facts = {key: values[key].strip() for key in ("country", "sector", "wikidata")}
        return Definition(name=self.name.strip(), lists=lists, facts=facts)


@dataclass(frozen=True, slots=True)
class Draft:
    """What the form shows: `former` is the entry's name in the file, None for a new one."""

    definition: Definition
    former: str | None
    mark: str
    fault: str | None = None


@lru_cache(maxsize=1)
def bundled() -> Companies:
    """The registry that comes with newscrawl; it does not change while we run."""
    return load_companies()


@router.get("/registry", response_class=HTMLResponse)
def registry(request: Request, q: Annotated[str, Field(max_length=MAX_VALUE)] = "") -> Response:
    """The user's companies, and those that come with newscrawl."""
    file = _file(request)
    found = _matching(bundled(), q)
    return render(
        request,
        "registry.html",
        file=file and file.path,
        opened=file.open() if file else None,
        words=q,
        found=found[:SHOWN],
        number=len(found),
        total=len(bundled()),
    )


@router.get("/registry/edit", response_class=HTMLResponse)
def edit(request: Request, name: str = "", copied: str = "", saved: bool = False) -> Response:
    """The form for an entry of the file, for a copy of a bundled one, or for a new one."""
    opened = _writable(request).open()
    source = bundled() if copied else opened.companies
    wanted = copied or name
    company = next((each for each in source if each.name == wanted), None)
    if wanted and company is None:
        raise HTTPException(404, f"No company {wanted!r} is there to edit.")
    definition = Definition.of(company) if company else Definition(name="", lists={}, facts={})
    draft = Draft(definition, None if copied else name or None, opened.mark, opened.fault)
    return _form(request, draft, saved=saved)


@router.post("/registry/preview", response_class=HTMLResponse)
def preview(request: Request, form: Annotated[Entry, Form()]) -> Response:
    """What the definition would match, for the page to put beside the form."""
    _check_seal(request, form.seal)
    desk = desk_of(request)
    if not form.name.strip():
        return render(request, "trial.html", trial=None, fault="Give it a name first.")
    try:
        with desk.store.reading() as database:
            trial = try_out(database, form.definition, form.former or None)
    except RegistryError as error:
        return render(request, "trial.html", trial=None, fault=str(error))
    return render(request, "trial.html", trial=trial, fault=None)


@router.post("/registry/save", response_class=HTMLResponse)
def save(request: Request, form: Annotated[Entry, Form()]) -> Response:
    """Writes the entry, or shows the form again with what is wrong."""
    _check_seal(request, form.seal)
    file = _writable(request)
    try:
        file.put(form.definition, instead_of=form.former or None, mark=form.mark)
    except RegistryError as error:
        draft = Draft(form.definition, form.former or None, form.mark, str(error))
        return _form(request, draft, saved=False, status=422)
    name = quote(form.definition.name, safe="")
    return RedirectResponse(f"/registry/edit?name={name}&saved=true", status_code=303)


@router.post("/registry/drop", response_class=HTMLResponse)
def drop(request: Request, form: Annotated[Entry, Form()]) -> Response:
    """Takes an entry out of the file."""
    _check_seal(request, form.seal)
    try:
        _writable(request).drop(form.former, mark=form.mark)
    except RegistryError as error:
        draft = Draft(form.definition, form.former or None, form.mark, str(error))
        return _form(request, draft, saved=False, status=422)
    return RedirectResponse("/registry", status_code=303)


def _form(request: Request, draft: Draft, *, saved: bool, status: int = 200) -> HTMLResponse:
    return render(
        request,
        "registry_edit.html",
        status=status,
        draft=draft,
        saved=saved,
        file=_writable(request).path,
    )


def _matching(companies: Companies, words: str) -> list[Company]:
    wanted = words.strip().casefold()
    return [
        company
        for company in companies
        if any(wanted in form.casefold() for form in (company.name, *company.aliases))
    ]


def _check_seal(request: Request, seal: str) -> None:
    if not desk_of(request).seal.holds(request, seal):
        raise HTTPException(403, "Load the page anew and send the form again.")


def _file(request: Request) -> RegistryFile | None:
    return desk_of(request).registry


def _writable(request: Request) -> RegistryFile:
    file = _file(request)
    if file is None:
        raise HTTPException(
            404,
            "No file to write to: start with newscrawl serve --companies FILE, a file of your own.",
        )
    return file
