"""The whole line at a glance: `python -m tests.site.demo [FOLDER]` crawls the bundled site.

The site is served on 127.0.0.1, crawled by the real spiders and pipelines into a new SQLite
file, and the companies that its articles mention are counted from there. Beside it stand sixty
days of generated news, of papers whose names say so, so that each page of the dashboard has
something to show.
"""

import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from newscrawl.archive.warc import ArchiveWriter
from newscrawl.monitoring.alerts import find_alerts
from newscrawl.monitoring.health_checks import Inspector
from newscrawl.sources.registry import COLUMNS
from newscrawl.storage import Database, open_database
from newscrawl.storage.company_alerts import watch_company
from newscrawl.storage.saved_queries import add_query, count_history
from newscrawl.storage.status import list_incidents
from tests.newsroom import PAPERS, News, fill
from tests.site import content
from tests.site.crawling import PROJECT, clean_environment
from tests.site.server import SiteServer

SOURCE = "harbour-courier"
PERSON = "demo"
# Something to try for each page: two saved queries that find articles of the site in several
# languages, and a company and a pair whose first articles are alerts.
SAVED_QUERIES = {
    "harbours": "harbour OR Hafen* OR port OR λιμάνι OR порт*",
    "clean ships": "(ferry OR Fähren OR port) NEAR/15 (diesel OR batter* OR hydrog*)",
}
WATCHED = (("Siemens", ""), ("Microsoft", "Siemens"))
# Papers that nobody crawls, and the days of their news; one was down for five days, one still is.
GENERATED = tuple(
    (slug, f"{name} (generated)", *facts)
    for slug, name, *facts in (("pier-post", "Pier Post", "gb", "en", 5), *PAPERS[1:])
)
DAYS = 60
MAX_ARCHIVE = 1 << 26  # bytes of a file: all pages are in one
# The site asks for its own pace in robots.txt; nothing slows us further.
PACE = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_START_DELAY=0")


def main() -> int:
    """Serve, crawl, show; return the exit code."""
    folder = _folder(sys.argv[1:])
    database, log = folder / "demo.sqlite", folder / "crawl.log"
    started = time.monotonic()
    with SiteServer() as site:
        print(f"A small news site (fictional, in seven languages) is up at {site.url}")
        print(f"$ scrapy crawl {SOURCE}")
        settings = demo_settings(site.url, folder, f"sqlite:///{database}")
        settings["NEWSCRAWL_ARCHIVE"] = str(folder / "archive")
        environment = clean_environment() | settings
        with open_database(settings["NEWSCRAWL_DATABASE_URL"]) as store:
            for pair in WATCHED:
                watch_company(store, *pair)
        since = (datetime.now(UTC) - timedelta(days=20)).date().isoformat()
        arguments = ["-a", f"since={since}", *PACE, "--logfile", str(log)]
        crawl = [sys.executable, "-m", "scrapy", "crawl", SOURCE, *arguments]
        code = subprocess.run(crawl, cwd=PROJECT, env=environment, check=False).returncode
    if code:
        print(f"The crawl failed (exit code {code}). Its log: {log}", file=sys.stderr)
        return code
    print(f"  {summary_of(log)}")
    print(f"  in {time.monotonic() - started:.0f} seconds\n")
    show = [str(Path(sys.executable).with_name("newscrawl")), "mentions"]
    sys.stdout.flush()
    code = subprocess.run(show, cwd=PROJECT, env=environment, check=False).returncode
    again = [*show, "--format", "json"]
    finished = subprocess.run(again, cwd=PROJECT, env=environment, check=False, capture_output=True)
    print(about_boilerplate({row["company"] for row in json.loads(finished.stdout)}))
    with open_database(settings["NEWSCRAWL_DATABASE_URL"]) as store:
        alerts = find_alerts(store)
        print(_add_generated_news(store, folder / "archive"))
        for name, text in SAVED_QUERIES.items():
            add_query(store, name, text, PERSON)
            count_history(store, name)
    print(_to_try(len(alerts)))
    print(_next_steps(database, log))
    return code


