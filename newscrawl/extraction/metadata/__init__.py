"""What a page says about its article: title, authors, dates, kind and more."""

from newscrawl.extraction.metadata.reader import Metadata, kind_of, read

__all__ = ["Metadata", "kind_of", "read"]
