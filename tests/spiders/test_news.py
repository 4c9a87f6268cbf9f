"""Spiders, their loader, and the manners they keep; tests of whole crawls see them at work."""

import ipaddress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given, settings, strategies as st
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings

from newscrawl import settings as project
from newscrawl.config import SettingError
from newscrawl.crawl.commandline import RegistrySpiderLoader
from newscrawl.crawl.middlewares import retry_after
from newscrawl.crawl.session import parse_arguments
from newscrawl.sources import load_sources
from newscrawl.sources.urls import AllowedAddresses, address_of, is_public
from spiders.ft import FtSpider
from spiders.news import NewsSpider
from tests.site.demo import demo_settings

YEAR = 365 * 86_400


def loader(own_sources: str = "") -> RegistrySpiderLoader:
    scrapy_settings = Settings()
    scrapy_settings.setmodule(project, priority="project")
    scrapy_settings.set("NEWSCRAWL_SOURCES", own_sources)
    return RegistrySpiderLoader(scrapy_settings)


def spider_of(name: str, own_sources: str = "", **arguments: str) -> Spider:
    """The spider of a source, as a crawl builds it."""
    settings = Settings()
    settings.setmodule(project)
    spider = loader(own_sources).load(name)
    return spider.from_crawler(Crawler(spider, settings), **arguments)


# --- The loader ---------------------------------------------------------------------------------


def test_every_source_has_a_spider():
    assert sorted(loader().list()) == sorted(source.slug for source in load_sources())


def test_source_without_its_own_class_gets_a_spider():
    spider = loader().load("bbc-news")
    assert issubclass(spider, NewsSpider)
    assert (spider.name, spider.source.name) == ("bbc-news", "The BBC")
    assert not spider.named_by_operator


def test_class_in_spiders_is_used_for_its_source():
    spider = loader().load("ft")
    assert issubclass(spider, FtSpider)
    assert spider.source.home == "https://www.ft.com/"


def test_spider_attributes_can_be_read_by_feed_exports():
    spider = spider_of("ft")
    assert [name for name in dir(spider) if not hasattr(spider, name)] == []


def test_source_of_the_user_is_added(tmp_path):
    environment = demo_settings("http://127.0.0.1:8000", tmp_path, "sqlite://")
    own_loader = loader(environment["NEWSCRAWL_SOURCES"])
    spider = own_loader.load("harbour-courier")
    assert issubclass(spider, NewsSpider)
    assert spider.named_by_operator
    assert len(own_loader.list()) == len(load_sources()) + 1


def test_file_of_the_folder_is_read_where_none_is_named(tmp_path, monkeypatch):
    demo_settings("http://127.0.0.1:8000", tmp_path, "sqlite://")
    monkeypatch.chdir(tmp_path)
    assert (tmp_path / "sources.csv").exists()
    spider = loader().load("harbour-courier")
    assert issubclass(spider, NewsSpider)
    assert spider.named_by_operator


# --- Arguments ----------------------------------------------------------------------------------


def test_arguments_are_read():
    arguments = parse_arguments(
        {"since": "2026-11-01", "limit": "5", "feeds": "https://a.example/f, https://b.example/f,"}
    )
    assert arguments.since == datetime(2026, 11, 1, tzinfo=UTC)
    assert arguments.limit == 5
    assert arguments.feeds == ("https://a.example/f", "https://b.example/f")
    assert arguments.sitemaps == ()
    assert not arguments.only_due
    assert parse_arguments({"polls": "due"}).only_due
    assert parse_arguments({"_job": "6487ec79947edab326d6db28a2d86511"}) == parse_arguments({})


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("since", "last week", "not a date, such as 2026-11-01"),
        ("since", "2999-01-01", "is in the future"),
        ("limit", "0", "not a whole number above 0"),
        ("limit", "ten", "not a whole number above 0"),
        ("feeds", "", "contains no URL"),
        ("feeds", "feed.xml", "neither http nor https"),
        ("sitemaps", "https://me:secret@a.example/", "has credentials"),
        ("until", "2026-11-01", "unknown argument"),
        ("polls", "some", "write all"),
    ],
)
def test_invalid_argument_is_named_with_a_remedy(name, value, advice):
    with pytest.raises(SettingError) as caught:
        parse_arguments({name: value})
    assert str(caught.value).startswith(f"-a {name}=")
    assert advice in str(caught.value)
    assert "as in scrapy crawl ft -a since=" in str(caught.value)
    assert "secret" not in str(caught.value)


