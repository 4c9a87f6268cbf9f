"""Background jobs of the dashboard: find mentions again, and count queries."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread

from newscrawl.archive.reread import Rematch, RematchResult
from newscrawl.mentions import CompaniesError
from newscrawl.storage import Database, StorageError, open_database
from newscrawl.storage.mentions import count_texts
from newscrawl.storage.queries import Scope
from newscrawl.storage.saved_queries import count_history

logger = logging.getLogger(__name__)

# Ours: sentences of each company in a preview, and processes, which leave the server's thread free.
EXAMPLES = 3
WORKERS = 2


class JobRunningError(Exception):
    """Only one job runs at a time."""


class _StoppedError(Exception):
    """The user has stopped the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """What a page shows of the job: `preview` is one that writes nothing, `what` its subject."""

    preview: bool
    what: str
    running: bool = True
    done: int = 0
    total: int = 0
    report: RematchResult | None = None
    fault: str | None = None


def find_mentions_again(
    database: Database,
    companies: Path | None,
    dry_run: bool,
    on_progress: Callable[[int], None],
    articles: Sequence[int] | None = None,
) -> RematchResult:
    """Find the mentions of stored articles again, as `newscrawl rematch` does: of all, or some."""
    task = Rematch(
        database,
        companies,
        Scope(),
        workers=WORKERS if articles is None else 1,
        dry_run=dry_run,
        examples=EXAMPLES,
        articles=articles,
    )
    if done_before := task.done_before:
        on_progress(count_texts(database, Scope()) - count_texts(database, Scope(), done_before))
    return task.run(on_progress)


class RematchJob:
    """The job that runs, or the last one that ran. Safe to share between threads."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._lock = Lock()
        self._stopped = Event()
        self._state: JobState | None = None
        self._waiting: list[tuple[Path, str, Sequence[int]]] = []

    @property
    def state(self) -> JobState | None:
        """Return the state of the job, None before the first one."""
        return self._state

    def rematch(self, companies: Path | None) -> None:
        """Begin to find all mentions again by the companies file; raise JobRunningError."""
        self._start(JobState(preview=False, what="all stored articles"), lambda _folder: companies)

    def rematch_articles(self, companies: Path, what: str, articles: Sequence[int]) -> None:
        """Find the mentions of some articles again, once the job that runs has ended."""
        try:
            state = JobState(preview=False, what=what)
            self._start(state, lambda _folder: companies, articles)
        except JobRunningError:
            self._waiting.append((companies, what, articles))

    def preview(self, text: str, name: str) -> None:
        """Begin to try a companies file of this text, after a change of the company `name`; raise
        JobRunningError."""

        def write(folder: Path) -> Path:
            file = folder / "companies.toml"
            file.write_text(text, "utf-8")
            return file

        self._start(JobState(preview=True, what=name), write)

    def stop(self) -> None:
        """Stop the job; a job that writes continues where it stopped when it is started again."""
        self._stopped.set()

    def _start(
        self,
        state: JobState,
        file_in: Callable[[Path], Path | None],
        articles: Sequence[int] | None = None,
    ) -> None:
        with self._lock:
            if self._state is not None and self._state.running:
                raise JobRunningError
            self._stopped.clear()
            self._state = state
        work = partial(self._run, state, file_in, articles)
        Thread(target=work, daemon=True, name="rematch").start()

    def _run(
        self,
        state: JobState,
        file_in: Callable[[Path], Path | None],
        articles: Sequence[int] | None,
    ) -> None:
        fault = "It failed: see the output of newscrawl serve for the error."
        report = None
        try:
            with (
                TemporaryDirectory(prefix="newscrawl-rematch-") as folder,
                open_database(self._url, create=False) as database,
            ):
                total = count_texts(database, Scope()) if articles is None else len(articles)
                self._change(total=total)
                report = find_mentions_again(
                    database, file_in(Path(folder)), state.preview, self._advance, articles
                )
        except _StoppedError:
            fault = "It was stopped."
        except (StorageError, CompaniesError, OSError) as error:
            fault = f"{error}."
        finally:
            self._change(running=False, report=report, fault=None if report else fault)
        if self._waiting:
            self.rematch_articles(*self._waiting.pop(0))

    def _advance(self, articles: int) -> None:
        if self._stopped.is_set():
            raise _StoppedError
        state = self._state
        self._change(done=articles + (state.done if state else 0))

    def _change(self, **changes: object) -> None:
        if self._state is not None:
            self._state = replace(self._state, **changes)  # type: ignore[arg-type]


class CountingJobs:
    """The counts that run, a thread for each query; safe to share between threads. The next server
    continues a count that ended with its server."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._lock = Lock()
        self._progress: dict[str, tuple[int, int]] = {}

    def progress(self, name: str) -> tuple[int, int] | None:
        """Return the numbers of finished articles and of all; None if the query is not counted."""
        return self._progress.get(name)

    def start(self, name: str) -> None:
        """Begin or continue to count a query, unless a count is running."""
        with self._lock:
            if name in self._progress:
                return
            self._progress[name] = (0, 0)
        Thread(target=self._run, args=(name,), daemon=True, name="count").start()

    def _run(self, name: str) -> None:
        def advance(done: int, of: int) -> None:
            self._progress[name] = (done, of)

        try:
            with open_database(self._url, create=False) as database:
                count_history(database, name, advance)
        except StorageError as error:
            logger.warning("the saved query %s is not counted: %s", name, error)
        finally:
            with self._lock:
                del self._progress[name]
