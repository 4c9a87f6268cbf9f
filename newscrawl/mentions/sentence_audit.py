"""Compare the mentions in labelled sentences with their labels, by language, rule and form: which
forms mostly name a person or a place."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from newscrawl.mentions.company import CompaniesError
from newscrawl.mentions.registry import Companies

Verdict = Literal["right", "wrong", "other", "unlabelled"]
_ORGANISATIONS = frozenset({"ORG", "COM", "NCO"})
_PERSONS_AND_PLACES = frozenset({"PER", "LOC"})
# Characters of an example on both sides of the form.
_AROUND = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceRow:
    """How many mentions of a language, rule or form lie on the label of an organisation (`right`),
    on those of persons and places alone (`wrong`), on another label, and on none; with an example
    of the worst of these for a form."""

    table: str
    key: str
    right: int
    wrong: int
    something_else: int
    unlabelled: int
    wrong_share: float | None
    example: str = ""


def audit_sentences(companies: Companies, folder: Path, *, forms: int) -> list[SentenceRow]:
    """Return the rows of all languages and rules, and of the worst forms; raise CompaniesError for
    a folder without labelled sentences or a line that is none."""
    counts: dict[tuple[str, str], Counter[Verdict]] = defaultdict(Counter)
    examples: dict[tuple[str, Verdict], str] = {}
    for language, text, spans in _sentences(folder):
        for mention in companies.find(text, language=language):
            kinds = [
                kind for start, end, kind in spans if start < mention.end and mention.start < end
            ]
            verdict = _verdict(kinds)
            form = f"{mention.surface} ({mention.company})"
            for table, key in (("language", language), ("rule", mention.rule), ("form", form)):
                counts[table, key][verdict] += 1
            begin, right = max(0, mention.start - _AROUND), mention.end + _AROUND
            examples.setdefault((form, verdict), " ".join(text[begin:right].split()))
    rows = [
        SentenceRow(
            table=table,
            key=key,
            right=count["right"],
            wrong=count["wrong"],
            something_else=count["other"],
            unlabelled=count["unlabelled"],
            wrong_share=_share(count),
            example=examples.get((key, "wrong")) or examples.get((key, "unlabelled"), ""),
        )
        for (table, key), count in counts.items()
    ]
    worst = sorted(rows, key=lambda row: (-(row.wrong - row.right), -row.unlabelled, row.key))
    by_form = [row for row in worst if row.table == "form" and row.wrong + row.unlabelled]
    by_share = sorted(rows, key=lambda row: (-(row.wrong_share or 0), row.key))
    return [
        *(row for table in ("language", "rule") for row in by_share if row.table == table),
        *by_form[:forms],
    ]


def _verdict(kinds: list[str]) -> Verdict:
    if not kinds:
        return "unlabelled"
    if not _ORGANISATIONS.isdisjoint(kinds):
        return "right"
    return "other" if _PERSONS_AND_PLACES.isdisjoint(kinds) else "wrong"


def _share(count: Counter[Verdict]) -> float | None:
    labelled = count.total() - count["unlabelled"]
    return round(count["wrong"] / labelled, 3) if labelled else None


def _sentences(folder: Path) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield language, text and spans of each sentence: JSON lines with `lang`, `text` and `spans`
    (start, end, type), in files *.jsonl or *.jsonl.gz."""
    files = sorted((*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")))
    if not files:
        raise CompaniesError(
            "no *.jsonl or *.jsonl.gz in this folder",
            "name a folder of labelled sentences",
            file=str(folder),
        )
    for file in files:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    sentence = json.loads(line)
                    yield sentence["lang"], sentence["text"], sentence["spans"]
                except (ValueError, KeyError, TypeError) as error:
                    raise CompaniesError(
                        f"no labelled sentence ({error})",
                        "write an object with lang, text and spans on each line",
                        file=str(file),
                        line=number,
                    ) from None
