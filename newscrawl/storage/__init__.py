"""The database: `Database` writes, the functions of `newscrawl.storage.queries` read.

Names and modules that need SQLAlchemy are imported when they are used: a process that only reads
pages makes records (newscrawl.storage.documents) and starts a quarter of a second earlier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newscrawl.items import Outcome
from newscrawl.storage.errors import StorageError, UnstorableDocument

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
    "CoverageState",
    "Database",
    "Outcome",
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
