"""The world that every question is asked about: made of rows, not of pages, always the same.

It has owners with subsidiaries bought and sold within the period, an owner between two others,
groups, saved queries, corrections, articles of which only the headline may be read, stories, gaps
of coverage, versions in quarantine, articles at midnight of two time zones, and a second companies
file with another structure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import get_args

from newscrawl.items import Access, Article, Document, Kind, Mention, Page, Section, Withheld
from newscrawl.storage import CoverageState, Database, queries
from newscrawl.storage.corrections import (
    add_corrections,
    missed_mentions,
    undo_correction,
    wrong_mentions,
)
from newscrawl.storage.revisions import discard_revision
from newscrawl.storage.saved_queries import add_query, count_history
from tests.worlds import save_document

FIRST, LAST = date(2026, 11, 1), date(2026, 11, 24)
# The moment of the questions, on the last day: half of its hours have not begun.
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)

COMPANIES = """\
bundled = false

[[company]]
name = "Alphabet"

[[company]]
name = "Google"
parent = "Alphabet"

[[company]]
name = "YouTube"
kind = "brand"
parent = "Google"

[[company]]
name = "Meta"

[[company]]
name = "Instagram"
kind = "brand"
parent = "Meta"
since = 2026-11-09

[[company]]
name = "WhatsApp"
kind = "subsidiary"
parent = "Meta"
until = 2026-11-15

[[company]]
name = "Siemens"

[[company]]
name = "Bosch"

[[company]]
name = "アサヒ"

[[company]]
name = "Nobody AG"

[groups]
"our competitors" = ["Bosch", "Google", "YouTube"]
platforms = ["Alphabet", "Meta"]
"""
# The same companies, owned and grouped in another way.
OTHER_COMPANIES = """\
bundled = false

[[company]]
name = "Alphabet"

[[company]]
name = "Google"

[[company]]
name = "Meta"
parent = "Siemens"

[[company]]
name = "Instagram"
parent = "Meta"

[[company]]
name = "WhatsApp"
parent = "Google"
since = 2026-11-12

[[company]]
name = "Siemens"

[[company]]
name = "Bosch"
parent = "Alphabet"

[groups]
"our competitors" = ["Siemens", "WhatsApp"]
"""
MENTIONED = ("Alphabet", "Google", "YouTube", "Meta", "Instagram", "WhatsApp", "Siemens", "Bosch")
QUERIES = {"rail strikes": '("rail strike" OR bridge*) -ferry', "ferries of ft": "ferry source:ft"}
SOURCES_FILE = """\
slug,name,country,languages,home,feeds,sitemaps,news_sitemaps,status,groups
ft,Ft,gb,en,https://ft.example/,https://ft.example/f,,,active,business|mine
bbc,Bbc,gb,en,https://bbc.example/,https://bbc.example/f,,,active,mine
faz,Faz,de,de,https://faz.example/,https://faz.example/f,,,active,business
monde,Monde,fr,fr,https://monde.example/,https://monde.example/f,,,active,
asahi,Asahi,jp,ja,https://asahi.example/,https://asahi.example/f,,,active,
"""
_LANGUAGES = {"ft": "en", "bbc": "en", "faz": "de", "monde": "fr", "asahi": "ja"}
_COUNTRIES = {"ft": "gb", "bbc": "gb", "faz": "de", "monde": "fr", "asahi": "jp"}
_PLACES = ("bridge", "ferry", "harbour", "market", "museum", "quay", "station", "warehouse")
# An hour before midnight UTC it is the next day in Kolkata, and half past four there is the day
# before in St John's.
_HOURS = (0, 3, 7, 12, 18, 23)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of companies and sources that belong to the world."""

    companies: Path
    other_companies: Path
    sources: Path

    @classmethod
    def write(cls, folder: Path) -> "Files":
        """Write the files into a folder."""
        files = cls(
            companies=folder / "companies.toml",
            other_companies=folder / "other-companies.toml",
            sources=folder / "sources.csv",
        )
        files.companies.write_text(COMPANIES, "utf-8")
        files.other_companies.write_text(OTHER_COMPANIES, "utf-8")
        files.sources.write_text(SOURCES_FILE, "utf-8")
        return files


def fill(database: Database) -> None:
    """Store the world in an empty database."""
    runs = {}
    for slug, language in _LANGUAGES.items():
        country = _COUNTRIES[slug]
        home = f"https://{slug}.example/"
        database.register_source(slug, slug.title(), country, language, home)
        runs[slug] = database.start_run(slug)
    for document in _documents():
        save_document(database, document, runs[document.page.source])
    for document in _later_versions():
        save_document(database, document, runs[document.page.source])
    _record_coverage(database)
    _correct(database)
    for row in queries.quarantined(database):
        if row.url.endswith("discarded"):
            discard_revision(database, row.id, "ben")
    for name, text in QUERIES.items():
        add_query(database, name, text, "ann")
        count_history(database, name)


