"""Bylines and dates in the markup."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.metadata.reader import Metadata, read_metadata

NOW = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
DAY = datetime(2026, 11, 3, tzinfo=UTC)
PROSE = "<p>" + "The harbour of the town reopened after a week of storms. " * 8 + "</p>"


def read(
    beside: str, *, before: str = "", language: str = "en", url: str | None = None
) -> Metadata:
    html = f"<html lang={language}><body>{before}<h1>Harbour reopens</h1>{beside}{PROSE}</body>"
    return read_metadata(LexborHTMLParser(html), url, now=NOW)


@pytest.mark.parametrize(
    ("beside", "wanted"),
    [
        ('<a rel="author" href="/jane">Jane Doe</a>', ("Jane Doe",)),
        ('<span itemprop="author"><b itemprop="name">Jane Doe</b> Editor</span>', ("Jane Doe",)),
        (
            '<div class="article-byline"><i>Jane Doe</i><i>Tom Ray</i></div>',
            ("Jane Doe", "Tom Ray"),
        ),
        ('<p class="author">Jane Doe<br>3 November 2026</p>', ("Jane Doe",)),
        ("<p>By Jane Doe</p>", ("Jane Doe",)),
        ("<p>By <a>Jane Doe</a> and <a>Tom Ray</a></p>", ("Jane Doe", "Tom Ray")),
        ("<p>By Jane Doe<br>Editor</p><p>By Tom Ray</p>", ("Jane Doe", "Tom Ray")),
        ("<p>Von <b>Max Weber</b></p>", ("Max Weber",)),
        ("<p>Par Anne Petit</p>", ("Anne Petit",)),
        ("<p>Por Ana Ruiz</p>", ("Ana Ruiz",)),
        ("<p>Autor: Jan Kowalski</p>", ("Jan Kowalski",)),
        ("<p>Автор: Иван Петров</p>", ("Иван Петров",)),
        ("<p>作者：张三</p>", ("张三",)),
        ('<p><a href="/authors/jane-doe">Jane Doe</a></p>', ("Jane Doe",)),
        (
            '<p>By <b>Jane Doe</b></p><p>Reviewed by <a href="/author/tom">Tom Ray</a></p>',
            ("Jane Doe",),
        ),
        ('<p>By <a href="/author/gizmo" rel="author">gizmo</a></p>', ("gizmo",)),
        ("<div>By <a>Jane Doe</a><br>3 November 2026<br><a>Sea Trade</a></div>", ("Jane Doe",)),
        ('<span class="author">Alex Ma</span>', ("Alex Ma",)),
        ('<span class="author">Jean d’Ormesson</span>', ("Jean d’Ormesson",)),
        ('<span class="author">Nguyễn Văn An</span>', ("Nguyễn Văn An",)),
        ('<span class="author">राजेश कुमार</span>', ("राजेश कुमार",)),
        ('<span class="author">Last Friday</span>', ()),
        ("<p>김민수 기자</p><p>2026.11.03 10:00</p>", ("김민수",)),
        ("<p>Jane Doe · 3 November 2026</p>", ("Jane Doe",)),
        ("<p>Local news · 3 November 2026</p>", ()),
        ("<p>김민수</p><p>2026.11.03 10:00</p>", ()),
        ('<div class="author-bio">Jane Doe</div>', ()),
        ('<div class="author-row"><i>5 min read</i></div>', ()),
        ('<div class="comment-author-x related">Jane Doe</div>', ()),
        ("<p>By the end of the week all was calm.</p>", ()),
    ],
)
def test_authors_are_read_near_the_headline(beside, wanted):
    assert read(beside).authors == wanted


def test_author_under_a_label_of_the_card_for_networks_is_read():
    label, data = '<meta name="twitter:label2" content="{}">', '<meta name="twitter:data2" {}>'
    jane = data.format('content="Jane Doe"')
    assert read(label.format("Verfasst von") + jane).authors == ("Jane Doe",)
    assert read(label.format("Reading time") + jane).authors == ()


def test_byline_in_or_behind_the_text_is_found():
    assert read(PROSE * 20 + '<p class="author">Jane Doe</p>').authors == ("Jane Doe",)
    assert read(PROSE + "<p>Written by <b>Jane Doe</b></p>").authors == ("Jane Doe",)


def meta_authors(*names: str) -> str:
    return "".join(f'<meta name="author" content="{name}">' for name in names)


@pytest.mark.parametrize(
    ("stated", "beside", "wanted"),
    [
        (["jdoe81"], "<p>By Jane Doe</p>", ("Jane Doe",)),
        (["Pier Press"], '<p class="author">Jane Doe</p>', ("Jane Doe",)),
        (["Tom Ray"], "<p>By Jane Doe</p>", ("Jane Doe",)),
        (["Jane Doe", "Tom Ray"], "<p>By Jane Doe</p>", ("Jane Doe",)),
        (["Jane Doe"], "<p>By <a>Jane Doe</a> and <a>Tom Ray</a></p>", ("Jane Doe", "Tom Ray")),
        (["Jane Doe"], "<figcaption>By Ann Lee/Pier Images</figcaption>", ("Jane Doe",)),
        (["Jane Doe", "Tom Ray"], "<p>By Jane Doe Tom Ray</p>", ("Jane Doe", "Tom Ray")),
        (["Jane Doe"], "<p>By gizmo</p>", ("Jane Doe",)),
        (["Jane Doe"], '<p class="author">Tom Ray</p>', ("Jane Doe",)),
    ],
)
def test_byline_under_the_headline_is_trusted_before_fields(stated, beside, wanted):
    assert read(beside, before=meta_authors(*stated)).authors == wanted


def test_many_dates_do_not_hide_an_author_s_mark():
    dates = "".join(f"<li><time>2026-10-{day:02}</time></li>" for day in range(1, 31))
    marked = f'{PROSE * 20}{dates}{dates}<b itemprop="author">Jane Doe</b>'
    assert read(marked).authors == ("Jane Doe",)


def test_name_of_an_organisation_is_not_split():
    author = '{"@type": "Organization", "name": "Institute for Sea and Harbour"}'
    linked = f'{{"@type": "NewsArticle", "author": {author}}}'
    script = f'<script type="application/ld+json">{linked}</script>'
    assert read("", before=script).authors == ("Institute for Sea and Harbour",)


def test_visible_persons_are_preferred_to_the_site_as_author():
    site = (
        '<meta property="og:site_name" content="The Pier"><meta name="author" content="The Pier">'
    )
    assert read("<p>By Jane Doe</p>", before=site).authors == ("Jane Doe",)
    assert read("", before=site).authors == ("The Pier",)


@pytest.mark.parametrize(
    ("language", "beside"),
    [
        ("en", '<time datetime="2026-11-03">Tuesday</time>'),
        ("en", "<time>3 November 2026</time>"),
        ("en", '<span itemprop="datePublished" content="2026-11-03"></span>'),
        ("en", '<span class="post-date">Nov 3, 2026</span>'),
        ("en", "<p>Posted on November 3, 2026 in News</p>"),
        ("en", "<p>Nov 3,2026</p>"),
        ("de", "<p>3. November 2026</p>"),
        ("de", "<p>Stand: 03.11.2026</p>"),
        ("fr", "<p>Publié le 3 novembre 2026</p>"),
        ("ru", "<p>3 ноября 2026</p>"),
        ("el", "<p>3 Νοέμβρη 2026</p>"),
        ("zh", "<p>2026年11月03日</p>"),
        ("ja", "<p>2026年11月3日</p>"),
    ],
)
def test_date_is_read_near_the_headline(language, beside):
    assert read(beside, language=language).published == DAY


LD = '<script type="application/ld+json">{"@type":"Article",%s}</script>'
BUILT = LD % '"datePublished": "Nov 9, 2026", "dateModified": "Nov 9, 2026"'
MENU = '<p class="date">10 November 2026</p>' + "<p>menu</p>" * 30
MOVED = '<meta property="article:published_time" content="2026-11-08T10:00:00Z">'
UPDATED = "Updated: 5 November 2026"
IN_URL = "https://pier.example/2026/11/03/harbour"


@pytest.mark.parametrize(
    ("beside", "more"),
    [
        ('<p class="date">3 November 2026</p>', {"before": MENU}),
        (f"<p>{UPDATED}</p><p>Published: 3 November 2026</p>", {}),
        (f"<p>{UPDATED} | Published: 3 November 2026</p>", {}),
        ("<p>Updated: 3 November 2026</p>", {}),
        (PROSE * 20 + "<p>Last modified: 3 November 2026</p>", {}),
        ("", {"url": IN_URL}),
        ("", {"url": IN_URL, "before": MOVED}),
        ("", {"before": LD % '"datePublished": 1793664000'}),
        ('<p class="date">Nov 3, 2026</p>', {"before": BUILT}),
    ],
    ids=["nearest to the headline", "published beside updated", "both in a line", "updated alone",
         "label at the end", "in the URL", "earlier in the URL", "a number in JSON-LD",
         "shown before both fields"],
)  # fmt: skip
def test_publication_date_is_chosen_among_the_dates_of_a_page(beside, more):
    assert read(beside, **more).published == DAY


def test_copyright_line_is_not_a_date():
    assert read("<p>© 3 November 2026 The Pier</p>").published is None


@pytest.mark.parametrize(
    ("language", "url", "day"),
    [
        ("en-US", None, datetime(2026, 3, 11, tzinfo=UTC)),
        ("en-GB", None, DAY),
        ("en", "https://pier.example.co.uk/harbour", DAY),
        ("en", "https://pier.example.com/harbour", datetime(2026, 3, 11, tzinfo=UTC)),
        ("es", None, DAY),
    ],
)
def test_order_of_day_and_month_follows_the_country(language, url, day):
    assert read("<p>03/11/2026</p>", language=language, url=url).published == day
    meta = '<meta property="article:published_time" content="03/11/2026 8:00:00 AM">'
    stated = read("", before=meta, language=language, url=url).published
    assert stated == day.replace(hour=8)


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        # The moment of the last building, in both fields; a day apart it may be the zone.
        ('"datePublished": "2026-11-09T10:00:00Z", "dateModified": "2026-11-09T10:00:00Z"', 3),
        ('"datePublished": "2026-11-04T10:00:00Z", "dateModified": "2026-11-04T10:00:00Z"', 4),
        ('"datePublished": "2026-11-09T10:00:00Z", "dateModified": "2026-11-09T10:00:01Z"', 9),
    ],
)
def test_visible_day_earlier_than_the_moment_of_the_build_is_the_publication_date(stated, day):
    published = read(LD % stated + '<p class="date">Nov 3, 2026</p>').published
    assert published.day == day


def test_visible_day_earlier_than_a_general_meta_is_the_publication_date():
    beside = '<p class="date">Nov 3, 2026</p>'
    assert read(beside, before='<meta name="date" content="2026-11-09">').published == DAY
    surer = '<meta property="article:published_time" content="2026-11-09">'
    assert read(beside, before=surer).published == DAY.replace(day=9)


def test_embedded_video_gives_neither_date_nor_title():
    video = (
        '<script type="application/ld+json">{"@type": "VideoObject", "name": "Waves", '
        '"uploadDate": "2020-01-01"}</script><meta name="date" content="2026-11-03">'
    )
    found = read("", before=video)
    assert (found.title, found.published) == ("Harbour reopens", DAY)


def test_date_with_a_time_is_preferred_on_the_same_day():
    found = read(
        "",
        before='<meta name="date" content="2026-11-03"><meta property="article:published_time" '
        'content="2026-11-03T08:15:00+02:00">',
    )
    assert found.published.hour == 8


def test_date_without_zone_takes_the_zone_of_another_date():
    found = read(
        "",
        before='<meta property="article:published_time" content="2026-11-03T08:15:00">'
        '<meta property="article:modified_time" content="2026-11-03T09:15:00+02:00">',
    )
    assert found.published.isoformat() == "2026-11-03T08:15:00+02:00"


@pytest.mark.parametrize(
    "line",
    ["<p>Written by Jane Doe</p>", "<h5>Autor: </h5>Jane Doe<br>", "<p>Text von Jane Doe</p>"],
)
def test_labelled_author_at_the_end_is_read_where_nothing_else_names_one(line):
    dated = "<time datetime=2026-11-03>3 November 2026</time>"
    assert read(dated + PROSE * 20 + line + PROSE).authors == ("Jane Doe",)
    assert read(f"{dated}<p>By Tom Ray</p>" + PROSE * 20 + line).authors == ("Tom Ray",)


def test_byline_anywhere_replaces_an_author_that_is_only_the_site():
    site = '<meta property="og:site_name" content="Pier News">'
    site += '<meta name="author" content="Pier News">'
    byline = '<p class="byline">By Jane Doe</p>'
    assert read(PROSE * 20 + byline, before=site).authors == ("Jane Doe",)
    assert read(PROSE * 20, before=site).authors == ("Pier News",)


def test_authors_of_many_teasers_are_not_the_authors():
    names = ("Jane Doe", "Tom Ray", "Ann Lee", "Max Weber", "Eva Roth")
    teasers = "".join(f'<b itemprop="author">{name}</b>' for name in names)
    assert read(PROSE * 60 + teasers).authors == ()


@pytest.mark.parametrize(
    ("stated", "shown", "wanted"),
    [
        ("2026-11-04T03:37:00Z", "3 November 2026 23:37", "2026-11-03T23:37:00-04:00"),
        ("2026-11-04T03:37:00Z", "3 November 2026", "2026-11-03T23:37:00-04:00"),
        ("2026-11-02T22:30:00Z", "3 November 2026", "2026-11-03T00:30:00+02:00"),
        ("2026-11-04T15:00:00Z", "3 November 2026", "2026-11-04T15:00:00+00:00"),
        ("2026-11-04T03:37:00+01:00", "3 November 2026", "2026-11-04T03:37:00+01:00"),
    ],
)
def test_time_in_utc_falls_on_the_day_that_the_page_shows(stated, shown, wanted):
    published = read(LD % f'"datePublished":"{stated}"' + f"<p>{shown}</p>").published
    assert published == datetime.fromisoformat(stated)
    if published and shown.endswith("2026") and published.utcoffset() != timedelta(0):
        assert published.day == datetime.fromisoformat(wanted).day
    elif published:
        assert published.isoformat() == wanted


def test_later_day_beside_the_headline_is_believed_unless_the_page_was_changed_then():
    shown = '<span class="date">3 November 2026</span>'
    stated = '"datePublished":"2026-06-20T10:00:00+01:00"'
    assert read(LD % stated + shown).published == DAY.replace(tzinfo=timezone(timedelta(hours=1)))
    changed = f'{stated},"dateModified":"2026-11-03T10:00:00+01:00"'
    published = read(LD % changed + shown).published
    assert published is not None
    assert f"{published:%Y-%m-%d}" == "2026-06-20"


def test_only_day_of_a_page_is_its_date():
    line = "<p>Harbour Press - November 3, 2026</p>"
    far = "<i>Ships</i>" * 60
    assert read(far + line).published == DAY
    assert read(far + line + "<p>Races of May 5, 2026</p>").published is None
    assert read(f"{far}<ul><li>{line}</ul>").published is None
    assert read(f"{far}<script>var built = '2026-11-03';</script>").published is None


@pytest.mark.parametrize(
    ("beside", "wanted"),
    [
        ("<div>Jane Doe</div><div>3 November 2026</div>", ("Jane Doe",)),
        ("<time>2026-11-03</time><p>Calm.</p><div>Jane Doe |</div><div>6 min read</div>",
         ("Jane Doe",)),
        ("<p>A calm day.</p><div>3 November 2026</div>·<div>Jane Doe/Tom Ray</div>",
         ("Jane Doe", "Tom Ray")),
        ("<div>Acme Team</div><div>3 November 2026</div>", ("Acme Team",)),
        # A section, a button, a part of the title, words that the text uses, and no date.
        ("<div>Local News</div><div>3 November 2026</div>", ()),
        ("<div>Related Posts</div><div>3 November 2026</div>", ()),
        ("<div>Harbour Jane</div><div>3 November 2026</div>", ()),
        ("<div>Town Storms</div><div>3 November 2026</div>", ()),
        ("<div>Jane Doe</div>", ()),
    ],
)  # fmt: skip
def test_name_in_a_line_beside_the_date_is_the_author(beside, wanted):
    assert read(beside).authors == wanted


@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        ("<b>Jane Doe</b><p>Jane Doe is a reporter of the Gazette.</p>", ("Jane Doe",)),
        ("<b>Town Storms</b><p>Town Storms is a series of the Gazette.</p>", ()),
        ("<p>Jane Doe is a reporter of the Gazette.</p>", ()),
    ],
)
def test_person_of_a_biography_is_the_author(end, wanted):
    assert read("<time>2026-11-03</time>" + PROSE + end).authors == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("<dt>Author(s)</dt><dd>Jane Doe<br>Tom Ray<br>Sea Trade Magazine</dd>",
         ("Jane Doe", "Tom Ray")),
        ("<p>A letter was written by hand.</p><p>Written by <b>Jane Doe</b></p>", ("Jane Doe",)),
        ("<p>Text von Max Weber Illustration von Eva Klein</p>", ("Max Weber",)),
    ],
)  # fmt: skip
def test_every_labelled_line_is_searched_for_authors(line, wanted):
    assert read("<time>2026-11-03</time>" + PROSE + line).authors == wanted


@pytest.mark.parametrize(
    ("beside", "wanted"),
    [
        ("<p>By 3 Piers</p>", ("3 Piers",)),
        ("<p>Written by <b>Harbour Today</b></p>", ("Harbour Today",)),
        ('<p class="byline">Staff</p>', ("Staff",)),
        ("<p>Von R. R. am</p><i>3.11.2026</i>", ("R. R",)),
        ("<p>By 3 piers of the harbour</p>", ()),
    ],
)
def test_byline_without_a_person_names_its_desk(beside, wanted):
    assert read(beside).authors == wanted


def test_word_within_an_address_does_not_make_a_name_a_phrase():
    beside = "<p>Jane Doe</p><time>2026-11-03</time>" + PROSE
    assert read(beside + "<p>Write to jane.doe@pier.example or /jane-doe</p>").authors == (
        "Jane Doe",
    )
    assert read(beside + "<p>They call her jane.</p>").authors == ()


def test_field_that_names_more_authors_completes_the_first():
    fields = (
        '<script type="application/ld+json">'
        '{"@type": "NewsArticle", "headline": "Harbour reopens", "author": {"name": "Jane Doe"}}'
        "</script>"
        '<meta name="citation_author" content="Jane Doe">'
        '<meta name="citation_author" content="Tom Ray">'
    )
    assert read("", before=fields).authors == ("Jane Doe", "Tom Ray")


def test_organisation_gives_way_to_the_author_that_the_text_names():
    beside = '<meta name="author" content="Harbour Foundation">'
    end = "<p>Autorin: Eva Klein, Projektleiterin</p>"
    assert read(PROSE + end, before=beside).authors == ("Eva Klein",)


def test_headline_far_behind_marked_ones_is_read():
    teasers = "<h2 class=title>A calm day at sea</h2>" * 40
    html = f"<title>Harbour reopens today</title>{teasers}<h4>Harbour reopens today</h4>"
    html += "<p>3 November 2026</p>" + PROSE + "<p>1 May 2020</p>"
    assert read_metadata(LexborHTMLParser(html), now=NOW).published == DAY
