"""Template memory: texts that a site repeats from page to page belong to no article.

On a single page, a disclaimer or a call to subscribe can't be distinguished from an article's last
paragraph; with a second and a third page with the same words, it can. The memory is an explicit
value: a page read with the same memory gives the same article, in any order of pages.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from typing import Final

from newscrawl.items import Memory, Mention
from newscrawl.text import weight_of

EMPTY: Final = Memory()

# A text is a template's from this number of pages on, and this share of all pages: a paragraph
# of background that a running story repeats is on some pages of hundreds. The first is fitted
# on the development corpus by `python -m benchmarks.template_memory`, the second ours.
MIN_PAGES: Final = 3
MIN_SHARE: Final = 0.02
MIN_TEXT_LENGTH: Final = 6  # characters, weighed; ours: shorter ones are cells of tables
# Ours. Texts that are no longer seen are forgotten: all counts are halved after this number of
# pages. Of a page and in a memory there are at most these numbers of texts, some 100 KB.
HALVED_AT: Final = 400
MAX_TEXTS_OF_PAGE: Final = 1000
MAX_TEXTS: Final = 5000


def fingerprints(texts: Iterable[str]) -> tuple[int, ...]:
    """Return a number of 64 bits for each different text of a page that isn't too short."""
    different = dict.fromkeys(text for text in texts if _is_long(text))
    return tuple(_fingerprint(text) for text in islice(different, MAX_TEXTS_OF_PAGE))


def with_page(memory: Memory, page: Collection[int]) -> Memory:
    """Return the memory after one more page, of whose blocks these are the fingerprints.

    It must be a new page: one that is read again would make its own article look like a template.
    """
    return with_pages(memory, [page])


def with_pages(memory: Memory, pages: Iterable[Collection[int]]) -> Memory:
    """Return the memory after more pages, in little more time than for one. The rarest texts are
    forgotten after the last page."""
    pages_by_text, count = dict(memory.seen), memory.pages
    for page in pages:
        for fingerprint in page:
            # The block seen last is the last one.
            pages_by_text[fingerprint] = pages_by_text.pop(fingerprint, 0) + 1
        count += 1
        if count >= HALVED_AT:
            pages_by_text, count = (
                {key: count // 2 for key, count in pages_by_text.items() if count > 1},
                count // 2,
            )
    return Memory(pages=count, seen=_keep_commonest(pages_by_text))


def templates(memory: Memory) -> Memory:
    """Return the part of a memory that reading needs, a fraction of it, to be sent to processes."""
    least = _least(memory)
    return replace(memory, seen={key: n for key, n in memory.seen.items() if n >= least})


def without_templates(paragraphs: Sequence[str], memory: Memory) -> list[str]:
    """Return the paragraphs that are not known from other pages; all where none would be left."""
    least = _least(memory)
    repeated = [
        text
        for text in paragraphs
        if not _is_long(text) or memory.seen.get(_fingerprint(text), 0) < least
    ]
    return repeated or list(paragraphs)


def outside_templates(mentions: Iterable[Mention], text: str, memory: Memory) -> list[Mention]:
    """Return the mentions of a stored text that are in none of its paragraphs that the memory knows
    from other pages, as if it had been read with this memory."""
    if not memory.seen:
        return list(mentions)
    paragraphs = text.split("\n\n")
    article = set(without_templates(paragraphs, memory))
    spans, end = [], -2
    for paragraph in paragraphs:
        start, end = end + 2, end + 2 + len(paragraph)
        if paragraph not in article:
            spans.append((start, end))
    return [
        mention
        for mention in mentions
        if mention.section == "title"
        or not any(start <= mention.start < end for start, end in spans)
    ]


def _is_long(text: str) -> bool:
    return len(text) >= MIN_TEXT_LENGTH or weight_of(text) >= MIN_TEXT_LENGTH


def _least(memory: Memory) -> float:
    return max(MIN_PAGES, MIN_SHARE * memory.pages)


def _keep_commonest(pages_by_text: dict[int, int]) -> dict[int, int]:
    """Leave out the rarest texts beyond the limit, of equally rare ones those seen longest ago."""
    excess = len(pages_by_text) - MAX_TEXTS
    if excess <= 0:
        return pages_by_text
    dropped = set(sorted(pages_by_text, key=pages_by_text.__getitem__)[:excess])
    return {key: count for key, count in pages_by_text.items() if key not in dropped}


def _fingerprint(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