def _documents() -> Iterator[Document]:
    random = Random(35)  # noqa: S311 - not for secrets
    for number in range(150):
        source = random.choice((*_LANGUAGES, "ft", "faz"))
        published = datetime(2026, 11, random.randint(1, 24), random.choice(_HOURS), 30, tzinfo=UTC)
        published = min(published, NOW - timedelta(minutes=number + 1))
        place = random.choice(_PLACES)
        yield _document(
            f"{place}-{number}",
            source=source,
            title=f"The {place} of quarter {number}",
            text=_text(random, place, number),
            names=random.sample(MENTIONED, random.choice((0, 1, 1, 2, 3, 4))),
            published=published if number % 17 else None,
            fetched_at=published + timedelta(minutes=7),
            language=_LANGUAGES[source] if number % 11 else None,
            section=random.choice(("Business", "Business", "Culture", None)),
            access=random.choice(("open",) * 6 + get_args(Withheld)),
            kind=random.choice(("article", "article", "article", "live", "video", "front")),
            beside=tuple((name, 2) for name in random.sample(MENTIONED, number % 3)),
        )
    # An agency report in four papers on three days, shortened in one of them.
    report = _text(random, "station", 999)
    for copy, source in enumerate(("faz", "ft", "bbc", "monde")):
        moment = datetime(2026, 11, 17 + copy // 2, 9, tzinfo=UTC)
        yield _document(
            "agency-report",
            source=source,
            title=f"Rail strike, report {copy}",
            text=report if copy < 3 else report[: len(report) * 3 // 4],
            names=("Siemens", "Google"),
            published=moment,
            fetched_at=moment + timedelta(minutes=20),
            language=_LANGUAGES[source],
            section="Business",
        )


def _text(random: Random, place: str, number: int) -> str:
    words = " ".join(f"{random.choice(_PLACES)}x{number}y{step}" for step in range(60))
    return f"A rail strike at the {place} number {number}.\n\n{words}."


def _document(
    path: str,
    *,
    source: str,
    names: Sequence[str],
    access: Access = "open",
    kind: Kind = "article",
    beside: tuple[tuple[str, int], ...] = (),
    fetched_at: datetime,
    **article: object,
) -> Document:
    """Return a document whose headline and text begin with the names of companies."""
    url = f"https://{source}.example/{path}"
    title = " ".join([*names[:1], str(article.pop("title"))])
    text = "" if access != "open" else " ".join([*names, str(article.pop("text"))])
    article.pop("text", None)
    mentions = [*_mentions(names[:1], "title"), *(_mentions(names, "body") if text else [])]
    return Document(
        page=Page(url=url, source=source, html=b"", fetched_at=fetched_at, access=access),
        article=Article(url=url, title=title, text=text, kind=kind, confidence=0.9, **article),  # type: ignore[arg-type]
        mentions=tuple(mentions),
        boilerplate=beside,
    )


def _mentions(names: Sequence[str], section: Section) -> Iterator[Mention]:
    start = 0
    for place, name in enumerate(names):
        yield Mention(
            company=name,
            surface=name,
            start=start,
            end=start + len(name),
            section=section,
            rule="name",
            score=0.9 - 0.1 * place,
        )
        start += len(name) + 1


def _later_versions() -> Iterator[Document]:
    """Yield a revision that names another company, and one that loses most of its text."""
    moment = datetime(2026, 11, 20, 15, tzinfo=UTC)
    for path, words, names in (
        ("revised", 60, ("Bosch", "Meta")),
        ("shrunk", 6, ("Bosch",)),
        ("shrunk-and-discarded", 5, ("Google",)),
    ):
        first = _document(
            path,
            source="ft",
            title=f"An article that is {path}",
            text=" ".join(f"{path}{step}" for step in range(60)),
            names=("Siemens",),
            published=moment,
            fetched_at=moment,
            language="en",
        )
        yield first
        later = _document(
            path,
            source="ft",
            title=f"An article that is {path}",
            text=" ".join(f"{path}{step}" for step in range(words)),
            names=names,
            published=moment,
            fetched_at=moment + timedelta(hours=3),
            language="en",
        )
        yield replace(later, article=replace(later.article, url=first.article.url))


def _record_coverage(database: Database) -> None:
    """Record good days, failures and blocks; `asahi` has days without any crawl."""
    for number in range((LAST - FIRST).days + 1):
        day = FIRST + timedelta(days=number)
        states: dict[str, CoverageState] = {"ft": "ok", "bbc": "ok", "faz": "ok", "monde": "ok"}
        if 5 <= number <= 7:
            states["bbc"] = "failed"
        if number == 12:
            states["faz"] = "blocked_by_robots"
        if number == 9:
            states["monde"] = "incomplete"
        if number > 15:
            states["asahi"] = "paywalled"
        for slug, state in states.items():
            found = 9 if state == "ok" else 4
            stored = found if state in {"ok", "paywalled"} else 0
            database.record_coverage(slug, day, state, found, stored, note=f"day {number}")


def _correct(database: Database) -> None:
    """Record wrong and missed mentions, and undo one of them."""
    every = queries.articles(database, company="Siemens", scope=queries.Scope(source="ft"))
    rows = [row for row in every if row.in_body and "quarter" in (row.title or "")]
    for row in rows[:2]:
        page = queries.article_page(database, row.url)
        assert page is not None
        add_corrections(database, row.url, wrong_mentions(page, "Siemens"), "ben")
    page = queries.article_page(database, rows[2].url)
    assert page is not None
    missed = missed_mentions(page, "アサヒ", "rail strike")
    add_corrections(database, rows[2].url, missed, "cleo")
    wrong = add_corrections(database, rows[2].url, wrong_mentions(page, "Siemens"), "cleo")
    undo_correction(database, wrong[0], "ben")
