"""The process from which the monitor's crawls are forked: it has imported what every crawl needs.

Imports and loading the companies take most of the processor time of a crawl without news.
`newscrawl monitor` therefore starts `python -m newscrawl.crawl.fork_server` once; its standard
input is a socket of the monitor, and `CrawlServer` in newscrawl.monitoring.supervisor describes
the requests. Only modules and companies are loaded before the fork, and a crawl loads companies
again that have changed since: no reactor, no thread, no connection, and no file of sources.
"""

import atexit
import gc
import json
import os
import re
import select
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

# Settings of Scrapy that are the path of a class, ours or Scrapy's own.
_CLASS = re.compile(r"(?:scrapy|newscrawl|pipelines|spiders)(?:\.\w+)+\.[A-Z]\w+")
# Modules that every crawl imports, which no setting names; psycopg is an extra.
_MODULES = (
    "scrapy.cmdline",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "sqlalchemy.dialects.postgresql.psycopg",
    "psycopg",
    "encodings.idna",
)
_PACKAGE = Path(__file__).parents[1]
_MAX_REQUEST = 65536
_MAX_FILES = 3
# The maximum length of a process's name in Linux (TASK_COMM_LEN without the final zero).
_NAME_CHARACTERS = 15
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class CrawlEnd:
    """The end of a crawl: its exit code, reported to the monitor."""

    report: int | None = None
    code: int = 1

    def exit(self) -> None:
        """End this process, if it is a crawl.

        Python's own exit would first clear all modules, whose memory is shared with the server.
        """
        if self.report is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            _write(self.report, self.code)
            os._exit(self.code)


@dataclass(frozen=True, slots=True)
class Job:
    """A crawl to run in a fork: the arguments of `scrapy`, and where its exit code is reported."""

    arguments: list[str]
    report: int


class Server:
    """Forks a crawl for each request, until the monitor closes its socket."""

    def __init__(self, monitor: socket.socket) -> None:
        self._monitor = monitor
        # The files of the code, as they were when it was imported.
        self._files = _code_files()
        # Where the exit code of each running crawl is reported.
        self._reports: dict[int, int] = {}

    def serve(self) -> Job | None:
        """Return the crawl to run, in each forked process; None when the monitor has ended."""
        for number in _ENDING:  # they are for the monitor, and a crawl may not inherit SIG_IGN
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGCHLD, lambda *_: self._report_ended())
        while True:
            select.select([self._monitor], [], [])
            if _code_files() != self._files:
                # The installed code has changed: a new server reads the pending request.
                os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - this very command
            request, files, _, _ = socket.recv_fds(self._monitor, _MAX_REQUEST, _MAX_FILES)
            while request and not request.endswith(b"\n"):
                request += self._monitor.recv(_MAX_REQUEST)
            if not request:
                self._monitor.close()
                return None
            for file in files:
                os.set_inheritable(file, False)
            if job := self._fork(json.loads(request), *files):
                return job

    def _fork(self, arguments: list[str], link: int, log: int, report: int) -> Job | None:
        """Return the crawl in the forked process, None in this one."""
        # Blocked until this process has recorded the crawl's report, and until the crawl has
        # replaced the handlers of the server.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *_ENDING})
        crawl = os.fork()
        if not crawl:
            os.setsid()
            self._monitor.detach()  # its file number is 0, that of the standard input
            for number, file in enumerate((link, log, log)):
                os.dup2(file, number)
            for running in self._reports.values():
                os.close(running)
            for number in (signal.SIGCHLD, *_ENDING):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
        else:
            _write(report, crawl)
            self._reports[crawl] = report
        os.close(link)
        os.close(log)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, *_ENDING})
        return None if crawl else Job(arguments, report)

    def _report_ended(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                report = self._reports.pop(pid, None)
                if report is not None:  # else the crawl began before an execv of the server
                    _write(report, os.waitstatus_to_exitcode(status))
                    os.close(report)


def preload() -> None:
    """Import the modules of a crawl by Scrapy's settings, and load the companies.

    What can't be loaded is left to the crawl, whose log shows the error.
    """
    from scrapy.utils.misc import load_object, walk_modules_iter  # noqa: PLC0415 - slow; see main
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415

    settings = get_project_settings()
    for name in _MODULES:
        with suppress(Exception):
            import_module(name)
    for name in ("scrapy.commands", settings["COMMANDS_MODULE"], *settings["SPIDER_MODULES"]):
        with suppress(Exception):
            deque(walk_modules_iter(name), maxlen=0)
    for path in _strings([settings[name] for name in settings]):
        if _CLASS.fullmatch(path):
            with suppress(Exception):
                load_object(path)
    with suppress(Exception):
        import_module("newscrawl.crawl.addon").companies_of(settings)[1].prepare()


def _strings(value: object) -> Iterator[str]:
    """Yield the strings in a setting, keys and values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def _code_files() -> dict[str, tuple[int, int]]:
    """Return modification time and size of the file of each imported module, and of the other files
    in our package, which some modules read during import."""
    paths = {str(path) for path in _PACKAGE.rglob("*.[jt]*")}
    paths.update(
        filter(None, (getattr(module, "__file__", "") for module in [*sys.modules.values()]))
    )
    facts_by_path = {}
    for path in paths:
        with suppress(OSError):
            facts = os.stat(path)  # noqa: PTH116 - half of the time, before every crawl
            facts_by_path[path] = (facts.st_mtime_ns, facts.st_size)
    return facts_by_path


def _write(report: int, number: int) -> None:
    with suppress(OSError):  # the monitor has closed the pipe
        os.write(report, f"{number}\n".encode())


def main() -> None:
    """Serve until the monitor ends; in a forked process, crawl."""
    end = CrawlEnd()
    atexit.register(end.exit)  # registered first, so called last
    preload()
    gc.collect()
    gc.freeze()  # otherwise collections in a crawl would copy the memory of all these objects
    job = Server(socket.socket(fileno=sys.stdin.fileno())).serve()
    if job is None:
        return
    # Run `scrapy crawl`, as the command line would.
    from scrapy.cmdline import execute  # noqa: PLC0415 - imported by `preload`

    end.report = job.report
    with suppress(OSError, IndexError):  # Linux only; ps and top show it
        name = f"crawl {job.arguments[1]}"[:_NAME_CHARACTERS]
        Path("/proc/self/comm").write_text(name, encoding="utf-8")
    sys.argv = ["scrapy", *job.arguments]
    try:
        execute()
    except SystemExit as ended:
        end.code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
        raise


if __name__ == "__main__":
    main()
