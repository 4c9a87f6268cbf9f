"""The registry of sources, feeds, sitemaps and canonical URLs."""

import csv
import gzip
import re
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from newscrawl.sources import (
    FeedError,
    SitemapError,
    Source,
    SourceError,
    UrlError,
    canonical_url,
    load_sources,
    parse_feed,
    parse_sitemap,
    site_name,
    sitemaps,
    web_url,
)
from newscrawl.sources.registry import COLUMNS, add_source, catalog_of, load_registry
from newscrawl.sources.sitemaps import decompress
from newscrawl.sources.urls import declared_url

REGISTRY = load_sources()
GOOD = {
    "slug": "harbour",
    "name": "Harbour Courier",
    "country": "gb",
    "languages": "en|de",
    "home": "https://harbour.example/",
    "feeds": "https://harbour.example/feed",
    "sitemaps": "",
    "news_sitemaps": "",
    "status": "active",
}


def write(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


# --- The registry -------------------------------------------------------------------------------


@pytest.mark.parametrize("source", REGISTRY, ids=[source.slug for source in REGISTRY])
def test_every_source_can_be_crawled(source):
    today = source.on(date(2026, 11, 22))
    urls = (*today.feeds, *today.sitemaps, *today.news_sitemaps, *today.sections)
    assert urls
    assert all(web_url(url) == canonical_scheme(url) for url in urls)
    assert not any("{" in url for url in urls)
    assert site_name(source.home), f"{source.home} has no public suffix, such as .com"


def canonical_scheme(url: str) -> str:
    """A registry URL needs no repair before it is requested, but for escapes."""
    assert url.startswith(("https://", "http://"))
    return web_url(url)


def test_registry_has_all_sites_of_the_list():
    assert len(REGISTRY) >= 407
    assert len({source.home for source in REGISTRY}) == len(REGISTRY)
    assert len({source.country for source in REGISTRY}) >= 54


def test_dated_urls_are_expanded_once_per_day():
    source = Source(
        slug="s",
        name="S",
        country="de",
        languages=("de",),
        home="https://s.example/",
        sitemaps=("https://s.example/{yyyy}-{mm}.xml", "https://s.example/all.xml"),
        news_sitemaps=("https://s.example/{yy}{mm}{dd}.xml",),
    ).on(date(2026, 11, 2), date(2026, 11, 1))
    assert source.sitemaps == ("https://s.example/2026-11.xml", "https://s.example/all.xml")
    assert source.news_sitemaps == ("https://s.example/261102.xml", "https://s.example/261101.xml")


@pytest.mark.parametrize(
    ("column", "value", "advice"),
    [
        ("slug", "Harbour Courier", "use a-z, 0-9 and single hyphens"),
        ("name", "", "give the site's name"),
        ("country", "uk!", "two small letters"),
        ("languages", "english", "two small letters each"),
        ("languages", "", "two small letters each"),
        ("home", "harbour.example", "neither http nor https"),
        ("feeds", "ftp://harbour.example/feed", "neither http nor https"),
        ("feeds", "https://me:secret@harbour.example/feed", "has credentials"),
        ("sitemaps", "https://harbour.example/{year}.xml", "use {yyyy}"),
        ("sitemaps", "https://harbour.example/{yyyy.xml", "brace"),
        ("news_sitemaps", "https://harbour.example:port/", "not a URL"),
        ("status", "asleep", "use active or deprecated"),
    ],
)
def test_invalid_field_is_named_with_its_row_and_remedy(tmp_path, column, value, advice):
    file = write(tmp_path / "own.csv", GOOD, GOOD | {"slug": "other", column: value})
    with pytest.raises(SourceError) as caught:
        load_sources(file)
    message = str(caught.value)
    assert f"own.csv, row 3, column {column}: " in message
    assert advice in message
    assert "\n" not in message
    assert "secret" not in message


HEADLINE = ",".join(COLUMNS)
ROW = ",".join(GOOD.values())


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"slug,name\nx,y\n", ""),
        (b"", ""),
        (b"\xff\xfe\x00", "not UTF-8"),
        ("slug,name\nx,Zürich\n".encode("latin-1"), "not UTF-8; save it as CSV in UTF-8"),
        (b'slug,"name', ""),
        (b"slug,name\nx\n", ""),
        (
            f"{HEADLINE.replace(',', ';')}\nharbour;H;gb\n".encode(),
            "semicolons; save it as CSV with",
        ),
        (f"{HEADLINE}\n{ROW},x\n".encode(), "row 2: doesn't have the 9 fields of row 1"),
        (f"{HEADLINE}\n{ROW}\n{ROW}\n".encode(), "row 3, column slug: 'harbour' is taken"),
        (f"{HEADLINE}\n{ROW.replace(GOOD['feeds'], '')}\n".encode(), "at least one feed"),
        (None, "No such file or directory; check the"),
    ],
    ids=[
        *("columns missing", "empty", "not UTF-8", "Latin-1", "quote open", "short", "semicolons"),
        *("too many fields", "duplicate slug", "no listings", "missing"),
    ],
)
def test_file_that_is_not_a_registry_is_named(tmp_path, content, advice):
    file = tmp_path / "own.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SourceError, match=rf"own\.csv.*{advice}"):
        load_sources(file)


