"""The methods that take the body out of a page, under one signature."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction import cetr
from newscrawl.extraction.block_features import BlockFeatures, block_features, text_of_json_ld
from newscrawl.extraction.blocks import (
    BlockPage,
    Candidates,
    clean,
    find_candidates,
    read_blocks,
    without_repetitions,
)
from newscrawl.extraction.classifier import (
    BALANCED,
    FOR_PRECISION,
    FOR_RECALL,
    combine,
    load_network,
)
from newscrawl.extraction.features import Features, keep, limits_for, measure
from newscrawl.extraction.html import decode, parse
from newscrawl.extraction.language import WordCounts
from newscrawl.extraction.limits import MAX_BYTES
from newscrawl.extraction.metadata import Metadata, read_metadata

# Ours: nothing on the page speaks for a text that only its JSON-LD has, and nothing against it.
CONFIDENCE_IN_JSON_LD: Final = 0.5


@dataclass(frozen=True, slots=True)
class Body:
    """The paragraphs that a method chose, and its confidence in them, in [0, 1]; `word_counts` are
    those of the paragraphs where the method counted words."""

    paragraphs: list[str]
    confidence: float
    word_counts: WordCounts | None = None


class ParsedPage:
    """A page as the methods see it: source, tree and metadata; blocks and features on demand."""

    def __init__(self, source: bytes, tree: LexborHTMLParser, metadata: Metadata) -> None:
        self.source = source
        self.tree = tree
        self.metadata = metadata

    @cached_property
    def blocks(self) -> BlockPage:
        """The page's blocks under the default profile."""
        return read_blocks(self.tree)

    @cached_property
    def features(self) -> Features:
        """The eight features of the blocks."""
        return measure(self.blocks)

    @cached_property
    def candidates(self) -> Candidates:
        """The blocks without runs of short links, which the combined method weighs."""
        return find_candidates(self.blocks)

    @cached_property
    def candidate_features(self) -> Features:
        """The eight features of the candidates."""
        return measure(self.candidates.page)

    @cached_property
    def block_features(self) -> BlockFeatures:
        """All features of the candidates."""
        return block_features(self.candidates, self.candidate_features, self.metadata)

    @property
    def link_words(self) -> int:
        """The number of the page's words that stand within links."""
        in_candidates = int(self.candidate_features.tokens.linked.sum())
        return in_candidates + self.candidates.words_left_out


def parse_page(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
) -> ParsedPage:
    """Decode and parse a page and read its metadata, which is what all methods share.

    Of a page beyond the limits (`limits`, `blocks`) the beginning is read.
    """
    source = decode(html[:MAX_BYTES], encoding)
    tree = parse(source)
    return ParsedPage(source, tree, read_metadata(tree, url, language=language))


def _paragraphs(page: BlockPage, kept: NDArray[np.bool_]) -> list[str]:
    """Return the texts of the kept blocks of a page, as a person would read them."""
    texts = (clean(page.raw[index]) for index in np.flatnonzero(kept).tolist())
    return [text for text in texts if text]


def _combined(threshold: float) -> Callable[[ParsedPage], Body]:
    def method(page: ParsedPage) -> Body:
        if stated := text_of_json_ld(page.metadata, page.blocks):
            return Body(stated, CONFIDENCE_IN_JSON_LD)
        tokens = page.candidate_features.tokens
        choice = combine(page.block_features, tokens.words, load_network(), threshold)
        kept = without_repetitions(page.candidates.page, choice.kept)
        word_counts = WordCounts(int(tokens.words[kept].sum()), tokens.stop_words[kept].sum(axis=0))
        return Body(_paragraphs(page.candidates.page, kept), choice.confidence, word_counts)

    return method


def _fe(page: ParsedPage) -> Body:
    """Keep blocks within all eight limits; confidence is their share of the words outside links."""
    kept = keep(page.features, limits_for(page.features))
    words = page.features.tokens.words - page.features.tokens.linked
    share = float(words[kept].sum() / max(int(words.sum()), 1))
    return Body(_paragraphs(page.blocks, kept), share)


def _pr(page: ParsedPage) -> Body:
    """Keep all blocks that pruning and removal leave (Ziegler & Skubacz, Table 1)."""
    return Body(_paragraphs(page.blocks, np.ones(len(page.blocks), dtype=bool)), 1.0)


def _tb(page: ParsedPage) -> Body:
    """Keep all text nodes of the tree, scripts and styles too (Ziegler & Skubacz, Table 1)."""
    root = page.tree.root
    nodes = () if root is None else root.traverse(include_text=True)
    texts = (" ".join((node.text_content or "").split()) for node in nodes if node.is_text_node)
    return Body([text for text in texts if text], 1.0)


def _cetr(variant: cetr.Variant) -> Callable[[ParsedPage], Body]:
    def method(page: ParsedPage) -> Body:
        lines = cetr.read_lines(page.source.decode("utf-8", "replace"))
        kept = cetr.keep_lines(lines, variant)
        share = float(lines.chars[kept].sum() / max(int(lines.chars.sum()), 1))
        return Body(cetr.paragraphs(lines, kept), share)

    return method


METHODS: Final[dict[str, Callable[[ParsedPage], Body]]] = {
    "combined": _combined(BALANCED),
    "combined-precision": _combined(FOR_PRECISION),
    "combined-recall": _combined(FOR_RECALL),
    "fe": _fe,
    "pr": _pr,
    "tb": _tb,
    **{variant: _cetr(variant) for variant in get_args(cetr.Variant)},
}
