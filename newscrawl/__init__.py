"""newscrawl watches the news for companies. This is its public door."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newscrawl.items import Article, Mention, Page

if TYPE_CHECKING:
    from newscrawl.extraction.extract import extract

__all__ = ["Article", "Mention", "Page", "__version__", "extract"]

__version__ = "0.1.0"


# Modules of the public door that need no import of their own.
_MODULES = ("mentions", "query")


def __dir__() -> list[str]:
    return [*__all__, *_MODULES]


def __getattr__(name: str) -> Any:
    """Load what is asked for, and no more: the command line starts in half the time."""
    if name in _MODULES:
        return import_module(f"newscrawl.{name}")
    if name == "extract":
        from newscrawl.extraction.extract import extract  # noqa: PLC0415 - the reason of this function

        return extract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
