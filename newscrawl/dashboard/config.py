"""What the application is started with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


class UnexplainedError(Exception):
    """A page whose blocks can't be shown: one line that says why."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The whole document that explains a page, with one style sheet in it and no script."""

    document: str


# Takes an article's URLs, the canonical one first, and whether its page is to be fetched anew
# instead of looked up in an archive; raises UnexplainedError. The command line brings it, for
# archive and explanation stand on the dashboard's own floor.
Explain = Callable[[Sequence[str], bool], Explained]


def current_time() -> datetime:
    """Return the moment at which a page is asked for."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """`token` must be shown by whoever asks; None lets everybody in, for 127.0.0.1 alone.
    `hosts` are the names under which the application is asked for, in small letters: localhost
    and addresses in numbers need not be among them. `companies` is the file that the editor
    writes to. `clock` gives the moment that "today" and "the last 30 days" are counted from."""

    database_url: str
    companies: Path | None = None
    token: str | None = None
    hosts: frozenset[str] = frozenset()
    explain: Explain | None = None
    clock: Callable[[], datetime] = current_time
