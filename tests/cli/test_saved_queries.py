"""newscrawl queries: save, list, show, edit, recount and remove searches."""

import json
from pathlib import Path

import pytest

from newscrawl.storage import open_database
from newscrawl.storage.saved_queries import add_query
from tests.conftest import Newscrawl, Ran
from tests.worlds import document, moment, register, save_documents


@pytest.fixture
def world(newscrawl: Newscrawl, own_database: Path) -> Newscrawl:
    with open_database(f"sqlite:///{own_database}") as database:
        texts = ("A rail strike.", "No trains: strike at the railway.", "Football.")
        documents = [
            document(str(place), text=text, published=moment(place - 3))
            for place, text in enumerate(texts)
        ]
        save_documents(database, documents, register(database))
    return newscrawl


def listed(world: Newscrawl) -> list[tuple[str, str, bool]]:
    rows = json.loads(world("queries", "list", "--format", "json").out)
    return [(row["name"], row["text"], row["counted"]) for row in rows]


def articles(ran: Ran) -> int:
    return sum(row["articles"] or 0 for row in json.loads(ran.out))


def counted(world: Newscrawl, name: str) -> int:
    return articles(world("mentions", "-c", name, "--by", "month", "-f", "json"))


def test_query_is_saved_counted_edited_and_removed(world):
    ran = world("queries", "add", "rail strikes", "strike NEAR/3 rail", "--who", "ann")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.strip() == "rail strikes: 1 article. See newscrawl mentions -c 'rail strikes'."
    assert listed(world) == [("rail strikes", "strike NEAR/3 rail", True)]
    assert counted(world, "RAIL strikes") == 1
    assert "strike NEAR/3 rail" in world("queries", "show", "Rail Strikes").out
    ran = world("queries", "edit", "rail strikes", "strike NEAR/3 rail*", "--who", "bob")
    assert ran.code == 0
    assert counted(world, "rail strikes") == 2
    assert world("queries", "recount", "rail strikes").code == 0
    assert counted(world, "rail strikes") == 2
    ran = world("queries", "rename", "RAIL strikes", "railway strikes", "--who", "bob")
    assert ran.err == "rail strikes: now railway strikes.\n"
    assert counted(world, "railway strikes") == 2
    assert world("queries", "rename", "railway strikes", "Siemens").code == 2
    assert world("queries", "remove", "railway strikes").err == "railway strikes: removed.\n"
    assert world("queries", "list").err == "No saved query: newscrawl queries add NAME TEXT\n"


def test_query_without_hits_says_which_word_finds_nothing(world):
    ran = world("queries", "add", "strikes", "strike loann*", "--who", "ann")
    none = "'loann*' is in no article of the period and sources chosen; 'strike' in 2 articles."
    assert (ran.code, ran.err.strip()) == (0, f"strikes: no article. {none}")


def test_stopped_count_is_continued(world, tmp_path):
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        add_query(database, "rail", "rail", "ann")
    assert listed(world) == [("rail", "rail", False)]
    assert counted(world, "rail") == 0
    world("queries", "recount", "rail")
    assert listed(world) == [("rail", "rail", True)]
    assert counted(world, "rail") == 1
