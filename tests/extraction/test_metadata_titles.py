"""The headline among a page's titles."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.metadata import titles
from newscrawl.extraction.metadata.places import Candidate
from newscrawl.extraction.metadata.reader import read_metadata

SITE = ("The Daily Pier", "pier.example", "pier")
HEADLINE = "Harbour reopens after the storm"


@pytest.mark.parametrize(
    "title",
    [
        HEADLINE,
        f"{HEADLINE} | The Daily Pier",
        f"{HEADLINE} - The Daily Pier",
        f"{HEADLINE} – Business – The Daily Pier",
        f"{HEADLINE} | Pier",
        f"{HEADLINE} - pier.example",
        f"The Daily Pier: {HEADLINE} - The Daily Pier",
        f"The Daily Pier » {HEADLINE}",
        f"{HEADLINE}_The Daily Pier",
        f"{HEADLINE} | Business | By Jane Doe",
        f"{HEADLINE} | Ships, weather and more from pier.example | News",
        f"{HEADLINE} - The Daily Pier - Ships and trade of the northern sea",
        f"The Daily Pier | News | {HEADLINE}",
        f"The Daily Pier » Blog Archive » {HEADLINE}",
        f"The Daily Pier > Business > {HEADLINE}",
        f"The Daily Pier — Business — {HEADLINE}",
        f"{HEADLINE} ‹ The Daily Pier",
        f"{HEADLINE} ⋆ Business ⋆ The Daily Pier",
        f"{HEADLINE}_Business_The Daily Pier",
        f"{HEADLINE} (The Daily Pier)",
        f"【The Daily Pier】{HEADLINE}",
        f"{HEADLINE}: The Daily Pier",
        f"{HEADLINE} ... The Daily Pier",
        f"Business | The Daily Pier | {HEADLINE}",
    ],
)
def test_site_name_is_removed_from_the_title(title):
    assert titles.choose([Candidate(title, "element")], SITE) == HEADLINE


@pytest.mark.parametrize(
    "title",
    [
        "Rise - and fall - of a harbour",
        "Harbour 2 - 1 Lake",
        "Who pays? | What the new tax on harbours means",
        "On the pier",
        "Why the tax on harbours rises (for now)",
        "Storm, rain, harbour: Business, a guide",
        "Storm hits the coast - Police close pier to all visitors",
    ],
)
def test_dashes_of_the_headline_are_kept(title):
    assert titles.choose([Candidate(title, "element")], SITE) == title


LONGER = f"{HEADLINE} - Sea trade and more - by Jane Doe"


@pytest.mark.parametrize(
    "candidates",
    [
        {"data": "Storm harbour reopening news today", "heading": HEADLINE, "meta": HEADLINE,
         "element": f"{HEADLINE} - The Daily Pier"},
        {"heading": "The Daily Pier", "element": f"The Daily Pier: {HEADLINE}", "meta": HEADLINE},
        {"heading": HEADLINE, "meta": LONGER, "element": LONGER},
    ],
    ids=["most agreement", "a heading that names the site", "text after the headline"],
)  # fmt: skip
def test_headline_is_chosen_among_titles(candidates):
    places = [Candidate(text, place) for place, text in candidates.items()]
    assert titles.choose(places, SITE) == HEADLINE


def test_no_candidate_gives_no_title():
    assert titles.choose([], SITE) is None
    assert titles.choose([Candidate("…", "heading")], SITE) is None


def title_of(html: str) -> str | None:
    return read_metadata(LexborHTMLParser(html), "https://pier.example/2026/harbour").title


@pytest.mark.parametrize(
    "heading",
    [
        f"<h1>{HEADLINE}</h1>",
        f"<h1><a href='/2026/harbour'>{HEADLINE}</a></h1>",
        f"<h1><span class='kicker'>Storm at sea</span> {HEADLINE}</h1>",
        f"<h1><small>Storm at sea</small><br>{HEADLINE}</h1>",
        f"<h1><style>.a{{color:red}}</style>{HEADLINE}</h1>",
        f"<h1><span class='sr-only'>Headline:</span> {HEADLINE}</h1>",
        "<h1><b>Harbour</b> reopens<br>after the <i>storm</i></h1>",
        f"<h1><a href='https://pier.example/'>Pier of the sea</a></h1><h1>{HEADLINE}</h1>",
    ],
)
def test_main_heading_gives_the_title_without_kicker_style_and_site(heading):
    assert title_of(f"<title>pier.example</title>{heading}") == HEADLINE


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        (f"Weather: {HEADLINE}", f"Weather: {HEADLINE}"),
        (HEADLINE, HEADLINE),
        ("pier.example", HEADLINE),
    ],
)
def test_kicker_stays_where_other_titles_have_it(title, wanted):
    heading = f"<h1><span class='kicker'>Weather:</span> {HEADLINE}</h1>"
    assert title_of(f"<title>{title}</title>{heading}") == wanted


def test_parts_of_the_heading_that_titles_lack_are_removed():
    heading = f"<h1>Storm at sea <b>{HEADLINE}</b></h1>"
    assert title_of(f"<title>{HEADLINE}</title>{heading}") == HEADLINE
    assert title_of(f"<title>pier.example</title>{heading}") == f"Storm at sea {HEADLINE}"


@pytest.mark.parametrize(
    "title",
    [
        f"Sport / Racing : Sea : {HEADLINE}",
        f"{HEADLINE}: Sport: Sea: Gazette",
        f"{HEADLINE} (from The Gazette)",
        f"The Gazette - your news first. - Towns, Lakes | {HEADLINE}",
    ],
)
@pytest.mark.parametrize("heading", ["", "<h1>Top Classifieds</h1>"])
def test_part_of_the_title_that_stands_alone_in_the_text_is_the_headline(title, heading):
    shown = f"<ul><li>Sport</li><li>Sea</li></ul><p class=a>{HEADLINE.upper()}</p>"
    found = title_of(f"<title>{title}</title><body>{heading}{shown}<p>Ships sail.</p>")
    assert found == HEADLINE


def test_first_of_two_parts_of_a_length_is_the_headline_in_every_process():
    one, two = "Ships of the sea", "Birds of the sky"
    body = f"<body><p>{two}</p><p>{one}</p>"
    assert title_of(f"<title>{one} | {two}</title>{body}") == one
    assert title_of(f"<title>{two} | {one}</title>{body}") == two


def test_first_marked_headline_is_the_title_of_a_page_without_titles():
    body = f"<h2>Menu</h2><p class=articleHeadline>{HEADLINE}</p><h3>Other stories of today</h3>"
    assert title_of(f"<body>{body}") == HEADLINE
    assert title_of("<body><p>Ships sail again.</p>") is None


def test_single_main_heading_is_trusted_before_other_titles():
    other = "Why the harbour reopens: the long read"
    meta = f"<meta property='og:title' content='{other}'><title>{other}</title>"
    assert title_of(f"{meta}<h1>{HEADLINE}</h1>") == HEADLINE


def test_longest_part_of_a_title_that_is_a_heading_is_the_headline():
    headings = f"<h1>Press releases</h1><h1>{HEADLINE}</h1>"
    assert title_of(f"<title>Press releases - {HEADLINE}</title>{headings}") == HEADLINE


def test_heading_that_names_the_site_and_ends_the_title_is_not_the_headline():
    site = "Pier Example News Blog"
    assert title_of(f"<title>{HEADLINE} - {site}</title><h1>{site}</h1>") == HEADLINE


def test_soft_hyphens_are_removed_from_the_title():
    heading = HEADLINE.replace("Harbour", "Har&shy;bour")
    assert title_of(f"<title>pier.example</title><h1>{heading}</h1>") == HEADLINE


def test_marked_headline_is_preferred_to_headings_of_boxes():
    boxes = "<h1>Jobs</h1><h1>Coupons today</h1>"
    body = f"{boxes}<p class=headline>{HEADLINE}</p>"
    assert title_of(f"<title>pier.example</title><body>{body}") == HEADLINE


def test_date_is_not_a_headline():
    title = "On writing software with machines"
    body = f"<h2>December 16, 2026</h2><h3>{HEADLINE}</h3><p>{title}.</p>"
    assert title_of(f"<body>{body}") == HEADLINE


def test_name_of_a_site_on_a_subdomain_is_removed():
    page = LexborHTMLParser(f"<title>{HEADLINE} | Harbourtimes</title>")
    assert read_metadata(page, "https://investors.harbourtimes.example/a").title == HEADLINE


SHOWN = f"<p>{HEADLINE}</p><p>The town was glad.</p>"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        # A heading that has nothing in common with the titles, one of which the page shows.
        (f"<title>{HEADLINE} | News</title>", f"<h1>Save and share this page</h1>{SHOWN}"),
        # The same, where title and meta agree.
        (
            f"<title>{HEADLINE}</title><meta property=og:title content='{HEADLINE}'>",
            "<h1>More for life</h1><p>The town was glad.</p>",
        ),
        # A section that stands alone as the headline does.
        (f"<title>{HEADLINE} - Sea Trade - 3 May</title>", f"<p>Sea Trade</p>{SHOWN}"),
        (f"<title>{HEADLINE} @ Sea Trade Media</title>", SHOWN),
        (f"<title>{HEADLINE} 03.11.26 08:49</title>", ""),
        (f"<title>&lt;b&gt;Harbour&lt;/b&gt;&lt;br&gt;{HEADLINE[8:]}</title>", ""),
    ],
)
def test_headline_is_distinguished_from_slogans_and_sections(head, body):
    assert title_of(head + body) == HEADLINE


@pytest.mark.parametrize(
    "title",
    [
        "港口在风暴后重新开放_海港新闻网",
        "港口在风暴后重新开放-财经频道-海港网",
        "港口在风暴后重新开放--国内频道",
        "海港新闻：港口在风暴后重新开放",
    ],
)
def test_chinese_titles_are_parted_without_blanks(title):
    shown = "<div>港口在风暴后重新开放</div><p>周二港口重新开放。</p>"
    assert title_of(f"<title>{title}</title>{shown}") == "港口在风暴后重新开放"
