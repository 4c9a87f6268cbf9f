"""Declare a question once, by a decorated function that returns dataclasses.

    @question("/stories")
    def stories(session: Session, *, scope: Scope = ANY, limit: int = 20) -> list[StoryRow]:
        '''Return the stories of the scope that most articles report.'''

This makes the function in `newscrawl.query`, the route of the API with its parameters and JSON
schema (`newscrawl.dashboard.api`), and `newscrawl ask stories` with its options and columns
(`newscrawl.cli.questions`).

The function reads in a session, and is asked of a database. The command line and the API fill in
the parameters of `FILLED_IN`: `database`; `scope`, made of the filters for days, source, country,
language and section; `registered_companies`, the names of the registered companies; and `versions`,
those of newscrawl, companies and models. All others become options of the command and parameters of
the route. To fill in another one, add its name there, and its value to `_FILLED_IN` in
`newscrawl.cli.questions` and in `newscrawl.dashboard.api`.

Only a question that takes a scope and returns a list of dataclasses becomes a command of
`newscrawl ask`. The first paragraph of its docstring is the help, with "List" for "Return".
"""

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import partial, wraps
from inspect import Parameter, signature
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, get_args

from sqlalchemy.orm import Session

from newscrawl.storage import QuestionError
from newscrawl.storage.database import ANSWERS, Database, reads
from newscrawl.storage.documents import minute_of
from newscrawl.storage.scope import QUARTER, Scope
from newscrawl.storage.scope_conditions import validate_in

__all__ = ["QUESTIONS", "Question"]

ANY = Scope()
FILLED_IN = ("database", "scope", "registered_companies", "versions")

_P = ParamSpec("_P")
_T = TypeVar("_T")
# Where the command line shows a field: in tables and files, in files only, or nowhere.
_Shown = Literal["table", "files", "nowhere"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question. `names` are those of parameters in the API where they differ from Python's.

    `missing` is the API's message for an empty answer (status 404), and `daily` is set if the
    answer has a row for each day.
    """

    ask: Callable[..., Any]
    path: str
    names: Mapping[str, str]
    missing: str | None
    daily: bool

    @property
    def name(self) -> str:
        return self.ask.__name__

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        return signature(self.ask).parameters

    @property
    def filled_in(self) -> list[str]:
        """Its parameters that the command line and the API fill in."""
        return [name for name in self.parameters if name in FILLED_IN]

    @property
    def answer(self) -> Any:
        """Return the annotation of the answer."""
        return signature(self.ask).return_annotation

    @property
    def row(self) -> Any:
        """Return the dataclass of the rows."""
        return next(iter(get_args(self.answer)), self.answer)


# The decorator fills it while the modules of this package are imported.
QUESTIONS: dict[str, Question] = {}


def question(
    path: str,
    *,
    names: Mapping[str, str] = MappingProxyType({}),
    missing: str | None = None,
    daily: bool = False,
) -> Callable[
    [Callable[Concatenate[Session, _P], _T]], Callable[Concatenate[Database | Session, _P], _T]
]:
    """Register a function as a question, which is asked of a database or in an open session; its
    scope is validated whenever it is called, by the sources of the database, too.

    `path` is the route below /api; a {company} in it must be one that was mentioned or is
    registered. See `Question` for the rest.
    """

    def register(
        function: Callable[Concatenate[Session, _P], _T],
    ) -> Callable[Concatenate[Database | Session, _P], _T]:
        _, *parameters = signature(function).parameters.values()
        scoped = any(parameter.name == "scope" for parameter in parameters)

        @reads
        @wraps(function)
        def ask(session: Session, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
            if scoped:
                scope = ANY if kwargs.get("scope") is None else kwargs["scope"]
                if not isinstance(scope, Scope):
                    raise QuestionError(
                        f"the scope {scope!r} is not a Scope: Scope(country='gb') is"
                    )
                kwargs["scope"] = validate_in(session, scope)
            limit = kwargs.get("limit")
            if limit is not None and (not isinstance(limit, int) or limit < 0):
                raise QuestionError(f"the limit {limit!r} is not a number of rows from 0 on")
            return function(session, *args, **kwargs)

        of = Parameter("database", Parameter.POSITIONAL_OR_KEYWORD, annotation=Database)
        vars(ask)["__signature__"] = signature(function).replace(parameters=[of, *parameters])
        QUESTIONS[function.__name__] = Question(
            ask=ask, path=path, names=names, missing=missing, daily=daily
        )
        return ask

    return register


def cache_answers(
    function: Callable[Concatenate[Session, _P], _T],
) -> Callable[Concatenate[Session, _P], _T]:
    """Return the function with a cache, in sessions of a database that caches answers.

    The key is its arguments and the present quarter of an hour, from which periods are made.
    Callers must not change an answer.
    """

    @wraps(function)
    def ask(session: Session, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        if ANSWERS not in session.info:
            return function(session, *args, **kwargs)
        values = (*args, *kwargs.values())
        moments = [value.now or datetime.now(UTC) for value in values if isinstance(value, Scope)]
        quarters = tuple(minute_of(moment) // QUARTER for moment in moments)
        key = (function.__qualname__, args, tuple(kwargs.items()), quarters)
        answer: _T = session.info[ANSWERS](key, partial(function, session, *args, **kwargs))
        return answer

    return ask


def type_of(field: Field[Any]) -> Any:
    """Return the type of a field's values that are not None."""
    if isinstance(field.type, UnionType):
        return next(arg for arg in get_args(field.type) if arg is not NoneType)
    return field.type


def column_of(field: Field[Any]) -> str:
    """Return the name of a field in tables and files of the command line."""
    return field.metadata.get("column") or field.name


def flat_row(
    kind: type[Any], row: Any, key_of: Callable[[Field[Any]], str] = lambda field: field.name
) -> dict[str, Any]:
    """Return the fields of a row and those of the rows in it side by side.

    The fields of a second row within it have its field's name before them if they would replace
    others: `articles` of `hits`, `before_articles` of `before`. All are None if `row` is None.
    """
    flat: dict[str, Any] = {}
    for field in fields(kind):
        value = None if row is None else getattr(row, field.name)
        if not is_dataclass(type_of(field)):
            flat[key_of(field)] = value
            continue
        for key, part in flat_row(type_of(field), value, key_of).items():
            flat[f"{field.name}_{key}" if key in flat else key] = part
    return flat


def about(
    description: str = "", *, column: str = "", shown: _Shown = "table", json: bool = True
) -> dict[str, Any]:
    """Return the metadata of a field of a row, as in `field(metadata=about("..."))`.

    `description` is for the API's schema. `column` is the name in tables and files of the command
    line, where it is not the field's; the API and Python have the field's name. With `json` False,
    the API's JSON leaves the field out.
    """
    metadata: dict[str, Any] = {"column": column, "shown": shown}
    # pydantic, which makes the schema and the JSON of the API, knows these names.
    if description:
        metadata["description"] = description
    if not json:
        metadata["exclude"] = True
    return metadata
