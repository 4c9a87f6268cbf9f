"""The database: `Database` writes, the functions of `newscrawl.storage.queries` read.

Names and modules that need SQLAlchemy are imported when they are used: a process that only reads
pages makes records (newscrawl.storage.documents) and starts a quarter of a second earlier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newscrawl.items import Outcome

# The exceptions. Each message is one line that says what to do, with passwords masked.


class StorageError(Exception):
    """The database can't be reached, has another schema, or refused a write."""


class UnstorableDocument(StorageError):  # noqa: N818 - named for what it is, as a drop reason reads
    """This document can't be stored; the database works, and the next document may be stored."""


class RevisionError(Exception):
    """A revision that can't be applied, discarded or restored; the database works."""


class CorrectionError(Exception):
    """A correction of a mention that can't be made or undone as asked; the database is fine."""


class QuestionError(StorageError):
    """A question with an invalid time zone, range or search text."""


if TYPE_CHECKING:
    from newscrawl.storage import company_alerts, queries
    from newscrawl.storage.articles import SaveResult
    from newscrawl.storage.database import (
        COVERAGE_STATES,
        CoverageState,
        Database,
        open_database,
        upgrade_database,
    )

__all__ = [
    "COVERAGE_STATES",
    "CorrectionError",
    "CoverageState",
    "Database",
    "Outcome",
    "QuestionError",
    "RevisionError",
    "SaveResult",
    "StorageError",
    "UnstorableDocument",
    "company_alerts",
    "open_database",
    "queries",
    "upgrade_database",
]
_OF_ARTICLES = {"SaveResult"}
_MODULES = {"company_alerts", "queries"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    module = "articles" if name in _OF_ARTICLES else "database"
    return getattr(import_module(f"{__name__}.{module}"), name)
