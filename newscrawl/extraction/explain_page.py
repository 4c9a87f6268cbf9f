"""The page of `newscrawl explain`: one file, no scripts, nothing of the explained page active."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import exp, log

from markupsafe import Markup

from newscrawl.extraction.explain import (
    TAKEN_SHARE,
    BlockReading,
    Explanation,
    LineReading,
    Reason,
    explain,
    share_of,
)
from newscrawl.extraction.metadata.places import Evidence
from newscrawl.items import Section
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSentence:
    """The sentence whose block is explained first: of the body, or the headline. `mentions` say for
    each company in it by which rule it counts; `others` are further sentences that count; `back` is
    the address of the article's page, and `proof` that of the proof from which the explanation was
    opened, if from one; `place` is that of its mention on the article's page, if it may be
    corrected.

    With `left_out`, a company, the first dropped block is explained in which `finds` finds it,
    which must be fit to be sent to another process."""

    text: str = ""
    section: Section = "body"
    mentions: tuple[str, ...] = ()
    others: tuple["AskedSentence", ...] = ()
    back: str = ""
    proof: str = ""
    place: str = ""
    left_out: str = ""
    finds: Callable[[str], bool] | None = None


NO_SENTENCE = AskedSentence()


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


def render(explanation: Explanation, question: AskedSentence = NO_SENTENCE) -> str:
    """Return the whole HTML document; the explanation of a sentence comes first."""
    style = style_sheet()
    policy = (
        f"default-src 'none'; style-src {content_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    return (
        html_templates(TEMPLATES)
        .get_template("explain.html")
        .render(
            style=style,
            policy=policy,
            title=_title(explanation),
            content=render_content(explanation, question),
        )
    )


def style_sheet() -> Markup:
    """Return the style sheet of the document; its `:scope` is the part that is explained."""
    return Markup((TEMPLATES / "explain.css").read_text("utf-8"))  # noqa: S704 - a file of ours


def _title(explanation: Explanation) -> str:
    return explanation.article.title or "A page without a headline"


def explained_content(
    html: bytes, url: str, encoding: str | None, question: AskedSentence = NO_SENTENCE
) -> Markup:
    """Explain a page, and return the body of the document; for a process with limits."""
    return render_content(explain(html, url, encoding=encoding), question)


def render_content(explanation: Explanation, question: AskedSentence = NO_SENTENCE) -> Markup:
    """Return the body of the document."""
    article = explanation.article
    shown = explanation.blocks[:MAX_BLOCKS]
    bars = _bars(explanation.lines)
    return Markup(  # noqa: S704 - the template escapes
        html_templates(TEMPLATES)
        .get_template("explain_content.html")
        .render(
            title=_title(explanation),
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
            asked=question,
            blocks=len(explanation.blocks),
            shown=len(shown),
            deciding=_deciding,
            answer=_answer(explanation, question),
            block_of=partial(_answer, explanation),
        )
    )


def _answer(explanation: Explanation, question: AskedSentence) -> BlockReading | None:
    if question.finds is not None:
        method, finds = explanation.article.method, question.finds
        dropped = (
            block for block in explanation.blocks[:MAX_BLOCKS] if method not in block.taken_by
        )
        return next((block for block in dropped if finds(block.text)), None)
    return block_of(explanation.blocks, question.text) if question.section == "body" else None


def block_of(blocks: Sequence[BlockReading], sentence: str) -> BlockReading | None:
    """Return the block that holds a sentence, or the one with most of its shingles, at least half;
    None if no block has it."""
    plain = _plain(sentence)
    if not plain:
        return None
    for block in blocks:
        if plain in _plain(block.text):
            return block
    best = max(blocks, key=lambda block: share_of(sentence, block.text), default=None)
    return best if best and share_of(sentence, best.text) >= TAKEN_SHARE else None


def _deciding(block: BlockReading) -> list[tuple[Reason, str]]:
    """Return the reasons without which the probability of a block, as it is shown, would be another
    one, with that one."""
    probability = min(max(block.probability, 1e-12), 1 - 1e-12)
    odds = log(probability / (1 - probability))
    without = [(reason, f"{1 / (1 + exp(reason.move - odds)):.0%}") for reason in block.reasons]
    return [(reason, shown) for reason, shown in without if shown != f"{block.probability:.0%}"]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _facts(explanation: Explanation) -> Mapping[str, str]:
    article = explanation.article
    blocks_chosen = sum(article.method in block.taken_by for block in explanation.blocks)
    return {
        "kind of page": article.kind,
        "confidence": f"{article.confidence:.0%}",
        "blocks kept": f"{blocks_chosen} of {len(explanation.blocks)}",
        "words": str(len(article.text.split())),
        "language": article.language or "unknown",
        "published": _with_evidence(
            article.published.isoformat(" ", "minutes") if article.published else "",
            explanation.metadata.date_evidence,
        ),
        "authors": _with_evidence(", ".join(article.authors), explanation.metadata.author_evidence),
        "page size": f"{explanation.size / 1024:.0f} KiB",
    }


def _with_evidence(value: str, evidence: Evidence) -> str:
    """Return a value with its rank and the place that won: 3 November (stated: metas)."""
    reason = ": ".join(filter(None, (evidence.rank, evidence.place)))
    return f"{value} ({reason})" if value and reason else value or "–"


def _bars(lines: Sequence[LineReading]) -> list[LineReading]:
    """Return at most MAX_BARS lines: of neighbours that share a bar, the highest."""
    step = -(-len(lines) // MAX_BARS) or 1
    groups = (lines[start : start + step] for start in range(0, len(lines), step))
    return [max(group, key=lambda line: line.smoothed) for group in groups]


def _runs(blocks: Sequence[BlockReading], method: str) -> Iterator[BlockRun]:
    for is_chosen, run in groupby(blocks, key=lambda block: method in block.taken_by):
        members = list(run)
        yield BlockRun(members, folded=not is_chosen and len(members) >= MIN_FOLDED)
