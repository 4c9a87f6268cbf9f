"""Templates for all HTML and Markdown that shows text from the web: every value is escaped."""

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"  # templates of several packages
MAX_TITLE, MAX_URL = 200, 2000  # characters
# Characters that HTML can't contain, and marks that reverse the direction of the text after them.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
# Where a formula begins in a spreadsheet (OWASP, "CSV Injection"): at the beginning of a cell, and
# where one that splits at semicolons or tabs, and takes a quote amid a cell for a letter, begins
# another one.
_FORMULA = re.compile(r"""(^|[;\t\r\n])([\s"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
_FIRST_BREAK = ("\t", "\r", "\n")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&#!])")


class MarkdownText(str):
    """Text that is Markdown already: a template does not escape it again."""

    __slots__ = ()


def html_templates(folder: Path) -> Environment:
    """Return the HTML templates of a folder: values are escaped, and characters that HTML can't
    hold are replaced."""
    environment = _environment(folder, _html_value)
    environment.autoescape = True
    environment.filters |= {"link_url": safe_url, "one_line": one_line}
    environment.globals["max_title"] = MAX_TITLE
    return environment


def markdown_templates(folder: Path) -> Environment:
    """Return the Markdown templates of a folder: values are escaped and in one line."""
    environment = _environment(
        folder, lambda value: value if isinstance(value, MarkdownText) else markdown(str(value))
    )
    environment.filters |= {"link": markdown_link, "bold": markdown_bold, "raw": MarkdownText}
    return environment


def _environment(folder: Path, finalize: object) -> Environment:
    environment = Environment(  # noqa: S701 - HTML is escaped by autoescape, Markdown below
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        finalize=finalize,  # type: ignore[arg-type]
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["pieces"] = lambda snippet: marked_pieces(snippet.text, snippet.marks)
    return environment


def plain(text: str) -> str:
    """Return the text with U+FFFD in place of every character that HTML can't hold."""
    return _UNFIT.sub("\ufffd", text)


def spreadsheet_text(text: str) -> str:
    """Return the text with an apostrophe before each part that a spreadsheet would take for a
    formula."""
    text = _FORMULA.sub(r"\1\2'", text)
    return f"'{text}" if text.startswith(_FIRST_BREAK) else text


def _html_value(value: object) -> object:
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def one_line(text: str) -> str:
    """Return the text without line breaks and control characters: it may quote a web page."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def markdown(text: str) -> MarkdownText:
    """Return plain text as Markdown: in one line, with all marks escaped."""
    return MarkdownText(_MARKDOWN.sub(r"\\\1", one_line(text)))


def markdown_link(text: str, url: str) -> MarkdownText:
    """Return a Markdown link, or the bare text where the URL is not safe."""
    safe, label = safe_url(url), markdown(one_line(text)[:MAX_TITLE])
    return label if safe is None else MarkdownText(f"[{label}](<{safe}>)")


def markdown_bold(pieces: list[tuple[str, bool]]) -> MarkdownText:
    """Return marked pieces of text as Markdown, the marked ones in bold."""
    return MarkdownText(
        "".join(
            f"**{markdown(piece)}**" if marked and piece.strip() else _with_blanks(piece)
            for piece, marked in pieces
        )
    )


def _with_blanks(piece: str) -> str:
    """Return a piece as Markdown with the blanks at its ends, which separate it from bold text."""
    bare = markdown(piece)
    before = " " if piece[:1].isspace() else ""
    after = " " if piece[-1:].isspace() and bare else ""
    return f"{before}{bare}{after}"


def marked_pieces(text: str, marks: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """Return the text in pieces, each with whether it is marked.

    `marks` are starts and ends. Marks outside the text are left out; of marks that overlap, the
    first and longest counts.
    """
    pieces, position = [], 0
    for start, end in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
        if start < position or end > len(text) or start >= end:
            continue
        pieces += [(text[position:start], False), (text[start:end], True)]
        position = end
    pieces.append((text[position:], False))
    return [(piece, marked) for piece, marked in pieces if piece]


def safe_url(url: str | None) -> str | None:
    """Return the URL, percent-encoded for a link, if it is an http or https URL; else None."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        return None
    if url is None or len(url) > MAX_URL or not url.isprintable():
        return None
    return quote(url, safe="%/:?#[]@!$&'()*+,;=-._~", errors="replace")


def content_hash(text: str) -> str:
    """Return the source expression that allows an inline style or script in a content policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
