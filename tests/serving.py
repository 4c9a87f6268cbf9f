"""`newscrawl serve` as a process of its own, and what it answers."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.site.crawling import clean_environment


@contextmanager
def served(folder: Path, *options: str, **environment: str) -> Iterator[str]:
    """The address that a running `newscrawl serve` names."""
    command = [sys.executable, "-m", "newscrawl", "serve", "--port", "0", *options]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=clean_environment() | {"PYTHONUNBUFFERED": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            found = re.search(r"http://\S+/", line)
            assert found, line
            # The server writes its address before it handles signals.
            with suppress(HTTPError):
                asked(found[0])
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=120)
            finally:
                process.kill()


def asked(url: str, **headers: str) -> bytes:
    """The content at an address."""
    with urlopen(Request(url, headers=headers), timeout=120) as answer:  # noqa: S310 - our own
        content: bytes = answer.read()
    return content
