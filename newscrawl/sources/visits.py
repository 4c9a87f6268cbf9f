"""Visit pages outside a crawl, under the rules of a crawl: by Scrapy in a helper process.

`extract URL`, `explain URL`, `sources add`, `check` and `audit`, and the dashboard run in threads
or beside another event loop, where no reactor can start. The helper, `newscrawl.crawl.visiting`,
keeps each host's robots.txt and pauses until it is closed, and opens no database.
"""

import re
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Literal, Self

from newscrawl import config, settings
from newscrawl.config import SettingError
from newscrawl.items import RobotsPolicy
from newscrawl.sources.robots import stated_sitemaps
from newscrawl.sources.urls import UrlError, allowed_host, web_url

HELPER = "newscrawl.crawl.visiting"
# Two networks hold all addresses.
_ALL_ADDRESSES = ("0.0.0.0/0", "::/0")
_HTML = {"text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"}


class FetchError(ValueError):
    """A page can't or must not be fetched; the message is one line with URL and reason."""


class PrivateAddressError(FetchError):
    """An address is not public; commands give the `advice`, too, which pages have no option for."""

    advice = ", as would --allow-private"


class DisallowedError(FetchError):
    """robots.txt forbids the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """The response for the URL `asked`, received from `url` after redirects.

    `body` is decompressed, `encoding` the charset of the header. `moved` is true if all redirects
    on the way were permanent.
    """

    asked: str
    url: str
    status: int
    content_type: str | None
    encoding: str | None
    body: bytes
    moved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request to the helper: a page, of which at most `cut_at` bytes are downloaded, or the
    robots.txt of its host."""

    number: int
    url: str
    cut_at: int | None = None
    robots: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a page was not fetched."""

    kind: Literal["private", "disallowed", "failed"]
    reason: str


_ERRORS = {"private": PrivateAddressError, "disallowed": DisallowedError, "failed": FetchError}


class Fetcher:
    """Fetches pages and robots.txt through one helper process, from any thread; close it.

    Hosts of the URLs `named` may have private addresses, and with `allow_private` all hosts.
    `pause` overrides DOWNLOAD_DELAY.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        named: Iterable[str] = (),
        pause: float | None = None,
    ) -> None:
        hosts = set(map(allowed_host, named))
        private = (config.NEWSCRAWL_ALLOW_PRIVATE, *hosts, *(_ALL_ADDRESSES * allow_private))
        delay = settings.DOWNLOAD_DELAY if pause is None else pause
        self._settings = {name: value for name, value in vars(settings).items() if name.isupper()}
        self._settings |= {
            "NEWSCRAWL_ALLOW_PRIVATE": ",".join(filter(None, private)),
            "NEWSCRAWL_CRAWL_DELAY_MAX": config.NEWSCRAWL_CRAWL_DELAY_MAX,
            "DOWNLOAD_DELAY": delay,
            "AUTOTHROTTLE_START_DELAY": delay,
        }
        self._numbers = count()
        self._lock = threading.Lock()
        self._answers: dict[int, Future[Any]] = {}
        self._helper: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._receiver = threading.Thread(target=self._receive, name="visits", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the helper at once: it has nothing to save."""
        if self._helper is not None and self._connection is not None:
            self._helper.kill()
            self._helper.wait()
            self._receiver.join()
            self._connection.close()

    def fetch(self, url: str, *, cut_at: int | None = None) -> FetchResult:
        """Fetch a page, following redirects, whatever its status.

        A page with more bytes than DOWNLOAD_MAXSIZE is an error, or is cut at `cut_at` bytes. Raise
        DisallowedError if robots.txt forbids it, else FetchError.
        """
        result: FetchResult = self._ask(url, cut_at=cut_at)
        return result

    def page(self, url: str) -> FetchResult:
        """Return the page at the URL. Raises FetchError, also for responses other than HTML."""
        result = self.fetch(url)
        if result.status != 200:
            raise FetchError(f"can't fetch {result.url}: the server answered {result.status}")
        kind = (result.content_type or "").partition(";")[0].strip().lower()
        if kind and kind not in _HTML:
            raise FetchError(f"can't read {result.url}: it is {kind}, not HTML")
        return result

    def robots_policy(self, url: str) -> RobotsPolicy:
        """Return the robots policy of a URL's host. Raises FetchError if it can't be read."""
        policy: RobotsPolicy = self._ask(url, robots=True)
        return policy

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps in the robots.txt of a URL's host. Raises FetchError."""
        return tuple(stated_sitemaps(self.robots_policy(url)))

    def _ask(self, url: str, *, cut_at: int | None = None, robots: bool = False) -> Any:
        try:
            url = web_url(url)
        except UrlError as error:
            shown = re.sub(r"//[^/]*@", "//***@", url)
            raise FetchError(f"can't fetch {shown}: {error}") from error
        answer: Future[Any] = Future()
        with self._lock:
            number = next(self._numbers)
            self._answers[number] = answer
            visit = Visit(number=number, url=url, cut_at=cut_at, robots=robots)
            try:
                (self._connection or self._start()).send(visit)
            except OSError as error:
                raise FetchError(f"can't fetch {url}: the helper process has ended") from error
        result = answer.result()
        if isinstance(result, SettingError):
            raise result
        if isinstance(result, Refusal):
            raise _ERRORS[result.kind](f"can't fetch {url}: {result.reason}")
        return result

    def _start(self) -> "Connection[Any, Any]":
        self._connection, other_end = Pipe()
        number = other_end.fileno()
        # In a session of its own: Ctrl-C is for this process, which then closes the helper.
        self._helper = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-m", HELPER, str(number)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[number],
            start_new_session=True,
        )
        other_end.close()
        self._connection.send(self._settings)
        self._receiver.start()
        return self._connection

    def _receive(self) -> None:
        """Give each answer to the thread that waits for it, until the helper ends."""
        ended: Refusal | SettingError = Refusal("failed", "the helper process has ended")
        try:
            while self._connection is not None:
                number, answer = self._connection.recv()
                if number is None:
                    ended = answer
                else:
                    self._answers.pop(number).set_result(answer)
        except (EOFError, OSError):
            with self._lock:
                for waiting in self._answers.values():
                    waiting.set_result(ended)


def fetch(url: str, *, allow_private: bool = False) -> FetchResult:
    """Return the page at the URL, as `Fetcher.page`."""
    with Fetcher(allow_private=allow_private, pause=0.0) as fetcher:
        return fetcher.page(url)
