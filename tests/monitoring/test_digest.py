"""Digests: their numbers, hostile headlines as text, and that they are sent once."""

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from shutil import copyfile

import pytest
from openpyxl import load_workbook

from newscrawl import config
from newscrawl.monitoring.digests import (
    digest_notice,
    html_digest,
    last_full_day,
    make_digest,
    markdown_digest,
    spark_bars,
)
from newscrawl.storage import Database, company_alerts, open_database
from newscrawl.storage.company_alerts import CompanyAlert
from tests.conftest import Newscrawl
from tests.receivers import Inbox
from tests.worlds import (
    body,
    day,
    document,
    headline,
    moment,
    register,
    save_documents,
)

HOSTILE = "<img src=x onerror=alert(1)> [a](javascript:b) | `c` **d**"


def fill(database: Database) -> None:
    """Two weeks: Siemens rises, Bosch falls, E.ON stays out of the news."""
    run = register(database)
    plan = [
        *(("Siemens", number) for number in (-8, -2, -1, -1, 0, 0, 0)),
        *(("Bosch", number) for number in (-9, -8, -8, 0)),
    ]
    save_documents(
        database,
        [
            document(
                f"{company}-{place}".lower(),
                title=HOSTILE if company == "Bosch" else f"{company} in the news",
                text=f"{company} did something on day {number}, as was said {place} times.",
                mentions=[body(company)] if company == "Bosch" else [headline(company)],
                published=moment(number),
            )
            for place, (company, number) in enumerate(plan)
        ],
        run,
    )
    for number in range(-13, 1):
        database.record_coverage("ft", day(number), "ok", 1, 1)


@pytest.fixture
def news(database: Database) -> Database:
    fill(database)
    return database


def fill_day(database: Database, back: int, named: int, read: int) -> None:
    """A day, so many before the last one, with articles that are read, some of which name
    Siemens."""
    save_documents(
        database,
        [
            document(
                f"{back}-{place}",
                text=f"{'Siemens' if place < named else 'The council'} did {place} on day {back}.",
                mentions=[body("Siemens")] if place < named else [],
                published=moment(-back),
            )
            for place in range(read)
        ],
        register(database),
    )
    database.record_coverage("ft", day(-back), "ok", read, read)


