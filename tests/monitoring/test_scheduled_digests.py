"""Digests that the monitor sends: at their time, late after a pause, and once to each recipient."""

import os
import signal
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import update

from newscrawl.config import SettingError, digest_times
from newscrawl.monitoring.digests import DigestPlan, due_digests, send_due_digests
from newscrawl.storage import Database, open_database
from newscrawl.storage.company_alerts import (
    UNCONFIRMED,
    CompanyAlert,
    Recipient,
    add_recipient,
    claim_digest,
    release_digest,
    sent_notices,
)
from newscrawl.storage.models import CompanyAlert as AlertRow, SentNotice as SentRow
from tests.receivers import Hook, Inbox
from tests.worlds import body, document, register, save_documents

# A Friday.
FRIDAY = date(2026, 11, 20)
BERLIN = "monday 07:00 Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def plan(setting: str = "daily 07:00", **more: object) -> DigestPlan:
    return DigestPlan(times=digest_times("NEWSCRAWL_DIGEST", setting), **more)  # type: ignore[arg-type]


def fill(database: Database, days: int = 1) -> None:
    """Articles about Siemens on Friday and the days before, on which alone a source was read."""
    run = register(database)
    pages = [
        document(
            f"n-{number}",
            text=f"Siemens builds tram {number}.",
            mentions=[body("Siemens")],
            published=datetime.combine(FRIDAY - timedelta(days=number), datetime.min.time(), UTC),
        )
        for number in range(days)
    ]
    save_documents(database, pages, run)
    for number in range(days):
        database.record_coverage("ft", FRIDAY - timedelta(days=number), "ok", 1, 1)


@pytest.fixture
def world(database: Database, hook: Hook, inbox: Inbox) -> Database:
    """News of Friday, and two recipients: a desk by e-mail and a room by webhook."""
    fill(database)
    add_recipient(database, Recipient(name="desk", kind="e-mail", address="desk@example.org"))
    add_recipient(database, Recipient(name="room", kind="webhook", address=hook.url))
    return database


# When ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "now", "moment"),
    [
        ("daily 07:00", "2026-11-21T06:59", "2026-11-21T07:00"),
        ("daily 07:00", "2026-11-21T07:00", "2026-11-22T07:00"),
        ("Monday 07:00", "2026-11-23T07:00", "2026-11-30T07:00"),
        (BERLIN, "2026-11-21T00:00", "2026-11-23T06:00"),
        (BERLIN, "2026-07-01T00:00", "2026-07-06T05:00"),
    ],
)
def test_next_digest_follows_the_clock_of_its_time_zone(setting, now, moment):
    (time,) = digest_times("NEWSCRAWL_DIGEST", setting)
    assert next(later for later in time.moments(at(now)) if later > at(now)) == at(moment)


@pytest.mark.parametrize(
    "setting",
    [
        "07:00",
        "monday",
        "monday 25:00",
        "mon 07:00",
        "daily 07:00 Mars",
        "daily 07:00 ../etc",
        "daily 07:00, daily 08:00",
    ],
)
def test_invalid_schedule_is_refused_in_one_line(setting):
    with pytest.raises(SettingError, match=r"^NEWSCRAWL_DIGEST=.*: write daily 07:00") as caught:
        digest_times("NEWSCRAWL_DIGEST", setting)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "now", "due"),
    [
        ("", "2026-11-21T12:00", []),
        ("daily 07:00", "2026-11-21T06:59", [("daily", 19)]),
        ("daily 07:00", "2026-11-21T07:00", [("daily", 20)]),
        ("monday 07:00", "2026-11-21T12:00", [("weekly", 15)]),
        ("monday 07:00", "2026-11-22T23:59", [("weekly", 15)]),
        # Its week ended a week ago, and the next one is not due.
        ("monday 07:00", "2026-11-23T00:00", []),
        ("monday 07:00", "2026-11-23T07:00", [("weekly", 22)]),
        ("monday 07:00, daily 08:00", "2026-11-23T09:00", [("weekly", 22), ("daily", 22)]),
        # Monday has begun in Tokyo, and has not in New York.
        ("monday 07:00 Asia/Tokyo", "2026-11-22T22:00", [("weekly", 22)]),
        ("daily 07:00 Asia/Tokyo", "2026-11-20T22:00", [("daily", 20)]),
        ("monday 22:00 America/New_York", "2026-11-24T03:00", [("weekly", 22)]),
    ],
)
def test_digest_is_due_from_its_time_until_a_week_after_its_days(database, setting, now, due):
    digests_and_days = due_digests(database, plan(setting).times, at(now))
    assert [(digest.span, last.day) for digest, last in digests_and_days] == due


def record(database: Database, day: int, *, done: bool) -> None:
    """A daily digest that was begun, and that all have if it is `done`."""
    last = date(2026, 11, day)
    digest = CompanyAlert(cause=f"digest/daily/{last}", kind="digest", company="", day=last)
    stored = claim_digest(database, digest)
    release_digest(database, stored.number, done=done)


def test_all_digests_that_a_pause_missed_are_due_and_none_of_before(database):
    record(database, 16, done=True)
    record(database, 18, done=False)
    due = due_digests(database, plan().times, at("2026-11-21T12:00"))
    assert [last.day for _, last in due] == [17, 18, 19, 20]


# To whom ---------------------------------------------------------------------------------------


