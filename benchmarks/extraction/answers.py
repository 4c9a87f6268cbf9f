"""Run tools over pages, each in a process of its own with a limit for each page.

Answers are kept on disk by tool, version and corpus, so that a second run computes only the missing
ones.
"""

import hashlib
import json
import math
import os
import re
import selectors
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.extraction import peers
from benchmarks.extraction.peers import Peer
from newscrawl.training.corpus import FROM_PUBLISHER, JSON_LD, GoldPage

PAGE_SECONDS = 30.0  # of CPU; the slowest tool needs about a second for a common page
PATIENCE = 10  # times that limit by the clock, for a tool that waits or a busy machine
START_SECONDS = 180.0  # imports of some tools take many seconds on a loaded machine
Answer = dict[str, Any]


class ToolError(Exception):
    """A tool that can't be run at all; the message is one line."""


@dataclass(frozen=True)
class Runner:
    """A tool's version and the interpreter of the environment that holds it."""

    peer: Peer
    python: Path
    version: str
    script: Path = Path(peers.__file__)

    def answers(
        self, pages: Sequence[GoldPage], *, with_metadata: bool, page_seconds: float = PAGE_SECONDS
    ) -> Iterator[Answer]:
        """Yield one answer for each page, in order. A page that takes too long or kills the process
        has an `error` and an empty text.

        Raises:
            ToolError: the process doesn't start.
        """
        waiting = list(pages)
        while waiting:
            with _Process(self, with_metadata) as process:
                while waiting:
                    page = waiting.pop(0)
                    answer = process.ask(page, page_seconds)
                    yield answer
                    if not process.alive:
                        break


def request_for(page: GoldPage) -> dict[str, str | None]:
    """Return the request for the text of a page, which a tool's process reads."""
    request = {"id": page.id, "path": str(page.path), "url": page.url}
    if page.gold == FROM_PUBLISHER:
        request["left_out"] = JSON_LD.pattern.decode("ascii")  # it holds the gold text
    return request


class _Process:
    """The child process of one tool; `ask` sends a page and waits for the answer."""

    def __init__(self, runner: Runner, with_metadata: bool) -> None:
        command = [str(runner.python), "-W", "ignore", str(runner.script), runner.peer.name]
        if with_metadata:
            command.append("--metadata")
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._rest = b""
        if not self._read_line(START_SECONDS):
            self.__exit__()
            raise ToolError(f"{runner.peer.name}: does not start in {runner.python}")

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    @property
    def _out(self) -> int:
        assert self._child.stdout is not None
        return self._child.stdout.fileno()

    def ask(self, page: GoldPage, seconds: float) -> Answer:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request_for(page)).encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            return _no_answer(page, "process ended")
        line = self._read_line(seconds * PATIENCE, cpu_seconds=seconds)
        if line:
            return dict(json.loads(line), set=page.set)
        self._child.kill()
        self._child.wait()
        return _no_answer(page, "process died" if line == b"" else f"no answer in {seconds:g} s")

    def _read_line(self, seconds: float, cpu_seconds: float = math.inf) -> bytes | None:
        """Return a line; None if none came in time, an empty one if the process has ended."""
        begun, spent = time.monotonic(), _cpu_seconds(self._child.pid)
        while b"\n" not in self._rest:
            if not self._selector.select(min(seconds, cpu_seconds)):
                late = time.monotonic() - begun >= seconds
                if late or _cpu_seconds(self._child.pid) - spent >= cpu_seconds:
                    return None
                continue
            data = os.read(self._out, 1 << 20)
            if not data:
                return b""
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def __enter__(self) -> "_Process":
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._child.kill()
        self._child.communicate()


def _cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far; 0 where the system is not Linux."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _no_answer(page: GoldPage, reason: str) -> Answer:
    return {"id": page.id, "set": page.set, "text": "", "error": reason}


class AnswerStore:
    """Answers on disk: one file of JSON lines for a tool's version and a corpus."""

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self._folder = folder
        self._fresh = fresh

    def path(self, runner: Runner, corpus_fingerprint: str) -> Path:
        name = re.sub(r"\W+", "-", runner.peer.name)
        return self._folder / f"{name}_{runner.version}_{corpus_fingerprint[:12]}.jsonl"

    def drop_other_versions(self, path: Path) -> None:
        """Delete answers and scores of other versions of the same tool on the same corpus."""
        name, corpus = path.stem.partition("_")[0], path.stem.rpartition("_")[2]
        for older in self._folder.glob(f"{name}_*_{corpus}.*"):
            if not older.name.startswith(path.stem):
                older.unlink()

    def load(self, path: Path) -> dict[tuple[str, str], Answer]:
        """Return answers by set and page id, without a line cut short by an interrupted run."""
        if self._fresh or not path.is_file():
            path.unlink(missing_ok=True)
            return {}
        answers = {}
        for line in path.read_text(encoding="utf-8").split("\n"):
            try:
                answer = json.loads(line)
            except json.JSONDecodeError:
                continue
            answers[answer["set"], answer["id"]] = answer
        return answers

    def complete(
        self, runner: Runner, pages: Iterable[GoldPage], path: Path
    ) -> Iterator[tuple[GoldPage, Answer]]:
        """Yield answers for all pages, known ones first; new ones are written at once."""
        known = self.load(path)
        missing = []
        for page in pages:
            if (page.set, page.id) in known:
                yield page, known[page.set, page.id]
            else:
                missing.append(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.drop_other_versions(path)
        with path.open("a", encoding="utf-8") as file:
            answers = runner.answers(missing, with_metadata=True)
            for page, answer in zip(missing, answers, strict=True):
                file.write(json.dumps(answer, ensure_ascii=False) + "\n")
                file.flush()
                yield page, answer


def source_version(files: Iterable[Path]) -> str:
    """Return a short hash over our own files: the version of our methods between releases."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:12]
