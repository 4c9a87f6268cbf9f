"""Downloader middlewares: robots.txt, offsite requests, Retry-After, compressed bodies, private
addresses.

No page of a host is requested until its robots.txt has been read.
"""

import asyncio
import ipaddress
import logging
import socket
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any, Final, Self
from urllib.parse import urljoin, urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import (
    DownloadCancelledError,
    IgnoreRequest,
    NotConfigured,
)
from scrapy.http import Response, TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import build_from_crawler, load_object
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from newscrawl.config import seconds
from newscrawl.crawl.errors import (
    Cause,
    DisallowedByRobotsError,
    PrivateAddressError,
    RobotsUnreachableError,
    UnfitAddressError,
    UnfitUrlError,
    cause_of_error,
)
from newscrawl.crawl.session import CrawlSession
from newscrawl.items import RobotsPolicy
from newscrawl.sources import robots
from newscrawl.sources.robots import UnreachableRobotsError
from newscrawl.sources.urls import AllowedAddresses, IpAddress, address_of, is_public
from newscrawl.storage import StorageError
from newscrawl.storage.saved_state import keep_robots_policy, robots_policy
from newscrawl.workers import until_closing

_OVERLOADED = frozenset({429, 503})
# Ours: characters of a Retry-After (a date has 29), and seconds of a year, more than any
# NEWSCRAWL_RETRY_AFTER_MAX: a longer wait is left to a later crawl.
_MAX_HEADER = 100
_MAX_REST = 365 * 86_400.0


# Marks a request that may be sent twice (`dont_filter`) for this reason only.
RETRY_REASON = "newscrawl_again"


class SourceOffsiteMiddleware(OffsiteMiddleware):
    """Keeps requests, including redirects, on the site of a NewsSpider."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Raise IgnoreRequest for another site; Scrapy passes all requests with `dont_filter`."""
        again = request.dont_filter and request.meta.get(RETRY_REASON)
        super().process_request(request.replace(dont_filter=False) if again else request)

    def request_scheduled(self, request: Request, spider: Spider) -> None:
        """Do nothing: requests that are dropped here never reach their errback, so process_request
        checks them."""

    def should_follow(self, request: Request, spider: Spider) -> bool:
        """Return whether the spider covers the request's URL."""
        source_spider = CrawlSession.of(self.crawler).spider
        if source_spider is None:
            return super().should_follow(request, spider)
        return source_spider.covers(request.url)


class PrivateAddressMiddleware:
    """Refuses private addresses after name resolution, on the first request and each redirect.

    The name is resolved here with Scrapy's caching resolver, so that the connection goes to the
    address that was checked; the response's address is checked again.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._entries = crawler.settings.getlist("NEWSCRAWL_ALLOW_PRIVATE")
        self._permitted = AllowedAddresses(self._entries)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PrivateAddressMiddleware":
        """Build the middleware; raise SettingError for an invalid NEWSCRAWL_ALLOW_PRIVATE."""
        guard = cls(crawler)
        crawler.signals.connect(guard.spider_opened, signal=signals.spider_opened)
        return guard

    def spider_opened(self) -> None:
        """Allow the hosts that the operator named to the spider."""
        spider = CrawlSession.of(self._crawler).spider
        self._permitted = AllowedAddresses(self._entries, spider.named_addresses if spider else ())

    async def process_request(self, request: Request) -> None:
        """Accept the request, or raise UnfitUrlError or PrivateAddressError."""
        parts = urlsplit(request.url)  # a redirect may have led to it
        if parts.scheme not in {"http", "https"}:
            raise UnfitUrlError(f"leads to {parts.scheme}, which is neither http nor https")
        if parts.username is not None or parts.password is not None:
            raise UnfitUrlError("leads to a URL with credentials, which are never sent")
        host, port = address_of(request.url)
        if self._permitted.host(host, port):
            return
        address = _literal_address(host)
        # The operator's own proxy resolves names, possibly to other addresses than we do.
        if address is None and not request.meta.get("proxy"):
            from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

            with suppress(DNSLookupError, OSError, ValueError):  # the download reports it
                # Twisted annotates resolve() with the types of another method.
                lookup: Deferred[Any] = reactor.resolve(host)  # type: ignore[arg-type]
                address = ipaddress.ip_address(await maybe_deferred_to_future(lookup))
        self._check(address, request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, or raise PrivateAddressError."""
        address = response.ip_address
        if address and not request.meta.get("proxy"):
            host, port = address_of(request.url)
            if not self._permitted.host(host, port):
                self._check(address, request)
        return response

    def _check(self, address: IpAddress | None, request: Request) -> None:
        if address is None or is_public(address) or self._permitted.address(address):
            return
        self._crawler.stats.inc_value("newscrawl/private_addresses_refused")
        host = address_of(request.url)[0]
        what = "a private address" if host == str(address) else f"the private address {address}"
        raise PrivateAddressError(f"{host} is {what}; NEWSCRAWL_ALLOW_PRIVATE would allow it")


