"""WARC archives: written by crawls, replayed, and taken in from elsewhere (docs/archive.md)."""
