"""The demo shows what it promises."""

import re
import subprocess
import sys

import pytest

from newscrawl.mentions import Companies, load_companies
from newscrawl.storage import open_database, queries
from newscrawl.storage.company_alerts import list_alerts
from newscrawl.storage.status import list_incidents
from tests.site import content
from tests.site.crawling import PROJECT
from tests.site.demo import SAVED_QUERIES, SOURCE, WATCHED, about_boilerplate


@pytest.fixture(scope="module")
def shown() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.site.demo"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def companies() -> Companies:
    return load_companies(None)


def test_demo_prints_the_summary_of_its_crawl(shown):
    assert f"harbour-courier: {len(content.facts())} found, 0 known before" in shown


def test_demo_lists_the_mentioned_companies(shown):
    counted = {
        match[1].strip(): int(match[2])
        for match in re.finditer(r"^ (\S.*?) +(\d+) +\d+ +\d+ +\d+ +\d+ *$", shown, re.MULTILINE)
    }
    stored = [
        page for page in content.facts() if page.outcome in {"article", "paywall", "disallowed"}
    ]
    expected = {
        company: sum(company in page.companies for page in stored)
        for page in stored
        for company in page.companies
    }
    assert counted == expected


def test_demo_names_the_next_commands(shown):
    assert "scrapy list" in shown
    assert re.search(r"NEWSCRAWL_DATABASE_URL=sqlite:///\S+demo\.sqlite", shown)


def test_saved_queries_of_the_demo_find_articles_and_what_is_watched_has_alerts(shown):
    found = re.search(r"NEWSCRAWL_DATABASE_URL=(sqlite:///\S+)", shown)
    assert found
    with open_database(found[1], create=False) as store:
        rows = queries.saved_queries(store)
        counts = {row.name: queries.mention_counts(store, "year", company=row.name) for row in rows}
        alerts = list_alerts(store)
    assert counts.keys() == SAVED_QUERIES.keys()
    for years in counts.values():
        assert sum(year.hits.articles for year in years if year.hits) >= 2
    assert {(alert.alert.company, alert.alert.other) for alert in alerts} == {*WATCHED}
    assert "Saved queries, to try: harbours, clean ships." in shown


def test_demo_adds_news_of_papers_whose_names_say_that_they_are_generated(shown):
    url = re.search(r"NEWSCRAWL_DATABASE_URL=(sqlite:///\S+)", shown)
    assert url
    with open_database(url[1], create=False) as store:
        days = queries.mention_counts(store, "day", company="Siemens")
        names = queries.source_names(store)
        incidents = list_incidents(store)
    assert len([day for day in days if day.hits and day.hits.articles]) > 40
    assert {slug for slug, name in names.items() if not name.endswith("(generated)")} == {SOURCE}
    assert [incident.kind for incident in incidents] == ["incomplete"]


def test_demo_reports_the_companies_in_boilerplate(shown):
    assert "None of the companies only in menus, teasers, ads and comments are counted." in shown


def test_counted_company_of_the_boilerplate_is_named():
    assert about_boilerplate({"Siemens", "Yahoo"}).startswith("1 (Yahoo) of the companies only in")
    assert about_boilerplate({"Siemens"}).startswith("None of the companies only in")


def test_demo_output_fits_the_screen(shown):
    tables = [line for line in shown.splitlines() if line.startswith(" ")]
    assert max(map(len, tables)) <= 200


def test_demo_site_has_at_least_five_languages():
    articles = [page for page in content.facts() if page.outcome == "article"]
    assert len({page.language for page in articles}) >= 5
    assert len(content.facts()) >= 14


@pytest.mark.parametrize("page", content.facts(), ids=[page.path for page in content.facts()])
def test_facts_of_a_demo_page_match_its_content(page):
    text = content.page_bytes(page, "http://site.example").decode(page.charset)
    assert "{{" not in text
    if page.outcome != "dropped":
        assert page.title in text.replace("&amp;", "&")
    assert page.path.rsplit("/", 1)[1].endswith(".html")


@pytest.mark.parametrize("page", content.facts(), ids=[page.path for page in content.facts()])
def test_companies_of_the_boilerplate_would_count_in_an_article(page, companies):
    text = ". ".join(f"Yesterday {name} said so" for name in (*page.boilerplate, *page.companies))
    companies = {mention.company for mention in companies.find(text, language="en")}
    assert companies == {*page.boilerplate, *page.companies}
