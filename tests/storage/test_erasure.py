"""The files of an SQLite database hold no word of a deleted text."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from threading import Thread

import pytest

from newscrawl.items import Document
from newscrawl.storage import Database, StorageError, deletion, open_database, queries
from newscrawl.storage.deletion import (
    MIN_KEEP,
    articles_of,
    articles_under,
    delete_articles,
    erase_deleted,
    prune_daily,
    reduce_articles,
)
from tests.worlds import LONG, document, moment, register, save_document

URL = "https://ft.example/secret"
# No word of these begins as another one, so that the index, which leaves out equal beginnings,
# has each of them whole.
TITLE = "Quagmire Bzzrt"
FIRST = "Xylograph umlaufbahn. Jjkrwq vvortex. "
SECOND = "Zwickmühle ypsilon. Fjordland okapi. "
RARE = f"{TITLE} {FIRST} {SECOND}".replace(".", "").casefold().split()


@pytest.fixture
def file(sqlite_template: Path, tmp_path: Path) -> Path:
    return Path(copyfile(sqlite_template, tmp_path / "news.sqlite"))


@pytest.fixture
def news(file: Path) -> Iterator[Database]:
    """Sixty articles stored one by one, one of them in two versions."""
    with open_database(f"sqlite:///{file}") as database:
        run = register(database)
        for number in range(60):
            save_document(database, other(number), run)
            if number in {20, 40}:
                secret = FIRST if number == 20 else f"{FIRST}{SECOND}"
                page = document(
                    "secret", title=TITLE, text=secret * 40 + LONG, fetched_at=moment(number)
                )
                save_document(database, page, run)
        yield database


def other(number: int) -> Document:
    text = f"Article {number} stays. {LONG} {'word' * number}"
    return document(f"other-{number}", title=f"Nothing {number}", text=text)


def rest(file: Path) -> set[str]:
    """The rare words that the files of the database hold, in any case."""
    paths = [file.with_name(f"{file.name}{end}") for end in ("", "-wal")]
    content = b"".join(path.read_bytes() for path in paths if path.exists())
    text = content.decode("utf-8", "replace").casefold()
    return {word for word in RARE if word in text or word.replace("ü", "u") in text}


def delete(database: Database) -> bool:
    (article,), _ = articles_under(database, [URL])
    return delete_articles(database, [article.number])


def test_files_hold_no_word_of_a_deleted_article(file, news):
    assert rest(file) == set(RARE)
    assert delete(news)
    assert rest(file) == set()
    assert len(queries.search(news, "stays", limit=100)) == 60
    news.rebuild()
    assert rest(file) == set()


def test_files_hold_no_word_of_a_reduced_article(file, news):
    (article,), _ = articles_under(news, [URL])
    reduce_articles(news, {article.number: document("secret", title="Reduced", text="")})
    assert erase_deleted(news)
    assert rest(file) == set()


def test_crawls_store_articles_while_words_are_erased(file, news, monkeypatch):
    monkeypatch.setattr(deletion, "_STEP", 1)
    run = news.start_run("ft")
    stored = []

    def crawl() -> None:
        stored.extend(save_document(news, other(number), run) for number in range(100, 140))

    steps = 0

    def store_after_first_step() -> bool:
        nonlocal steps
        steps += 1
        if steps == 1:
            crawling = Thread(target=crawl)
            crawling.start()
            crawling.join()
        return False

    (article,), _ = articles_under(news, [URL])
    monkeypatch.setattr(
        "newscrawl.storage.deletion.erase_deleted",
        lambda database: erase_deleted(database, store_after_first_step),
    )
    assert delete_articles(news, [article.number])
    assert steps > 1
    assert [result.outcome for result in stored] == ["new"] * 40
    assert rest(file) == set()
    assert len(queries.search(news, "stays", limit=200)) == 100


def test_interrupted_erasure_is_finished_by_the_daily_pruning(file, news, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(deletion, "_merge", killed)
        with pytest.raises(StorageError, match="killed"):
            delete(news)
    assert queries.search(news, TITLE) == []
    assert rest(file) != set()
    prune_daily(news, MIN_KEEP)
    assert rest(file) == set()


def killed(*_: object) -> bool:
    raise StorageError("killed")


def test_reader_that_uses_the_journal_delays_its_erasure(file, news):
    with closing(sqlite3.connect(file)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM articles").fetchone()
        assert not delete(news)
        reader.rollback()
    assert rest(file) != set()
    assert delete_articles(news, [])
    assert rest(file) == set()


def test_vacuum_brings_no_word_back(file, news):
    before = [article.number for article in articles_of(news, "ft")]
    assert len(before) == 61
    assert delete_articles(news, before)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("VACUUM")
    assert rest(file) == set()
    assert b"stays" not in file.read_bytes()
