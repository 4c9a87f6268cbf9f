"""Listings that are less well made than the standard: charsets, forms, tails and clocks."""

import gzip
import json
from datetime import UTC, datetime, timedelta

import pytest

from newscrawl.sources.feeds import Feed, FeedError, introduction
from newscrawl.sources.sitemaps import Sitemap, read_listing

URL = "https://news.example/feed"

HEADLINES = {
    "windows-1251": "Мост через реку закрыли до весны, сообщила мэрия",
    "koi8-r": "Трамвай снова ходит по набережной после ремонта",
    "windows-1250": "Řidiči tramvají přijeli včera později než obvykle",
    "iso-8859-2": "Zamknięto most nad rzeką, objazd przez łąki do środy",
    "windows-1253": "Η γέφυρα έκλεισε για επισκευές έως την άνοιξη",
    "windows-1254": "Köprü ilkbahara kadar kapatıldı, şoförler bekliyor",
    "windows-1255": "הגשר נסגר לתיקונים עד האביב, כך הודיעה העירייה",
    "windows-1256": "أغلق الجسر حتى الربيع بسبب أعمال الصيانة في المدينة",
    "gb18030": "大桥因维修关闭至春季，市政府表示将开通渡轮",
    "shift_jis": "橋は春まで修理のため閉鎖されると市が発表した",
    "euc-jp": "橋は春まで修理のため閉鎖されると市が発表した",
    "euc-kr": "다리는 봄까지 수리를 위해 폐쇄된다고 시가 밝혔다",
    "koi8-u": "Трамвай знову їздить набережною після ремонту, її відкрили",
    "cp1252": "La société a fermé le pont à péage jusqu’à l’été, dit-elle",
}


def feed_of(headline: str, charset: str, declaration: str) -> bytes:
    items = f"<item><title>{headline}</title><link>https://news.example/1</link></item>" * 3
    return f"{declaration}<rss><channel><title>News</title>{items}</channel></rss>".encode(charset)


def feed(body: str | bytes, content_type: str | None = None) -> Feed:
    listing = read_listing(body if isinstance(body, bytes) else body.encode(), URL, content_type)
    assert isinstance(listing, Feed)
    return listing


@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0" encoding="UTF-8"?>'])
@pytest.mark.parametrize("charset", HEADLINES)
def test_charset_without_or_with_a_wrong_declaration_is_found(charset, declaration):
    headline = HEADLINES[charset]
    body = feed_of(headline, charset, declaration)
    assert {entry.hints.title for entry in feed(body).entries} == {headline}


@pytest.mark.parametrize("charset", ["windows-1251", "windows-1253", "euc-kr", "gb18030"])
def test_letters_of_another_script_are_not_those_of_latin_1(charset):
    body = feed_of(HEADLINES[charset], charset, '<?xml version="1.0" encoding="iso-8859-1"?>')
    assert {entry.hints.title for entry in feed(body).entries} == {HEADLINES[charset]}


def test_charset_of_a_faulty_header_is_found():
    body = feed_of(HEADLINES["gb18030"], "gb18030", "")
    (entry, *_) = feed(body, "text/html; charset:gbk;").entries
    assert entry.hints.title == HEADLINES["gb18030"]


def test_json_feed_is_read():
    item = {
        "id": "7",
        "url": "/2026/quay",
        "title": "Quay &amp; ferry",
        "content_text": "The quay opened.",
        "date_published": "2026-11-20T10:00:00+01:00",
        "authors": [{"name": "Anna Keller"}, {"url": "https://x.example"}],
        "tags": ["harbour", 7],
    }
    text = {"version": "https://jsonfeed.org/version/1.1", "title": "Gazette", "language": "en-GB"}
    listing = feed(json.dumps(text | {"items": [item, {"id": "no address"}, 5]}))
    (entry,) = listing.entries
    assert entry.url == "https://news.example/2026/quay"
    hints = entry.hints
    assert (hints.title, hints.standfirst, hints.authors, hints.section, hints.language) == (
        "Quay & ferry", "The quay opened.", ("Anna Keller",), "harbour", "en",
    )  # fmt: skip
    assert hints.published == datetime(2026, 11, 20, 9, tzinfo=UTC)
    assert (listing.title, listing.unusable) == ("Gazette", 1)


