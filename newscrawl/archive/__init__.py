"""Archives of responses in WARC: writing, replay, ingestion and reextraction (docs/archive.md)."""


class ArchiveError(ValueError):
    """An archive can't be read or written; the message is one line with the reason."""
