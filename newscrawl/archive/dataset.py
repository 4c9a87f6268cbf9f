"""Write articles, mentions and matches of saved queries as Parquet datasets, in a folder or an
object store.

Rows are captures, partitioned by month and source. The files of a batch have names that depend on
the archive and the position in it; the new position is written after them. An interrupted batch is
removed before its part of the archive is read again (docs/archive.md).
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from newscrawl.archive import ArchiveError
from newscrawl.archive.remote import file_system, is_url, public_url, retry
from newscrawl.items import Origin
from newscrawl.storage.documents import Record, day_of
from newscrawl.storage.query_matches import SavedQueryTexts
from newscrawl.storage.rollups import is_counted
from newscrawl.storage.saved_state import Step, TaskProgress
from newscrawl.storage.search_language import Facts

# The version of the columns; a folder of another version is refused. Version 2 has scores, version
# 3 the matches of saved queries.
SCHEMA_VERSION: Final = 3
_ABOUT = "_newscrawl.json"
# Ours: articles of a batch, about 50 MB. Larger batches make fewer and larger files.
_BATCH: Final = 5_000
_ARTICLE_COLUMNS = {
    "url": "string",
    "seen_at": "timestamp",
    "day": "date",
    "title": "string",
    "text": "string",
    "authors": "strings",
    "published_at": "timestamp",
    "modified_at": "timestamp",
    "language": "string",
    "section": "string",
    "site_name": "string",
    "image": "string",
    "paywalled": "boolean",
    "access": "string",
    "kind": "string",
    "counted": "boolean",
    "method": "string",
    "confidence": "double",
    "content_hash": "string",
}
_MENTION_COLUMNS = {
    "url": "string",
    "seen_at": "timestamp",
    "day": "date",
    "company": "string",
    "surface": "string",
    "section": "string",
    "start": "integer",
    "end": "integer",
    "rule": "string",
    "score": "double",
}
_MATCH_COLUMNS = {
    "url": "string",
    "seen_at": "timestamp",
    "day": "date",
    "query": "string",
    "query_text": "string",
    "in_title": "integer",
    "in_body": "integer",
}
_COLUMNS: Final = {
    "articles": _ARTICLE_COLUMNS,
    "mentions": _MENTION_COLUMNS,
    "query_matches": _MATCH_COLUMNS,
}
_Rows = dict[tuple[str, str, str], list[dict[str, Any]]]


class Dataset:
    """A folder of the datasets `articles`, `mentions` and `query_matches`; `saved_queries` has
    texts by name. Raises ArchiveError."""

    def __init__(self, address: str, saved_queries: Mapping[str, str] | None = None) -> None:
        self._queries = SavedQueryTexts(saved_queries or {})
        self._countries: dict[str, str] = {}
        self._store = _RemoteFolder(address) if is_url(address) else _Folder(Path(address))
        self._records: list[Record] = []
        self._step: Step | None = None
        self._start = 0
        about = self._store.read(_ABOUT)
        if about is None:
            if self._store.has_files():
                raise ArchiveError(f"{address} holds other files: name a new or empty folder")
            self._write_json(_ABOUT, {"schema": SCHEMA_VERSION})
        elif (schema := json.loads(about).get("schema")) != SCHEMA_VERSION:
            raise ArchiveError(
                f"{address} has schema {schema}, this version writes {SCHEMA_VERSION}: name "
                "another folder"
            )
        _arrow_types()

    def progress(self, task: str) -> TaskProgress:
        """Return the progress of a task, after removing the files of an interrupted batch."""
        self.flush()
        saved = self._read_json(f"_progress/{_digest(task)}.json")
        done = TaskProgress()
        if saved:
            ended = saved["finished_at"]
            done = TaskProgress(
                position=saved["position"],
                counts=saved["counts"],
                finished_at=datetime.fromisoformat(ended) if ended else None,
            )
        pending = self._read_json(f"_progress/{_digest(task)}-batch.json")
        if pending and pending["start"] == done.position and not done.finished_at:
            for name in pending["files"]:
                self._store.delete(name)
        self._start = done.position
        return done

    def store(
        self,
        records: Sequence[Record],
        origins: Iterable[Origin],
        step_of: Callable[[Counter[str]], Step] | None,
    ) -> Counter[str]:
        """Add records to the batch, which is written when it is large or its file is finished."""
        counts = Counter(new=len(records), mentions=sum(len(record.mentions) for record in records))
        if step_of is None:
            raise ArchiveError("a part can't be written in pieces")
        for origin in origins:
            self._countries.setdefault(origin.slug, origin.country)
        step = step_of(counts)
        if self._step is not None and self._step.task != step.task:
            self.flush()
        self._records += records
        self._step = step
        if step.finished or len(self._records) >= _BATCH:
            self.flush()
        return counts

    def flush(self) -> None:
        """Write the batch, then the position after it."""
        step = self._step
        if step is None:
            return
        name = _digest(step.task)
        files = {
            f"{dataset}/month={month}/source={source}/{name}-{self._start:015d}.parquet": rows
            for (dataset, month, source), rows in self._rows().items()
        }
        self._write_json(
            f"_progress/{name}-batch.json", {"start": self._start, "files": list(files)}
        )
        import pyarrow  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415

        types = _arrow_types()
        for path, rows in files.items():
            columns = _COLUMNS[path.partition("/")[0]].items()
            schema = pyarrow.schema(
                [(name, types[kind]) for name, kind in columns],
                metadata={"newscrawl.schema": str(SCHEMA_VERSION)},
            )
            stream = BytesIO()
            table = pyarrow.Table.from_pylist(rows, schema=schema)
            parquet.write_table(table, stream, compression="zstd")
            self._store.write(path, stream.getvalue())
        self._write_json(
            f"_progress/{name}.json",
            {
                "task": step.task,
                "position": step.position,
                "counts": dict(step.counts),
                "finished_at": datetime.now(UTC).isoformat() if step.finished else None,
            },
        )
        self._start = step.position
        self._records, self._step = [], None

    def close(self) -> None:
        """Write the rest of the batch."""
        self.flush()

    def _rows(self) -> _Rows:
        """Return the rows by dataset, month and source."""
        rows: _Rows = defaultdict(list)
        for record in self._records:
            columns = record.columns
            day = day_of(columns["published_at"], record.seen_at)
            place = f"{day:%Y-%m}", record.source
            common = {"url": columns["url"], "seen_at": record.seen_at, "day": day}
            counted = is_counted(columns["access"], columns["kind"])
            facts = {"counted": counted, "content_hash": record.content_hash}
            rows["articles", *place].append({**columns, **common, **facts})
            for mention in record.mentions:
                values = {key: getattr(mention, key) for key in list(_MENTION_COLUMNS)[3:]}
                rows["mentions", *place].append({**common, **values})
            language, country = columns["language"], self._countries.get(record.source, "")
            searched = Facts(language, record.source, country)
            matches = self._queries.matches(record.wording, searched)
            for name, (in_title, in_body) in matches.items():
                match = {"query": name, "query_text": self._queries.texts[name]}
                hits = {"in_title": in_title, "in_body": in_body}
                rows["query_matches", *place].append({**common, **match, **hits})
        return rows

    def _read_json(self, name: str) -> Any:
        data = self._store.read(name)
        return None if data is None else json.loads(data)

    def _write_json(self, name: str, value: object) -> None:
        self._store.write(name, json.dumps(value).encode())


def _digest(task: str) -> str:
    return sha256(task.encode()).hexdigest()[:16]


def _arrow_types() -> dict[str, Any]:
    import pyarrow  # noqa: PLC0415 - an extra

    return {
        "string": pyarrow.string(),
        "strings": pyarrow.list_(pyarrow.string()),
        "timestamp": pyarrow.timestamp("us", tz="UTC"),
        "date": pyarrow.date32(),
        "boolean": pyarrow.bool_(),
        "double": pyarrow.float64(),
        "integer": pyarrow.int32(),
    }


class _Folder:
    """A folder whose files are written atomically."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> bytes | None:
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ArchiveError(f"can't read {self._root / name}: {error.strerror}") from error

    def write(self, name: str, data: bytes) -> None:
        path = self._root / name
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise ArchiveError(f"can't write {path}: {error.strerror}") from error

    def delete(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)

    def has_files(self) -> bool:
        return self._root.is_dir() and any(self._root.iterdir())


class _RemoteFolder:
    """The same in an object store."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._system = file_system(url)
        self._name = public_url(self._url)

    def read(self, name: str) -> bytes | None:
        def request() -> bytes | None:
            try:
                data: bytes = self._system.cat_file(f"{self._url}/{name}")
            except FileNotFoundError:
                return None
            return data

        return retry(request, f"can't read {self._name}/{name}")

    def write(self, name: str, data: bytes) -> None:
        retry(
            lambda: self._system.pipe_file(f"{self._url}/{name}", data),
            f"can't write {self._name}/{name}",
        )

    def delete(self, name: str) -> None:
        def request() -> None:
            try:
                self._system.rm_file(f"{self._url}/{name}")
            except FileNotFoundError:
                return

        retry(request, f"can't delete {self._name}/{name}")

    def has_files(self) -> bool:
        def request() -> bool:
            try:
                return bool(self._system.ls(self._url, detail=False))
            except FileNotFoundError:
                return False

        return retry(request, f"can't list {self._name}")
