"""Fixtures of the tests of storage."""

from collections.abc import Iterator

import pytest

from newscrawl.storage import Database, open_database
from tests.worlds import empty


@pytest.fixture(scope="module")
def postgres(postgres_tables: str) -> Iterator[Database]:
    """Yield a PostgreSQL database for the property tests of a module, and empty it afterwards."""
    with open_database(postgres_tables) as database:
        yield database
    empty(postgres_tables)
