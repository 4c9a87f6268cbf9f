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


def test_memory_is_read_as_it_was_stored_last(database):
    assert memory_of(database, "courier") == memory_of(database, "never heard of") == Memory()
    assert list(memories(database)) == []
    full = {(1 << 64) - 1 - number: number + 1 for number in range(MAX_TEXTS)}
    memory = Memory(pages=390, seen={9: 1, 1: 1, 5: 2, 0: 1, 255: 3, **full})
    keep_memory(database, "ledger", Memory(pages=1, seen={1: 1}))
    for learned in (Memory(pages=1, seen={1: 1}), memory):
        keep_memory(database, "courier", learned)
    assert memory_of(database, "courier") == memory
    assert list(memory_of(database, "courier").seen)[:3] == [9, 1, 5]
    assert dict(memories(database)) == {"courier": memory, "ledger": Memory(pages=1, seen={1: 1})}


def test_source_must_be_registered(database):
    with pytest.raises(StorageError, match="no source 'nobody'"):
        keep_memory(database, "nobody", Memory())