def test_posts_of_wordpress_are_read():
    post = {
        "id": 12,
        "link": "https://news.example/quay",
        "title": {"rendered": "Quay &#038; ferry"},
        "excerpt": {"rendered": "<p>The quay opened.</p>"},
        "date_gmt": "2026-11-20T09:00:00",
        "author": 3,
        "tags": [4],
    }
    (entry,) = feed(json.dumps([post])).entries
    assert (entry.hints.title, entry.hints.standfirst) == ("Quay & ferry", "The quay opened.")
    assert entry.hints.published == datetime(2026, 11, 20, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "listing",
    [
        {"articles": [{"url": URL, "title": "Quay", "publishedAt": "2026-03-05T07:30:00Z"}]},
        {"posts": [{"url": URL, "title": "Quay", "published_at": "2026-03-05T07:30:00Z"}]},
        {"results": [{"link": URL, "headline": "Quay", "date": "2026-03-05T07:30:00Z"}]},
        {
            "itemListElement": [
                {"item": {"url": URL, "name": "Quay", "datePublished": "2026-03-05T07:30Z"}}
            ]
        },
    ],
    ids=["agency", "Ghost", "search", "schema.org"],
)
def test_list_of_articles_in_json_is_read(listing):
    (entry,) = feed(json.dumps(listing)).entries
    assert (entry.url, entry.hints.title) == (URL, "Quay")
    assert entry.hints.published == datetime(2026, 3, 5, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[" * 100_000, '{"items": 5}'])
def test_json_that_is_no_feed_is_refused(text):
    with pytest.raises(FeedError, match="JSON"):
        feed(text)


def test_sitemap_of_lines_is_read():
    lines = b"\xef\xbb\xbfhttps://news.example/a\r\n\r\n http://news.example/b\n"
    sitemap = read_listing(lines, URL)
    assert isinstance(sitemap, Sitemap)
    assert [entry.url for entry in sitemap.entries] == [
        "https://news.example/a",
        "http://news.example/b",
    ]
    with pytest.raises(FeedError):
        read_listing(b"https://news.example/a is an address\n", URL)


def test_prefix_of_a_news_sitemap_needs_no_declaration():
    sitemap = read_listing(
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>'
        b"<loc>https://news.example/a</loc><news:news><news:title>Quay</news:title>"
        b"<news:publication_date>2026-11-20</news:publication_date></news:news></url></urlset>",
        URL,
    )
    assert [entry.hints.title for entry in sitemap.entries] == ["Quay"]
    assert sitemap.entries[0].hints.published == datetime(2026, 11, 20, tzinfo=UTC)


TEXT = "The quay opened."


@pytest.mark.parametrize(
    "description",
    [
        "{} <a href='x'>Continue reading</a>",
        "{}<br/><a href='x'>Weiterlesen &rarr;</a><img src='t'>",
        "<p>{}</p><p><a href=f>Facebook</a> | <a href=t>Twitter</a></p>",
        "<p>{}</p>\n<p>The post <a href=x>Quay</a> appeared first on <a href=y>Gazette</a>.</p>",
        "<p>{}</p><p>Subscribe to our newsletter.</p>",
        "<p>{}</p><p>Abonnieren Sie unseren Newsletter.</p>",
        "{}<br/>[[ This is a content summary only. Visit my website for more! ]]",
        "<p>{}</p><p>This article was originally published on <a href=x>Gazette</a>.</p>",
        "{}<br/><br/>Der Beitrag Quay erschien zuerst auf Gazette.",
        "<p>{}</p><p>La entrada <a href=x>Quay</a> se publicó primero en <a href=y>G</a>.</p>",
        "{} <a href=x>Continue reading <span class=nav>&rarr;</span></a>",
        "{} [<a href=x>more</a>]",
        "{} (Source: <a href=x>Gazette</a>)",
        "{} Read more...",
        "<p>{}</p><p>Filed under: <a href=x>quays</a>, <a href=y>ships</a></p>",
        "{}<p>Posted in <a href=x>Local</a></p>",
        "<p>{}</p><p>© 2026 Pier Gazette. All rights reserved.</p>",
        "{} submitted by <a href=u>/u/ida</a> <a href=l>[link]</a> <a href=c>[comments]</a>",
        "&lt;p&gt;{}&lt;/p&gt;&lt;p&gt;The post &lt;a href=x&gt;Quay&lt;/a&gt; is on G.&lt;/p&gt;",
        "<p>{} <a href=x>[…]</a></p><p>投稿 <a href=x>Quay</a> は <a href=y>G</a> に表示</p>",
    ],
)
def test_tails_of_a_description_are_no_introduction(description):
    assert introduction(description.format(TEXT), "Quay") == TEXT


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("The tram is by <a href=x>Siemens</a>", "The tram is by Siemens"),
        ("<a href=x>The quay opened</a>", "The quay opened"),
        ("<p>It rained.</p><p>Then came <a href=x>Bo</a>.</p>", "It rained. Then came Bo."),
        ("The sign says &lt;stop&gt; now.", "The sign says <stop> now."),
        ("<p>Quay opens again.</p>", "Quay opens again."),
        (f"<p>One.</p><p>Quay: {'work goes on ' * 9}.</p>", f"One. Quay: {'work goes on ' * 9}."),
        (None, None),
    ],
)
def test_introductions_are_left_whole(description, text):
    assert introduction(description, "Quay") == text


