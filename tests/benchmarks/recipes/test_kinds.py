"""The recipe of the model of kinds."""

import json
from pathlib import Path

import pytest

from benchmarks.recipes.kinds import KindExample, fit_kinds
from newscrawl.extraction.kinds import KIND_FEATURES
from newscrawl.training.corpus import CorpusError, GoldPage

STORY = "<h1>Harbour reopens</h1>" + "<p>Ships sail again after a week of heavy storms.</p>" * 20


def _example(site: str, page_type: str, **features: float) -> KindExample:
    page = GoldPage(
        id=site, set="pier", lang="en", site=site, path=Path(), line="", page_type=page_type
    )
    return KindExample(page, tuple(features.get(name, 0.0) for name in KIND_FEATURES))


def test_model_of_kinds_learns_what_other_pages_have():
    articles = [_example(f"a{n}.example", "article", has_date=1, slug_words=n) for n in range(40)]
    forums = [_example(f"f{n}.example", "forum", forum_path=1, slug_words=n) for n in range(40)]
    model = fit_kinds([*articles, *forums])
    assert all(model.rejects(forum.features) for forum in forums)
    assert not any(model.rejects(article.features, 0.2) for article in articles)
    assert fit_kinds([*articles, *forums]) == model


def test_model_of_kinds_needs_other_pages_than_articles():
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


def test_model_of_kinds_is_written_with_its_origin(run_recipe, shelves, tmp_path):
    path = tmp_path / "made" / "kinds.json"
    train = ("kinds", "--corpus", shelves)
    ran = run_recipe(*train, "--include-sealed", "-o", path)
    assert ran.code == 0
    stored = json.loads(path.read_text("utf-8"))
    assert list(stored["weights"]) == list(KIND_FEATURES)
    assert stored["weights"]["has_date"] < 0
    assert stored["provenance"]["pages"] == 12
    ran = run_recipe(*train, "--folds", 2, "--format", "json")
    rows = [row for row in json.loads(ran.out) if row["least"] == 0.5]
    assert {row["type"] for row in rows} == {f"{shelves.name} article", "listing"}
