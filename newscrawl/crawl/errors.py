"""Why a request failed: our exceptions, and a short cause for logs and statistics."""

from typing import NamedTuple
from urllib.parse import urlsplit

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from newscrawl.archive import MAX_FRAMING_BYTES
from newscrawl.storage.documents import clean


class UnfitAddressError(IgnoreRequest):
    """A request for a URL that no crawl may request, whatever robots.txt says."""


class PrivateAddressError(UnfitAddressError):
    """A request for an address outside the public internet."""


class UnfitUrlError(UnfitAddressError):
    """A request with another protocol than HTTP, or with credentials in the URL."""


class MissingPageError(IgnoreRequest):
    """A URL that is not in the archive of a replay."""


class DamagedPageError(IgnoreRequest):
    """A URL whose capture in the archive can't be read."""


class LargeFramingError(Exception):
    """A response of which too much is not its body: headers, framing of chunks, trailers."""


class DisallowedByRobotsError(IgnoreRequest):
    """A page that robots.txt forbids."""


class RobotsUnreachableError(IgnoreRequest):
    """A page that waits until robots.txt can be read, which may forbid it; `answered` tells that
    its server sent something else."""

    @property
    def answered(self) -> bool:
        return self.args[1:] == (True,)

    def __str__(self) -> str:
        return str(self.args[0])


# Ours: characters of a file's name, and of a whole cause, in the note of a day.
_LONGEST_NAME, _LONGEST_CAUSE = 60, 200
UNUSABLE = "unusable"
_NO_HOST, _NO_CONNECTION = "host name not found", "connection refused"
_NO_ROBOTS, _IGNORED = "robots.txt unreachable", "ignored"


class Cause(NamedTuple):
    """`kind` is counted, `reason` is logged; with `final`, a retry is useless."""

    kind: str
    reason: str
    final: bool = False

    def of(self, url: str) -> str:
        """Return what failed and where, for people: "HTTP 500 from feed.xml"."""
        parts = urlsplit(url)
        host = parts.hostname or url
        page = (parts.path.rstrip("/").rpartition("/")[2] or host)[:_LONGEST_NAME]
        if self.kind in {_NO_ROBOTS, _IGNORED}:
            text = self.reason
        elif self.kind == UNUSABLE:
            text = f"{page} {self.reason.removeprefix('it ')}"
        elif self.kind.startswith("HTTP "):
            text = f"{self.kind} from {page}"
        else:
            text = f"{self.kind}: {host if self.kind in {_NO_HOST, _NO_CONNECTION} else page}"
        return clean(" ".join(text.split()))[:_LONGEST_CAUSE]


def unusable(error: Exception) -> Cause:
    """Return the cause of a feed or sitemap that arrived and can't be used."""
    return Cause(UNUSABLE, f"it {error}")


_GONE = 410
LARGE_FRAMING = f"headers or framing of chunks larger than {MAX_FRAMING_BYTES // 1024} KiB"
_TOO_LARGE = Cause("too large", "larger than DOWNLOAD_MAXSIZE", final=True)
_BY_TYPE: dict[type[BaseException], Cause] = {
    CannotResolveHostError: Cause(_NO_HOST, "host name not found"),
    DownloadCancelledError: _TOO_LARGE,
    DownloadConnectionRefusedError: Cause(_NO_CONNECTION, "the server refuses connections"),
    DownloadFailedError: Cause("connection broke", "the connection broke"),
    DownloadTimeoutError: Cause("timeout", "no complete response within DOWNLOAD_TIMEOUT"),
    LargeFramingError: Cause("headers too large", LARGE_FRAMING),
    ResponseDataLossError: Cause("cut off", "the connection broke before the page was whole"),
}
# The messages of our own exceptions are the reasons.
_OURS: dict[type[BaseException], str] = {
    DamagedPageError: "damaged in the archive",
    DisallowedByRobotsError: "robots.txt",
    MissingPageError: "not in the archive",
    PrivateAddressError: "private address",
    UnfitUrlError: "unfit URL",
}
# Scrapy distinguishes these by their messages only.
_BY_MESSAGE = {
    "max redirections": Cause(
        "redirect loop", "more redirects than REDIRECT_MAX_TIMES", final=True
    ),
    "DOWNLOAD_MAXSIZE": _TOO_LARGE,
    "offsite": Cause("offsite", "redirected to another site", final=True),
}


def cause_of(failure: Failure) -> Cause:
    """Return why a request failed."""
    return cause_of_error(failure.value)


def cause_of_error(error: BaseException | None) -> Cause:
    """Return why a request failed, by its exception."""
    if error is None:
        return Cause("unknown", "no reason was given")
    if isinstance(error, HttpError):
        status = error.response.status
        return Cause(f"HTTP {status}", f"the server answered {status}", status == _GONE)
    if isinstance(error, RobotsUnreachableError):
        return Cause(_NO_ROBOTS, str(error))
    if isinstance(error, IgnoreRequest):
        if kind := _OURS.get(type(error)):
            return Cause(kind, str(error), final=True)
        causes = (cause for part, cause in _BY_MESSAGE.items() if part in str(error))
        return next(causes, Cause(_IGNORED, str(error)))
    if isinstance(error, DownloadFailedError) and "certificate" in str(error):
        return Cause("certificate not valid", "the certificate has expired or is not valid")
    name = type(error).__name__
    first_line = f"{name}: {error}".rstrip(": ").splitlines()[0]
    return _BY_TYPE.get(type(error)) or Cause(name, first_line)
