"""newscrawl watches the news for companies. This is its public door."""

from newscrawl.extraction.article import extract
from newscrawl.items import Article, Mention, Page

__all__ = ["Article", "Mention", "Page", "__version__", "extract"]

__version__ = "0.1.0"
