"""The configuration of the dashboard."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

from markupsafe import Markup

from newscrawl.dashboard.explanations import Explainer
from newscrawl.extraction.explain_page import AskedSentence
from newscrawl.items import SourceCatalog

# A function of an article's URLs, the canonical one first, whether its page is to be fetched
# instead of looked up in an archive, and the sentence to explain first: the content of a page, as
# `explain_page.render_content` returns it, or UnexplainedError or BusyError.
Explain = Callable[[Sequence[str], bool, AskedSentence], Markup]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a dashboard.

    Every request must have the `token`, or one of the database; if there is none of either, all are
    allowed, unless `needs_token` is set because other machines have access. Requests from the
    addresses of `proxies` may name a user, who may edit if `editors` has the name. `hosts` are the
    host names in lower case under which the dashboard is reached; localhost and IP addresses are
    always allowed. `catalog` has the groups of sources. `companies` is the file that the
    editor writes. `clock` returns the time from which "today" and "the last 30 days" are counted.
    """

    database_url: str
    catalog: SourceCatalog = field(default_factory=SourceCatalog)
    companies: Path | None = None
    token: str | None = None
    needs_token: bool = False
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    editors: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    explain: Explain = field(default_factory=lambda: Explainer(None))
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    @property
    def is_closed(self) -> bool:
        """Return whether each request needs a token, whatever the database has."""
        return bool(self.token or self.proxies or self.needs_token)
