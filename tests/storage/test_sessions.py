"""Functions of a session, called with a database or within a session."""

import pytest
from sqlalchemy.orm import Session

from newscrawl.storage import QuestionError, StorageError, queries
from newscrawl.storage.company_alerts import watch_company, watched_companies
from tests.worlds import register


def test_write_within_a_session_is_part_of_its_transaction(database):
    def work(session: Session) -> None:
        assert watch_company(session, "Siemens")
        assert [watch.company for watch in watched_companies(session)] == ["Siemens"]
        raise StorageError("the rest fails")

    with pytest.raises(StorageError):
        database.write(work)
    assert watched_companies(database) == []
    assert watch_company(database, "Siemens")


def test_question_is_asked_of_a_database_or_within_a_session(database):
    register(database)
    with database.reading() as session:
        assert queries.source_names(session) == queries.source_names(database=database) != {}
        with pytest.raises(QuestionError, match="unknown source 'nowhere'"):
            queries.mention_counts(session, scope=queries.Scope(source="nowhere"))
