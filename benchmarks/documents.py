"""Write the tables of documents from a benchmark's result; they are never edited by hand.

A document marks the place with `<!-- KIND: NAME -->` and `<!-- end -->`.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from newscrawl.training.corpus import CorpusError

Result = TypeVar("Result")


def marks(kind: str) -> re.Pattern[str]:
    """Return a pattern for the marked places of a kind; its groups are the opening mark, the name
    of the table and the closing mark."""
    return re.compile(rf"(<!-- {kind}: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(
    document: Path, kind: str, tables: Mapping[str, Callable[[Result], str]], result: Result
) -> list[str]:
    """Write the tables of a result into the marked places; return the names of the tables.

    Raises:
        CorpusError: a mark that names no table.
    """
    text = document.read_text("utf-8")
    names: list[str] = []

    def table(mark: re.Match[str]) -> str:
        if mark[2] not in tables:
            known = ", ".join(tables)
            raise CorpusError(f"{document}: no {kind} table {mark[2]!r}; choose from {known}")
        names.append(mark[2])
        return f"{mark[1]}{tables[mark[2]](result)}\n{mark[3]}"

    filled = marks(kind).sub(table, text)
    if filled != text:
        document.write_text(filled, "utf-8")
    return names
