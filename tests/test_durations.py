"""Times in settings and options: all take the same forms."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from newscrawl import config
from newscrawl.cli.database import retention_time
from newscrawl.config import SettingError
from newscrawl.storage.frontier.listings import schedule_of

IN_SECONDS = (
    *("NEWSCRAWL_RETRY_AFTER_MAX", "NEWSCRAWL_RETRY_PAUSE", "NEWSCRAWL_CRAWL_DELAY_MAX"),
    *("NEWSCRAWL_LEASE", "NEWSCRAWL_LONGEST_CRAWL", "NEWSCRAWL_STALL_TIMEOUT"),
    "NEWSCRAWL_MONITOR_PAUSE",
)
IN_DAYS = ("NEWSCRAWL_KEEP", "NEWSCRAWL_RECENT_DAYS")
FORMS = {
    "864000s": timedelta(days=10),
    "14400m": timedelta(days=10),
    "240h": timedelta(days=10),
    "10d": timedelta(days=10),
}


def _seconds(name: str) -> Callable[[str], timedelta]:
    return lambda text: timedelta(seconds=config.seconds(name, text))


def _poll_max(text: str) -> timedelta:
    return schedule_of({**vars(config), "NEWSCRAWL_POLL_MAX": text}).poll_max


def _poll_min(text: str) -> timedelta:
    settings = {**vars(config), "NEWSCRAWL_POLL_MIN": text, "NEWSCRAWL_POLL_MAX": "30d"}
    return schedule_of(settings).poll_min


PARSERS: dict[str, Callable[[str], timedelta]] = {
    **{name: _seconds(name) for name in IN_SECONDS},
    "NEWSCRAWL_POLL_MIN": _poll_min,
    "NEWSCRAWL_POLL_MAX": _poll_max,
    **{name: partial(config.days, name) for name in IN_DAYS},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PARSERS)
def test_settings_take_the_same_forms(name, form):
    assert PARSERS[name](form) == FORMS[form]


@pytest.mark.parametrize("name", PARSERS)
def test_number_alone_is_in_the_unit_of_the_setting(name):
    if name in IN_SECONDS:
        assert PARSERS[name]("864000") == timedelta(days=10)
    elif name in IN_DAYS:
        assert PARSERS[name]("10") == timedelta(days=10)
    else:
        with pytest.raises(SettingError, match=f"{name}=10: not"):
            PARSERS[name]("10")


@pytest.mark.parametrize("text", ["soon", "-1d", "1w"])
@pytest.mark.parametrize("name", PARSERS)
def test_other_forms_are_refused_in_one_line(name, text):
    with pytest.raises(SettingError, match=f"^{name}={text}: not "):
        PARSERS[name](text)


@pytest.mark.parametrize("text", ["20", "20d", "480h", "28800m"])
def test_retention_takes_the_same_forms(text):
    assert retention_time(text) == timedelta(days=20)


@pytest.mark.parametrize("every", ["soon", "0.1", "0s"])
def test_pause_of_the_watch_is_a_time(newscrawl, every):
    ran = newscrawl("status", "--watch", "--every", every)
    assert ran.code == 2
    assert "--every" in ran.err