class Links(HTMLParser):
    """The tags of a page, and where its links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.targets: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets += [value for name, value in attrs if name in {"href", "src"}]


def test_weekly_digest_compares_with_the_week_before(news):
    company_alerts.watch_company(news, "Siemens")
    company_alerts.watch_company(news, "E.ON", "Bosch")
    digest = make_digest(news, "weekly", day(0))
    assert (digest.first, digest.last, digest.chosen) == (day(-6), day(0), True)
    rows = {company.company: company for company in digest.companies}
    assert (rows["Siemens"].hits.articles, rows["Siemens"].change.before) == (6, 1)
    assert (rows["Bosch"].hits.articles, rows["Bosch"].change.before) == (1, 3)
    assert rows["Siemens"].hits.in_title == 6
    assert digest.unmentioned == ("E.ON",)
    assert [company.company for company in digest.companies] == ["Siemens", "Bosch"]
    assert [count.hits.articles for count in rows["Siemens"].recent[-3:] if count.hits] == [1, 2, 3]


def test_digest_gives_the_change_of_the_share_of_the_articles_read(database):
    """Twice as many papers are read, so that twice as many articles are not a larger share."""
    for back, number in ((7, 20), (0, 40)):
        fill_day(database, back, named=number, read=4 * number)
    company_alerts.watch_company(database, "Siemens")
    digest = make_digest(database, "daily", day(0))
    assert "| Siemens | 40 | +0% |" in markdown_digest(digest)
    summary = digest_notice(digest).summary
    sentence = "Siemens: 40 of 160 articles read, after 20 of 80 on the day a week before;"
    assert f"{sentence} no clear change" in summary


def test_digest_without_watched_companies_shows_the_most_named(news):
    digest = make_digest(news, "daily", day(0))
    assert not digest.chosen
    assert [(company.company, company.hits.articles) for company in digest.companies] == [
        ("Siemens", 3),
        ("Bosch", 1),
    ]


def test_days_without_coverage_are_gaps(news):
    digest = make_digest(news, "daily", day(-13))
    assert digest.companies == ()
    earlier = make_digest(news, "weekly", day(-9))
    (bosch,) = earlier.companies
    assert bosch.change.before is None
    assert "No source was crawled in the 7 days before." in markdown_digest(earlier)
    assert "| no data before |" in markdown_digest(earlier)
    assert None in [count.hits for count in bosch.recent]
    assert "Of earlier days, only articles that were still listed" in markdown_digest(earlier)


def test_digest_lists_the_alerts_of_its_days(news):
    facts = {"articles": 40, "expected": 3.2, "chance": 1e-9, "history_days": 50}
    spike = CompanyAlert(cause="s", kind="spike", company="Siemens", day=day(0), facts=facts)
    old = CompanyAlert(cause="o", kind="first mention", company="Bosch", day=day(-30))
    company_alerts.record_alerts(news, [spike, old])
    text = markdown_digest(make_digest(news, "daily", day(0)))
    assert f"- Siemens: 40 articles on {day(0)}, 3 expected" in text
    assert "first article found" not in text


def test_hostile_headline_is_shown_as_text(news):
    digest = make_digest(news, "weekly", day(0))
    page, text = html_digest(digest), markdown_digest(digest)
    links = Links(page)
    assert not links.tags & {"img", "script"}
    assert "onerror" not in links.attributes
    assert links.targets
    assert all(target.startswith("https://ft.example/") for target in links.targets)
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert r"\<img src=x onerror=alert(1)\> \[a\](javascript:b) \| \`c\` \*\*d\*\*" in text


def test_spark_bars_show_gaps_as_dots():
    assert spark_bars([0, None, 4, 8]) == "▁·▅█"
    assert spark_bars([0, 0]) == "▁▁"


@pytest.mark.parametrize(
    ("span", "today", "last"),
    [("daily", 22, 21), ("weekly", 22, 15), ("weekly", 23, 22), ("weekly", 29, 22)],
)
def test_digest_covers_full_days_and_weeks(span, today, last):
    november = datetime(2026, 11, 1, tzinfo=UTC).date()
    full = last_full_day(span, november + timedelta(days=today - 1))
    assert full == november + timedelta(days=last - 1)


# On the command line ---


@pytest.fixture(scope="module")
def filled(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the two weeks, to be copied."""
    file = copyfile(sqlite_template, tmp_path_factory.mktemp("filled") / "news.sqlite")
    with open_database(f"sqlite:///{file}") as database:
        fill(database)
    return file


