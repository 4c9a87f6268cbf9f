"""The questions of the dashboard as JSON, described at /api/openapi.json.

A route, its parameters and the schema of its answer follow from the question's declaration
(`newscrawl.storage.queries.questions`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import AfterValidator, Field, TypeAdapter, WithJsonSchema
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from newscrawl.dashboard.companies_file import registry_of
from newscrawl.dashboard.filters import MAX_PERIOD
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    app_state,
    companies_in_use,
    versions_in_use,
)
from newscrawl.items import Versions
from newscrawl.storage import QuestionError, queries
from newscrawl.storage.queries import QUESTIONS, Question, Scope
from newscrawl.storage.scope import FILTERS, MAX_VALUE, read_scope
from newscrawl.storage.search_language import MAX_LENGTH
from newscrawl.text import did_you_mean, match_name

MAX_DAYS_OF_HOURS = 366
MAX_NAMES = 20  # in one comparison
DEFAULT_ROWS, MAX_ROWS = 50, 500
MAX_URL = 4000  # characters
SUBSIDIARIES = "Newscrawl-Subsidiaries"  # the header that says how companies were counted


@dataclass(frozen=True, slots=True)
class Fault:
    """An error: the cause, and what to do."""

    detail: str


_FAULTS: dict[int | str, dict[str, Any]] = {
    401: {"model": Fault, "description": "A token is needed"},
    422: {"model": Fault, "description": "The question is invalid"},
    503: {"model": Fault, "description": "The database can't be reached"},
}
_NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"model": Fault, "description": "Not in this database"}
}


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a value may not hold the character NUL")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Name = Annotated[
    Text, Path(max_length=MAX_VALUE, description="Its name in the registry of companies")
]
Names = Annotated[list[Text], Query(min_length=2, max_length=MAX_NAMES)]
Words = Annotated[
    Text, Query(max_length=MAX_LENGTH, description='words, "a phrase", NOT, NEAR/5, a*')
]
Value = Annotated[Text | None, Query(max_length=MAX_VALUE)]
Url = Annotated[Text, Query(max_length=MAX_URL)]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS)]
Offset = Annotated[int, Query(ge=0, le=10_000)]


def _scope(request: Request, response: Response, **values: str | None) -> Scope:
    """Return the scope of the request's filters."""
    scope = read_scope(
        values,
        now=app_state(request).config.clock(),
        structure=companies_in_use(request).structure,
        catalog=app_state(request).config.catalog,
    )
    response.headers[SUBSIDIARIES] = "included" if scope.subsidiaries else "separate"
    return scope.validate(max_days=MAX_PERIOD)


def _filter_parameter(name: str, default: Any) -> Parameter:
    """Return the parameter of a filter: a text that `read_scope` reads, described as its value."""
    declared = FILTERS[name]
    kind: Any = declared.kind
    if kind is int:
        kind = Annotated[int, Field(ge=declared.least, le=declared.most)]
    schema = TypeAdapter(kind | None if default is None else kind).json_schema()
    if default is not None:
        schema["default"] = default
    annotation = Annotated[
        str | None, WithJsonSchema(schema), Query(description=declared.help.rstrip("."))
    ]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


vars(_scope)["__signature__"] = Signature(
    [
        Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request),
        Parameter("response", Parameter.KEYWORD_ONLY, annotation=Response),
        *(_filter_parameter(name, getattr(queries.Scope(), name)) for name in FILTERS),
    ]
)


def _registered_companies(request: Request) -> list[str]:
    """Return the names of the registered companies."""
    return [company.name for company in registry_of(app_state(request).registry)]


FilledScope = Annotated[Scope, Depends(_scope)]


@dataclass(frozen=True, slots=True)
class _Known:
    """Checks of the companies that a request names."""

    request: Request
    database: OpenDatabase
    scope: FilledScope

    def check(self, *companies: str) -> None:
        """Raise HTTPException for a company that is neither mentioned nor registered."""
        if not companies:
            return
        names = {entry.name for entry in companies_in_use(self.request)}
        names.update(queries.company_names(self.database))
        for company in companies:
            if names.isdisjoint(self.scope.members(company)):
                _, near = match_name(company, sorted(names))
                advice = f"{did_you_mean(near)} " if near else ""
                advice += "/api/companies lists those that were mentioned"
                raise HTTPException(404, f"unknown company {company!r}: {advice}")


