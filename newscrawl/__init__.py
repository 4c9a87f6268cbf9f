"""newscrawl watches the news for companies. This is its public interface."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newscrawl.items import Article, Mention, Page

if TYPE_CHECKING:
    from newscrawl.extraction.extract import extract

__all__ = ["Article", "Mention", "Page", "__version__", "extract"]

__version__ = "0.1.0"


# Modules of the public interface that can be accessed without their own import.
_MODULES = ("mentions", "query")


def __dir__() -> list[str]:
    return [*__all__, *_MODULES]


def __getattr__(name: str) -> Any:
    """Import a name when it is used: the command line starts in half the time."""
    if name in _MODULES:
        return import_module(f"newscrawl.{name}")
    if name == "extract":
        from newscrawl.extraction.extract import extract  # noqa: PLC0415 - the reason of this function

        return extract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
