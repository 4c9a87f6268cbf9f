"""Packed responses are unpacked; the charset of packed bytes is nobody's business."""

import gzip

import brotli
import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, TextResponse, XmlResponse
from scrapy.utils.test import get_crawler

from newscrawl.crawl.middlewares import CompressionMiddleware

URL = "https://n.example/a"
PAGE = "<html><head><meta charset=utf-8></head><p>Straße</p></html>".encode()


class Packed(TextResponse):
    """A response whose bytes hold no text yet."""

    @property
    def encoding(self) -> str:
        raise AssertionError("the charset of packed bytes was asked for")


def unpacked(body: bytes, kind: str, packing: str) -> object:
    headers = {"Content-Type": kind, "Content-Encoding": packing}
    response = Packed(URL, headers=headers, body=body, flags=["seen"])
    return CompressionMiddleware.from_crawler(get_crawler()).process_response(
        Request(URL), response
    )


@pytest.mark.parametrize(
    ("body", "packing"),
    [(gzip.compress(PAGE, mtime=0), "gzip"), (brotli.compress(PAGE), "br")],
    ids=["gzip", "br"],
)
def test_compressed_page_is_decompressed_and_read(body, packing):
    response = unpacked(body, "text/html", packing)
    assert isinstance(response, HtmlResponse)
    assert response.css("p::text").get() == "Straße"
    assert (response.url, response.flags) == (URL, ["seen"])
    assert "Content-Encoding" not in response.headers


def test_compressed_feed_is_decompressed():
    response = unpacked(gzip.compress(b"<rss/>"), "application/rss+xml", "gzip")
    assert isinstance(response, XmlResponse)
    assert response.body == b"<rss/>"