_FILLED_IN = {
    "database": OpenDatabase,
    "scope": FilledScope,
    "registered_companies": Annotated[Sequence[str], Depends(_registered_companies)],
    "versions": Annotated[Versions, Depends(versions_in_use)],
}
_NAMING_COMPANIES = {"company": Value, "beside": Value, "companies": Names}
# The values of parameters by their names; those of others follow their annotations.
_PARAMETERS = _NAMING_COMPANIES | {
    "without": Annotated[list[Text], Query(max_length=MAX_NAMES)],
    "query": Words,
    "url": Url,
    "limit": Limit,
    "offset": Offset,
    "each": Annotated[int, Query(ge=1, le=20)],
    "least": Limit,
    "story": Url,
}


def _check_parameters(request: Request) -> None:
    """Raise QuestionError for a parameter that the question does not have, or that is given twice
    but has one value: the answer would be that of another question."""
    path = request.scope["route"].path_format
    described = request.app.openapi()["paths"][path]["get"].get("parameters", ())
    lists = {
        parameter["name"]: parameter["schema"].get("type") == "array"
        for parameter in described
        if parameter["in"] == "query"
    }
    for name in request.query_params:
        if name not in lists:
            has = f"it has {', '.join(lists)}" if lists else "it has none"
            raise QuestionError(f"{path} has no parameter {name!r}: {has}")
        if not lists[name] and len(request.query_params.getlist(name)) > 1:
            raise QuestionError(f"{name} is given twice: it has one value")


@cache
def make_routes() -> tuple[BaseRoute, ...]:
    """Return the routes of all questions, which are the same for every application."""
    router = APIRouter(
        prefix="/api",
        responses=_FAULTS,
        tags=["questions"],
        dependencies=[Depends(_check_parameters)],
    )
    # Paths with a parameter come last, since they would match the others.
    for question in sorted(
        QUESTIONS.values(), key=lambda question_: ("{" in question_.path, question_.path)
    ):
        router.add_api_route(
            question.path,
            _endpoint(question),
            response_model=question.answer,
            responses=_NOT_FOUND if question.missing or _names_companies(question) else None,
        )
    return tuple(router.routes)


def _names_companies(question: Question) -> bool:
    return not _NAMING_COMPANIES.keys().isdisjoint(question.parameters)


def _endpoint(question: Question) -> Callable[..., Any]:
    """Return a function with the signature from which FastAPI makes the route."""
    names = {name: question.names.get(name, name) for name in question.parameters}

    def endpoint(known: _Known | None = None, **values: Any) -> Any:
        arguments = {name: values[shown] for name, shown in names.items()}
        for name in _NAMING_COMPANIES.keys() & arguments.keys():
            companies = arguments[name]
            assert known is not None  # noqa: S101 - of a question that names companies
            known.check(*([companies] if isinstance(companies, str) else companies or ()))
        if question.daily or arguments.get("by"):
            arguments["scope"] = _with_first_day(arguments["scope"], arguments.get("by", "day"))
        answer = question.ask(**arguments)
        if question.missing and not answer:
            raise HTTPException(404, question.missing)
        return answer

    known = Parameter("known", Parameter.KEYWORD_ONLY, annotation=Annotated[_Known, Depends()])
    parameters = [
        _parameter(question, parameter).replace(name=names[parameter.name])
        for parameter in question.parameters.values()
    ]
    if _names_companies(question):
        parameters.append(known)
    vars(endpoint)["__signature__"] = Signature(parameters)
    endpoint.__name__ = question.name
    endpoint.__doc__ = question.ask.__doc__
    return endpoint


def _parameter(question: Question, parameter: Parameter) -> Parameter:
    annotation, default = parameter.annotation, parameter.default
    if parameter.name in question.filled_in:
        annotation, default = _FILLED_IN[parameter.name], Parameter.empty
    elif f"{{{parameter.name}}}" in question.path:
        annotation = Name
    elif parameter.name in _PARAMETERS:
        annotation = _PARAMETERS[parameter.name]
        if annotation is Limit and default is None:
            default = DEFAULT_ROWS
    return parameter.replace(annotation=annotation, default=default, kind=Parameter.KEYWORD_ONLY)


def _with_first_day(scope: Scope, by: str) -> Scope:
    """Return the scope with a first day if the answer has a row for each period since the first
    crawl; raise QuestionError for too many hours."""
    last = scope.until or (scope.now or datetime.now(UTC)).date()
    if by == "hour" and scope.since and (last - scope.since).days > MAX_DAYS_OF_HOURS:
        raise QuestionError(f"hours of over {MAX_DAYS_OF_HOURS} days: ask for fewer, or by day")
    if scope.since is not None or by not in {"hour", "day"}:
        return scope
    return replace(scope, since=date.fromordinal(max(last.toordinal() - 365, 1)))