def test_due_digest_is_sent_once_with_its_report(world, hook, inbox):
    now = at("2026-11-21T07:00")
    assert send_due_digests(world, plan(report="html"), at("2026-11-21T06:59")) == []
    assert hook.taken == []  # the day before was not read
    for minutes in (0, 5, 600):
        moment = now + timedelta(minutes=minutes)
        assert send_due_digests(world, plan(report="html"), moment) == []
    (message,) = inbox.messages
    assert message["Subject"] == "Companies in the news on 2026-11-20"
    assert [file.get_content_type() for file in message.iter_attachments()] == ["text/html"]
    assert [notice["facts"]["companies"] for notice in hook.notices] == [{"Siemens": 1}]
    assert [notice.fault for notice in sent_notices(world, 9)] == ["", ""]
    # Who comes later gets the next one.
    add_recipient(world, Recipient(name="late", kind="webhook", address=hook.url))
    assert send_due_digests(world, plan(), now + timedelta(hours=1)) == []
    assert len(hook.taken) == 1


def test_days_of_a_digest_are_those_of_its_time_zone(database, hook):
    add_recipient(database, Recipient(name="room", kind="webhook", address=hook.url))
    run = register(database)
    pages = [
        document(name, text=f"Siemens builds {name}.", mentions=[body("Siemens")], published=when)
        for name, when in (
            ("late", at("2026-11-20T15:00")),  # on Saturday in Tokyo
            ("later", at("2026-11-20T16:00")),
            ("early", at("2026-11-20T14:59")),
            ("morning", at("2026-11-19T15:00")),  # on Friday in Tokyo
            ("earlier", at("2026-11-19T14:59")),
        )
    ]
    save_documents(database, pages, run)
    for day in (19, 20):
        database.record_coverage("ft", date(2026, 11, day), "ok", 2, 2)
    assert send_due_digests(database, plan("daily 07:00 Asia/Tokyo"), at("2026-11-20T22:00")) == []
    (notice,) = hook.notices
    assert notice["subject"] == "Companies in the news on 2026-11-20"
    assert notice["facts"]["companies"] == {"Siemens": 2}
    assert "Days are those of Asia/Tokyo." in notice["text"]


def test_recipient_of_alerts_gets_no_digest(database, hook):
    fill(database)
    alerts = Recipient(name="room", kind="webhook", address=hook.url, gets=("alerts",))
    add_recipient(database, alerts)
    assert send_due_digests(database, plan(), at("2026-11-21T07:00")) == []
    assert hook.taken == []


def test_failure_is_repeated_after_an_hour_for_this_recipient_alone(world, hook, inbox):
    inbox.refuse = True
    now = at("2026-11-21T07:00")
    (failure,) = send_due_digests(world, plan(), now)
    assert failure.channel == "desk"
    inbox.refuse = False
    # The record has the time of the database's clock.
    world.write(lambda session: session.execute(update(SentRow).values(sent_at=now)))
    assert send_due_digests(world, plan(), now + timedelta(minutes=59)) == []
    assert inbox.messages == []
    assert send_due_digests(world, plan(), now + timedelta(minutes=60)) == []
    assert (len(inbox.messages), len(hook.taken)) == (1, 1)


def test_digest_that_another_worker_sends_is_left_to_it(world, hook):
    digest = CompanyAlert(cause="digest/daily/2026-11-20", kind="digest", company="", day=FRIDAY)
    stored = claim_digest(world, digest)
    assert stored is not None
    assert send_due_digests(world, plan(), at("2026-11-21T07:00")) == []
    assert hook.taken == []
    release_digest(world, stored.number, done=False)
    send_due_digests(world, plan(), at("2026-11-21T08:00"))
    assert len(hook.taken) == 1


def test_stop_leaves_the_rest_for_later(world, hook, inbox):
    now = at("2026-11-21T07:00")
    assert send_due_digests(world, plan(), now, lambda: bool(inbox.messages)) == []
    assert (len(inbox.messages), len(hook.taken)) == (1, 0)
    assert send_due_digests(world, plan(), now) == []
    assert (len(inbox.messages), len(hook.taken)) == (1, 1)


def test_nobody_gets_a_digest_twice_after_a_kill_between_sending_and_recording(tables_url, hook):
    with open_database(tables_url) as database:
        fill(database)
        for name in ("first", "second"):
            add_recipient(database, Recipient(name=name, kind="webhook", address=hook.url))
        command = ["digest", "--send", "--day", str(FRIDAY), "--database", tables_url]
        process = subprocess.Popen(
            [sys.executable, "-m", "newscrawl", *command],
            env={**os.environ, "NEWSCRAWL_WEBHOOK_PRIVATE": "yes"},
        )
        hook.before_answer = process.kill
        assert process.wait(timeout=120) == -signal.SIGKILL
        assert len(hook.taken) == 1
        hook.before_answer = None
        # The worker's claim ends ten minutes later.
        database.write(lambda session: session.execute(update(AlertRow).values(claimed_until=None)))
        now = at("2026-11-21T07:00")
        for _ in range(2):
            assert send_due_digests(database, plan(), now) == []
        assert len(hook.taken) == 2
        faults = {notice.recipient: notice.fault for notice in sent_notices(database, 9)}
    assert faults == {"first": UNCONFIRMED, "second": ""}