def _literal_address(host: str) -> IpAddress | None:
    """Return the address of a host that needs no lookup: a number in any notation, or this
    machine's own name."""
    if host == "localhost" or host.endswith(".localhost"):
        return ipaddress.IPv4Address("127.0.0.1")
    with suppress(ValueError):
        return ipaddress.ip_address(host)
    with suppress(OSError, ValueError):
        return ipaddress.IPv4Address(socket.inet_aton(host))
    return None


class CompressionMiddleware(HttpCompressionMiddleware):
    """Decompresses as Scrapy does, without its search for the charset of the compressed bytes.

    Where no header names one, Scrapy guesses, which takes as long as extraction, and then discards
    the result. A response that isn't known to be text has no charset to search for.
    """

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return the response with its decompressed body."""
        if isinstance(response, TextResponse) and "Content-Encoding" in response.headers:
            plain = {name: getattr(response, name) for name in Response.attributes}
            response = Response(**plain)
        return super().process_response(request, response)


class RetryAfterMiddleware(RetryMiddleware):
    """Retries as Scrapy does, after the pause that an overloaded server asks for."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._pause = seconds("NEWSCRAWL_RETRY_PAUSE", settings["NEWSCRAWL_RETRY_PAUSE"])
        self._longest = seconds("NEWSCRAWL_RETRY_AFTER_MAX", settings["NEWSCRAWL_RETRY_AFTER_MAX"])

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware, connected to the signal that precedes the next request."""
        middleware = super().from_crawler(crawler)
        # A middleware sees a response only after the downloader has begun its next request.
        crawler.signals.connect(middleware.begin_pause, signal=signals.response_downloaded)
        return middleware

    def begin_pause(self, response: Response, request: Request) -> None:
        """Send no request to the host for the time that an overloaded answer asks for."""
        pause = self._pause_of(request, response)
        slot = self.crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if pause and pause <= self._longest and slot is not None:
            # The slot sends its next request `delay` after `lastseen`; without a delay it has none.
            slot.delay = max(slot.delay, 0.01)
            slot.lastseen = max(slot.lastseen, monotonic() + pause)
            self.crawler.stats.inc_value("newscrawl/retry_after_pauses")

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return the response, or the request again, which waits for the end of the pause."""
        if self._pause_of(request, response) > self._longest:
            self.crawler.stats.inc_value("newscrawl/retry_after_too_long")
            return response
        return super().process_response(request, response)

    def _pause_of(self, request: Request, response: Response) -> float:
        if response.status not in _OVERLOADED or request.meta.get("dont_retry"):
            return 0.0
        pause = retry_after(response)
        return self._pause * 2 ** request.meta.get("retry_times", 0) if pause is None else pause


def retry_after(response: Response) -> float | None:
    """Return the seconds of the Retry-After header, a year at most; None without one, and for 0 or
    a date that has passed, which an overloaded server doesn't mean."""
    header = response.headers.get("Retry-After") or b""
    text = header[:_MAX_HEADER].decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _MAX_REST) or None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None  # email.utils has raised each of them for some invalid date
    # Not as two aware moments, since the year 9999 in another zone may be the year 10000 in ours.
    pause = moment.replace(tzinfo=UTC) - datetime.now(UTC) - (moment.utcoffset() or timedelta())
    return min(pause.total_seconds(), _MAX_REST) if pause > timedelta() else None


logger = logging.getLogger(__name__)