LABELLED = ",".join([*COLUMNS, "groups"])


def test_own_rows_add_groups_to_bundled_sources(tmp_path):
    file = tmp_path / "own.csv"
    own = ",".join([*GOOD.values(), "mine | press"])
    file.write_text(f"{LABELLED}\n{own}\nft,,,,,,,,,mine\n")
    assert [source.slug for source in load_sources(file)] == ["harbour"]
    registry = {source.slug: source for source in load_registry(file)}
    assert registry["ft"].groups == ("business", "leading", "mine")
    assert registry["ft"].feeds == REGISTRY_BY_SLUG["ft"].feeds
    catalog = catalog_of(registry.values())
    assert catalog.groups["mine"] == ("ft", "harbour")
    assert "reuters" in catalog.groups["leading"]


REGISTRY_BY_SLUG = {source.slug: source for source in REGISTRY}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (",".join([*GOOD.values(), "x" * 61]), "row 2, column groups: a name of more than 60"),
        ("nowhere,,,,,,,,,mine", "row 2, column slug: no source 'nowhere' to add groups to"),
    ],
)
def test_faulty_groups_are_named(tmp_path, row, says):
    file = tmp_path / "own.csv"
    file.write_text(f"{LABELLED}\n{row}\n")
    with pytest.raises(SourceError, match=re.escape(says)):
        load_registry(file)


def test_source_is_added_to_a_file_with_groups(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text(f"{LABELLED}\nft,,,,,,,,,mine\n")
    add_source(file, replace(REGISTRY_BY_SLUG["ft"], slug="quay", groups=("mine",)))
    assert load_sources(file)[0].groups == ("mine",)
    assert len(load_registry(file)) == len(REGISTRY) + 1


# --- URLs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variant",
    [
        "HTTPS://News.Example:443/a/b?id=7&utm_source=rss",
        "https://news.example/a/b?id=7#comments",
        "https://news.example/x/../a/b?fbclid=abc&id=7",
        "https://news.example/a//b?id=7&at_medium=RSS",
        "  https://news.example/a/b?id=7&amp;utm_medium=feed ",
    ],
)
def test_one_article_has_one_canonical_url(variant):
    assert canonical_url(variant) == "https://news.example/a/b?id=7"


@pytest.mark.parametrize(
    "view",
    [
        "/world/a-story?amp=1",
        "/world/a-story?amp",
        "/world/a-story?outputType=amp",
        "/world/a-story?view=print&utm_source=x",
        "/world/a-story?print=true",
        "/world/a-story/amp",
        "/world/a-story/amp/",
        "/world/a-story//amp",
        "/world/a-story/print/",
        "/world/a-story.amp",
    ],
)
def test_print_and_mobile_views_have_the_canonical_url(view):
    once = canonical_url(f"https://news.example{view}")
    assert once == "https://news.example/world/a-story"
    assert canonical_url(once) == once


