"""newscrawl watches the news for companies. This is its public door."""

from typing import TYPE_CHECKING, Any

from newscrawl.items import Article, Mention, Page

if TYPE_CHECKING:
    from newscrawl.extraction.article import extract

__all__ = ["Article", "Mention", "Page", "__version__", "extract"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the extractor when it is asked for: the command line starts in half the time."""
    if name == "extract":
        from newscrawl.extraction.article import extract  # noqa: PLC0415 - the reason of this function

        return extract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
