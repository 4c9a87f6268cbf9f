"""Answers as records and frames."""

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import newscrawl
from newscrawl import query
from newscrawl.query import Scope
from newscrawl.storage import Database, StorageError, open_database
from tests.worlds import body, day, document, headline, register, save_document

WEEK = Scope(since=day(-1), until=day(0))


@pytest.fixture
def news(tmp_path: Path) -> Iterator[Database]:
    url = f"sqlite:///{tmp_path}/news.sqlite"
    with open_database(url) as database:
        run = register(database)
        mentions = [headline("Siemens"), body("Siemens"), body("Bosch")]
        save_document(database, document(text="Siemens has a plant.", mentions=mentions), run)
        database.record_coverage("ft", day(0), "ok", 1, 1)
    with query.open_news(url) as opened:
        yield opened


@pytest.mark.parametrize("by", ["fortnight", "company", ""])
def test_unknown_grouping_is_named(news, by):
    says = f"can't count by {by!r}: choose one of hour, day, week, month, quarter, year, source"
    with pytest.raises(query.QuestionError, match=re.escape(says)):
        query.mention_counts(news, by)
    with pytest.raises(query.QuestionError, match=re.escape(says)):
        query.share_of_voice(news, ["Siemens", "Bosch"], by=by)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"limit": -1}, "the limit -1 is not a number of rows"),
        ({"limit": "3"}, "the limit '3' is not a number of rows"),
        ({"scope": {"source": "ft"}}, "the scope {'source': 'ft'} is not a Scope"),
        ({"scope": Scope(since="2026-11-01")}, "since '2026-11-01' is not a day"),  # type: ignore[arg-type]
        ({"scope": Scope(until=datetime(2026, 11, 1, tzinfo=UTC))}, "is not a day"),
        ({"scope": Scope(source=7)}, "source 7 is not a text"),  # type: ignore[arg-type]
        ({"scope": Scope(subsidiaries="no")}, "'no' is not True or False"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_wrong_types_are_named(news, given, says):
    with pytest.raises(query.QuestionError, match=re.escape(says)):
        query.company_ranking(news, **given)
    with pytest.raises(query.QuestionError, match=re.escape(says)):
        query.co_mentions(news, "Siemens", **given)


def test_package_imports_its_modules_on_access():
    asked = "import newscrawl; print(newscrawl.query.Scope.__name__, newscrawl.mentions.__name__)"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout == "Scope newscrawl.mentions\n"
    assert {"extract", "mentions", "query", "Article"} <= set(dir(newscrawl))


def test_records_are_flat_and_keep_gaps(news):
    records = query.to_records(query.mention_counts(news, "day", company="Siemens", scope=WEEK))
    assert [(row["key"], row["articles"], row["read"]) for row in records] == [
        (day(-1).isoformat(), None, 0),
        (day(0).isoformat(), 1, 1),
    ]


def test_records_of_rows_with_equal_names_have_prefixes(news):
    scope = Scope(since=day(0), until=day(0))
    (siemens, *_) = query.to_records(query.overview(news, scope=scope).companies)
    assert siemens["company"] == "Siemens"
    assert (siemens["articles"], siemens["before_articles"]) == (1, None)


def test_unknown_source_is_an_error_with_suggestions(news):
    with pytest.raises(query.QuestionError, match="unknown source 'fft': did you mean ft"):
        query.mention_counts(news, "day", company="Siemens", scope=Scope(source="fft"))


def test_rows_become_a_pandas_frame(news):
    frame = query.to_pandas(query.share_of_voice(news, ["Siemens", "Bosch"], scope=WEEK))
    assert frame["share"].tolist() == [0.5, 0.5]


def test_rows_become_a_polars_frame(news):
    frame = query.to_polars(query.mention_counts(news, "day", company="Siemens", scope=WEEK))
    assert frame["articles"].to_list() == [None, 1]
    found = query.to_polars(query.search(news, "plant"))
    assert found["snippets"].to_list()[0][0]["text"] == "Siemens has a plant."


def test_missing_database_is_not_created(tmp_path):
    file = tmp_path / "none.sqlite"
    with pytest.raises(StorageError, match="no database at"):
        query.open_news(f"sqlite:///{file}")
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Seimens", "did you mean Siemens"),
        ("siemens", "did you mean Siemens"),
        ("Qjqwvq", "lists"),
        ("Nonesuch", "lists"),
    ],
)
def test_unknown_company_is_refused_with_the_nearest_names(news, name, says):
    with pytest.raises(query.QuestionError, match=f"unknown company '{name}': .*{says}"):
        query.mention_counts(news, "week", company=name)
    with pytest.raises(query.QuestionError, match=says):
        query.share_of_voice(news, ["Bosch", name])


def test_registered_company_without_a_mention_has_zeros(news):
    rows = query.mention_counts(news, company="Volkswagen", scope=WEEK)
    assert [row.hits and row.hits.articles for row in rows] == [None, 0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_library_of_frames_is_named_with_advice(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"^{library} is not installed: pip install"):
        getattr(query, f"to_{library}")([])
