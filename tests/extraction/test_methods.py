"""The methods under their one signature, on one page."""

from pathlib import Path
from types import ModuleType

import pytest

from newscrawl import extract
from newscrawl.extraction import compiled
from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.methods import METHODS, NO_TEXT
from newscrawl.training.corpus import GoldPage, load_corpus

BUNDLED = tuple(load_corpus(Path(__file__).parents[1] / "corpus"))

PROSE = "The mayor said on Monday that the harbour would have a new crane by the spring. " * 3
NEXT = PROSE.replace("Monday", "Tuesday")
LAST = PROSE.replace("Monday", "Friday")
PAGE = f"""<html><body>
<script>var page = "script text";</script>
<ul><li><a href=a>Home</a></li><li><a href=b>News</a></li></ul>
<p>{PROSE}</p>
<p>{NEXT}</p>
<p>{LAST}</p>
<div><a href=c>More</a></div>
</body></html>"""


def test_tb_keeps_all_text_nodes() -> None:
    text = extract(PAGE, method="tb").text
    assert "script text" in text
    assert "Home" in text


def test_pr_keeps_all_text_after_pruning() -> None:
    text = extract(PAGE, method="pr").text
    assert "script text" not in text
    assert "Home" in text


@pytest.mark.parametrize("method", [name for name in METHODS if name not in {"tb", "pr"}])
def test_selective_methods_keep_the_prose(method: str) -> None:
    article = extract(PAGE, method=method)
    assert article.method == method
    assert article.text.count("The mayor said") == 9
    assert "script text" not in article.text


@pytest.mark.parametrize("kernel", [compiled.kernel, None], ids=["kernel", "Python"])
@pytest.mark.parametrize("example", [example for rule in NO_TEXT for example in rule.examples])
def test_paragraph_that_is_no_text_is_left_out(
    monkeypatch: pytest.MonkeyPatch, kernel: ModuleType | None, example: str
) -> None:
    monkeypatch.setattr(compiled, "kernel", kernel)
    html = PAGE.replace("</p>\n<p>", f"</p>\n<p>{example}</p>\n<p>")
    assert example in extract(html, method="pr").text
    article = extract(html, method="combined-recall")
    assert article.paragraphs == extract(PAGE, method="combined-recall").paragraphs


@pytest.mark.parametrize("method", METHODS)
def test_empty_page_has_an_empty_text(method: str) -> None:
    body = METHODS[method](parse_page(b""))
    assert body.paragraphs == []
    assert 0.0 <= body.confidence <= 1.0


def taken(page: GoldPage, method: str) -> list[str]:
    return list(extract(page.html, page.url, method=method).paragraphs)


@pytest.mark.parametrize("page", BUNDLED, ids=[page.id for page in BUNDLED])
def test_balanced_text_contains_precision_and_is_contained_in_recall(page: GoldPage) -> None:
    precise, balanced, complete = (
        taken(page, method) for method in ("combined-precision", "combined", "combined-recall")
    )
    assert [text for text in balanced if text in precise] == precise
    assert [text for text in complete if text in balanced] == balanced


def test_precision_variant_keeps_less_than_recall_variant() -> None:
    sizes = {
        method: sum(len(taken(page, method)) for page in BUNDLED)
        for method in ("combined-precision", "combined-recall")
    }
    assert sizes["combined-precision"] < sizes["combined-recall"]
