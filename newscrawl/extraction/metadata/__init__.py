"""What a page says about its article: title, authors, dates, kind and more."""

from newscrawl.extraction.metadata.reader import Metadata, read_metadata

__all__ = ["Metadata", "read_metadata"]