@pytest.mark.parametrize(
    "url",
    [
        "https://news.example/technology/print",
        "https://news.example/amp",
        "https://news.example/a-story?amp=50",
        "https://news.example/a-story?view=gallery",
        "https://news.example/a-story?printer=1",
    ],
)
def test_url_that_resembles_a_view_is_kept(url):
    assert canonical_url(url) == url


def test_articles_that_differ_by_a_parameter_have_different_urls():
    assert canonical_url("https://n.example/?p=1") != canonical_url("https://n.example/?p=2")


@pytest.mark.parametrize(
    "url", ["https://n.example/news.php?123", "https://n.example/?/a/1", "https://n.example/a;art1"]
)
def test_number_without_a_name_and_semicolon_identify_an_article(url):
    assert canonical_url(url) == url
    tracked = f"{url}{'&' if '?' in url else '?'}utm_source=x"
    assert canonical_url(tracked) == url


@pytest.mark.parametrize(
    "name", ["cid", "eid", "uid", "ref", "refid", "ref_no", "gallery_id", "gameId"]
)
def test_number_in_a_parameter_that_campaigns_also_use_identifies_an_article(name):
    url = f"https://n.example/view.php?{name}=17"
    assert canonical_url(url) == url
    for twin in (f"{url}&utm_source=x", f"https://n.example/view.php?utm_id=3&{name}=17"):
        assert canonical_url(twin) == url
    numbered = f"https://n.example/view.php?a=1&b=2&{name}=17"
    assert canonical_url(numbered) == canonical_url(f"{url}&b=2&a=1")
    assert canonical_url(canonical_url(numbered)) == canonical_url(numbered)


@pytest.mark.parametrize(
    "parameter", ["cid=rss_home", "mc_cid=17", "mc_eid=17", "ref=home", "fbclid=1"]
)
def test_parameter_of_a_campaign_does_not_identify_an_article(parameter):
    assert canonical_url(f"https://n.example/a?{parameter}") == "https://n.example/a"


def test_session_in_the_path_does_not_identify_an_article():
    url = "https://n.example/a.do;jsessionid=0A1B2C?id=7"
    assert canonical_url(url) == "https://n.example/a.do?id=7"


def test_relative_url_is_resolved_against_its_page():
    assert canonical_url("../b", "https://n.example/a/c/") == "https://n.example/a/b"
    with pytest.raises(UrlError):
        canonical_url("../b")


def test_url_inside_a_url_keeps_its_host():
    url = canonical_url("https://n.example/go?to=https://evil.example/x")
    assert url.startswith("https://n.example/")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://n.example/a",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://user:secret@n.example/",
        "https://user@n.example/",
        "https://",
        "",
        "https://n.example:99999999/",
        "https://[::1/",
        "https://n.example/" + "a" * 3000,
        "https://" + "n" * 64 + ".example/a",
    ],
)
def test_unfollowable_urls_are_refused(url):
    with pytest.raises(UrlError) as caught:
        canonical_url(url)
    assert "secret" not in str(caught.value)


_LABEL = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8})?", fullmatch=True)
_SEGMENT = st.text("aZ09_.~-", min_size=1, max_size=12) | st.sampled_from(
    ["amp", "print", "story.amp", "a-1.amp.html", "..", "2026"]
)


@given(
    st.lists(_LABEL, min_size=1, max_size=4),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.lists(_SEGMENT, min_size=1, max_size=5),
    st.sampled_from(["", "/"]),
)
def test_canonical_url_ignores_the_fragment(host, port, path, end):
    url = f"https://{'.'.join(host)}{port}/{'/'.join(path)}{end}"
    # A fragment is to be cleaned away, so that nothing is spared.
    assert canonical_url(url) == canonical_url(f"{url}#top")


