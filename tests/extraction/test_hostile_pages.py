"""Pages made to break a reader: each is read within bounds of time and memory, and none is lost."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from newscrawl import extract
from newscrawl.extraction.blocks import MAX_BLOCK, MAX_BLOCKS, MAX_TEXT, read_blocks
from newscrawl.extraction.html import parse
from newscrawl.extraction.limits import (
    MAX_ATTRIBUTES,
    MAX_MARKUP,
    MAX_SHORT_TAG,
    has_crowded_tag,
    limit_attributes,
    within_limits,
)
from newscrawl.extraction.methods import METHODS
from newscrawl.mentions.matcher import MAX_CANDIDATES
from newscrawl.text import MAX_MARKS, stream_safe
from tests.fuzz import pages as fuzz
from tests.fuzz.tricks import ARTICLE, TRICKS
from tests.site.faults import story
from tests.worlds import bundled_companies

# NEWSCRAWL_FUZZ=50000 for a long run; 20 a second.
FUZZ = int(os.environ.get("NEWSCRAWL_FUZZ") or 200)
# Each of them took from some seconds to hours, or all memory.
DEADLY = (
    "p, unclosed",
    "a misnested",
    "b misnested",
    "attributes of different names",
    "attributes parted by lines",
    "attributes of odd signs",
    "attributes without an end",
    "attributes of an end tag",
    "bodies of other attributes",
    "attributes that each paragraph opens again",
    "attributes behind quotes that each paragraph opens again",
    "comments in a table, parting long texts",
    "bogus comments in a table",
    "fields in a table",
    "body of attributes (facts)",
    "angle brackets",
    "one e-mail address",
    "letters with marks out of order",
    "doubtful names and context",
    "acronyms",
)
# An order of magnitude more than they take, and what one page may add to the memory.
CPU_SECONDS, MEGABYTES = 60, 300
_CHILD = """
import resource, sys
from tests.fuzz.pages import read, seeds
from tests.fuzz.tricks import TRICKS
from newscrawl.workers import limit_memory, limit_processor_time
for warm in list(seeds().values())[:3]:
    read(warm)
for name in sys.argv[3:]:
    html = TRICKS[name].page(2_000_000)
    limit_processor_time(int(sys.argv[1]))
    limit_memory(int(sys.argv[2]))
    read(html)
    print(name, flush=True)
