"""Shares, companions, stories, search and exports on the command line."""

import gzip
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyarrow import parquet

from newscrawl.items import UnregisteredName
from newscrawl.storage import open_database
from tests.conftest import Newscrawl, Ran
from tests.worlds import body, day, document, headline, moment, register, save_document

COMPANIES = """
bundled = false

[[company]]
name = "Siemens"

[[company]]
name = "Bosch"
"""
SPAN = ("--since", day(0).isoformat(), "--until", day(1).isoformat())


@pytest.fixture
def world(
    newscrawl: Newscrawl, tmp_path: Path, own_database: Path, monkeypatch: pytest.MonkeyPatch
) -> Newscrawl:
    """A database of two papers and three articles, one of them in Chinese."""
    file = tmp_path / "companies.toml"
    file.write_text(COMPANIES)
    monkeypatch.setenv("NEWSCRAWL_COMPANIES", str(file))
    with open_database(f"sqlite:///{own_database}") as database:
        ft, faz = register(database, "ft"), register(database, "faz", "de")
        both = document(
            "a",
            title="Siemens and Bosch agree",
            text="Siemens is to build a plant with Bosch. The [bold]plant[/bold] is new.",
            mentions=[headline("Siemens"), body("Siemens"), body("Bosch", 33)],
            boilerplate=[("Siemens", 47)],
        )
        save_document(database, both, ft)
        alone = document("b", text="Siemens again.", mentions=[body("Siemens")])
        save_document(database, alone, ft)
        chinese = document(
            "c",
            source="faz",
            title="苹果公司发布新手机",
            text="苹果公司周二在北京发布了新手机。",
            language="zh",
            published=moment(1),
        )
        save_document(database, chinese, faz)
        for number in (0, 1):
            for slug in ("ft", "faz"):
                database.record_coverage(slug, day(number), "ok", 2, 2)
    return newscrawl


def rows(ran: Ran) -> list[dict[str, object]]:
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert isinstance(found, list)
    return found


# --- mentions ---


def test_stories_are_counted_beside_articles(world):
    ran = world("mentions", "-c", "Siemens", "--stories", *SPAN)
    assert re.search(r"day +articles +stories +headline", ran.out)
    assert re.search(r"2026-11-20 +2 +2 +1", ran.out)
    assert ran.fits


@pytest.mark.parametrize("more", [[], ["--stories"], ["--zone", "Asia/Kolkata"]], ids=" ".join)
def test_hours_fit_a_terminal(world, more):
    ran = world("mentions", "--by", "hour", *more, *SPAN)
    assert ran.fits
    assert re.search(r"hour +articles .*headline +body +limited .*coverage", ran.out)
    assert "no coverage" in world("mentions", "--by", "hour", "--since", day(-2).isoformat()).out


def test_future_hours_are_not_listed(world, tmp_path):
    today = datetime.now(UTC).date()
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        database.record_coverage("ft", today, "ok", 0, 0)
    hours = json.loads(world("mentions", "--by", "hour", "--since", "1d", "-f", "json").out)
    last = datetime.fromisoformat(hours[-1]["hour"])
    assert timedelta() <= datetime.now(UTC) - last < timedelta(hours=2)


def test_names_in_boilerplate_are_reported(world):
    ran = world("mentions", "-c", "Siemens", *SPAN)
    assert "47 ignored in menus and teasers." in " ".join(ran.out.split())


def test_share_of_voice_is_computed(world):
    ran = world("share", "Siemens", "bosch", *SPAN)
    assert re.search(r"Siemens +2 +66\.7%", ran.out)
    assert re.search(r"Bosch +1 +33\.3%", ran.out)
    assert "Shares are of the sum of these" in " ".join(ran.out.split())
    assert ran.fits


def test_periods_begin_with_the_first_crawl(world, tmp_path):
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        old = document(
            "old",
            text="Siemens and Bosch, long ago.",
            mentions=[body("Siemens"), body("Bosch", 12)],
        )
        old = replace(old, article=replace(old.article, published=moment(-9000)))
        save_document(database, old, database.start_run("ft"))
    keys = [row["day"] for row in rows(world("mentions", "-c", "Siemens", "-f", "json"))]
    assert keys[0] == day(0).isoformat()
    table = world("mentions", "-c", "Siemens").out
    begin = moment(0)
    hint = f"1 article is dated before the first crawl ({begin.day} {begin:%b %Y}): "
    hint += "--since 2002-01-01 counts it too."
    assert hint in " ".join(table.split())
    by_month = world("share", "Siemens", "Bosch", "--by", "month").out
    assert hint in " ".join(by_month.split())
    # What has no rows of periods counts the same articles, with the first crawl's old ones.
    whole = rows(world("mentions", "--by", "company", "-f", "json"))
    number = {row["company"]: row["articles"] for row in whole}
    shares = rows(world("share", "Siemens", "Bosch", "-f", "json"))
    assert {row["company"]: row["articles"] for row in shares} == number
    (beside,) = rows(world("together", "Bosch", "-f", "json"))
    assert (beside["company"], beside["articles"]) == ("Siemens", 2)
    since = world(
        "mentions", "-c", "Siemens", "--by", "year", "--since", "1990-01-01", "-f", "json"
    )
    assert sum(row["articles"] or 0 for row in rows(since)) == 3