@pytest.fixture
def desk(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> Inbox:
    """The mailbox that the settings name."""
    monkeypatch.setattr(config, "NEWSCRAWL_MAIL_TO", "desk@example.org")
    return inbox


@pytest.fixture
def stored(newscrawl: Newscrawl, filled: Path, tmp_path: Path) -> Newscrawl:
    copyfile(filled, tmp_path / "newscrawl.sqlite")
    return newscrawl


def test_command_writes_markdown_or_html(stored):
    ran = stored("digest", "--weekly", "--day", day(0))
    assert ran.code == 0
    assert ran.out.startswith(f"# Companies in the news, {day(-6)} to {day(0)}\n")
    assert "| Siemens | 6 | 1 → 6 | 6 |" in ran.out
    page = stored("digest", "--day", day(0), "--format", "html")
    assert page.code == 0
    assert page.out.startswith("<!DOCTYPE html>")


def test_digest_is_sent_once(stored, desk, hook, monkeypatch):
    monkeypatch.setattr(config, "NEWSCRAWL_WEBHOOKS", hook.url)
    send = ("digest", "--day", day(0), "--send")
    desk.refuse = True
    failed = stored(*send)
    assert (failed.code, len(hook.notices)) == (1, 1)
    assert "e-mail (127.0.0.1" in failed.err
    desk.refuse = False
    assert stored(*send).code == 0
    assert (len(desk.messages), len(hook.notices)) == (1, 1)
    assert "sent before" in stored(*send).err
    assert stored(*send, "--again").code == 0
    assert (len(desk.messages), len(hook.notices)) == (2, 2)
    message = desk.messages[0]
    assert message["Subject"] == f"Companies in the news on {day(0)}"
    assert "Siemens" in message.get_body(("html",)).get_content()
    assert hook.notices[0]["facts"]["companies"] == {"Siemens": 3, "Bosch": 1}
    assert hook.notices[0]["event"] == "digest"


@pytest.mark.parametrize("kind", ["html", "xlsx"])
def test_digest_carries_a_report(stored, desk, kind):
    send = ("digest", "--weekly", "--day", day(0), "--send", "--report", kind)
    assert stored(*send).code == 0
    (message,) = desk.messages
    (file,) = message.iter_attachments()
    assert file.get_filename() == f"newscrawl-report-{day(-6)}-{day(0)}.{kind}"
    if kind == "html":
        assert "Siemens, Bosch in the news" in file.get_content()
    else:
        sheet = load_workbook(BytesIO(file.get_content()))["Key figures"]
        assert [cell.value for cell in sheet["B"]] == ["Articles", 6, 1]


def test_run_of_alerts_says_what_waits_and_retries_it_if_asked(stored, desk):
    with open_database("sqlite:///newscrawl.sqlite") as database:
        alert = CompanyAlert(cause="c", kind="first mention", company="Siemens", day=day(0))
        company_alerts.record_alerts(database, [alert])
    stored("alerts", "watch", "Siemens")
    run = ("alerts", "run", "--day", day(-20))
    desk.refuse = True
    failed = stored(*run)
    desk.refuse = False
    waiting, retried = stored(*run), stored(*run, "--retry")
    hint = "1 alert to be tried again after a pause; at once by newscrawl alerts run --retry."
    assert (failed.code, waiting.code, retried.code) == (1, 0, 0)
    assert hint in failed.err
    first = "^Siemens: first article found: "
    assert re.search(first + r"e-mail \(127.0.0.1:\d+\) failed: ", failed.err, re.MULTILINE)
    assert re.search(f"{first}sent to e-mail ", retried.err, re.MULTILINE)
    assert waiting.err.splitlines() == ["0 new, 0 delivered.", hint]
    assert retried.err.splitlines()[-1] == "0 new, 1 delivered."
    assert len(desk.messages) == 1


def test_alerts_are_run_and_listed(stored):
    with open_database("sqlite:///newscrawl.sqlite") as database:
        pages = [
            document(f"old-{number}", text=f"Old {number}.", published=moment(number))
            for number in range(-60, -13)
        ]
        pages += [
            document(f"burst-{number}", text=f"Aldi burst {number}.", mentions=[body("Aldi")])
            for number in range(9)
        ]
        save_documents(database, pages, register(database))
        for number in range(-60, -13):
            database.record_coverage("ft", day(number), "ok", 1, 1)
    assert "watched from now on" in stored("alerts", "watch", "aldi").err
    assert "already watched" in stored("alerts", "watch", "Aldi").err
    assert "Aldi" in stored("alerts", "watched").out
    ran = stored("alerts", "run", "--day", day(1)).err
    assert "1 new, 1 delivered" in ran
    assert re.search(r"^Aldi: 9 articles on .*: sent to log\.$", ran, re.MULTILINE)
    assert "0 new, 0 delivered" in stored("alerts", "run", "--day", day(1)).err
    listed = stored("alerts", "list")
    assert listed.code == 0
    assert listed.fits
    assert "spike" in listed.out
    assert "no longer watched" in stored("alerts", "unwatch", "ALDI").err
