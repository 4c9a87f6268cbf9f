"""The database: `Database` writes, the functions of `newscrawl.storage.queries` read."""

from newscrawl.storage.database import (
    COVERAGE_STATES,
    CoverageState,
    Database,
    open_database,
    upgrade_database,
)
from newscrawl.storage.errors import StorageError, UnstorableDocument
from newscrawl.storage.saving import Outcome, Saved

__all__ = [
    "COVERAGE_STATES",
    "CoverageState",
    "Database",
    "Outcome",
    "Saved",
    "StorageError",
    "UnstorableDocument",
    "open_database",
    "upgrade_database",
]
