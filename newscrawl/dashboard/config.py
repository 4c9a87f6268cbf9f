"""The configuration of the dashboard."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, Protocol

from markupsafe import Markup

from newscrawl.extraction.explain_page import AskedSentence
from newscrawl.items import SourceCatalog
from newscrawl.mentions import Companies
from newscrawl.storage import Database
from newscrawl.storage.company_alerts import Recipient


class UnexplainedError(Exception):
    """A page that can't be explained: one line that says why."""


class SourceEditError(Exception):
    """A source that can't be added or checked: one line that says why."""


class BusyError(Exception):
    """As many pages wait for their explanation as may: one line that says so."""


# A function of an article's URLs, the canonical one first, whether its page is to be fetched
# instead of looked up in an archive, and the sentence to explain first: the content of a page, as
# `explain_page.render_content` returns it, or UnexplainedError or BusyError.
# The command line provides it, since the dashboard must not import the archive.
Explain = Callable[[Sequence[str], bool, AskedSentence], Markup]


class RematchReport(Protocol):
    """Numbers of articles searched and changed, the changes of each company, and examples."""

    @property
    def articles(self) -> int: ...
    @property
    def changed(self) -> int: ...
    @property
    def companies(self) -> Sequence[Any]: ...
    @property
    def examples(self) -> Sequence[Any]: ...


# A function of a database, a companies file or none, whether to write nothing, a function that
# is called with the number of articles done, and the articles or None for all; the command line
# provides it, too.
FindAgain = Callable[
    [Database, Path | None, bool, Callable[[int], None], Sequence[int] | None], RematchReport
]


# Functions that store a recipient, whose companies are given as in the companies, in the place of
# its former state or as a new one, or raise RecipientError; that send a test message to one and
# return why it failed, if it did; and that return those of the settings, or raise SettingError. The
# command line provides them, since the dashboard must not import the delivery.
SaveRecipient = Callable[[Database, Companies, Recipient, Recipient | None], None]
SendTest = Callable[[Database, Recipient], str]
SettingsRecipients = Callable[[], Sequence[Recipient]]


# Functions that add a site by its address, country and language, each empty if it is not known, to
# the own sources, and return its slug; and that check one by its slug, and store the result. Both
# raise SourceEditError; the command line provides them.
AddSource = Callable[[Database, str, str, str], str]
CheckSource = Callable[[Database, str], None]


def current_time() -> datetime:
    """Return the time of a request."""
    return datetime.now(UTC)


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
    explain: Explain | None = None
    find_again: FindAgain | None = None
    save_recipient: SaveRecipient | None = None
    send_test: SendTest | None = None
    settings_recipients: SettingsRecipients | None = None
    add_source: AddSource | None = None
    check_source: CheckSource | None = None
    clock: Callable[[], datetime] = current_time

    @property
    def is_closed(self) -> bool:
        """Return whether each request needs a token, whatever the database has."""
        return bool(self.token or self.proxies or self.needs_token)
