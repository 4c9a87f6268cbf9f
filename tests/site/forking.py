"""Scrapy's commands as forks of one process that has imported everything: each starts quickly.

`python -m tests.site.forking` reads jobs (JSON) from its input. For each it writes the id of the
process that runs it and, after its end, its exit code.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from tests.site.crawling import PROJECT, Crawl, crawl_command


@dataclass(slots=True)
class Forks:
    """`with Forks(environment, log) as forks`: start a command, kill its process, wait for it."""

    environment: Mapping[str, str]
    log: Path
    _process: subprocess.Popen[str] = field(init=False)

    def __enter__(self) -> Self:
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.site.forking"],
                cwd=PROJECT,
                env=dict(self.environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert _line(self._process.stdout) == "ready"
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin and self._process.stdout:
            self._process.stdin.close()
            self._process.stdout.close()
        self._process.wait(timeout=300)

    def start(self, command: Sequence[str], **places: str) -> int:
        """Start `scrapy ...`; return the id of its process.

        `places` are the folder to start in, other than this project's, and the files of `out` and
        `err`, other than the log.
        """
        self._process.stdin.write(json.dumps({"command": list(command), **places}) + "\n")
        self._process.stdin.flush()
        return int(_line(self._process.stdout))

    def run(self, command: Sequence[str], **places: str) -> subprocess.CompletedProcess[str]:
        """Run `scrapy ...` to its end."""
        out, err = (self.log.with_name(name) for name in ("out", "err"))
        self.start(command, out=str(out), err=str(err), **places)
        code = self.wait()
        return subprocess.CompletedProcess(command, code, out.read_text(), err.read_text())

    def crawl(
        self,
        source: str,
        *arguments: str,
        database: Path,
        settings: Mapping[str, str] | None = None,
    ) -> Crawl:
        """Crawl a source to the end, like `tests.site.crawling.crawl`."""
        log, err = database.with_suffix(".log"), database.with_suffix(".err")
        log.unlink(missing_ok=True)
        places = {"NEWSCRAWL_DATABASE_URL": f"sqlite:///{database}", "LOG_FILE": str(log)}
        command = crawl_command(source, arguments, {**places, **(settings or {})})[3:]
        self.start(command, err=str(err))
        code = self.wait()
        output = "".join(file.read_text() for file in (log, err) if file.exists())
        return Crawl.ended(code, output, database)

    def wait(self) -> int:
        """Return the exit code of the process, which is negative if a signal ended it."""
        return int(_line(self._process.stdout))


def _line(stream: IO[str] | None) -> str:
    return stream.readline().strip()


def _serve() -> None:
    import_all()
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _carry_out(**json.loads(line))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def import_all() -> None:
    """Import the modules of a crawl and load its models and word lists, but not the reactor."""
    import newscrawl  # noqa: PLC0415
    from newscrawl.crawl.fork_server import preload  # noqa: PLC0415

    preload()
    assert "twisted.internet.reactor" not in sys.modules
    newscrawl.extract("<html><body><article><h1>One</h1><p>Two words.</p></article></body></html>")


def _carry_out(command: list[str], folder: str = "", out: str = "", err: str = "") -> None:
    from scrapy.cmdline import execute  # noqa: PLC0415

    for path, stream in ((err, sys.stderr), (out, sys.stdout)):
        with Path(path).open("w") if path else nullcontext(sys.stderr) as opened:
            os.dup2(opened.fileno(), stream.fileno())
    with open(os.devnull) as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    if folder:
        del os.environ["SCRAPY_SETTINGS_MODULE"]  # this project's
        os.chdir(folder)
    code = 1
    try:
        execute(["scrapy", *command])
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
