"""The methods under their one signature, on one page."""

from pathlib import Path

import numpy as np
import pytest

from newscrawl import extract
from newscrawl.extraction import compiled
from newscrawl.extraction.blocks import clean
from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.methods import METHODS, NO_TEXT
from newscrawl.text import LINK_END, LINK_START
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


def test_tb_keeps_all_text_nodes():
    text = extract(PAGE, method="tb").text
    assert "script text" in text
    assert "Home" in text


def test_pr_keeps_all_text_after_pruning():
    text = extract(PAGE, method="pr").text
    assert "script text" not in text
    assert "Home" in text


@pytest.mark.parametrize("method", [name for name in METHODS if name not in {"tb", "pr"}])
def test_selective_methods_keep_the_prose(method):
    article = extract(PAGE, method=method)
    assert article.method == method
    assert article.text.count("The mayor said") == 9
    assert "script text" not in article.text


@pytest.mark.parametrize("kernel", [compiled.kernel, None], ids=["kernel", "Python"])
@pytest.mark.parametrize("example", [example for rule in NO_TEXT for example in rule.examples])
def test_paragraph_that_is_no_text_is_left_out(monkeypatch, kernel, example):
    monkeypatch.setattr(compiled, "kernel", kernel)
    linked = example.replace(LINK_START, "<a>").replace(LINK_END, "</a>")
    html = PAGE.replace("</p>\n<p>", f"</p>\n<p>{linked}</p>\n<p>")
    assert clean(example) in extract(html, method="pr").text
    article = extract(html, method="combined-recall")
    assert article.paragraphs == extract(PAGE, method="combined-recall").paragraphs


SENTENCES = [
    f"The harbour of {town} reopened after eleven weeks of repairs, the port authority said."
    for town in ("Westhaven", "Easthaven", "Northaven", "Southaven")
]
LINKED = '<a href="/x">The second phase is due to begin in March and takes about two years.</a>'


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((2, "<ul><li>Siemens</li><li>Alstom</li></ul>"), "Siemens"),
        ((2, "<dl><dt>Siemens</dt><dd>12.4 million euros</dd></dl>"), "12.4 million euros"),
        ((2, "<table><tr><td>Siemens</td><td>3.1</td></tr></table>"), "3.1"),
        ((4, "<ul><li>Siemens</li><li>Alstom</li></ul>"), "Alstom"),
        ((4, "<table><tr><td>Siemens</td><td>3.1</td></tr></table>"), "3.1"),
        (
            (2, f"<figure><table>{'<tr><td>Siemens<td>3.1' * 3}</table><figcaption>Bids</figure>"),
            "Siemens",
        ),
        ((2, "<p>“Gotcha.”</p>"), "Gotcha"),
        ((4, "<ul><li>Siemens: 40<li>Alstom: 38<li>Hitachi: 35</ul>"), "Hitachi"),
        ((4, "<p>Winners:</p><ul><li>Roof: Siemens</li><li>Walls: Alstom</li></ul>"), "Alstom"),
        (
            (2, "<p>These firms sent offers:</p><ul><li><a>Siemens</a><li><a>Alstom</a></ul>"),
            "Alstom",
        ),
        ((0, f"<p>{LINKED}</p>"), "The second phase"),
        ((4, f"<p><b>{LINKED}</b></p>"), "The second phase"),
        ((4, "<p>Boeing shares fell 2% on Friday.</p>"), "Boeing shares"),
        (
            (4, f"<details><summary>More</summary><p>Boeing's {SENTENCES[0][4:]}</p></details>"),
            "Boeing",
        ),
    ],
)
def test_part_beside_the_paragraphs_belongs_to_the_text(parts, expected):
    paragraphs = [f"<p>{sentence}</p>" for sentence in SENTENCES]
    paragraphs.insert(*parts)
    html = f"<body><article><h1>Harbour</h1>{''.join(paragraphs)}</article><footer>x</footer>"
    article = extract(html)
    assert expected in article.text
    assert all(sentence in article.text for sentence in SENTENCES)


LINES = "<ul><li>Monday: Lund to Norrby</li><li>Friday: Lund to Holm, 9.15</li></ul>"
CARDS = "".join(f"<li><h3><a href=x{n}>Nine lists run in {n}</a></h3></li>" for n in range(3))


@pytest.mark.parametrize(
    ("paragraphs", "below", "last"),
    [
        (1, LINES, "Friday: Lund to Holm, 9.15"),
        (2, LINES, "Friday: Lund to Holm, 9.15"),
        (
            3,
            f"<div class=related><ul>{CARDS}</ul></div><p>It ends at nine.</p>",
            "It ends at nine.",
        ),
    ],
)
def test_list_below_few_paragraphs_and_short_line_below_cards_are_text(paragraphs, below, last):
    body = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES[:paragraphs])
    page = parse_page(f"<article><h1>Harbour</h1>{body}{below}</article><p>Imprint</p>")
    texts = page.candidates.page.texts
    page.probabilities = np.array([0.9 if text in SENTENCES else 0.12 for text in texts])
    assert METHODS["combined"](page).paragraphs[-1] == last


