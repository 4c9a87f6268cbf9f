"""Work on a Dask cluster of processes that are killed, differ, or are not there."""

import gzip
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

if importlib.util.find_spec("distributed") is None:
    pytest.skip("needs the extra cluster; make dev installs it", allow_module_level=True)

from newscrawl import cluster as module
from newscrawl.archive.ingest import Ingestion, ReadingConfig
from newscrawl.cluster import Cluster, ClusterError, ClusterPool, open_pool
from newscrawl.storage import open_database
from newscrawl.workers import results_by_item
from tests.archives import DeadlyReader, answer, page, record, warc
from tests.clusters import DaskProcesses, Ordeal, free_port, ingest_with, rows
from tests.site.faults import story
from tests.watching import alive, wait_for
from tests.working import allocate_all_or_exit, allocate_or_exit, process_id

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(scope="module")
def dask() -> Iterator[DaskProcesses]:
    processes = DaskProcesses()
    processes.start_scheduler()
    processes.start_worker("worker 0")
    yield processes
    processes.close()


@pytest.fixture(scope="module")
def cluster(dask: DaskProcesses) -> Iterator[Cluster]:
    with Cluster(dask.address) as opened:
        yield opened


@pytest.mark.thorough
def test_cluster_without_worker_is_one_line(monkeypatch):
    monkeypatch.setattr(module, "_MAX_SECONDS_WITHOUT_WORKER", 0.3)
    with closing(DaskProcesses()) as processes:
        processes.start_scheduler()
        with Cluster(processes.address) as opened:
            pool = open_pool(allocate_or_exit, opened)
            no_worker = r"no worker for 0\.3 seconds: start one with dask"
            with pytest.raises(ClusterError, match=no_worker):
                next(pool.results([1]))


def test_part_over_its_limits_costs_no_other_part(cluster):
    sizes = [1, 2, 7, 8 << 30, 3]
    pool = open_pool(allocate_or_exit, cluster)
    assert list(pool.results(sizes)) == [(1, 1), (2, 2), (7, None), (8 << 30, None), (3, 3)]
    (stats,) = cluster.stats.values()
    assert (stats.parts, stats.failures) == (5, 2)
    (line,) = cluster.report()
    assert line.startswith("tcp://127.0.0.1:")
    assert "5 parts" in line
    assert line.endswith("2 failed")


def test_item_that_crashes_its_process_costs_no_other_item(cluster):
    pool = open_pool(allocate_all_or_exit, cluster)
    batches = [[1, 2, 3], [4, 5, 7, 6], [7], []]
    assert list(results_by_item(pool, batches)) == [
        ([1, 2, 3], [1, 2, 3]),
        ([4, 5, 7, 6], [4, 5, None, 6]),
        ([7], [None]),
        ([], []),
    ]


def test_process_keeps_its_data_for_later_parts_until_the_command_ends(dask):
    with Cluster(dask.address) as opened:
        pool = open_pool(process_id, opened)
        (first,), (second,) = ([pid for _, pid in pool.results([1])] for _ in range(2))
        assert first == second
        assert first is not None
        assert alive(first)
    wait_for(lambda: not alive(first))


@pytest.mark.thorough
def test_labelled_pages_are_read_on_the_cluster_with_equal_results(dask, newscrawl, tmp_path):
    learn = ("--particles", 5, "--generations", 2, "-o", tmp_path / "limits.json", "--force")
    commands = (
        ("evaluate", "--method", "fe", "--measure", "word", "--worst", 12),
        ("train", *learn),
    )
    for command in commands:
        arguments = (*command, "--corpus", CORPUS, *(() if "--worst" in command else ("-f", "csv")))
        local, remote = newscrawl(*arguments), newscrawl(*arguments, "--cluster", dask.address)
        assert (local.code, remote.code) == (0, 0), remote.err
        assert remote.out == local.out
        assert re.search(r"tcp://127\.0\.0\.1:\d+: 2 parts, .* 0 failed", remote.err)


@pytest.mark.parametrize("name", ["Python", "newscrawl", "newscrawl's code and data"])
def test_worker_of_another_version_is_named(cluster, monkeypatch, name):
    here = module.environment() | {name: "0.0.1"}
    monkeypatch.setattr(module, "environment", lambda _files: here)
    pool = open_pool(allocate_or_exit, cluster)
    with pytest.raises(ClusterError, match=rf"worker tcp://.* has .*{name}.* need the same ver"):
        next(pool.results([1]))


def test_worker_with_another_companies_file_is_named(cluster, tmp_path):
    file = tmp_path / "companies.toml"
    file.write_text("# one")
    pool = open_pool(allocate_or_exit, cluster, files=[file])
    assert isinstance(pool, ClusterPool)
    file.write_text("# another")
    with pytest.raises(ClusterError, match=r"worker tcp://.* has another .*companies\.toml"):
        next(pool.results([1]))


