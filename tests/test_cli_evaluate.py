"""`newscrawl evaluate mentions` and `newscrawl evaluate metadata`."""

import csv
import json
import re
from pathlib import Path

import pytest

from newscrawl.training.corpus import GoldPage, load_corpus
from newscrawl.training.metadata_peers import fields_of, score_peers
from tests.conftest import Newscrawl

BUNDLED = Path(__file__).parent / "corpus"
PARTS = ["development", "held-out", "second", "held-out-2"]


def store(folder: Path, tool: str, pages: list[GoldPage], *fields: str) -> None:
    """Answers of a tool that reads just what the gold says, in these fields."""
    fingerprint = load_corpus(BUNDLED).fingerprint[:12]
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"set": page.set, "id": page.id, "text": ""}
        | {field: getattr(page, field) for field in fields}
        for page in pages
    ]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / f"{tool}_1.0_{fingerprint}.jsonl").write_text(lines + '{"set": "mi', "utf-8")


@pytest.fixture
def pages() -> list[GoldPage]:
    return list(load_corpus(BUNDLED))


def test_mentions_are_scored_by_language(newscrawl: Newscrawl) -> None:
    ran = newscrawl("evaluate", "mentions", "--format", "json")
    assert ran.code == 0
    rows = {row["group"]: row for row in json.loads(ran.out)}
    assert {"en", "de", "fr", "es", "it"} <= set(rows)
    assert list(rows)[-5:] == ["all", *PARTS]
    languages = [row for group, row in rows.items() if group not in ("all", *PARTS)]
    assert rows["all"]["mentions"] == sum(row["mentions"] for row in languages)
    assert 0 < rows["held-out"]["texts"] < rows["all"]["texts"]
    assert all(0.9 <= row[key] <= 1 for row in rows.values() for key in ("precision", "recall"))


def test_mentions_of_one_language_fit_a_screen(newscrawl: Newscrawl) -> None:
    ran = newscrawl("evaluate", "mentions", "--lang", "DE")
    assert ran.code == 0
    groups = [line.split()[0] for line in ran.out.splitlines() if re.search(r"\d\.\d{3}", line)]
    assert groups == ["de", "all", *PARTS]
    assert max(map(len, ran.out.splitlines())) <= 80


def test_scores_with_their_intervals_fit_a_screen(newscrawl: Newscrawl) -> None:
    longest = ("--method", "combined-precision", "--method", "pr")
    ran = newscrawl("evaluate", "--corpus", BUNDLED, *longest)
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "pages" in ran.out
    assert "combined-precision" in ran.out
    (pr,) = (line for line in lines if line.startswith(" mini  pr "))
    assert len(re.findall(r"0\.\d{3}±\.\d\d\b", pr)) == 4


def test_metadata_is_scored_by_set(newscrawl: Newscrawl) -> None:
    ran = newscrawl("evaluate", "metadata", "--corpus", BUNDLED, "--format", "csv")
    assert ran.code == 0
    rows = list(csv.DictReader(ran.out.splitlines()))
    assert [(row["set"], row["tool"]) for row in rows] == [
        ("mini", "newscrawl"),
        ("all", "newscrawl"),
    ]
    assert float(rows[0]["title_f1"]) > 0.9
    assert float(rows[0]["day"]) > 0.9
    assert 0 < int(rows[0]["day.pages"]) <= 12
    assert "newscrawl benchmark --peers stores them" in ran.err


def test_metadata_stands_beside_stored_answers(
    newscrawl: Newscrawl, tmp_path: Path, pages: list[GoldPage]
) -> None:
    answers = tmp_path / "results" / "benchmark"
    store(answers, "perfect", pages, "title", "authors", "date")
    ran = newscrawl("evaluate", "metadata", "--corpus", BUNDLED)
    assert ran.code == 0
    assert len(re.findall(r"perfect +1\.000 +1\.000 +1\.000 +1\.000 +–", ran.out)) == 2
    assert max(map(len, ran.out.splitlines())) <= 80


def test_titles_alone_fewer_pages_and_variants_are_left_out(
    tmp_path: Path, pages: list[GoldPage]
) -> None:
    store(tmp_path, "titles", pages, "title")
    store(tmp_path, "halfway", pages[:3], "title", "date")
    store(tmp_path, "newscrawl-fe", pages, "title", "date")
    store(tmp_path, "days", pages, "date")
    store(tmp_path, "days-fast", pages, "date")
    (found,) = score_peers(tmp_path, load_corpus(BUNDLED).fingerprint, pages)
    assert (found.tool, found.version) == ("days", "1.0")
    assert set(found.scores["all"]) == {"day"}
    assert score_peers(tmp_path, "another corpus", pages) == []


@pytest.mark.parametrize("date", [["2026-03-05"], "2026-03-05T23:00:00+01:00", "5 March 2026"])
def test_dates_are_read_in_whatever_form(date: object) -> None:
    published = fields_of({"title": "", "date": date}).published
    assert published is not None
    assert f"{published:%Y-%m-%d}" == "2026-03-05"


def test_fields_may_be_lists_within_lists() -> None:
    fields = fields_of({"title": ["Rain"], "authors": [["Jane Doe"], "Tom Ray", None]})
    assert (fields.title, fields.authors) == ("Rain", ("Jane Doe", "Tom Ray"))


@pytest.mark.parametrize(
    "date", ["", None, [], 7, "yesterday, or so", "99999999999999999999", "0001-01-01T00:00+14:00"]
)
def test_what_is_no_date_is_none(date: object) -> None:
    assert fields_of({"title": "", "date": date}).published is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mention"], "'mention' is not one of"),
        (["mentions", "--corpus", "corpus"], "--corpus is not for mentions"),
        (["mentions", "--method", "fe"], "--method is not for mentions"),
        (["mentions", "--lang", "xx"], "unknown language 'xx'"),
        (["metadata", "--check-floors"], "--check-floors is not for metadata"),
        (["metadata"], "give --corpus DIR or set NEWSCRAWL_CORPUS"),
    ],
    ids=["what", "corpus", "method", "language", "floors", "no corpus"],
)
def test_what_has_no_meaning_is_refused(
    newscrawl: Newscrawl, arguments: list[str], message: str
) -> None:
    ran = newscrawl("evaluate", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_a_corpus_without_gold_metadata_has_nothing_to_score(
    newscrawl: Newscrawl, tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>Rain.</p>", "utf-8")
    gold = {"id": "a", "lang": "en", "site": "rain.example", "text": "Rain."}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold), "utf-8")
    ran = newscrawl("evaluate", "metadata", "--corpus", tmp_path)
    assert ran.code == 1
    assert "no article with gold title, authors or date" in ran.err