# As Scrapy's own: a host's robots.txt comes before its pages.
_PRIORITY: Final = 1000
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# Ours: how long a crawl requests no page of a host before it requests robots.txt again.
_UNREACHABLE_FOR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class _HostRules:
    """Which requests a host allows until a moment: those that the parser of its policy allows, or
    none, for the reason `refusal`."""

    until: datetime
    parser: RobotParser | None = None
    policy: RobotsPolicy | None = None
    refusal: IgnoreRequest | None = None


class RobotsMiddleware:
    """Obeys robots.txt (RFC 9309), in the place of Scrapy's RobotsTxtMiddleware.

    All requests to a host wait for the same download of its robots.txt. A robots.txt that can't be
    read forbids all URLs (2.3.1.4), unless the database has a copy that is at most a day old. A
    Crawl-delay longer than NEWSCRAWL_CRAWL_DELAY_MAX forbids all URLs, too.

    The copies are in the database of the crawl's run; without a run none are kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._session = CrawlSession.of(crawler)
        self._max_delay = seconds(
            "NEWSCRAWL_CRAWL_DELAY_MAX", settings.get("NEWSCRAWL_CRAWL_DELAY_MAX", 120)
        )
        self._agent = str(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])
        self._parser_class = load_object(settings["ROBOTSTXT_PARSER"])
        # A replay sends no requests: the pages of its archive were allowed when it was written.
        self._is_replay = bool(settings.get("NEWSCRAWL_REPLAY"))
        self._rules_by_host: dict[str, asyncio.Future[_HostRules]] = {}
        self._session.allows = self.allows

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it; raise NotConfigured without ROBOTSTXT_OBEY."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Accept the request, or raise DisallowedByRobotsError or RobotsUnreachableError."""
        if request.meta.get("dont_obey_robotstxt"):
            return
        if not request.url.startswith(("http://", "https://")):
            return
        parser = (await self._readable_rules(request)).parser
        if parser is None:
            return
        delay = parser.crawl_delay(self._agent) or 0.0
        reason = ""
        if not parser.allowed(request.url, self._agent):
            reason = "robots.txt doesn't allow it"
        elif delay > self._max_delay:
            reason = f"robots.txt asks for {delay:g} seconds between pages, more than "
            reason += "NEWSCRAWL_CRAWL_DELAY_MAX"
        if reason:
            self._count("robotstxt/forbidden")
            raise DisallowedByRobotsError(reason)

    async def policy(self, url: str) -> RobotsPolicy:
        """Return the robots.txt of a URL's host; raise RobotsUnreachableError or
        UnfitAddressError."""
        rules = await self._readable_rules(Request(url))
        if rules.policy is None:
            raise RobotsUnreachableError("a replay reads no robots.txt")
        return rules.policy

    async def allows(self, url: str) -> bool:
        """Return whether a URL may be requested, by the rules that are known without a request: of
        this crawl, or those of the last copy."""
        origin = robots.origin_of(url)
        if (task := self._rules_by_host.get(origin)) is not None:
            rules = await asyncio.shield(task)
            return rules.refusal is None and (
                not rules.parser or rules.parser.allowed(url, self._agent)
            )
        copy = await self._last_good_copy(origin)
        return copy is None or robots.RobotsRules(copy, self._agent).allows(url)

    async def _readable_rules(self, request: Request) -> _HostRules:
        """Return the rules of the request's host, or raise why there are none; the first request
        starts the download.

        Each request waits for the task and not for a Deferred, which would give its result to the
        first one and None to all others (docs/upstream/robots-race.md).
        """
        origin = robots.origin_of(request.url)
        task = self._rules_by_host.get(origin)
        if task is None or (task.done() and task.result().until <= self._session.clock()):
            task = asyncio.ensure_future(self._fetch_rules(origin, request))
            self._rules_by_host[origin] = task
        rules = await asyncio.shield(task)
        if rules.refusal is not None:
            raise type(rules.refusal)(*rules.refusal.args) from rules.refusal
        return rules

    async def _fetch_rules(self, origin: str, request: Request) -> _HostRules:
        self._count("robotstxt/request_count")
        try:
            response = await self._download(origin)
            self._count("robotstxt/response_count")
            self._count(f"robotstxt/response_status_count/{response.status}")
            policy = robots.policy_of(origin, response.status, response.body, self._session.clock())
        except UnfitAddressError as error:
            return _HostRules(until=self._session.clock() + _UNREACHABLE_FOR, refusal=error)
        except Exception as error:  # noqa: BLE001 - with any error, the file was not read
            return await self._without_file(origin, request, error)
        if self._session.run is not None and not self._is_replay:
            database = self._session.run.database
            self._session.writer.later(keep_robots_policy, database, policy)
        return await self._parse(policy, request)

    async def _parse(self, policy: RobotsPolicy, request: Request) -> _HostRules:
        rules = robots.rules_for(policy, self._agent).encode()
        parser: RobotParser = build_from_crawler(self._parser_class, self._crawler, rules)
        await self._crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=parser, request=request
        )
        until = policy.fetched_at + robots.MAX_COPY_AGE
        return _HostRules(until=until, parser=parser, policy=policy)

    async def _without_file(self, origin: str, request: Request, error: Exception) -> _HostRules:
        """Return the rules where robots.txt can't be read: those of the last good copy, or none."""
        now = self._session.clock()
        if self._is_replay:
            return _HostRules(until=now + robots.MAX_COPY_AGE)
        if self._session.is_closing:
            # No request may continue with the rules of a copy: it would delay the end.
            refusal = RobotsUnreachableError("the crawl ended before its robots.txt was read")
            return _HostRules(until=now, refusal=refusal)
        if isinstance(error, UnreachableRobotsError):
            cause = Cause(str(error), str(error))
        else:
            self._count(f"robotstxt/exception_count/{type(error)}")
            cause = cause_of_error(error)
        if isinstance(error, DownloadCancelledError):
            limit = f"larger than {robots.MAX_ANSWER_BYTES // 1024} KiB"
            cause = Cause(limit, limit)
        fault = cause.of(f"{origin}/robots.txt")
        self._session.note("robots_fault", fault)
        copy = await self._last_good_copy(origin)
        if copy is not None and robots.is_usable_copy(copy, now):
            self._count("newscrawl/robots_copies_obeyed")
            logger.warning(
                "Can't read %s/robots.txt: %s; its copy of %s is obeyed",
                origin,
                fault,
                f"{copy.fetched_at:%Y-%m-%d %H:%M} UTC",
            )
            return await self._parse(copy, request)
        self._count("newscrawl/robots_unreachable")
        logger.warning("Can't read %s/robots.txt: %s; no page is requested there", origin, fault)
        answered = isinstance(error, UnreachableRobotsError)
        refusal = RobotsUnreachableError(f"{fault}; no robots.txt, no page", answered)
        return _HostRules(until=now + _UNREACHABLE_FOR, refusal=refusal)

    async def _download(self, origin: str) -> Response:
        """Return the last response, after at most five redirects, also to other hosts.

        Raise UnfitAddressError for a host that must not be requested, UnreachableRobotsError for
        redirects that don't end at a file, and each error of a download.
        """
        url = f"{origin}/robots.txt"
        for hop in range(robots.MAX_REDIRECTS + 1):
            meta = {
                "dont_obey_robotstxt": True,
                "dont_redirect": True,  # RedirectMiddleware has limits of its own
                "allow_offsite": True,
                "download_maxsize": robots.MAX_ANSWER_BYTES,
            }
            request = Request(url, priority=_PRIORITY, meta=meta, callback=NO_CALLBACK)
            download = asyncio.ensure_future(self._crawler.engine.download_async(request))
            try:
                # A server that doesn't respond would delay the end of the crawl by
                # DOWNLOAD_TIMEOUT for each attempt.
                response = await until_closing(
                    download, lambda: self._session.is_closing, download.cancel
                )
            except asyncio.CancelledError:
                if not download.cancelled():
                    raise
                raise UnreachableRobotsError("the crawl is closing") from None
            except UnfitAddressError as error:
                if hop == 0:
                    raise
                raise UnreachableRobotsError(f"it redirects to {url}: {error}") from error
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or not target:
                return response
            url = urljoin(url, target.decode("latin-1"))
        raise UnreachableRobotsError(f"more than {robots.MAX_REDIRECTS} redirects")

    # The copies in the database ------------------------------------------------------------------

    async def _last_good_copy(self, origin: str) -> RobotsPolicy | None:
        if self._session.run is None or self._is_replay:
            return None
        try:
            database = self._session.run.database
            return await self._session.writer.do(robots_policy, database, origin)
        except StorageError:
            return None  # the crawl is closing

    # State of the crawl ------------------------------------------------------------------------

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(name)
