"""The database: `Database` writes, the functions of `newscrawl.storage.queries` read.

Names that need SQLAlchemy are imported when they are used: a process that only reads pages makes
records (newscrawl.storage.documents) and starts a quarter of a second earlier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newscrawl.items import Outcome
from newscrawl.storage.errors import StorageError, UnstorableDocument

if TYPE_CHECKING:
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
    "open_database",
    "upgrade_database",
]
_OF_ARTICLES = {"SaveResult"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "articles" if name in _OF_ARTICLES else "database"
    return getattr(import_module(f"{__name__}.{module}"), name)
