"""Questions from Python: all of `newscrawl.storage.queries`, and their answers as frames.

    from newscrawl import query

    with query.open_news("sqlite:///newscrawl.sqlite") as news:
        weeks = query.mention_counts(news, "week", company="Siemens")
    query.to_pandas(weeks)

To count companies with their subsidiaries, or groups of a companies file, give their structure:
`scope=query.Scope(subsidiaries=True, structure=query.company_structure())`. A group of sources
needs the catalog: `query.Scope(group="leading", catalog=query.source_catalog())`. Questions about
registered companies get them from `query.registered_companies()`; `query.proof` says what is in use
if it gets `query.versions()`.

The functions only read. They raise QuestionError for an invalid question, or about a company that
is neither registered nor mentioned anywhere, and StorageError, its base class, for a database that
can't be read. Rows are frozen dataclasses; `to_records` makes flat dictionaries of them,
`to_pandas` and `to_polars` frames if these libraries are installed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from newscrawl import config
from newscrawl.items import CompanyStructure, SourceCatalog, Versions
from newscrawl.mentions import load_companies
from newscrawl.reading import versions_of
from newscrawl.sources.registry import catalog_of, load_registry
from newscrawl.storage import Database, QuestionError, StorageError, open_database, queries
from newscrawl.storage.queries import *
from newscrawl.storage.queries import suggestions
from newscrawl.storage.queries.questions import flat_row
from newscrawl.storage.queries.suggestions import SuggestedName
from newscrawl.text import did_you_mean, match_name

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = [
    "CompanyStructure",
    "Database",
    "QuestionError",
    "StorageError",
    "SuggestedName",
    "company_structure",
    "open_news",
    "registered_companies",
    "source_catalog",
    "suggested_names",
    "to_pandas",
    "to_polars",
    "to_records",
    "versions",
]
__all__ += queries.__all__

_Answer = TypeVar("_Answer")
_Given = ParamSpec("_Given")
_NAMES = ("company", "companies", "beside")  # parameters that name companies


def _check_companies(ask: Callable[_Given, _Answer]) -> Callable[_Given, _Answer]:
    """Return the question with a check of the companies that it names: an unknown name (never
    mentioned, not registered, not a group) is an error and not a count of 0."""
    takes = signature(ask)

    @wraps(ask)
    def checked(*args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        arguments = takes.bind(*args, **kwargs).arguments
        for value in map(arguments.get, _NAMES):
            for name in (value,) if isinstance(value, str) else value or ():
                _check_company(name, arguments["database"], arguments.get("scope"))
        return ask(*args, **kwargs)

    return checked


def _check_company(name: str, database: Database, scope: queries.Scope | None) -> None:
    """Raise QuestionError, with the nearest names, for a company that is not known."""
    structure = scope.structure if isinstance(scope, queries.Scope) else CompanyStructure()
    stored = queries.company_names(database)
    if name in stored or name in structure.groups or name in structure.parents.values():
        return
    registered = _registry()
    if name in structure.parents or name in registered:
        return
    match, near = match_name(name, [*stored, *structure.groups, *registered])
    near = [match] if match else near
    advice = did_you_mean(near) if near else "registered_companies() lists them"
    raise QuestionError(f"unknown company {name!r}: {advice}")


@cache
def _registry() -> list[str]:
    return registered_companies(config.NEWSCRAWL_COMPANIES or None)


for _name, _question in queries.QUESTIONS.items():
    if not _question.parameters.keys().isdisjoint(_NAMES):
        globals()[_name] = _check_companies(_question.ask)


def suggested_names(
    database: Database,
    *,
    scope: queries.Scope | None = None,
    limit: int = 50,
    companies: str | Path | None = None,
) -> list[SuggestedName]:
    """Return the names of organisations in most articles of the scope that neither the bundled
    companies nor those of a file of one's own have; raise CompaniesError for a faulty file."""
    is_registered = load_companies(companies).is_registered
    return suggestions.suggested_names(
        database, is_registered, scope=scope or queries.Scope(), limit=limit
    )


def open_news(url: str) -> Database:
    """Return the database at an SQLite or PostgreSQL URL; raise StorageError if there is none."""
    return open_database(url, create=False)


def company_structure(companies: str | Path | None = None) -> CompanyStructure:
    """Return owners and groups of the bundled companies and those of a file of one's own; raise
    CompaniesError for a faulty file."""
    return load_companies(companies).structure


def source_catalog(sources: str | Path | None = None) -> SourceCatalog:
    """Return the groups of the bundled sources and those of a file of one's own; raise
    SourceError for a faulty file."""
    return catalog_of(load_registry(Path(sources) if sources else None))


def registered_companies(companies: str | Path | None = None) -> list[str]:
    """Return the names of the bundled companies and those of a file of one's own; raise
    CompaniesError for a faulty file."""
    return [company.name for company in load_companies(companies)]


def versions(companies: str | Path | None = None) -> Versions:
    """Return what is in use: the version of newscrawl, and digests of its models and companies."""
    return versions_of(Path(companies) if companies else None)


def to_records(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return a flat dictionary for each row, with the fields of rows within it (hits, completeness,
    article), which get a prefix if two have the same name (`articles` of hits and `before_articles`
    of those before). All fields of hits are None if nothing was crawled."""
    return [_record(row) for row in rows]


def to_pandas(rows: Iterable[Any]) -> "pandas.DataFrame":
    """Return a pandas frame of the rows; raise ImportError without pandas."""
    frame: pandas.DataFrame = _library("pandas").DataFrame(to_records(rows))
    return frame


def to_polars(rows: Iterable[Any]) -> "polars.DataFrame":
    """Return a polars frame of the rows; raise ImportError without polars."""
    records = to_records(rows)
    frame: polars.DataFrame = _library("polars").DataFrame(records, infer_schema_length=None)
    return frame


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        advice = "pip install 'newscrawl[frames]', or use to_records"
        raise ImportError(f"{name} is not installed: {advice}") from error


def _record(row: Any) -> dict[str, Any]:
    return {key: _plain(value) for key, value in flat_row(type(row), row).items()}


def _plain(value: Any) -> Any:
    """Return rows in a row as dictionaries and tuples as lists, which frames need."""
    if isinstance(value, tuple):
        return [_record(item) if is_dataclass(item) else _plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value
