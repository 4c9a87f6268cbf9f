"""Company alerts on both databases, delivered to a real mail server and a real webhook."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from benchmarks.spikes import TIMES, simulate
from newscrawl.items import CompanyStructure
from newscrawl.monitoring.alerts import (
    ALPHA,
    MIN_HISTORY,
    Assessment,
    DayCount,
    alert_articles,
    assess,
    assess_day,
    find_alerts,
    pending_alerts,
    tail,
)
from newscrawl.monitoring.delivery import (
    Channel,
    DeliveryReport,
    LogChannel,
    deliver_pending,
)
from newscrawl.monitoring.digests import make_digest
from newscrawl.monitoring.health_checks import Inspector
from newscrawl.storage import Database, company_alerts
from newscrawl.storage.company_alerts import Recipient, add_recipient, sent_notices
from tests.worlds import (
    body,
    day,
    document,
    headline,
    moment,
    register,
    save_document,
    save_documents,
)

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
    save_documents(database, documents, run)
    for number in range(-28, 1):
        database.record_coverage("ft", day(number), "ok", 4, 4)
    return database


def burst(database: Database, on: int = 0, articles: int = 9, title: str = "Siemens again") -> None:
    run = register(database)
    save_documents(
        database,
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


def deliver_alerts(
    world: Database, channels: Sequence[Channel], now: datetime | None = None
) -> DeliveryReport:
    return deliver_pending(pending_alerts(world, now=now), channels)


def failed_at(world: Database) -> datetime:
    """Return when a notice was last sent in vain."""
    return max(notice.sent_at for notice in sent_notices(world, 99) if notice.fault)


@pytest.fixture
def alerted(world):
    """The world with a spike of a watched company, which nobody was told of yet."""
    company_alerts.watch_company(world, "Siemens")
    burst(world)
    find_alerts(world, today=TODAY)
    return world


def test_spike_of_a_watched_company_is_delivered_once_with_its_articles(
    world, inbox, hook, mailing, hooking
):
    company_alerts.watch_company(world, "Siemens")
    burst(world, title=HOSTILE)
    channels = (LogChannel(), mailing, hooking)
    (alert,) = find_alerts(world, today=TODAY)
    assert (alert.kind, alert.company, alert.day) == ("spike", "Siemens", day(0))
    assert alert.facts["articles"] == 9
    assert alert.facts["expected"] < 3
    assert deliver_alerts(world, channels).delivered == 1
    assert find_alerts(world, today=TODAY) == []
    assert deliver_alerts(world, channels).delivered == 0
    (message,) = inbox.messages
    expected = f"{alert.facts['expected']:.0f} expected"
    assert message["Subject"] == f"Siemens: 9 articles on {day(0)}, {expected}"
    plain = message.get_body(("plain",)).get_content()
    page = message.get_body(("html",)).get_content()
    assert "https://ft.example/burst-0-8" in plain
    assert "**Siemens** is named here 0 8" in plain
    assert "And 4 more" in plain
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert r"\[Siemens\](javascript:x)" in plain
    (notice,) = hook.notices
    assert notice["facts"]["articles_behind"][0]["url"] == "https://ft.example/burst-0-8"
    assert (notice["event"], notice["cause"]) == ("alert", f"spike/Siemens/{day(0)}")


def test_group_has_alerts_and_a_digest_of_its_companies_together(world):
    groups = CompanyStructure(groups={"our competitors": ("Alstom", "Siemens")})
    company_alerts.watch_company(world, "our competitors")
    burst(world)
    assert find_alerts(world, today=TODAY) == []
    (alert,) = find_alerts(world, today=TODAY, structure=groups)
    assert (alert.kind, alert.company) == ("spike", "our competitors")
    articles = alert_articles(world, alert, groups)
    assert articles.number == alert.facts["articles"] >= 9
    assert "Siemens" in articles.articles[0].article.companies
    (row,) = make_digest(world, "daily", day(0), groups).companies
    assert (row.company, row.hits.articles) == ("our competitors", articles.number)


def test_first_article_about_a_company_of_a_watched_group_is_an_alert(database):
    groups = CompanyStructure(groups={"our competitors": ("Alstom", "Siemens")})
    run = register(database)
    company_alerts.watch_company(database, "our competitors")
    mentions = [body("Siemens")]
    now = datetime.now(UTC)
    page = document("first", text="Siemens is named.", mentions=mentions, fetched_at=now)
    save_documents(database, [page], run)
    assert find_alerts(database, today=TODAY) == []
    (alert,) = find_alerts(database, today=TODAY, structure=groups)
    assert (alert.kind, alert.company) == ("first mention", "our competitors")


def test_nothing_to_record_is_no_transaction(world, monkeypatch):
    monkeypatch.setattr(world, "write", None)
    assert find_alerts(world, today=TODAY) == []


def test_company_of_a_recipient_of_alerts_is_watched(world):
    for name, company, kind in (("desk", "Siemens", "alerts"), ("weekly", "Bosch", "digests")):
        about = Recipient(
            name=name,
            kind="e-mail",
            address="desk@example.org",
            companies=(company,),
            gets=(kind,),
            added_by="ann",
        )
        add_recipient(world, about)
    (watch,) = company_alerts.watched_companies(world)
    assert (watch.company, watch.added_by, watch.for_recipient) == ("Siemens", "ann", True)
    burst(world)
    assert [alert.company for alert in find_alerts(world, today=TODAY)] == ["Siemens"]


def test_unwatched_company_has_alerts_only_with_everyone(world):
    burst(world)
    assert find_alerts(world, today=TODAY) == []
    assert [alert.company for alert in find_alerts(world, today=TODAY, everyone=True)] == [
        "Siemens"
    ]


def test_burst_of_several_days_is_one_alert(world):
    company_alerts.watch_company(world, "Siemens")
    burst(world)
    assert len(find_alerts(world, today=TODAY)) == 1
    burst(world, on=1, articles=10)
    assert find_alerts(world, today=day(2)) == []
    burst(world, on=2, articles=30)
    assert [alert.day for alert in find_alerts(world, today=day(3))] == [day(2)]


def test_days_of_spikes_can_be_left_out_of_the_history(world):
    burst(world)
    plain = assess_day(world, "Siemens", day(0))
    burst(world, on=1, articles=3)
    with_burst = assess_day(world, "Siemens", day(1))
    without = assess_day(world, "Siemens", day(1), without={day(0)})
    assert plain.is_spike
    assert without.expected < with_burst.expected


def test_gap_of_coverage_is_not_counted_as_zeros(database):
    run = register(database)
    for number in (*range(-56, -28), *range(-7, 0)):
        save_documents(
            database,
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
    assessment = assess_day(database, "Siemens", day(0))
    assert assessment.history == 35
    assert assessment.expected == pytest.approx(4, rel=0.1)
    assert not assessment.is_spike


def test_first_article_of_a_watched_company_is_an_alert(world):
    company_alerts.watch_company(world, "Bosch")
    company_alerts.watch_company(world, "Siemens")
    assert find_alerts(world, today=TODAY) == []
    run = register(world)
    now = datetime.now(UTC)
    save_document(
        world, document("b", text="Bosch is here.", mentions=[body("Bosch")], fetched_at=now), run
    )
    (alert,) = find_alerts(world, today=TODAY)
    assert (alert.kind, alert.company, alert.other) == ("first mention", "Bosch", "")
    behind = alert_articles(world, alert)
    assert [article.article.url for article in behind.articles] == ["https://ft.example/b"]
    save_document(world, document("c", text="Bosch once more.", mentions=[body("Bosch")]), run)
    assert find_alerts(world, today=TODAY) == []


def test_first_article_of_a_watched_pair_is_an_alert(world):
    company_alerts.watch_company(world, "Siemens", "Alstom")
    run = register(world)
    now = datetime.now(UTC)
    alone = document("a", text="Alstom alone.", mentions=[body("Alstom")], fetched_at=now)
    save_document(world, alone, run)
    assert find_alerts(world, today=TODAY) == []
    mentions = [body("Alstom"), body("Siemens", 11)]
    save_document(
        world,
        document("ab", text="Alstom and Siemens merge.", mentions=mentions, fetched_at=now),
        run,
    )
    (alert,) = find_alerts(world, today=TODAY)
    assert (alert.kind, {alert.company, alert.other}) == ("first pair", {"Alstom", "Siemens"})
    behind = alert_articles(world, alert)
    assert ([article.article.url for article in behind.articles], behind.number) == (
        ["https://ft.example/ab"],
        1,
    )


def test_failed_channel_gets_the_alert_again_and_others_do_not(
    alerted, inbox, hook, mailing, hooking
):
    inbox.refuse = True
    report = deliver_alerts(alerted, (mailing, hooking))
    assert (report.delivered, len(report.failed), len(hook.notices)) == (0, 1, 1)
    (stored_alert,) = company_alerts.list_alerts(alerted)
    assert stored_alert.delivered_at is None
    inbox.refuse = False
    later = failed_at(alerted) + timedelta(hours=1)
    assert deliver_alerts(alerted, (mailing, hooking), later).delivered == 1
    assert (len(inbox.messages), len(hook.notices)) == (1, 1)
    (stored_alert,) = company_alerts.list_alerts(alerted)
    assert stored_alert.delivered_at is not None


def test_alert_that_fails_is_sent_again_after_longer_and_longer_pauses(alerted, inbox, mailing):
    soon = timedelta(seconds=1)
    inbox.refuse = True
    channels = (LogChannel(), mailing)
    assert deliver_alerts(alerted, channels).failed
    for minutes in (5, 15, 60, 60):
        due = failed_at(alerted) + timedelta(minutes=minutes)
        assert deliver_alerts(alerted, channels, due - soon) == DeliveryReport()
        assert deliver_alerts(alerted, channels, due + soon).failed
    inbox.refuse = False
    later = failed_at(alerted) + timedelta(hours=2)
    assert deliver_alerts(alerted, channels, later).delivered == 1
    assert [bool(notice.fault) for notice in sent_notices(alerted, 99)] == [False, *[True] * 5]
    assert len(inbox.messages) == 1


def test_alert_that_failed_is_retried_at_once_if_asked_and_by_one_worker(alerted, inbox, mailing):
    inbox.refuse = True
    channels = (LogChannel(), mailing)
    assert deliver_alerts(alerted, channels).failed
    assert deliver_alerts(alerted, channels) == DeliveryReport()
    assert company_alerts.count_paused(alerted) == 1
    inbox.refuse = False
    pending = pending_alerts(alerted, retry=True)
    first = next(pending)
    # While this worker delivers it, no other one does.
    assert company_alerts.count_paused(alerted) == 0
    assert company_alerts.claim_alerts(alerted, retry=True) == []
    assert deliver_pending([first, *pending], channels).delivered == 1
    assert len(inbox.messages) == 1
    assert company_alerts.count_paused(alerted) == 0
    assert company_alerts.claim_alerts(alerted, retry=True) == []


def test_workers_at_the_same_moment_deliver_an_alert_once(world, hook, hooking):
    company_alerts.watch_company(world, "Siemens")
    burst(world)

    def work(_number: int) -> int:
        find_alerts(world, today=TODAY)
        return deliver_alerts(world, (hooking,)).delivered

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 1
    assert len(hook.notices) == 1


def test_inspection_delivers_alerts_about_watched_companies(database, hook, hooking):
    now = datetime.now(UTC)
    run = register(database)
    bosch = document("b", text="Bosch.", mentions=[body("Bosch")], published=now, fetched_at=now)
    Inspector(database, [], (hooking,))()
    company_alerts.watch_company(database, "Bosch")
    later = datetime.now(UTC)
    save_document(database, replace(bosch, page=replace(bosch.page, fetched_at=later)), run)
    Inspector(database, [], (hooking,))()
    subjects = [notice["subject"] for notice in hook.notices]
    assert subjects == ["Bosch: first article since you started watching"]


def test_stale_alert_is_not_delivered(alerted, monkeypatch):
    monkeypatch.setattr(company_alerts, "STALE", timedelta(0))
    assert company_alerts.claim_alerts(alerted) == []


def test_pair_is_watched_in_either_order(database):
    assert company_alerts.watch_company(database, "Siemens", "Alstom")
    assert not company_alerts.watch_company(database, "Alstom", "Siemens")
    assert [
        (company.company, company.other) for company in company_alerts.watched_companies(database)
    ] == [("Alstom", "Siemens")]
    assert company_alerts.unwatch_company(database, "Siemens", "Alstom")
    assert not company_alerts.unwatch_company(database, "Siemens", "Alstom")
    assert company_alerts.watched_companies(database) == []


MONDAY = date(2026, 9, 7)
PAGE = Path(__file__).parents[2] / "docs" / "alerts.md"


def history(days: int = 56, usual: int = 3, weekend: int = 3, read: int = 100) -> list[DayCount]:
    counts = []
    for number in range(days):
        day = MONDAY + timedelta(days=number)
        counts.append(DayCount(day, weekend if day.weekday() > 4 else usual, read))
    return counts


def after(days: list[DayCount], articles: int | None, read: int = 100) -> Assessment | None:
    return assess(days, DayCount(days[-1].day + timedelta(days=1), articles, read))


@pytest.mark.parametrize(
    ("articles", "spike"), [(3, False), (6, False), (14, True), (60, True)], ids=str
)
def test_count_far_above_the_history_is_a_spike(articles, spike):
    assessment = after(history(), articles)
    assert assessment.is_spike is spike
    assert assessment.expected == pytest.approx(3, abs=0.1)


def test_few_articles_are_no_spike():
    assessment = after(history(usual=0, weekend=0), 4)
    assert assessment.chance < ALPHA
    assert not assessment.is_spike


def test_expected_number_depends_on_the_weekday():
    days = history(55, usual=40, weekend=2)
    saturday = after(days[:54], 20)
    monday = after(days + history(1, usual=2), 41)
    assert days[53].day.weekday() == 4
    assert saturday.is_spike
    assert saturday.expected < 15
    assert not monday.is_spike
    assert monday.expected > 30


def test_expected_number_grows_with_articles_read():
    assert after(history(), 12, read=400).expected == pytest.approx(12, abs=0.5)
    assert not after(history(), 12, read=400).is_spike
    assert after(history(), 12, read=50).is_spike


@pytest.mark.parametrize(
    ("days", "articles", "read"),
    [
        pytest.param(history(MIN_HISTORY - 1), 50, 100, id="too short"),
        pytest.param(history(), None, 0, id="nobody looked"),
        pytest.param(history(), 0, 0, id="nothing read"),
        pytest.param([DayCount(d.day, None, 0) for d in history()], 9, 100, id="only gaps"),
    ],
)
def test_short_history_gives_no_assessment(days, articles, read):
    assert after(days, articles, read) is None


def test_bursty_company_needs_more_articles_for_a_spike():
    calm = history(usual=4, weekend=4)
    bursty = [DayCount(day.day, 0 if number % 4 else 16, 100) for number, day in enumerate(calm)]
    assert after(calm, 18).is_spike
    assert not after(bursty, 18).is_spike


@given(mean=st.floats(0.01, 500), scatter=st.floats(0.05, 3), count=st.integers(1, 400))
def test_tail_falls_with_the_count(mean, scatter, count):
    here, further = tail(count, mean, scatter), tail(count + 1, mean, scatter)
    assert 0 <= further <= here <= 1


@pytest.mark.parametrize(
    ("count", "mean", "scatter", "chance"),
    [
        # A geometric distribution: p = 1/3, (2/3)^count.
        pytest.param(5, 2.0, 1.0, (2 / 3) ** 5, id="geometric"),
        pytest.param(20, 2.0, 1.0, (2 / 3) ** 20, id="far out"),
        pytest.param(2, 2.0, 1.0, 1.0, id="not above the mean"),
    ],
)
def test_tail_is_that_of_a_negative_binomial(count, mean, scatter, chance):
    assert tail(count, mean, scatter) == pytest.approx(chance, rel=1e-6)


def test_false_alarms_are_rare_and_spikes_are_found():
    rates = simulate(days=120, seed=7)
    days = sum(rate.days for rate in rates)
    alarms = sum(rate.days * rate.false_alarms for rate in rates)
    assert alarms / days < 0.005
    big = next(rate for rate in rates if (rate.mean, rate.scatter) == (30.0, 0.1))
    assert dict(zip(TIMES, big.found, strict=True))[10] > 0.9
    assert simulate(days=8, seed=3) == simulate(days=8, seed=3)
