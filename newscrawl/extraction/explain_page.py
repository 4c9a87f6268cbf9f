"""The page of `newscrawl explain`: one file, no scripts, nothing of the explained page active."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from newscrawl.extraction.explain import BlockReading, Explanation, LineReading
from newscrawl.templating import TEMPLATES, content_hash, html_templates, safe_url

# All ours: blocks that are shown (a longer page says how many are left out), characters of each,
# blocks dropped in a row that share a line, characters of its preview, and bars of the chart.
MAX_BLOCKS = 1000
MAX_BLOCK_CHARS = 4000
MIN_FOLDED = 4
PREVIEW_CHARS = 160
MAX_BARS = 300
CHART_WIDTH, CHART_HEIGHT = 600, 120

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


@dataclass(frozen=True, slots=True)
class BlockRun:
    """Blocks in a row that are all kept or all dropped; many dropped ones are folded."""

    blocks: Sequence[BlockReading]
    folded: bool

    @property
    def words(self) -> int:
        return sum(block.words for block in self.blocks)

    @property
    def preview(self) -> str:
        return " · ".join(block.text for block in self.blocks)[:PREVIEW_CHARS]


def render(explanation: Explanation) -> str:
    """Return the whole HTML document."""
    article = explanation.article
    style = (TEMPLATES / "explain.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; style-src {content_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    shown = explanation.blocks[:MAX_BLOCKS]
    bars = _bars(explanation.lines)
    return (
        html_templates(TEMPLATES)
        .get_template("explain.html")
        .render(
            style=Markup(style),  # noqa: S704 - a file of ours
            policy=policy,
            title=article.title or "A page without a headline",
            article=article,
            is_web=safe_url(article.url) is not None,
            facts=_facts(explanation),
            method=article.method,
            methods=explanation.methods,
            combined=article.method.startswith("combined"),
            lines=len(explanation.lines),
            bars=bars,
            highest=max((bar.smoothed for bar in bars), default=0.0) or 1.0,
            chart_width=CHART_WIDTH,
            chart_height=CHART_HEIGHT,
            runs=list(_runs(shown, article.method)),
            left=len(explanation.blocks) - len(shown),
            labels=_LABELS,
            counts=_COUNTS,
            max_chars=MAX_BLOCK_CHARS,
        )
    )


def _facts(explanation: Explanation) -> Mapping[str, str]:
    article = explanation.article
    kept = sum(article.method in block.taken_by for block in explanation.blocks)
    return {
        "kind of page": article.kind,
        "confidence": f"{article.confidence:.0%}",
        "blocks kept": f"{kept} of {len(explanation.blocks)}",
        "words": str(len(article.text.split())),
        "language": article.language or "unknown",
        "published": article.published.isoformat(" ", "minutes") if article.published else "–",
        "authors": ", ".join(article.authors) or "–",
        "page size": f"{explanation.size / 1024:.0f} KiB",
    }


def _bars(lines: Sequence[LineReading]) -> list[LineReading]:
    """Return at most MAX_BARS lines: of neighbours that share a bar, the highest."""
    step = -(-len(lines) // MAX_BARS) or 1
    groups = (lines[start : start + step] for start in range(0, len(lines), step))
    return [max(group, key=lambda line: line.smoothed) for group in groups]


def _runs(blocks: Sequence[BlockReading], method: str) -> Iterator[BlockRun]:
    for kept, run in groupby(blocks, key=lambda block: method in block.taken_by):
        members = list(run)
        yield BlockRun(members, folded=not kept and len(members) >= MIN_FOLDED)
