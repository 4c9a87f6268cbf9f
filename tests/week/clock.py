"""A time of day that a test sets, for processes with all that they start."""

import mmap
import os
import shutil
import struct
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

COMPILER = shutil.which("cc")


class Clock:
    """`with Clock(folder) as clock: clock.set(moment)`, for processes with `clock.environment`."""

    def __init__(self, folder: Path) -> None:
        assert COMPILER, "no C compiler"
        self._library, self._file = folder / "clock.so", folder / "clock"
        source = Path(__file__).with_name("clock.c")
        command = [COMPILER, "-O1", "-shared", "-fPIC", "-o", str(self._library), str(source)]
        subprocess.run(command, check=True)
        self._file.write_bytes(bytes(mmap.PAGESIZE))
        self._error = timedelta()

    def __enter__(self) -> Self:
        with self._file.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        return self

    def __exit__(self, *_: object) -> None:
        self._page.close()

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of a process with this time of day."""
        loaded = " ".join(filter(None, (os.environ.get("LD_PRELOAD"), str(self._library))))
        return {"LD_PRELOAD": loaded, "TEST_CLOCK": str(self._file)}

    @property
    def now(self) -> datetime:
        """Return the true time of day, which goes on at its usual pace."""
        return self.shown - self._error

    @property
    def shown(self) -> datetime:
        """Return the time of day that the processes see."""
        (shift,) = struct.unpack_from("q", self._page)
        return datetime.fromtimestamp(0, UTC) + timedelta(
            microseconds=(time.time_ns() + shift) // 1000
        )

    def set(self, moment: datetime, error: timedelta = timedelta()) -> None:
        """Set the true time of day, forward or backward; what the processes see differs by the
        error."""
        self._error = error
        since = moment + error - datetime.fromtimestamp(0, UTC)
        nanoseconds = (since // timedelta(microseconds=1)) * 1000 - time.time_ns()
        struct.pack_into("q", self._page, 0, nanoseconds)
