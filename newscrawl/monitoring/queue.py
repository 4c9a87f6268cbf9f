"""The queue of crawls to be started, kept by huey: in a file, in PostgreSQL or in Redis."""

import json
import logging
import re
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from huey import PostgresHuey, RedisHuey, SqliteHuey
from huey.api import Huey
from huey.exceptions import ConfigurationError
from huey.registry import Message
from huey.serializer import Serializer

from newscrawl.config import SettingError

_NAME = "newscrawl"
_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+psycopg)?://")
_REDIS = re.compile(r"(?:rediss?|unix)://")
_SQLITE = re.compile(r"sqlite(?:\+pysqlite)?:///?")
# Seconds that a worker waits at the queue before it looks whether it is to stop.
_WAIT = 1
_AGAIN = 0.2


class QueueError(Exception):
    """The queue can't be reached any more: one line that says why."""


class OneLineFilter(logging.Filter):
    """Tells of a queue that can't be reached in a line, and once a minute at most; huey tells of
    each try, with a traceback."""

    def __init__(self, pause: float = 60.0) -> None:
        super().__init__()
        self._pause = pause
        self._told_at = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, queue_errors()):
            return True
        now = time.monotonic()
        if now - self._told_at < self._pause:
            return False
        self._told_at = now
        record.msg, record.args, record.exc_info = told(error), (), None
        return True


def told(error: Exception) -> str:
    """What a queue that fails says, in a line."""
    return f"the queue can't be reached: {' '.join(str(error).split())}"


class JsonSerializer(Serializer):  # type: ignore[misc]
    """Tasks as JSON. huey's own way, pickle, would let whoever may write into the queue run
    what he likes; a task of ours is a name and a few words."""

    def _serialize(self, data: Message) -> bytes:
        return json.dumps([data.id, data.name, data.args, data.kwargs, data.priority]).encode()

    def _deserialize(self, data: bytes) -> Message:
        number, name, args, kwargs, priority = json.loads(data)
        return Message(
            id=number,
            name=name,
            args=args,
            kwargs=kwargs,
            priority=priority,
            retries=0,
            retry_delay=0,
            retry_backoff=0,
        )


def open_queue(database_url: str, queue_url: str = "") -> Huey:
    """The queue at its own URL, or else beside the articles: a file next to SQLite's, tables of
    its own in PostgreSQL. Raises SettingError where that can't be."""
    url = queue_url or _beside(database_url)
    shared: dict[str, Any] = {"results": False, "serializer": JsonSerializer()}
    try:
        if _SQLITE.match(url):
            file = _SQLITE.sub("", url) or "newscrawl.queue.sqlite"
            return SqliteHuey(_NAME, filename=file, **shared)
        if _POSTGRES.match(url):
            return _in_postgres(_POSTGRES.sub("postgresql://", url), shared)
        if _REDIS.match(url):
            return _in_redis(url, shared)
    except ConfigurationError as error:
        kind = "postgres" if _POSTGRES.match(url) else "redis"
        raise SettingError(
            f"the queue needs a driver that is not installed: pip install 'newscrawl[{kind}]'"
        ) from error
    raise SettingError(
        "NEWSCRAWL_QUEUE_URL: not a URL of SQLite, PostgreSQL or Redis; as in "
        "redis://host:6379/0 (left empty, the queue is kept beside the database)"
    )


def queue_errors() -> tuple[type[Exception], ...]:
    """What a queue raises whose database fails; huey has no name of its own for it."""
    found: list[type[Exception]] = [sqlite3.Error]
    with suppress(ImportError):
        import psycopg  # noqa: PLC0415 - an extra

        found.append(psycopg.Error)
    with suppress(ImportError):
        import redis  # noqa: PLC0415 - an extra

        found.append(redis.RedisError)
    return tuple(found)


def _in_postgres(dsn: str, shared: dict[str, Any]) -> Huey:
    """The queue in PostgreSQL. Of workers that start at the same moment only one can make its
    tables, "if not exists" or not: the others find them at their second try."""
    import psycopg  # noqa: PLC0415 - an extra: SQLite needs none

    while True:
        try:
            return PostgresHuey(
                _NAME, dsn=dsn, table_prefix="newscrawl_queue", read_timeout=_WAIT, **shared
            )
        except (  # the table, its type or their names: what stands in the way is a matter of chance
            psycopg.errors.DuplicateTable,
            psycopg.errors.DuplicateObject,
            psycopg.errors.UniqueViolation,
        ):
            time.sleep(_AGAIN)
        except psycopg.OperationalError as error:
            cause = " ".join(str(error).split())
            raise SettingError(f"can't reach the queue in PostgreSQL: {cause}") from error


def _in_redis(url: str, shared: dict[str, Any]) -> Huey:
    queue = RedisHuey(_NAME, url=url, read_timeout=_WAIT, **shared)
    import redis  # noqa: PLC0415 - an extra, which is there where RedisHuey could be made

    try:
        queue.pending_count()
    except redis.RedisError as error:
        raise SettingError(f"NEWSCRAWL_QUEUE_URL: {told(error)}") from error
    return queue


def _beside(database_url: str) -> str:
    if not _SQLITE.match(database_url):
        return database_url
    file = Path(_SQLITE.sub("", database_url.partition("?")[0]))
    return f"sqlite:///{file.with_suffix('.queue.sqlite')}"
