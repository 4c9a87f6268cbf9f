"""From a wrong mention to its cure: what to change in the registry, what goes by it, and one button
that does it."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl.dashboard.companies_file import (
    CompaniesFileError,
    Definition,
    FileState,
    registry_of,
    small_registry,
)
from newscrawl.dashboard.jobs import JobRunningError
from newscrawl.dashboard.pages.registry import TrialArticle, record_saved, trial_article
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    page_router,
    query,
    render,
)
from newscrawl.items import Mention
from newscrawl.mentions import Companies
from newscrawl.storage import Database, queries
from newscrawl.storage.queries.article_details import CorrectionRow
from newscrawl.storage.queries.article_lists import StoredText, newest_texts
from newscrawl.storage.scope import MAX_VALUE

router = page_router()

TRIED = 1000  # newest articles of the company that are matched anew; ours: half a second
MAX_BESIDE = 50  # companies named together with it, which may support its name; ours
MAX_SHOWN = 50  # articles of a preview
# "context": the form counts only with support; "phrase": the form never counts within the phrase.
Kind = Literal["context", "phrase"]
Line = Annotated[str, Field(max_length=MAX_VALUE)]


class CureForm(BaseModel):
    """A change of a company: of its form, or of a phrase that has one."""

    company: Line = ""
    kind: Kind = "context"
    words: Line = ""
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cure:
    """A change of a company for good, and the articles that it would no longer count in, of those
    `read`."""

    company: str
    kind: Kind
    words: str
    read: int
    leaving: tuple[TrialArticle, ...]

    @property
    def address(self) -> str:
        return f"/cure{query(company=self.company, kind=self.kind, words=self.words)}"


def offered_cures(request: Request, database: Database, wrong: CorrectionRow) -> list[Cure]:
    """Return the cures of a mention that a person called wrong; none without a companies file that
    can be edited."""
    cures = []
    for kind, words in _candidates(wrong):
        with suppress(CompaniesFileError):
            cures.append(_try_cure(request, database, wrong.company, kind, words))
    return cures


def _candidates(wrong: CorrectionRow) -> Iterator[tuple[Kind, str]]:
    """Yield the form alone, and the form with the word after or else before it."""
    yield "context", wrong.surface
    around = re.search(rf"(\w+ )?{re.escape(wrong.surface)}( \w+)?", wrong.sentence)
    if around and (after := around[2]):
        yield "phrase", wrong.surface + after
    elif around and (before := around[1]):
        yield "phrase", before + wrong.surface


def _try_cure(request: Request, database: Database, company: str, kind: Kind, words: str) -> Cure:
    """Return a cure with what goes by it; raise CompaniesFileError for one that changes nothing, or
    can't be."""
    _, definition = _definition(request, company)
    changed = _changed(definition, kind, words)
    registry = {each.name: each for each in registry_of(app_state(request).registry)}
    beside = [
        Definition.of(registry[row.company])
        for row in queries.co_mentions(database, company, limit=MAX_BESIDE)
        if row.company in registry
    ]
    texts = newest_texts(database, company=company, limit=TRIED, naming=True)

    def mentions_in(text: StoredText, companies: Companies) -> list[Mention]:
        mentions = companies.find(text.text, title=text.title, language=text.language)
        return [mention for mention in mentions if mention.company == company]

    # Only articles with the words can change.
    having = [each for each in texts if words.casefold() in f"{each.title} {each.text}".casefold()]
    then = _with_support(changed, beside)
    lost = [text for text in having if not mentions_in(text, then)]
    now = _with_support(definition, beside) if lost else then
    leaving = [
        trial_article(text, mentions) for text in lost if (mentions := mentions_in(text, now))
    ]
    return Cure(company=company, kind=kind, words=words, read=len(texts), leaving=tuple(leaving))


def _with_support(definition: Definition, beside: list[Definition]) -> Companies:
    """Return a registry of a company and those that are named together with it, or of the company
    alone, where they need others."""
    try:
        return small_registry(definition, *beside)
    except CompaniesFileError:
        return small_registry(definition)


def _definition(request: Request, name: str) -> tuple[FileState, Definition]:
    """Return the state of the file, and the definition of a company in it or of a bundled one;
    raise CompaniesFileError."""
    file = app_state(request).registry
    if file is None:
        raise CompaniesFileError("No file to write to: start with newscrawl serve --companies FILE")
    opened = file.open()
    if opened.fault:
        raise CompaniesFileError(opened.fault)
    for company in (*opened.companies, *registry_of(None)):
        if company.name == name:
            return opened, Definition.of(company)
    raise CompaniesFileError(f"No company {name!r} is in the registry.")


def _changed(definition: Definition, kind: Kind, words: str) -> Definition:
    """Return a definition in which a form counts only with support, or not within a phrase; raise
    CompaniesFileError if that is so already."""
    lists = dict(definition.lists)
    if kind == "phrase":
        lists["exclude"] = tuple(dict.fromkeys([*lists["exclude"], words]))
    else:
        forms = (definition.name, *lists["aliases"])
        same = [form for form in forms if form.casefold() == words.casefold()]
        lists["ambiguous"] = tuple(dict.fromkeys([*lists["ambiguous"], *same]))
        lists["aliases"] = tuple(form for form in lists["aliases"] if form not in same)
    if lists == dict(definition.lists):
        raise CompaniesFileError("That is so already.")
    return replace(definition, lists=lists)


@router.get("/cure")
def show_cure(
    request: Request, database: OpenDatabase, form: Annotated[CureForm, Query()]
) -> Response:
    """Show what would go by a change of a company, or that it was made."""
    if form.done:
        return render(request, "cure.html", cure=form, done=True, job=app_state(request).job)
    try:
        cure = _try_cure(request, database, form.company, form.kind, form.words)
    except CompaniesFileError as error:
        raise HTTPException(409, str(error)) from error
    return render(request, "cure.html", cure=cure, done=False, shown=MAX_SHOWN)


@router.post("/cure")
def apply_cure(request: Request, form: Sent[CureForm]) -> Response:
    """Save a change of a company, and find its mentions again in all stored articles."""
    state = app_state(request)
    try:
        opened, definition = _definition(request, form.company)
        changed = _changed(definition, form.kind, form.words)
        is_own = any(company.name == form.company for company in opened.companies)
        assert state.registry  # noqa: S101 - as _definition has found it
        former = form.company if is_own else None
        state.registry.save(changed, instead_of=former, mark=opened.mark)
    except CompaniesFileError as error:
        raise HTTPException(409, str(error)) from error
    record_saved(request, "saved", form.company)
    if state.job is not None:
        with suppress(JobRunningError):
            state.job.rematch(state.registry.path)
    values = query(company=form.company, kind=form.kind, words=form.words, done="true")
    return RedirectResponse(f"/cure{values}", status_code=303)
