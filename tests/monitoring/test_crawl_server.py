"""Crawls as forks of one process: each as if it were started on a command line."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from newscrawl.monitoring.supervisor import CrawlCommand, CrawlProcess, CrawlServer
from newscrawl.storage import upgrade_database
from tests.site.crawling import HASTE
from tests.watching import Sites, alive, children, environment, wait_for

IMPORT = re.compile(r"^import time: .*\| +([\w.]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Crawls:
    """A server and the command of its crawls; a source of two articles and one of hundreds."""

    server: CrawlServer
    command: CrawlCommand
    sites: Sites = field(repr=False)

    def start(self, slug: str, **settings: str) -> CrawlProcess:
        """Start a crawl."""
        command = replace(self.command, settings={**HASTE, **settings})
        return CrawlProcess(slug, command, self.server)

    def log(self, slug: str) -> str:
        """Return the log of a source."""
        assert self.command.logs is not None
        return (self.command.logs / f"{slug}.log").read_text()

    @property
    def running(self) -> list[int]:
        """Return the processes of the crawls that the server has started."""
        return children(self.server.pid) if self.server.pid else []

    def started(self, slug: str) -> int:
        """Wait until a crawl requests articles; return its process."""
        site = self.sites.by_slug[slug]
        before = len(site.visits)
        wait_for(lambda: len(site.visits) > before + 3)
        (pid,) = self.running
        return pid


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawls]:
    folder = tmp_path_factory.mktemp("crawls")
    database = f"sqlite:///{folder}/news.sqlite"
    upgrade_database(database)
    with Sites() as sites:
        sites.add("short", 2)
        sites.add("long", 400, delay=0.1)
        variables = environment(sites.file(folder, ["short", "long"]), database)
        variables["PYTHONPROFILEIMPORTTIME"] = "1"
        with closing(CrawlServer(variables)) as server:
            yield Crawls(server, CrawlCommand(environment=variables, logs=folder), sites)


def ended(crawl: CrawlProcess) -> int:
    """Return the exit code of a crawl that ends by itself."""
    code = crawl.wait(120)
    assert code is not None
    return code


def test_forked_crawl_stores_articles_and_imports_nothing_again(crawls):
    with crawls.start("short") as crawl:
        assert ended(crawl) == 0
        assert crawl.summary().startswith("short: 2 found, 0 known before, 2 fetched, 2 new")
    before = len(crawls.log("short"))
    with crawls.start("short") as crawl:
        assert ended(crawl) == 0
        assert "1 feeds and sitemaps unchanged" in crawl.summary()
    ours = {"newscrawl", "pipelines", "spiders", "scrapy", "sqlalchemy"}
    late = IMPORT.findall(crawls.log("short")[before:])
    assert [name for name in late if name.split(".")[0] in ours] == []


def test_settings_and_exit_code_are_those_of_each_crawl(crawls):
    with crawls.start("short", NEWSCRAWL_METHOD="magic") as wrong, crawls.start("none") as unknown:
        assert (ended(wrong), ended(unknown)) == (2, 2)
        assert wrong.summary().startswith("NEWSCRAWL_METHOD=magic: use one of")
        assert unknown.summary().startswith("no source 'none'")
    with crawls.start("short") as right:
        assert ended(right) == 0


def test_server_has_no_thread_and_no_connection_that_a_fork_would_copy(crawls):
    with crawls.start("short") as crawl:
        assert ended(crawl) == 0
    process = Path(f"/proc/{crawls.server.pid}")
    assert len(list((process / "task").iterdir())) == 1
    assert {file.name for file in (process / "fd").iterdir()} == {"0", "1", "2"}


def test_crawl_leads_a_session_so_that_signals_of_a_terminal_do_not_reach_it(crawls):
    with crawls.start("long"):
        pid = crawls.started("long")
        assert os.getsid(pid) == pid
        assert Path(f"/proc/{pid}/comm").read_text() == "crawl long\n"
        assert Path(f"/proc/{pid}/cwd").readlink() == Path.cwd()
    assert not alive(pid)


def test_crawl_that_is_told_to_stop_ends_in_order(crawls):
    with crawls.start("long") as crawl:
        crawls.started("long")
        crawl.stop()
        assert ended(crawl) == 1
        assert "state failed (aborted: it was stopped)" in crawl.summary()
    assert "Closing spider (shutdown)" in crawls.log("long")


def test_signal_that_kills_a_crawl_is_its_exit_code(crawls):
    with crawls.start("long") as crawl:
        os.kill(crawls.started("long"), signal.SIGKILL)
        assert ended(crawl) == -signal.SIGKILL


@pytest.mark.thorough
def test_crawl_goes_on_when_its_server_is_killed_and_the_next_one_gets_a_new_server(crawls):
    with crawls.start("long") as goes_on:
        pid = crawls.started("long")
        server = crawls.server.pid
        assert server is not None
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: not alive(server))
        with crawls.start("short") as crawl:
            assert ended(crawl) == 0
        assert crawls.server.pid != server
        assert goes_on.wait(0) is None
        goes_on.stop()
        assert ended(goes_on) == 1  # its own report
        wait_for(lambda: not alive(pid))


@pytest.mark.thorough
def test_crawl_killed_together_with_its_server_is_known_to_be_killed(crawls):
    with crawls.start("long") as crawl:
        pid = crawls.started("long")
        assert crawls.server.pid is not None
        os.kill(crawls.server.pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
        assert ended(crawl) == -signal.SIGKILL


def test_crawl_whose_server_can_not_start_fails_and_says_so(crawls):
    with (
        closing(CrawlServer({"PYTHONHOME": "/nowhere"})) as server,
        CrawlProcess("short", crawls.command, server) as crawl,
    ):
        assert ended(crawl) == 1
        assert crawl.summary() == "the crawl could not be started: see the monitor's log"


@pytest.mark.thorough
def test_changed_code_is_used_by_the_next_crawl_and_running_ones_go_on(crawls, tmp_path):
    module = tmp_path / "our_settings.py"
    variables = {
        **crawls.command.environment,
        "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}",
        "SCRAPY_SETTINGS_MODULE": module.stem,
    }
    command = replace(crawls.command, logs=tmp_path, settings=HASTE)

    def install(name: str) -> None:
        module.write_text(f"from newscrawl.settings import *\nBOT_NAME = {name!r}\n")

    install("first")
    with closing(CrawlServer(variables)) as server:
        visits = len(crawls.sites.by_slug["long"].visits)
        with CrawlProcess("long", command, server) as goes_on:
            wait_for(lambda: len(crawls.sites.by_slug["long"].visits) > visits + 3)
            install("second")
            with CrawlProcess("short", command, server) as crawl:
                assert ended(crawl) == 0
            goes_on.stop()
            assert ended(goes_on) == 1
    assert "started (bot: first)" in (tmp_path / "long.log").read_text()
    assert "started (bot: second)" in (tmp_path / "short.log").read_text()
