"""Each number leads to its proof, whose articles and sentences add up to it."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import pytest
from openpyxl import load_workbook
from starlette.testclient import TestClient

from newscrawl.answers.words import BARRIERS
from newscrawl.dashboard import create_app
from newscrawl.items import Article, Document, Page, SourceCatalog
from newscrawl.reading import versions_of
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.corrections import add_corrections, wrong_mentions
from newscrawl.storage.documents import COUNTED_KINDS
from newscrawl.storage.models.articles import UNCOUNTED
from newscrawl.storage.queries import Counted, Scope
from newscrawl.storage.saved_queries import add_query, count_history, remove_query
from tests.dashboards import COMPANIES, EVIL_SOURCE, NOW, SCRIPT, TODAY, TRAM, config_of, make_news
from tests.thorough import first_is_quick
from tests.worlds import body, document, empty, save_document

# Groups that overlap.
CATALOG = SourceCatalog(
    groups={
        "quays": ("harbour-courier", "northern-ledger"),
        "mine": ("harbour-courier", "stadtbote"),
    }
)
LINK = re.compile(r'<a class="proof" href="(/proof[^"]+)" title="([^"]*)">(.*?)</a>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Site:
    client: TestClient
    database: Database
    url: str
    # Numbers whose proof was read: several pages show the same one.
    proven: set[tuple[str, int]] = field(default_factory=set)


@contextmanager
def serve(folder: Path, url: str) -> Iterator[Site]:
    """A dashboard over twelve days of news and a companies file with owners."""
    (folder / "companies.toml").write_text(COMPANIES, "utf-8")
    with open_database(url) as database:
        make_news(database, days=12, hostile=True)
        page = queries.article_page(database, TRAM)
        assert page is not None
        add_corrections(database, TRAM, wrong_mentions(page, "Siemens")[:1], "Ada")
        save_uncounted(database)
        config = config_of(
            folder / "news.sqlite",
            database_url=url,
            companies=folder / "companies.toml",
            catalog=CATALOG,
        )
        with TestClient(create_app(config), base_url="http://localhost") as client:
            yield Site(client, database, url)


def save_uncounted(database: Database) -> None:
    """Store an article that robots.txt withholds, one that the site refuses, one whose page shows
    something else, and a list of articles that names Siemens."""
    run = database.start_run("harbour-courier", versions_of(None))
    accesses = {"unread": "disallowed", "refused": "refused", "shell": "unreadable"}
    for name, access in accesses.items():
        unread = document(name, source="harbour-courier", access=access, published=NOW)
        unread = replace(unread, article=replace(unread.article, text=f"The {name} introduction."))
        save_document(database, unread, run)
    front = document("front", source="harbour-courier", kind="front", published=NOW)
    text = "Siemens lends the crane. Old news of Siemens."
    article = replace(front.article, text=text)
    named = tuple(body("Siemens", start) for start in (0, 37))
    save_document(database, replace(front, article=article, mentions=named), run)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("proof")
    with serve(folder, f"sqlite:///{folder}/news.sqlite") as served:
        yield served


def numbers_of(site: Site, path: str) -> Counter[tuple[str, int]]:
    """The numbers of a page by the address of their proof."""
    answer = site.client.get(path)
    assert answer.status_code == 200, path
    found: Counter[tuple[str, int]] = Counter()
    for address, title, text in LINK.findall(answer.text):
        before = re.match(r"Before: ([\d,]+)", title)
        shown = before[1] if before else re.sub(r"<[^>]+>", "", text).strip()
        found[unescape(address), int(shown.replace(",", ""))] += 1
    return found


def asked(site: Site, address: str, **more: int) -> Any:
    """What the API says of the number of an address."""
    query: dict[str, Any] = {**parse_qs(urlsplit(address).query), **more}
    query["subsidiaries"] = query.get("subsidiaries") == ["included"]
    answer = site.client.get("/api/proof", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def listed_sum(site: Site, address: str) -> int:
    """The sum of what the API lists behind the number of an address, a page at a time."""
    total, numbers, seen = None, 0, []
    while total is None or len(seen) < total:
        found = asked(site, address, limit=500, offset=len(seen))
        total = found["total"]
        for one in found["articles"]:
            numbers += one["number"]
            seen.append(one["article"]["url"])
            check_sentences(one, found["counted"], found["company"])
        if not found["articles"]:
            break
    assert len(set(seen)) == len(seen) == total
    assert numbers == found["number"]
    return numbers


def check_sentences(one: dict[str, Any], counted: str, company: str | None) -> None:
    """Each counted mention stands in a sentence that is listed, and is marked there."""
    mentions = [each for sentence in one["sentences"] for each in sentence["mentions"]]
    if counted in {"mentions", "headline", "body"}:
        assert len(mentions) == one["number"]
    elif counted in {"articles", "stories"}:
        assert mentions
    for sentence in one["sentences"]:
        text = sentence["snippet"]["text"]
        marked = " ".join(text[start:end] for start, end in sentence["snippet"]["marks"])
        for each in sentence["mentions"]:
            assert re.sub(r"\s", " ", each["surface"]) in marked
            assert each["rule"]
    if counted == "boilerplate":
        assert sum(number for _, number in one["boilerplate"]) == one["number"]


# A page has as many numbers as it has days, and each of them is asked for.
PAGES = [
    "/?days=7",
    "/company/Siemens?days=7",
    "/company/Siemens?days=3&count=mentions&split=source",
    "/company/Siemens?days=10&count=stories&split=language&by=week",
    "/company/Airbus?days=10&count=mentions&source=harbour-courier",
    "/company/Siemens?days=3&split=group",
    "/company/Siemens?days=3&split=group&group=mine&count=stories",
    "/company/Bosch?days=10&language=fr&by=month",
    "/company/Siemens?days=2&zone=Asia/Kolkata",
    "/company/Wing%20Holding?days=2&subsidiaries=included&count=mentions",
    "/company/our%20competitors?days=3",
    "/?days=2&subsidiaries=included",
    "/compare?company=Wing+Holding&company=Siemens&days=7&subsidiaries=included&count=mentions",
    "/compare?company=Airbus&company=Siemens&days=7&count=stories",
    "/compare?company=our+competitors&company=Siemens&days=7&count=mentions",
    "/company/our%20competitors?days=2&split=source&count=mentions",
]


@pytest.mark.parametrize("path", [*PAGES[:4], *first_is_quick(PAGES[4:])])
def test_what_a_proof_lists_adds_up_to_its_number(site, path):
    check_numbers(site, path)


@pytest.fixture
def emptied(postgres_tables: str) -> Iterator[str]:
    """The URL of a PostgreSQL database that is empty before and after the test."""
    empty(postgres_tables)
    yield postgres_tables
    empty(postgres_tables)


@pytest.mark.thorough
def test_proofs_add_up_on_postgresql(emptied, tmp_path):
    with serve(tmp_path, emptied) as site:
        for path in PAGES[3:8:2]:
            check_numbers(site, path)


def check_numbers(site: Site, path: str) -> None:
    """Each number of a page is the sum of what its proof lists."""
    numbers = numbers_of(site, path)
    assert len(numbers) > 4
    for address, number in numbers.keys() - site.proven:
        if address.endswith("#coverage"):
            coverage = asked(site, address)["coverage"]
            assert sum(one["completeness"]["covered"] for one in coverage) == number
        else:
            assert listed_sum(site, address) == number, address
        site.proven.add((address, number))


def test_overview_by_change_shows_what_is_least_likely_chance(site):
    page = site.client.get("/?days=7&order=change").text
    shown = re.findall(r'<th scope="row"><a href="/company/([^"?]+)', page)
    rows = site.client.get(f"/api/overview?since={TODAY - timedelta(days=6)}&limit=500").json()
    ranked = sorted(rows["companies"], key=lambda row: row["chance"])
    assert [unquote(name) for name in shown] == [row["company"] for row in ranked[:25]]
    assert "changed most clearly" in page
    usual = site.client.get("/?days=7").text
    assert re.findall(r'<th scope="row"><a href="/company/([^"?]+)', usual) != shown


def test_all_pages_of_a_chart_lead_to_proofs(site):
    text = site.client.get("/company/Siemens?days=10&split=source").text
    table = text.split("<table data-chart")[1].split("</table>")[0]
    values = [int(value) for value in re.findall(r'data-value="(\d+)"', table)]
    assert len(LINK.findall(table)) == sum(value > 0 for value in values) > 0


def test_parts_that_overlap_are_drawn_as_lines_and_without_a_rest(site):
    by_group = site.client.get("/company/Siemens?days=10&split=group").text
    assert re.search(r"<table data-chart=.lines.>", by_group)
    assert "others" not in by_group.split("<table data-chart")[1].split("</thead>")[0]
    assert "A source counts in each of its groups" in by_group


@pytest.mark.parametrize("counted", ["included", "separate"])
def test_numbers_with_subsidiaries_say_so(site, counted):
    page = site.client.get(f"/company/Wing%20Holding?days=7&subsidiaries={counted}").text
    assert (" · with subsidiaries" in page) == (counted == "included")
    together = str(counted == "included").lower()
    answer = site.client.get(f"/api/counts?company=Wing%20Holding&subsidiaries={together}")
    assert answer.headers["Newscrawl-Subsidiaries"] == counted


def test_proof_is_a_page_with_its_sentences(site):
    answer = site.client.get("/proof?company=Siemens&source=harbour-courier")
    assert answer.status_code == 200
    assert "articles name Siemens" in answer.text
    assert "<mark>Siemens</mark>" in answer.text
    assert re.search(
        r"<span>unambiguous name of the registry; very likely right \(\d\.\d\d\)",
        answer.text,
    )
    assert "<bdi>Harbour Courier</bdi>" in answer.text


def test_proof_says_what_is_left_out(site):
    scope = Scope(since=TODAY - timedelta(days=11))
    found = queries.proof(site.database, company="Siemens", scope=scope)
    left_out = {one.reason: one for one in found.left_out}
    assert left_out["corrected"].mentions == 1
    around = queries.boilerplate(site.database, company="Siemens", scope=scope)
    assert left_out["boilerplate"].mentions == around.mentions > 0
    assert left_out["paywalled"].articles > 0
    text = site.client.get("/proof?company=Siemens").text
    assert "a person has called wrong" in text
    assert re.search(r"up to <a [^>]+>\d+</a> more articles", text)


def test_sources_whose_texts_are_not_read_are_named(site):
    of = r"the pages of 1 of (these articles|the articles of these days), of which only headline "
    for path in ("/sources?days=7", "/proof?counted=read&days=7"):
        text = re.sub(r"<[^>]+>", "", site.client.get(path).text)
        for who in ("robots.txt forbids", r"Refused by the site \(HTTP 403\): the site refuses"):
            said = f"{who} {of}and introduction are known: Harbour Courier 1\\."
            assert re.search(said, text), path
    days = {"since": str(TODAY - timedelta(days=6)), "until": str(TODAY)}
    read = asked(site, f"/proof?{urlencode({'counted': 'read', **days})}")
    hidden = {one["reason"]: one for one in read["left_out"]}["paywalled"]
    names = queries.source_names(site.database)
    counts = {names[slug]: number for slug, number in hidden["sources"]}
    assert sum(counts.values()) == hidden["articles"] > 1
    each = ", ".join(f"{name} {number}" for name, number in counts.items())
    said = f"a paywall hides the text of {hidden['articles']} of these articles"
    assert f"{said}, of which only headline and introduction are known: {each}." in text
    page = site.client.get("/sources?days=7").text
    row = r'<bdi>([^<]+)</bdi></a></th>(?:(?!</tr>).)*data-label="Behind a paywall">(\d+|–)</td>'
    shown = {name: number for name, number in re.findall(row, page, re.DOTALL) if number > "0"}
    assert {name: int(n) for name, n in shown.items() if n != "–"} == counts
    words = re.sub(r"<[^>]+>", "", page)
    assert (
        f"a paywall hides the text of {hidden['articles']} of the articles of these days" in words
    )
    (whole,) = re.findall(r'href="([^"]+)#left-out">All articles read', page)
    assert f"a paywall hides the text of {hidden['articles']} of these" in re.sub(
        r"<[^>]+>", "", site.client.get(unescape(whole)).text
    )
    text = site.client.get("/proof?counted=read&source=stadtbote").text
    assert "robots.txt forbids the pages of none of these articles" in text
    assert "a paywall hides the text of none of these articles" in text


def test_page_says_how_many_more_articles_may_name_a_company(site):
    days = f"since={TODAY - timedelta(days=11)}&until={TODAY}"
    answer = site.client.get(f"/api/proof?company=Siemens&{days}").json()
    more = {one["reason"]: one["articles"] for one in answer["left_out"]}
    page = site.client.get(f"/company/Siemens?{days}").text
    notice = unescape(re.sub(r"<[^>]+>", "", page.split('id="withheld">')[1].split("</p>")[0]))
    heading = f"{sum(more[reason] for reason in BARRIERS):,} by headline only. "
    assert notice == (
        f"{heading}Up to {more['disallowed']} more article that robots.txt "
        f"forbids to fetch and up to {more['paywalled']} more articles behind a paywall and up to "
        f"{more['refused']} more article that the site refuses to show (HTTP 403) and up to "
        f"{more['unreadable']} more article with something else on the page may name Siemens."
    )


@pytest.mark.parametrize(
    ("split", "without"), [(None, ()), ("source", ["harbour-courier"]), ("language", ["en"])]
)
@pytest.mark.parametrize("company", ["Siemens", None])
def test_what_is_left_out_adds_up_in_a_proof_of_its_own(site, company, split, without):
    scope = Scope(since=TODAY - timedelta(days=11))
    asked = partial(
        queries.proof, site.database, company=company, split=split, without=without, scope=scope
    )
    left_out = {one.reason: one for one in asked().left_out}
    assert "boilerplate" in left_out
    for reason in left_out.keys() & set(get_args(Counted)):
        one = left_out[reason]
        proof = asked(counted=reason, limit=500)
        assert proof.number == (one.articles if one.mentions is None else one.mentions) > 0
        assert sum(each.number for each in proof.articles) == proof.number
        assert len(proof.articles) == proof.total == one.articles
        assert proof.left_out == ()


def test_numbers_of_what_is_left_out_lead_to_its_articles(site):
    page = "/proof?company=Siemens&days=12"
    numbers = {
        parse_qs(urlsplit(one).query)["counted"][0]: (one, n) for one, n in numbers_of(site, page)
    }
    assert numbers.keys() >= {
        "boilerplate",
        "paywalled",
        "disallowed",
        "refused",
        "unreadable",
        "corrected",
        "kind",
    }
    texts = {}
    for reason, (address, number) in numbers.items():
        assert listed_sum(site, address) == number
        texts[reason] = site.client.get(address).text
        assert f"{number} " in texts[reason].split("<h1")[1].split("</h1>")[0]
    assert "1 unread article may name Siemens" in texts["disallowed"]
    assert "1 refused article may name Siemens" in texts["refused"]
    assert "1 unreadable article may name Siemens" in texts["unreadable"]
    forbidden = "robots.txt forbade no article that may name Siemens"
    assert forbidden not in site.client.get(page).text
    assert forbidden in site.client.get(f"{page}&source=stadtbote").text
    assert "<mark>Siemens</mark> builds a tram" in texts["corrected"]
    assert "called wrong by a person" in texts["corrected"]
    assert "Old news of <mark>Siemens</mark>" in texts["kind"]


DOUBTFUL = "https://harbour-courier.example/orchard"


def test_doubtful_words_are_named_and_lead_to_their_articles(site):
    run = site.database.start_run("harbour-courier")
    text = "Old Siemens, the ferryman, sells pears at the quay."
    article = Article(url=DOUBTFUL, title="Pears", text=text, published=NOW, language="en")
    page = Page(url=DOUBTFUL, source="harbour-courier", html=b"", fetched_at=NOW)
    save_document(site.database, Document(page=page, article=article), run)
    panel = site.client.get("/proof?company=Siemens&counted=mentions&days=10").text
    (link,) = [unescape(one) for one, *_ in LINK.findall(panel) if "counted=doubtful" in one]
    assert "with <q><bdi>Siemens</bdi></q> without support" in panel
    listed = site.client.get(link).text
    assert "1 article may name Siemens" in listed
    assert "Old <mark>Siemens</mark>, the ferryman" in listed
    assert listed_sum(site, link) == 1


@pytest.mark.parametrize("words", ["siemens", "siemens NEAR/20 docks", "title:siemens NOT tram"])
@pytest.mark.parametrize("most", [5_000, 2])
def test_search_shows_the_number_of_its_hits(site, words, most, monkeypatch):
    monkeypatch.setattr("newscrawl.storage.queries.text_search.MAX_EXAMINED", most)
    page = site.client.get("/search", params={"q": words, "days": 30}).text
    since = TODAY - timedelta(days=29)
    asked = {"q": words, "since": since.isoformat(), "until": TODAY.isoformat()}
    api = site.client.get("/api/queries/preview", params=asked).json()
    assert api["complete"] == (most == 5_000)
    listed = site.client.get("/api/search", params={**asked, "limit": 500}).json()
    shown = re.search(r'<p id="hits"><strong>(At least )?([\d,]+) articles?</strong>', page)
    if most == 5_000:
        assert shown is not None
        assert api["articles"] == len(listed) > 0
    if shown is not None:
        assert int(shown[2].replace(",", "")) == api["articles"]
        assert bool(shown[1]) != api["complete"]


def test_index_of_uncounted_pages_has_the_kinds_that_do_not_count():
    assert [*re.findall(r"'(\w+)'", str(UNCOUNTED))] == ["open", *COUNTED_KINDS]


def test_limited_articles_that_name_the_company_are_not_left_out(site):
    scope = Scope(since=TODAY - timedelta(days=11))
    known = queries.articles(site.database, scope=scope, limit=10_000)
    limited = [one for one in known if one.access == "paywalled"]
    silent = [one for one in limited if "Siemens" not in one.companies]
    found = queries.proof(site.database, company="Siemens", scope=scope)
    (left,) = [one for one in found.left_out if one.reason == "paywalled"]
    assert left.articles == len(silent) < len(limited)
    by_source = Counter(one.source for one in silent)
    assert dict(left.sources) == by_source
    assert [number for _, number in left.sources] == sorted(by_source.values(), reverse=True)
    shown = {
        parse_qs(urlsplit(address).query)["source"][0]: number
        for address, number in numbers_of(site, "/proof?company=Siemens&days=12")
        if "counted=paywalled" in address and "source=" in address
    }
    assert shown == by_source


@pytest.mark.parametrize("counted", ["articles", "mentions", "headline", "body"])
def test_least_sure_articles_are_listed_first_on_request(site, counted):
    ask = partial(queries.proof, site.database, company="Siemens", counted=counted, limit=500)
    newest, found = ask(), ask(order="least-sure")
    lowest = [
        min(one.score or 1 for sentence in each.sentences for one in sentence.mentions)
        for each in found.articles
    ]
    assert lowest == sorted(lowest)
    assert len({*lowest}) > 2
    assert {one.article.url: one.number for one in found.articles} == {
        one.article.url: one.number for one in newest.articles
    }
    page = site.client.get(f"/proof?company=Siemens&counted={counted}").text
    assert f"Order of all {newest.total} articles: newest first" in page
    (link,) = re.findall(r'href="([^"]+)">Least sure first', page)
    first = site.client.get(unescape(link)).text.split('class="line"')[1]
    assert f"({lowest[0]:.2f})" in first


def test_story_is_found_by_the_address_of_each_of_its_articles(site):
    (row,) = queries.stories(site.database, company="Siemens", limit=1)
    ask = partial(queries.proof, site.database, company="Siemens", limit=500)
    urls = [one.article.url for one in ask(story=row.url).articles]
    assert row.url in urls
    assert len(urls) == row.articles > 1
    for url in urls:
        assert [one.article.url for one in ask(story=url).articles] == urls
    page = unescape(site.client.get("/company/Siemens?days=12").text)
    assert f"&story={quote(row.url, safe='')}" in page


def test_number_of_a_story_leads_to_one_clear_line(site):
    for path in ("/proof", "/api/proof"):
        answer = site.client.get(f"{path}?company=Siemens&story=12")
        assert answer.status_code == 422
        assert "open the story again from the page of its company" in answer.text


def test_stories_are_listed_with_their_copies_together(site):
    scope = Scope(since=TODAY - timedelta(days=9))
    found = queries.proof(
        site.database, counted="stories", company="Siemens", scope=scope, limit=500
    )
    stories = [one.article.story for one in found.articles]
    runs = [
        story for story, before in zip(stories, [None, *stories], strict=False) if story != before
    ]
    assert len(runs) == len(set(runs)) == found.number < found.total
    firsts = {one.article.story for one in found.articles if one.number}
    assert firsts == set(stories)
    page = site.client.get("/proof?company=Siemens&counted=stories&days=10").text
    assert page.count("1 more copy of this story</span>") == found.total - found.number
    assert page.count("1 story</span>") == found.number


def test_saved_queries_stand_apart_from_companies_in_the_same_articles(site):
    name = "at the quay"
    add_query(site.database, name, "quay OR docks", "ann")
    count_history(site.database, name)
    together = queries.co_mentions(site.database, "Siemens")
    assert {one.company: one.kind for one in together}[name] == "saved query"
    assert {one.company: one.kind for one in together}["Airbus"] == "company"
    page = site.client.get("/company/Siemens").text
    beside = page[page.index('id="beside"') :].partition("</section>")[0]
    companies, queried = beside.split("<h3>Saved queries that match them</h3>")
    assert name not in companies
    assert name in queried


@pytest.mark.thorough
def test_saved_query_has_proofs_like_a_company(site):
    add_query(site.database, "trams", "tram* OR Kai OR quay", "ann")
    count_history(site.database, "trams")
    check_numbers(site, "/company/trams?days=3&count=mentions")
    found = queries.proof(site.database, company="trams")
    add_query(site.database, "German trams", "(tram* OR Kai) language:de", "ann")
    count_history(site.database, "German trams")
    check_numbers(site, "/company/German%20trams?days=3")
    whole = site.client.get("/proof?counted=read&company=German%20trams&days=10").text
    assert "that German trams may match" in whole
    page = site.client.get("/company/trams?days=10").text
    assert "<dt>words matched in headlines</dt>" in page
    assert "<dt>times in headlines</dt>" not in page
    headlines = site.client.get("/proof?company=trams&counted=headline").text
    assert re.search(r"<h1[^>]*>[\d,]+ words matched in headlines by trams</h1>", headlines)
    assert {one.rule for each in found.articles for one in each.sentences[0].mentions} == {"query"}


REPORTED = re.compile(r'<a [^>]*href="http://localhost(/proof[^"]+)"[^>]*>([\d,]+)</a>')


def test_pages_of_a_saved_query_call_it_no_company(site):
    name = "quays"
    add_query(site.database, name, "siemens", "ann")
    count_history(site.database, name)
    page, proof, hidden, compared = (
        re.sub(r"<[^>]+>", "", site.client.get(path).text.split("<main")[1])
        for path in (
            f"/company/{name}",
            f"/proof?company={name}&source=northern-ledger",
            f"/proof?company={name}&counted=paywalled",
            f"/compare?company={name}&company={name}",
        )
    )
    for text in (page, proof, hidden, compared):
        assert name in text
        assert "the company" not in text.lower()
        assert f"may name {name}" not in text
    assert f"robots.txt forbade no article that may match {name}" in proof
    assert re.search(rf"behind a paywall may match {name}", hidden)
    remove_query(site.database, name)


@pytest.mark.thorough
def test_numbers_of_reports_lead_to_what_adds_up_to_them(site):
    names = [row.name for row in queries.saved_queries(site.database)]
    if "quays" not in names:
        add_query(site.database, "quays", "quay OR Kai", "ann")
        count_history(site.database, "quays")
    asked = "&".join(f"company={one}" for one in ("Siemens", "our%20competitors", "quays"))
    report = site.client.get(f"/report?days=5&{asked}").text
    numbers = {
        unescape(address): int(one.replace(",", "")) for address, one in REPORTED.findall(report)
    }
    named = [parse_qs(urlsplit(one).query) for one in numbers]
    companies = {one["company"][0] for one in named if "company" in one}
    assert companies == {"Siemens", "our competitors", "quays"}
    assert any(one["counted"] == ["read"] and "source" in one for one in named)
    for address, number in numbers.items():
        assert listed_sum(site, address) == number, address
    assert any("story" in one for one in named)
    assert "quays <small>(saved query)</small>" in report
    assert "First the companies, then the saved queries" in report
    book = site.client.get(f"/report?days=5&{asked}&format=xlsx").content
    rows = load_workbook(BytesIO(book))["Named together"].iter_rows(values_only=True)
    assert ("Siemens", "quays", "saved query") in {row[:3] for row in rows}


def test_versions_are_those_in_use(site):
    found = site.client.get("/api/proof?company=Siemens").json()
    versions = found["versions"]
    # The companies' file of the dashboard has been changed since.
    assert {one["versions"]["companies"] for one in found["articles"]} == {
        versions_of(None).companies
    }
    page = site.client.get("/proof?company=Siemens").text
    assert re.search(rf"newscrawl {versions['program']}, models \w+, companies \w+ \([1-9]", page)
    assert re.search(r"by a model learned from labelled pages \(combined\) \([1-9]", page)
    assert versions["program"]
    assert re.fullmatch(r"[0-9a-f]{12}", versions["companies"])
    assert re.fullmatch(r"[0-9a-f]{12}", versions["extraction"])
    assert versions["companies"] in page
    assert ("newscrawl rematch" in page) is (versions["companies"] != versions_of(None).companies)


def test_long_proofs_have_pages(site):
    first = site.client.get("/proof?counted=read").text
    assert "page 1 of" in first
    assert "The 50 listed here were found with" in first
    assert "How the texts of the 50 listed here were found" in first
    second = unescape(re.findall(r'href="([^"]+page=2)"', first)[0])
    assert "page 2 of" in site.client.get(second).text


def test_address_of_a_proof_names_its_days(site):
    for address, _ in numbers_of(site, "/company/Siemens?days=7"):
        query = parse_qs(urlsplit(address).query)
        assert query["since"] <= query["until"] <= [TODAY.isoformat()]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/proof?company=Nobody", 404),
        ("/proof?counted=everything", 422),
        ("/proof?counted=read&company=Siemens&beside=Bosch", 422),
        ("/proof?beside=Bosch", 422),
        ("/proof?without=ft", 422),
        ("/proof?counted=doubtful", 422),
        ("/proof?counted=doubtful&company=Siemens&beside=Bosch", 422),
        ("/proof?company=Siemens&page=300", 422),
        ("/proof?company=Siemens&order=oldest", 422),
        ("/proof?order=least-sure", 422),
        ("/api/proof?company=Siemens&counted=stories&order=least-sure", 422),
        ("/proof?company=" + "x" * 300, 422),
        ("/api/proof?counted=everything", 422),
        ("/api/proof?beside=Bosch", 422),
    ],
)
def test_faulty_proof_is_answered_with_advice(site, path, code):
    assert site.client.get(path).status_code == code


def test_hostile_texts_are_escaped_in_a_proof(site):
    text = site.client.get(f"/proof?company=Nokia&source={EVIL_SOURCE}").text
    assert "<mark>Nokia</mark>" in text
    assert SCRIPT not in text
    assert 'href="javascript:' not in text
