"""From a wrong mention to its cure: what to change in the registry, what goes by it, and one button
that does it."""

from contextlib import suppress
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.dashboard.companies_file import CompaniesFileError
from newscrawl.dashboard.jobs import JobRunningError
from newscrawl.dashboard.pages.registry import record_saved
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    page_router,
    query,
    render,
)
from newscrawl.dashboard.trial import (
    AlreadySoError,
    Kind,
    changed_definition,
    definition_of,
    try_cure,
)
from newscrawl.storage.scope import MAX_VALUE

router = page_router()

MAX_SHOWN = 50  # articles of a preview
Line = Annotated[str, Field(max_length=MAX_VALUE)]


class CureForm(BaseModel):
    """A change of a company: of its form, or of a phrase that has one."""

    company: Line = ""
    kind: Kind = "context"
    words: Line = ""
    done: bool = False


@router.get("/cure")
def show_cure(
    request: Request, database: OpenDatabase, form: Annotated[CureForm, Query()]
) -> Response:
    """Show what would go by a change of a company, or that it was made, just before or earlier."""
    if form.done:
        return render(request, "cure.html", cure=form, done="Saved.")
    try:
        cure = try_cure(app_state(request).registry, database, form.company, form.kind, form.words)
    except AlreadySoError as error:
        return render(request, "cure.html", cure=form, done=str(error))
    except CompaniesFileError as error:
        raise HTTPException(409, str(error)) from error
    return render(request, "cure.html", cure=cure, done="", shown=MAX_SHOWN)


@router.post("/cure")
def apply_cure(request: Request, form: Sent[CureForm]) -> Response:
    """Save a change of a company, and find its mentions again in all stored articles."""
    state = app_state(request)
    values = {"company": form.company, "kind": form.kind, "words": form.words}
    try:
        opened, definition = definition_of(state.registry, form.company)
        changed = changed_definition(definition, form.kind, form.words)
        is_own = any(company.name == form.company for company in opened.companies)
        assert state.registry  # noqa: S101 - as definition_of has found it
        former = form.company if is_own else None
        state.registry.save(changed, instead_of=former, mark=opened.mark)
    except AlreadySoError:
        return RedirectResponse(f"/cure{query(**values)}", status_code=303)
    except CompaniesFileError as error:
        raise HTTPException(409, str(error)) from error
    record_saved(request, "saved", form.company)
    with suppress(JobRunningError):
        state.job.rematch(state.registry.path)
    return RedirectResponse(f"/cure{query(**values, done='true')}", status_code=303)
