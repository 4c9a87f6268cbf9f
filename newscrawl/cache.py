"""Files that can be computed again, in the user's cache folder; without them only time is lost."""

import logging
import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

logger = logging.getLogger(__name__)

# Files of one kind; those that were not used for longest are deleted first.
MAX_KEPT_FILES = 8


def cache_folder() -> Path:
    """Return the user's cache folder: newscrawl in $XDG_CACHE_HOME or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "newscrawl"
    except RuntimeError:
        return Path(os.devnull) / "newscrawl"


def read_cache_file(path: Path) -> bytes:
    """Return the content of a file and note that it is used; raise OSError."""
    content = path.read_bytes()
    with suppress(OSError):
        os.utime(path)
    return content


def write_cache_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically, named by its kind, a hyphen and a digest, and delete old ones of its
    kind; a folder that can't be written to is only logged."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with TemporaryDirectory(dir=path.parent) as folder:
            complete = Path(folder, path.name)
            with complete.open("wb") as stream:
                write(stream)
            complete.replace(path)
        # Those that seem newer than the file that was just written come from a clock that was
        # wrong and go first.
        kind, _, _ = path.name.partition("-")
        times = {file: file.stat().st_mtime for file in path.parent.glob(f"{kind}-*{path.suffix}")}
        now = times.pop(path, math.inf)
        oldest = sorted(times, key=lambda file: (times[file] <= now, times[file]))
        for file in oldest[: max(0, len(oldest) + 1 - MAX_KEPT_FILES)]:
            with suppress(OSError):
                file.unlink()
    except OSError as error:
        logger.debug("%s is not kept: %s", path, error)
