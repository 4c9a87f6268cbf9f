"""A monitor whose time of day is set, step by step.

`python -m tests.week.watch monitor ...` runs `newscrawl monitor ...`, which inspects when the file
`inspect` lies in its folder, and deletes it when the inspection is done.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Self

from sqlalchemy import select

from newscrawl.cli import main as newscrawl_main
from newscrawl.monitoring import scheduler
from newscrawl.storage import Database, open_database
from newscrawl.storage.frontier.listings import due_sources
from newscrawl.storage.models import Lease, Source
from tests.receivers import Hook, Inbox, mail_server
from tests.site.crawling import PROJECT
from tests.watching import environment, monitor_command
from tests.week.clock import Clock

# Seconds after which a step of the clock is taken to hang.
_PATIENCE = 300.0
_INSPECT = "inspect"


class SteppedMonitor(scheduler.Monitor):
    """A monitor that inspects when it is asked to: while it crawls what became due by a step of the
    clock, all sources are late."""

    def schedule(self) -> int:
        self._next_inspection = 0.0 if Path(_INSPECT).exists() else float("inf")
        return super().schedule()

    def inspect(self) -> None:
        if Path(_INSPECT).exists():
            super().inspect()
            Path(_INSPECT).unlink()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A notice as people or programs got it, and when."""

    at: datetime
    subject: str
    event: str
    cause: str
    text: str


@dataclass(slots=True)
class Watch:
    """Monitors of sources, their database, and what they send: `with Watch(...) as watch`."""

    folder: Path
    clock: Clock
    sources: Path
    slugs: Sequence[str]
    settings: Mapping[str, str]
    workers: int = 2
    monitors: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    database: Database = field(init=False)
    _stack: ExitStack = field(default_factory=ExitStack)
    _hook: Hook = field(init=False)
    _inbox: Inbox = field(init=False)
    _environment: dict[str, str] = field(init=False)

    def __enter__(self) -> Self:
        url = f"sqlite:///{self.folder / 'news.sqlite'}"
        self.database = self._stack.enter_context(open_database(url))
        self._hook = self._stack.enter_context(Hook())
        self._inbox, port = self._stack.enter_context(mail_server())
        self._environment = environment(
            self.sources,
            url,
            NEWSCRAWL_MONITOR_PAUSE="0.2",
            NEWSCRAWL_WEBHOOKS=self._hook.url,
            NEWSCRAWL_WEBHOOK_PRIVATE="yes",
            NEWSCRAWL_SMTP_URL=f"smtp://127.0.0.1:{port}",
            NEWSCRAWL_MAIL_FROM="newscrawl@desk.example",
            NEWSCRAWL_MAIL_TO="desk@desk.example",
            **self.settings,
        )
        self._environment |= {"PYTHONPATH": str(PROJECT), **self.clock.environment}
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.monitors.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self._stack.close()

    def start(self, name: str) -> None:
        """Start a monitor in a folder of its own."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        options = ("--workers", str(self.workers), "--logs", "logs")
        _, _, _, *command = monitor_command(self.slugs, *options)
        command = [sys.executable, "-m", "tests.week.watch", *command]
        with (folder / "log").open("ab") as log:
            self.monitors[name] = subprocess.Popen(
                command, cwd=folder, env=self._environment, stderr=log, stdout=log
            )

    def stop(self, name: str) -> int:
        """End a monitor, and return its exit code."""
        process = self.monitors.pop(name)
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=_PATIENCE)

    def suspend(self, name: str) -> None:
        """Send a monitor SIGSTOP, but not while it writes: nobody else could then."""
        with closing(sqlite3.connect(self.folder / "news.sqlite", timeout=_PATIENCE)) as database:
            database.execute("BEGIN IMMEDIATE")
            self.monitors[name].send_signal(signal.SIGSTOP)
            database.rollback()

    def resume(self, name: str) -> None:
        """Send a monitor SIGCONT."""
        self.monitors[name].send_signal(signal.SIGCONT)

    def step(self, moment: datetime, error: timedelta = timedelta(), name: str = "a") -> None:
        """Set the clock, wait until all that is due then is crawled, and inspect."""
        self.clock.set(moment, error)
        self.wait_until(self.is_settled)
        self.inspect(name)

    def inspect(self, name: str = "a") -> None:
        """Let a monitor inspect the sources and send what is to be sent."""
        file = self.folder / name / _INSPECT
        file.touch()
        self.wait_until(lambda: not file.exists())
        self.mails += self._inbox.messages
        self._inbox.messages.clear()
        self.sent += [
            Sent(
                at=self.clock.now,
                subject=str(notice["subject"]),
                event=str(notice["event"]),
                cause=str(notice["cause"]),
                text=str(notice["text"]),
            )
            for notice in self._hook.notices
        ]
        self._hook.taken.clear()

    def wait_until(self, condition: Any) -> None:
        """Wait until a condition holds, for as long as the monitors run."""
        end = time.monotonic() + _PATIENCE
        while not condition():
            for name, process in self.monitors.items():
                assert process.poll() is None, f"the monitor {name} has ended: {self.folder}"
            assert time.monotonic() < end, f"waited in vain: {self.folder}"
            time.sleep(0.05)

    def is_settled(self) -> bool:
        """Return whether nothing is due, queued or crawled."""
        now = self.clock.shown
        with self.database.reading() as session:
            leases = dict(session.execute(select(Source.slug, Lease).join(Lease)).all())
        if len(leases) < len(self.slugs):
            return False
        ends = (end for lease in leases.values() for end in (lease.expires_at, lease.queued_until))
        if any(end and end > now for end in ends):
            return False
        resting = {
            slug
            for slug, lease in leases.items()
            if lease.retry_at and lease.ended_at and lease.ended_at <= now < lease.retry_at
        }
        # What is due in a moment would be crawled while the clock is set.
        soon = now + timedelta(seconds=1)
        due = due_sources(self.database, soon, [slug for slug in self.slugs if slug not in resting])
        return not due

    def newscrawl(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command at the time of the clock."""
        return subprocess.run(
            [sys.executable, "-m", "newscrawl", *arguments],
            cwd=self.folder,
            env=self._environment | {"COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )


def main() -> None:
    """Run a command of newscrawl."""
    scheduler.Monitor = SteppedMonitor  # type: ignore[misc]
    os.environ.pop("PYTHONPATH", None)
    newscrawl_main()


if __name__ == "__main__":
    main()
