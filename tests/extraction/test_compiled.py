"""The compiled kernel gives what Python gives, for pages of all kinds; where it isn't used, the
reason is given."""

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

from benchmarks.cost.generated_pages import generated_pages
from newscrawl.extraction import compiled
from newscrawl.extraction.blocks import MAX_BLOCK, MAX_BLOCKS, read_blocks
from newscrawl.extraction.classifier import load_network
from newscrawl.extraction.extract import extract_from, parse_page
from newscrawl.extraction.features import measure
from newscrawl.extraction.html import decode, parse
from newscrawl.extraction.limits import within_limits
from newscrawl.training.corpus import load_corpus
from tests.fuzz import pages as fuzz
from tests.fuzz.tricks import TRICKS

needs_kernel = pytest.mark.skipif(compiled.kernel is None, reason=compiled.PATH)
PROFILES = ("html5", "2007")
# NEWSCRAWL_FUZZ=5000 for a long run; 20 a second.
FUZZ = int(os.environ.get("NEWSCRAWL_FUZZ") or 30)
PIECES = (
    *(b"<b", b"<", b">", b"</b>", b"<i class=x>", b"</i>", b"<font a='b>c' d>", b"<em/>", b"<p>"),
    *(b'"', b"'", b"=", b" ", b"/", b"\n", b"<table><tr>", b"</td>", b"<td>", b"<!--", b"-->"),
    *(b' a="b"', b" a=b/", b" a", b"<!x>", b"</>", b"<tr>y", b"</1", b"<B>z</B >", b"<script>"),
    b"x",
)
BLANKS = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if char.isspace())
PAGES = {
    "names": """<body id=top><div class='a b' hidden>one</div><div style='display : none' role=NOTE>
        two</div><p aria-hidden=true itemprop=articleBody>three<p class>four<p id=x CLASS=Y>five
        <use xlink:href=a class=c>six</use><p data-class=no title=t>seven<p role="" hidden="">eight
        <p style="DISPLAY:none">nine<p style="xdisplay: d display:none">ten""",
    "long names": f"<div class='{'ä ab-' * 200}' id='{'x' * 299}äö'>one</div>",
    "blanks": f"<p>{BLANKS}</p><p>one{BLANKS}two{BLANKS}</p><p>{BLANKS}three<br>{BLANKS}<br>four",
    "name words": "<div class='aB Bcd CDe one-two One_THREE ÄÖ x' id='two four-one'>"
    "<p itemprop='ARTICLEBody' role='Bänner' hidden>one</p><p id=' ' role=main itemprop=name"
    " class='a1 b2 c d e ff gg hh ii jj kk ll mm nn' aria-hidden=TRUE>two</p></div>",
    "breaks": "one<br>two<br> <br>three<br><br><br>four<br><!-- --><br>five<br><b> </b><br>six",
    "unknown": "<p>a<x-y>b<z-z>c</z-z></x-y>d</p><x-y>e<p>f<o:p>g</o:p></x-y>",
    "links": "<a>one<div>two<a>three</a></div></a><a></a><p><a> </a>four</p><a>five",
    "scripts": "新闻。公司说,「好」。<p>ข่าว ภาษาไทย<p>Straße ΣΊΣΥΦΟΣ İstanbul ﬁn ١٢٣ 𝔸𝔹 😀<p>हिन्दी",
    "signs": "<p>Mr. X’s 3,5 % “rise” … (a_b) | c/d > e • f<p>a\x02b\x03c<p>&#0;&#2;x&#xD800;",
    "no body": "<frameset><frame src=a></frameset>",
    "drawing": "<svg class=s><title>t</title><p>one</svg><math><mi>x</mi></math><template><p>t",
    "deep": "<div>" * 400 + "<p>one" + "</div>" * 300 + "<p>two",
    "empty": "",
}


@contextmanager
def python_alone() -> Iterator[None]:
    with mock.patch.object(compiled, "kernel", None):
        yield


