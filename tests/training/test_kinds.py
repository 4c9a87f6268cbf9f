"""The confusion matrix of kinds."""

import csv
import json
from pathlib import Path

import pytest

from newscrawl.extraction.kinds import KIND_FEATURES
from newscrawl.training.corpus import SEALED, CorpusError, GoldPage, part_of
from newscrawl.training.kinds import KindExample, by_type, fit_kinds
from tests.conftest import Newscrawl

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


def test_kinds_are_counted_by_type_with_a_row_for_all_but_articles() -> None:
    forum, listing = ("forum", "other"), ("listing", "article")
    scores = by_type([forum, ("article", "article"), listing, listing, ("article", "paywall")])
    assert [score.page_type for score in scores] == ["article", "forum", "listing", "all others"]
    assert [score.pages for score in scores] == [2, 1, 2, 3]
    assert [score.stored for score in scores] == pytest.approx([1, 0, 1, 2 / 3])
    assert scores[3].kinds == {"other": 1, "article": 2}


def test_confusion_matrix_leaves_sealed_sites_out_unless_asked_for(
    newscrawl: Newscrawl, corpus: Path
) -> None:
    ran = newscrawl("evaluate", "kinds", "--corpus", corpus, "--format", "json")
    rows = {row["type"]: row for row in json.loads(ran.out)}
    assert {"pages": 1, "article": 1, "other": 0, "stored": 1}.items() <= rows["article"].items()
    assert {"pages": 1, "article": 0, "other": 1, "stored": 0}.items() <= rows["forum"].items()
    ran = newscrawl("evaluate", "kinds", "--corpus", corpus, "--sealed", "--format", "csv")
    (row,) = csv.DictReader(ran.out.splitlines())
    assert (row["type"], row["pages"], row["article"]) == ("article", "1", "1")


def test_confusion_matrix_shows_only_kinds_that_occur(newscrawl: Newscrawl, corpus: Path) -> None:
    ran = newscrawl("evaluate", "kinds", "--corpus", corpus)
    assert ran.code == 0
    header = next(line for line in ran.out.splitlines() if "pages of type" in line)
    assert header.split()[3:] == ["pages", "article", "other", "stored"]


def _example(site: str, page_type: str, **features: float) -> KindExample:
    page = GoldPage(
        id=site, set="pier", lang="en", site=site, path=Path(), line="", page_type=page_type
    )
    return KindExample(page, tuple(features.get(name, 0.0) for name in KIND_FEATURES))


def test_model_of_kinds_learns_what_other_pages_have() -> None:
    articles = [_example(f"a{n}.example", "article", has_date=1, slug_words=n) for n in range(40)]
    forums = [_example(f"f{n}.example", "forum", forum_path=1, slug_words=n) for n in range(40)]
    model = fit_kinds([*articles, *forums])
    assert all(model.rejects(forum.features) for forum in forums)
    assert not any(model.rejects(article.features, 0.2) for article in articles)
    assert fit_kinds([*articles, *forums]) == model


def test_model_of_kinds_needs_other_pages_than_articles() -> None:
    with pytest.raises(CorpusError, match="needs articles and other pages"):
        fit_kinds([_example("pier.example", "article")])


@pytest.fixture
def shelves(tmp_path: Path) -> Path:
    """A corpus of dated stories and of lists without dates."""
    (tmp_path / "pages").mkdir()
    lines = []
    for number in range(6):
        story = f'<time datetime="2026-11-0{number + 1}">November</time>{STORY}'
        for page_type, html in (("article", story), ("listing", "<p>A rope.</p>" * 30)):
            name = f"{page_type}-{number}"
            (tmp_path / "pages" / f"{name}.html").write_text(html, "utf-8")
            gold = {"id": name, "lang": "en", "site": f"{name}.example", "page_type": page_type}
            url = f"https://{name}.example/{'harbour-opens-again-today' if story == html else 'x'}"
            lines.append(json.dumps(gold | {"url": url, "text": "Ships sail again."}))
    (tmp_path / "gold.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def test_model_of_kinds_is_written_with_its_origin(
    newscrawl: Newscrawl, shelves: Path, tmp_path: Path
) -> None:
    path = tmp_path / "made" / "kinds.json"
    train = ("train", "--model", "kinds", "--corpus", shelves)
    ran = newscrawl(*train, "--include-sealed", "-o", path)
    assert ran.code == 0
    stored = json.loads(path.read_text("utf-8"))
    assert list(stored["weights"]) == list(KIND_FEATURES)
    assert stored["weights"]["has_date"] < 0
    assert stored["provenance"]["pages"] == 12
    ran = newscrawl(*train, "--folds", 2, "--format", "json")
    rows = [row for row in json.loads(ran.out) if row["least"] == 0.5]
    assert {row["type"] for row in rows} == {f"{shelves.name} article", "listing"}


def test_options_of_limits_are_refused_for_kinds(newscrawl: Newscrawl, shelves: Path) -> None:
    ran = newscrawl("train", "--model", "kinds", "--corpus", shelves, "--unspaced")
    assert ran.code == 2
    assert "--unspaced is for limits, not --model kinds" in ran.err