@pytest.mark.parametrize(
    ("creator", "authors"),
    [
        ("ida@acme.example (Ida Holm)", ["Ida Holm"]),
        ("Ida Holm (ida@acme.example)", ["Ida Holm"]),
        ("Associated Press", []),
        ("PTI", []),
        ("Редакция", []),
        ("Holm, Ida; Berg, Ola", ["Ida Holm", "Ola Berg"]),
    ],
)
def test_author_of_an_entry_is_a_person(creator, authors):
    item = f"<item><link>https://news.example/1</link><dc:creator>{creator}</dc:creator></item>"
    (entry,) = feed(f"<rss><channel>{item}</channel></rss>").entries
    assert list(entry.hints.authors) == authors


def test_local_time_that_is_labelled_utc_is_not_in_the_future():
    now = datetime.now(UTC).replace(microsecond=0)
    for ahead, hours in ((330, 6), (480 - 10, 8), (2, 0), (60 * 15, None)):
        written = (now + timedelta(minutes=ahead)).strftime("%a, %d %b %Y %H:%M:%S +0000")
        (entry,) = feed(
            "<rss><channel><item><title>A</title><link>https://news.example/1</link>"
            f"<pubDate>{written}</pubDate></item></channel></rss>"
        ).entries
        shifted = None if hours is None else now + timedelta(minutes=ahead) - timedelta(hours=hours)
        assert entry.hints.published == shifted


SITE = "<link>https://news.example.com/</link>"


@pytest.mark.parametrize(
    ("channel", "item", "urls"),
    [
        (SITE, "<link>/a/quay-1</link>", ["https://news.example.com/a/quay-1"]),
        (SITE, "<guid>/a/quay-1</guid>", ["https://news.example.com/a/quay-1"]),
        ("<link>/</link>", "<link>/a/quay-1</link>", ["https://news.example/a/quay-1"]),
        ("", "<guid isPermaLink='false'>https://news.example/q</guid>", ["https://news.example/q"]),
        ("", "<guid isPermaLink='false'>quay-1</guid>", []),
        (
            "",
            "<link>https://www.google.com/url?sa=t&amp;url=https://news.example/q</link>",
            ["https://news.example/q"],
        ),
    ],
)
def test_link_of_an_entry_is_that_of_the_article(channel, item, urls):
    head = f"<rss version='2.0'><channel><title>News</title>{channel}"
    read = feed(f"{head}<item><title>Quay</title>{item}</item></channel></rss>")
    assert [entry.url for entry in read.entries] == urls


@pytest.mark.parametrize(
    "link",
    [
        "https://https://news.example/1",
        "https:/news.example/1",
        "news.example/1",
        "//news.example/1",
        "/1",
    ],
)
def test_link_that_lacks_a_part_or_has_one_twice_is_mended(link):
    body = f"<rss><channel><item><title>Quay</title><link>{link}</link></item></channel></rss>"
    assert [entry.url for entry in feed(body).entries] == ["https://news.example/1"]


@pytest.mark.parametrize("date", ["-0001-11-30T00:00:00+00:00", "0000-00-00 00:00:00"])
def test_no_day_of_a_database_is_no_date(date):
    (entry,) = feed(
        f"<rss><channel><item><link>/1</link><pubDate>{date}</pubDate></item></channel></rss>"
    ).entries
    assert entry.hints.published is None


def test_feed_that_is_compressed_twice_or_declares_the_wrong_width_is_read():
    body = feed_of("Brücke gesperrt", "utf-8", '<?xml version="1.0" encoding="utf-16"?>')
    (entry, *_) = feed(gzip.compress(gzip.compress(body))).entries
    assert entry.hints.title == "Brücke gesperrt"


def test_one_wrong_byte_changes_no_other_letter():
    body = feed_of("Brücke in Mühl zu", "utf-8", '<?xml version="1.0" encoding="utf-8"?>')
    (entry, *_) = feed(body.replace("Mühl".encode(), "Mühl".encode("cp1252"), 1)).entries
    assert entry.hints.title == "Brücke in Mühl zu"


def test_h_feed_is_read():
    (entry,) = feed(
        '<!doctype html><html><body class="h-feed"><article class="h-entry">'
        '<b class="h-card"><a class="u-url p-name" href="/holm">Ida Holm</a></b>'
        '<a class="u-url p-name" href="/1">Bridge closed</a><p class="p-summary">Until spring.</p>'
        '<b class="p-author">Ida Holm</b><time class="dt-published" datetime="2026-03-05T07:30Z">'
        "5 March</time></article></body></html>"
    ).entries
    hints = entry.hints
    assert (entry.url, hints.title, hints.standfirst, list(hints.authors), hints.published) == (
        "https://news.example/1",
        "Bridge closed",
        "Until spring.",
        ["Ida Holm"],
        datetime(2026, 3, 5, 7, 30, tzinfo=UTC),
    )
