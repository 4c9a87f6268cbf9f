"""Measurements behind the figures of CETR: lambda of CETR-TM, one page's tag ratios.

Each returns plain numbers for a result file; `training.plots` draws from that file alone.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from newscrawl.extraction import cetr
from newscrawl.extraction.html import decode
from newscrawl.training import metrics
from newscrawl.training.corpus import GoldPage
from newscrawl.training.metrics import SHINGLE_LENGTH, harmonic_mean
from newscrawl.training.scores import compare

LAMBDAS = np.linspace(0.0, 2.0, 21)  # the axis of Figure 6 of Weninger et al.
CONTENT_SHARE = 0.5  # of a line's shingles in the gold text, to be called content


def cetr_lambda(
    pages: Sequence[GoldPage], on_page: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Word precision and recall of CETR-TM against its threshold coefficient, mean of pages."""
    sums = np.zeros((len(LAMBDAS), 2))
    for page in pages:
        lines = cetr.read_lines(decode(page.html).utf8.decode("utf-8", "replace"))
        for row, value in enumerate(LAMBDAS):
            tuning = replace(cetr.PAPER, threshold=float(value))
            kept = cetr.keep_lines(lines, "cetr-tm", tuning)
            compared = compare(page, "\n\n".join(cetr.paragraphs(lines, kept)), None)
            both = metrics.occ_eval(compared.found_bag, compared.gold_bag)
            sums[row] += both.precision, both.recall
        on_page()
    means = sums / max(len(pages), 1)
    return {
        "lambda": LAMBDAS.round(6).tolist(),
        "precision": means[:, 0].tolist(),
        "recall": means[:, 1].tolist(),
        "f1": [harmonic_mean(precision, recall) for precision, recall in means],
        "pages": len(pages),
    }


def cetr_page(page: GoldPage) -> dict[str, Any]:
    """Tag ratios, smoothed, derivatives, and which lines the gold text says are content."""
    lines = cetr.read_lines(decode(page.html).utf8.decode("utf-8", "replace"))
    ratios = cetr.tag_ratios(lines)
    smoothed = cetr.smooth(ratios)
    gold = _shingles(metrics.words(page.text or ""))
    return {
        "page": page.id,
        "ratios": ratios.tolist(),
        "smoothed": smoothed.tolist(),
        "derivatives": cetr.derivatives(smoothed).tolist(),
        "content": [_is_content(metrics.words(text), gold) for text in lines.text],
    }


def _is_content(words: Sequence[str], gold: Counter[tuple[str, ...]]) -> bool:
    found = _shingles(words)
    return bool(found) and (found & gold).total() >= CONTENT_SHARE * found.total()


def _shingles(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Four-word shingles; a shorter line has none and is no content."""
    return Counter(zip(*(words[start:] for start in range(SHINGLE_LENGTH)), strict=False))
