"""A dashboard over the papers of tests/newsroom.py, for tests to ask and to look at."""

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
import uvicorn
from markupsafe import Markup

from newscrawl.archive.warc import ArchiveWriter
from newscrawl.dashboard import Config, create_app
from newscrawl.dashboard.explanations import Explainer
from newscrawl.extraction.explain_page import AskedSentence
from newscrawl.items import Article, Document, Mention, Page
from newscrawl.mentions import load_companies
from newscrawl.reading import versions_of
from newscrawl.storage import Database, open_database
from newscrawl.storage.company_alerts import (
    CompanyAlert,
    Recipient,
    SentNotice,
    add_recipient,
    record_alerts,
    record_sent,
    watch_company,
)
from tests.archives import capture, written
from tests.newsroom import News, fill, page_of
from tests.worlds import LONG, NOON, bundled_companies, document, register, save_document

# What a hostile site would write into whatever it can.
SCRIPT = "<script>window.hacked = 1</script>"
EVIL = f"""{SCRIPT}"'><img src=x onerror="window.hacked=2"> {{{{7*7}}}} \u202egnp.exe"""
EVIL_SOURCE = "night-post"
EVIL_URL = "https://night-post.example/a?b=%22%3E%3Cscript%3Ewindow.hacked=3%3C/script%3E"
JAVASCRIPT_URL = "javascript:window.hacked=4"
# The pages are asked at this moment, however late the tests get to it.
NOW = datetime.now(UTC)
TODAY = NOW.date()
COMPANIES = """\
[[company]]
name = "Siemens"
aliases = ["Siemens Mobility"]
country = "DE"

[[company]]
name = "Wing Holding"

[[company]]
name = "Airbus"
parent = "Wing Holding"

[[company]]
name = "Boeing"
parent = "Wing Holding"

[groups]
"our competitors" = ["Airbus", "Volkswagen"]
"""


FIRST_NAMED = "Stadler Rail"
MAX_ARCHIVE = 1 << 26  # bytes of a file: all pages are in one


def make_news(
    database: Database,
    *,
    days: int = 40,
    hostile: bool = True,
    archive: ArchiveWriter | None = None,
) -> None:
    """The season's news up to now, a revised article, and a hostile paper or a quarantine."""
    fill(database, News(last=TODAY, days=days, now=NOW), archive)
    revise(database)
    send_notices(database, EVIL if hostile else "The press office")
    if hostile:
        add_hostile(database)
    else:
        hold_versions(database)


def send_notices(database: Database, name: str) -> None:
    """Recipients of all kinds, a pair and a company that are watched, and what was sent."""
    watch_company(database, "Siemens")
    watch_company(database, "Airbus", "Boeing")
    # Before the tram, which is of yesterday, no article names it.
    watch_company(database, FIRST_NAMED)
    alert = CompanyAlert(
        cause=f"first/{FIRST_NAMED}",
        kind="first mention",
        company=FIRST_NAMED,
        day=TODAY - timedelta(days=1),
    )
    record_alerts(database, [alert])
    for one in (
        Recipient(name=name, kind="e-mail", address="press@example.org"),
        Recipient(
            name="mobility-room",
            kind="slack",
            address="https://hooks.slack.com/services/s3cret",
            companies=("Siemens", FIRST_NAMED),
            gets=("alerts",),
        ),
    ):
        add_recipient(database, one)
    subject = f"{name if name == EVIL else FIRST_NAMED}: first article since you started watching"
    sent = [
        SentNotice(recipient=name, cause=alert.cause, subject=subject),
        SentNotice(
            recipient="mobility-room",
            cause=alert.cause,
            subject=subject,
            fault="the server answered 404",
        ),
    ]
    record_sent(database, sent)


WIRE = "https://northern-ledger.example/wire/tram"
TRAM = "https://harbour-courier.example/tram"
TRAM_TEXT = (
    "Siemens will build a tram for the harbour, the council decided on Tuesday evening after two "
    "hours of talk. It is the first new line in forty years.\n\n"
    "It costs nine million and is to run in spring. Alstom and Stadler had offered as well; the "
    "offer from Siemens was the only one with a roof for the stop at the fish market.\n\n"
    "Not everybody is pleased. The ferrymen fear for their morning trade, and the owner of the "
    "bakery at the quay wants to see the noise measured first. The council has promised both of "
    "them an answer before the winter."
)
REVISED_TITLE = "Siemens builds a tram for the harbour"
REVISED_TEXT = TRAM_TEXT.replace("nine", "twelve").replace("spring", "autumn, with Bosch")


