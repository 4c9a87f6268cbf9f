"""Scrapy's download handler, which also reports when a request is given to its connection, sends
none without a fresh lease, and limits the bytes of a response that are not its body.

A file of its own, since it alone depends on private classes of Scrapy's and Twisted's HTTP/1.1.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError, ResponseDataLossError
from scrapy.http import Request as ScrapyRequest, Response
from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IAddress
from twisted.python.failure import Failure
from twisted.web._newclient import Request, RequestNotSent, ResponseFailed
from twisted.web.iweb import IResponse

from newscrawl.archive import MAX_FRAMING_BYTES
from newscrawl.crawl.errors import LARGE_FRAMING, LargeFramingError
from newscrawl.crawl.extensions import EndingDownloader
from newscrawl.crawl.session import CrawlSession
from newscrawl.workers import CLOSING_CHECK_SECONDS


class ReportingHandler(HTTP11DownloadHandler):
    """Downloads as Scrapy does, and reports each written request to the EndingDownloader."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._session = CrawlSession.of(crawler)
        self._pool._factory = partial(  # type: ignore[assignment]
            _Factory, lambda: self._session.may_send, self._on_write
        )

    async def download_request(self, request: ScrapyRequest) -> Response:
        """Return the response; raise LargeFramingError where too much of it is not its body.

        Without a fresh lease it waits for one, until the crawl closes.
        """
        while not self._session.may_send:
            if self._session.is_closing:
                raise DownloadTimeoutError("the crawl is closing")
            await asyncio.sleep(CLOSING_CHECK_SECONDS)
        try:
            return await super().download_request(request)
        except (DownloadFailedError, ResponseDataLossError) as error:
            cause = error.__cause__
            reasons = cause.reasons if isinstance(cause, ResponseFailed) else ()
            if any(reason.check(LargeFramingError) for reason in reasons):
                raise LargeFramingError(LARGE_FRAMING) from error
            raise

    def _on_write(self, request: Request) -> None:
        downloader = self._crawler.engine.downloader if self._crawler.engine else None
        if isinstance(downloader, EndingDownloader) and request.absoluteURI:
            downloader.request_written(urlsplit(request.absoluteURI.decode()).hostname or "")


class _Reporting:
    """A factory or a protocol that asks before each request, and reports it."""

    def __init__(
        self, may_send: Callable[[], bool], on_write: Callable[[Request], None], *arguments: Any
    ) -> None:
        super().__init__(*arguments)
        self._may_send = may_send
        self._on_write = on_write


class _Factory(_Reporting, _LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: IAddress | None) -> "_Protocol":  # noqa: ARG002, N802
        return _Protocol(self._may_send, self._on_write, self._quiescentCallback)


class _Protocol(_Reporting, _LenientHTTP11ClientProtocol):
    def request(self, request: Request) -> Deferred[IResponse]:
        """Write the request, and report it; fail if the lease expired while it was connecting."""
        if not self._may_send():
            self.transport.abortConnection()  # type: ignore[union-attr]
            not_sent = Failure(RequestNotSent())  # type: ignore[no-untyped-call]
            return fail(ResponseFailed([not_sent]))  # type: ignore[no-untyped-call]
        response = super().request(request)
        self._parser.__class__ = _LimitedParser  # as Scrapy does
        self._on_write(request)
        return response

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        """Parse what was received; abort the connection after an error.

        Twisted would close it, and so go on receiving from a server that doesn't end TLS.
        """
        try:
            self._parser.dataReceived(data)  # type: ignore[union-attr]
        except Exception:  # noqa: BLE001 - as Twisted does
            failure = Failure()  # type: ignore[no-untyped-call]
            # Otherwise the data would stay with its traceback until a collection of all cycles.
            failure.cleanFailure()  # type: ignore[no-untyped-call]
            if isinstance(self._parser, _LimitedParser):
                self._parser.discard_headers()
            self.transport.abortConnection()  # type: ignore[union-attr]
            self._disconnectParser(failure)  # type: ignore[no-untyped-call]


class _LimitedParser(_LenientHTTPClientParser):
    """Raises LargeFramingError where too much of a response is not its body.

    It gets the state of an object of another class, so its attributes begin as those of the class.
    """

    MAX_LENGTH = MAX_FRAMING_BYTES
    _received = _body_bytes = 0

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        super().dataReceived(data)  # type: ignore[no-untyped-call]
        self._received += len(data)
        if self._received - self._body_bytes > MAX_FRAMING_BYTES + self._body_bytes:
            raise LargeFramingError

    def discard_headers(self) -> None:
        """Free the headers of a response that is aborted, unless its body has begun."""
        if self.bodyDecoder is None:
            for headers in (self.headers, self.connHeaders):
                headers._rawHeaders.clear()

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: ARG002, N802
        raise LargeFramingError

    def switchToBodyMode(self, decoder: Any) -> None:  # noqa: N802
        deliver = decoder.dataCallback

        def count_and_deliver(data: bytes) -> None:
            self._body_bytes += len(data)
            deliver(data)

        decoder.dataCallback = count_and_deliver
        super().switchToBodyMode(decoder)  # type: ignore[no-untyped-call]
