"""Visits to news sites outside a crawl, with a crawl's manners: robots.txt is obeyed, the server
hears who we are, and nobody is asked faster than Crawl-delay allows.
"""

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.message import Message
from urllib.parse import urljoin

from protego import Protego

from newscrawl.items import RobotsPolicy
from newscrawl.sources import robots
from newscrawl.sources.connection import Answer, FetchError, Manners, get
from newscrawl.sources.robots import UnreachableRobotsError
from newscrawl.sources.urls import UrlError, web_url

_MAX_REDIRECTS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
_PERMANENT = {301, 308}


class DisallowedError(FetchError):
    """A page that robots.txt keeps from us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A page's bytes, the URL they came from at last, and the charset of its HTTP header."""

    url: str
    body: bytes
    encoding: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What came back for the URL `asked`, from `url` at last.

    `moved` is true where all redirects on the way said that they are for good.
    """

    asked: str
    url: str
    status: int
    headers: Message
    body: bytes
    moved: bool = False

    @property
    def content_type(self) -> str | None:
        """The header of that name, as it was sent."""
        return self.headers.get("Content-Type")


@dataclass(slots=True)
class _Host:
    """Whose turn it is at one host, and what its robots.txt says."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    free_at: float = 0.0
    policy: RobotsPolicy | None = None
    rules: Protego | None = None
    failure: FetchError | None = None


class Visitor:
    """Visits pages; threads may share it, and then take turns at each host."""

    def __init__(self, manners: Manners, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._manners = manners
        self._sleep = sleep
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)
        self._lock = threading.Lock()

    def visit(self, url: str, *, max_bytes: int | None = None, cut: bool = False) -> Visit:
        """Fetch a page, following redirects, whatever its status.

        `max_bytes` stands for that of the manners; a longer page is cut there or an error. Raises
        DisallowedError where robots.txt forbids it, else FetchError.
        """
        limit = max_bytes or self._manners.max_bytes
        try:
            return self._follow(web_url(url), limit, cut=cut)
        except UrlError as error:
            shown = re.sub(r"//[^/]*@", "//***@", url)
            raise FetchError(f"can't fetch {shown}: {error}") from error

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt of a URL's host names; FetchError without one."""
        host = self._host(url)
        with host.turn:
            rules = self._rules(url, host)
        return tuple(dict.fromkeys(rules.sitemaps)) if rules else ()

    def robots_policy(self, url: str) -> RobotsPolicy:
        """Return what the robots.txt of a URL's host says; FetchError where it can't be read."""
        host = self._host(url)
        with host.turn:
            self._rules(url, host)
        if host.policy is None:
            raise FetchError(f"can't fetch {url}: its robots.txt was not read")
        return host.policy

    def _follow(self, url: str, limit: int, *, cut: bool) -> Visit:
        current, moved = url, True
        for hop in range(_MAX_REDIRECTS + 1):
            answer = self._ask(current, limit, cut=cut)
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return Visit(
                    asked=url,
                    url=current,
                    status=answer.status,
                    headers=answer.headers,
                    body=answer.body,
                    moved=moved and hop > 0,
                )
            moved = moved and answer.status in _PERMANENT
            current = web_url(urljoin(current, target))
        raise FetchError(f"can't fetch {url}: more than {_MAX_REDIRECTS} redirects")

    def _ask(self, url: str, limit: int, *, cut: bool) -> Answer:
        host = self._host(url)
        with host.turn:
            delay = self._allowed_after(url, self._rules(url, host))
            self._sleep(max(0.0, host.free_at - time.monotonic()))
            try:
                return get(url, self._manners, limit, cut=cut)
            finally:
                host.free_at = time.monotonic() + delay

    def _allowed_after(self, url: str, rules: Protego | None) -> float:
        """Return the pause that the host wants, or raise DisallowedError."""
        manners = self._manners
        if rules is None:
            return manners.pause
        if not rules.can_fetch(url, manners.robots_name):
            raise DisallowedError(
                f"robots.txt forbids {url}: save the page with your browser and give the file"
            )
        delay = float(rules.crawl_delay(manners.robots_name) or 0.0)
        if delay > manners.longest_pause:
            raise DisallowedError(
                f"can't fetch {url}: robots.txt asks for {delay:g} seconds between pages, more "
                "than NEWSCRAWL_CRAWL_DELAY_MAX"
            )
        return max(delay, manners.pause)

    def _host(self, url: str) -> _Host:
        with self._lock:
            return self._hosts[robots.origin_of(url)]

    def _rules(self, url: str, host: _Host) -> Protego | None:
        """Read robots.txt once; whoever holds the host's turn may ask."""
        if host.failure is None and host.rules is None:
            try:
                host.policy = self._policy(url)
            except FetchError as error:
                host.failure = error
            else:
                host.rules = Protego.parse(robots.rules_for(host.policy, self._manners.robots_name))
        if host.failure is not None:
            raise host.failure
        return host.rules

    def _policy(self, url: str) -> RobotsPolicy:
        """Ask for robots.txt; FetchError where it can't be read, which forbids all as well."""
        try:
            answer = self._robots_answer(urljoin(url, "/robots.txt"))
            return robots.policy_of(
                robots.origin_of(url), answer.status, answer.body, datetime.now(UTC)
            )
        except UnreachableRobotsError as error:
            raise DisallowedError(
                f"can't fetch {url}: its robots.txt is out of order ({error}), which forbids all; "
                "try later"
            ) from error

    def _robots_answer(self, url: str) -> Answer:
        """Return the last answer, after at most five redirects, whatever it is."""
        longest = robots.MAX_ANSWER_BYTES
        for _ in range(robots.MAX_REDIRECTS + 1):
            answer = get(url, self._manners, longest + 1, cut=True)
            if len(answer.body) > longest:
                raise UnreachableRobotsError(f"larger than {longest // 1024} KiB")
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return answer
            try:
                url = web_url(urljoin(url, target))
            except ValueError as error:
                raise UnreachableRobotsError(f"it redirects to no URL: {error}") from error
        raise UnreachableRobotsError(f"more than {robots.MAX_REDIRECTS} redirects")


def fetch(url: str, manners: Manners) -> Fetched:
    """The page at the URL; raises FetchError, for all that is no page of HTML too."""
    visit = Visitor(replace(manners, pause=0.0)).visit(url)
    if visit.status != 200:
        raise FetchError(f"can't fetch {visit.url}: the server answered {visit.status}")
    kind = visit.headers.get_content_type()
    if visit.content_type and kind not in {
        "text/html",
        "application/xhtml+xml",
        "text/plain",
        "application/xml",
        "text/xml",
    }:
        raise FetchError(f"can't read {visit.url}: it is {kind}, not HTML")
    return Fetched(url=visit.url, body=visit.body, encoding=visit.headers.get_content_charset())
