"""The page of `newscrawl explain`: one file, no scripts, nothing of the explained page live."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from urllib.parse import urlsplit

from lxml import etree

from newscrawl.training.explain import (
    BlockReading,
    Explanation,
    FeatureReading,
    LineReading,
    MethodReading,
)
from newscrawl.training.explain_reasons import Reason
from newscrawl.training.web_page import E, document, plain

MAX_BLOCKS = 1000  # shown; a longer page says how many are left out
MAX_BLOCK_CHARS = 4000
FOLDED_RUN = 4  # so many blocks dropped in a row, or more, share a line
PREVIEW_CHARS = 160
CHART_WIDTH, CHART_HEIGHT = 600, 120
MAX_BARS = 300

COMBINED_NOTE = (
    "The percentage is the probability that the network of the combined method gives a block; "
    "+ and − are the kinds of evidence without which it would be much lower or higher."
)
_LABELS = {
    "sentence_length": "words a sentence",
    "sentences": "sentences",
    "characters": "letters and digits",
    "stop_words": "stop words",
    "anchors": "words in links",
    "formats": "format tags",
    "lists": "list elements",
    "structure": "structure tags",
}
_COUNTS = frozenset(("sentence_length", "sentences"))  # all other features are shares


def render(explanation: Explanation) -> str:
    """The whole HTML document."""
    title = plain(explanation.article.title or "A page without a headline")
    return document(
        f"{title} – newscrawl explain",
        [
            *_header(explanation, title),
            *_methods(explanation.methods, explanation.article.method),
            *_chart(explanation.lines),
            *_blocks(explanation),
        ],
        style="explain.css",
    )


def _header(explanation: Explanation, title: str) -> Iterator[etree._Element]:
    article = explanation.article
    kept = sum(article.method in block.taken_by for block in explanation.blocks)
    yield E.h1(title, dir="auto")
    if article.url:
        yield E.p(_address(article.url), {"class": "faint"})
    facts = {
        "taken for": article.kind,
        "confidence": f"{article.confidence:.0%}",
        "blocks kept": f"{kept} of {len(explanation.blocks)}",
        "words": str(len(article.text.split())),
        "language": article.language or "not told",
        "published": article.published.isoformat(" ", "minutes") if article.published else "–",
        "authors": ", ".join(article.authors) or "–",
        "page size": f"{explanation.size / 1024:.0f} KiB",
    }
    pairs = [cell for name, value in facts.items() for cell in (E.dt(name), E.dd(plain(value)))]
    yield E.dl(*pairs, {"class": "facts"})


def _address(url: str) -> etree._Element:
    if urlsplit(url).scheme in {"http", "https"}:
        return E.a(plain(url), href=plain(url), rel="noopener noreferrer nofollow")
    return E.span(plain(url))


def _methods(readings: Sequence[MethodReading], method: str) -> Iterator[etree._Element]:
    yield E.h2("What each method took")
    number = {"class": "number"}
    heads = E.tr(E.th("method"), *(E.th(name, number) for name in ("words", "confidence", "like")))
    rows = [
        E.tr(
            E.th(reading.name),
            E.td(str(reading.words), number),
            E.td(f"{reading.confidence:.2f}", number),
            E.td(f"{reading.similarity:.2f}", number),
        )
        for reading in readings
    ]
    yield E.div(E.table(E.thead(heads), E.tbody(*rows)), {"class": "scroll"})
    yield E.p(f"“like”: similarity to the text of {method}, 1 is the same.", {"class": "faint"})


def _chart(lines: Sequence[LineReading]) -> Iterator[etree._Element]:
    yield E.h2("Tag ratios, line by line (CETR)")
    if not lines:
        yield E.p("The page has no lines with text.", {"class": "faint"})
        return
    groups = _bars(lines)
    highest = max(line.smoothed for line in groups) or 1.0
    width = CHART_WIDTH / len(groups)
    bars = [
        E.rect(
            {
                "class": "bar-kept" if line.kept else "bar-dropped",
                "x": f"{i * width:.2f}",
                "y": f"{CHART_HEIGHT * (1 - line.smoothed / highest):.2f}",
                "width": f"{width:.2f}",
                "height": f"{CHART_HEIGHT * line.smoothed / highest:.2f}",
            }
        )
        for i, line in enumerate(groups)
    ]
    label = f"Smoothed tag ratios of {len(lines)} lines; the highest is {highest:.0f}."
    frame = {"class": "chart", "viewBox": f"0 0 {CHART_WIDTH} {CHART_HEIGHT}", "role": "img"}
    yield E.svg(E.title(label), *bars, frame)
    yield E.p(
        E.span({"class": "key kept"}), " content by CETR   ",
        E.span({"class": "key dropped"}), f" the rest. {label}",
        {"class": "faint"},
    )  # fmt: skip


def _bars(lines: Sequence[LineReading]) -> list[LineReading]:
    """At most MAX_BARS lines: of neighbours that share a bar, the highest."""
    step = -(-len(lines) // MAX_BARS)
    groups = (lines[start : start + step] for start in range(0, len(lines), step))
    return [max(group, key=lambda line: line.smoothed) for group in groups]


def _blocks(explanation: Explanation) -> Iterator[etree._Element]:
    method = explanation.article.method
    yield E.h2("Blocks in the order of the page")
    choices = (("all", "all"), ("only-kept", "kept"), ("only-dropped", "dropped"))
    if method.startswith("combined"):
        yield E.p(COMBINED_NOTE, {"class": "faint"})
    yield E.fieldset(
        *(
            E.label(
                E.input(type="radio", name="shown", id=key, **({"checked": ""} if i == 0 else {})),
                f" {label}",
            )
            for i, (key, label) in enumerate(choices)
        )
    )
    shown = explanation.blocks[:MAX_BLOCKS]
    yield E.ol(*_items(shown, method))
    if left := len(explanation.blocks) - len(shown):
        yield E.p(f"{left} more blocks are not shown.", {"class": "faint"})


def _items(blocks: Sequence[BlockReading], method: str) -> Iterator[etree._Element]:
    """The blocks; where many are dropped in a row, folded into one line that opens."""
    for kept, run in groupby(blocks, key=lambda block: method in block.taken_by):
        members = list(run)
        items = [_block(block, method) for block in members]
        if kept or len(members) < FOLDED_RUN:
            yield from items
        else:
            yield E.li(_folded(members, items), {"class": "dropped"})


def _folded(blocks: Sequence[BlockReading], items: Sequence[etree._Element]) -> etree._Element:
    words = sum(block.words for block in blocks)
    start = " · ".join(block.text for block in blocks)[:PREVIEW_CHARS]
    head = f"{len(blocks)} blocks dropped, {words} words: "
    summary = E.summary(head, E.span(plain(start), {"dir": "auto"}), "…")
    return E.details(summary, E.ol(*items), {"class": "run"})


def _block(block: BlockReading, method: str) -> etree._Element:
    kept = method in block.taken_by
    chips = [E.span(name, {"class": "chip"}) for name in sorted(block.taken_by - {method})]
    if method.startswith("combined"):
        chips += [E.span(_move(reason), {"class": _chip(reason)}) for reason in block.reasons]
    else:
        chips += [E.span(_complaint(each), {"class": "chip fails"}) for each in block.failed]
    return E.li(
        E.div(
            E.span(f"#{block.number}"),
            E.span("kept" if kept else "dropped", {"class": "verdict"}),
            *([E.span(f"{block.probability:.0%}")] if method.startswith("combined") else []),
            E.span(f"{block.words} word{'s' if block.words != 1 else ''}"),
            *chips,
            {"class": "head"},
        ),
        E.p(plain(block.text[:MAX_BLOCK_CHARS]), {"class": "words", "dir": "auto"}),
        E.details(
            E.summary("features"),
            E.div(*map(_reading, block.readings), {"class": "readings"}),
        ),
        {"class": f"block {'kept' if kept else 'dropped'}"},
    )


def _move(reason: Reason) -> str:
    return f"{'+' if reason.move > 0 else '−'} {reason.kind}"


def _chip(reason: Reason) -> str:
    return "chip speaks" if reason.move > 0 else "chip fails"


def _complaint(reading: FeatureReading) -> str:
    sign = ">" if reading.upper else "<"
    value, limit = _figure(reading.name, reading.value), _figure(reading.name, reading.limit)
    return f"{_LABELS[reading.name]} {value} {sign} {limit}"


def _reading(reading: FeatureReading) -> etree._Element:
    sign = "≤" if reading.upper else "≥"
    limit = f" ({sign} {_figure(reading.name, reading.limit)})"
    scale = max(reading.value, reading.limit * 2 if reading.name in _COUNTS else 1.0) or 1.0
    kind = "bar-kept" if reading.holds else "bar-fails"
    bars = E.svg(
        E.rect({"class": kind, "width": f"{100 * reading.value / scale:.1f}", "height": "5"}),
        E.rect({"class": "limit", "x": f"{100 * reading.limit / scale:.1f}",
                "width": "0.8", "height": "5"}),
        {"viewBox": "0 0 100 5", "preserveAspectRatio": "none", "aria-hidden": "true"},
    )  # fmt: skip
    return E.div(
        f"{_LABELS[reading.name]} ",
        E.b(_figure(reading.name, reading.value)),
        E.span(limit, {"class": "faint"}),
        bars,
        {"class": "reading" if reading.holds else "reading fails"},
    )


def _figure(name: str, value: float) -> str:
    if name in _COUNTS:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.0%}" if value >= 0.1 or value == 0 else f"{value:.1%}"
