"""The companies, groups and saved queries that people name, and those that they may have meant."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request

from newscrawl.dashboard.companies_file import registry_of
from newscrawl.dashboard.rendering import app_state, companies_in_use
from newscrawl.storage import CorrectionError, Database, queries
from newscrawl.storage.queries import Scope
from newscrawl.text import match_name

MIN_NAME = 2  # characters of a name for which the search also offers companies, MAX_CALLED of them
MAX_CALLED = 5


def check_is_named(request: Request, name: str, names: Sequence[str], scope: Scope) -> None:
    """Raise HTTPException for a company that is neither registered nor among those that articles
    name."""
    if {*scope.members(name)} & {*names}:
        return
    registered = companies_in_use(request).by_name(name)
    if registered and registered.name == name:
        return
    near = similar_names(request, name, names)
    advice = f" Did you mean {' or '.join(near)}?" if near else ""
    raise HTTPException(404, f"No company {name!r} was ever mentioned in this database.{advice}")


def similar_names(request: Request, name: str, names: Sequence[str]) -> list[str]:
    """Return the name that has this alias, or else up to three similar names."""
    registered = companies_in_use(request).by_name(name)
    if registered and registered.name in names:
        return [registered.name]
    same, near = match_name(name, names)
    return [same] if same else near


def companies_by_name(request: Request, words: str, names: Sequence[str]) -> list[str]:
    """Return the companies and groups that have this name or alias, or begin with it."""
    if len(words) < MIN_NAME:
        return []
    registered = companies_in_use(request).by_name(words)
    begin = [name for name in names if name.casefold().startswith(words.casefold())]
    first = [registered.name] if registered and registered.name in names else []
    return list(dict.fromkeys([*first, *begin]))[:MAX_CALLED]


def company_named(request: Request, database: Database, text: str) -> str:
    """Return the company of this name or form; raise CorrectionError if none or several have it."""
    registry = registry_of(app_state(request).registry)
    names = [company.name for company in registry] + queries.company_names(database)
    name, near = match_name(text, names)
    folded = text.casefold()
    owners = [
        company.name
        for company in registry
        if any(form.casefold() == folded for form in (*company.aliases, *company.ambiguous))
    ]
    if name is not None or len(owners) == 1:
        return name or owners[0]
    advice = f"is it {' or '.join((owners or near)[:3])}?" if owners or near else "see Registry"
    raise CorrectionError(f"no one company is named {text!r}: write its name, {advice}")