def revise(database: Database) -> None:
    """An article in two versions, the first of which another paper prints."""
    moment = NOW.replace(hour=0, minute=5) - timedelta(days=1)
    run = database.start_run("harbour-courier", versions_of(None))
    first = matched(
        Article(
            url=TRAM,
            title="Siemens builds a tram",
            text=TRAM_TEXT,
            authors=("Ada Pell",),
            published=moment,
            language="en",
            confidence=0.94,
        ),
        moment,
    )
    first = replace(first, boilerplate=(("Vodafone", 2), ("Yahoo", 1)))
    save_document(database, first, run)
    wire = replace(
        first,
        page=replace(first.page, url=WIRE, source="northern-ledger"),
        article=replace(first.article, url=WIRE, title="A tram for the harbour, by Siemens"),
    )
    save_document(
        database,
        matched(wire.article, moment, source="northern-ledger"),
        database.start_run("northern-ledger", versions_of(None)),
    )
    second = replace(first.article, text=REVISED_TEXT, title=REVISED_TITLE)
    again = matched(second, moment + timedelta(hours=3))
    save_document(database, replace(again, boilerplate=first.boilerplate), run)


HELD = "https://harbour-courier.example/warehouse"
FERRY = (
    "The old ferry goes to the museum in spring, the harbour office said on Friday. Alstom will "
    "take its engine out before, since it is still good, and Siemens lends the crane.\n\n"
    "For forty years it carried workers over the river at six in the morning and back at four. "
    "Its last captain keeps the bell. Where the ferry lay, Bosch will build a quay for barges."
)
WAREHOUSE = (
    "Airbus rents the empty warehouse at the northern quay and will store wings in it, the "
    "company said on Thursday. The lease runs for nine years.\n\n"
    "The warehouse has stood empty since the fire. Its roof was mended last winter, and the "
    "council paid half. Siemens delivers the cranes; Bosch had offered as well."
)
ROOF = (
    "The insurers have paid for the roof alone. Two floors stay closed until the stairs are "
    "mended, and the cellar is under water when the river is high. Airbus has asked for a dyke; "
    "the council wants to see first who pays for it. A decision is to come before the winter."
)
LOGIN = (
    "Airbus rents the empty warehouse at the northern quay and will store wings in it, the "
    "company said on Thursday. Log in to read on."
)


def hold_versions(database: Database) -> None:
    """Put versions into the quarantine that would make three articles worse."""
    moment = NOW - timedelta(hours=2)
    articles = (
        (HELD, "Airbus rents the old warehouse", f"{WAREHOUSE}\n\n{ROOF}", "harbour-courier"),
        ("https://stadtbote.example/kran", "Siemens liefert den Kran", TRAM_TEXT, "stadtbote"),
        ("https://mainblatt.example/faehre", "Die alte Fähre", FERRY, "mainblatt"),
    )
    later = (
        ("Airbus rents the old warehouse", LOGIN),
        (None, TRAM_TEXT),
        ("Ein Wahlabend", TRAM_TEXT),
    )
    for (url, title, text, source), (new_title, new_text) in zip(articles, later, strict=True):
        run = database.start_run(source, versions_of(None))
        article = Article(
            url=url, title=title, text=text, published=moment, language="en", confidence=0.94
        )
        save_document(database, matched(article, moment, source=source), run)
        worse = replace(article, title=new_title, text=new_text)
        save_document(database, matched(worse, moment + timedelta(hours=1), source=source), run)


def add_hostile(database: Database) -> None:
    """A paper that writes scripts into its own name and into all of its articles' fields."""
    database.register_source(EVIL_SOURCE, EVIL, "gb", "en", JAVASCRIPT_URL)
    run = database.start_run(EVIL_SOURCE, versions_of(None))
    database.record_coverage(EVIL_SOURCE, TODAY, "failed", 2, 2, note=EVIL)
    moment = NOW - timedelta(minutes=5)
    for url, title in ((EVIL_URL, f"Nokia {EVIL}"), (JAVASCRIPT_URL, f"Nokia again {EVIL}")):
        article = Article(
            url=url,
            title=title,
            text=f"Nokia {EVIL} said so.\n\n{SCRIPT} Nokia stands in the second one, too. {title}",
            authors=(EVIL,),
            published=moment,
            language="en",
            section=EVIL,
            site_name=EVIL,
        )
        found = matched(article, moment, source=EVIL_SOURCE)
        save_document(database, found, run)
        changed = replace(article, text=article.text + f"\n\nMore: {EVIL}", title=f"{title}!")
        save_document(
            database, matched(changed, moment + timedelta(minutes=2), source=EVIL_SOURCE), run
        )