def columns(value: Any) -> dict[str, Any]:
    """The fields of a page's blocks, elements, tokens or features."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def read(html: bytes) -> dict[str, Any]:
    """All that both ways compute of a page."""
    source = decode(html)
    page = parse_page(source)
    blocks = page.blocks
    elements = columns(blocks.elements)
    name_of = elements.pop("names")
    read = columns(blocks) | elements
    read |= {"names": [name_of(element) or None for element in range(len(elements["tags"]))]}
    read |= {"source": source, "limited": within_limits(source)}
    read |= columns(page.candidate_features.tokens)
    read |= {"values": page.candidate_features.values, "features": page.block_features.values}
    read |= {"probabilities": load_network().probabilities(page.block_features)}
    del read["elements"]
    article = extract_from(page)
    # Computed from the probabilities, which may differ in their last digits.
    read |= {"confidence": np.array([article.confidence])}
    return read | {"article": dataclasses.replace(article, confidence=0.0)}


def differences(html: bytes) -> list[str]:
    """The names of what the two ways give otherwise."""
    ours = read(html)
    with python_alone():
        expected = read(html)
    return [name for name, value in expected.items() if not same(ours[name], value)]


def same(ours: Any, expected: Any) -> bool:
    if isinstance(expected, tuple) and expected and isinstance(expected[0], np.ndarray):
        return all(map(same, ours, expected))
    if isinstance(expected, np.ndarray):
        if ours.dtype != expected.dtype or ours.shape != expected.shape:
            return False
        if expected.dtype.kind == "f":
            return bool(np.allclose(ours, expected, rtol=1e-5, atol=1e-5))
        return bool((ours == expected).all())
    return bool(ours == expected)


@needs_kernel
@pytest.mark.parametrize("html", PAGES.values(), ids=PAGES)
def test_both_ways_give_the_same_for_pages_of_odd_markup(html):
    assert differences(html.encode("utf-8", "replace")) == []
    assert differences(f"<article><h1>Title</h1>{html}{'<p>one two' * 9}".encode()) == []


@needs_kernel
@pytest.mark.parametrize("profile", PROFILES)
def test_both_ways_give_the_same_blocks_under_each_profile(profile):
    for html in (*PAGES.values(), *fuzz.seeds().values()):
        tree = parse(html.encode() if isinstance(html, str) else html)
        ours = columns(read_blocks(tree, profile))
        with python_alone():
            expected = columns(read_blocks(tree, profile))
        del ours["elements"], expected["elements"]
        assert [name for name in ours if not same(ours[name], expected[name])] == []


@needs_kernel
def test_both_ways_give_the_same_for_generated_and_mutated_pages():
    for html in generated_pages(20_000, 3):
        assert differences(html) == []
    for example in fuzz.examples(FUZZ, seed=15):
        assert differences(example.html) == [], str(example)


@pytest.mark.thorough
@needs_kernel
def test_both_ways_give_the_same_for_hostile_pages():
    for name, trick in TRICKS.items():
        assert differences(trick.page(8_000)) == [], name


@needs_kernel
def test_both_ways_have_the_same_limits():
    many = "<p>x" * (MAX_BLOCKS + 5)
    long = f"<p>{'ä b ' * MAX_BLOCK}<p>c<p><a>{'d ' * MAX_BLOCK}<p>e</a>"
    much = f"<p>{'ö ab' * (MAX_BLOCK // 5)}" * 20
    for html in (many, long, much):
        tree = parse(html.encode())
        ours = columns(read_blocks(tree))
        with python_alone():
            expected = columns(read_blocks(tree))
        del ours["elements"], expected["elements"]
        assert [name for name in ours if not same(ours[name], expected[name])] == []


@needs_kernel
def test_text_that_is_not_utf_8_is_left_to_python():
    tree = parse(b"<p>one \xff\xfe two<p>three \xe2\x80<b>\x99</b>")
    blocks = read_blocks(tree)
    ours = blocks.raw, measure(blocks).values.tolist()
    with python_alone():
        blocks = read_blocks(tree)
        assert ours == (blocks.raw, measure(blocks).values.tolist())


@needs_kernel
def test_both_ways_reduce_the_same_pages_to_the_same_limits():
    rng = Random(15)  # noqa: S311 - no secret
    for _ in range(10 * FUZZ):
        html = b"".join(rng.choices(PIECES, k=40)) * rng.choice((1, 1, 30, 300))
        limited = within_limits(html)
        with python_alone():
            assert within_limits(html) == limited


@needs_kernel
@pytest.mark.corpus
def test_both_ways_give_the_same_for_the_corpus():
    folder = os.environ.get("NEWSCRAWL_CORPUS")
    if not folder:
        pytest.skip("no development corpus: set NEWSCRAWL_CORPUS")
    pages = list(load_corpus(Path(folder)))[::10]
    assert [page.id for page in pages if differences(page.html)] == []


# --- Which way is used ----------------------------------------------------------------------------


def way_of(**environment: str) -> str:
    """What a new process says about its way."""
    code = "from newscrawl.extraction import compiled; print(compiled.PATH)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_kernel_is_used_in_ci_where_there_is_a_compiler():
    if not os.environ.get("CI"):
        pytest.skip("not in CI, where the kernel is required")
    if not shutil.which(os.environ.get("CC") or "cc"):
        pytest.skip("there is no C compiler, so that the kernel can't be built")
    if os.environ.get(compiled.PURE):
        pytest.skip(f"{compiled.PURE} is set")
    assert compiled.kernel is not None, compiled.PATH


def test_environment_switches_the_kernel_off():
    assert way_of(NEWSCRAWL_PURE="1") == (
        "Python, without the compiled kernel: NEWSCRAWL_PURE is set\n"
    )


@needs_kernel
def test_kernel_of_another_source_is_not_used():
    stale = ModuleType("kernel")
    stale.SOURCE = "0" * 64  # type: ignore[attr-defined]
    with (
        mock.patch.object(compiled, "import_module", return_value=stale),
        pytest.raises(compiled.NoKernelError, match="built from another"),
    ):
        compiled.load()


@needs_kernel
def test_kernel_is_not_used_with_an_unknown_selectolax():
    with (
        mock.patch.object(compiled.selectolax, "__version__", "9.9.9"),
        pytest.raises(compiled.NoKernelError, match="tested with selectolax 9"),
    ):
        compiled.load()


@needs_kernel
def test_kernel_is_not_used_where_nodes_are_laid_out_otherwise():
    with (
        mock.patch.object(compiled.kernel, "read_tree", return_value=[]),
        pytest.raises(compiled.NoKernelError, match="another layout of nodes"),
    ):
        compiled.load()
