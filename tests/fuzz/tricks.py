"""Pages that attack a parser: a part is repeated until the page has the wanted size.

Each holds an article, as a page under attack or a broken template would.
"""

from dataclasses import dataclass
from typing import Final

from tests.site.faults import story

_STORY: Final = story("Cranes for the northern quay", "Siemens")
_HEAD, _, _REST = _STORY.partition(b"</head>")
_BODY, _, _ = _REST.rpartition(b"</body>")
ARTICLE: Final = b"maintenance crews to the northern quay"

_FORMATS: Final = "a b big code em font i nobr s small strike strong tt u"
_FLAT: Final = (
    "p div span li ul ol dl dd dt a b i em font nobr table tr td th tbody caption col h1 h2 section"
    " article aside nav header footer form button select option optgroup label input textarea svg"
    " math mi path template script style noscript iframe title meta link base time img br hr pre"
    " object embed video ruby rt details summary dialog frameset body html head plaintext xmp"
    " listing center address blockquote figure figcaption main custom-element x"
)
_UNCLOSED: Final = (
    "script style noscript iframe textarea title template svg math select xmp plaintext noembed"
)


@dataclass(frozen=True, slots=True)
class Trick:
    """A part to repeat in the body or, with `in_head`, in the head; `{}` in it is a counter."""

    part: bytes
    begin: bytes = b""
    end: bytes = b""
    in_head: bool = False

    def page(self, size: int) -> bytes:
        """Return a page of about `size` bytes."""
        repeated = self.repeated(size - len(_STORY))
        if self.in_head:
            return _HEAD + repeated + b"</head>" + _REST
        return _HEAD + b"</head>" + _BODY + repeated + b"</body></html>"

    def repeated(self, size: int) -> bytes:
        """Return the repeated part alone, about `size` bytes."""
        room = max(size - len(self.begin) - len(self.end), 1)
        return self.begin + self._parts(room) + self.end

    def _parts(self, room: int) -> bytes:
        if b"{}" not in self.part:
            return self.part * max(room // max(len(self.part), 1), 1)
        parts, length, number = [], 0, 0
        while length < room:
            parts.append(self.part.replace(b"{}", b"%d" % number))
            length += len(parts[-1])
            number += 1
        return b"".join(parts)


def _elements() -> dict[str, Trick]:
    elements = {}
    for name in _FLAT.split():
        tag = name.encode()
        elements[f"{name}, flat"] = Trick(b"<%s>x</%s>" % (tag, tag))
        elements[f"{name}, unclosed"] = Trick(b"<%s>x" % tag)
    for name in _FORMATS.split():
        tag = name.encode()
        elements[f"{name} reopened by each paragraph"] = Trick(b"<%s id={}><p>x" % tag)
        elements[f"{name} misnested"] = Trick(b"<%s><div>x</%s>" % (tag, tag))
    for name in _UNCLOSED.split():
        tag = name.encode()
        elements[f"{name} without an end"] = Trick(b"x &amp; <b>y ", begin=b"<%s>" % tag)
        elements[f"{name} in the head without an end"] = Trick(
            b"x &amp; <b>y ", begin=b"<%s>" % tag, in_head=True
        )
    return elements


def _article(field: bytes) -> bytes:
    return b'<script type="application/ld+json">{"@type":"NewsArticle",' + field


_STRUCTURE: Final = {
    "tables in tables": Trick(b"<table><tr><td>"),
    "tables in tables, closed": Trick(b"<table><tr><td>x</table>"),
    "text in tables": Trick(b"<table>x<tr>y<td>z"),
    "lists in lists": Trick(b"<ul><li>"),
    "nested forms and fields": Trick(b"<form><fieldset><select><option>x"),
    "foreign elements": Trick(b"<svg><foreignObject><p><math><mtext><p>x"),
    "svg and math in turns": Trick(b"<svg><desc><math><annotation-xml><svg>"),
    "templates in templates": Trick(b"<template><table><template>"),
    "comments in a table": Trick(b"word word word <!-- -->", begin=b"<table>"),
    "comments in a table, parting long texts": Trick(b"word " * 40 + b"<!---->", begin=b"<table>"),
    "texts between cells": Trick(b"word word<td>y</td>", begin=b"<table>"),
    "texts between rows": Trick(b"word word<tr><td>y</td></tr>", begin=b"<table>"),
    "bogus comments in a table": Trick(b"word word word <!x></ >", begin=b"<table>"),
    "fields in a table": Trick(b"word word word <input type=hidden>", begin=b"<table>"),
    "links in links": Trick(b"<a href=/x/{}><b>x"),
    "headings": Trick(b"<h1>Cranes for the quay {}</h1>"),
    "headings of blanks": Trick(b"<h2 class=title> - | - </h2>"),
    "paragraphs of one letter": Trick(b"<p>x"),
    "paragraphs of prose": Trick(b"<p>The crews of the port have asked for it, said {}."),
    "blocks by line breaks": Trick(b"x<br><br>"),
    "ends without a start": Trick(b"</p></div></b></table></select>"),
    "comments": Trick(b"<!-- x -->"),
    "comments of dashes": Trick(b"<!--->--!><!-- --!>"),
    "comments without an end": Trick(b"<!--"),
    "bogus comments": Trick(b"<?x><!x></>"),
    "CDATA": Trick(b"<![CDATA[x]]>"),
    "CDATA in svg": Trick(b"<![CDATA[x]]>", begin=b"<svg>"),
    "doctypes": Trick(b'<!DOCTYPE html PUBLIC "x" "y">'),
    "angle brackets": Trick(b"<"),
    "closing brackets": Trick(b">"),
    "tags cut short": Trick(b"<p "),
    "slashes": Trick(b"</"),
    "frames of quotes": Trick(b"<p title='\""),
    "hidden elements": Trick(b'<div hidden style="display:none">x</div>'),
    "unknown elements": Trick(b"<x-{}>x"),
    "buttons and gates": Trick(b"<button>Accept all</button>Subscribe to continue reading. "),
}

_ATTRIBUTES: Final = {
    "attributes of different names": Trick(b" a{}=1", begin=b"<p", end=b">x"),
    "attributes of different names, no value": Trick(b" a{}", begin=b"<div", end=b">x"),
    "attributes of one name": Trick(b" a=1", begin=b"<p", end=b">x"),
    "attributes without blanks": Trick(b'a{}=""', begin=b"<p ", end=b">x"),
    "attributes parted by slashes": Trick(b"/a{}", begin=b"<p", end=b">x"),
    "attributes parted by lines": Trick(b"\na{}='>'", begin=b"<p", end=b">x"),
    "attributes of odd signs": Trick(b' a{}<"=1', begin=b"<p", end=b">x"),
    "attributes without an end": Trick(b" a{}=1", begin=b"<p"),
    "attributes of an end tag": Trick(b" a{}=1", begin=b"</p", end=b">x"),
    "attributes of a second body": Trick(b" a{}=1", begin=b"<body", end=b">x"),
    "bodies of other attributes": Trick(b"<body a{}=1>"),
    "html tags of other attributes": Trick(b"<html a{}=1>"),
    "attributes of a meta": Trick(b" a{}=1", begin=b"<meta", end=b">", in_head=True),
    "a thousand attributes a tag": Trick(
        b"<i" + b"".join(b" a%d" % n for n in range(1000)) + b">x"
    ),
    "attributes that each paragraph opens again": Trick(
        b"<p>x", begin=b"<i" + b"".join(b" a%d" % n for n in range(400)) + b">"
    ),
    "attributes behind quotes that each paragraph opens again": Trick(
        b"<p>The crews of the port have asked for it.",
        begin=b"".join(b"<b a='>%d'%b>" % (m, b" z=1 y=" * 200) for m in range(30)),
    ),
    "a hundred attributes a tag": Trick(b"<i" + b"".join(b" a%d" % n for n in range(100)) + b">x"),
    "attributes in a comment in a script": Trick(b" a{}=1", begin=b"<script><!--<script", end=b">"),
    "equals signs": Trick(b"=", begin=b"<p ", end=b">x"),
    "equals signs and blanks": Trick(b"= ", begin=b"<p ", end=b">x"),
    "blanks in a tag": Trick(b" ", begin=b"<p", end=b">x"),
    "blanks behind an equals sign": Trick(b" ", begin=b"<p a=", end=b">x"),
    "a name that is long": Trick(b"a", begin=b"<", end=b">x"),
    "an attribute's name that is long": Trick(b"a", begin=b"<p ", end=b">x"),
    "names of attributes that are long": Trick(b" a{}" + b"a" * 5000, begin=b"<p", end=b">x"),
    "a value that is long": Trick(b"a", begin=b'<p title="', end=b'">x'),
    "a value of references": Trick(b"&amp", begin=b'<p title="', end=b'">x'),
    "a value of unquoted signs": Trick(b"&", begin=b"<p title=", end=b">x"),
    "classes": Trick(b"author date c{} ", begin=b'<p class="', end=b'">x'),
    "classes of many elements": Trick(b'<div class="author byline a{} date-b{} headline">x</div>'),
    "names of many elements": Trick(b'<p class="x{}a" id="y{}b" itemprop="z{}" role="r{}">x</p>'),
    "long classes of many elements": Trick(
        b'<div class="' + b"author-Box_ " * 400 + b'{}">x</div>'
    ),
    "long styles of many elements": Trick(
        b'<p style="' + b"display : none ; " * 400 + b'{}">x</p>'
    ),
    "long data of many elements": Trick(b'<p data-x="' + b"y" * 9000 + b'">x</p>'),
    "long addresses of pictures": Trick(b'<img src="data:' + b"y" * 9000 + b'">'),
    "quotes in attributes": Trick(b"<p a=\"x>'\" b='\"'>x</p>"),
}

_TEXTS: Final = {
    "blanks": Trick(b" "),
    "lines": Trick(b"\n"),
    "carriage returns": Trick(b"\r"),
    "NULs": Trick(b"\0"),
    "NULs and letters": Trick(b"\0x "),
    "form feeds and letters": Trick(b"\x0cx\x0b"),
    "link marks": Trick(b"\x02x\x03"),
    "ampersands": Trick(b"&"),
    "references without an end": Trick(b"&lt"),
    "references": Trick(b"&lt;&amp;&nbsp;"),
    "long references": Trick(b"&CounterClockwiseContourIntegral"),
    "references to numbers": Trick(b"&#x1F600;&#1;&#99999999999;"),
    "digits of a reference": Trick(b"9", begin=b"<p>&#"),
    "one word": Trick(b"x"),
    "one word of capitals": Trick(b"X"),
    "one number": Trick(b"1"),
    "one syllable": Trick(b"la "),
    "words": Trick(b"word{} "),
    "hyphens": Trick(b"-"),
    "underlines": Trick(b"_"),
    "dots": Trick(b"."),
    "at signs": Trick(b"a@"),
    "e-mail addresses": Trick(b"a{}.b@c.example "),
    "one e-mail address": Trick(b"a."),
    "addresses": Trick(b"https://www.example.com/{} "),
    "dates": Trick(b"Published on 12 November 2026 at 10:{} "),
    "years": Trick(b" 2026"),
    "years behind labels": Trick(b" posted 20 20"),
    "clocks": Trick(b"12:34:56 "),
    "bylines": Trick(b"By Jane Doe and Max Weber, "),
    "names": Trick(b"Jane Doe "),
    "quotes": Trick(b"\"'"),
    "brackets": Trick(b"(["),
    "brackets closed": Trick(b")]"),
    "tickers": Trick(b"(NYSE: SIE) $SIE (SIEGn.DE) "),
    "tickers without an end": Trick(b"(NYSE: "),
    "colons": Trick(b":A:"),
    "combining marks": Trick("\u0301".encode()),
    "letters with marks": Trick("e\u0301\u0327".encode()),
    "marks out of order": Trick("\u0315\u0316".encode()),
    "letters with marks out of order": Trick(b"x", end="\u0315\u0316".encode() * 20_000),
    "Hangul letters": Trick("\u1100\u1161".encode()),
    "Chinese": Trick("中国的港口".encode()),
    "Thai": Trick("ท่าเรือ".encode()),
    "Japanese": Trick("トヨタ自動車の".encode()),
    "Arabic": Trick("الميناء ".encode()),
    "emoji": Trick("\U0001f600".encode()),
    "full-width letters": Trick("Ｓｉｅｍｅｎｓ ".encode()),
    "soft hyphens": Trick("\u00ad".encode()),
    "zero-width blanks": Trick("x\u200b\u200d".encode()),
    "ligatures that grow": Trick("\ufdfa".encode()),
    "sharp s": Trick("ẞß".encode()),
    "broken UTF-8": Trick(b"\xff\xc3\x28"),
    "Latin-1": Trick("é".encode("latin-1")),
    "escapes": Trick(b"\x1b$B"),
    "dates in Chinese": Trick("2026年11月22日".encode()),
    "Siemens": Trick(b"Siemens "),
    "companies": Trick(b"Siemens, Volkswagen and Deutsche Bank of Apple's Meta Orange Shell. "),
    "companies without blanks": Trick(b"SiemensVolkswagenBMW"),
    "companies with hyphens": Trick(b"Siemens-"),
    "doubtful names": Trick(b"Apple Orange Shell Meta Visa Target Gap Linde "),
    "doubtful names and context": Trick(b"Apple iPhone shares profit company chief executive. "),
    "context alone": Trick(b"shares profit company chief executive revenue. ", end=b"Apple Orange"),
    "excluded phrases": Trick(b"apple pie Apple Pie orange juice "),
    "persons": Trick(b"Mr Siemens and Werner von Siemens "),
    "acronyms": Trick(b"Royal Bank (RBC) (SAP) (BMW) "),
    "credits": Trick(b"(Reuters) - told Reuters, Reuters reported "),
    "cookies": Trick(b"cookies consent privacy partners "),
    "calls to subscribe": Trick(b"Subscribe to continue reading "),
    "paragraphs that are alike": Trick(b"<p>The crews have asked for warmer rooms, it said.</p>"),
    "paragraphs of company names": Trick(b"<p>Siemens and Apple said on Monday {} of them.</p>"),
}

_FACTS: Final = {
    "deep JSON": Trick(b'{"a":', begin=b'<script type="application/ld+json">', end=b"</script>"),
    "deep lists": Trick(b"[", begin=b'<script type="application/ld+json">', end=b"</script>"),
    "deep graphs": Trick(
        b'{"@graph":[', begin=b'<script type="application/ld+json">', end=b"</script>"
    ),
    "huge number": Trick(b"9", begin=_article(b'"datePublished":'), end=b"}</script>"),
    "huge fraction": Trick(b"9", begin=_article(b'"wordCount":1.'), end=b"}</script>"),
    "many numbers": Trick(b"1e999,", begin=_article(b'"x":['), end=b"1]}</script>"),
    "long headline": Trick(b"x - y | ", begin=_article(b'"headline":"'), end=b'"}</script>'),
    "long body": Trick(b"The crews said. ", begin=_article(b'"articleBody":"'), end=b'"}</script>'),
    "body of markup": Trick(b"<p>x", begin=_article(b'"articleBody":"'), end=b'"}</script>'),
    "body of attributes": Trick(
        b" a{}=1", begin=_article(b'"articleBody":"<p'), end=b'>x"}</script>'
    ),
    "body of references": Trick(
        b"&lt;b&gt;x", begin=_article(b'"articleBody":"'), end=b'"}</script>'
    ),
    "body of ampersands": Trick(b"&amp;", begin=_article(b'"articleBody":"'), end=b'"}</script>'),
    "many authors": Trick(
        b'{"name":"Jane Doe {}"},', begin=_article(b'"author":['), end=b"{}]}</script>"
    ),
    "long author": Trick(b"By a, b and ", begin=_article(b'"author":"'), end=b'"}</script>'),
    "many articles": Trick(
        b'{"@type":"Article","headline":"x {}"},',
        begin=b'<script type="application/ld+json">[',
        end=b"{}]</script>",
    ),
    "articles in articles": Trick(
        b'{"@type":"Article","mainEntity":', begin=b'<script type="application/ld+json">'
    ),
    "many scripts": Trick(b'<script type="application/ld+json">{"@type":"Article"}</script>'),
    "many broken scripts": Trick(
        b'<script type="application/ld+json">{"@type":"Article",,}</script>'
    ),
    "large broken scripts": Trick(
        b'<script type="application/ld+json">{"@type":"Article",'
        + b'"a":"\\x' * 20_000
        + b"</script>"
    ),
    "escapes": Trick(b"\\", begin=_article(b'"a":"')),
    "comments in data": Trick(b"/*", begin=_article(b"")),
    "commas": Trick(b" ,", begin=_article(b'"a":['), end=b"]}</script>"),
    "fields without an end": Trick(b'"headline":"x', begin=_article(b"")),
    "wrappers": Trick(b"<!--", begin=b'<script type="application/ld+json">', end=b"</script>"),
    "blanks in data": Trick(b" ", begin=_article(b'"a":1'), end=b",}</script>"),
    "metas": Trick(b'<meta name=author content="Jane Doe">', in_head=True),
    "metas of other names": Trick(b"<meta name=n{} content=x>", in_head=True),
    "long metas": Trick(
        b"x - y ", begin=b'<meta property="og:title" content="', end=b'">', in_head=True
    ),
    "many long metas": Trick(
        b'<meta property="og:title" content="' + b"x - y " * 2000 + b'">', in_head=True
    ),
    "metas of charsets": Trick(b"<meta charset=x{}>", in_head=True),
    "metas of charsets and broken bytes": Trick(b"<meta charset=x{}>\xff\xfe", in_head=True),
    "canonical links": Trick(b"<link rel=canonical href=/x/{}>", in_head=True),
    "links without an end": Trick(b"<link rel=canonical ", in_head=True),
    "links in comments": Trick(b"<!--<link rel=canonical>", in_head=True),
    "long canonical link": Trick(
        b"/..", begin=b"<link rel=canonical href=", end=b">", in_head=True
    ),
    "canonical link of views": Trick(
        b"/amp", begin=b"<link rel=canonical href=/a-1", end=b">", in_head=True
    ),
    "titles": Trick(b"<title>x - y</title>", in_head=True),
    "long title": Trick(b"x - y | ", begin=b"<title>", end=b"</title>", in_head=True),
    "title of blanks": Trick(b" ", begin=b"<title>", end=b"</title>", in_head=True),
    "title of ampersands": Trick(b"&amp;", begin=b"<title>", end=b"</title>", in_head=True),
    "title of underlines": Trick(b"_ ", begin=b"<title>", end=b"</title>", in_head=True),
    "long heading": Trick(b"x - y | ", begin=b"<h1>", end=b"</h1>"),
    "heading of elements": Trick(b"<b>x </b>", begin=b"<h1>", end=b"</h1>"),
    "times": Trick(b"<time datetime=2026-11-{}T10:00>x</time>"),
    "times of date classes": Trick(b"<time class='date author'>x 2026</time>"),
    "long time": Trick(b"20", begin=b"<time datetime='", end=b"'>x</time>"),
    "bylines of classes": Trick(b"<p class='byline author date'>By Jane Doe {}</p>"),
    "nested bylines": Trick(b"<div class='byline author date'>"),
    "nested bylines of text": Trick(b"<div class='byline author date'>By Jane Doe"),
    "language": Trick(b"de-", begin=b"<html lang='", end=b"'>"),
    "paywalls": Trick(
        b'{"isAccessibleForFree":true,"@type":"WebPageElement"},',
        begin=_article(b'"hasPart":['),
        end=b"{}]}</script>",
    ),
    "references of references": Trick(
        b'{"@id":"{}","@type":"Person"},', begin=_article(b'"author":['), end=b"{}]}</script>"
    ),
}

TRICKS: Final[dict[str, Trick]] = {
    **_elements(),
    **_STRUCTURE,
    **_ATTRIBUTES,
    **_TEXTS,
    **{f"{name} (facts)": trick for name, trick in _FACTS.items()},
}
