"""No request leaves the source's own site, nor for an address inside our own network."""

import ipaddress
import socket
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from newscrawl.crawl.errors import UnfitAddressError
from newscrawl.sources.addresses import IpAddress, Permitted, address_of, is_public


class PrivateAddressError(UnfitAddressError):
    """A request for an address that isn't of the public internet."""


class UnfitUrlError(UnfitAddressError):
    """A request by another protocol than HTTP, or with a name and password for the server."""


# Marks a request that a crawl may send a second time (`dont_filter`), for this one reason.
AGAIN = "newscrawl_again"


class SourceOffsiteMiddleware(OffsiteMiddleware):
    """Keeps redirects, too, on the site that a NewsSpider covers."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Raise IgnoreRequest for another site; Scrapy lets all pass that is not to be filtered."""
        again = request.dont_filter and request.meta.get(AGAIN)
        super().process_request(request.replace(dont_filter=False) if again else request)

    def request_scheduled(self, request: Request, spider: Spider) -> None:
        """Leave it to process_request: of what is dropped here, no errback ever hears."""

    def should_follow(self, request: Request, spider: Spider) -> bool:
        """Whether the spider covers the request's URL."""
        covers = getattr(spider, "covers", None)
        return covers(request.url) if covers else super().should_follow(request, spider)


class PrivateAddressGuard:
    """Refuses private addresses after name resolution, on the first request and each redirect.

    The name is resolved here with Scrapy's caching resolver, so that the connection goes to the
    very address that was checked; the response's address is checked once more.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._entries = crawler.settings.getlist("NEWSCRAWL_ALLOW_PRIVATE")
        self._permitted = Permitted(self._entries)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PrivateAddressGuard":
        """Build the guard; SettingError for a bad NEWSCRAWL_ALLOW_PRIVATE."""
        guard = cls(crawler)
        crawler.signals.connect(guard.spider_opened, signal=signals.spider_opened)
        return guard

    def spider_opened(self) -> None:
        """Take over the hosts that the operator named to the spider."""
        named = getattr(self._crawler.spider, "named_addresses", ())
        self._permitted = Permitted(self._entries, named)

    async def process_request(self, request: Request) -> None:
        """Let the request pass, or raise UnfitUrlError or PrivateAddressError."""
        _check_url(request.url)
        host, port = address_of(request.url)
        if self._permitted.host(host, port):
            return
        # The operator's own proxy resolves names, and nobody else's answer would be its.
        by_proxy = request.meta.get("proxy")
        self._check(_spelled_out(host) if by_proxy else await _resolve(host), request)

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
    """Raise UnfitUrlError for what a redirect may have brought: the URLs of feeds are checked."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        raise UnfitUrlError(f"leads to {parts.scheme}, which is neither http nor https")
    if parts.username is not None or parts.password is not None:
        raise UnfitUrlError("leads to a URL with credentials, which are never sent")


def _spelled_out(host: str) -> IpAddress | None:
    """Return the address that a host is without being looked up: in any spelling of its numbers,
    or as this machine's own name."""
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
    """Return the address of a host, or None where it has none: the download says so itself."""
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