@pytest.mark.parametrize(
    "asked", [("mentions", "--company", "Siemens"), ("share", "Siemens", "Bosch")]
)
def test_week_that_is_not_whole_is_marked(world, asked):
    days = ("--since", "2026-11-09", "--until", "2026-11-20")
    found = world(*asked, "--by", "week", *days).out
    assert "2026-11-16*" in found
    assert "2026-11-09*" not in found
    assert "Not all days of this week are counted." in " ".join(found.split())


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("mentions -c Sie", "Siemens"),
        ("mentions -c sie", "siemens"),
        ("mentions --source bbc", "bbc-news"),
        ("report -c Sie", "Siemens"),
        ("alerts watch Sie", "Siemens"),
        ("alerts watch Bosch --with Sie", "Siemens"),
        ("alerts recipients add desk desk@example.org -c Sie", "Siemens"),
        ("corrections add https://ft.example/a wrong Sie", "Siemens"),
    ],
)
def test_shell_completes_companies_and_sources(world, monkeypatch, line, offered):
    monkeypatch.setenv("_NEWSCRAWL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"newscrawl {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split())))
    assert offered in world().out.splitlines()


def test_number_is_explained_by_its_sentences(world):
    ran = world("proof", "-c", "Siemens", "--measure", "mentions", "-f", "json")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert found["number"] == sum(one["number"] for one in found["articles"]) > 0
    sentences = [each for one in found["articles"] for each in one["sentences"]]
    assert {one["rule"] for each in sentences for one in each["mentions"]} == {"name"}
    assert found["versions"]["program"]
    table = world("proof", "-c", "Siemens")
    assert f"Articles of Siemens: {found['total']}" in table.out
    assert "In use: newscrawl" in table.out


def test_number_of_nothing_is_explained_by_coverage(world):
    ran = world("proof", "-c", "Bosch", "--source", "faz")
    assert ran.code == 1
    assert "No mention of Bosch" in ran.err
    assert "No articles. Source-days read" in ran.out
    ran = world("proof", "-c", "Siemens", "--measure", "disallowed")
    assert ran.code == 1
    assert "Nothing is left out for this reason." in ran.err


# --- articles and search ---


def test_articles_show_their_sentences(world):
    ran = world("articles", "-c", "Bosch", "--sentences")
    assert "Siemens is to build a plant with Bosch." in ran.out
    assert ran.fits


def test_search_shows_snippets_with_the_words(world):
    ran = world("search", "plant new")
    assert "The [bold]plant[/bold] is new." in ran.out
    assert ran.fits


@pytest.mark.parametrize("form", ["table", "json"])
def test_search_without_results_says_which_word_finds_nothing(world, form):
    ran = world("search", "plant unheard*", "-f", form)
    none = "'unheard*' is in no article of the period and sources chosen; 'plant' in 1 article.\n"
    assert (ran.code, ran.err) == (1, none)


def test_fault_of_a_search_is_pointed_at(world):
    ran = world("search", "plant AND new OR old")
    message, query, caret = ran.err.splitlines()
    assert "is ambiguous" in message
    assert query[caret.index("^") :] == "OR old"
    assert "nothing to search for in '!?'" in world("search", "!?").err


# --- Exports ---


def test_json_lines_have_one_row_per_line(world):
    ran = world("mentions", *SPAN, "-f", "jsonl")
    assert [json.loads(line)["company"] for line in ran.out.splitlines()] == ["Siemens", "Bosch"]


def test_nested_values_of_a_question_are_json_in_parquet(world, tmp_path):
    file = tmp_path / "articles.parquet"
    program = Path(sys.executable).with_name("newscrawl")
    command = [program, "ask", "company-articles", "-c", "Siemens", "-f", "parquet"]
    with file.open("wb") as out:
        ran = subprocess.run(command, stdout=out, check=False, env=os.environ)
    assert ran.returncode == 0
    nested = [
        value
        for value in parquet.read_table(file).to_pylist()[0].values()
        if str(value).startswith("[{")
    ]
    assert "Siemens" in json.dumps([json.loads(value) for value in nested])


