"""What a page says about its article: title, authors, dates, kind and more."""

from newscrawl.extraction.metadata.kinds import asks_to_subscribe
from newscrawl.extraction.metadata.reader import Metadata, kind_of, read

__all__ = ["Metadata", "asks_to_subscribe", "kind_of", "read"]
