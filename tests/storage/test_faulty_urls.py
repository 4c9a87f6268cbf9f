"""Database URLs with a mistake: no part of their password is shown or looked up as a host."""

import logging
import socket
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.site.crawling import crawl

# No three characters of it are in a message of ours.
PASSWORD = ("zqx7", "vjk9", "wqz3")
FIRST, SECOND, THIRD = PASSWORD

REFUSED = {
    "an @": "postgresql://u:{0}@{1}@127.0.0.1:1/db",
    "two @": "postgresql://u:{0}@{1}@{2}@127.0.0.1:1/db",
    "an @ and a slash": "postgresql://u:{0}@{1}/{2}@127.0.0.1:1/db",
    "an @ and a question mark": "postgresql://u:{0}@{1}?{2}@127.0.0.1:1/db",
    "an @ and a colon": "postgresql://u:{0}@{1}:{2}@127.0.0.1:1/db",
    "a hash": "postgresql://u:{0}#{1}@127.0.0.1:1/db",
    "a slash": "postgresql://u:{0}/{1}@127.0.0.1:1/db",
    "a question mark": "postgresql://u:{0}?{1}@127.0.0.1:1/db",
    "a parameter": "postgresql://u:{0}?{1}={2}@127.0.0.1:1/db",
    "a blank": "postgresql://u:{0} {1}@127.0.0.1:1/db",
    "a blank host": "postgresql://u:{0}{1}@my host:1/db",
    "no host and no @": "postgresql://u:{0}{1}/db",
    "letters in the port": "postgresql://u:{0}@127.0.0.1:{1}/db",
    "an open bracket": "postgresql://u:{0}@[::1:{1}/db",
    "a colon within the user": "postgresql://u%3A{0}{1}@127.0.0.1:1/db",
    "no scheme": "u:{0}{1}@127.0.0.1:1/db",
    "one slash": "postgresql:/u:{0}{1}@127.0.0.1:1/db",
    "quoted": '"postgresql://u:{0}{1}@127.0.0.1:1/db"',
    "another driver": "postgresql+asyncpg://u:{0}@{1}@127.0.0.1:1/db",
    "another database": "mysql://u:{0}@{1}@127.0.0.1:1/db",
    "an @ in a parameter": "postgresql://127.0.0.1:1/db?user=u&password={0}@{1}",
    "a parameter before the host": "postgresql://db?password={0}:{1}@127.0.0.1:1/db",
    "a file behind a host": "sqlite://u:{0}@{1}/news.sqlite",
}
ACCEPTED = {
    "right": "postgresql://u:{0}{1}@127.0.0.1:1/db?connect_timeout=2",
    "written as %40": "postgresql://u:{0}%40{1}%2F{2}@127.0.0.1:1/db?connect_timeout=2",
    "in a parameter": "postgresql://u@127.0.0.1:1/db?password={0}%40{1}&connect_timeout=2",
    "a parameter of no meaning": "postgresql://u:{0}{1}@127.0.0.1:1/db?bogus=1",
    "a wrong value": "postgresql://u:{0}{1}@127.0.0.1:1/db?sslmode=bogus",
    "no such port": "postgresql://u:{0}{1}@127.0.0.1:99999/db",
}


def parametrised(forms: dict[str, str]) -> Any:
    return pytest.mark.parametrize("form", forms.values(), ids=forms)


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts that are looked up or connected to."""
    hosts: list[str] = []
    connect, look_up = psycopg.connect, socket.getaddrinfo

    def recorded_connect(dsn: str = "", **parameters: Any) -> Any:
        hosts.append(str(conninfo_to_dict(dsn, **parameters).get("host")))
        return connect(dsn, **parameters)

    def recorded_look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        hosts.append(str(host))
        return look_up(host, *arguments, **options)

    monkeypatch.setattr(psycopg, "connect", recorded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", recorded_look_up)
    return hosts


def shown_parts(text: str) -> list[str]:
    """The parts of the password, of three characters and more, that the text has."""
    triples = {part[place : place + 3] for part in PASSWORD for place in range(len(part) - 2)}
    return sorted(part for part in triples if part in text)


@parametrised(REFUSED)
def test_faulty_database_url_is_refused_before_a_connection(newscrawl, hosts, caplog, form):
    with caplog.at_level(logging.DEBUG):
        ran = newscrawl("status", "--database", form.format(*PASSWORD))
    assert ran.code == 2
    assert "database" in ran.err
    assert len(ran.err.splitlines()) <= 5
    assert not shown_parts(ran.out + ran.err + caplog.text)
    assert hosts == []


@parametrised(ACCEPTED)
def test_password_of_an_unreachable_database_is_hidden(newscrawl, hosts, caplog, form):
    with caplog.at_level(logging.DEBUG):
        ran = newscrawl("status", "--database", form.format(*PASSWORD))
    assert ran.code == 2
    assert "can't reach the database" in ran.err
    assert not shown_parts(ran.out + ran.err + caplog.text)
    assert set(hosts) <= {"127.0.0.1"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "postgresql://u:{0}{1}@127.0.0.1:1/db"),
        ("status", "--database", "postgresql://u:{0}", "{1}", "{2}@127.0.0.1:1/db"),
        ("postgresql://u:{0}{1}@127.0.0.1:1/db",),
    ],
    ids=["without its option", "split at blanks", "in place of a command"],
)
def test_url_in_the_wrong_place_is_not_shown(newscrawl, arguments):
    ran = newscrawl(*(argument.format(*PASSWORD) for argument in arguments))
    assert ran.code == 2
    assert "it may have a password" in ran.err
    assert not shown_parts(ran.out + ran.err)


@pytest.mark.thorough
def test_crawl_with_a_faulty_database_url_shows_nothing_of_it(tmp_path):
    url = REFUSED["an @ and a slash"].format(*PASSWORD)
    done = crawl("ft", database=tmp_path / "x", environment={"NEWSCRAWL_DATABASE_URL": url})
    assert done.code == 2
    assert "the database URL doesn't show where its password ends" in done.output
    assert not shown_parts(done.output)
