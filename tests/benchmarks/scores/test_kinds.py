"""The confusion matrix of kinds."""

import csv
import json
from pathlib import Path

import pytest

from benchmarks.scores.kinds import by_type
from newscrawl.training.corpus import SEALED, part_of

STORY = "<h1>Harbour reopens</h1>" + "<p>Ships sail again after a week of heavy storms.</p>" * 20
THREAD = f'<html id="XF"><body>{STORY}</body></html>'


def _site(part: str) -> str:
    """Return a site of a part."""
    names = (f"pier{number}.example" for number in range(100))
    return next(name for name in names if part_of(name) == part)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """An article and a thread that is labelled as a forum, and a sealed article."""
    (tmp_path / "pages").mkdir()
    pages = {
        "story": (STORY, "article", "development"),
        "thread": (THREAD, "forum", "development"),
        "sealed": (STORY, "article", SEALED),
    }
    lines = []
    for name, (html, page_type, part) in pages.items():
        (tmp_path / "pages" / f"{name}.html").write_text(html, "utf-8")
        gold = {"id": name, "lang": "en", "site": _site(part), "page_type": page_type}
        lines.append(json.dumps(gold | {"text": "Ships sail again."}))
    (tmp_path / "gold.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def test_kinds_are_counted_by_type_with_a_row_for_all_but_articles():
    forum, listing = ("forum", "other"), ("listing", "article")
    scores = by_type([forum, ("article", "article"), listing, listing, ("article", "paywall")])
    assert [score.page_type for score in scores] == ["article", "forum", "listing", "all others"]
    assert [score.pages for score in scores] == [2, 1, 2, 3]
    assert [score.stored for score in scores] == pytest.approx([1, 0, 1, 2 / 3])
    assert scores[3].kinds == {"other": 1, "article": 2}


def test_confusion_matrix_leaves_sealed_sites_out_unless_asked_for(run_scores, corpus):
    ran = run_scores("kinds", "--corpus", corpus, "--format", "json")
    rows = {row["type"]: row for row in json.loads(ran.out)}
    assert {"pages": 1, "article": 1, "other": 0, "stored": 1}.items() <= rows["article"].items()
    assert {"pages": 1, "article": 0, "other": 1, "stored": 0}.items() <= rows["forum"].items()
    ran = run_scores("kinds", "--corpus", corpus, "--sealed", "--format", "csv")
    (row,) = csv.DictReader(ran.out.splitlines())
    assert (row["type"], row["pages"], row["article"]) == ("article", "1", "1")
