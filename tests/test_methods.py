"""The methods under their one signature, on one page."""

import pytest

from newscrawl import extract
from newscrawl.extraction.methods import METHODS, look

PROSE = "The mayor said on Monday that the harbour would have a new crane by the spring. " * 3
PAGE = f"""<html><body>
<script>var page = "script text";</script>
<ul><li><a href=a>Home</a></li><li><a href=b>News</a></li></ul>
<p>{PROSE}</p>
<p>{PROSE}</p>
<p>{PROSE}</p>
<div><a href=c>More</a></div>
</body></html>"""


def test_tb_takes_all_text_nodes() -> None:
    text = extract(PAGE, method="tb").text
    assert "script text" in text
    assert "Home" in text


def test_pr_takes_all_that_pruning_leaves() -> None:
    text = extract(PAGE, method="pr").text
    assert "script text" not in text
    assert "Home" in text


@pytest.mark.parametrize("method", ["combined", "fe", "cetr", "cetr-km", "cetr-tm"])
def test_methods_that_choose_take_the_prose(method: str) -> None:
    article = extract(PAGE, method=method)
    assert article.method == method
    assert article.text.count("The mayor said") == 9
    assert "script text" not in article.text


@pytest.mark.parametrize("method", METHODS)
def test_empty_page_gives_an_empty_body(method: str) -> None:
    body = METHODS[method](look(b""))
    assert body.paragraphs == []
    assert 0.0 <= body.confidence <= 1.0
