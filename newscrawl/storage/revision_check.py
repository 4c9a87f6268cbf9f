"""Whether a new version of a stored article would make it worse: one rule for all that revise.

A crawl's revisits, the ingestion of archives and `newscrawl reextract` all ask it. A version that
it names a reason against is kept in the quarantine, not applied.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args
from urllib.parse import urlsplit

from newscrawl.items import Barrier
from newscrawl.storage.documents import BODY
from newscrawl.storage.words import Wording, folded_words, resemblance, writes_no_blanks

# "no_article": a consent page, a login page, an error or a front stands there now. "text_shrank":
# most of the text is gone. "text_replaced": nothing of headline and text is left. "headline_lost":
# the headline is gone, or it is the site's name. "layout_changed": the watch has found that the
# source's pages are built otherwise.
Reason = Literal["no_article", "text_shrank", "text_replaced", "headline_lost", "layout_changed"]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

# A new version keeps so much of the old one's characters. Corrections do: from one version of an
# article to the next 2.0 sentences go and 3.3 come (NewsEdits, arXiv:2104.09647: 6.8 and 10.9
# million sentences between 4.6 million versions of 1.3 million articles), where an article of the
# development corpus has 3,600 characters (median of 686). Two careful readings of one page
# (combined-precision, combined-recall) differ by more in 1.9 % of them; a shell of 155 characters
# is below it for 98.8 %, one of 500 for 88 %. Between a half and a third not much is decided:
# 1.3 %, 97.4 %, 78 %.
KEPT_PART: Final = 0.5
# Ours: when a live blog is over, its entries give way to a summary.
KEPT_PART_OF_LIVE: Final = 0.2
# Characters: a short item may lose a sentence or two of its three, as corrections do.
SMALL_LOSS: Final = 250
# Ours: letters of a word that says something of an article; shorter ones stand in any headline.
_TELLING: Final = 4
_PARTS: Final = re.compile(r"\s*[|–—·:»•]\s*|\s+-\s+")


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of an article, stored or new. `rank` says how much of the article it holds
    (documents.rank); `barrier` is the page that stood in its place."""

    title: str | None
    text: str
    rank: int
    kind: str
    access: str = "open"
    barrier: Barrier | None = None

    @cached_property
    def wording(self) -> Wording:
        """The version's words."""
        return Wording.of(self.title, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContext:
    """What is known of the source: the names under which its site goes, and whether the watch has
    found that its layout changed before the new version was fetched."""

    names: tuple[str, ...] = ()
    layout_changed: bool = False


def reason_against(stored: Version, new: Version, source: SourceContext) -> Reason | None:
    """Return why the new version, which says something else, would make the stored one worse."""
    if new.rank < stored.rank:
        return _reason_against_less(stored, new)
    if stored.rank == BODY:
        if _has_shrunk(stored, new):
            return "text_shrank"
        if _has_lost_headline(stored, new, source.names):
            return "headline_lost"
        if _is_replaced(stored, new):
            return "text_replaced"
    # What a feed says of an article is not taken out of a page.
    return "layout_changed" if source.layout_changed and new.access == "open" else None


def _reason_against_less(stored: Version, new: Version) -> Reason | None:
    """Return None for an article that went behind a paywall or is refused to us: that is its
    publisher's right and no fault. What was read openly stays all the same."""
    if stored.rank < BODY:
        return None
    if new.barrier is None:
        return "no_article" if new.access == "open" else None
    own = new.barrier.declared or _share_words(stored.title, new.barrier.title)
    return None if new.barrier.kind == "paywall" and own else "no_article"


def _has_shrunk(stored: Version, new: Version) -> bool:
    live = "live" in {stored.kind, new.kind}
    part = KEPT_PART_OF_LIVE if live else KEPT_PART
    before, after = len(stored.text), len(new.text)
    return after < part * before and before - after >= SMALL_LOSS


def _has_lost_headline(stored: Version, new: Version, names: Iterable[str]) -> bool:
    if not folded_words(stored.title or ""):
        return False
    known = {_folded(name) for name in names} - {""}
    return _is_name(new.title, known) and not _is_name(stored.title, known)


def _is_name(title: str | None, names: set[str]) -> bool:
    """Whether a headline says no more than the site's name, or nothing at all."""
    parts = [_folded(part) for part in _PARTS.split(title or "")]
    return all(part in names for part in parts if part) or _folded(title or "") in names


def _folded(name: str) -> str:
    return "".join(word for word in folded_words(name) if word not in {"the", "www"})


def _is_replaced(stored: Version, new: Version) -> bool:
    before, after = stored.wording.sketch, new.wording.sketch
    if not stored.title or not new.title or before is None or after is None:
        return False
    return not _share_words(stored.title, new.title) and not resemblance(before, after)


def _share_words(one: str | None, other: str | None) -> bool:
    return not _telling(one).isdisjoint(_telling(other))


def _telling(title: str | None) -> set[str]:
    words = folded_words(title or "")
    return {word for word in words if len(word) >= _TELLING or writes_no_blanks(word)}


def names_of_site(name: str, slug: str, home: str) -> tuple[str, ...]:
    """Return the names that a headline may have where it is none: the site's, in words and as an
    address."""
    try:
        host = (urlsplit(home).hostname or "").removeprefix("www.")
    except ValueError:
        host = ""
    return tuple(filter(None, (name, slug, host, host.partition(".")[0])))
