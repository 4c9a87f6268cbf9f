"""The page on which a list of companies is pasted from a spreadsheet: a preview of each line, and
the lines that are chosen go into the user's file."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from newscrawl.dashboard.companies_file import CompaniesFileError, registry_of
from newscrawl.dashboard.pages.registry import record_saved, writable_file
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    page_router,
    render,
)
from newscrawl.mentions import CompaniesError, Company
from newscrawl.mentions.legal_forms import DEFAULT_CONTEXT, ShortForms, forms_of
from newscrawl.mentions.registry_file import read_file
from newscrawl.mentions.vocabulary import load_vocabulary
from newscrawl.storage import Database
from newscrawl.storage.queries.suggestions import MOST_ARTICLES, articles_naming

router = page_router()

MAX_LINES = 200  # ours: each asks the search index


class PastedList(BaseModel):
    """The form: the text of a table, the names of the lines that are saved, and of those whose
    everyday words count only with context."""

    mark: str = Field("", max_length=200)
    text: str = Field("", max_length=100_000)
    chosen: list[str] = Field(default_factory=list, max_length=MAX_LINES)
    in_context: list[str] = Field(default_factory=list, max_length=MAX_LINES)


@dataclass(frozen=True, slots=True)
class PastedLine:
    """What a line would be: `bundled` is the company that already has its name, `everyday` its
    forms that are words, `articles` those in which the index finds one of its forms."""

    company: Company
    bundled: str | None
    everyday: tuple[str, ...]
    articles: int
    is_saved: bool


@router.get("/registry/paste")
def paste(request: Request) -> Response:
    """Show the field for a list."""
    return _page(request, "")


@router.post("/registry/paste")
def preview(request: Request, database: OpenDatabase, form: Sent[PastedList]) -> Response:
    """Show what each line of the list would be, or why it can't be read."""
    try:
        companies = _companies_of(form.text)
        lines = [*_lines(request, database, companies)]
    except (CompaniesError, CompaniesFileError) as error:
        return _page(request, form.text, fault=_fault(error), status=422)
    return _page(request, form.text, lines)


@router.post("/registry/paste/save")
def save(request: Request, database: OpenDatabase, form: Sent[PastedList]) -> Response:
    """Save the chosen lines, and find them in the articles that have their names."""
    file, numbers = writable_file(request), set[int]()
    try:
        companies = [
            _in_context(company) if company.name in form.in_context else company
            for company in _companies_of(form.text)
            if company.name in form.chosen
        ]
        file.add(companies, mark=form.mark)
        for company in _extended(companies):
            numbers.update(articles_naming(database, company.name, forms_of(company)))
    except (CompaniesError, CompaniesFileError) as error:
        return _page(request, form.text, fault=_fault(error), status=422)
    for company in companies:
        record_saved(request, "saved", company.name)
    if numbers:
        newest = sorted(numbers)[-MOST_ARTICLES:]
        app_state(request).job.rematch_articles(
            file.path, f"the {len(newest):,} with their names", newest
        )
    return RedirectResponse("/registry", status_code=303)


def _companies_of(text: str) -> list[Company]:
    """Return the companies of a table, at most MAX_LINES; raise CompaniesError."""
    with TemporaryDirectory(prefix="newscrawl-pasted-") as folder:
        file = Path(folder, "pasted.csv")
        file.write_text(text, "utf-8")
        return [entry.company for entry in read_file(file).entries][:MAX_LINES]


def _everyday_forms(company: Company) -> tuple[str, ...]:
    return tuple(filter(load_vocabulary().is_of_many, company.certain))


def _in_context(company: Company) -> Company:
    return replace(
        company,
        ambiguous=(*company.ambiguous, *_everyday_forms(company)),
        context=company.context or (DEFAULT_CONTEXT,),
    )


def _extended(companies: list[Company]) -> list[Company]:
    return [*ShortForms(load_vocabulary(), ()).add_to(companies).values()]


def _lines(request: Request, database: Database, companies: list[Company]) -> Iterator[PastedLine]:
    bundled = registry_of(None)
    in_file = {company.name for company in writable_file(request).open().companies}
    for company in _extended(companies):
        twins = (bundled.by_name(form) for form in company.certain)
        twin = next((twin.name for twin in twins if twin is not None), None)
        yield PastedLine(
            company,
            twin,
            _everyday_forms(company),
            len(articles_naming(database, company.name, forms_of(company))),
            company.name in in_file,
        )


def _fault(error: Exception) -> str:
    if isinstance(error, CompaniesError):
        place = f"Line {error.line}: " if error.line else ""
        return f"{place}{error.fault}: {error.advice}."
    return str(error)


def _page(
    request: Request,
    text: str,
    lines: list[PastedLine] | None = None,
    *,
    fault: str | None = None,
    status: int = 200,
) -> Response:
    file = writable_file(request)
    return render(
        request,
        "registry_paste.html",
        status=status,
        text=text,
        lines=lines,
        fault=fault,
        most=MOST_ARTICLES,
        file=file.path,
        mark=file.open().mark,
    )
