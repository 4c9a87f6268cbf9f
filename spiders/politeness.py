"""What a Crawl-delay and an overloaded server ask of us, and how it is kept."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic

from scrapy import Request, signals
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response
from scrapy.robotstxt import RobotParser
from scrapy.settings import BaseSettings
from scrapy.utils.httpobj import urlparse_cached

from newscrawl.config import seconds

_OVERLOADED = frozenset({429, 503})
# Ours: characters of a Retry-After, of which a date has 29, and the seconds of a year, which is
# more than any NEWSCRAWL_RETRY_AFTER_MAX: who asks for more is left for a later crawl.
_MAX_HEADER = 100
_MAX_REST = 365 * 86_400.0


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
            return  # none, nonsense, or so long that newscrawl.crawl.robots lets nothing pass
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
    """Return the seconds that the Retry-After header asks for, a year at most, or None where it
    says nothing."""
    header = response.headers.get("Retry-After") or b""
    text = header[:_MAX_HEADER].decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _MAX_REST)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None  # email.utils has raised each of them for some text that is no date
    # Not as two aware moments, since the year 9999 in another zone may be the year 10000 in ours.
    rest = moment.replace(tzinfo=UTC) - datetime.now(UTC) - (moment.utcoffset() or timedelta())
    return min(max(0.0, rest.total_seconds()), _MAX_REST)


def _seconds(settings: BaseSettings, name: str) -> float:
    return seconds(name, settings[name])
