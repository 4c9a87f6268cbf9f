"""A page's metadata, from the place that deserves most trust."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.metadata import Metadata, read_metadata
from newscrawl.extraction.metadata.reader import DeclaredKind

NOW = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
LINKED = """<script type="application/ld+json">{
  "@context": "https://schema.org", "@type": "NewsArticle", "headline": "Harbour reopens",
  "datePublished": "2026-11-03T10:30:00+01:00", "dateModified": "2026-11-03T12:00:00+01:00",
  "author": [{"@type": "Person", "name": "Eva Klein"}, {"@type": "Person", "name": "Tom Ray"}],
  "articleSection": "Business", "isAccessibleForFree": "False", "inLanguage": "en-GB",
  "image": {"@type": "ImageObject", "url": "/harbour.jpg"}, "articleBody": "Ships sail.",
  "publisher": {"@type": "Organization", "name": "The Daily Pier"}}</script>"""


def read(html: str, url: str | None = "https://pier.example/news/harbour") -> Metadata:
    return read_metadata(LexborHTMLParser(html), url, now=NOW)


def test_every_field_is_read_from_json_ld() -> None:
    found = read(f"<html><head>{LINKED}</head><body><h1>Harbour reopens</h1></body></html>")
    zone = timezone(timedelta(hours=1))
    assert found == Metadata(
        title="Harbour reopens",
        authors=("Eva Klein", "Tom Ray"),
        published=datetime(2026, 11, 3, 10, 30, tzinfo=zone),
        modified=datetime(2026, 11, 3, 12, 0, tzinfo=zone),
        language="en",
        section="Business",
        image="https://pier.example/harbour.jpg",
        site_name="The Daily Pier",
        paywalled=True,
        declared=DeclaredKind("article", is_article=True),
        article_body="Ships sail.",
    )


@pytest.mark.parametrize(
    ("html", "field", "wanted"),
    [
        ('<meta property="og:title" content="Rates rise">', "title", "Rates rise"),
        ('<meta name="author" content="By Jane Doe">', "authors", ("Jane Doe",)),
        ('<meta property="og:locale" content="pl_PL">', "language", "pl"),
        ('<meta property="article:section" content="Wirtschaft">', "section", "Wirtschaft"),
        ('<meta property="article:content_tier" content="locked">', "paywalled", True),
        ('<meta property="og:image" content="//cdn.example/a.png">', "image",
         "https://cdn.example/a.png"),
        ('<meta property="og:site_name" content="Pier">', "site_name", "Pier"),
        ("<title>Rates rise | pier.example</title>", "title", "Rates rise"),
        ('<p class="byline">Von Max Weber und Eva Klein</p>', "authors",
         ("Max Weber", "Eva Klein")),
    ],
)  # fmt: skip
def test_field_is_read_without_json_ld(html: str, field: str, wanted: object) -> None:
    assert getattr(read(html), field) == wanted


def test_future_date_is_ignored() -> None:
    found = read(
        '<meta property="article:published_time" content="2027-01-01T00:00:00Z">'
        '<meta name="date" content="2026-11-02">'
    )
    assert found.published == datetime(2026, 11, 2, tzinfo=UTC)


def test_empty_page_has_no_metadata() -> None:
    assert read("", None) == Metadata()


def test_publication_date_of_json_ld_is_preferred_to_meta() -> None:
    meta = '<meta property="article:published_time" content="2026-11-02T08:00:00Z">'
    json_ld = (
        '<script type="application/ld+json">'
        '{"@type": "NewsArticle", "datePublished": "2026-11-03T08:00:00Z"}</script>'
    )
    assert read(meta + json_ld).published == datetime(2026, 11, 3, 8, tzinfo=UTC)
    assert read(meta).published == datetime(2026, 11, 2, 8, tzinfo=UTC)
