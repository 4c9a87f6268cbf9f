"""Walls that the text alone doesn't betray: long consent pages, teasers with the gate beside them.

A page that may be one is parsed again; that is one page in ten, and takes half a millisecond.
"""

import re
import tomllib
from importlib.resources import files
from typing import Final

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick
from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.html import decode, parse
from newscrawl.extraction.limits import MAX_BYTES
from newscrawl.extraction.metadata.kinds import TEASER
from newscrawl.extraction.metadata.vocabulary import words
from newscrawl.items import Article, Kind

_LISTS: Final[dict[str, list[str]]] = tomllib.loads(
    files(__package__).joinpath("walls.toml").read_text("utf-8")
)
_ACCEPT: Final = frozenset(_LISTS["accept"])
_GATES: Final = AhoCorasick(_LISTS["gates"])
# The same over bytes, whose lower() knows ASCII alone: with the first letter large, too.
_GATES_IN_BYTES: Final = BytesAhoCorasick(
    [form.encode() for gate in _LISTS["gates"] for form in {gate, gate[0].upper() + gate[1:]}]
)
_CONSENT: Final = words("phrases", "consent")
_SPACE: Final = re.compile(r"\s+")
_CONTROLS: Final = "button, [role=button], input[type=submit], input[type=button]"
# Markup that says "an article": a wall has none of it.
_ARTICLE: Final = re.compile(
    rb'"@type"\s*:\s*\[?\s*"(?:\w*Article|\w*BlogPosting|Report)"|article:published_time'
    rb'|property=["\']?og:type["\']?\s+content=["\']?article'
)
# Ours: characters at the text's beginning that are looked at for consent, and those behind the
# last paragraph that are looked at for a gate.
_LOOKED_AT: Final = 400
_BEHIND: Final = 600
# Ours: bytes of markup in which those characters stand, and characters that find a place again.
_MARKUP: Final = 32 * 1024
_END: Final = 24
# Ours: different words of consent in a text that make it worth a second look.
_WORDS_OF_CONSENT: Final = 2


def wall_before(html: bytes, encoding: str | None, article: Article) -> Kind | None:
    """Return "consent" or "paywall" where the text is one of those after all, else None."""
    if article.kind != "article" or not article.text:
        return None
    lowered = article.text[:_LOOKED_AT].lower()
    consent = sum(phrase in lowered for phrase in _CONSENT) >= _WORDS_OF_CONSENT
    short = article.paywalled is None and len(article.text.split(None, TEASER)) < TEASER
    if consent and not article.published and not _ARTICLE.search(html):
        tree = parse(decode(html[:MAX_BYTES], encoding))
        if _asks_for_consent(tree):
            return "consent"
    if short:
        page = decode(html[:MAX_BYTES], encoding)
        near = _markup_behind(page, article).lower()
        if _GATES_IN_BYTES.find_matches_as_indexes(near) and _gate_behind(page, article):
            return "paywall"
    return None


def _asks_for_consent(tree: LexborHTMLParser) -> bool:
    return any(_label(control) in _ACCEPT or _begins(control) for control in tree.css(_CONTROLS))


def _begins(control: LexborNode) -> bool:
    words_of = _label(control).split()
    return bool(words_of) and words_of[0].strip(",.!") in _ACCEPT


def _label(control: LexborNode) -> str:
    text = control.text() or control.attributes.get("value") or ""
    return _SPACE.sub(" ", text).strip().lower()[:60]


def _markup_behind(page: bytes, article: Article) -> bytes:
    """Return what stands behind the last paragraph, or the page where its end isn't found."""
    end = article.paragraphs[-1][-_END:].encode() if article.paragraphs else b""
    place = page.rfind(end) if end else -1
    return page[place : place + _MARKUP] if place >= 0 else page


def _gate_behind(page: bytes, article: Article) -> bool:
    """Whether a gate stands behind the last paragraph, in its section or beside that."""
    tree = parse(page)
    tree.strip_tags(["script", "style", "template", "noscript", "nav", "header", "footer"])
    for hidden in tree.css('[hidden], [style*="display:none"], [style*="display: none"]'):
        hidden.decompose()
    ends = [_squeezed(paragraph)[-60:] for paragraph in article.paragraphs[-2:]]
    text = _squeezed(tree.body.text(separator=" ") if tree.body else "")
    last = max(text.rfind(end) + len(end) for end in ends) if ends else -1
    found = any(end and end in text for end in ends)
    behind = text[last : last + _BEHIND] if found else ""
    return bool(_GATES.find_matches_as_indexes(behind))


def _squeezed(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower()
