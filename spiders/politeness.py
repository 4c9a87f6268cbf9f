"""What robots.txt and an overloaded server ask of us, and how it is kept."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic

from scrapy import Request, signals
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response
from scrapy.robotstxt import RobotParser
from scrapy.settings import BaseSettings
from scrapy.utils.httpobj import urlparse_cached

from newscrawl.settings import seconds

_OVERLOADED = frozenset({429, 503})
_ALLOW_NOTHING = b"User-agent: *\nDisallow: /\n"


class DisallowedByRobotsError(IgnoreRequest):
    """A page that robots.txt keeps from us."""


class RobotsMiddleware(RobotsTxtMiddleware):
    """Obeys robots.txt, and takes a server that can't serve it for one that says no.

    RFC 9309, 2.3.1.4: while robots.txt answers with a server error, nothing may be crawled.
    A Crawl-delay longer than NEWSCRAWL_CRAWL_DELAY_MAX counts as a no, too.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._longest = _seconds(crawler.settings, "NEWSCRAWL_CRAWL_DELAY_MAX")
        self._agent: str = crawler.settings["ROBOTSTXT_USER_AGENT"]

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Let the request pass, or raise DisallowedByRobotsError."""
        try:
            super().process_request_2(rp, request)
        except IgnoreRequest as error:
            raise DisallowedByRobotsError("robots.txt doesn't allow it") from error
        delay = (rp and rp.crawl_delay(self._agent)) or 0.0
        if delay > self._longest:
            raise DisallowedByRobotsError(
                f"robots.txt asks for {delay:g} seconds between pages, "
                "more than NEWSCRAWL_CRAWL_DELAY_MAX"
            )

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status >= 500:
            response = response.replace(body=_ALLOW_NOTHING)
        elif response.status >= 400:
            response = response.replace(body=b"")  # there is none; what comes instead isn't one
        await super()._parse_robots(response, netloc, request)


class CrawlDelayThrottle(AutoThrottle):
    """AutoThrottle that never goes faster than robots.txt allows by its Crawl-delay."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl_delays: dict[str, float] = {}
        self._longest = _seconds(crawler.settings, "NEWSCRAWL_CRAWL_DELAY_MAX")
        self._agent: str = crawler.settings["ROBOTSTXT_USER_AGENT"]
        crawler.signals.connect(self._robots_parsed, signal=signals.robots_parsed)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        delay = robotparser.crawl_delay(self._agent)
        if not delay or not 0 < delay <= self._longest:
            return  # none, nonsense, or so long that RobotsMiddleware lets nothing pass
        key = urlparse_cached(request).hostname or ""
        delay = self._crawl_delays[key] = max(delay, self._min_delay())
        downloader = self.crawler.engine.downloader
        # For slots to come (Scrapy forgets idle ones) and for the one at hand. No jitter: it
        # would cut the delay as often as lengthen it.
        downloader.per_slot_settings[key] = {"delay": delay, "jitter": 0.0, "concurrency": 1}
        if slot := downloader.slots.get(key):
            slot.delay, slot.jitter, slot.concurrency = max(slot.delay, delay), 0.0, 1

    def _adjust_delay(self, slot: Slot, latency: float, response: Response) -> None:
        super()._adjust_delay(slot, latency, response)
        key = urlparse_cached(response).hostname or ""
        slot.delay = max(slot.delay, self._crawl_delays.get(key, 0.0))


class RetryAfterMiddleware(RetryMiddleware):
    """Retries as Scrapy does, and leaves an overloaded server alone for as long as it asks."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._pause = _seconds(settings, "NEWSCRAWL_RETRY_PAUSE")
        self._longest = _seconds(settings, "NEWSCRAWL_RETRY_AFTER_MAX")

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return the response, or the request again after the domain has had its rest."""
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
        # The slot serves its next request `delay` after `lastseen`; with no delay it looks at
        # neither.
        slot.delay = max(slot.delay, 0.01)
        slot.lastseen = max(slot.lastseen, monotonic() + seconds)
        self.crawler.stats.inc_value("newscrawl/rests")


def retry_after(response: Response) -> float | None:
    """Return the seconds that the Retry-After header asks for, or None where it says nothing."""
    text = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _seconds(settings: BaseSettings, name: str) -> float:
    return seconds(name, settings[name])
