"""Archives of responses in WARC: writing, replay, ingestion and reextraction (docs/archive.md)."""
