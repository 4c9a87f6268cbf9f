"""What analysts are told of, on both databases, by a real mail server and a real webhook."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from newscrawl.monitoring.mail import MailChannel
from newscrawl.monitoring.notify import LogChannel
from newscrawl.monitoring.spikes import articles_behind, judge, notice_all
from newscrawl.monitoring.telling import look_and_tell, tell_all
from newscrawl.monitoring.webhook import WebhookChannel
from newscrawl.storage import Database, company_alerts
from tests.receiving import Inbox, mail_server, webhook
from tests.worlds import body, day, document, headline, moment, register

TODAY = day(1)
HOSTILE = '<script>alert(1)</script> [Siemens](javascript:x) `"|*'


@pytest.fixture
def world(database: Database) -> Database:
    """Four weeks of four articles a day, of which Siemens is in one every second day."""
    run = register(database)
    documents = [
        document(
            f"{number}-{place}",
            title="Siemens grows" if place == number % 2 == 0 else "Nothing much",
            text=f"Text {number} {place}.",
            mentions=[headline("Siemens")] if place == number % 2 == 0 else [],
            published=moment(number),
        )
        for number in range(-28, 0)
        for place in range(4)
    ]
    database.save_all(documents, run)
    for number in range(-28, 1):
        database.record_coverage("ft", day(number), "ok", 4, 4)
    return database


def burst(database: Database, on: int = 0, articles: int = 9, title: str = "Siemens again") -> None:
    run = register(database)
    database.save_all(
        [
            document(
                f"burst-{on}-{number}",
                title=title,
                text=f"Siemens is named here {on} {number}.",
                mentions=[body("Siemens")],
                published=moment(on) + timedelta(minutes=number),
            )
            for number in range(articles)
        ],
        run,
    )
    database.record_coverage("ft", day(on), "ok", articles, articles)


def mail(url: str) -> MailChannel:
    return MailChannel.of(url, "news@example.org", "desk@example.org")


def hook(url: str) -> WebhookChannel:
    return WebhookChannel(url=url, allow_private=True, pauses=())


@contextmanager
def receivers() -> Iterator[tuple[Inbox, MailChannel, list[dict[str, object]], WebhookChannel]]:
    with mail_server() as (inbox, mail_url), webhook() as (taken, hook_url):
        yield inbox, mail(mail_url), taken, hook(hook_url)


def test_a_spike_of_a_watched_company_is_told_once_with_its_articles(world):
    company_alerts.watch_company(world, "Siemens")
    burst(world, title=HOSTILE)
    with receivers() as (inbox, mailing, taken, hooking):
        channels = (LogChannel(), mailing, hooking)
        (found,) = notice_all(world, today=TODAY)
        assert (found.kind, found.company, found.day) == ("spike", "Siemens", day(0))
        assert found.facts["articles"] == 9
        assert found.facts["expected"] < 3
        assert tell_all(world, channels).alerts == 1
        assert notice_all(world, today=TODAY) == []
        assert tell_all(world, channels).alerts == 0
    (message,) = inbox.messages
    assert (
        message["Subject"]
        == f"Siemens: 9 articles on {day(0)}, {found.facts['expected']:.0f} expected"
    )
    plain = message.get_body(("plain",)).get_content()
    page = message.get_body(("html",)).get_content()
    assert "https://ft.example/burst-0-8" in plain
    assert "**Siemens** is named here 0 8" in plain
    assert "And 4 more" in plain
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert r"\[Siemens\](javascript:x)" in plain
    (told,) = taken
    assert told["facts"]["articles_behind"][0]["url"] == "https://ft.example/burst-0-8"
    assert told["cause"] == f"spike/Siemens/{day(0)}"


def test_a_company_that_nobody_watches_is_told_of_only_if_all_are(world):
    burst(world)
    assert notice_all(world, today=TODAY) == []
    assert [one.company for one in notice_all(world, today=TODAY, everyone=True)] == ["Siemens"]


def test_a_burst_that_goes_on_is_one(world):
    company_alerts.watch_company(world, "Siemens")
    burst(world)
    assert len(notice_all(world, today=TODAY)) == 1
    burst(world, on=1, articles=10)
    assert notice_all(world, today=day(2)) == []
    burst(world, on=2, articles=30)
    assert [one.day for one in notice_all(world, today=day(3))] == [day(2)]


def test_days_of_spikes_are_no_history(world):
    burst(world)
    plain = judge(world, "Siemens", day(0))
    burst(world, on=1, articles=3)
    with_burst = judge(world, "Siemens", day(1))
    without = judge(world, "Siemens", day(1), without={day(0)})
    assert plain.is_spike
    assert without.expected < with_burst.expected


def test_a_gap_of_coverage_is_no_history_of_zeros(database):
    run = register(database)
    for number in (*range(-56, -28), *range(-7, 0)):
        database.save_all(
            [
                document(
                    f"{number}-{place}",
                    text=f"Text {number} {place}.",
                    mentions=[body("Siemens")],
                    published=moment(number),
                )
                for place in range(2)
            ],
            run,
        )
        database.record_coverage("ft", day(number), "ok", 2, 2)
    burst(database, articles=4)
    found = judge(database, "Siemens", day(0))
    assert found.history == 35
    assert found.expected == pytest.approx(4, rel=0.1)
    assert not found.is_spike


def test_the_first_article_that_names_a_watched_company_is_told(world):
    company_alerts.watch_company(world, "Bosch")
    company_alerts.watch_company(world, "Siemens")
    assert notice_all(world, today=TODAY) == []
    run = register(world)
    now = datetime.now(UTC)
    world.save(document("b", text="Bosch is here.", mentions=[body("Bosch")], fetched_at=now), run)
    (found,) = notice_all(world, today=TODAY)
    assert (found.kind, found.company, found.other) == ("first mention", "Bosch", "")
    behind = articles_behind(world, found)
    assert [one.article.url for one in behind.articles] == ["https://ft.example/b"]
    world.save(document("c", text="Bosch once more.", mentions=[body("Bosch")]), run)
    assert notice_all(world, today=TODAY) == []


def test_the_first_article_that_names_a_watched_pair_is_told(world):
    company_alerts.watch_company(world, "Siemens", "Alstom")
    run = register(world)
    now = datetime.now(UTC)
    alone = document("a", text="Alstom alone.", mentions=[body("Alstom")], fetched_at=now)
    world.save(alone, run)
    assert notice_all(world, today=TODAY) == []
    both = [body("Alstom"), body("Siemens", 11)]
    world.save(document("ab", text="Alstom and Siemens merge.", mentions=both, fetched_at=now), run)
    (found,) = notice_all(world, today=TODAY)
    assert (found.kind, {found.company, found.other}) == ("first pair", {"Alstom", "Siemens"})
    behind = articles_behind(world, found)
    assert ([one.article.url for one in behind.articles], behind.number) == (
        ["https://ft.example/ab"],
        1,
    )


def test_a_channel_that_fails_is_tried_again_and_no_other(world):
    company_alerts.watch_company(world, "Siemens")
    burst(world)
    notice_all(world, today=TODAY)
    with receivers() as (inbox, mailing, taken, hooking):
        inbox.refuse = True
        told = tell_all(world, (mailing, hooking))
        assert (told.alerts, len(told.failed), len(taken)) == (0, 1, 1)
        (kept,) = company_alerts.list_alerts(world)
        assert kept.told_at is None
        inbox.refuse = False
        assert tell_all(world, (mailing, hooking)).alerts == 1
        assert (len(inbox.messages), len(taken)) == (1, 1)
        (kept,) = company_alerts.list_alerts(world)
        assert kept.told_at is not None


def test_what_one_worker_tells_no_other_does(world):
    company_alerts.watch_company(world, "Siemens")
    burst(world)
    notice_all(world, today=TODAY)
    assert len(company_alerts.claim_alerts(world)) == 1
    assert company_alerts.claim_alerts(world) == []


def test_workers_at_the_same_moment_tell_it_once(world):
    company_alerts.watch_company(world, "Siemens")
    burst(world)

    def work(_number: int) -> int:
        notice_all(world, today=TODAY)
        return tell_all(world, (hooking,)).alerts

    with webhook() as (taken, url), ThreadPoolExecutor(4) as pool:
        hooking = hook(url)
        assert sum(pool.map(work, range(4))) == 1
        assert len(taken) == 1


def test_an_inspection_tells_what_is_watched(database):
    now = datetime.now(UTC)
    run = register(database)
    bosch = document("b", text="Bosch.", mentions=[body("Bosch")], published=now, fetched_at=now)
    with webhook() as (taken, url):
        look_and_tell(database, (hook(url),))
        company_alerts.watch_company(database, "Bosch")
        later = datetime.now(UTC)
        bosch = replace(bosch, page=replace(bosch.page, fetched_at=later))
        database.save(bosch, run)
        look_and_tell(database, (hook(url),))
    assert [notice["subject"] for notice in taken] == ["First article that names Bosch"]


def test_what_was_noticed_too_long_ago_is_no_news(world, monkeypatch):
    company_alerts.watch_company(world, "Siemens")
    burst(world)
    notice_all(world, today=TODAY)
    monkeypatch.setattr(company_alerts, "STALE", timedelta(0))
    assert company_alerts.claim_alerts(world) == []


def test_a_pair_is_watched_in_either_order(database):
    assert company_alerts.watch_company(database, "Siemens", "Alstom")
    assert not company_alerts.watch_company(database, "Alstom", "Siemens")
    assert [(one.company, one.other) for one in company_alerts.watched_companies(database)] == [
        ("Alstom", "Siemens")
    ]
    assert company_alerts.unwatch_company(database, "Siemens", "Alstom")
    assert not company_alerts.unwatch_company(database, "Siemens", "Alstom")
    assert company_alerts.watched_companies(database) == []
