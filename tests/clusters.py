"""Dask clusters of processes that are killed while they ingest an archive.

`python -m tests.clusters --pages 5000 --kills 20` kills workers, scheduler and client at random
moments, gives the same command again, and compares the rows with those of a local run.
"""

import argparse
import random
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from newscrawl.archive import ingest
from newscrawl.archive.ingest import ReadingConfig
from newscrawl.cluster import Cluster, ClusterError
from newscrawl.reading import PageReader
from newscrawl.storage import open_database
from tests.archives import page, warc
from tests.watching import wait_for

PROJECT = Path(__file__).parent.parent
CONFIG = ReadingConfig(reader=PageReader(method="combined", min_characters=120))
_WORKERS = 2
_PATIENCE = 300.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port: int = unused.getsockname()[1]
    return port


def listens(port: int) -> bool:
    """Return whether a process accepts connections at the port."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    """Start a Python module, without its output."""
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@dataclass
class DaskProcesses:
    """A scheduler and workers, each a process that can be killed and started again."""

    port: int = field(default_factory=free_port)
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start_scheduler(self) -> None:
        host = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-show")
        module = "distributed.cli.dask_scheduler"
        self.processes["scheduler"] = start(module, "--port", self.port, *host)
        # On a busy machine it takes longer to start than a client waits for it.
        wait_for(lambda: listens(self.port), _PATIENCE)

    def start_worker(self, name: str) -> None:
        options = ("--nthreads", 1, "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        module = "distributed.cli.dask_worker"
        self.processes[name] = start(module, self.address, *options)

    def start_all(self) -> Self:
        self.start_scheduler()
        for number in range(_WORKERS):
            self.start_worker(f"worker {number}")
        return self

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self) -> None:
        for name in list(self.processes):
            self.kill(name)


def rows(path: Path) -> list[tuple[object, ...]]:
    """Return the articles of an SQLite database with their mentions, by URL."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT url, title, text, published_at, content_hash, revision, "
            "(SELECT count(*) FROM mentions WHERE article_id = articles.id) "
            "FROM articles ORDER BY url"
        ).fetchall()


def ingest_with(workers: int | str, path: Path, database: Path, part_bytes: int) -> str:
    """Ingest a file in small parts, with local processes or a cluster; return the problem."""
    ingest.PART_BYTES = part_bytes  # type: ignore[misc]
    with open_database(f"sqlite:///{database}") as store:
        if isinstance(workers, int):
            (state,) = ingest.Ingestion(store, CONFIG, workers=workers).run([path])
            return state.problem
        try:
            with Cluster(workers) as cluster:
                (state,) = ingest.Ingestion(store, CONFIG, workers=cluster).run([path])
        except ClusterError as error:
            return str(error)
        return state.problem


@dataclass
class Ordeal:
    """An ingestion whose processes are killed, one after the other."""

    dask: DaskProcesses
    archive: Path
    database: Path
    part_bytes: int
    problems: Counter[str] = field(default_factory=Counter)

    def start_client(self) -> None:
        arguments = (self.dask.address, self.archive, self.database, self.part_bytes)
        self.dask.processes["client"] = start("tests.clusters", "--client", *arguments)

    def articles(self) -> int:
        try:
            return len(rows(self.database))
        except sqlite3.OperationalError:
            return 0  # the client has not created it yet

    def wait_for(self, number: int) -> None:
        """Wait until a number of articles is stored, or the client has ended."""
        end = time.monotonic() + _PATIENCE
        client = self.dask.processes["client"]
        while self.articles() < number and client.poll() is None and time.monotonic() < end:
            time.sleep(0.05)

    def kill(self, victim: str) -> None:
        """Kill a process, and start again what ends with it."""
        self.dask.kill(victim)
        if victim == "scheduler":
            self.wait_for_client()
            self.dask.close()
            self.dask.start_all()
            self.start_client()
        elif victim == "client":
            self.start_client()
        else:
            self.dask.start_worker(victim)

    def wait_for_client(self) -> int:
        """Return the exit code of the client, which ends by itself."""
        client = self.dask.processes["client"]
        code = client.wait(timeout=_PATIENCE)
        self.problems[f"client ended with {code}"] += 1
        return code

    def run(self, victims: Sequence[str], moments: Sequence[int]) -> int:
        """Kill the victims, each when a number of articles is stored; return the exit code of the
        last client."""
        self.dask.start_all()
        self.start_client()
        for victim, moment in zip(victims, moments, strict=True):
            self.wait_for(moment)
            self.kill(victim)
        return self.wait_for_client()


def main() -> None:
    """Run the ordeal, or its client, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--client", nargs=4)
    options = parser.parse_args()
    if options.client:
        address, archive, database, size = options.client
        sys.exit(1 if ingest_with(address, Path(archive), Path(database), int(size)) else 0)
    choice = random.Random(options.seed)  # noqa: S311 - the same kills in each run
    names = ("worker 0", "client", "worker 1", "scheduler")
    victims = [names[number % len(names)] for number in range(options.kills)]
    choice.shuffle(victims)
    moments = sorted(choice.randrange(options.pages) for _ in victims)
    with tempfile.TemporaryDirectory() as folder:
        archive = warc(Path(folder, "cc.warc.gz"), *map(page, range(options.pages)))
        part_bytes = archive.stat().st_size // 200
        began = time.monotonic()
        ingest_with(2, archive, Path(folder, "local.sqlite"), part_bytes)
        local = time.monotonic() - began
        ordeal = Ordeal(DaskProcesses(), archive, Path(folder, "cluster.sqlite"), part_bytes)
        began = time.monotonic()
        code = ordeal.run(victims, moments)
        took = time.monotonic() - began
        ordeal.dask.close()
        expected, problems = (
            rows(Path(folder, "local.sqlite")),
            rows(Path(folder, "cluster.sqlite")),
        )
    killed = ", ".join(f"{number} {name}" for name, number in Counter(victims).most_common())
    print(f"killed: {killed}; {dict(ordeal.problems)}")
    print(
        f"local {local:.0f} s, with kills {took:.0f} s, {len(problems)} of {len(expected)} articles"
    )
    print(f"last exit code {code}, rows {'equal' if problems == expected else 'DIFFERENT'}")
    sys.exit(0 if problems == expected and code == 0 else 1)


if __name__ == "__main__":
    main()
