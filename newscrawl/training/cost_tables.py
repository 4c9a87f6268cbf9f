"""What extraction costs, as tables in a document.

A document marks the place with `<!-- cost: NAME -->` and `<!-- end -->`; what stands between is
written by `newscrawl cost --write-docs`, never by hand.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from newscrawl.training.corpus import CorpusError
from newscrawl.training.cost import Memory, Size, Stage, growth

_MARK = re.compile(r"(<!-- cost: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cost:
    """All that was measured in one run, when, where, and over which pages."""

    stages: Sequence[Stage]
    sizes: Sequence[Size]
    memory: Sequence[Memory]
    provenance: str


def write(cost: Cost, document: Path) -> None:
    """Fill every marked place of the document.

    Raises:
        CorpusError: a mark that names no table.
    """

    def fill(mark: re.Match[str]) -> str:
        if mark[2] not in TABLES:
            known = ", ".join(TABLES)
            raise CorpusError(f"{document}: no table {mark[2]!r} of cost; there are {known}")
        return f"{mark[1]}{TABLES[mark[2]](cost)}\n{mark[3]}"

    document.write_text(_MARK.sub(fill, document.read_text("utf-8")), "utf-8")


def _stages(cost: Cost) -> str:
    lines = [
        f"| {stage.name} | {stage.milliseconds:.2f} | {stage.times_parse:.2f} |"
        for stage in cost.stages
    ]
    return "\n".join(["| stage | ms a page | × bare parse |", "|---|--:|--:|", *lines])


def _sizes(cost: Cost) -> str:
    heads = "| page, KB | ms | ms a KB | × bare parse |\n|--:|--:|--:|--:|"
    lines = [
        f"| {size.kilobytes:,.0f} | {size.milliseconds:,.1f} | {size.per_kilobyte:.3f} "
        f"| {size.milliseconds / size.parse:.1f} |"
        for size in cost.sizes
    ]
    told = (
        f"A KB of the largest page costs {growth(cost.sizes):.2f} times one of the cheapest page."
    )
    return "\n".join([heads, *lines, "", told])


def _memory(cost: Cost) -> str:
    lines = [f"| {each.pages:,} | {each.megabytes:.0f} |" for each in cost.memory]
    return "\n".join(["| pages read | MB |", "|--:|--:|", *lines])


TABLES: Final[Mapping[str, Callable[[Cost], str]]] = {
    "stages": _stages,
    "sizes": _sizes,
    "memory": _memory,
    "provenance": lambda cost: cost.provenance,
}