@pytest.mark.parametrize(
    ("above", "is_text"), [("", True), ("<h3><a href=x>Nine lists run</a>", 0)]
)
def test_sentence_of_the_kind_of_the_text_is_text_but_below_a_linked_headline(above, is_text):
    slides = [f"<div class=slide>{above}<p class=a1>{each}</p></div>" for each in SENTENCES]
    page = parse_page(f"<div class=gallery>{''.join(slides)}</div><p>{PROSE}</p>")
    texts = page.candidates.page.texts
    page.probabilities = np.array([0.1 if SENTENCES[2] in text else 0.9 for text in texts])
    paragraphs = METHODS["combined"](page).paragraphs
    assert (SENTENCES[2] in paragraphs) == is_text
    assert {SENTENCES[0], SENTENCES[3], PROSE.strip()} <= {*paragraphs}


@pytest.mark.parametrize("kernel", [compiled.kernel, None], ids=["kernel", "Python"])
@pytest.mark.parametrize(
    "start",
    [
        "<span style='display: none'>",
        "<em style='color:red;Visibility:hidden'>",
        "<small hidden>",
        "<a class='x sr-only' href='/'>",
        "<b class=sr-text>",
        "<b class=screen-reader-text><i class=sr-only>",
        "<b><i style='display:none'>",
        "<span style='max-height:0;overflow:hidden'>",
        "<i class=tip role=tooltip>",
        "<i class='x hide'>",
        "<label for=mail>",
        "<textarea></textarea><label>",
    ],
)
def test_hidden_inline_element_is_no_text(monkeypatch, kernel, start):
    monkeypatch.setattr(compiled, "kernel", kernel)
    end = "</i></b>" if "<i" in start else "</a></b></small></em></span></label>"
    paragraphs = "".join(f"<p>{sentence} {start}Gloss{end} He left.</p>" for sentence in SENTENCES)
    text = extract(f"<article><h1>Harbour</h1>{paragraphs}</article>").text
    assert "Gloss" not in text
    assert text.count("He left.") == len(SENTENCES)


@pytest.mark.parametrize(
    "attribute", ["style='line-height:0'", "style='min-width: 0'", "class='hide show-md'"]
)
@pytest.mark.parametrize("name", ["i", "label"])
def test_inline_element_that_is_shown_is_text(name, attribute):
    paragraphs = "".join(
        f"<p>{sentence} <{name} {attribute}>Siemens</{name}> left.</p>" for sentence in SENTENCES
    )
    text = extract(f"<article><h1>Harbour</h1>{paragraphs}</article>").text
    assert text.count("Siemens left.") == len(SENTENCES)


@pytest.mark.parametrize("method", METHODS)
def test_empty_page_has_an_empty_text(method):
    body = METHODS[method](parse_page(b""))
    assert body.paragraphs == []
    assert 0.0 <= body.confidence <= 1.0


def taken(page: GoldPage, method: str) -> list[str]:
    return list(extract(page.html, page.url, method=method).paragraphs)


@pytest.mark.parametrize("page", BUNDLED, ids=[page.id for page in BUNDLED])
def test_balanced_text_contains_precision_and_is_contained_in_recall(page):
    precise, balanced, complete = (
        taken(page, method) for method in ("combined-precision", "combined", "combined-recall")
    )
    assert [text for text in balanced if text in precise] == precise
    assert [text for text in complete if text in balanced] == balanced


def test_precision_variant_keeps_less_than_recall_variant():
    sizes = {
        method: sum(len(taken(page, method)) for page in BUNDLED)
        for method in ("combined-precision", "combined-recall")
    }
    assert sizes["combined-precision"] < sizes["combined-recall"]


CARD = f"""<article><h2><a href=x>Lighthouse opens on Sunday</a></h2><p class=date>9 November</p>
<p>The lighthouse opens to visitors. {PROSE[:40]}</p></article>"""


@pytest.mark.parametrize(
    ("within", "below"), [(CARD, ""), (f"<aside>{CARD}</aside>", ""), (CARD, CARD), ("", CARD)]
)
def test_card_of_another_story_does_not_end_the_text(within, below):
    title = "Harbour has a new crane"
    story = f"<h2>{title}</h2><div><p>{PROSE}</p><p>{NEXT}</p>{within}<p>{LAST}</p></div>"
    text = extract(f"<title>{title}</title><main>{story}</main>{below}").text
    assert all(part.strip() in text for part in (PROSE, NEXT, LAST))
    assert "lighthouse opens to visitors" not in text
