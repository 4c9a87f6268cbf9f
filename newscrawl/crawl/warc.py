"""Write every response to a WARC archive, and crawl from an archive without a network.

`ArchivingMiddleware` works if NEWSCRAWL_ARCHIVE names a folder, the add-on `Replay` if
NEWSCRAWL_REPLAY does; replayed responses are not archived again.
"""

import asyncio
import logging
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import urldefrag

from scrapy import Request, signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.settings import BaseSettings

from newscrawl.archive import ArchiveError, warc
from newscrawl.archive.lookup import Archive, NotArchivedError
from newscrawl.archive.warc import ArchiveWriter, Capture
from newscrawl.config import SettingError, whole_number
from newscrawl.crawl.errors import DamagedPageError, MissingPageError
from newscrawl.crawl.session import CrawlSession

logger = logging.getLogger(__name__)

_HANDLER = "newscrawl.crawl.warc.ReplayHandler"
_ADDRESS_CHECK = "newscrawl.crawl.middlewares.PrivateAddressMiddleware"
# A replay sends no requests, so it needs no delays, name resolution or retries.
_CONCURRENCY: dict[str, Any] = {
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "RETRY_ENABLED": False,
    # One request at a time, so that each replay has the same order.
    "CONCURRENT_REQUESTS": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
}


class Replay:
    """The add-on that replays an archive; `NEWSCRAWL_REPLAY` names the folder."""

    def __init__(self, crawler: Crawler, archive: Archive) -> None:
        self._crawler = crawler
        self.archive = archive

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the archive; raise SettingError if that fails."""
        folder: str = crawler.settings["NEWSCRAWL_REPLAY"]
        if not folder:
            raise NotConfigured
        try:
            return cls(crawler, Archive(Path(folder)))
        except ArchiveError as error:
            raise SettingError(f"NEWSCRAWL_REPLAY: {error}") from error

    def update_settings(self, settings: BaseSettings) -> None:
        """Replace the download handlers by the archive, without delays, as of the day it was
        written."""
        for name, value in _CONCURRENCY.items():
            settings.set(name, value, priority="cmdline")
        settings.set("DOWNLOAD_HANDLERS", {"http": _HANDLER, "https": _HANDLER}, "cmdline")
        settings["DOWNLOADER_MIDDLEWARES"][_ADDRESS_CHECK] = None
        session = CrawlSession.of(self._crawler)
        then = self.archive.newest(session.spider.hosts if session.spider else set())
        if then is not None:
            session.clock = lambda: then
        logger.info("Replaying %s URLs from %s", len(self.archive), self.archive.folder)


class ArchivingMiddleware:
    """Writes each response, including robots.txt, redirects and errors, before it is processed."""

    def __init__(self, crawler: Crawler, writer: ArchiveWriter) -> None:
        self._crawler = crawler
        self._writer = writer
        # One thread: compression must not block the downloads, and records must not mix.
        self._worker = ThreadPoolExecutor(1, "archive")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the folder; raise SettingError if that fails, NotConfigured without one."""
        settings = crawler.settings
        if not settings["NEWSCRAWL_ARCHIVE"] or settings["NEWSCRAWL_REPLAY"]:
            raise NotConfigured
        size = whole_number("NEWSCRAWL_ARCHIVE_MB", settings["NEWSCRAWL_ARCHIVE_MB"])
        facts = {"software": settings["USER_AGENT"], "robots": "obey"}
        try:
            writer = ArchiveWriter(
                Path(settings["NEWSCRAWL_ARCHIVE"]),
                crawler.spidercls.name,
                max_bytes=size * 1_000_000,
                info=facts,
            )
        except ArchiveError as error:
            raise SettingError(f"NEWSCRAWL_ARCHIVE: {error}") from error
        middleware = cls(crawler, writer)
        crawler.signals.connect(middleware.spider_closed, signal=signals.spider_closed)
        return middleware

    async def process_response(self, request: Request, response: Response) -> Response:
        """Write the response; end the crawl if that fails."""
        now = request.meta["fetched_at"] = datetime.now(UTC)
        loop = asyncio.get_running_loop()
        try:
            capture = Capture(
                url=urldefrag(request.url).url,
                fetched_at=now,
                status=response.status,
                headers=_pairs(response.headers),
                body=response.body,
                method=request.method,
                request=_pairs(request.headers),
                ip_address=str(response.ip_address) if response.ip_address else None,
            )
            await loop.run_in_executor(self._worker, self._writer.write, capture)
        except ArchiveError as error:
            CrawlSession.of(self._crawler).stop("archive_failed", str(error))
            raise IgnoreRequest(f"the archive failed: {error}") from error
        self._crawler.stats.inc_value("newscrawl/responses_archived")
        return response

    def spider_closed(self) -> None:
        """Close the files."""
        self._worker.shutdown()
        self._writer.close()


class ReplayHandler(BaseDownloadHandler):
    """Responds to requests from the archive."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        replay = crawler.get_addon(Replay)
        if replay is None:
            raise NotConfigured
        self._archive = replay.archive
        self._max_bytes: int = crawler.settings.getint("DOWNLOAD_MAXSIZE") or warc.MAX_BYTES

    async def download_request(self, request: Request) -> Response:
        """Return the archived response; raise MissingPageError if there is none."""
        limit: int = request.meta.get("download_maxsize") or self._max_bytes
        try:
            capture = await asyncio.to_thread(self._archive.find, request.url, max_bytes=limit)
        except NotArchivedError as error:
            raise MissingPageError(str(error)) from error
        except ArchiveError as error:
            raise DamagedPageError(str(error)) from error
        request.meta["fetched_at"] = capture.fetched_at
        values: defaultdict[str, list[bytes]] = defaultdict(list)
        for name, value in capture.headers:  # Headers.appendlist copies the values before
            values[name.lower()].append(value.encode("latin-1", "replace"))
        headers = Headers(values)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=capture.body)
        return kind(url=request.url, status=capture.status, headers=headers, body=capture.body)


def _pairs(headers: Headers) -> warc.Headers:
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values
    )
