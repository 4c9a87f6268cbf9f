"""What the application is started with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class UnexplainedError(Exception):
    """A page whose blocks can't be shown: one line that says why."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The whole document that explains a page, and where the page came from."""

    document: str
    origin: str


# Takes an article's URL, and whether its page may be fetched anew where no archive has it;
# raises UnexplainedError. The command line brings it: the archive and the explanation stand
# on the dashboard's own floor.
Explain = Callable[[str, bool], Explained]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """`token` must be shown by whoever asks; None lets everybody in, for 127.0.0.1 alone.
    `hosts` are the names under which the application is asked for, in small letters: localhost
    and addresses in numbers need not be among them. `companies` is the file that the editor
    writes to."""

    database_url: str
    companies: Path | None = None
    token: str | None = None
    hosts: frozenset[str] = frozenset()
    explain: Explain | None = None
