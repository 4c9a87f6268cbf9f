"""Mutated feeds and sitemaps: each is read, completely or in part, or refused with a named error.

Seeds are a feed of each dialect, and each kind of sitemap; mutations are what is met on the web
(wrong encodings, references to no character, markup that isn't closed) and what isn't.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from newscrawl.sources import Entry, FeedError, SitemapError
from newscrawl.sources.feeds import MAX_AUTHORS, MAX_STANDFIRST, MAX_TITLE
from newscrawl.sources.sitemaps import read_listing

URL = "https://harbour.example/feed.xml"
# Entries of each seed.
ENTRIES = 3
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
_SY = 'xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
_CONTENT = 'xmlns:content="http://purl.org/rss/1.0/modules/content/"'
_MEDIA = 'xmlns:media="http://search.yahoo.com/mrss/"'
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _rss(version: str, namespaces: str, channel: str, item: str) -> str:
    items = "".join(item.replace("NN", str(number)) for number in range(ENTRIES))
    return (
        f'{_HEAD}<rss version="{version}" {namespaces}><channel><title>Harbour Courier</title>'
        f"<link>https://harbour.example/</link><description>News</description>{channel}{items}"
        "</channel></rss>"
    )


_PLAIN_ITEM = (
    "<item><title>Crane NN &amp; quay: Zürich’s bid</title>"
    "<link>https://harbour.example/story/NN?a=1&amp;b=2</link>"
    "<description>The harbour &lt;b&gt;buys&lt;/b&gt; crane NN.</description></item>"
)
_FULL_ITEM = (
    '<item><title><![CDATA[Crane NN & quay: Zürich’s bid]]></title><guid isPermaLink="false">NN'
    "</guid><link>https://harbour.example/story/NN</link><dc:creator>Ada Pell</dc:creator>"
    "<author>ada@harbour.example (Ada Pell)</author><category domain='x'>City</category>"
    "<description><![CDATA[<p>The harbour buys <a href='/x?y=1&z=2'>crane</a> NN.</p>]]>"
    "</description><content:encoded><![CDATA[<p>All of it.</p><img src='a.jpg'/>]]>"
    "</content:encoded><pubDate>Sat, 21 Nov 2026 1NN:00:00 +0100</pubDate>"
    '<enclosure url="https://harbour.example/NN.mp3" length="12" type="audio/mpeg"/>'
    '<media:content url="https://harbour.example/NN.jpg" medium="image"><media:title>Crane'
    "</media:title></media:content><georss:point>45.2 -71.9</georss:point></item>"
)
_RDF = (
    f'{_HEAD}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    f'xmlns="http://purl.org/rss/1.0/" {_DC} {_SY} {_CONTENT}>'
    '<channel rdf:about="https://harbour.example/"><title>Harbour Courier</title>'
    "<link>https://harbour.example/</link><dc:language>de</dc:language>"
    "<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency><items>"
    '<rdf:Seq><rdf:li rdf:resource="https://harbour.example/story/0"/></rdf:Seq></items></channel>'
    + "".join(
        f'<item rdf:about="https://harbour.example/story/{n}"><title>Kran {n}: Züge</title>'
        f"<link>https://harbour.example/story/{n}</link><description>Der Hafen.</description>"
        f"<dc:creator>Ada Pell</dc:creator><dc:date>2026-11-21T1{n}:00:00+01:00</dc:date>"
        "<dc:subject>Wirtschaft</dc:subject><content:encoded><![CDATA[<p>Alles.</p>]]>"
        "</content:encoded></item>"
        for n in range(ENTRIES)
    )
    + "</rdf:RDF>"
)
_ATOM = (
    f'{_HEAD}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" {_MEDIA}>'
    '<title type="text">Harbour Courier</title><link rel="self" href="https://harbour.example/f"/>'
    "<updated>2026-11-21T18:30:02Z</updated><id>urn:uuid:60a7</id>"
    + "".join(
        f'<entry xml:base="https://harbour.example/"><title type="html">Kran {n} &amp;amp; Züge'
        f'</title><link rel="alternate" type="text/html" href="story/{n}"/><id>urn:{n}</id>'
        f"<published>2026-11-21T1{n}:00:00Z</published><updated>2026-11-21T1{n}:30:00Z</updated>"
        "<author><name>Ada Pell</name><email>ada@harbour.example</email></author>"
        '<category term="City" label="Stadt"/><summary type="xhtml">'
        '<div xmlns="http://www.w3.org/1999/xhtml"><p>Der <b>Hafen</b>.</p></div></summary>'
        '<content type="html">&lt;p&gt;Alles.&lt;/p&gt;</content></entry>'
        for n in range(ENTRIES)
    )
    + "</feed>"
)
_OLD_ATOM = (
    f'{_HEAD}<feed version="0.3" xmlns="http://purl.org/atom/ns#" {_DC} xml:lang="en">'
    '<title>Harbour Courier</title><link rel="alternate" type="text/html" '
    'href="https://harbour.example/"/><modified>2026-11-21T18:30:02Z</modified>'
    + "".join(
        f'<entry><title mode="escaped">Crane {n}</title><link rel="alternate" type="text/html" '
        f'href="https://harbour.example/story/{n}"/><id>tag:{n}</id>'
        f"<issued>2026-11-21T1{n}:00:00Z</issued><modified>2026-11-21T1{n}:30:00Z</modified>"
        "<author><name>Ada Pell</name></author><dc:subject>City</dc:subject>"
        '<summary type="text/plain">The harbour.</summary>'
        '<content type="text/html" mode="base64">PHA+QWxsIG9mIGl0LjwvcD4=</content></entry>'
        for n in range(ENTRIES)
    )
    + "</feed>"
)
_SITEMAP = (
    f'{_HEAD}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
    + "".join(
        f"<url><loc>https://harbour.example/story/{n}?a=1&amp;b=2</loc>"
        f"<lastmod>2026-11-21T1{n}:00:00+01:00</lastmod><changefreq>hourly</changefreq>"
        "<news:news><news:publication><news:name>Harbour Courier</news:name>"
        "<news:language>en</news:language></news:publication>"
        f"<news:publication_date>2026-11-21T1{n}:00Z</news:publication_date>"
        f"<news:title>Crane {n} &amp; Züge</news:title></news:news>"
        f"<image:image><image:loc>https://harbour.example/{n}.jpg</image:loc></image:image></url>"
        for n in range(ENTRIES)
    )
    + "</urlset>"
)
_INDEX = (
    f'{_HEAD}<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    + "".join(
        f"<sitemap><loc>https://harbour.example/sitemap-{n}.xml.gz</loc>"
        f"<lastmod>2026-11-2{n}</lastmod></sitemap>"
        for n in range(ENTRIES)
    )
    + "</sitemapindex>"
)
SEEDS = {
    "RSS 0.91": _rss("0.91", "", "<language>en-us</language>", _PLAIN_ITEM),
    "RSS 0.92": _rss("0.92", "", "<docs>x</docs>", _PLAIN_ITEM),
    "RSS 1.0": _RDF,
    "RSS 2.0": _rss(
        "2.0",
        f'{_DC} {_SY} {_CONTENT} {_MEDIA} xmlns:georss="http://www.georss.org/georss"',
        "<language>de-AT</language><ttl>30</ttl><sy:updatePeriod>daily</sy:updatePeriod>",
        _FULL_ITEM,
    ),
    "Atom 0.3": _OLD_ATOM,
    "Atom 1.0": _ATOM,
    "sitemap": _SITEMAP,
    "sitemap index": _INDEX,
}

# --- Mutations ----------------------------------------------------------------------------------

SNIPPETS = (
    *(b"&#xd83d;&#xde00;", b"&#55357;&#56832;", b"&#xd83d;", b"&#x110000;", b"&#99999999999;"),
    *(b"&#0;", b"&#x0;", b"&#x1f;", b"&#xffff;", b"&#x;", b"&#;", b"&#xzz;", b"&#146;", b"&#-5;"),
    *(b"&nbsp;", b"&uuml", b"&bogus;", b"&", b"&&", b"&;", b"&amp", b"&lt;b&gt;", b"&#38;#38;"),
    *(b"<", b">", b"<<", b"<>", b"</>", b"< b>", b"<b", b"<b>", b"</b>", b"<br>", b"<br/>"),
    *(b"<![CDATA[", b"]]>", b"<!--", b"-->", b"--", b"<!", b"<?", b"?>", b"<?x y?>", b"<!ELEMENT"),
    *(b"<item>", b"</item>", b"<entry>", b"</entry>", b"<title>", b"</title>", b"</link>"),
    *(b"<link>", b"<link/>", b"<channel>", b"</channel>", b"</rss>", b"<url>", b"</url>", b"<loc>"),
    *(b'<a href="x" href="y">', b'<a b="<c>">', b"<a b=c d>", b"<a b='", b'<a b="', b"<a =>"),
    *(b"<x:y>", b"<x:y:z/>", b"<:y/>", b'<a xmlns:x="">', b'<a xmlns:xml="u"/>', b"<xml:a/>"),
    *(b'<a xml:base="http://[">', b'<a xml:base="//x:y:z"/>', b'<a xml:lang=""/>', b"<svg/>"),
    *(b"\0", b"\x0b", b"\x1b", b"\x7f", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"\xed\xa0\xbd\xed\xb8\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\x85"),
    *(
        b"<!DOCTYPE html>",
        b"<!DOCTYPE rss [",
        b"]>",
        b"\r",
        b"\n",
        b"\t",
        b"   ",
        b"%s",
        b"\\u0000",
    ),
    *(b"http://[", b"http://[::1", b"//", b"javascript:", b"data:,", b"http://a:99999/", b"../.."),
    *(b"<georss:polygon>1 x</georss:polygon>", b"<georss:point>nan</georss:point>", b"<where/>"),
    *(b"<media:rating/>", b"<psc:chapter start='x'/>", b"<itunes:explicit>x</itunes:explicit>"),
    *(b"<gml:pos>1</gml:pos>", b"<cloud/>", b"<textinput/>", b"<image/>", b"<source/>", b"<feed>"),
    *(b"<enclosure/>", b"<category/>", b"<author/>", b"<content/>", b"<dc:date/>", b"<updated/>"),
)
DATES = (
    *(b"0000-00-00", b"9999-12-31T23:59:59-23:59", b"0001-01-01T00:00:00+23:59", b"2026-13-45"),
    *(b"Sat, 99 Nov 99999 99:99:99 +9999", b"1e400", b"-1", b"24:60:61", b"2026-11-21T25:00:00Z"),
    *(b"99999999999999999999", b"nan", b"2026-W99-9", b"Sat", b"+0000", b"21 Nov 2026 10:00 BST"),
    *(b"2026-11-21T10:00:00+99:99", b"1/2/3/4", b"0", b"::", b"\xd9\xa2\xd9\xa0\xd9\xa2\xd9\xa6"),
    *("오후 5:00".encode(), "Δευ, 21 Νοε 2026".encode(), b"2026-november-21T9:15-05:00"),
)
LABELS = (
    *(b"\xff", b"", b"utf8", b"UTF-16", b"utf-32", b"us-ascii", b"iso-8859-1", b"windows-1251"),
    *(b"x-unknown", b"idna", b"punycode", b"hex", b"zlib", b"base64", b"rot13", b"unicode_escape"),
    *(b"undefined", b"utf-7", b"big5", b"gb2312", b"shift_jis", b"iso-2022-jp", b"cp037", b"\0"),
)
CODECS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1251", "gb18030", "utf-8-sig")
CONTENT_TYPES = (
    *(None, "text/xml", "application/rss+xml; charset=utf-8", "text/html; charset=iso-8859-1"),
    *("application/xml; charset=\xff", "text/xml; charset=utf-16", ";;charset", "charset="),
    *("application/atom+xml; charset=hex", "text/xml; charset=idna", "text/plain", "x" * 300),
)
Mutation = Callable[[random.Random, bytes], bytes]


def _inserted(rng: random.Random, body: bytes) -> bytes:
    place = rng.randrange(len(body) + 1)
    return body[:place] + rng.choice(SNIPPETS) * rng.choice((1, 1, 1, 3, 50)) + body[place:]


def _in_text(rng: random.Random, body: bytes) -> bytes:
    """Insert a snippet before or after a tag."""
    places = [place for place, byte in enumerate(body) if byte in b"<>"] or [0]
    place = rng.choice(places)
    place += body[place : place + 1] == b">"
    return body[:place] + rng.choice(SNIPPETS) + body[place:]


def _flipped(rng: random.Random, body: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(rng.choice((1, 1, 2, 10)) if body else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(rng: random.Random, body: bytes) -> bytes:
    return body[: rng.randrange(len(body) + 1)]


def _without(rng: random.Random, body: bytes) -> bytes:
    start = rng.randrange(len(body) + 1)
    return body[:start] + body[start + rng.randrange(1, 60) :]


def _doubled(rng: random.Random, body: bytes) -> bytes:
    start = rng.randrange(len(body) + 1)
    part = body[start : start + rng.randrange(1, 200)]
    return body[:start] + part * rng.choice((2, 2, 5, 40)) + body[start:]


def _dated(rng: random.Random, body: bytes) -> bytes:
    for date in (b"2026-11-21T11:00", b"Sat, 21 Nov 2026 10:00:00 +0100", b"2026-11-21"):
        if date in body:
            return body.replace(date, rng.choice(DATES))
    place = body.find(b"2026")
    return body[:place] + rng.choice(DATES) + body[place + 20 :] if place >= 0 else body


def _mislabelled(rng: random.Random, body: bytes) -> bytes:
    return body.replace(b"UTF-8", rng.choice(LABELS), 1)


def _recoded(rng: random.Random, body: bytes) -> bytes:
    return body.decode("utf-8", "replace").encode(rng.choice(CODECS), "replace")


def _preceded(rng: random.Random, body: bytes) -> bytes:
    return rng.choice((b"\n\n", b"<!-- x -->", b"Warning: mysql\n", b"\xef\xbb\xbf", b"\0")) + body


def _undeclared(_rng: random.Random, body: bytes) -> bytes:
    return body.replace(b"xmlns:", b"xmlnz:")


def _unclosed(rng: random.Random, body: bytes) -> bytes:
    tags = (b"</title>", b"</link>", b"</item>", b"</entry>", b"</description>", b"</url>", b"</")
    return body.replace(rng.choice(tags), b"", rng.choice((1, -1)))


def _uncommon(rng: random.Random, body: bytes) -> bytes:
    old, new = rng.choice(
        (
            (b'"', b"'"),
            (b'"', b""),
            (b"<![CDATA[", b""),
            (b"]]>", b""),
            (b"&amp;", b"&"),
            (b"=", b" = "),
            (b"<item", b"<ITEM"),
            (b" xmlns", b" a='1' a='2' xmlns"),
            (b"<?xml", b"<?XML"),
            (b'"http://', b'"urn:x'),
        )
    )
    return body.replace(old, new)


MUTATIONS: tuple[Mutation, ...] = (
    *(_inserted, _in_text, _in_text, _in_text, _flipped, _cut, _without, _doubled, _dated),
    *(_mislabelled, _recoded, _preceded, _undeclared, _unclosed, _uncommon),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A mutated listing with its mutations."""

    dialect: str
    made_by: tuple[str, ...]
    body: bytes
    content_type: str | None


