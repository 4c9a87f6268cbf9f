"""Template memory in the database."""

import pytest

from newscrawl.extraction.template_memory import MAX_TEXTS
from newscrawl.items import Memory
from newscrawl.storage import Database, StorageError
from newscrawl.storage.saved_state import keep_memory, memories, memory_of


@pytest.fixture
def database(database: Database) -> Database:
    for slug in ("courier", "ledger"):
        database.register_source(slug, slug.title(), "gb", "en", f"https://{slug}.example/")
    return database


def test_new_source_has_an_empty_memory(database: Database) -> None:
    assert memory_of(database, "courier") == Memory()
    assert memory_of(database, "never heard of") == Memory()
    assert list(memories(database)) == []


def test_stored_memory_is_read_unchanged(database: Database) -> None:
    full = {(1 << 64) - 1 - number: number + 1 for number in range(MAX_TEXTS)}
    memory = Memory(pages=390, seen={0: 1, 255: 3, **full})
    keep_memory(database, "courier", memory)
    assert memory_of(database, "courier") == memory
    assert memory_of(database, "ledger") == Memory()


def test_order_of_fingerprints_is_kept(database: Database) -> None:
    keep_memory(database, "courier", Memory(pages=2, seen={9: 1, 1: 1, 5: 2}))
    assert list(memory_of(database, "courier").seen) == [9, 1, 5]


def test_stored_memory_replaces_the_previous_one(database: Database) -> None:
    keep_memory(database, "ledger", Memory(pages=1, seen={1: 1}))
    keep_memory(database, "courier", Memory(pages=1, seen={1: 1}))
    keep_memory(database, "courier", Memory(pages=2, seen={2: 2}))
    assert dict(memories(database)) == {
        "courier": Memory(pages=2, seen={2: 2}),
        "ledger": Memory(pages=1, seen={1: 1}),
    }


def test_source_must_be_registered(database: Database) -> None:
    with pytest.raises(StorageError, match="no source 'nobody'"):
        keep_memory(database, "nobody", Memory())
