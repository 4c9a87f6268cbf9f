"""Tasks for worker processes, some of which crash or exceed limits.

Each worker process imports this module, which is therefore small.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.items import Mention
    from newscrawl.storage.mentions import StoredText


def is_imported(module: str) -> bool:
    """Return whether this process has imported the module."""
    return module in sys.modules


def allocate(number: int) -> int:
    """Allocate and free a number of bytes; return it."""
    return len(bytearray(number))


def allocate_or_exit(number: int) -> int:
    """Allocate and free a number of bytes; 7 ends the process."""
    if number == 7:
        os._exit(1)
    return allocate(number)


def allocate_all_or_exit(numbers: Sequence[int]) -> list[int]:
    """Allocate and free some numbers of bytes, one after the other; 7 ends the process."""
    return [allocate_or_exit(number) for number in numbers]


def process_id(_: int) -> int:
    """Return the id of the process that does the work."""
    return os.getpid()


def stop_process(_: int) -> int:
    """Stop the process that does the work, as Ctrl-Z does; return its id."""
    os.kill(os.getpid(), signal.SIGSTOP)
    return os.getpid()


def square_or_die(number: int) -> int:
    """Return the square of a number; 7 ends the process."""
    if number == 7:
        os._exit(1)
    return number * number


def rematch_or_die(
    companies: Path, texts: "Sequence[StoredText]"
) -> "list[tuple[list[Mention], tuple[()]]]":
    """Return the mentions of each text, and no names; one text ends the process."""
    from newscrawl.mentions import load_companies  # noqa: PLC0415 - other tasks don't need it

    if any("ft word7x1 " in text.text for text in texts):
        os._exit(1)
    matches = load_companies(companies)
    return [(matches.find(text.text, title=text.title), ()) for text in texts]


def read_for_ever(_body: bytes, _url: str, _content_type: str | None = None) -> None:
    """Parse forever, in Python."""
    while True:
        pass


def eat_memory(_body: bytes, _url: str, _content_type: str | None = None) -> None:
    """Allocate memory without end."""
    blocks = []
    while True:
        blocks.append(bytearray(1 << 24))