@settings(deadline=None)
@example("&amp")
@given(st.text(max_size=80) | st.from_regex(r"[a-z0-9./&?=-]{0,30}(amp|print)[/=&1]{0,3}"))
def test_canonicalizing_twice_changes_nothing(rest):
    try:
        once = canonical_url(f"https://n.example/{rest}")
    except UrlError:
        return
    assert canonical_url(once) == once


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("https://n.example/story?utm_source=x", "https://n.example/story"),
        ("/story", "https://n.example/story"),
        ("https://other.example/story", None),
        ("https://n.example/", None),
        ("", None),
        ("javascript:void(0)", None),
    ],
)
def test_canonical_link_to_the_same_site_is_used(claim, expected):
    html = f'<html><head><link rel="canonical" href="{claim}"></head>'.encode()
    assert declared_url(html, "https://n.example/print/story") == expected


@pytest.mark.parametrize(
    "head",
    [
        '<!-- <link rel="canonical" href="/old"> --><link rel="canonical" href="/story">',
        "<link rel='shortlink' href='/x'><LINK href=/story REL=canonical>",
        '<link rel="alternate canonical" data-x="1"\n href="/story" />',
        '<link rel="canonical"><link rel="canonical" href="/story">',
        '<link rel="preload" href="/canonical.css"><link rel=canonical href="/story">',
    ],
)
def test_canonical_link_is_found_in_any_spelling(head):
    assert declared_url(f"<html><head>{head}".encode(), "https://n.example/x") == (
        "https://n.example/story"
    )


@pytest.mark.parametrize(
    "junk", ["<link canonical ", "<link rel=canonical>", "<!-- <link rel=canonical href=/a>"]
)
def test_head_of_many_links_takes_linear_time(junk):
    started = time.process_time()
    declared_url(junk.encode() * 100_000, "https://n.example/x")
    assert time.process_time() - started < 20


