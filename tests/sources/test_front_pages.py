"""Links are taken for articles, sections or neither by their addresses and words."""

import gzip
import json
import os
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from newscrawl.sources.front_pages import (
    ARTICLE,
    MAX_LINKS,
    MAX_SECTIONS,
    Link,
    article_points,
    classify_links,
    links,
    parse,
)

AT = "https://pier.example"

CYRILLIC = f"/{quote('новый-мост-через-гавань')}"
ARTICLES = [
    ("/politics/harbour-council-votes-for-new-bridge", "Harbour council votes for a new bridge"),
    ("/2026/11/22/bridge-vote", "Council votes for a new bridge"),
    ("/2026-11-22/bridge", "Council votes for a new bridge after long debate"),
    ("/news/world-europe-68123456", "Council votes for a new bridge"),
    ("/news/articles/c4g8zkx1x7ko", "Council votes for a new bridge"),
    ("/content/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "Council votes for a bridge"),
    ("/story/20261122-bridge", "Council votes"),
    ("/artikel/neue-bruecke-ueber-den-hafen-a-1234567.html", "Neue Brücke"),
    ("/wirtschaft/hafen-bruecke-wird-teurer-als-gedacht.html", "Brücke wird teurer als gedacht"),
    ("/thema/vw-chef-warnt-vor-neuen-zoellen/497533355", "VW-Chef warnt vor Zöllen"),
    ("/politique/article/2026/11/22/le-conseil-vote-le-pont_6187263_823448.html", "Le pont"),
    ("/noticias/2026/11/el-puerto-tendra-un-nuevo-puente/", "El puerto tendrá un nuevo puente"),
    ("/economia/20261122/nuevo-puente/1002.html", "Nuevo puente sobre el puerto de la ciudad"),
    ("/cronaca/il-porto-avra-un-nuovo-ponte-12345678/", "Il porto avrà un nuovo ponte"),
    ("/doc/7715044", "Новый мост через гавань"),
    ("/rus/news/politics/novyj-most-cherez-gavan-utverzhden", "Мост"),
    (CYRILLIC, "Новый мост через гавань"),
    ("/article/20261122/k10014567891000.html", "港に新しい橋をかける計画を市議会が承認"),
    ("/n1/2026/1122/c1001-40123456.html", "市议会批准在港口修建新桥"),
    ("/view/AKR20261122000100001", "항구에 새 다리 건설 계획 통과"),
    ("/wiadomosci/kraj/nowy-most-nad-portem,1234567", "Nowy most nad portem"),
    ("/politika/434567/to-neo-gefyri-tou-limaniou/", "Το νέο γεφύρι του λιμανιού"),
    ("/?p=123456", "Council votes for a new bridge today"),
    ("/read.php?articleid=981234", "Council votes for a new bridge today"),
    ("/haber/yeni-kopru-icin-oylama-yapildi-41234567", "Yeni köprü için oylama"),
]  # fmt: skip
OTHERS = [
    ("/", "Home"),
    ("/politics", "Politics"),
    ("/wirtschaft/unternehmen/", "Unternehmen"),
    ("/sport/fussball/bundesliga/", "Bundesliga"),
    ("/author/jule-petersen", "Jule Petersen"),
    ("/autoren/jule-petersen-12345", "Jule Petersen"),
    ("/tag/bridges", "bridges"),
    ("/thema/hafen", "Hafen"),
    ("/search?q=bridge", "Search"),
    ("/login", "Sign in"),
    ("/abo/angebote-fuer-leser", "Abo-Angebote"),
    ("/privacy", "Privacy policy"),
    ("/impressum", "Impressum"),
    ("/newsletter", "Get our newsletter every morning now"),
    ("/politics?page=2", "Next page"),
    ("/politics/page/17", "17"),
    ("/images/bridge-over-the-harbour-2026.jpg", "Enlarge the picture of the bridge"),
    ("/epaper/2026-11-22.pdf", "Today's paper as a document"),
    ("/feed.xml", "RSS"),
    ("/video/2026-11-22-harbour", "Video"),
    ("/wetter/", "Wetter"),
    ("/jobs", "Jobs"),
    ("/world/europe", "Europe"),
    ("/經濟", "經濟"),
]


def link(path: str, text: str = "", **facts: bool) -> Link:
    return Link(url=AT + path, text=text, **facts)


@pytest.mark.parametrize(("path", "text"), ARTICLES, ids=[path for path, _ in ARTICLES])
def test_article_links_are_recognized(path, text):
    assert article_points(link(path, text)) >= ARTICLE


@pytest.mark.parametrize(("path", "text"), OTHERS, ids=[path for path, _ in OTHERS])
def test_other_links_are_not_articles(path, text):
    assert article_points(link(path, text)) < ARTICLE


def test_headline_text_supports_an_article_and_navigation_does_not():
    plain = link("/politics/bridge-vote-1", "Council votes for bridge")
    assert article_points(plain) < article_points(
        link("/politics/bridge-vote-1", "Council votes for bridge", headline=True)
    )
    assert article_points(plain) > article_points(
        link("/politics/bridge-vote-1", "Council votes for bridge", navigation=True)
    )


# --- Pages --------------------------------------------------------------------------------------

PAGE = """<html><body><nav><a href="/">Home</a><a href="/politics/">Politics</a>
<a href="/economy/">Economy</a><a href="/about">About us</a></nav>
<div role="navigation"><a href="/culture/">Culture</a></div>
<main><article><h2><a href="/politics/council-votes-for-new-bridge#comments">Council votes for
<b>new</b> bridge</a></h2><a href="/politics/council-votes-for-new-bridge">Read more</a></article>
<a href="/economy/crane-maker-finds-a-buyer-77412"><h3>Crane maker finds a buyer</h3></a>
<a href="https://other.example/2026/11/22/news-from-elsewhere-today">News from elsewhere today</a>
<a href="javascript:void(0)">Menu</a><a href="mailto:desk@pier.example">Write to us</a>
<a href="https://me:secret@pier.example/a-story-about-the-old-harbour">A story</a></main>
<footer><a href="/terms-and-conditions-of-use">LeaseTerms</a></footer></body></html>"""


def test_links_are_divided_into_articles_and_sections():
    judged = classify_links(PAGE.encode(), f"{AT}/")
    assert [entry.url for entry in judged.articles] == [
        f"{AT}/politics/council-votes-for-new-bridge",
        f"{AT}/economy/crane-maker-finds-a-buyer-77412",
        "https://other.example/2026/11/22/news-from-elsewhere-today",
    ]
    assert judged.sections == (f"{AT}/politics/", f"{AT}/economy/", f"{AT}/culture/")


def test_short_headline_is_not_taken_for_a_section():
    html = b"""<h2><a href="/economy/crane-maker-sold">Crane maker sold</a></h2>
    <h3><a href="/economy/harbour-strike-ends/">Harbour strike ends</a></h3>
    <h2><a href="/economy/">Economy</a></h2><a href="/article/harbour/">The old harbour</a>"""
    assert classify_links(html, f"{AT}/").sections == (f"{AT}/economy/",)


def test_link_text_is_the_headline_hint():
    judged = classify_links(PAGE.encode(), f"{AT}/")
    assert [entry.hints.title for entry in judged.articles] == [
        "Council votes for new bridge",
        "Crane maker finds a buyer",
        None,
    ]


def test_relative_links_are_made_absolute_against_the_page():
    html = b'<a href="bridge-vote-in-the-council-today">The council votes for a bridge</a>'
    (entry,) = classify_links(html, f"{AT}/politics/").articles
    assert entry.url == f"{AT}/politics/bridge-vote-in-the-council-today"


def test_links_and_sections_of_a_page_are_limited():
    many = "".join(f'<a href="/{"x" * (n % 20)}/{"y" * (n // 20)}/">A</a>' for n in range(5_000))
    assert len(list(links(parse(many.encode()), AT))) == MAX_LINKS
    assert len(classify_links(many.encode(), AT).sections) == MAX_SECTIONS


@pytest.mark.parametrize("body", [b"", b"\0\xff", b"<a href=", b"<a " * 10_000, b"<div>" * 10_000])
def test_random_bytes_do_not_raise(body):
    assert classify_links(body, AT).articles == ()


# --- Real pages ---------------------------------------------------------------------------------


@pytest.mark.corpus
def test_links_of_labelled_pages_are_classified():
    """The figures of docs/sources.md: known articles are found by address and headline, links in
    navigation are left, even where nothing tells that they stand there."""
    folder = os.environ.get("NEWSCRAWL_CORPUS")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no development corpus: set NEWSCRAWL_CORPUS")
    lines = Path(folder, "fundus", "gold.jsonl").read_text(encoding="utf-8").splitlines()
    rows = list(map(json.loads, lines))
    points = [article_points(Link(url=row["url"], text=row["title"] or "")) for row in rows]
    found = sum(point >= ARTICLE for point in points) / len(points)
    taken = menus = 0
    for row in rows:
        page = gzip.decompress(Path(folder, "fundus", "pages", f"{row['id']}.html.gz").read_bytes())
        for one in links(parse(page), row["url"]):
            if one.navigation and urlsplit(one.url).hostname == urlsplit(row["url"]).hostname:
                menus += 1
                taken += article_points(one) >= ARTICLE
    told = f"{found:.3f} of {len(points)} articles; {taken / menus:.3f} of {menus} menu links"
    print(told)
    assert found >= 0.95
    assert taken / menus <= 0.06


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(
            lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(800_000)) + b">", id="attributes"
        ),
        pytest.param(lambda: b"<div>" * 200_000, id="depth"),
        pytest.param(lambda: b"<a href=/x>" * 100_000, id="links"),
    ],
)
def test_hostile_home_page_is_read_in_linear_time(head):
    """Time of this process, with much to spare: without the parser's limits they take minutes."""
    link = (
        b"<h2><a href='/2026/11/22/council-votes-on-tram-line'>Council votes on tram line</a></h2>"
    )
    page = link + head()
    started = time.process_time()
    judged = classify_links(page, "https://n.example/", "text/html")
    assert time.process_time() - started < 20
    assert "https://n.example/2026/11/22/council-votes-on-tram-line" in {
        entry.url for entry in judged.articles
    }