def examples(count: int, seed: int) -> Iterator[Example]:
    """Yield `count` examples, the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    names = tuple(SEEDS)
    for number in range(count):
        dialect = names[number % len(names)]
        body = SEEDS[dialect].encode()
        mutations = rng.choices(MUTATIONS, k=rng.choice((1, 1, 2, 3)))
        for mutation in mutations:
            body = mutation(rng, body)
        made_by = tuple(mutation.__name__.strip("_") for mutation in mutations)
        yield Example(dialect, made_by, body, rng.choice(CONTENT_TYPES))


# --- The check ----------------------------------------------------------------------------------


def entries_of(example: Example) -> tuple[Entry, ...] | str:
    """Return the entries of a listing, or the reason why it is refused.

    Raise AssertionError for an invalid entry; any other exception is a fault of the parsers."""
    try:
        listing = read_listing(example.body, URL, example.content_type)
    except (FeedError, SitemapError) as error:
        return str(error)
    entries = (*listing.entries, *getattr(listing, "children", ()))
    for entry in entries:
        _check(entry)
    return entries


def _check(entry: Entry) -> None:
    assert entry.url.startswith(("http://", "https://"))
    hints = entry.hints
    for text, most in (
        (hints.title, MAX_TITLE),
        (hints.standfirst, MAX_STANDFIRST),
        (hints.section, MAX_TITLE),
        *((name, MAX_TITLE) for name in hints.authors),
    ):
        assert text is None or 0 < len(text) <= most + 1
        assert "\0" not in (text or "")
        (text or "").encode()  # no half of a pair
    assert len(hints.authors) <= MAX_AUTHORS
    for moment in (hints.published, entry.modified):
        assert moment is None or moment.utcoffset() is not None


def run(count: int, seed: int) -> int:
    """Read `count` examples, print the results, and return the number of crashes."""
    refused: Counter[str] = Counter()
    crashed: list[str] = []
    complete = part = 0
    slowest = (0.0, "")
    for example in examples(count, seed):
        start = time.process_time()
        try:
            came = entries_of(example)
        except Exception as error:  # noqa: BLE001 - whatever leaves the parsers is what we look for
            crashed.append(f"{type(error).__name__}: {error} | {example}")
            continue
        took = time.process_time() - start
        slowest = max(slowest, (took, f"{example.dialect} {example.made_by}"))
        if isinstance(came, str):
            refused[came.partition("(")[0][:60]] += 1
        elif len(came) >= ENTRIES:
            complete += 1
        else:
            part += 1
    print(f"{count} mutated feeds and sitemaps, seed {seed}:")
    print(f"  {complete} read with all entries, {part} in part, {sum(refused.values())} refused")
    for reason, number in refused.most_common(8):
        print(f"    {number} {reason}")
    print(f"  slowest: {slowest[0] * 1000:.0f} ms ({slowest[1]})")
    print(f"  {len(crashed)} exceptions left the parsers")
    for line in crashed[:10]:
        print(f"    {line[:600]}")
    return len(crashed)
