"""Write the table of places into docs/metadata.md: python -m newscrawl.extraction.metadata FILE."""

import re
import sys
from pathlib import Path

from newscrawl.extraction.metadata.reader import FIELDS


def rows() -> list[str]:
    """Return the rows of the table: each field with its places, in the order of trust."""
    return [
        f"| {field} | {order} | `{place.__name__}` | {_what(place.__doc__)} |"
        for field, orders in FIELDS.items()
        for order, places in orders.items()
        for place in places
    ]


def with_table(text: str) -> str:
    """Return a document with the table as it is now, between its marks."""
    table = "\n".join(("| Field | Tuple | Place | What it reads |", "|---|---|---|---|", *rows()))
    return re.sub(
        "(?<=<!-- places -->\n).*?(?=\n<!-- end -->)", lambda _: table, text, flags=re.DOTALL
    )


def _what(docstring: str | None) -> str:
    first = " ".join((docstring or "").partition("\n\n")[0].split())
    return first.removeprefix("Read ").removesuffix(".")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(with_table(file.read_text("utf-8")), "utf-8")