# --- The Financial Times ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://www.ft.com/content/0f1e", True),
        ("https://www.ft.com/video/0f1e", False),
        ("https://www.ft.com/companies", False),
        ("http://127.0.0.1:8000/page", True),
    ],
)
def test_ft_spider_follows_articles(url, wanted):
    spider = spider_of("ft")
    assert isinstance(spider, FtSpider)
    assert spider.is_article_url(url) is wanted


@pytest.mark.parametrize(
    ("url", "title", "status", "access"),
    [
        ("https://www.ft.com/content/1", "Bank buys bank", 200, "open"),
        ("https://www.ft.com/content/1", "Subscribe to read | Financial Times", 200, "paywalled"),
        ("https://www.ft.com/barrier/trial", "Join", 200, "paywalled"),
        ("https://www.ft.com/products?segment=1", "Offers", 200, "paywalled"),
        ("https://www.ft.com/content/1", "Sorry", 403, "refused"),
        ("https://www.ft.com/content/1", "Sorry", 401, "paywalled"),
    ],
)
def test_ft_spider_detects_barrier_pages(url, title, status, access):
    spider = spider_of("ft")
    assert isinstance(spider, FtSpider)
    html = f"<html><head><title>{title}</title></head>".encode()
    assert spider.access_of(HtmlResponse(url, status=status, body=html)) == access


# --- Which URLs, which hosts --------------------------------------------------------------------


def test_listing_arguments_replace_those_of_the_source():
    spider = spider_of("ft", feeds="http://127.0.0.1:8000/feed")
    assert isinstance(spider, NewsSpider)
    assert spider.listing_urls == ("http://127.0.0.1:8000/feed",)
    assert spider.named_addresses == {("127.0.0.1", 8000)}


@pytest.mark.parametrize(
    ("url", "covered"),
    [
        ("https://www.bbc.co.uk/news/1", True),
        ("https://www.bbc.com/news/1", True),
        ("https://feeds.bbc.co.uk/news/rss.xml", True),
        ("https://bbc.co.uk.evil.example/news/1", False),
        ("https://evil.example/bbc.co.uk", False),
        ("https://www.bbci.example/", False),
        ("http://127.0.0.1/", False),
        ("http://localhost/", False),
    ],
)
def test_spider_covers_the_urls_of_its_source(url, covered):
    spider = spider_of("bbc-news")
    assert isinstance(spider, NewsSpider)
    assert spider.covers(url) is covered


def test_source_at_an_ip_address_covers_only_that_address(tmp_path):
    own_file = demo_settings("http://127.0.0.1:8000", tmp_path, "sqlite://")["NEWSCRAWL_SOURCES"]
    spider = spider_of("harbour-courier", own_file)
    assert isinstance(spider, NewsSpider)
    assert spider.covers("http://127.0.0.1:8000/a")
    assert not spider.covers("http://127.0.0.2:8000/a")


def test_archive_sitemaps_are_read_only_on_request():
    usual = spider_of("die-welt")
    since = spider_of("die-welt", since="2026-01-01")
    assert isinstance(usual, NewsSpider)
    assert isinstance(since, NewsSpider)
    archive = set(usual.source.sitemaps)
    assert archive
    assert archive.isdisjoint(usual.listing_urls)
    assert archive <= set(since.listing_urls)


def test_bundled_source_cannot_allow_private_addresses():
    spider = spider_of("bbc-news")
    assert isinstance(spider, NewsSpider)
    assert spider.named_addresses == set()


def test_user_agent_has_the_contact():
    scrapy_settings = Settings({"NEWSCRAWL_CONTACT": "mailto:news@example.org"})
    NewsSpider.update_settings(scrapy_settings)
    assert scrapy_settings["USER_AGENT"] == "newscrawl/0.1.0 (+mailto:news@example.org)"