def matched(article: Article, moment: datetime, *, source: str = "harbour-courier") -> Document:
    """The article with its mentions, as fetched at the moment."""
    mentions: list[Mention] = bundled_companies().find(
        article.text, title=article.title or "", language=article.language
    )
    html = page_of(article.title or "", article.text)
    page = Page(url=article.url or "", source=source, html=html, fetched_at=moment)
    return Document(page=page, article=article, mentions=tuple(mentions))


@contextmanager
def serving(config: Config) -> Iterator[str]:
    """The URL of a running dashboard."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        server = uvicorn.Server(uvicorn.Config(create_app(config), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.02)
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def config_of(database: Path, **settings: object) -> Config:
    """The configuration over an SQLite file."""
    config = Config(database_url=f"sqlite:///{database}", clock=lambda: NOW)
    return replace(config, **settings)


@dataclass(frozen=True, slots=True)
class WorldExplainer:
    """Explanations as the command line's, of the archive of the crawls; pages that are fetched
    come from an archive of their own, because the papers are not on the web."""

    archive: Explainer
    site: Explainer

    def __call__(self, urls: Sequence[str], fetch_anew: bool, asked: AskedSentence) -> Markup:
        return (self.site if fetch_anew else self.archive)(urls, False, asked)


def explainer(folder: Path) -> WorldExplainer:
    """Explanations of the pages in a folder; the tram's can only be fetched."""
    html = page_of(REVISED_TITLE, REVISED_TEXT, ("Vodafone", "Yahoo")).replace(
        b"</body>", f"{SCRIPT}</body>".encode()
    )
    written(folder / "site", capture(TRAM, html))
    return WorldExplainer(Explainer(folder / "archive"), Explainer(folder / "site"))


@contextmanager
def dashboard(folder: Path, *, days: int, hostile: bool) -> Iterator[str]:
    """The address of a dashboard over a season of news."""
    with (
        open_database(f"sqlite:///{folder}/news.sqlite") as database,
        ArchiveWriter(folder / "archive", "crawl", max_bytes=MAX_ARCHIVE) as archive,
    ):
        make_news(database, days=days, hostile=hostile, archive=archive)
    (folder / "my-companies.toml").write_text(COMPANIES, "utf-8")
    config = config_of(
        folder / "news.sqlite",
        companies=Path("my-companies.toml"),
        explain=explainer(folder),
    )
    with pytest.MonkeyPatch.context() as patch:
        # The page of the editor names the file as it was given.
        patch.chdir(folder)
        with serving(config) as url:
            yield url


# An article whose mentions are corrected.
ARTICLE_URL = "https://ft.example/a"
ARTICLE_PAGE = f"/article?url={quote(ARTICLE_URL, safe='')}"
ARTICLE_TITLE = "Siemens bids for the line"
# The characters before "carmaker" are several bytes and code units long.
ARTICLE_TEXT = (
    "Siemens and Alstom bid for the new line over the river. Siemens asks for less.\n\n"
    f"🚋🚋 Ünd the carmaker pays for a stop at its gate. {SCRIPT} Nobody knows when."
)
ARTICLE_COMPANIES = "bundled = false\n" + "".join(
    f'[[company]]\nname = "{name}"\naliases = ["{alias}"]\n\n'
    for name, alias in (("Siemens", "Siemens AG"), ("Alstom", "Alstom SA"), ("BMW", "carmaker BMW"))
)


def fill_article(database: Database, companies: Path) -> None:
    """Store an article with four mentions, for corrections."""
    mentions = load_companies(companies).find(ARTICLE_TEXT, title=ARTICLE_TITLE, language="en")
    page = document(
        title=ARTICLE_TITLE, text=ARTICLE_TEXT, mentions=mentions, published=NOW, fetched_at=NOW
    )
    assert save_document(database, page, register(database)).mentions == 4


def save_past(
    database: Database,
    back: int,
    *mentions: Mention,
    source: str = "ft",
    language: str = "en",
    country: str = "gb",
    boilerplate: tuple[tuple[str, int], ...] = (),
) -> None:
    """Save an article of `back` days ago, whose source was read on that day."""
    moment = NOON.replace(year=TODAY.year, month=TODAY.month, day=TODAY.day) - timedelta(days=back)
    path = f"{back}-{len(mentions)}-{mentions[0].company if mentions else ''}"
    names = " ".join(mention.company for mention in mentions)
    item = document(
        path,
        source=source,
        title=f"{names} on day {back}",
        text=f"{names} {LONG} {back}",
        mentions=mentions,
        published=moment,
        fetched_at=moment,
        language=language,
    )
    database.register_source(
        source, source.upper(), country, language, f"https://{source}.example/"
    )
    run = database.start_run(source)
    save_document(database, replace(item, boilerplate=boilerplate), run)
    database.record_coverage(source, moment.date(), "ok", 1, 1)
