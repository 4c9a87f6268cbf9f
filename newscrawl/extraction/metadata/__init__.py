"""What a page says about its article: title, authors, dates, kind and more."""

from newscrawl.extraction.metadata.reader import Metadata, read

__all__ = ["Metadata", "read"]
