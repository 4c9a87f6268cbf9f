"""newscrawl corrections: made, listed, exported, scored and undone on the command line."""

import json
from pathlib import Path

import pytest

from benchmarks.scores.mentions import read_labelled, score_mentions
from newscrawl.mentions import load_companies
from newscrawl.storage import open_database, queries
from tests.conftest import Newscrawl
from tests.worlds import document, moment, register, save_document

URL = "https://ft.example/a"
TEXT = (
    "Siemens and Alstom want to build the new line over the river, the council said.\n\n"
    "Siemens has bid\u2028nine million, the Munich carmaker pays for a \x1b[2Jstop at its gate."
)
COMPANIES = "bundled = false\n" + "".join(
    f'[[company]]\nname = "{name}"\n\n' for name in ("Siemens", "Alstom", "BMW")
)
DATABASE = "sqlite:///newscrawl.sqlite"


@pytest.fixture
def registry(newscrawl: Newscrawl, tmp_path: Path) -> Path:
    """The companies, with which an article is stored; the article's database is in the folder."""
    assert newscrawl
    path = tmp_path / "companies.toml"
    path.write_text(COMPANIES, "utf-8")
    mentions = load_companies(path).find(TEXT, title="Siemens bids", language="en")
    with open_database(DATABASE) as database:
        page = document(title="Siemens bids", text=TEXT, mentions=mentions)
        save_document(database, page, register(database))
    return path


def companies() -> dict[str, int]:
    with open_database(DATABASE) as database:
        rows = queries.company_ranking(database)
        return {row.company: row.hits.in_title + row.hits.in_body for row in rows if row.hits}


def test_corrections_are_made_listed_and_undone(newscrawl, registry):
    assert companies() == {"Siemens": 3, "Alstom": 1}
    wrong = newscrawl(
        "corrections", "add", URL, "wrong", "siemens", "--who", "ada", "--companies", registry
    )
    assert (wrong.code, wrong.err.count("is not Siemens")) == (0, 3), wrong.err
    missed = newscrawl(
        "corrections", "add", URL, "missed", "BMW", "--form", "Munich carmaker", "--who", "ben"
    )
    assert missed.err == "Correction 4: 'Munich carmaker' in the text at 115 is BMW.\n"
    assert companies() == {"Alstom": 1, "BMW": 1}
    listed = newscrawl("corrections", "list")
    assert "'Munich carmaker' is BMW" in listed.out
    assert "ben" in listed.out
    assert "\x1b[2J" not in listed.out
    assert listed.fits
    rows = json.loads(newscrawl("corrections", "list", "--format", "json").out)
    assert [(row["id"], row["state"], row["made_by"]) for row in rows[:2]] == [
        (4, "applied", "ben"),
        (3, "applied", "ada"),
    ]
    undone = newscrawl("corrections", "remove", 1, 2, 3, 4, 9)
    assert (undone.code, "no correction 9" in undone.err) == (1, True)
    assert companies() == {"Siemens": 3, "Alstom": 1}
    assert newscrawl("corrections", "list").code == 1


def test_one_of_several_places_is_chosen(newscrawl, registry):
    add = ("corrections", "add", URL, "wrong", "Siemens", "--companies", registry)
    assert newscrawl(*add, "--nth", 2).code == 0
    assert companies()["Siemens"] == 2
    beyond = newscrawl(*add, "--nth", 3)
    assert (beyond.code, "there are 2 such places" in beyond.err) == (2, True)


def test_user_of_the_machine_signs(newscrawl, registry, monkeypatch):
    monkeypatch.setenv("LOGNAME", "cleo")
    newscrawl("corrections", "add", URL, "wrong", "Alstom", "--companies", registry)
    (row,) = json.loads(newscrawl("corrections", "list", "--format", "json").out)
    assert row["made_by"] == "cleo"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((URL, "wrong", "BMW"), 1, "no mention of BMW is found there"),
        ((URL, "missed", "BMW"), 1, "'BMW' is not in the article"),
        ((URL, "missed", "Siemens"), 1, "is already a mention of Siemens"),
        ((URL, "wrong", "Simens"), 2, "did you mean Siemens"),
        (("https://ft.example/b", "wrong", "BMW"), 2, "no article is stored under"),
    ],
)
def test_senseless_correction_is_one_line(newscrawl, registry, arguments, code, message):
    ran = newscrawl("corrections", "add", *arguments, "--companies", registry)
    assert message in ran.refused(code)


def test_exported_cases_can_be_scored(newscrawl, registry):
    assert newscrawl("corrections", "export").code == 1
    add = ("corrections", "add", URL, "wrong")
    newscrawl(*add, "Siemens", "--nth", 1, "--companies", registry)
    newscrawl("corrections", "add", URL, "missed", "BMW", "--form", "Munich carmaker")
    exported = newscrawl("corrections", "export", "--output", "cases.jsonl")
    assert "Articles: 1, with 2 corrections." in exported.err
    (case,) = map(json.loads, Path("cases.jsonl").read_text("utf-8").split("\n")[:-1])
    assert (case["title"], case["text"]) == ("Siemens bids", TEXT)
    assert case["mentions"] == [
        ["Siemens", "Siemens"],
        ["Alstom", "Alstom"],
        ["Siemens", "Siemens"],
        ["BMW", "Munich carmaker"],
    ]
    cases = read_labelled(Path("cases.jsonl"))
    score = score_mentions(load_companies(), cases)[-1]
    assert (score.texts, score.mentions) == (1, 4)
    assert (score.overlap.precision, score.overlap.recall) == (0.75, 0.75)


def test_misplaced_correction_is_reported_with_the_export(newscrawl, registry):
    newscrawl("corrections", "add", URL, "missed", "BMW", "--form", "Munich carmaker")
    with open_database(DATABASE) as database:
        changed = TEXT.split("\n\n", maxsplit=1)[0] + "\n\nWho pays for it is not known yet."
        page = document(title="Siemens bids", text=changed, fetched_at=moment(1))
        save_document(database, page, database.start_run("ft"))
    exported = newscrawl("corrections", "export")
    assert (exported.code, exported.out) == (1, "")
    assert "Left out, since their sentences are gone: 1." in exported.err