def _folder(arguments: list[str]) -> Path:
    """Return a new folder, or the named one without what an earlier demo left in it."""
    if any(argument.startswith("-") for argument in arguments):
        raise SystemExit("usage: python -m tests.site.demo [FOLDER]")
    if not arguments:
        return Path(tempfile.mkdtemp(prefix="newscrawl-demo-"))
    folder = Path(arguments[0]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "archive", ignore_errors=True)
    for file in folder.glob("demo.sqlite*"):
        file.unlink()
    return folder


def about_boilerplate(counted: Collection[str]) -> str:
    """Return which companies were counted that no article of the site mentions."""
    meant = {name for page in content.facts() for name in page.companies}
    boilerplate = {name for page in content.facts() for name in page.boilerplate} - meant
    wrong = sorted(boilerplate.intersection(counted))
    count = f"{len(wrong)} ({', '.join(wrong)})" if wrong else "None"
    return f"{count} of the companies only in menus, teasers, ads and comments are counted."


def demo_settings(site: str, folder: Path, database_url: str) -> dict[str, str]:
    """Return the settings with which `scrapy crawl harbour-courier` crawls the site at a URL."""
    sources = folder / "sources.csv"
    row = {
        "slug": SOURCE,
        "name": "Harbour Courier",
        "country": "gb",
        "languages": "en|de|fr|es|it|ru|el",
        "home": f"{site}/",
        "feeds": f"{site}/feed.xml",
        "sitemaps": f"{site}/sitemap.xml",
        "news_sitemaps": "",
        "status": "active",
    }
    with sources.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(row)
    return {
        "NEWSCRAWL_SOURCES": str(sources),
        "NEWSCRAWL_DATABASE_URL": database_url,
        "NEWSCRAWL_CONTACT": "https://newscrawl.example/demo",
    }


def summary_of(log: Path) -> str:
    """Return the line of a crawl's log that sums up its results."""
    marker = "[pipelines.storage] INFO: "
    lines = log.read_text(encoding="utf-8").splitlines()
    return next((line.split(marker)[1] for line in lines if marker in line), "(no summary)")


def _add_generated_news(store: Database, archive: Path) -> str:
    """Save the news of the generated papers, inspect all sources, and return both in words."""
    now = datetime.now(UTC)
    with ArchiveWriter(archive, "generated", max_bytes=MAX_ARCHIVE) as pages:
        fill(store, News(last=now.date(), days=DAYS, now=now), pages, GENERATED)
    slug = GENERATED[-1][0]
    store.record_coverage(slug, now.date(), "incomplete", 2, 2, "generated: its feed rolled over")
    Inspector(store, [SOURCE, *(paper[0] for paper in GENERATED)], channels=())()
    incidents = list_incidents(store)
    return (
        f"\nAdded for the dashboard: {DAYS} days of {len(GENERATED)} papers, whose names end with "
        f'"(generated)"; open incidents: {len(incidents)}.'
    )


def _to_try(alerts: int) -> str:
    """Return the saved queries, and what is watched with its number of alerts, in words."""
    watched = ", ".join(
        f"the pair of {company} and {beside}" if beside else company for company, beside in WATCHED
    )
    return (
        f"\nSaved queries, to try: {', '.join(SAVED_QUERIES)}. Watched: {watched}, "
        f"with {alerts} alerts."
    )


def _next_steps(database: Path, log: Path) -> str:
    return (
        "\nSee it in a browser, with charts, articles and why each block was kept:\n"
        "  make serve                             at http://127.0.0.1:8300/\n"
        "\nWhere to look next:\n"
        f"  export NEWSCRAWL_DATABASE_URL=sqlite:///{database}\n"
        "  .venv/bin/newscrawl articles --company Microsoft\n"
        "  .venv/bin/newscrawl mentions --by language\n"
        "  .venv/bin/newscrawl search 'harbour NEAR/20 money'\n"
        "  .venv/bin/scrapy list                  the sources of the registry, over 400\n"
        "  .venv/bin/scrapy crawl ft              a first real crawl\n"
        f"  less {log}"
    )


if __name__ == "__main__":
    sys.exit(main())
