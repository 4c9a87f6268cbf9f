"""The command line over a small database."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest

from newscrawl import __version__
from newscrawl.cli.arguments import parse_day
from newscrawl.cli.output import Column, columns_of, render
from newscrawl.extraction.compiled import PATH
from newscrawl.storage import QuestionError, StorageError, open_database, queries
from newscrawl.storage.company_alerts import CompanyAlert, record_alerts
from tests.conftest import Ran
from tests.worlds import day, document, register, save_document

FROM, TO = day(-3).isoformat(), day(1).isoformat()


def cells(ran: Ran) -> list[list[str]]:
    """The cells of a table."""
    lines = [line for line in ran.out.splitlines() if line.startswith(" ") and line.strip()]
    return [re.split(r"\s{2,}", line.strip()) for line in lines if "──" not in line]


# --- mentions ---


def test_mentions_of_a_company_by_day_in_a_table(world):
    ran = world("mentions", "--company", "Siemens", "--since", FROM, "--until", TO)
    assert ran.code == 0
    assert cells(ran) == [
        ["day", "articles", "headline", "body", "limited", "read", "coverage"],
        ["2026-11-17 to", "–", "–", "–", "–", "0", "no coverage"],
        ["2026-11-19"],
        ["2026-11-20", "2", "1", "3", "0", "2", "full"],
        ["2026-11-21", "0", "0", "0", "0", "1", "partial"],
    ]
    assert ran.out.startswith("Siemens by day, 2026-11-17 to 2026-11-21\n")
    told = "3 articles were read. 75% of source-days read. 1 of 4 missing. Data starts 20 Nov 2026."
    assert told in " ".join(ran.out.split())
    assert ran.fits


def test_mentions_as_csv_have_empty_gaps(world):
    ran = world("mentions", "-c", "Siemens", "--since", FROM, "--until", TO, "-f", "csv")
    rows = list(csv.DictReader(StringIO(ran.out)))
    assert [(row["day"], row["articles"], row["coverage"]) for row in rows] == [
        ("2026-11-17", "", "none"),
        ("2026-11-18", "", "none"),
        ("2026-11-19", "", "none"),
        ("2026-11-20", "2", "full"),
        ("2026-11-21", "0", "partial"),
    ]


def test_cell_of_csv_is_no_formula_where_a_semicolon_begins_a_cell(capsys):
    columns = [Column(key) for key in ("title", "names", "articles")]
    row = {"title": "Trams;=cmd|' /C calc'!A0", "names": ("Ada", "=1"), "articles": -1}
    render([row], columns, "csv")
    cells = next(csv.DictReader(StringIO(capsys.readouterr().out)))
    assert cells == {"title": "Trams;'=cmd|' /C calc'!A0", "names": "Ada; '=1", "articles": "-1"}


def test_mentions_as_json_have_null_gaps(world):
    ran = world("mentions", "-c", "Siemens", "--since", FROM, "--until", TO, "-f", "json")
    rows = json.loads(ran.out)
    assert [row["articles"] for row in rows] == [None, None, None, 2, 0]
    assert rows[3] == {
        "day": "2026-11-20",
        "articles": 2,
        "headline": 1,
        "body": 3,
        "limited": 0,
        "read": 2,
        "coverage": "full",
        "covered": 2,
        "expected": 2,
        "share": 1.0,
        "days_left_out": 0,
    }


def test_mentions_without_a_company_are_a_ranking(world):
    ran = world("mentions")
    assert cells(ran) == [
        ["company", "articles", "headline", "body", "limited", "sources"],
        ["Siemens", "2", "1", "3", "0", "2"],
        ["Volkswagen", "1", "0", "1", "1", "1"],
    ]


def test_company_can_be_named_by_an_alias(world):
    ran = world("mentions", "-c", "vw", "--by", "company", "-f", "json")
    assert [row["company"] for row in json.loads(ran.out)] == ["Volkswagen"]


def test_no_mentions_and_no_coverage_are_reported_differently(world):
    nothing = world("mentions", "-c", "Zeiss", "--since", FROM, "--until", TO)
    unknown = world("mentions", "-c", "Zeiss", "--since", FROM, "--until", day(-2).isoformat())
    assert (nothing.code, nothing.err) == (
        1,
        "No mention of Zeiss in 3 articles (coverage: partial).\n",
    )
    assert unknown.code == 1
    assert unknown.err.startswith("No coverage: nothing was crawled there")


@pytest.mark.parametrize(
    ("command", "twice"),
    [
        (["mentions"], ["--company", "-c"]),
        (["articles"], ["--source", "--source"]),
        (["search", "rain"], ["--limit", "-n"]),
        (["ask", "stories"], ["--since", "--since"]),
    ],
    ids=" ".join,
)
def test_option_of_one_value_that_is_repeated_is_refused(newscrawl, command, twice):
    ran = newscrawl(*command, twice[0], "5", twice[1], "7")
    assert ran.code == 2
    assert ran.err == (
        f"newscrawl: {twice[0]} takes one value, and is given 2 times: run the command once for "
        f"each (see newscrawl {' '.join(command[: 1 + (command[0] == 'ask')])} --help)\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_full_disk_is_reported_in_one_line(world, tmp_path, form):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "newscrawl", "companies", "list", "--format", form],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    said = "newscrawl: can't read or write the output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["table", "csv"])
def test_characters_that_the_terminal_lacks_are_escaped(tmp_path, form):
    (tmp_path / "mine.toml").write_text('[[company]]\nname = "Ørsted Łódź"\n', "utf-8")
    command = [sys.executable, "-m", "newscrawl", "companies", "find", "By Ørsted Łódź"]
    done = subprocess.run(
        [*command, "--companies", "mine.toml", "--format", form],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == 0
    assert "Ørsted \\u0141ód\\u017a".encode("latin-1") in done.stdout


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_closed_pipe_ends_the_command_silently(world, tmp_path, form):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "newscrawl", "companies", "list", "--format", form]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_future_days_are_not_reported_as_missing(world, tmp_path):
    today = datetime.now(UTC).date()
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        for slug in ("ft", "faz"):
            database.record_coverage(slug, today, "ok", 0, 0)
    span = ("--since", today.isoformat(), "--until", (today + timedelta(days=30)).isoformat())
    ran = world("mentions", "--by", "day", *span, "-f", "json")
    (row,) = json.loads(ran.out)
    assert (row["day"], row["covered"], row["expected"]) == (today.isoformat(), 2, 2)
    assert "Every source was read on every day." in world("mentions", "--by", "source", *span).out


def test_version_option_prints_the_version_and_how_pages_are_read(newscrawl):
    ran = newscrawl("--version")
    assert (ran.code, ran.out) == (0, f"newscrawl {__version__}\nextraction: {PATH}\n")


def test_missing_database_is_reported_with_the_advice_to_crawl(newscrawl):
    ran = newscrawl("mentions")
    assert ran.code == 2
    assert "no database at newscrawl.sqlite: crawl first (scrapy crawl ft)" in ran.err
    assert not Path("newscrawl.sqlite").exists()


def test_environment_variable_names_the_database(world, tmp_path, monkeypatch):
    moved = Path("newscrawl.sqlite").rename(tmp_path / "other.sqlite")
    monkeypatch.setenv("NEWSCRAWL_DATABASE_URL", f"sqlite:///{moved}")
    assert world("mentions").code == 0


def test_narrow_terminal_truncates_no_digits(world, monkeypatch):
    wide = world("mentions", "-c", "Siemens", "--until", TO)
    monkeypatch.setenv("COLUMNS", "40")
    assert world("mentions", "-c", "Siemens", "--until", TO).out == wide.out


# --- articles ---


def test_articles_are_shown_in_a_table(world):
    ran = world("articles", "--company", "Siemens")
    assert cells(ran) == [
        ["day", "article", "head", "body"],
        ["2026-11-20", "A headline", "0", "1"],
        ["FAZ · de · Siemens"],
        ["https://faz.example/c"],
        ["2026-11-20", "Siemens wins", "1", "2"],
        ["FT · en · Siemens"],
        ["https://ft.example/a"],
    ]
    assert ran.fits


@pytest.mark.parametrize(
    "command",
    [
        ["articles"],
        ["articles", "-c", "Siemens", "--sentences"],
        ["ask", "articles"],
        ["search", "headline OR siemens"],
    ],
)
def test_a_list_that_ends_at_its_limit_says_so(world, command):
    ran = world(*command, "--limit", 1, "-f", "csv")
    assert len(ran.out.splitlines()) == 2
    assert ran.err == "There are more than 1: --limit 10 lists further ones.\n"
    assert "There are more" not in world(*command, "--limit", 10, "-f", "csv").err


def test_articles_are_printed_as_json(world):
    ran = world("articles", "--limit", 1, "-f", "json")
    assert json.loads(ran.out) == [
        {
            "day": "2026-11-21",
            "source": "ft",
            "headline": 0,
            "body": 1,
            "url": "https://ft.example/b",
            "title": "A headline",
            "published_at": "2026-11-21T12:00:00+00:00",
            "language": "en",
            "access": "paywalled",
            "kind": "paywall",
            "revision": 1,
            "companies": ["Volkswagen"],
        }
    ]


@pytest.mark.parametrize("form", ["table", "csv"])
def test_fetched_text_cannot_control_terminal_or_spreadsheet(newscrawl, tmp_path, form):
    title = "=HYPERLINK(1)\x1b[31m\u202e\x9b2J [bold]raw[/bold]"
    with open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite") as database:
        save_document(database, document(title=title), register(database))
    ran = newscrawl("articles", "-f", form)
    assert not re.search("[\x1b\x9b\u202e]", ran.out)
    assert "[bold]raw[/bold]" in ran.out
    if form == "csv":
        assert next(csv.DictReader(StringIO(ran.out)))["title"].startswith("'=")


# --- sources ---


def test_sources_are_listed_by_country(newscrawl):
    ran = newscrawl("sources", "list", "--country", "GB", "-f", "json")
    rows = json.loads(ran.out)
    assert "ft" in {row["slug"] for row in rows}
    assert {row["country"] for row in rows} == {"gb"}


def test_source_is_shown_with_its_feeds(newscrawl):
    ran = newscrawl("sources", "show", "FT", "-f", "json")
    shown = json.loads(ran.out)
    assert (shown["slug"], shown["name"]) == ("ft", "Financial Times")
    assert shown["feeds"]


def test_coverage_shows_the_state_of_each_day(world):
    ran = world("sources", "coverage", "--days", "--until", day(2).isoformat())
    assert cells(ran) == [
        ["source", "day", "state", "found", "stored", "note"],
        ["faz", "2026-11-20", "ok", "1", "1"],
        ["faz", "2026-11-21", "failed", "0", "0", "no feed could be read"],
        ["faz", "2026-11-22", "not crawled", "0", "0"],
        ["ft", "2026-11-20", "ok", "2", "2"],
        ["ft", "2026-11-21", "ok", "2", "2"],
        ["ft", "2026-11-22", "not crawled", "0", "0"],
    ]
    assert ran.fits
    whole = world("sources", "coverage", "--until", day(2).isoformat())
    assert cells(whole) == [
        ["source", "days", "ok", "else", "last", "note"],
        ["faz", "3", "1", "1 failed, 1 not crawled", "not crawled"],
        ["ft", "3", "2", "1 not crawled", "not crawled"],
    ]
    assert whole.fits


def test_wide_table_of_the_coverage_has_the_names_of_sources(world, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")
    head, first, *_ = cells(world("sources", "coverage"))
    assert (head[:2], first[:2]) == (["source", "name"], ["faz", "FAZ"])


# --- companies ---


def test_companies_are_listed_with_their_names(newscrawl, companies):
    ran = newscrawl("companies", "list", "--companies", companies, "-f", "json")
    assert json.loads(ran.out)[1] == {
        "name": "Volkswagen",
        "aliases": ["VW"],
        "ambiguous": [],
        "origin": "own",
    }


def test_own_companies_are_listed_before_the_bundled_ones(newscrawl, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[[company]]\nname = "Quayside Works"\n[[company]]\nname = "Siemens"\n')
    rows = json.loads(newscrawl("companies", "list", "--companies", file, "-f", "json").out)
    assert [(row["name"], row["origin"]) for row in rows[:2]] == [
        ("Quayside Works", "own"),
        ("Siemens", "own, in place of bundled"),
    ]
    assert {row["origin"] for row in rows[2:]} == {"bundled"}
    checked = newscrawl("companies", "check", file).err
    assert f"(1 own, 1 in place of bundled ones, {len(rows) - 2:,} bundled)" in checked


def test_companies_are_found_in_a_text(newscrawl, companies):
    file, page = companies.with_name("VW is the name of the file"), companies.with_name("a.html")
    file.write_text("The VW plant")
    page.write_text("<html><p>The VW plant")
    for text in ("The VW plant", file):
        ran = newscrawl("companies", "find", text, "--companies", companies, "-f", "json")
        (mention,) = json.loads(ran.out)
        assert (mention["company"], mention["start"], mention["end"]) == ("Volkswagen", 4, 6)
    assert "newscrawl extract" in newscrawl("companies", "find", page).err
    fault = newscrawl("companies", "find", "VW", "--companies", "nowhere.toml").err
    assert fault.count("check the path") == 1
    assert "There is no file nowhere.txt" in newscrawl("companies", "find", "nowhere.txt").err


def test_text_without_a_company_is_exit_code_1(newscrawl, companies):
    assert newscrawl("companies", "find", "Nobody.", "--companies", companies).code == 1


def test_companies_check_accepts_a_valid_file(newscrawl, companies):
    ran = newscrawl("companies", "check", companies)
    assert ran.code == 0
    assert ran.err == (
        f"{companies} is fine: 3 companies under 5 names. In use: 3 companies (3 own).\n"
    )


# --- db ---


def test_upgrade_creates_a_database_and_then_finds_it_up_to_date(newscrawl):
    first, second = newscrawl("db", "upgrade"), newscrawl("db", "upgrade")
    assert first.err.startswith("The database was upgraded to schema ")
    assert second.err.startswith("The database is up to date")
    assert (first.code, second.code) == (0, 0)


def test_info_counts_the_rows(world):
    facts = {row["fact"]: row["value"] for row in json.loads(world("db", "info", "-f", "json").out)}
    assert (facts["articles"], facts["mentions"], facts["last day"]) == (3, 5, "2026-11-21")


def test_delete_lists_and_then_deletes_the_articles_of_earlier_days(world):
    earlier = ("db", "delete", "--before", "2026-11-21", "--source", "ft")
    listed = world(*earlier, "--dry-run")
    assert (listed.code, listed.out) == (0, "https://ft.example/a  Siemens wins\n")
    assert world(*earlier).code == 0
    left = json.loads(world("articles", "-f", "json").out)
    assert {one["url"] for one in left} == {"https://ft.example/b", "https://faz.example/c"}
    again = world(*earlier)
    assert (again.code, "Articles deleted: 0." in again.err) == (1, True)


# --- The door ---


def test_help_names_the_commands(newscrawl):
    ran = newscrawl("--help")
    assert ran.code == 0
    for command in ("mentions", "articles", "extract", "companies", "sources", "db"):
        assert re.search(rf"^│ {command} ", ran.out, re.MULTILINE)
    assert ran.fits


@pytest.mark.parametrize(
    "command", ["mentions", "search", "ask", "ask stories", "evaluate", "alerts recipients add"]
)
def test_help_shows_no_type_of_python_for_options(newscrawl, command):
    ran = newscrawl(*command.split(), "--help")
    options = ran.out[ran.out.index("─ Options ─") :]
    assert re.search(r"--help +-h  +Show", options)
    assert not re.search(r"<(?:bool|int|float|str|list)", options)


def test_unexpected_error_shows_its_traceback(newscrawl, monkeypatch):
    monkeypatch.setattr("newscrawl.storage.open_database", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        newscrawl("mentions")


def test_newscrawl_error_is_one_line(newscrawl, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise StorageError("the disk\nis full")

    monkeypatch.setattr("newscrawl.storage.open_database", fail)
    ran = newscrawl("mentions")
    assert (ran.code, ran.err) == (2, "newscrawl: the disk is full\n")


def test_command_runs_as_a_program(tmp_path):
    program = Path(sys.executable).with_name("newscrawl")
    ran = subprocess.run(
        [program, "db", "info", "--database", f"sqlite:///{tmp_path}/none.sqlite"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("newscrawl: no database at")


# --- Days and names ---


@pytest.mark.parametrize(
    ("text", "means"),
    [("2026-11-01", day(-19)), ("1d", day(0)), ("7d", day(-6)), (" 30d ", day(-29))],
)
def test_dates_are_parsed(text, means):
    assert parse_day(text, option="--since", today=day(0)) == means


@pytest.mark.parametrize("text", ["7", "d", "-3d", "20261301", "yesterday", ""])
def test_invalid_date_is_refused(text):
    with pytest.raises(QuestionError, match="is not a day"):
        parse_day(text, option="--since", today=day(0))


# --- Columns ---


def test_columns_are_the_fields_of_a_row_and_its_nested_rows():
    versions = [column.key for column in columns_of(queries.Version)]
    assert versions == ["number", "seen_at", "replaced_at", "title", "text", "access", "mentions"]
    counts = [column.key for column in columns_of(queries.CompanyCount, without=("stories",))]
    assert counts == ["company", "articles", "headline", "body", "limited", "sources"]


def test_alerts_are_listed_with_whole_names(newscrawl, own_database):
    facts = {"articles": 14, "expected": 1.76}
    spike = CompanyAlert(
        cause="spike/a", kind="spike", company="our houses", day=day(0), facts=facts
    )
    pair = CompanyAlert(
        cause="first/b", kind="first pair", company="Alstom", other="Siemens", day=day(0)
    )
    with open_database(f"sqlite:///{own_database}") as database:
        first = CompanyAlert(cause="first/c", kind="first mention", company="Alstom", day=day(0))
        record_alerts(database, [spike, pair, first])
    listed = newscrawl("alerts", "list").out
    assert "our houses" in listed
    assert re.search(r"Alstom +Siemens", listed)
