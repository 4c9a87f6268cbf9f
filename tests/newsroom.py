"""A season of news at seven fictional papers, saved as a crawl saves it: made by `fill`.

The companies are in the registry, the papers and all that they write about them is invented.
The same seed makes the same news.
"""

import random
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from html import escape
from pathlib import Path

from newscrawl.archive.warc import ArchiveWriter
from newscrawl.items import Access, Article, Document, Page
from newscrawl.mentions.documents import with_mentions
from newscrawl.reading import versions_of
from newscrawl.storage import Database
from tests.archives import capture
from tests.worlds import bundled_companies, save_documents

Paper = tuple[str, str, str, str, int]
PAPERS: tuple[Paper, ...] = (
    ("harbour-courier", "Harbour Courier", "gb", "en", 5),
    ("northern-ledger", "Northern Ledger", "us", "en", 4),
    ("stadtbote", "Stadtbote", "de", "de", 4),
    ("mainblatt", "Mainblatt", "de", "de", 3),
    ("gazette-du-port", "Gazette du Port", "fr", "fr", 3),
    ("diario-del-puerto", "Diario del Puerto", "es", "es", 2),
    ("corriere-del-molo", "Corriere del Molo", "it", "it", 2),
)  # slug, name, country, language, articles a day

WRITING = tomllib.loads(Path(__file__).with_name("newsroom.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """The amount to make: `days` up to `last`, at `pace` times the usual number of articles. If
    `now` is on the last day, this day has the same articles, published before now."""

    last: date
    days: int = 90
    pace: float = 1.0
    seed: int = 7
    now: datetime | None = None


def fill(
    database: Database,
    news: News,
    archive: ArchiveWriter | None = None,
    papers: tuple[Paper, ...] = PAPERS,
) -> None:
    """Save the papers' articles and the results of their crawls, and their pages in an archive.

    The second paper prints what the first wrote, now and then.
    """
    companies = bundled_companies()
    leads: dict[date, Document] = {}
    for paper in papers:
        slug, name, country, language, _ = paper
        database.register_source(slug, name, country, language, f"https://{slug}.example/")
        run = database.start_run(slug, versions_of(None))
        written = dict(_written(paper, news))
        if paper == papers[0]:
            leads = {day: found[0] for day, found in written.items() if found}
        if paper == papers[1]:
            for day in [day for day in leads if day.toordinal() % 3 == 0]:
                written[day].append(_reprint(leads[day], slug, day))
        documents = [with_mentions(item, companies) for found in written.values() for item in found]
        save_documents(database, documents, run)
        for item in documents if archive else ():
            archive.write(capture(item.page.url, item.page.html))
        for day, found in written.items():
            down = _is_down(slug, day, news)
            state, note = ("failed", "timed out") if down else ("ok", "")
            database.record_coverage(slug, day, state, len(found), len(found), note)
        database.finish_run(run, "finished", {})


def _written(paper: Paper, news: News) -> Iterator[tuple[date, list[Document]]]:
    slug, _, _, language, usual = paper
    rng = random.Random(f"{news.seed} {slug}")  # noqa: S311 - no secret
    for day in _days(news):
        number = max(0, round(rng.gauss(usual, 1.2) * news.pace))
        number = 0 if _is_down(slug, day, news) else number
        found = [_document(slug, language, day, n, rng) for n in range(number)]
        if news.now and day == news.now.date():
            found = [_before(one, news.now) for one in found]
        yield day, found


def _before(document: Document, now: datetime) -> Document:
    """Return a document of today at an earlier time of the day, so that all are before now."""
    midnight = datetime.combine(now.date(), time(), UTC)
    passed = (now - midnight) / timedelta(days=1)
    published = document.article.published or midnight
    fetched = midnight + (document.page.fetched_at - midnight) * passed
    article = replace(document.article, published=midnight + (published - midnight) * passed)
    return replace(document, page=replace(document.page, fetched_at=fetched), article=article)


def page_of(title: str, text: str, around: Iterable[str] = ()) -> bytes:
    """Return the HTML of an article, with a menu before it and teasers that name companies below
    it."""
    paragraphs = "".join(f"<p>{escape(one)}</p>" for one in text.split("\n\n"))
    teasers = "".join(f"<li><a href=/more/{i}>{one}</a></li>" for i, one in enumerate(around))
    return (
        f"<!DOCTYPE html><html><head><meta charset=utf-8><title>{escape(title)}</title></head>"
        "<body><nav><ul><li><a href=/>Home</a></li><li><a href=/city>City</a></li>"
        "<li><a href=/business>Business</a></li></ul></nav>"
        f"<main><article><h1>{escape(title)}</h1>{paragraphs}</article>"
        f"<aside><h2>More news</h2><ul>{teasers}</ul></aside></main>"
        "<footer><p>Contact · Privacy · Imprint</p></footer></body></html>"
    ).encode()


def _reprint(document: Document, slug: str, day: date) -> Document:
    url = f"https://{slug}.example/{day:%Y/%m/%d}/wire"
    return replace(
        document,
        page=replace(document.page, url=url, source=slug),
        article=replace(document.article, url=url),
    )


def _days(news: News) -> Iterator[date]:
    for back in range(news.days - 1, -1, -1):
        yield news.last - timedelta(days=back)


def _is_down(slug: str, day: date, news: News) -> bool:
    """Return whether a paper is unreachable that day: one was for five days, one still is."""
    back = (news.last - day).days
    return (slug == "stadtbote" and 18 <= back <= 22) or (slug == "gazette-du-port" and back <= 2)


def _document(slug: str, language: str, day: date, n: int, rng: random.Random) -> Document:
    a, b = _companies(day, rng)
    titles, bodies = WRITING[language]["titles"], WRITING[language]["paragraphs"]
    title = titles[rng.randrange(len(titles))].format(a=a, b=b)
    url = f"https://{slug}.example/{day:%Y/%m/%d}/{n}"
    paragraphs = [text.format(a=a, b=b, day=f"{day:%d.%m.%Y}", **_details(url)) for text in bodies]
    if rng.random() < 0.4:
        paragraphs = [paragraphs[0], paragraphs[2]]
    moment = datetime.combine(day, time(6 + rng.randrange(14), rng.randrange(60)), UTC)
    access: Access = "paywalled" if rng.random() < 0.08 else "open"
    article = Article(
        url=url,
        title=title,
        text="\n\n".join(paragraphs[:1] if access == "paywalled" else paragraphs),
        authors=(rng.choice(("Ada Pell", "Jonas Rehm", "Lucie Ormond", "Pia Conti")),),
        published=moment,
        language=language,
        section=rng.choice(("Business", "City", "Technology")),
        confidence=0.9,
    )
    around = [name for name in WRITING["weights"] if name not in {a, b} and rng.random() < 0.06]
    page = Page(
        url=url,
        source=slug,
        html=page_of(title, article.text, around),
        fetched_at=moment + timedelta(minutes=9),
        access=access,
    )
    return Document(page=page, article=article, boilerplate=tuple((name, 1) for name in around))


def _details(url: str) -> dict[str, str | int]:
    """Return the names and numbers in an article, by which its text differs from others."""
    rng = random.Random(url)  # noqa: S311 - no secret
    place, town = rng.sample(WRITING["places"], 2)
    who, other = rng.sample(WRITING["people"], 2)
    n, m = rng.randrange(40, 900), rng.randrange(3, 60)
    return {"place": place, "town": town, "who": who, "other": other, "n": n, "m": m}


def _companies(day: date, rng: random.Random) -> tuple[str, str]:
    """Return the main company of an article and those beside it; each has its seasons."""
    weights, pairs = WRITING["weights"], WRITING["pairs"]
    names = list(weights)
    season = [
        weights[name] * (2.5 if (day.toordinal() // 9 + i * 5) % 11 == 0 else 1.0)
        for i, name in enumerate(names)
    ]
    (a,) = rng.choices(names, season)
    if a in pairs and rng.random() < 0.6:
        return a, pairs[a]
    return a, rng.choice([name for name in names if name != a])
