"""The way of a page: from its bytes to its article.

`parse_page` and `extract_from` name the steps in their order (`STEPS`); a `Clock` times them.
"""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from newscrawl.extraction.embedded import with_embedded_text
from newscrawl.extraction.html import decode, parse
from newscrawl.extraction.kinds import decide_kind
from newscrawl.extraction.language import decide_language
from newscrawl.extraction.limits import MAX_BYTES, within_limits
from newscrawl.extraction.metadata.reader import read_metadata
from newscrawl.extraction.methods import METHODS, ParsedPage, of_other_page
from newscrawl.extraction.template_memory import without_templates
from newscrawl.items import Article, Kind, Memory

STEPS: Final = (
    "decode", "limits", "parse", "metadata", "blocks", "features", "method", "kind",
)  # fmt: skip
_OTHER_PAGES: Final[frozenset[Kind]] = frozenset({"front", "other"})


@dataclass(slots=True)
class Clock:
    """The seconds that each step of a page took."""

    seconds: dict[str, float] = field(default_factory=dict)
    start: float = field(default_factory=perf_counter)

    def lap(self, step: str) -> None:
        """Count the time since the step before for this one."""
        now = perf_counter()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self.start
        self.start = now


def extract(
    html: bytes | bytearray | memoryview | str | None,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
    method: str = "combined",
    memory: Memory | None = None,
) -> Article:
    """Return the article of a page. No page raises; an empty one gives an empty text, and so does
    None, which some HTTP clients return for an empty body.

    `encoding` is the charset of the HTTP header, `language` the site's language. `method` is one of
    `methods.METHODS`; another one raises ValueError. Paragraphs that `memory` knows from other
    pages of the site are left out (`template_memory.with_page` makes a memory).
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; use one of {', '.join(METHODS)}")
    page = parse_page(html, url, encoding=encoding, language=language)
    return extract_from(page, url, method=method, memory=memory)


def parse_page(
    html: bytes | bytearray | memoryview | str | None,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
    clock: Clock | None = None,
) -> ParsedPage:
    """Decode and parse a page and read its metadata, which is what all methods share.

    Of a page beyond the limits (`limits`, `blocks`) the beginning is read.
    """
    clock = clock or Clock()
    if isinstance(html, (bytearray, memoryview)):
        html = bytes(html)
    if not isinstance(html, (bytes, str, type(None))):
        raise TypeError(f"a page is bytes or str, not {type(html).__name__}")
    source = decode((html or b"")[:MAX_BYTES], encoding)
    clock.lap("decode")
    limited = within_limits(source)
    clock.lap("limits")
    tree = parse(source, limited)
    clock.lap("parse")
    metadata = read_metadata(tree, url, language=language)
    clock.lap("metadata")
    return ParsedPage(source, tree, metadata)


def extract_from(
    page: ParsedPage,
    url: str | None = None,
    *,
    method: str = "combined",
    memory: Memory | None = None,
    clock: Clock | None = None,
) -> Article:
    """Return the article of a page that is already parsed; otherwise like `extract`."""
    clock = clock or Clock()
    _ = page.blocks
    clock.lap("blocks")
    _ = page.candidate_features
    clock.lap("features")
    body = METHODS[method](page)
    if embedded := with_embedded_text(page, body.paragraphs):
        page, body = embedded, METHODS[method](embedded)
    paragraphs = without_templates(body.paragraphs, memory) if memory else body.paragraphs
    clock.lap("method")
    kind = decide_kind(page, paragraphs, url)
    if method == "combined" and kind in _OTHER_PAGES:
        body = of_other_page(page)
        paragraphs = without_templates(body.paragraphs, memory) if memory else body.paragraphs
    word_counts = body.word_counts if len(paragraphs) == len(body.paragraphs) else None
    text = "\n\n".join(paragraphs)
    language = decide_language(page.metadata.language, text, word_counts)
    clock.lap("kind")
    metadata = page.metadata
    return Article(
        url=url,
        title=metadata.title,
        text=text,
        paragraphs=tuple(paragraphs),
        authors=metadata.authors,
        published=metadata.published,
        modified=metadata.modified,
        language=language,
        section=metadata.section,
        site_name=metadata.site_name,
        image=metadata.image,
        paywalled=metadata.paywalled,
        kind=kind,
        method=method,
        confidence=body.confidence,
    )
