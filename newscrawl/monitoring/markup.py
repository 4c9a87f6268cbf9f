"""What strangers wrote, made safe to stand in Markdown and HTML that we send."""

import re
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from lxml import etree
from lxml.builder import E

from newscrawl.monitoring.notify import one_line
from newscrawl.storage.queries import ArticleRow, FoundArticle, Snippet

_MARKS = re.compile(r"([\\`*_\[\]<>|~&#!])")
_LONGEST_TITLE, _LONGEST_URL = 200, 2000
_CELL = "padding:4px 10px 4px 0;text-align:left;vertical-align:top;"
_NUMBER = "padding:4px 10px 4px 0;text-align:right;vertical-align:top;"
_PAGE = "font-family:sans-serif;font-size:14px;line-height:1.4;color:#1a1a1a;max-width:46em;"
_SMALL = "color:#555555;font-size:12px;"
_STEPS = "▁▂▃▄▅▆▇█"


def markdown(text: str) -> str:
    """Plain text as Markdown: in one line, and no mark of it means anything."""
    return _MARKS.sub(r"\\\1", one_line(text)[:_LONGEST_TITLE])


def safe_url(url: str) -> str | None:
    """The address, if it is one of the web that can stand in a link."""
    try:
        web = urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return None
    if not web or len(url) > _LONGEST_URL or not url.isprintable():
        return None
    return quote(url, safe="%/:?#[]@!$&'()*+,;=-._~", errors="replace")


def markdown_link(text: str, url: str) -> str:
    """A link, or the bare text where the address is none."""
    safe = safe_url(url)
    if safe is None:
        return markdown(text)
    return f"[{markdown(text)}](<{safe}>)"


def link(text: str, url: str) -> etree._Element:
    """A link as an element, or the bare text where the address is none."""
    safe = safe_url(url)
    plain = one_line(text)[:_LONGEST_TITLE]
    return E.span(plain) if safe is None else E.a(plain, href=safe, rel="noreferrer")


def title_of(article: ArticleRow) -> str:
    """The headline, or the address where there is none."""
    return article.title or article.url


def markdown_articles(found: Sequence[FoundArticle]) -> list[str]:
    """A list of articles, each with a sentence that names the company in bold."""
    lines = []
    for one in found:
        article = one.article
        head = markdown_link(title_of(article), article.url)
        lines.append(f"- {head} ({markdown(article.source)}, {article.day})")
        lines += [f"  > {_bold(snippet)}" for snippet in _sentence(one)]
    return lines


def articles(found: Sequence[FoundArticle]) -> etree._Element:
    """The same list as an element."""
    items = []
    for one in found:
        article = one.article
        item = E.li(
            link(title_of(article), article.url),
            E.span(f" {article.source}, {article.day}", style=_SMALL),
        )
        item.extend(_marked(snippet) for snippet in _sentence(one))
        items.append(item)
    return E.ul(*items, style="padding-left:18px;")


def table(
    headings: Sequence[str], rows: Sequence[Sequence[etree._Element | str]]
) -> etree._Element:
    """A table whose first column is text, the others numbers."""
    head = E.tr(*(E.th(text, style=_style(number)) for number, text in enumerate(headings)))
    body = (E.tr(*(E.td(c, style=_style(n)) for n, c in enumerate(cells))) for cells in rows)
    return E.table(head, *body, style="border-collapse:collapse;")


def page(title: str, *parts: etree._Element) -> str:
    """A whole HTML page."""
    root = E.html(
        E.head(E.meta(charset="utf-8"), E.title(one_line(title))), E.body(*parts, style=_PAGE)
    )
    text: str = etree.tostring(root, method="html", encoding="unicode", doctype="<!DOCTYPE html>")
    return text


def note(text: str) -> etree._Element:
    """A line in small print."""
    return E.p(text, style=_SMALL)


def spark(counts: Sequence[int | None]) -> str:
    """Counts as a line of small bars; gaps are dots."""
    most = max((count for count in counts if count is not None), default=0)
    return "".join("·" if count is None else _bar(count, most) for count in counts)


def _bar(count: int, most: int) -> str:
    return _STEPS[round(count / most * (len(_STEPS) - 1))] if most else _STEPS[0]


def _style(column: int) -> str:
    return _NUMBER if column else _CELL


def _sentence(found: FoundArticle) -> list[Snippet]:
    """The first sentence of the text that names the company; the headline is shown anyway."""
    return [snippet for snippet in found.snippets if snippet.section == "body"][:1]


def _bold(snippet: Snippet) -> str:
    return "".join(
        f"**{markdown(piece)}**" if marked and piece.strip() else _kept(piece)
        for piece, marked in _pieces(snippet)
    )


def _kept(piece: str) -> str:
    """Escaped, with the blanks at its ends, which part it from what is bold."""
    bare = markdown(piece)
    left = " " if piece[:1].isspace() else ""
    right = " " if piece[-1:].isspace() and bare else ""
    return f"{left}{bare}{right}"


def _marked(snippet: Snippet) -> etree._Element:
    block = E.div(style=_SMALL)
    for piece, marked in _pieces(snippet):
        plain = "".join(sign if sign.isprintable() else " " for sign in piece)
        if marked:
            block.append(E.b(plain))
        elif len(block):
            block[-1].tail = (block[-1].tail or "") + plain
        else:
            block.text = (block.text or "") + plain
    return block


def _pieces(snippet: Snippet) -> list[tuple[str, bool]]:
    pieces, end = [], 0
    for start, stop in sorted(snippet.marks):
        pieces += [(snippet.text[end:start], False), (snippet.text[start:stop], True)]
        end = max(end, stop)
    pieces.append((snippet.text[end:], False))
    return [(text, marked) for text, marked in pieces if text]
