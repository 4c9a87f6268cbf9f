"""The page of `newscrawl explain`: true to the extraction, and dead whatever it shows."""

import base64
import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from lxml import html as lxml_html

import newscrawl
from newscrawl.extraction.classifier import BALANCED, load_network
from newscrawl.extraction.explain import (
    CHOOSING_METHODS,
    KINDS,
    MIN_MOVE,
    Reason,
    columns_of,
    explain,
    reasons,
)
from newscrawl.extraction.explain_page import MAX_BLOCKS, AskedSentence, render
from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.features import NAMES
from newscrawl.extraction.methods import METHODS

PAGES = Path(__file__).parents[1] / "corpus" / "mini" / "pages"
PAGE = (PAGES / "northwind-factory.html").read_bytes()

PROSE = "The committee of the harbour said on Monday that it would look at the plans again. " * 4
HOSTILE = f"""<html><head><title>Bad &lt;script&gt;alert(1)&lt;/script&gt; news</title>
<meta http-equiv="refresh" content="0;url=javascript:alert(2)"><base href="//evil.example/">
<script>document.write('owned')</script><style>body{{background:url(//evil.example)}}</style></head>
<body onload="alert(3)"><img src=x onerror=alert(4)><iframe src="//evil.example"></iframe>
<a href="javascript:alert(5)">click</a><form action="//evil.example"><input name=q></form>
<p>{PROSE} &lt;script&gt;alert(6)&lt;/script&gt; &lt;img src=x onerror=alert(7)&gt;</p>
<p>{PROSE} &lt;/style&gt;&lt;/p&gt;&lt;/html&gt; \u202eturned around\u202c \x00 &#1; &#xFFFE;</p>
<svg onload="alert(8)"><text>drawn</text></svg></body></html>""".encode()

HARMLESS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "a", "span", "b", "dl",
    "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "fieldset",
    "label", "input", "ol", "li", "details", "summary",
}  # fmt: skip


def page_of(html: bytes, url: str | None = None) -> lxml_html.HtmlElement:
    return lxml_html.document_fromstring(render(explain(html, url)))


def assert_nothing_runs(page: lxml_html.HtmlElement) -> None:
    for element in page.iter():
        assert element.tag in HARMLESS
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in {"src", "style", "action", "srcset", "xlink:href"}
            if name == "href":
                assert value.startswith(("http://", "https://"))


def test_hostile_page_is_shown_as_text():
    page = page_of(HOSTILE, "javascript:alert(9)")
    assert_nothing_runs(page)
    shown = page.text_content()
    assert "<script>alert(6)</script>" in shown
    assert "<img src=x onerror=alert(7)>" in shown
    assert "javascript:alert(9)" in shown  # the address, as text and not as a link
    assert page.xpath("count(//a)") == 0
    assert len(page.xpath("//style")) == 1
    assert "\u202e" not in shown


def test_content_policy_allows_only_our_style():
    page = page_of(HOSTILE)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,) = page.xpath("//style/text()")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(st.sampled_from([
    "<p>", "</p>", "<script>", "</script>", "<style>", "</style>", "<svg onload=x>", "<!--", "-->",
    "<a href='javascript:x'>", "&lt;script&gt;", "&#0;", "\x00", "\ud800", "a word ", "。", "\n",
    "<li>", "<title>", "</title>", "<h1>", "]]>", "&amp;lt;", "\u202e", "<![CDATA[", "\x0b",
])).map("".join))  # fmt: skip
def test_no_content_of_an_explained_page_runs(text):
    assert_nothing_runs(page_of(text.encode("utf-8", "surrogatepass")))


def test_blocks_are_in_order_and_article_text_is_kept():
    explanation = explain(PAGE)
    article = newscrawl.extract(PAGE)
    kept = [block.text for block in explanation.blocks if "combined" in block.taken_by]
    assert kept
    assert kept == [text for text in article.paragraphs if text in kept]
    assert [block.number for block in explanation.blocks] == list(
        range(1, len(explanation.blocks) + 1)
    )


def test_fe_keeps_exactly_the_blocks_within_all_limits():
    explanation = explain(PAGE)
    assert {len(block.readings) for block in explanation.blocks} == {len(NAMES)}
    for block in explanation.blocks:
        assert ("fe" in block.taken_by) == (not block.failed), block


def test_every_feature_belongs_to_one_kind():
    names = parse_page(PAGE).block_features.names
    placed = [column for kind in KINDS for column in columns_of(kind, names)]
    assert sorted(placed) == list(range(len(names)))