# --- Politeness ------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1", False),
        ("fc00::1", False),
        ("::ffff:127.0.0.1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::808:808", True),
        ("64:ff9b:1::808:808", False),
        ("::7f00:1", False),
        ("::808:808", False),
        ("::", False),
        ("fec0::1", False),
        ("2001:0:808:808::", False),
        ("2002:808:808::", True),
        ("::ffff:8.8.8.8", True),
        ("ff02::1", False),
    ],
)
def test_private_addresses_are_recognized(address, public):
    assert is_public(ipaddress.ip_address(address)) is public


@pytest.mark.parametrize(
    ("entries", "host", "port", "permitted"),
    [
        (["localhost"], "localhost", 8000, True),
        (["localhost:8000"], "localhost", 8000, True),
        (["localhost:8000"], "localhost", 8001, False),
        (["127.0.0.1"], "127.0.0.1", 80, False),  # as a network: see the next test
        ([], "localhost", 80, False),
    ],
)
def test_hosts_can_be_allowed(entries, host, port, permitted):
    assert AllowedAddresses(entries).host(host, port) is permitted


def test_networks_can_be_allowed():
    permitted = AllowedAddresses(["10.0.0.0/8", "127.0.0.1"])
    assert permitted.address(ipaddress.ip_address("10.9.9.9"))
    assert permitted.address(ipaddress.ip_address("127.0.0.1"))
    assert not permitted.address(ipaddress.ip_address("127.0.0.2"))


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "http://x", "host:port"])
def test_invalid_allowed_address_is_named(entry):
    with pytest.raises(SettingError, match="NEWSCRAWL_ALLOW_PRIVATE"):
        AllowedAddresses([entry])


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://A.example/x", ("a.example", 80)),
        ("https://a.example", ("a.example", 443)),
        ("https://a.example:8443/", ("a.example", 8443)),
        ("http://[::1]:8000/", ("::1", 8000)),
    ],
)
def test_host_and_port_are_read_from_a_url(url, address):
    assert address_of(url) == address


def answered(retry: str | None) -> Response:
    return Response("https://a.example/", 429, headers={"Retry-After": retry} if retry else {})


def test_retry_after_is_read_as_seconds_or_date():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert retry_after(answered("30")) == 30
    assert retry_after(answered(soon)) == pytest.approx(60, abs=3)


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "soon", "-5", "1e9", "٣", "0", "000"),
        "Sat, 01 Jan 2000 00:00:00 GMT",
        "Mon, 01 Jan 0001 00:00:00 +2359",
    ],
)
def test_retry_after_without_a_pause_is_ignored(header):
    assert retry_after(answered(header)) is None


@pytest.mark.parametrize(
    ("header", "rest"),
    [
        ("9" * 400, YEAR),
        ("Fri, 31 Dec 9999 23:59:59 -2359", YEAR),
        ("Sat, 01 Jan 2300 00:00:00 GMT", YEAR),
    ],
)
def test_absurd_retry_after_is_limited(header, rest):
    assert retry_after(answered(header)) == rest


NUMBERS = st.integers(-(10**40), 10**40).map(str)
DATES = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    st.sampled_from(["Mon", "Fri", "x"]),
    NUMBERS,
    st.sampled_from(["Jan", "Feb", "Dec", "13"]),
    st.sampled_from(["0", "1", "99", "2026", "9999", "10000", "-1", "9" * 30]),
    st.sampled_from(["0", "23", "24", "-1", "9" * 30]),
    st.sampled_from(["0", "59", "60", "9" * 30]),
    st.sampled_from(["0", "59", "61", "9" * 30]),
    st.sampled_from(["GMT", "+0000", "-2359", "+9999", "-99999999", "+" + "9" * 30, ""]),
)


@given(st.one_of(st.text(), NUMBERS, DATES, DATES.map(lambda text: text.partition(", ")[2])))
@settings(max_examples=settings().max_examples * 4)
def test_random_retry_after_does_not_raise(header):
    pause = retry_after(answered(header.encode("latin-1", "replace").decode("latin-1")))
    assert pause is None or 0 < pause <= YEAR