# --- Feeds --------------------------------------------------------------------------------------

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><language>de-AT</language><item>
<title>Bank &amp;amp; Post &lt;b&gt;heute&lt;/b&gt;</title><link>/a</link>
<description>&lt;p&gt;Ein &lt;i&gt;Satz&lt;/i&gt;.&lt;script&gt;x()&lt;/script&gt;&lt;/p&gt;
</description><author>jule@harbour.de (Jule Petersen)</author><category>Wirtschaft</category>
<pubDate>Sat, 21 Nov 2026 10:00:00 +0100</pubDate></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>x</title><entry>
<title type="html">Bank &amp;amp; Post heute</title><link href="https://n.example/a"/>
<summary>Ein Satz.</summary><author><name>Jule Petersen</name></author>
<category term="Wirtschaft"/><published>2026-11-21T09:00:00Z</published></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="x"><title>x</title><dc:language>de</dc:language></channel>
<item rdf:about="https://n.example/a"><title>Bank &amp; Post heute</title>
<link>https://n.example/a</link><description>Ein Satz.</description>
<dc:creator>Jule Petersen</dc:creator><dc:subject>Wirtschaft</dc:subject>
<dc:date>2026-11-21T10:00:00+01:00</dc:date></item></rdf:RDF>"""


@pytest.mark.parametrize(
    "body",
    [RSS, ATOM, ATOM.replace("published", "updated"), RDF],
    ids=["RSS", "Atom", "Atom with one date", "RDF"],
)
def test_feed_lists_its_pages(body):
    (entry,) = parse_feed(body.encode(), "https://n.example/feed").entries
    assert entry.url == "https://n.example/a"
    assert entry.hints.title == "Bank & Post heute"
    assert entry.hints.standfirst == "Ein Satz."
    assert entry.hints.authors == ("Jule Petersen",)
    assert entry.hints.section == "Wirtschaft"
    assert entry.hints.language == "de"
    assert entry.hints.published == datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("told", "minutes"),
    [
        ("<ttl>30</ttl>", 30),
        ("<sy:updatePeriod> hourly\n</sy:updatePeriod>", 60),
        ("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>", 360),
        ("<ttl>90</ttl><sy:updatePeriod>hourly</sy:updatePeriod>", 60),
        ("<ttl>0</ttl>", None),
        ("<ttl>-5</ttl>", None),
        ("<ttl>soon</ttl><sy:updatePeriod>often</sy:updatePeriod>", None),
        ("", None),
    ],
)
def test_feed_declares_its_poll_interval(told, minutes):
    module = "xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'"
    body = f"<rss version='2.0' {module}><channel><title>F</title>{told}</channel></rss>"
    found = parse_feed(body.encode(), "https://f.example/")
    assert found.interval == (None if minutes is None else timedelta(minutes=minutes))


def test_entries_without_a_usable_link_are_counted():
    body = b"<rss><channel><item><title>a</title><link>javascript:x</link></item></channel></rss>"
    feed = parse_feed(body, "https://n.example/feed")
    assert (feed.entries, feed.unusable) == ((), 1)


DAY = datetime(2026, 11, 12, 13, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("Thu, 12 Nov 2026 13:30:00 GMT", DAY),
        ("Thu,12 Nov 2026 13:30:00 GMT", DAY),
        ("Thu, 12 Nov 26 14:30:00 +0100", DAY),
        ("Thu, 12 Nov 2026 14:30:00 CET", DAY),
        ("jeu., 12 nov. 2026 14:30:00 +0100", DAY),
        ("Чт, 12 ноя 2026 16:30:00 +0300", DAY),
        ("Thursday, November 12, 2026 - 13:30", DAY),
        ("2026/11/12 13:30", DAY),
        ("2026年11月12日 13:30", DAY),
        ("12.11.2026 13:30", DAY),
        ("2026-11-12T13:30:00Z", DAY),
        ("1794490200", DAY),
        ("03/05/2026 10:00", None),  # a day and a month that nobody can tell apart
        ("Sat, 21 Nov 2099 10:00:00 +0100", None),
    ],
)
def test_date_of_an_entry_is_read_as_it_is_written(written, moment):
    body = RSS.replace("Sat, 21 Nov 2026 10:00:00 +0100", written).encode()
    (entry,) = parse_feed(body, "https://n.example/feed").entries
    assert (entry.hints.published, entry.moment) == (moment, moment)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body>Welcome</body></html>",
        b"\x89PNG\r\n",
        b"http://127.0.0.1:9/feed",
        b"/etc/hostname",
        b'{"items": []}',
        b"<!DOCTYPE rss [<!ENTITY a 'b'>]>" + RSS.encode(),
        "<!DOCTYPE rss [<!ENTITY a 'b'>]>".encode("utf-16"),
    ],
    ids=["empty", "HTML", "PNG", "a URL", "a path", "JSON", "entities", "entities in UTF-16"],
)
def test_document_that_is_not_a_feed_is_refused(body):
    with pytest.raises(FeedError):
        parse_feed(body, "https://n.example/feed")


def test_entries_of_a_feed_are_limited():
    items = "".join(f"<item><link>/a{number}</link></item>" for number in range(2_100))
    body = f"<rss><channel>{items}</channel></rss>".encode()
    feed = parse_feed(body, "https://n.example/feed")
    assert (len(feed.entries), feed.unusable) == (2_000, 100)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_a_feed_or_a_feed_error(body):
    try:
        feed = parse_feed(b"<rss><channel><item>" + body, "https://n.example/")
    except FeedError:
        return
    assert len(feed.entries) + feed.unusable <= 1 + body.count(b"<")


# --- Sitemaps -----------------------------------------------------------------------------------

HEAD = (
    '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
)
NEWS = (
    f"{HEAD}<url><loc> https://n.example/a </loc><lastmod>2026-11-20</lastmod>"
    "<image:image><image:loc>https://n.example/i.jpg</image:loc></image:image>"
    "<news:news><news:publication><news:name>N</news:name><news:language>zh-cn</news:language>"
    "</news:publication><news:publication_date>2026-11-21T10:00+01:00</news:publication_date>"
    "<news:title>T &amp; U</news:title></news:news></url>"
    "<url><loc>ftp://n.example/b</loc></url></urlset>"
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_news_sitemap_lists_its_pages(pack):
    sitemap = parse_sitemap(pack(NEWS.encode()), "https://n.example/s.xml")
    (entry,) = sitemap.entries
    assert entry.url == "https://n.example/a"
    assert (entry.hints.title, entry.hints.language) == ("T & U", "zh")
    assert entry.moment == datetime(2026, 11, 21, 9, tzinfo=UTC)
    assert entry.modified == datetime(2026, 11, 20, tzinfo=UTC)
    assert (sitemap.unusable, sitemap.damage, sitemap.children) == (1, None, ())


def test_index_lists_sitemaps():
    body = b"<sitemapindex><sitemap><loc>/b.xml.gz</loc></sitemap></sitemapindex>"
    sitemap = parse_sitemap(body, "https://n.example/a.xml")
    assert [child.url for child in sitemap.children] == ["https://n.example/b.xml.gz"]


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-11-12T14:30:00Z", date(2026, 11, 12)),
        ("05.03.2026 14:30", date(2026, 3, 5)),
        ("12 nov. 2026", date(2026, 11, 12)),
        ("Thu Nov 12 14:30:00 CET 2026", date(2026, 11, 12)),
        ("2026-11", None),
        ("2026", None),
    ],
)
def test_last_change_in_a_sitemap_is_read_as_it_is_written(written, day):
    url = f"<url><loc>https://n.example/a</loc><lastmod>{written}</lastmod></url>"
    (entry,) = parse_sitemap(f"{HEAD}{url}</urlset>".encode(), "https://n.example/").entries
    assert (entry.modified and entry.modified.date()) == day


def test_truncated_sitemap_is_read_up_to_its_end():
    sitemap = parse_sitemap(NEWS.removesuffix("</urlset>").encode(), "https://n.example/")
    assert len(sitemap.entries) == 1
    assert sitemap.damage is not None
    assert "broken XML" in sitemap.damage


def test_entries_of_a_sitemap_are_limited(monkeypatch):
    assert sitemaps.MAX_ENTRIES == 50_000
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 10)
    one = "<url><loc>https://n.example/a</loc></url>"
    sitemap = parse_sitemap(f"{HEAD}{one * 11}</urlset>".encode(), "https://n.example/")
    assert len(sitemap.entries) == 10
    assert sitemap.damage == "has more than 10 entries; the rest is ignored"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html></html>",
        b'<!DOCTYPE urlset [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',
        b'<!DOCTYPE urlset SYSTEM "file:///etc/passwd"><urlset></urlset>',
        b"\x1f\x8bnot gzip at all",
        b"<urlset><url>" + b"<a/>" * 100_000,
    ],
    ids=["empty", "HTML", "entities", "document type", "broken gzip", "wide"],
)
def test_document_that_is_not_a_sitemap_is_refused(body):
    with pytest.raises(SitemapError):
        parse_sitemap(body, "https://n.example/s.xml")


def test_deep_sitemap_ends_at_the_limit_of_depth():
    entry = b"<url><loc>https://n.example/1</loc></url>"
    sitemap = parse_sitemap(b"<urlset>" + entry + b"<a>" * 100_000, "https://n.example/s.xml")
    assert [entry.url for entry in sitemap.entries] == ["https://n.example/1"]
    assert "depth" in (sitemap.damage or "")


def test_gzip_bomb_is_refused():
    with pytest.raises(SitemapError, match="decompresses to more than 1000 bytes"):
        decompress(gzip.compress(bytes(100_000)), limit=1000)
