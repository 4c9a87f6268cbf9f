"""Why a request failed: our exceptions, and a short cause for logs and statistics."""

from typing import NamedTuple

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

from newscrawl.sources.fetcher import LARGE_FRAMING


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
    """A page that waits until robots.txt can be read, which may forbid it."""


class Cause(NamedTuple):
    """`kind` is counted, `reason` is logged; with `final`, a retry is useless."""

    kind: str
    reason: str
    final: bool = False


_GONE = 410
_TOO_LARGE = Cause("too large", "larger than DOWNLOAD_MAXSIZE", final=True)
_BY_TYPE: dict[type[BaseException], Cause] = {
    CannotResolveHostError: Cause("no such host", "the host has no address"),
    DownloadCancelledError: _TOO_LARGE,
    DownloadConnectionRefusedError: Cause("connection refused", "the server refuses connections"),
    DownloadFailedError: Cause("broken", "the connection broke"),
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
    error = failure.value
    if error is None:
        return Cause("unknown", "no reason was given")
    if isinstance(error, HttpError):
        status = error.response.status
        return Cause(f"HTTP {status}", f"the server answered {status}", status == _GONE)
    if isinstance(error, RobotsUnreachableError):
        return Cause("robots.txt unreachable", str(error))
    if kind := _OURS.get(type(error)):
        return Cause(kind, str(error), final=True)
    if isinstance(error, IgnoreRequest):
        known = (cause for part, cause in _BY_MESSAGE.items() if part in str(error))
        return next(known, Cause("ignored", str(error)))
    return _BY_TYPE.get(type(error)) or Cause(type(error).__name__, _first_line(error))


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
