"""Scrapy's download handler, which also reports when a request is given to its connection.

A file of its own, since it alone depends on private classes of Scrapy's and Twisted's HTTP/1.1.
"""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.web._newclient import Request
from twisted.web.iweb import IResponse

from newscrawl.crawl.extensions import EndingDownloader


class ReportingHandler(HTTP11DownloadHandler):
    """Downloads as Scrapy does, and reports each written request to the EndingDownloader."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool._factory = partial(_Factory, self._on_write)  # type: ignore[assignment]

    def _on_write(self, request: Request) -> None:
        downloader = self._crawler.engine.downloader if self._crawler.engine else None
        if isinstance(downloader, EndingDownloader) and request.absoluteURI:
            downloader.request_written(urlsplit(request.absoluteURI.decode()).hostname or "")


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, written: Callable[[Request], None], *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self._on_write = written

    def buildProtocol(self, addr: IAddress | None) -> "_Protocol":  # noqa: ARG002, N802
        return _Protocol(self._on_write, self._quiescentCallback)


class _Protocol(_LenientHTTP11ClientProtocol):
    def __init__(self, written: Callable[[Request], None], *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self._on_write = written

    def request(self, request: Request) -> Deferred[IResponse]:
        """Write the request, and report it."""
        response = super().request(request)
        self._on_write(request)
        return response