def test_cluster_without_its_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ClusterError, match=r"--cluster local:2 needs Dask: pip install"):
        module.Cluster("local:2")


def test_scheduler_of_another_version_is_one_line(dask, monkeypatch, newscrawl, tmp_path):
    path = warc(tmp_path / "a.warc.gz", page(1))
    monkeypatch.setattr("distributed.__version__", "1999.1.0")

    def refused(*_: object, **__: object) -> None:
        raise TypeError("Scheduler.identity() got an unexpected keyword argument 'n_workers'")

    monkeypatch.setattr("distributed.Client", refused)  # as by the scheduler of 2025.1
    done = newscrawl("ingest", path, "--cluster", dask.address)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "this machine 1999.1.0: install the same version on both" in done.err


@pytest.mark.thorough
def test_unreachable_scheduler_is_one_line(monkeypatch, newscrawl, tmp_path):
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 1)
    path = warc(tmp_path / "a.warc.gz", page(1))
    for address in (f"tcp://127.0.0.1:{free_port()}", f"[::1]:{free_port()}", "nohost.test:8786"):
        done = newscrawl("ingest", path, "--cluster", address)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert f"no scheduler answers at {address}" in done.err
    for address in ("nothing://127.0.0.1:1", "elsewhere", "local:0", "local:many", "tcp://:8786"):
        done = newscrawl("ingest", path, "--cluster", address)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert f"--cluster {address} is not the address of a scheduler" in done.err
    done = newscrawl("ingest", path, "--cluster", "local:2", "--workers", 2)
    assert "give --workers or --cluster, not both" in done.err


@pytest.mark.thorough
def test_missing_package_is_named(monkeypatch, newscrawl, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    path = warc(tmp_path / "a.warc.gz", page(1))
    done = newscrawl("ingest", path, "--cluster", "local:2")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "pip install 'newscrawl[cluster]'" in done.err


@pytest.mark.thorough
def test_hostile_pages_cost_no_other_page(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("newscrawl.archive.ingest.PART_BYTES", 20_000)
    monkeypatch.setattr("newscrawl.archive.ingest._MIN_PART_BYTES", 2_500)
    attributes = b"".join(b" a%d=1" % number for number in range(300_000))
    nested = story("Nested", "Siemens").replace(b"<article>", b"<div>" * 300_000 + b"<article>")
    wide = story("Wide", "Siemens").replace(b"<article>", b"<article%b>" % attributes)
    bomb = gzip.compress(bytes(30_000_000))
    hostile = {
        "bomb": answer(bomb, "Content-Encoding: gzip"),
        "twice": answer(gzip.compress(bomb), "Content-Encoding: gzip, gzip"),
        "nested": answer(nested),
        "wide": answer(wide),
        "bottomless": answer(story("A bottomless page", "Siemens")),
        "deadly": answer(story("A deadly page", "Siemens")),
    }
    records = [record(f"https://evil.example/{name}", body) for name, body in hostile.items()]
    pages = [page(number) for number in range(len(records) + 1)]
    mixed = [part for pair in zip(pages, records, strict=False) for part in pair]
    path = warc(tmp_path / "cc.warc.gz", *mixed, pages[-1])
    config = ReadingConfig(reader=DeadlyReader(method="combined", min_characters=120))
    with open_database(f"sqlite:///{tmp_path}/news.sqlite") as database:
        (state,) = Ingestion(database, config, workers=cluster).run([path])
        (again,) = Ingestion(database, config, workers=cluster).run([path])
    assert (state.problem, state.is_open, again.done_before is None) == ("", False, False)
    assert (state.counts["damaged"], state.counts["parts_lost"]) == (3, 1)
    urls = [str(row[0]) for row in rows(tmp_path / "news.sqlite")]
    stories = {url for url in urls if "evil" not in url}
    assert len(urls) == len(set(urls))
    assert len(pages) - 2 <= len(stories) <= len(pages), "at most the neighbours of one are lost"


@pytest.mark.thorough
def test_killed_workers_client_and_scheduler_cost_no_article_and_repeat_none(tmp_path):
    """`python -m tests.clusters` does the same with more pages and kills."""
    archive = warc(tmp_path / "cc.warc.gz", *(page(number) for number in range(60)))
    ordeal = Ordeal(DaskProcesses(), archive, tmp_path / "cluster.sqlite", part_bytes=3_000)
    try:
        code = ordeal.run(["worker 0", "client", "scheduler"], [5, 20, 35])
    finally:
        ordeal.dask.close()
    assert ordeal.problems == {"client ended with 1": 1, "client ended with 0": 1}
    assert code == 0
    ingest_with(1, archive, tmp_path / "local.sqlite", 3_000)
    expected = rows(tmp_path / "local.sqlite")
    assert len(expected) == 60
    assert rows(tmp_path / "cluster.sqlite") == expected
