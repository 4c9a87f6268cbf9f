"""newscrawl sources add: what a site says of itself becomes a row of one's own file."""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE

import pytest

from newscrawl.sources import Source, SourceError, load_sources
from newscrawl.sources.front_pages import country_of, read_home
from newscrawl.sources.registry import add_source, load_registry
from tests.conftest import Newscrawl, Ran
from tests.site.faults import always, listing
from tests.site.server import SiteServer

XML = "application/xml"
pytestmark = pytest.mark.usefixtures("shared_helper")
HOME = """<!DOCTYPE html><html lang="de-AT"><head><meta charset="utf-8">
<title>Startseite | Salzmeerer Bote</title>{head}</head><body><nav>
<a href="/">Start</a> <a href="/politik/">Politik</a> <a href="/wirtschaft/">Wirtschaft</a>
<a href="/impressum">Impressum</a></nav><main>
<h2><a href="/politik/neue-bruecke-ueber-den-hafen-123456.html">Neue Brücke über den Hafen</a></h2>
</main></body></html>"""
FEED_LINK = '<link rel="alternate" type="application/rss+xml" href="{}" title="{}">'


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A site with a home page and nothing else; tests add to its routes."""
    nothing = always(status=404)
    bare = ("/robots.txt", "/feed.xml", "/sitemap.xml", "/sitemap-news.xml")
    routes = {"/": always(HOME.format(head="")), **dict.fromkeys(bare, nothing)}
    with SiteServer(routes=routes) as server:
        yield server


def news_sitemap(site: str) -> str:
    return (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">'
        f"<url><loc>{site}/a</loc><news:news><news:title>Neues</news:title></news:news></url>"
        "</urlset>"
    )


def run_add(newscrawl: Newscrawl, address: str, *more: object) -> Ran:
    return newscrawl("sources", "add", address, "--allow-private", "--country", "at", *more)


def add(newscrawl: Newscrawl, site: SiteServer, *more: str) -> dict[str, object]:
    """What `sources add --format json` found."""
    ran = run_add(newscrawl, site.url, "-f", "json", *more)
    assert ran.code == 0, ran.err
    source: dict[str, object] = json.loads(ran.out)
    return source


# --- What is found ------------------------------------------------------------------------------


def test_feeds_are_found_on_the_home_page(newscrawl, site):
    head = FEED_LINK.format("/nachrichten.rss", "Alles") + FEED_LINK.format(
        "/comments/feed", "Comments"
    )
    site.routes["/"] = always(HOME.format(head=head))
    site.routes["/nachrichten.rss"] = always(listing(site.url, ("/a", "/b")), kind=XML)
    source = add(newscrawl, site)
    assert source["feeds"] == [f"{site.url}/nachrichten.rss"]
    assert "/comments/feed" not in site.paths()
    assert "/rss" not in site.paths()  # the usual places are for sites that name no feed
    assert source["languages"] == ["de"]
    assert source["name"] == "Salzmeerer Bote"


def test_sitemaps_are_found_in_robots_txt_and_classified(newscrawl, site):
    at = site.url
    index = (
        f"<sitemapindex><sitemap><loc>{at}/archiv.xml</loc></sitemap>"
        f"<sitemap><loc>{at}/news.xml.gz</loc></sitemap></sitemapindex>"
    )
    site.routes["/robots.txt"] = always(f"User-agent: *\nSitemap: {at}/index.xml\n")
    site.routes["/index.xml"] = always(index, kind=XML)
    site.routes["/news.xml.gz"] = always(
        gzip.compress(news_sitemap(at).encode()), kind="application/gzip"
    )
    source = add(newscrawl, site)
    assert source["sitemaps"] == [f"{at}/index.xml"]
    assert source["news_sitemaps"] == [f"{at}/news.xml.gz"]


def test_usual_feed_paths_are_tried_last(newscrawl, site):
    site.routes["/rss.xml"] = always(listing(site.url, ("/a",)), kind=XML)
    site.routes["/sitemap.xml"] = always(news_sitemap(site.url), kind=XML)
    source = add(newscrawl, site)
    assert source["feeds"] == [f"{site.url}/rss.xml"]
    assert source["news_sitemaps"] == [f"{site.url}/sitemap.xml"]
    paths = site.paths()
    assert paths[:2] == ["/robots.txt", "/"]
    assert "/feeds" not in paths  # found before


def test_feed_is_judged_by_all_of_its_entries(newscrawl, site):
    site.routes["/"] = always(HOME.format(head=FEED_LINK.format("/all.rss", "Alles")))
    paths = ("https://other.example/a", *(f"/politik/{number}" for number in range(50)))
    site.routes["/all.rss"] = always(listing(site.url, paths), kind=XML)
    source = add(newscrawl, site)
    assert source["feeds"] == [f"{site.url}/all.rss"]


def test_feed_that_links_to_other_sites_is_refused(newscrawl, site):
    head = FEED_LINK.format("/other.rss", "Partner")
    site.routes["/"] = always(HOME.format(head=head))
    site.routes["/other.rss"] = always(listing(site.url, ("https://other.example/a",)), kind=XML)
    source = add(newscrawl, site)
    assert source["feeds"] == []
    assert "other sites' pages" in str(source["refused"])


def test_site_without_feeds_gets_its_sections(newscrawl, site):
    row = add(newscrawl, site)
    assert row["sections"] == [f"{site.url}/politik/", f"{site.url}/wirtschaft/"]
    (source,) = load_sources(Path("sources.csv"))
    assert source.sections == (f"{site.url}/politik/", f"{site.url}/wirtschaft/")


@pytest.mark.usefixtures("own_helper")
def test_private_addresses_are_refused(newscrawl, site):
    ran = newscrawl("sources", "add", site.url)
    assert site.visits == []
    assert ran.code == 2
    said = " ".join(ran.err.split())
    advice = "NEWSCRAWL_ALLOW_PRIVATE would allow it, as would --allow-private"
    assert f"127.0.0.1 is a private address; {advice}" in said


def test_table_fits_the_terminal_and_the_next_command_is_named(newscrawl, site, tmp_path):
    site.routes["/rss.xml"] = always(listing(site.url, ("/a",)), kind=XML)
    ran = run_add(newscrawl, site.url)
    assert (ran.code, ran.fits) == (0, True)
    command = "Then: SCRAPY_SETTINGS_MODULE=newscrawl.settings scrapy crawl"
    assert command in " ".join(ran.err.split())
    file = tmp_path / "own.csv"
    ran = run_add(newscrawl, site.url, "--sources", file)
    assert f"export NEWSCRAWL_SOURCES={file}" in ran.err
    (tmp_path / "sources.csv").unlink()
    (tmp_path / "scrapy.cfg").touch()  # as in the folder of the project
    ran = run_add(newscrawl, site.url)
    assert "Then: scrapy crawl salzmeerer-bote -a limit=5" in ran.err


# --- What a home page says ----------------------------------------------------------------------


GRAPH = '[{"@graph": [{"@type": ["NewsMediaOrganization"], "name": "港日報"}]}]'


@pytest.mark.parametrize(
    ("html", "name", "language"),
    [
        ('<html lang="en-GB"><meta property="og:site_name" content="The Pier">', "The Pier", "en"),
        ('<meta property="og:locale" content="pt_BR"><title>O Cais</title>', "O Cais", "pt"),
        (f'<html lang="ja"><script type="application/ld+json">{GRAPH}</script>', "港日報", "ja"),
        ('<html lang="nb-NO"><title>Kai og Krok – Nyheter</title>', "Kai og Krok", "no"),
        ("<title>Breaking stories, weather, sport - Pier</title>", "Pier", None),
        ("<title>Home | The Quay</title>", "The Quay", None),
        ('<html lang="x"><script type="application/ld+json">{broken</script>', None, None),
        ("", None, None),
        ("\0<b>", None, None),
    ],
)
def test_name_and_language_are_read(html, name, language):
    home = read_home(html.encode(), "https://pier.example/")
    assert (home.name, home.language) == (name, language)


def test_legacy_charset_is_read():
    html = '<html lang="ru"><title>Портовый вестник</title>'.encode("windows-1251")
    home = read_home(html, "https://pier.example/", "text/html; charset=windows-1251")
    assert home.name == "Портовый вестник"


@pytest.mark.parametrize(
    ("url", "country"),
    [
        ("https://www.pier.co.uk/", "gb"),
        ("https://pier.de/", "de"),
        ("https://pier.com/", None),
        ("https://pier.io/", None),
        ("https://pier.example/", None),
        ("http://127.0.0.1/", None),
    ],
)
def test_country_follows_from_the_domain(url, country):
    assert country_of(url) == country


def test_unknown_country_is_guessed_from_the_language(newscrawl, site):
    site.routes["/"] = always(HOME.format(head="").replace("de-AT", "de"))
    ran = newscrawl("sources", "add", site.url, "--allow-private", "--dry-run")
    source = add(newscrawl, site, "--dry-run")
    assert ran.code == 0
    assert "Salzmeerer Bote (de, de)" in ran.out
    assert "country 'de' is guessed from the language; --country CODE" in ran.out
    assert (source["country"], source["notes"]) == ("at", [])
    assert not Path("sources.csv").exists()


@pytest.mark.parametrize(
    ("html", "option"),
    [('<html lang="xx">', "--country gb"), ("<title>Pier</title>", "--language en")],
    ids=["country", "language"],
)
def test_missing_field_is_asked_for_before_listings_are_requested(newscrawl, site, html, option):
    site.routes["/"] = always(html)
    ran = newscrawl("sources", "add", site.url, "--allow-private", "--dry-run")
    assert site.paths() == ["/robots.txt", "/"]
    assert ran.code == 2
    assert f"add it, for example {option}" in ran.err
    assert not Path("sources.csv").exists()


def test_undeclared_language_is_detected_in_the_text(newscrawl, site):
    text = "Der Hafen war am Morgen leer, und die Leute warteten auf das Schiff. " * 8
    site.routes["/"] = always(f"<title>Der Bote</title><p>{text}</p>")
    assert add(newscrawl, site)["languages"] == ["de"]


# --- What is written ----------------------------------------------------------------------------


def source(slug: str, **more: object) -> Source:
    facts = {"name": "The Pier", "country": "gb", "languages": ("en",)}
    facts |= {"home": f"https://{slug}.example/", "feeds": (f"https://{slug}.example/f",)}
    return Source(slug=slug, **(facts | more))  # type: ignore[arg-type]


def test_new_file_begins_with_its_columns(tmp_path):
    file = tmp_path / "own.csv"
    add_source(file, source("pier"))
    assert load_sources(file) == (source("pier"),)
    assert S_IMODE(file.stat().st_mode) == 0o644


def test_added_row_changes_no_other_row(tmp_path):
    file = tmp_path / "own.csv"
    add_source(file, source("pier", name='The "Pier", daily'))
    before = file.read_bytes().removesuffix(b"\n")
    file.write_bytes(before)
    add_source(file, source("quay"))
    assert file.read_bytes().startswith(before + b"\n")
    assert [source.slug for source in load_sources(file)] == ["pier", "quay"]


def test_order_of_columns_is_kept(tmp_path):
    file = tmp_path / "own.csv"
    columns = [
        "name", "slug", "status", "country", "languages", "home", "feeds", "sitemaps",
        "news_sitemaps", "remark",
    ]  # fmt: skip
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerow(columns)
    add_source(file, source("pier"))
    add_source(file, source("quay", feeds=(), sections=("https://quay.example/politics/",)))
    assert load_sources(file) == (
        source("pier"),
        source("quay", feeds=(), sections=("https://quay.example/politics/",)),
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [(source("pier"), source("pier")), (source("pier"), source("quay", country="uk!"))],
    ids=["slug taken", "bad field"],
)
def test_invalid_row_changes_nothing(tmp_path, first, second):
    file = tmp_path / "own.csv"
    add_source(file, first)
    before = file.read_bytes()
    with pytest.raises(SourceError, match=r"own\.csv, row 3"):
        add_source(file, second)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_unwritable_file_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"nowhere/own\.csv: can't be written"):
        add_source(tmp_path / "nowhere" / "own.csv", source("pier"))


def test_added_site_is_read_in_the_same_folder(newscrawl, site):
    ran = run_add(newscrawl, site.url)
    assert "NEWSCRAWL_SOURCES" not in ran.err
    listed = json.loads(newscrawl("sources", "list", "--own", "-f", "json").out)
    assert [row["slug"] for row in listed] == ["salzmeerer-bote"]
    shown = json.loads(newscrawl("sources", "show", "salzmeerer-bote", "-f", "json").out)
    assert shown["home"] == f"{site.url}/"


def test_rows_of_the_user_extend_the_registry_and_have_precedence(tmp_path):
    file = tmp_path / "own.csv"
    add_source(file, source("pier"))
    add_source(file, source("ft", name="My FT"))
    registry = {source.slug: source for source in load_registry(file)}
    assert len(registry) == len(load_sources()) + 1
    assert registry["ft"].name == "My FT"
    assert registry["bbc-news"].name == "The BBC"


# --- Addresses other than that of the home page ---------------------------------------------------


ARTICLE = "/2026/11/25/neue-bruecke-ueber-den-hafen.html"


@pytest.mark.parametrize("path", ["/wirtschaft/", ARTICLE], ids=["section", "article"])
def test_address_of_a_page_leads_to_its_site(newscrawl, site, path):
    page = HOME.format(head="").replace("Startseite | Salzmeerer Bote", "Lokales")
    site.routes |= {path: always(page), "/rss.xml": always(listing(site.url, ("/a",)), kind=XML)}
    ran = run_add(newscrawl, site.url + path, "-f", "json")
    source = json.loads(ran.out)
    assert (source["name"], source["home"]) == ("Salzmeerer Bote", f"{site.url}/")
    assert source["feeds"] == [f"{site.url}/rss.xml"]
    (note,) = source["notes"]
    assert note == f"{site.url}{path} is a page of this site, whose home page is {site.url}/"


def test_home_page_of_an_edition_is_kept(newscrawl, site):
    site.routes["/en-gb/"] = always(HOME.format(head="").replace("Salzmeerer", "Saltmere"))
    ran = run_add(newscrawl, f"{site.url}/en-gb/", "-f", "json")
    assert "/" not in site.paths()
    assert json.loads(ran.out)["home"] == f"{site.url}/en-gb/"


def test_article_of_a_site_whose_home_page_is_refused_is_no_home_page(newscrawl, site):
    site.routes |= {ARTICLE: always(HOME.format(head="")), "/": always(status=403)}
    said = newscrawl("sources", "add", site.url + ARTICLE, "--allow-private")
    assert said.code == 2
    assert "looks like the address of an article" in said.err
    assert f"{site.url}/ can't be read; give the address of a feed" in said.err
    assert not Path("sources.csv").exists()


def titled_feed(site: str) -> bytes:
    """A feed with its language and the name of its site."""
    facts = b"<title>Salzmeerer Bote - Politik</title><language>de</language>"
    feed = listing(site, ("/politik/a", "/politik/b"))
    head, _, items = feed.partition(b"<item>")
    return head.partition(b"<title>")[0] + facts + b"<item>" + items


def test_given_feed_is_the_only_one_of_its_site(newscrawl, site):
    site.routes["/"] = always(HOME.format(head=FEED_LINK.format("/all.rss", "Alles")))
    site.routes["/politik.rss"] = always(titled_feed(site.url), kind=XML)
    site.routes["/robots.txt"] = always(f"Sitemap: {site.url}/news.xml\n")
    site.routes["/news.xml"] = always(news_sitemap(site.url), kind=XML)
    ran = newscrawl("sources", "add", f"{site.url}/politik.rss", "--allow-private", "-f", "json")
    assert "/all.rss" not in site.paths()
    source = json.loads(ran.out)
    assert source["feeds"] == [f"{site.url}/politik.rss"]
    assert source["news_sitemaps"] == [f"{site.url}/news.xml"]
    assert (source["home"], source["country"]) == (f"{site.url}/", "at")


@pytest.mark.thorough
@pytest.mark.usefixtures("own_helper")
def test_feed_of_a_site_whose_home_page_is_refused_is_added(newscrawl, site):
    site.routes |= {
        "/": always(status=403),
        "/politik.rss": always(titled_feed(site.url), kind=XML),
    }
    refused = run_add(newscrawl, site.url)
    site.visits.clear()
    ran = newscrawl("sources", "add", f"{site.url}/politik.rss", "--allow-private")
    assert site.paths() == ["/robots.txt", "/politik.rss", "/"]
    assert refused.code == 2
    assert "the server answered 403. If the site has a feed, give the feed's" in refused.err
    assert ran.code == 0, ran.err
    (source,) = load_sources(Path("sources.csv"))
    assert (source.name, source.languages) == ("Salzmeerer Bote", ("de",))
    assert (source.home, source.feeds) == (f"{site.url}/", (f"{site.url}/politik.rss",))
    assert "can't be read: the server answered 403" in " ".join(ran.out.split())


def test_feeds_named_as_xml_count(newscrawl, site):
    link = '<link rel="alternate" type="{}" href="{}">'
    places = {"/a.php": "text/xml", "/b.php": "application/xml", "/c.php": "text/xml"}
    head = "".join(link.format(kind, path) for path, kind in places.items())
    site.routes["/"] = always(HOME.format(head=head))
    site.routes |= dict.fromkeys(("/a.php", "/b.php"), always(titled_feed(site.url), kind=XML))
    site.routes["/c.php"] = always("<oembed><title>Neue Brücke</title></oembed>", kind=XML)
    source = add(newscrawl, site)
    assert source["feeds"] == [f"{site.url}/a.php", f"{site.url}/b.php"]
    assert "/c.php" in str(source["refused"])


def test_address_without_scheme_is_tried_with_https_and_then_http(newscrawl, site):
    address = site.url.removeprefix("http://")
    ran = run_add(newscrawl, address)
    assert ran.code == 0, ran.err
    (source,) = load_sources(Path("sources.csv"))
    assert source.home == f"http://{address}/"


def test_address_without_scheme_that_answers_to_neither_is_named_twice(newscrawl):
    ran = run_add(newscrawl, "127.0.0.1:1")
    assert ran.code == 2
    line = " ".join(ran.err.split())
    assert "https://127.0.0.1:1/" in line
    assert "http://127.0.0.1:1/" in line


def test_registered_site_is_refused_before_any_request(newscrawl, site):
    add(newscrawl, site)
    site.visits.clear()
    ran = run_add(newscrawl, site.url)
    assert site.visits == []
    assert "is registered already as 'salzmeerer-bote'" in ran.err
    assert ran.code == 2
