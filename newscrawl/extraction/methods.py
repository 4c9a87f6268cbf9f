"""Every way to take the body out of a page, under one signature."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction import cetr
from newscrawl.extraction.block_features import Evidence, gather, unshown
from newscrawl.extraction.blocks import BlockPage, Candidates, candidates_of, clean, read_blocks
from newscrawl.extraction.classifier import (
    BALANCED,
    FOR_PRECISION,
    FOR_RECALL,
    combine,
    learned_network,
)
from newscrawl.extraction.features import Features, keep, limits_for, measure
from newscrawl.extraction.html import decode, parse
from newscrawl.extraction.language import Counted
from newscrawl.extraction.limits import MAX_BYTES
from newscrawl.extraction.metadata import Metadata
from newscrawl.extraction.metadata import read as read_metadata

# Ours: nothing on the page speaks for a text that only its JSON-LD has, and nothing against it.
CONFIDENCE_IN_UNSHOWN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Body:
    """The paragraphs that a method took, and how sure it is, in [0, 1]; `counted` are their words
    where it counted them."""

    paragraphs: list[str]
    confidence: float
    counted: Counted | None = None


class View:
    """A page as the methods see it: source, tree and metadata; where asked for, blocks and more."""

    def __init__(self, source: bytes, tree: LexborHTMLParser, facts: Metadata) -> None:
        self.source = source
        self.tree = tree
        self.facts = facts

    @cached_property
    def blocks(self) -> BlockPage:
        """The page's blocks under the default profile."""
        return read_blocks(self.tree)

    @cached_property
    def features(self) -> Features:
        """The eight features of its blocks."""
        return measure(self.blocks)

    @cached_property
    def candidates(self) -> Candidates:
        """Its blocks without runs of short links, which is what the combined method weighs."""
        return candidates_of(self.blocks)

    @cached_property
    def candidate_features(self) -> Features:
        """The eight features of its candidates."""
        return measure(self.candidates.page)

    @cached_property
    def evidence(self) -> Evidence:
        """All that speaks for and against its candidates."""
        return gather(self.candidates, self.candidate_features, self.facts)

    @property
    def link_words(self) -> int:
        """How many of the page's words stand within links."""
        in_candidates = int(self.candidate_features.tokens.linked.sum())
        return in_candidates + self.candidates.words_left_out

    def share(self, kept: NDArray[np.bool_]) -> float:
        """The share of the page's words outside links that stand in the kept blocks."""
        words = self.features.tokens.words - self.features.tokens.linked
        return float(words[kept].sum() / max(int(words.sum()), 1))


def paragraphs(page: BlockPage, kept: NDArray[np.bool_]) -> list[str]:
    """The texts of the kept blocks of a page, as a person would read them."""
    texts = (clean(page.raw[index]) for index in np.flatnonzero(kept).tolist())
    return [text for text in texts if text]


def look(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
) -> View:
    """Decode and parse a page and read its metadata: all that the methods share.

    Of a page beyond the limits (`parsing`, `blocks`) the beginning is read.
    """
    source = decode(html[:MAX_BYTES], encoding)
    tree = parse(source)
    return View(source, tree, read_metadata(tree, url, language=language))


def _combined(threshold: float) -> Callable[[View], Body]:
    def take(view: View) -> Body:
        if stated := unshown(view.facts, view.blocks):
            return Body(stated, CONFIDENCE_IN_UNSHOWN)
        tokens = view.candidate_features.tokens
        choice = combine(view.evidence, tokens.words, learned_network(), threshold)
        kept = choice.kept
        counted = Counted(int(tokens.words[kept].sum()), tokens.stop_words[kept].sum(axis=0))
        return Body(paragraphs(view.candidates.page, kept), choice.confidence, counted)

    return take


def _fe(view: View) -> Body:
    kept = keep(view.features, limits_for(view.features))
    return Body(paragraphs(view.blocks, kept), view.share(kept))


def _pr(view: View) -> Body:
    """All blocks that pruning and removal leave (Ziegler & Skubacz, Table 1)."""
    return Body(paragraphs(view.blocks, np.ones(len(view.blocks), dtype=bool)), 1.0)


def _tb(view: View) -> Body:
    """All text nodes of the tree, scripts and styles too (Ziegler & Skubacz, Table 1)."""
    root = view.tree.root
    nodes = () if root is None else root.traverse(include_text=True)
    texts = (" ".join((node.text_content or "").split()) for node in nodes if node.is_text_node)
    return Body([text for text in texts if text], 1.0)


def _cetr(variant: cetr.Variant) -> Callable[[View], Body]:
    def take(view: View) -> Body:
        lines = cetr.read_lines(view.source.decode("utf-8", "replace"))
        kept = cetr.keep_lines(lines, variant)
        share = float(lines.chars[kept].sum() / max(int(lines.chars.sum()), 1))
        return Body(cetr.paragraphs(lines, kept), share)

    return take


METHODS: Final[dict[str, Callable[[View], Body]]] = {
    "combined": _combined(BALANCED),
    "combined-precision": _combined(FOR_PRECISION),
    "combined-recall": _combined(FOR_RECALL),
    "fe": _fe,
    "pr": _pr,
    "tb": _tb,
    **{variant: _cetr(variant) for variant in get_args(cetr.Variant)},
}
