"""Complete crawls as users start them: `scrapy crawl` in a separate process."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from newscrawl.sources import Source
from newscrawl.sources.registry import add_source

PROJECT = Path(__file__).parents[2]
# Requests to the test server need no delay; a Crawl-delay of its robots.txt is still obeyed. On a
# busy machine the server may answer late: tests of sites that don't answer add IMPATIENT.
HASTE = {
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_START_DELAY": "0",
    "NEWSCRAWL_RETRY_PAUSE": "0.2",
    "DOWNLOAD_TIMEOUT": "30",
}
IMPATIENT = {"DOWNLOAD_TIMEOUT": "4"}


@dataclass(frozen=True, slots=True)
class Crawl:
    """The exit code, log, database and statistics of a crawl."""

    code: int
    output: str
    database: Path
    counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def ended(cls, code: int, output: str, database: Path) -> Self:
        """Return a crawl with the counts of its run; one that was refused has none."""
        query = "SELECT counts FROM runs ORDER BY id DESC LIMIT 1"
        for run in rows_of(database, query) if database.exists() else ():
            return cls(code, output, database, json.loads(run["counts"] or "{}"))
        return cls(code, output, database)

    @property
    def summary(self) -> str:
        """The summary line."""
        marker = "[pipelines.storage] INFO: "
        (line,) = (line for line in self.output.splitlines() if marker in line)
        return line.split(marker)[1]

    @property
    def errors(self) -> list[str]:
        """The lines of the log with an error or a traceback."""
        signs = (" ERROR: ", " CRITICAL: ", "Traceback")
        return [line for line in self.output.splitlines() if any(sign in line for sign in signs)]

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Return the rows of a query to the database."""
        return rows_of(self.database, query, *values)


def rows_of(database: Path, query: str, *values: object) -> list[dict[str, Any]]:
    """Return the rows of a query to an SQLite file, or carry out a statement."""
    with closing(sqlite3.connect(database, timeout=30)) as connection, connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query, values)]


def crawl(
    source: str,
    *arguments: str,
    database: Path,
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> Crawl:
    """Crawl a source; `arguments` go behind -a, `settings` behind -s, `options` to the end."""
    finished = subprocess.run(
        [*crawl_command(source, arguments, settings), *options],
        cwd=PROJECT,
        env={**crawl_environment(database), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return Crawl.ended(finished.returncode, finished.stdout, database)


@contextmanager
def started_crawl(
    *arguments: str,
    database: Path,
    settings: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    **environment: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a crawl of "ft", with its log beside the database; kill it at the end of the block."""
    with database.with_suffix(".log").open("w") as log:
        run = subprocess.Popen(
            [*crawl_command("ft", arguments, settings), *options],
            cwd=PROJECT,
            env=crawl_environment(database) | environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
        )
    try:
        yield run
    finally:
        run.kill()
        run.communicate(timeout=300)


def own_source(file: Path, site: str, slug: str = "pier", **facts: object) -> Path:
    """Add a source with this home page to a file of an operator's own; return the file."""
    usual: dict[str, object] = {"name": "The Pier", "country": "gb", "languages": ("en",)}
    usual |= {"home": f"{site}/", "feeds": (f"{site}/feed.xml",)}
    add_source(file, Source(slug=slug, **(usual | facts)))  # type: ignore[arg-type]
    return file


def crawl_command(
    source: str, arguments: Iterable[str], settings: Mapping[str, str] | None = None
) -> list[str]:
    """Return the command line of a crawl."""
    command = [sys.executable, "-m", "scrapy", "crawl", source]
    for argument in arguments:
        command += ["-a", argument]
    for name, value in {**HASTE, **(settings or {})}.items():
        command += ["-s", f"{name}={value}"]
    return command


def crawl_environment(database: Path) -> dict[str, str]:
    """Return the environment of a crawl, with a small companies file of the tests' own."""
    return clean_environment() | {
        "NEWSCRAWL_DATABASE_URL": f"sqlite:///{database}",
        "NEWSCRAWL_CONTACT": "https://newscrawl.example/tests",
        "NEWSCRAWL_COMPANIES": str(Path(__file__).with_name("companies.toml")),
        "PYTHONWARNINGS": "default",
    }


def clean_environment() -> dict[str, str]:
    """Return the environment without the newscrawl settings of the developer."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NEWSCRAWL_")}
