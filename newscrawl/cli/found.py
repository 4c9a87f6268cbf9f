"""How articles are shown with the places that made them be found."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from newscrawl.cli.arguments import ExportFormat
from newscrawl.cli.output import Column, printable, render

if TYPE_CHECKING:
    from newscrawl.storage.queries import FoundArticle, Snippet


def show_found(found: "Sequence[FoundArticle]", form: ExportFormat, title: str) -> None:
    """Writes the articles; in a table what was looked for is bold in its sentence."""
    if form == "table":
        columns: tuple[Column, ...] = (
            Column(key="day", heading="day"),
            Column(key="article", heading="article", wide=True),
        )
        records = [{"day": one.article.day, "article": _entry(one)} for one in found]
    else:
        names = ("day", "source", "url", "title", "published_at", "language", "snippets")
        columns = tuple(Column(key=name, heading=name) for name in names)
        records = [_record(one) for one in found]
    render(records, columns, form, title=title)


def _record(one: "FoundArticle") -> dict[str, object]:
    row = one.article
    return {
        "day": row.day,
        "source": row.source,
        "url": row.url,
        "title": row.title,
        "published_at": row.published_at,
        "language": row.language,
        "snippets": tuple(snippet.text for snippet in one.snippets),
    }


def _entry(one: "FoundArticle") -> Text:
    row = one.article
    parts: list[Text | tuple[str, str] | str] = [
        (printable(row.title or "(no headline)"), "bold"),
        "\n",
        printable(" · ".join(filter(None, (row.source, row.language)))),
    ]
    parts += [part for snippet in one.snippets for part in ("\n", _marked(snippet))]
    parts += ["\n", (printable(row.url), "dim")]
    return Text.assemble(*parts)


def _marked(snippet: "Snippet") -> Text:
    text = Text(printable(snippet.text))
    for start, end in snippet.marks:
        text.stylize("bold reverse", start, end)
    return text