def test_parquet_is_written_to_a_file(world, tmp_path):
    file = tmp_path / "mentions.parquet"
    program = Path(sys.executable).with_name("newscrawl")
    with file.open("wb") as out:
        ran = subprocess.run(
            [program, "mentions", "-c", "Siemens", *SPAN, "-f", "parquet"],
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
            env=os.environ,
        )
    assert ran.returncode == 0, ran.stderr
    table = parquet.read_table(file).to_pylist()
    assert [(row["day"], row["articles"]) for row in table] == [
        ("2026-11-20", 2),
        ("2026-11-21", 0),
    ]


# --- db rebuild ---


def test_rebuild_recomputes_the_rollups(world):
    before = world("mentions", *SPAN, "-f", "json").out
    ran = world("db", "rebuild", "--stories")
    assert ran.code == 0
    assert ran.err.strip() == "Counts and search index were rebuilt from 3 articles."
    assert world("mentions", *SPAN, "-f", "json").out == before


def test_excluded_word_can_come_first_after_two_hyphens(world):
    ran = world("search", "-f", "json", "--", "-Bosch Siemens")
    assert [row["url"] for row in rows(ran)] == ["https://ft.example/b"]


def test_audit_compares_mentions_with_the_labels_of_sentences(world, tmp_path):
    lines = [
        {"lang": "en", "text": "Siemens builds trams.", "spans": [[0, 7, "COM"]]},
        {"lang": "en", "text": "In Bosch it rained.", "spans": [[3, 8, "LOC"]]},
        {"lang": "de", "text": "Bosch schweigt.", "spans": []},
    ]
    folder = tmp_path / "sentences"
    folder.mkdir()
    with gzip.open(folder / "all.jsonl.gz", "wt") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)
    found = rows(world("companies", "audit", "--sentences", str(folder), "--format", "json"))
    by_key = {
        (row["table"], row["key"]): (row["right"], row["wrong"], row["unlabelled"]) for row in found
    }
    assert by_key == {
        ("language", "en"): (1, 1, 0),
        ("language", "de"): (0, 0, 1),
        ("rule", "name"): (1, 1, 1),
        ("form", "Bosch (Bosch)"): (0, 1, 1),
    }
    assert found[-1]["example"] == "In Bosch it rained."
    (folder / "b.jsonl").write_text('{"text": "No label."}\n')
    ran = world("companies", "audit", "--sentences", str(folder))
    assert (ran.code, "b.jsonl, line 1: no labelled sentence" in ran.err) == (2, True)


def test_audit_of_stored_articles_begins_with_the_least_certain_form(world, own_database):
    with open_database(f"sqlite:///{own_database}") as database:
        doubtful = replace(body("Bosch", 3), score=0.4)
        article = document("d", text="In Bosch it rained.", mentions=[doubtful])
        save_document(database, article, register(database, "ft"))
    found = rows(world("companies", "audit", "--stored", "--format", "json"))
    assert found[0]["form"] == "Bosch"
    assert found[0]["example"] == "In Bosch it rained."
    assert [row["score"] for row in found] == sorted(row["score"] for row in found)


def test_unregistered_names_are_suggested_until_a_file_has_them(world, own_database, tmp_path):
    with open_database(f"sqlite:///{own_database}") as database:
        names = UnregisteredName("Moser Bau", "Moser Bau digs."), UnregisteredName("Bosch", "No.")
        article = replace(document("e", text="Moser Bau digs."), unregistered=names)
        save_document(database, article, register(database, "ft"))
    ran = world("companies", "suggest", "--source", "ft", "--format", "json")
    assert rows(ran) == [{"name": "Moser Bau", "articles": 1, "sentence": "Moser Bau digs."}]
    file = tmp_path / "companies.toml"
    file.write_text(f'{file.read_text()}\n[[company]]\nname = "Moser Bau GmbH"\n')
    assert world("companies", "suggest").code == 1


def test_check_shows_everyday_words_with_sentences_of_the_archive(world, own_database, tmp_path):
    with open_database(f"sqlite:///{own_database}") as database:
        run = register(database, "ft")
        for number in range(3):
            text = f"A wrybill flew. Wrybill number {number} sings."
            save_document(database, document(f"w{number}", text=text), run)
    file = tmp_path / "mine.toml"
    file.write_text('[[company]]\nname = "Wrybill"\n\n[[company]]\nname = "Moorbach"\n')
    checked = world("companies", "check", str(file)).err
    assert '"Wrybill": a word or a name of many things' in checked
    assert '"Wrybill" in the newest 3 articles with it, in 3 of them in small letters:' in checked
    assert checked.count("sings.") == 3
    assert '"Moorbach"' not in checked
