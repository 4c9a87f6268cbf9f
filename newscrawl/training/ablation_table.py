"""What each source of evidence is worth, as a file and as a table of a document."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from statistics import fmean

SETS = ("daniel", "fundus", "wcxb")


@dataclass(frozen=True, slots=True)
class Left:
    """Word F1 (mean of pages of unseen sites) by set, with one source left out."""

    source: str
    daniel: float
    fundus: float
    wcxb: float


def as_csv(rows: Sequence[Left]) -> str:
    """The table for the documents."""
    out = StringIO()
    writer = csv.DictWriter(out, ["source", "daniel", "fundus", "wcxb"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                key: value if isinstance(value, str) else f"{value:.4f}"
                for key, value in asdict(row).items()
            }
        )
    return out.getvalue()


def as_markdown(text: str) -> str:
    """The same as a table of a document, with what each source is worth in points."""
    rows = list(csv.DictReader(StringIO(text)))
    whole = rows[0]
    lines = [
        "| left out | news of 2011 | recent news | articles | mean change |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        change = fmean(float(row[name]) - float(whole[name]) for name in SETS)
        cells = " | ".join(f"{float(row[name]):.3f}" for name in SETS)
        told = "" if row is whole else f"{100 * change:+.1f}"
        lines.append(f"| {row['source']} | {cells} | {told} |")
    return "\n".join(lines)
