"""Corrections of mentions by people: counted at once, kept through every change, undone."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from newscrawl.archive.reread import Rematch
from newscrawl.items import Document, Mention
from newscrawl.mentions import load_companies
from newscrawl.storage import CorrectionError, Database, open_database, queries
from newscrawl.storage.corrections import (
    Judgement,
    add_corrections,
    corrected_texts,
    missed_mentions,
    undo_correction,
    wrong_mentions,
)
from newscrawl.storage.deletion import reduce_articles
from newscrawl.storage.mentions import text_batches, write_mentions
from newscrawl.storage.queries import ArticlePage, Scope
from newscrawl.storage.revisions import earlier_version, restore_version
from newscrawl.storage.saved_state import Step
from tests.worlds import document, moment, register, save_document

URL = "https://ft.example/a"
TITLE = "Ford opens the bridge"
# Ford is the minister here, and "the Munich carmaker" BMW.
TEXT = (
    "Ford opened the new bridge across the river. Siemens built it in two years.\n\n"
    "Ford thanked the workers and the Munich carmaker for the money. Nobody else had paid."
)
REGISTRY = 'bundled = false\n[[company]]\nname = "Ford"\n\n[[company]]\nname = "Siemens"\n'
CARMAKER = "Munich carmaker"


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "companies.toml"
    path.write_text(REGISTRY, "utf-8")
    return path


@pytest.fixture
def run(database: Database, registry: Path) -> int:
    """The run that has stored the article."""
    run = register(database)
    assert save_document(database, reading(registry), run).mentions == 4
    return run


def reading(registry: Path, text: str = TEXT, *, title: str = TITLE, hours: int = 0) -> Document:
    """The article with the mentions that the matcher finds."""
    mentions = load_companies(registry).find(text, title=title, language="en")
    return document(title=title, text=text, mentions=mentions, fetched_at=moment(hours))


def page_of(database: Database) -> ArticlePage:
    page = queries.article_page(database, URL)
    assert page is not None
    return page


def correct(database: Database, judgements: Sequence[Judgement], who: str = "ada") -> list[int]:
    return add_corrections(database, URL, judgements, who)


def drop_ford(database: Database) -> list[int]:
    return correct(database, wrong_mentions(page_of(database), "Ford"))


def add_bmw(database: Database) -> list[int]:
    return correct(database, missed_mentions(page_of(database), "BMW", CARMAKER))


def counts(database: Database) -> dict[str, tuple[int, int]]:
    """Occurrences in headline and body by company, which all lists agree on, as rebuilt."""
    ranking = {row.company: row.hits for row in queries.company_ranking(database)}
    in_lists = {
        name: [(row.in_title, row.in_body) for row in queries.articles(database, company=name)]
        for name in ranking
    }
    by_company = {name: (hits.in_title, hits.in_body) for name, hits in ranking.items() if hits}
    assert in_lists == {name: [pair] for name, pair in by_company.items()}
    page = page_of(database)
    assert (
        set(by_company) == set(page.row.companies) == {mention.company for mention in page.mentions}
    )
    assert sum(map(sum, by_company.values())) == len(page.mentions)
    return by_company


def states(database: Database) -> list[tuple[str, str]]:
    rows = queries.corrections(database)
    assert page_of(database).corrections == tuple(rows)
    return [(row.company, row.state) for row in reversed(rows)]


@pytest.fixture
def before(database: Database, run: int) -> dict[str, tuple[int, int]]:
    assert run
    by_company = counts(database)
    assert by_company == {"Ford": (1, 2), "Siemens": (0, 1)}
    return by_company


AFTER = {"BMW": (0, 1), "Siemens": (0, 1)}


@pytest.mark.usefixtures("before")
def test_counts_follow_corrections_at_once(database):
    assert len(drop_ford(database)) == 3
    add_bmw(database)
    assert counts(database) == AFTER
    database.rebuild()
    assert counts(database) == AFTER


@pytest.mark.usefixtures("before")
def test_correction_is_stored_with_who_when_and_the_sentence(database):
    add_bmw(database)
    (row,) = queries.corrections(database)
    assert (row.kind, row.company, row.surface) == ("missed", "BMW", CARMAKER)
    assert (row.made_by, row.url, row.source) == ("ada", URL, "ft")
    assert row.sentence == "Ford thanked the workers and the Munich carmaker for the money."
    assert row.made_at.tzinfo is not None
    register(database, "bbc")
    assert queries.corrections(database, scope=Scope(source="bbc")) == []


def test_undoing_restores_the_counts(database, before):
    numbers = drop_ford(database) + add_bmw(database)
    for number in numbers:
        assert undo_correction(database, number, "Grace") == URL
    assert counts(database) == before
    assert queries.corrections(database) == []
    undone = queries.corrections(database, undone=True)
    assert sorted(row.id for row in undone) == sorted(numbers)
    assert {(row.made_by, row.undone_by) for row in undone} == {("ada", "Grace")}
    assert all(row.undone_at and row.undone_at >= row.made_at for row in undone)
    with pytest.raises(CorrectionError, match=f"no correction {numbers[0]}"):
        undo_correction(database, numbers[0], "Grace")


@pytest.mark.usefixtures("before")
def test_corrections_made_at_once_are_undone_together(database):
    first, *further = drop_ford(database)
    (bmw,) = add_bmw(database)
    assert further
    undo_correction(database, first, "Grace", together=True)
    assert [row.id for row in queries.corrections(database)] == [bmw]


@pytest.mark.usefixtures("before")
def test_one_place_can_be_given_to_another_company(database):
    (mention,) = [mark for mark in page_of(database).mentions if mark.company == "Siemens"]
    place = Mention(
        company="Siemens Energy",
        surface="Siemens",
        start=mention.start,
        end=mention.end,
        section="body",
    )
    (number,) = correct(database, [Judgement(kind="missed", mention=place)])
    assert counts(database) == {"Ford": (1, 2), "Siemens Energy": (0, 1)}
    undo_correction(database, number, "Grace")
    assert counts(database)["Siemens"] == (0, 1)


@pytest.mark.usefixtures("before")
def test_score_of_a_mention_is_stored_and_a_person_is_sure(database):
    assert all(0 < (mention.score or 0) < 1 for mention in page_of(database).mentions)
    add_bmw(database)
    assert {
        mention.score for mention in page_of(database).mentions if mention.company == "BMW"
    } == {1.0}


@pytest.mark.usefixtures("before")
def test_same_correction_is_stored_once_until_it_is_undone(database):
    judgements = missed_mentions(page_of(database), "BMW", CARMAKER)
    (first,) = correct(database, judgements)
    assert correct(database, judgements, "ben") == [first]
    assert [row.made_by for row in queries.corrections(database)] == ["ada"]
    undo_correction(database, first, "Grace")
    (second,) = add_bmw(database)
    assert second != first
    assert [row.id for row in queries.corrections(database)] == [second]


# Changes of registry, extraction and text ---------------------------------------------------------


@pytest.mark.usefixtures("before")
def test_corrections_survive_rematch(database, registry):
    drop_ford(database)
    (bmw,) = add_bmw(database)
    again = Rematch(database, registry, Scope()).run()
    assert (again.changed, again.companies) == (0, ())
    assert counts(database) == AFTER
    # The matcher has learned of both by now.
    learned = registry.with_name("learned.toml")
    learned.write_text(
        'bundled = false\n[[company]]\nname = "BMW"\naliases = ["Munich carmaker"]\n', "utf-8"
    )
    result = Rematch(database, learned, Scope()).run()
    assert [(row.company, row.articles) for row in result.companies] == [("Siemens", -1)]
    assert counts(database) == {"BMW": (0, 1)}
    assert states(database) == [("Ford", "redundant")] * 3 + [("BMW", "redundant")]
    undo_correction(database, bmw, "Grace")
    assert counts(database) == {"BMW": (0, 1)}


@pytest.mark.usefixtures("before")
def test_correction_made_during_a_rematch_stays(database, registry):
    (texts,) = text_batches(database, Scope())
    searched = {texts[0].number: load_companies(registry).find(TEXT, title=TITLE, language="en")}
    drop_ford(database)
    add_bmw(database)
    write_mentions(database, texts, searched, Step(task="t", position=1, counts={}))
    assert counts(database) == AFTER


def test_undoing_after_rematch_gives_what_the_matcher_finds(database, registry, before):
    numbers = drop_ford(database)
    smaller = registry.with_name("smaller.toml")
    smaller.write_text('bundled = false\n[[company]]\nname = "Siemens"\n', "utf-8")
    Rematch(database, smaller, Scope()).run()
    for number in numbers:
        undo_correction(database, number, "Grace")
    assert counts(database) == {"Siemens": before["Siemens"]}


def test_corrections_survive_a_revision(database, registry, run):
    drop_ford(database)
    add_bmw(database)
    changed = "A sentence more stands first. " + TEXT.replace("Siemens built it in", "It took")
    assert save_document(database, reading(registry, changed, hours=1), run).outcome == "revised"
    assert counts(database) == {"BMW": (0, 1)}
    (bmw,) = [row for row in queries.corrections(database) if row.company == "BMW"]
    assert page_of(database).text[bmw.start : bmw.end] == CARMAKER


def test_correction_without_its_sentence_waits_for_it(database, registry, run):
    add_bmw(database)
    changed = TEXT.replace("the Munich carmaker", "a carmaker of Munich")
    save_document(database, reading(registry, changed, hours=1), run)
    assert states(database) == [("BMW", "misplaced")]
    assert "BMW" not in counts(database)
    assert corrected_texts(database, Scope()) == []
    first = earlier_version(database, URL, 1)
    mentions = load_companies(registry).find(first.text, title=first.title, language="en")
    restore_version(database, first, mentions, "en")
    assert states(database) == [("BMW", "applied")]
    assert counts(database)["BMW"] == (0, 1)


@pytest.mark.parametrize(
    ("sentence", "state"),
    [
        ("Ford thanks the worker and the Munich carmaker for the money.", "applied"),
        ("Nobody in town has heard of the Munich carmaker since, they say.", "misplaced"),
    ],
)
def test_correction_survives_a_mended_letter_but_no_other_sentence(
    database, registry, run, sentence, state
):
    add_bmw(database)
    old = "Ford thanked the workers and the Munich carmaker for the money."
    changed = TEXT.replace(old, sentence)
    assert changed != TEXT
    save_document(database, reading(registry, changed, hours=1), run)
    assert states(database) == [("BMW", state)]
    assert ("BMW" in counts(database)) is (state == "applied")


def test_repeated_sentence_keeps_its_place(database, registry, run):
    twice = "Ford said no. " * 2 + LAST
    save_document(database, reading(registry, twice, hours=1), run)
    *_, second = wrong_mentions(page_of(database), "Ford")
    correct(database, [second])
    save_document(database, reading(registry, twice + " And so on.", hours=2), run)
    (row,) = queries.corrections(database)
    assert (row.start, row.state) == (second.mention.start, "applied")


LAST = "The council met on Tuesday to talk about the new bridge across the river. " * 3


@pytest.mark.usefixtures("before")
def test_reduced_article_loses_its_corrections_with_its_text(database):
    add_bmw(database)
    number = page_of(database).row.number
    reduce_articles(database, {number: document(title=TITLE, text="", access="disallowed")})
    assert queries.corrections(database) == []


# What is refused ---------------------------------------------------------------------------------


def body(company: str, surface: str, start: int | None = None) -> Mention:
    begin = TEXT.index(surface) if start is None else start
    return Mention(
        company=company, surface=surface, start=begin, end=begin + len(surface), section="body"
    )


@pytest.mark.parametrize(
    ("kind", "mention", "message"),
    [
        ("wrong", body("Bosch", "Ford"), "Bosch is not found in 'Ford' there"),
        ("wrong", body("Ford", "Siemens", 3), "the article has changed"),
        ("missed", body("Siemens", "Siemens"), "is found in 'Siemens' there already"),
        ("missed", body("BMW", "the ", 17), "the article has changed"),
        ("missed", body("BMW", " Munich"), "is not a name"),
        ("missed", body("BMW", TEXT[:130]), "is not a name"),
    ],
)
@pytest.mark.usefixtures("before")
def test_senseless_correction_is_refused(database, kind, mention, message):
    good = wrong_mentions(page_of(database), "Ford")
    bad = Judgement(kind=kind, mention=mention)  # type: ignore[arg-type]
    with pytest.raises(CorrectionError, match=message):
        correct(database, [*good, bad])
    assert queries.corrections(database) == []
    assert "Ford" in counts(database)


@pytest.mark.usefixtures("before")
def test_opposite_of_a_correction_is_refused(database):
    (number,) = add_bmw(database)
    with pytest.raises(CorrectionError, match=f"correction {number} by a person says the opposite"):
        correct(database, wrong_mentions(page_of(database), "BMW"))


@pytest.mark.usefixtures("before")
def test_correction_needs_a_name_and_an_article(database):
    judgements = wrong_mentions(page_of(database), "Ford")
    with pytest.raises(CorrectionError, match="a name is missing"):
        correct(database, judgements, " \n")
    with pytest.raises(CorrectionError, match="no article is stored"):
        add_corrections(database, "https://ft.example/none", judgements, "ada")


# A killed process --------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from newscrawl.storage import corrections, open_database, queries
from newscrawl.storage.rollups import RollupUpdate
url, page = sys.argv[1:]
whole = RollupUpdate.write
def die(self):
    whole(self)
    os.kill(os.getpid(), signal.SIGKILL)
RollupUpdate.write = die
with open_database(url) as database:
    stored = queries.article_page(database, page)
    corrections.add_corrections(database, page, corrections.wrong_mentions(stored, "Ford"), "ada")
"""


def test_killed_process_leaves_all_or_nothing(tables_url, registry):
    with open_database(tables_url) as database:
        save_document(database, reading(registry), register(database))
        before = counts(database)
        done = subprocess.run([sys.executable, "-c", KILLED, tables_url, URL], check=False)
        assert done.returncode == -9
        assert queries.corrections(database) == []
        assert counts(database) == before
        drop_ford(database)
        assert counts(database) == {"Siemens": (0, 1)}
        database.rebuild()
        assert counts(database) == {"Siemens": (0, 1)}
