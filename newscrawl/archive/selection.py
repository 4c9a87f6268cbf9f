"""Which archived pages are wanted."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date
from urllib.parse import urlsplit

from newscrawl.archive.captures import Capture
from newscrawl.items import Document

_PAGES = {"", "text/html", "application/xhtml+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Languages (ISO 639-1), hosts with all below them, first and last day; none is all.

    The day is that of publication, or of the capture where the page gives none.
    """

    languages: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    since: date | None = None
    until: date | None = None

    def facts(self) -> Mapping[str, object]:
        """The same for JSON, equal where the selections are equal."""
        return {
            "languages": sorted(self.languages),
            "hosts": sorted(self.hosts),
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
        }

    def has_host(self, url: str) -> bool:
        """Whether the URL is of one of the hosts."""
        if not self.hosts:
            return True
        labels = (urlsplit(url).hostname or "").split(".")
        return any(".".join(labels[start:]) in self.hosts for start in range(len(labels)))

    def may_want(self, capture: Capture) -> bool:
        """Whether there is any use in reading the page. No page tells of days after its capture."""
        early = self.since and capture.fetched_at.astimezone(UTC).date() < self.since
        return not early and self.has_host(capture.url)

    def wants(self, document: Document) -> bool:
        """Whether the article is one of those asked for."""
        article = document.article
        if self.languages and article.language not in self.languages:
            return False
        day = (article.published or document.page.fetched_at).astimezone(UTC).date()
        return (self.since is None or day >= self.since) and (
            self.until is None or day <= self.until
        )


def is_page(capture: Capture) -> bool:
    """Whether the capture may hold an article: a page that the server gave."""
    return capture.status == 200 and capture.media_type in _PAGES
