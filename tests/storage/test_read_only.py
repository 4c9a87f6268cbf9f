"""A database that can't be written to: questions are answered, and who must write says so."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from newscrawl.storage import StorageError, engine as engines, open_database
from tests.site.crawling import PROJECT, crawl_environment
from tests.worlds import document, known_urls, register, save_document

# A folder is made read-only for one command, by a mount of its own that root can't write to either.
_MOUNT = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


def read_only(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    unshare = shutil.which("unshare")
    assert unshare is not None
    return subprocess.run(
        [unshare, "--mount", "sh", "-c", _MOUNT, "sh", str(folder), *command],
        cwd=PROJECT,
        env=crawl_environment(folder / "news.sqlite"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def newscrawl(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return read_only(folder, sys.executable, "-m", "newscrawl", *arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a database of one article, which can be mounted read-only."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here, by which a folder is made read-only")
    if read_only(folder, "touch", str(folder / "x")).returncode != 1 or (folder / "x").exists():
        pytest.skip("this user may not mount a folder read-only")
    with open_database(f"sqlite:///{folder}/news.sqlite") as opened:
        save_document(opened, document("a"), register(opened))
    return folder


def test_read_only_database_answers_questions(folder):
    assert not (folder / "news.sqlite-wal").exists()
    done = newscrawl(folder, "articles", "--since", "2000-01-01", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 1
    done = newscrawl(folder, "db", "info", "--format", "json")
    assert done.returncode == 0, done.stderr
    done = newscrawl(folder, "status")
    assert "Traceback" not in done.stderr
    assert "can't" not in done.stderr, done.stderr


@pytest.mark.thorough
def test_crawl_into_a_read_only_database_is_refused_in_one_line(folder):
    done = read_only(folder, sys.executable, "-m", "scrapy", "crawl", "ft")
    lines = [line for line in done.stderr.splitlines() if " INFO: " not in line]
    assert done.returncode == 2
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("newscrawl: can't "), lines
    assert "news.sqlite" in lines[0]


def test_unreadable_wal_is_reported(folder):
    with open_database(f"sqlite:///{folder}/news.sqlite") as opened:
        save_document(opened, document("b"), register(opened))
        # As a program leaves it that was killed.
        shutil.copytree(folder, folder / "copy")
    copy = folder / "copy"
    (copy / "news.sqlite-shm").unlink()
    assert (copy / "news.sqlite-wal").stat().st_size
    done = newscrawl(copy, "articles")
    assert done.returncode in {1, 2}
    assert "its last changes are in news.sqlite-wal" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_read_only_reader_sees_changes_of_a_writer(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "may_write", lambda _file: False)
    url = f"sqlite:///{tmp_path}/news.sqlite"
    with open_database(url) as writer, open_database(url, create=False) as reader:
        for name in ("a", "b"):
            save_document(writer, document(name), register(writer))
            urls = {f"https://ft.example/{name}"}
            assert known_urls(reader, urls) == urls
        with pytest.raises(StorageError, match=r"can't write to the database .*readonly"):
            register(reader)