def test_reasons_are_strong_and_sorted_by_strength():
    blocks = explain(PAGE).blocks
    for block in blocks:
        moves = [abs(reason.move) for reason in block.reasons]
        assert moves == sorted(moves, reverse=True)
        assert all(move >= MIN_MOVE for move in moves)
    assert any(block.reasons for block in blocks)
    kept = [block for block in blocks if "combined" in block.taken_by]
    assert all(block.probability >= BALANCED for block in kept)


def test_usual_feature_values_are_not_reasons():
    network, evidence = load_network(), parse_page(PAGE).block_features
    columns = columns_of("links", evidence.names)
    values = evidence.values.copy()
    values[:, columns] = network.weights["mean"][columns]
    told = reasons(network, replace(evidence, values=values))
    assert "links" not in {reason.kind for of_block in told for reason in of_block}


def test_explanation_lists_every_method():
    readings = {reading.name: reading for reading in explain(PAGE, method="fe").methods}
    assert list(readings) == list(METHODS)
    assert readings["fe"].similarity == pytest.approx(1.0)
    assert readings["tb"].similarity < 1.0


@pytest.mark.parametrize("method", CHOOSING_METHODS)
def test_requested_method_is_explained(method):
    page = lxml_html.document_fromstring(render(explain(PAGE, method=method)))
    verdicts = [verdict.text for verdict in page.find_class("verdict")]
    assert verdicts.count("kept") == sum(method in b.taken_by for b in explain(PAGE).blocks)


@pytest.mark.parametrize("html", [b"", b"   ", b"<p></p>", b"\x00\xff"], ids=repr)
def test_page_without_text_is_explained(html):
    assert "without a headline" in page_of(html).text_content()


def test_huge_page_is_truncated_with_a_notice():
    page = page_of(b"<p>one two three</p>" * (MAX_BLOCKS + 7))
    assert len(page.find_class("verdict")) == MAX_BLOCKS
    assert "7 more blocks are not shown" in page.text_content()


def test_command_writes_the_explanation(newscrawl, tmp_path):
    done = newscrawl("explain", str(PAGES / "qingsong.html"), "-o", "why.html")
    assert done.code == 0, done.err
    assert lxml_html.parse(str(tmp_path / "why.html")).getroot().find_class("block")


def test_command_reads_compressed_pages_of_a_corpus(newscrawl, tmp_path):
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(PAGE))
    done = newscrawl("explain", "page.html.gz", "-o", "why.html")
    assert done.code == 0, done.err
    assert "Northwind Robotics" in (tmp_path / "why.html").read_text()


