"""newscrawl serve: starts, refuses what would let everybody in, and ends."""

import json
import socket
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from newscrawl.storage import open_database
from tests.serving import asked, served

TOKEN = "correct-horse-battery"  # noqa: S105 - of a test


def test_named_database_is_served(tmp_path):
    open_database(f"sqlite:///{tmp_path}/news.sqlite").close()
    with served(tmp_path, "--database", "sqlite:///news.sqlite") as url:
        assert b"Who was in the news" in asked(url)
        assert json.loads(asked(f"{url}api/facts"))["rows"]["articles"] == 0


@pytest.mark.thorough
def test_head_is_answered_without_a_body(tmp_path):
    with open_database(f"sqlite:///{tmp_path / 'newscrawl.sqlite'}"), served(tmp_path) as address:
        for path in ("", "api/articles", "static/app.js"):
            request = Request(f"{address}{path}", method="HEAD")  # noqa: S310 - our own
            with urlopen(request, timeout=120) as answer:  # noqa: S310 - our own
                length = int(answer.headers["Content-Length"])
                assert (answer.status, answer.read()) == (200, b""), path
            assert len(asked(f"{address}{path}")) == length, path


@pytest.mark.thorough
def test_missing_database_is_served_once_it_exists(tmp_path):
    with served(tmp_path, "--database", "sqlite:///news.sqlite") as url:
        with pytest.raises(HTTPError) as refused:
            asked(url)
        with refused.value as answer:
            assert answer.code == 503
            assert b"crawl first" in answer.read()
        open_database(f"sqlite:///{tmp_path}/news.sqlite").close()
        assert b"Who was in the news" in asked(url)


def test_token_is_required_if_it_is_set(tmp_path):
    open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite").close()
    with served(tmp_path, "--host", "0.0.0.0", NEWSCRAWL_SERVE_TOKEN=TOKEN) as url:  # noqa: S104
        at = url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - the one that was asked for
        with pytest.raises(HTTPError) as refused:
            asked(f"{at}api/facts")
        with refused.value as answer:
            assert answer.code == 401
        assert asked(f"{at}api/facts", Authorization=f"Bearer {TOKEN}")


def test_used_port_is_named(newscrawl):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = newscrawl("serve", "--port", taken.getsockname()[1])
    assert ran.code == 2
    assert "Address already in use. --port 0" in ran.err
    assert "make serve PORT=" in ran.err


def test_make_serves_at_another_port():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text("utf-8")
    assert makefile.count("$(if $(PORT),--port $(PORT));") == 2
