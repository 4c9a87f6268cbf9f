"""One crawl in a process of its own, so that a crash or a leak of one harms no other."""

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

# The end of a log in which the crawl's own last words are looked for.
_TAIL = 16384
_SUMMARY = "[pipelines.storage] INFO: "
_LOGGED = re.compile(r"[-\d]{10} [:\d]{8} \[[\w.]+\] (?P<level>[A-Z]+): (?P<text>.*)")
_LOG_BYTES = 10_000_000
_NOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How crawls are started: `environment` and `settings` come on top of our own, `logs` is
    the folder that keeps SLUG.log. A crawl whose starter has died ends within `grace` seconds.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    logs: Path | None = None
    grace: float = 40.0

    def of(self, slug: str) -> list[str]:
        """The command line of a source's crawl."""
        command = [sys.executable, "-m", "scrapy", "crawl", slug]
        for argument in self.arguments:
            command += ["-a", argument]
        for name, value in {**self.settings, "NEWSCRAWL_LEASH": f"{self.grace:g}"}.items():
            command += ["-s", f"{name}={value}"]
        return command


class Crawl:
    """A crawl that runs: `with Crawl("ft", command) as crawl: crawl.wait(1)`.

    Its standard input is a socket to us: by its end the crawl knows that we are gone, and what it
    writes there tells that it makes progress. At the end of the block it is dead in any case.
    """

    def __init__(self, slug: str, command: Command) -> None:
        self._log = _log_of(slug, command.logs)
        self._start = self._log.tell()
        self._link, theirs = socket.socketpair()
        self._link.setblocking(False)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own command, a registry's slug
                command.of(slug),
                stdin=theirs.fileno(),
                stdout=self._log,
                stderr=self._log,
                env={
                    **os.environ,
                    "SCRAPY_SETTINGS_MODULE": "newscrawl.settings",
                    **command.environment,
                },
                # Signals of the terminal are for us: we pass them on when it is time.
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        self._log.close()

    def wait(self, seconds: float) -> int | None:
        """The exit code, or None where the crawl still runs after so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def has_progressed(self) -> bool:
        """Return whether the crawl has reported progress since the last call."""
        try:
            return bool(self._link.recv(4096))
        except OSError:
            return False  # nothing to read; or it has closed its end, and is dead or will be

    def stop(self) -> None:
        """Asks the crawl to end in order: what is on its way is still stored."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends the crawl at once; what it had stored is whole."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._link.close()

    def last_words(self) -> str:
        """Why the crawl was broken off, where it says so, and the line that says what came of it;
        or else the last line of its log that tells of a fault."""
        self._log.flush()
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(self._start, end - _TAIL))
        return words_of(self._log.read().decode(errors="replace").splitlines())[:_NOTE_CHARACTERS]


def words_of(lines: Sequence[str]) -> str:
    """What a crawl's log has to tell people: see `Crawl.last_words`."""
    logged = [(line, _LOGGED.match(line)) for line in lines if line.strip()]
    reasons = [found["text"] for _, found in logged if found and found["level"] == "CRITICAL"]
    summaries = [line.partition(_SUMMARY)[2] for line, _ in logged if _SUMMARY in line]
    if reasons or summaries:
        return "; ".join([*reasons[:1], *summaries[-1:]])
    faults = [
        found["text"] if found else line.strip().removeprefix("newscrawl: ")
        for line, found in logged
        if not found or found["level"] not in {"INFO", "DEBUG"}
    ]
    return faults[-1] if faults else ""


def _log_of(slug: str, folder: Path | None) -> IO[bytes]:
    if folder is None:
        return tempfile.TemporaryFile("w+b", prefix=f"newscrawl-{slug}-")
    file = folder / f"{slug}.log"
    if file.exists() and file.stat().st_size > _LOG_BYTES:
        file.replace(file.with_suffix(".log.1"))
    log = file.open("a+b")
    log.seek(0, os.SEEK_END)
    return log