def test_decompression_bomb_is_refused(newscrawl, tmp_path):
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"<p>" * 8_000_000))
    done = newscrawl("explain", "bomb.gz")
    assert done.code == 2
    assert "is larger than" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.html",), "can't read 'missing.html'"),
        ((str(PAGES / "qingsong.html"), "--method", "fee"), "did you mean fe"),
        ((str(PAGES / "qingsong.html"), "-o", "no/such/folder.html"), "can't write"),
    ],
    ids=["no file", "no method", "no folder"],
)
def test_invalid_usage_is_one_line_and_exit_code_2(newscrawl, arguments, message):
    done = newscrawl("explain", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


# --- Why a sentence is counted ---


def answer_of(html: bytes, asked: AskedSentence, method: str = "combined") -> str:
    """The answer that comes first, as text."""
    document = render(explain(html, method=method), asked)
    page = lxml_html.document_fromstring(document)
    (answer,) = page.find_class("answer")
    before = document.split('class="answer"')[0]
    assert "What each method kept" not in before
    return " ".join(answer.text_content().split())


def test_sentence_is_answered_first_with_the_probability_of_its_block():
    blocks = explain(PAGE).blocks
    kept = max(blocks, key=lambda block: block.probability)
    sentence = kept.text.split(". ")[0]
    answer = answer_of(PAGE, AskedSentence(text=sentence, mentions=("Siemens: rule 'name'",)))
    assert answer.startswith("Why is this sentence counted?")
    assert sentence in answer
    assert f"block #{kept.number} of {len(blocks)}" in answer
    assert f"belongs to the article is {kept.probability:.0%}" in answer
    assert "Siemens: rule 'name'" in answer


def test_rule_that_drops_a_paragraph_is_its_first_reason():
    notice = "Follow us on Facebook and Instagram."
    article = f"<article><h1>Harbour</h1><p>{PROSE}</p><p>{notice}</p><p>{PROSE}</p></article>"
    (block,) = (block for block in explain(article.encode()).blocks if block.text == notice)
    assert "combined" not in block.taken_by
    assert block.reasons[0].kind == "what a paper or platform says of itself"


def test_kind_of_evidence_that_changes_nothing_is_no_reason():
    found = explain(PAGE)
    kept = max(found.blocks, key=lambda block: block.probability)
    strong, weak = Reason("its place", 4.0), Reason("its words", 0.001)
    for probability, moves, decide in ((0.9, (strong, weak), True), (1 - 1e-9, (strong,), False)):
        block = replace(kept, probability=probability, reasons=moves)
        blocks = tuple(block if one is kept else one for one in found.blocks)
        asked = AskedSentence(text=kept.text)
        (answer,) = lxml_html.document_fromstring(
            render(replace(found, blocks=blocks), asked)
        ).find_class("answer")
        text = " ".join(answer.text_content().split())
        assert ("its place without it, the probability would be 14%" in text) is decide
        assert ("No single kind of evidence decides" in text) is not decide
        assert "its words" not in text


def test_other_sentences_of_the_article_are_answered_below():
    blocks = [block for block in explain(PAGE).blocks if "combined" in block.taken_by][:2]
    others = (
        AskedSentence(text="A headline", section="title", mentions=("Bosch: rule 'name'",)),
        AskedSentence(text=blocks[1].text, mentions=("Alstom: rule 'name'",)),
    )
    answer = answer_of(PAGE, AskedSentence(text=blocks[0].text, others=others))
    first, rest = answer.split("The other mentions of the article A headline")
    second, third = rest.split("Alstom: rule")
    assert f"block #{blocks[0].number} of" in first
    assert "Bosch: rule 'name' It is the headline" in second
    assert f"block #{blocks[1].number} of" in third


def test_sentence_of_another_page_is_said_to_be_missing():
    answer = answer_of(PAGE, AskedSentence(text="Ganz andere Wörter, die nirgends stehen."))
    assert "No block of this page holds it" in answer


def test_headline_is_explained_by_the_metadata():
    answer = answer_of(PAGE, AskedSentence(text="A headline", section="title"))
    assert "It is the headline" in answer


def test_company_of_a_teaser_is_answered_with_the_dropped_block():
    explanation = explain(PAGE)
    method = explanation.article.method
    teaser = next(block for block in explanation.blocks if method not in block.taken_by)
    asked = AskedSentence(left_out="Yahoo", finds=lambda text: text == teaser.text)
    answer = answer_of(PAGE, asked)
    assert answer.startswith("Why is Yahoo not counted here?")
    assert f"block #{teaser.number} of {len(explanation.blocks)}, which combined dropped" in answer


def test_company_in_no_dropped_block_is_said_to_be_missing():
    asked = AskedSentence(left_out="Yahoo", finds=lambda _: False)
    assert "No block of this page that was dropped names it" in answer_of(PAGE, asked)


def test_explanation_leads_back_to_the_article_and_the_proof():
    asked = AskedSentence(back="/article?url=x", proof="/proof?company=A%26B&page=2")
    page = lxml_html.document_fromstring(render(explain(PAGE), asked))
    assert page.xpath("//a[text()='Back to the article']/@href") == ["/article?url=x"]
    assert page.xpath("//a[text()='Back to the number']/@href") == ["/proof?company=A%26B&page=2"]
    assert not page.xpath("//script")
    page = lxml_html.document_fromstring(render(explain(PAGE), replace(asked, proof="")))
    assert page.xpath("//a[text()='Back to the number']") == []


def test_ratio_of_a_single_line_is_told_instead_of_drawn():
    page = page_of(b"<p>" + b"Siemens builds a tram for the harbour. " * 9 + b"</p>")
    assert page.xpath("//*[@class='chart']") == []
    assert "All text is in one line, with a tag ratio of" in page.text_content()


def test_hostile_sentence_is_shown_as_text():
    asked = AskedSentence(text="<script>alert(1)</script>", mentions=("<b>x</b>",))
    page = lxml_html.document_fromstring(render(explain(PAGE), asked))
    assert not page.xpath("//script")
    assert "<script>alert(1)</script>" in page.text_content()


@pytest.mark.parametrize("method", ["fe", "cetr"])
def test_sentence_is_answered_for_every_method(method):
    assert "Features beyond their limits" in answer_of(
        PAGE, AskedSentence(text=explain(PAGE).blocks[3].text), method
    )
