"""The bench of Dask clusters: costs by kind of process, and what they mean for larger clusters."""

import importlib.util

import pytest

if importlib.util.find_spec("distributed") is None:
    pytest.skip("needs the extra cluster; make dev installs it", allow_module_level=True)

from benchmarks.cluster import Bench, Cost, Run, database_limit, show, simulate
from benchmarks.ingest import write_archive
from tests.archives import HOSTS
from tests.site.faults import story

COST = Cost(reader=8.0, worker=2.0, scheduler=0.1, command=1.0, database=1.0)


ONE = Run(name="Dask, 2", target="PostgreSQL", cost=COST, speed=150.0, idle_workers=100.0)


def test_more_workers_help_until_the_command_is_the_limit():
    ten, hundred, thousand = (simulate(ONE, number) for number in (10, 100, 1_000))
    assert (ten.speed, ten.limit, ten.commands) == (500, "command", 2)
    assert (hundred.speed, hundred.limit, hundred.commands) == (500, "command", 19)
    assert thousand.commands == 190
    four = simulate(ONE, 4)
    assert (four.speed, four.limit, four.commands) == (pytest.approx(380), "workers", 1)
    assert database_limit(COST) == 8_000


def test_shares_are_those_of_local_processes():
    runs = [
        Run(name="local, 1", target="SQLite", cost=Cost(command=10.0), speed=90.0),
        Run(name="Dask, 1", target="SQLite", cost=COST, speed=81.0),
        Run(name="local, 2", target="SQLite", cost=Cost(reader=8.0, command=2.0), speed=150.0),
        Run(name="Dask, 2", target="SQLite", cost=COST, speed=150.0, idle_scheduler=20.0),
        ONE,
    ]
    text = show(runs, 2_000.0)
    assert "1 Dask workers reach 90% of the speed of 1 local ones (by processor time 83%)." in text
    assert "the scheduler 20; results are 2.0 KB a page." in text
    assert "| PostgreSQL | 100 | 500 | command | 19 | 1.0 |" in text
    assert "PostgreSQL with 8 cores: 8,000 pages a second." in text


def test_costs_of_each_kind_of_process_are_measured(tmp_path):
    pages = [
        (f"https://{HOSTS[0]}/{number}", story(f"Report {number} on the quay", "Siemens"))
        for number in range(20)
    ]
    # When costs are measured from, the worker may have read four parts that are not stored yet.
    archives = [tmp_path / f"{number}.warc.gz" for number in range(10)]
    for number, archive in enumerate(archives):
        write_archive(archive, pages, [number])
    bench = Bench(archives=archives, pages=200, folder=tmp_path, idle_seconds=0.5)
    local, dask = (
        bench.run("local, 1", "SQLite", 1, bench.meter({})),
        bench.run_on_dask(1, "Parquet"),
    )
    assert local.cost.command > 0
    assert (local.cost.reader, local.cost.worker, local.cost.scheduler) == (0, 0, 0)
    assert min(dask.cost.reader, dask.cost.command) > 0
    assert min(local.speed, dask.speed, bench.result_bytes()) > 0
