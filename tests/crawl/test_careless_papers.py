"""A crawl of a paper whose pages say little, whose feeds more, and whose comments too much."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.site.crawling import Crawl
from tests.site.faults import Answer, always
from tests.site.forking import Forks
from tests.site.server import SiteServer

MOMENT = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
TEXT = (
    "{}, the port authority of Saltmere said on Friday, after eleven weeks of repairs to it.",
    "The old quay opened on 12 May 2004, and Siemens delivered its cranes two years later.",
    "Engineers replaced forty steel pillars that had rusted below the waterline since then.",
    "The council said that it would now review how older structures on the coast are inspected.",
)


def body(title: str) -> str:
    return "".join(f"<p>{paragraph.format(title)}</p>" for paragraph in TEXT)


COMMENTS = (
    "<div id='comments'><h3>Comments (2)</h3><div class='comment'><span class='author'>Max Loud"
    "</span> <time datetime='2024-02-03T10:00:00Z'>3 February 2024</time><p>I said so in 2024, "
    "and nobody listened to me, as usual in this town.</p></div></div>"
)


def page(title: str, inner: str) -> bytes:
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{title}</title></head>"
        f"<body><main>{inner}</main><footer>© Saltmere Post</footer></body></html>"
    ).encode()


TITLES = {
    "/news/harbour-reopens-after-repairs": "Harbour reopens after repairs",
    "/news/cranes-return-to-the-quay": "Cranes return to the quay",
    "/news/divers-check-the-quay": "Divers check the quay",
    "/news/ferries-sail-again": "Ferries sail again",
}


def shown(path: str) -> str:
    title = TITLES[path]
    article = f"<h1>{title}</h1>{body(title)}"
    state = json.dumps({"props": {"article": {"title": title, "body": body(title)}}})
    return {
        "/news/harbour-reopens-after-repairs": article,
        "/news/cranes-return-to-the-quay": article + COMMENTS,
        "/news/divers-check-the-quay": f"<script type='application/json'>{state}</script>",
        "/news/ferries-sail-again": "<div id='root'></div>",
    }[path]


TAIL = "<p>The post <a href='{url}'>{title}</a> appeared first on <a href='/'>Facebook</a>.</p>"


def feed(site: str, entries: dict[str, str]) -> Answer:
    items = "".join(
        f"<item><title>{title}</title><link>{site}{path.replace('&', '&amp;')}</link>"
        f"<pubDate>{format_datetime(MOMENT)}</pubDate><dc:creator>By Anna Keller and Tom Weber"
        f"</dc:creator><description><![CDATA[<p>Siemens told us of it.</p>"
        f"{TAIL.format(url=site + path, title=title)}]]></description></item>"
        for path, title in entries.items()
    )
    channel = (
        "<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel>"
        f"<title>Saltmere Post</title>{items}</channel></rss>"
    )
    return Answer(body=channel.encode(), kind="application/xml")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Crawl:
    refused = Answer(status=403)
    with SiteServer(routes={"/robots.txt": always(status=404)}) as site:
        for path, title in TITLES.items():
            answer = Answer(body=page(title, shown(path)))
            site.routes[path] = lambda _, answer=answer: answer
        limited = "Council meets behind closed doors"
        addresses = ("/council?mod=rss_home", "/council?partner=aggregator")
        site.routes |= dict.fromkeys((*addresses, "/council"), lambda _: refused)
        for name, entries in {
            "/one.xml": {**TITLES, addresses[0]: limited},
            "/two.xml": {addresses[1]: limited},
        }.items():
            answer = feed(site.url, entries)
            site.routes[name] = lambda _, answer=answer: answer
        database = tmp_path_factory.mktemp("careless") / "news.sqlite"
        return forks.crawl("ft", f"feeds={site.url}/one.xml,{site.url}/two.xml", database=database)


def rows(crawl: Crawl, title: str) -> list[dict[str, object]]:
    return crawl.rows("SELECT * FROM articles WHERE title = ?", title)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [
        "/news/harbour-reopens-after-repairs",
        "/news/cranes-return-to-the-quay",
        "/news/divers-check-the-quay",
    ],
)
def test_article_has_its_text_and_the_date_of_the_feed(crawl, path):
    title = TITLES[path]
    (row,) = rows(crawl, title)
    assert row["access"] == "open"
    assert str(row["text"]).split("\n\n") == [part.format(title) for part in TEXT]
    assert str(row["published_at"])[:19].replace("T", " ") == f"{MOMENT:%Y-%m-%d %H:%M:%S}"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path", ["/news/harbour-reopens-after-repairs", "/news/cranes-return-to-the-quay"]
)
def test_article_has_the_authors_of_the_feed(crawl, path):
    (row,) = rows(crawl, TITLES[path])
    assert json.loads(str(row["authors"])) == ["Anna Keller", "Tom Weber"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("title", "access"),
    [("Ferries sail again", "unreadable"), ("Council meets behind closed doors", "refused")],
)
def test_page_without_text_is_one_article_of_the_feed(crawl, title, access):
    (row,) = rows(crawl, title)
    assert (row["access"], row["text"]) == (access, "Siemens told us of it.")
    companies = crawl.rows(
        "SELECT DISTINCT name FROM companies JOIN mentions ON company_id = companies.id "
        "WHERE article_id = ?",
        row["id"],
    )
    assert companies == [{"name": "Siemens"}]
    assert str(row["published_at"])[:10] == f"{MOMENT:%Y-%m-%d}"
