"""Archives of responses in WARC: writing, replay, ingestion and reextraction (docs/archive.md)."""


class ArchiveError(ValueError):
    """An archive can't be read or written; the message is one line with the reason."""


# Ours: bytes of a response that are not its body: status line, headers, sizes and extensions of
# chunks, trailers, interim responses. nginx, Apache and Node pass on 8 to 16 KiB of headers. Chunks
# of six bytes have as many again: a response may have as many more as its body.
MAX_FRAMING_BYTES = 64 * 1024