"""


# --- Whole pages --------------------------------------------------------------------------------


def test_hostile_pages_are_read_within_time_and_memory_limits():
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(CPU_SECONDS), str(MEGABYTES), *DEADLY],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == list(DEADLY), done.stderr[-2000:]


@pytest.mark.parametrize("first", range(8))
def test_hostile_page_does_not_raise(first):
    came = [fuzz.read(TRICKS[name].page(20_000)) for name in list(TRICKS)[first::8]]
    articles = sum(not isinstance(one, str) for one in came)
    assert articles > 0.8 * len(came)


@pytest.mark.parametrize("name", [name for name in DEADLY if "(facts)" not in name])
def test_article_before_hostile_markup_is_extracted(name):
    html = TRICKS[name].page(400_000)
    text = extract(html).text.encode()
    assert text
    if name not in {"one e-mail address", "doubtful names and context"}:
        assert ARTICLE in text


@pytest.mark.timeout(0)
def test_mutated_page_does_not_raise():
    came = [fuzz.read(example.html, example.encoding) for example in fuzz.examples(FUZZ, FUZZ)]
    articles = sum(not isinstance(one, str) for one in came)
    assert articles > 0.3 * len(came)


# --- Limits -------------------------------------------------------------------------------------


def test_usual_page_is_not_changed():
    for html in fuzz.seeds().values():
        assert within_limits(html) is html


def test_markup_beyond_the_limit_is_truncated_after_the_article():
    html = story("A bridge", "Siemens") + b"<p>x" * 2 * MAX_MARKUP
    assert within_limits(html).count(b"<") == MAX_MARKUP
    assert ARTICLE in extract(html).text.encode()


def test_number_of_blocks_and_text_length_are_limited():
    many = read_blocks(parse(b"<p>x" * (MAX_BLOCKS + 5)))
    assert len(many) == MAX_BLOCKS == len(many.owners) == len(many.removed_from) - 1
    long = read_blocks(parse(b"<p>" + b"ab" * MAX_BLOCK + b"<p>b"))
    assert [len(text) for text in long.raw] == [MAX_BLOCK, 1]
    much = read_blocks(parse((b"<p>" + b"ab " * (MAX_BLOCK // 3)) * 40))
    assert MAX_TEXT <= sum(map(len, much.raw)) <= MAX_TEXT + MAX_BLOCK


def test_truncated_block_closes_its_link():
    page = read_blocks(parse(b"<p>" + b"<a>ab</a> " * (MAX_BLOCK // 4) + b"<p>c"))
    assert page.raw[0].count("\x02") == page.raw[0].count("\x03")
    assert page.raw[1] == "c"


def test_attributes_beyond_the_limit_are_dropped():
    html = b"<p" + b"".join(b" a%d='<p>'" % n for n in range(5_000)) + b">text</p>"
    node = parse(html).css_first("p")
    assert len(node.attributes) == MAX_ATTRIBUTES
    assert (node.text(), node.attributes["a0"]) == ("text", "<p>")


HIDING_PLACES = {
    "plain": b" a%d=1",
    "no values": b" a%d",
    "brackets in quotes": b" a%d='>'",
    "tags in quotes": b' a%d="<p>"',
    "quotes of both kinds": b" a%d='\">' b%d=\"'>\"",
    "blanks before quotes": b" a%d = '>'",
    "brackets in names": b" a%d<",
    "tags with quotes within": b"<n%d a%d='>'",
    "unquoted quotes": b" a%d=b'>\" c%d='>'",
}


@pytest.mark.parametrize("name", HIDING_PLACES)
@pytest.mark.parametrize("start", [b"<p", b"<p class='>'", b"x='<p title=\"> <b> ' y='>\"", b"</p"])
def test_attributes_are_limited_in_any_kind_of_tag(name, start):
    part = HIDING_PLACES[name]
    crowd = b"".join(part % ((n,) * part.count(b"%d")) for n in range(3_000))
    html = story("A bridge", "Siemens") + start + crowd + b">"
    root = parse(html).root
    assert root is not None
    most = max(len(node.attributes) for node in root.traverse())
    assert most <= MAX_SHORT_TAG // 2


def test_script_content_is_not_changed():
    html = b"<script>for (i=0;i<n;i++) " + b"a b c " * 3_000 + b"</script><p>x"
    assert limit_attributes(html) == html


@pytest.mark.parametrize(
    "page", [b"<script>%b</script>", b"<!-- %b -->", b"<TITLE>%b</title>", b'<p title="%b">']
)
def test_tags_in_scripts_comments_and_quotes_are_not_crowded(page):
    tag = b"<i " + b"a b c " * 3_000 + b">"
    assert within_limits(page % tag + b"<p>x") == page % tag + b"<p>x"
    assert has_crowded_tag(page % b"" + tag)
    assert within_limits(page % b"" + tag) != page % b"" + tag


@given(st.lists(st.sampled_from([b"<p", b" a", b"=", b"'", b'"', b">", b"<", b"/", b"b "])))
def test_limiting_attributes_does_not_change_usual_pages(parts):
    html = b"".join(parts) + b">'>\">"
    assert parse(limit_attributes(html)).html == parse(html).html


@pytest.mark.parametrize("method", METHODS)
def test_endless_character_reference_does_not_stop_extraction(method):
    number = b"&amp;#" + b"9" * 4_900
    html = story("A bridge", "Siemens").replace(b"<title>", b"<title>" + number)
    html = html.replace(b"<article>", b"<article><p>&#" + b"9" * 5_000 + b"</p>")
    assert ARTICLE in extract(html, method=method).text.encode()


# --- Mentions and words -------------------------------------------------------------------------


def test_mentions_in_a_text_of_names_only_are_limited():
    found = bundled_companies().find("Siemens " * (MAX_CANDIDATES + 100), language="en")
    assert len(found) == MAX_CANDIDATES
    assert found[0].start == 0


def test_long_word_beside_homoglyphs_takes_linear_time():
    """A word of mixed scripts has all others looked at; a long one took seconds."""
    before = time.process_time()
    (mention,) = bundled_companies().find("x" * 300_000 + " Siemеns")  # with a Cyrillic letter
    assert mention.company == "Siemens"
    assert time.process_time() - before < 30


def test_combining_marks_are_limited_and_offsets_stay():
    text = "e" + "\u0315\u0316" * 100 + " Siemens"
    safe = stream_safe(text)
    assert len(safe) == len(text)
    assert safe[1 : 1 + MAX_MARKS] == text[1 : 1 + MAX_MARKS]
    (mention,) = bundled_companies().find(text)
    assert text[mention.start : mention.end] == "Siemens"


@pytest.mark.parametrize("before", range(MAX_MARKS + 2))
def test_runs_of_marks_are_cut_wherever_they_begin(before):
    longest = "a" * before + "e" + "\u0301" * MAX_MARKS + "n"
    assert stream_safe(longest) is longest
    too_long = "a" * before + "e" + "\u0301" * (MAX_MARKS + 1) + "n"
    assert stream_safe(too_long) == longest.replace("n", "\N{REPLACEMENT CHARACTER}n")


def test_usual_texts_are_stream_safe():
    for text in ("Siemens", "e\u0301te\u0301", "中国的港口" * 20, "עִבְרִית" * 9):
        assert stream_safe(text) is text


def test_only_nearby_context_counts():
    def rules(text: str) -> set[str]:
        return {mention.rule for mention in bundled_companies().find(text, language="en")}

    assert "context" in rules("They like Apple. The iPhone sold well.")
    assert "context" not in rules(f"They like Apple. {'It rained on the quay. ' * 40} iPhone")
