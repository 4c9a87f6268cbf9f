"""What a person asks for, as frozen dataclasses, and their sentences; no SQL, and no HTML.

`company` has a company in a period, `comparison` several of them, `coverage` the sources that were
not read; `words` has every sentence about these. Pages, reports, digests, alerts and commands draw
them.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a module when it is asked for first: the command line starts without them."""
    if name not in {"words", "company", "comparison", "coverage", "chart"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
