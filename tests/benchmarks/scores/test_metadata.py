"""Scores of titles, authors, dates and languages over labelled pages."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from benchmarks.scores import metadata as metadata_score
from newscrawl.training.corpus import load_corpus

PAGE = """<html lang="en"><head><title>Harbour reopens | The Pier</title>
<meta name="author" content="Jane Doe"><meta name="date" content="2026-03-05"></head>
<body><h1>Harbour reopens</h1><p>Ships sail again after a week of storms.</p></body></html>"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    rows = []
    for number, title in enumerate(("Harbour reopens", "Harbour stays shut")):
        (tmp_path / "pages" / f"{number}.html").write_text(PAGE, "utf-8")
        rows.append(
            {"id": str(number), "lang": "en", "site": f"pier{number}.example", "url": None,
             "page_type": "article", "title": title, "authors": ["Jane Doe", "Tom Ray"],
             "date": "2026-03-05", "text": "Ships sail again after a week of storms."}
        )  # fmt: skip
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "gold.jsonl").write_text(lines, "utf-8")
    return tmp_path


def test_scores_are_means_over_pages_with_gold(corpus):
    pages = metadata_score.labelled_pages(load_corpus(corpus))
    scores = metadata_score.score(pages, metadata_score.read_page)["all"]
    assert scores["title exact"].mean == 0.5
    assert scores["authors F1"].mean == pytest.approx(2 / 3)
    assert scores["day"].mean == 1
    assert scores["language"].mean == 1
    assert scores["day"].pages == 2


@pytest.mark.parametrize(
    ("found", "gold", "wanted"),
    [
        (datetime(2026, 3, 5, 23, 30, tzinfo=UTC), "2026-03-05", True),
        (datetime(2026, 3, 5, 23, 30, tzinfo=UTC), "2026-03-06T00:30:00+01:00", True),
        (date(2026, 3, 5), "2026-03-05T10:00:00+00:00", True),
        (date(2026, 3, 5), "2026-03-07", False),
        (None, "2026-03-05", False),
        (date(2026, 3, 5), "2026-03", None),
    ],
)
def test_dates_of_one_day_are_equal(found, gold, wanted):
    assert metadata_score.same_day(found, gold) is wanted


@pytest.mark.parametrize(
    "gold",
    ["Jane Doe, Tom Ray, and Ann Lee", "Jane Doe; Tom Ray & Ann Lee", "Jane Doe/Tom Ray/Ann Lee"],
)
def test_gold_with_several_names_in_one_string_is_split(gold):
    assert metadata_score.authors_f1(["Ann Lee", "Jane Doe", "Tom Ray"], [gold]) == 1
