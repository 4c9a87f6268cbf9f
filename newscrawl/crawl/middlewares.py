"""Downloader middlewares: offsite requests, Retry-After, compressed bodies, private addresses."""

import ipaddress
import socket
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Response, TextResponse
from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from newscrawl.config import seconds
from newscrawl.crawl.errors import PrivateAddressError, UnfitUrlError
from newscrawl.crawl.session import CrawlSession
from newscrawl.sources.urls import AllowedAddresses, IpAddress, address_of, is_public

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
        """Let the request pass, or raise UnfitUrlError or PrivateAddressError."""
        _check_url(request.url)
        host, port = address_of(request.url)
        if self._permitted.host(host, port):
            return
        # The operator's own proxy resolves names, possibly to other addresses than we do.
        by_proxy = request.meta.get("proxy")
        self._check(_literal_address(host) if by_proxy else await _resolve(host), request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Let the response pass, or raise PrivateAddressError."""
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
        raise PrivateAddressError(
            f"{address_of(request.url)[0]} is the private address {address}; "
            "NEWSCRAWL_ALLOW_PRIVATE would allow it"
        )


def _check_url(url: str) -> None:
    """Raise UnfitUrlError for a URL that a redirect may have led to; URLs of feeds are checked
    elsewhere."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        raise UnfitUrlError(f"leads to {parts.scheme}, which is neither http nor https")
    if parts.username is not None or parts.password is not None:
        raise UnfitUrlError("leads to a URL with credentials, which are never sent")


def _literal_address(host: str) -> IpAddress | None:
    """Return the address of a host that needs no lookup: a number in any notation, or this
    machine's own name."""
    if host == "localhost" or host.endswith(".localhost"):
        return ipaddress.IPv4Address("127.0.0.1")
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


async def _resolve(host: str) -> IpAddress | None:
    """Return the address of a host, or None if it has none: then the download reports it."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

    try:
        # Twisted annotates resolve() with the types of another method.
        found: Deferred[str] = reactor.resolve(host)  # type: ignore[arg-type]
        address = await maybe_deferred_to_future(found)
        return ipaddress.ip_address(address)
    except (DNSLookupError, OSError, ValueError):
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

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return the response, or the request again after the pause of its domain."""
        if response.status in _OVERLOADED and not request.meta.get("dont_retry"):
            tries = request.meta.get("retry_times", 0)
            pause = retry_after(response)
            if pause is None:
                pause = self._pause * 2**tries
            if pause > self._longest:
                self.crawler.stats.inc_value("newscrawl/retry_after_too_long")
                return response
            self._rest(request, pause)
        return super().process_response(request, response)

    def _rest(self, request: Request, seconds: float) -> None:
        slot = self.crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is None:
            return
        # The slot sends its next request `delay` after `lastseen`; with no delay it uses neither.
        slot.delay = max(slot.delay, 0.01)
        slot.lastseen = max(slot.lastseen, monotonic() + seconds)
        self.crawler.stats.inc_value("newscrawl/retry_after_pauses")


def retry_after(response: Response) -> float | None:
    """Return the seconds of the Retry-After header, a year at most, or None without one."""
    header = response.headers.get("Retry-After") or b""
    text = header[:_MAX_HEADER].decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _MAX_REST)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None  # email.utils has raised each of them for some invalid date
    # Not as two aware moments, since the year 9999 in another zone may be the year 10000 in ours.
    rest = moment.replace(tzinfo=UTC) - datetime.now(UTC) - (moment.utcoffset() or timedelta())
    return min(max(0.0, rest.total_seconds()), _MAX_REST)
