"""Decode the bytes of a page to UTF-8, and parse them to a tree.

Nearly every news page is UTF-8 already: it is checked and not copied. Only for others is the
charset detected.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Final

import cchardet
from selectolax.lexbor import LexborHTMLParser, LexborNode
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from newscrawl.text import PASTED, WESTERN, WIDER_CHARSETS, may_be_western, unescape_all

# What the WHATWG Encoding Standard gives Western pages that declare nothing.
LAST_RESORT: Final = "cp1252"
# Ours: a UTF-8 page cut within a character has a handful of bad bytes, while letters of a legacy
# charset read as UTF-8 are nearly all bad.
MAX_BROKEN_SHARE: Final = 0.1
# Ours: characters of another charset on a page that declares UTF-8 and has some of it.
MAX_PASTED: Final = 10
# Ours: bytes that bound the guess to some milliseconds; the mean page has 92,000.
GUESSED_FROM: Final = 1 << 18
# Ours, measured over 400 pages: twice as fast as one decode(), which fills fresh memory.
CHECKED_AT_ONCE: Final = 4096
# Ours: characters of a text or attribute that are read as metadata.
MAX_VALUE: Final = 5_000
# Ours: unclosed comments and texts of a page that are closed, and the share of the page that the
# last of them must hide.
MAX_REPAIRS: Final = 3
MIN_HIDDEN_SHARE: Final = 0.1

# Bytes of a page that say whether it is a binary file.
SNIFFED: Final = 4096
# Control characters except tab, line ends, form feed and the escape of ISO-2022. Ours: text has
# nearly none of them, random bytes have a tenth, programs and pictures more.
_CONTROLS: Final = bytes(set(range(32)) - {9, 10, 12, 13, 27})
MAX_CONTROLS: Final = 0.05
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_RAW_TEXTS: Final = frozenset(
    ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
)
_TITLE: Final = re.compile(rb"<title[^>]*+>[^<]*+(</title)?+", re.IGNORECASE)
_ASCII: Final = bytes(range(128))
# U+0080 to U+009F, and sequences of UTF-8 whose bytes were taken for Latin-1 and encoded again.
_CONTROL: Final = re.compile(rb"\xc2[\x80-\x9f]")
_TWICE: Final = re.compile(rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]){1,3}")
_IN_WINDOWS: Final = {
    chr(number).encode(): bytes([number]).decode("cp1252", "ignore").encode()
    for number in range(0x80, 0xA0)
}


def parse(html: bytes, limited: bytes | None = None) -> LexborHTMLParser:
    """Parse UTF-8 into a tree, in time and memory linear to its size (`limits`).

    A comment or text without an end, such as a `<title>` that was never closed, would hide the rest
    of the page: it is closed. `limited` is the page within the limits, where it is known.
    """
    from newscrawl.extraction.limits import close_raw_text, within_limits  # noqa: PLC0415 - numpy

    tree = LexborHTMLParser(within_limits(html) if limited is None else limited)
    for _ in range(MAX_REPAIRS):
        if not _hides_the_rest(tree, html) or (repaired := close_raw_text(html)) is html:
            break
        html = repaired
        tree = LexborHTMLParser(within_limits(html))
    return tree


def _hides_the_rest(tree: LexborHTMLParser, html: bytes) -> bool:
    """Return whether a title has tags, or the page ends within a long comment or raw text."""
    title = _TITLE.search(html)
    if title and not title[1]:
        return True
    body = tree.body
    node = tree.head if body is None or body.last_child is None else body
    while node is not None and node.last_child is not None:
        node = node.last_child
    hidden = _raw_text(node) if node is not None else ""
    if len(hidden) < MIN_HIDDEN_SHARE * len(html):
        return False
    return html[-200:].rstrip().endswith("".join(hidden[-40:].split()[-1:]).encode())


def _raw_text(node: LexborNode) -> str:
    """Return the text of a comment, or of a text in an element that holds no other element."""
    if node.is_comment_node:
        return node.comment_content or ""
    parent = node.parent
    raw = node.is_text_node and parent is not None and parent.tag in _RAW_TEXTS
    return (node.text_content or "") if raw else ""


def squeeze(text: str | None) -> str:
    """Return a text with single blanks for white space and without references, at most `MAX_VALUE`
    characters of it."""
    if not text:
        return ""
    text = text[:MAX_VALUE]
    return " ".join((unescape_all(text) if "&" in text else text).split())


def decode(html: bytes | str, declared: str | None = None) -> bytes:
    """Return a page as UTF-8 without byte-order mark. Never raises; bytes that can't be decoded
    become U+FFFD.

    `declared` is the charset of the HTTP header, alone ("gb2312") or as the whole header value
    ("text/html; charset=gb2312"). Valid UTF-8 is UTF-8 whatever the header or the page says:
    text of another charset that happens to be valid UTF-8 is far rarer than a wrong declaration.
    Labels are read as browsers read them (iso-8859-1 is windows-1252, gb2312 is gb18030).
    What was encoded twice is decoded twice, and a binary file is empty.
    """
    if isinstance(html, bytes) and is_binary(html):
        return b""
    return _without_controls(_as_utf8(html, declared))


def is_binary(html: bytes) -> bool:
    """Return whether bytes are no text but a picture, a document, an archive or a program."""
    sniffed = html[:SNIFFED]
    controls = len(sniffed) - len(sniffed.translate(None, _CONTROLS))
    # UTF-16 and UTF-32 are text in spite of their zeros.
    wide = sniffed.startswith(_WIDE_MARKS) or sniffed.lstrip(b"\0 \t\r\n").startswith(b"<")
    return html.startswith(b"%PDF-") or (not wide and controls > len(sniffed) * MAX_CONTROLS)


def _without_controls(html: bytes) -> bytes:
    """Return UTF-8 without the controls U+0080 to U+009F, which no page needs.

    They stem from UTF-8 that was taken for Latin-1 and encoded once more, or else from
    windows-1252, as which browsers read references to them.
    """
    if not _has_controls(html):
        return html
    if any(
        _CONTROL.search(match[0]) and _decode_again(match[0]) for match in _TWICE.finditer(html)
    ):
        html = _TWICE.sub(lambda match: _decode_again(match[0]) or match[0], html)
    return _CONTROL.sub(lambda match: _IN_WINDOWS[match[0]], html)


def _has_controls(html: bytes) -> bool:
    place = html.find(b"\xc2")
    while place >= 0:
        if html[place + 1] < 0xA0:
            return True
        place = html.find(b"\xc2", place + 2)
    return False


def _decode_again(twice: bytes) -> bytes | None:
    """Return what was encoded twice decoded once, if that is UTF-8."""
    once = twice.decode().encode("latin-1")
    length = 2 + (once[0] >= 0xE0) + (once[0] >= 0xF0)  # of the sequence that begins so
    try:
        once[:length].decode()
    except UnicodeDecodeError:
        return None
    return once[:length] + twice[2 * length :]


def _as_utf8(html: bytes | str, declared: str | None) -> bytes:
    if isinstance(html, str):
        return _encode(html)
    bom_encoding, bom = read_bom(html)
    if bom_encoding is not None and bom is not None:
        return _transcode(html[len(bom) :], bom_encoding)
    # Escapes and NULs are ASCII, but the mark of ISO-2022-JP and UTF-16.
    if b"\x1b" not in html[:4096] and b"\0" not in html[:64] and _is_utf8(html):
        return html
    return _transcode(html, _find_encoding(html, declared))


def _encode(text: str) -> bytes:
    try:
        return text.removeprefix("\ufeff").encode()
    except UnicodeEncodeError:
        # Surrogates: pairs are one character each, lone ones are nothing.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _is_utf8(html: bytes) -> bool:
    if html.isascii():
        return True
    view, start, size = memoryview(html), 0, len(html)
    try:
        while start < size:
            end = start + CHECKED_AT_ONCE
            start += codecs.utf_8_decode(view[start:end], "strict", end >= size)[1]
    except UnicodeDecodeError:
        return False
    return True


def _transcode(html: bytes, encoding: str) -> bytes:
    if encoding == "utf-8" and _is_utf8(html):
        return html
    return _encode(html.decode(encoding, PASTED if encoding == "utf-8" else "replace"))


def _find_encoding(html: bytes, declared: str | None) -> str:
    if utf16 := _utf16_without_mark(html):
        return utf16
    high_bytes = len(html.translate(None, _ASCII))
    text = html.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if high_bytes and broken <= MAX_BROKEN_SHARE * high_bytes:
        return "utf-8"
    # A few pasted or cut characters on a page that has few: what is valid is rarely so by chance.
    by_header = declared and (http_content_type_encoding(declared) or resolve_encoding(declared))
    if "utf-8" in {by_header, html_body_declared_encoding(html)}:
        valid = len(text) - len(text.encode("ascii", "ignore")) - broken
        if valid and broken <= max(valid, MAX_PASTED):
            return "utf-8"
    is_western = may_be_western(html[:GUESSED_FROM])
    for encoding in _candidates(html, declared):
        # The page isn't valid UTF-8, so a declaration of it is wrong.
        if encoding == "utf-8" or (encoding in WESTERN and not is_western):
            continue
        if _fits(html, encoding, high_bytes):
            return encoding
    return "utf-8" if not high_bytes else LAST_RESORT


def _candidates(html: bytes, declared: str | None) -> Iterator[str]:
    """Yield what the header, the page and the statistics say, as names that Python knows.

    A header of windows-1252 comes last: servers and HTTP clients say so where they know nothing.
    """
    by_header = None
    if declared:
        by_header = http_content_type_encoding(declared) or resolve_encoding(declared.strip())
        if by_header and by_header != LAST_RESORT:
            yield by_header
    if by_page := html_body_declared_encoding(html):
        yield by_page
    if by_header:
        yield by_header
    guess = cchardet.detect(html[:GUESSED_FROM])["encoding"]
    if guess and (by_statistics := resolve_encoding(guess)):
        yield WIDER_CHARSETS.get(by_statistics, by_statistics)


def _fits(html: bytes, encoding: str, high_bytes: int) -> bool:
    """Return whether hardly any byte of the page is invalid in a text encoding."""
    if encoding.startswith(("utf-16", "utf-32")):  # these have NULs or a mark
        return False
    try:
        if not codecs.lookup(encoding)._is_text_encoding:
            return False
        broken = html.decode(encoding, "replace").count("\ufffd")
    except (LookupError, ValueError, TypeError):
        return False
    return broken <= MAX_BROKEN_SHARE * max(high_bytes, 1)


def _utf16_without_mark(html: bytes) -> str | None:
    """Return the byte order by the markup at the start, which is ASCII in every language."""
    start = html[:64]
    half = len(start) // 2
    if half and start[1::2].count(0) > 0.8 * half and start[::2].count(0) == 0:
        return "utf-16-le"
    if half and start[::2].count(0) > 0.8 * half and start[1::2].count(0) == 0:
        return "utf-16-be"
    return None
