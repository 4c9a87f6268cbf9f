"""How many of the most frequent suggested names are organisations, by labels of others.

    python -m benchmarks.suggestions ../shared/names

A folder with labelled sentences has a file LANGUAGE.jsonl.gz for each language: JSON lines with
`text` and `spans` (start, end, type). Each sentence counts as an article. Nothing is measured
without the folder.
"""

import argparse
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from newscrawl.mentions import load_companies
from newscrawl.mentions.unregistered import find_unregistered

FIRST = 100
_ORGANISATIONS = frozenset({"ORG", "COM", "NCO"})


def _sentences(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def verdict_of(text: str, name: str, spans: list[list[Any]]) -> str:
    """Return "organisation", "other" or "unlabelled" for the first place of a name."""
    start = text.find(name)
    kinds = {kind for first, last, kind in spans if first < start + len(name) and start < last}
    if kinds & _ORGANISATIONS:
        return "organisation"
    return "other" if kinds else "unlabelled"


def main() -> None:
    """Print for each language how many of the first names are organisations, and the others."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", action="append")
    parser.add_argument("--wrong", action="store_true", help="print the names that are none")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        sys.exit(f"no folder {arguments.folder}: nothing is measured")
    companies = load_companies()
    print("language sentences names first organisations other unlabelled share")
    for file in sorted(arguments.folder.glob("*.jsonl.gz")):
        language = file.name.partition(".")[0]
        if arguments.language and language not in arguments.language:
            continue
        verdicts: dict[str, Counter[str]] = defaultdict(Counter)
        examples: dict[tuple[str, str], str] = {}
        number = 0
        for number, row in enumerate(_sentences(file), 1):  # noqa: B007
            text = row["text"]
            mentions = companies.find(text, language=language)
            for suggestion in find_unregistered(text, language, mentions, companies.is_registered):
                verdict = verdict_of(text, suggestion.name, row["spans"])
                verdicts[suggestion.name][verdict] += 1
                examples.setdefault((suggestion.name, verdict), text)
        first = sorted(verdicts, key=lambda name: (-verdicts[name].total(), name))[:FIRST]
        decided = {name: verdicts[name].most_common(1)[0][0] for name in first}
        counts = Counter(decided.values())
        right = counts["organisation"]
        share = right / len(first) if first else 0.0
        print(
            f"{language} {number} {len(verdicts)} {len(first)} {right} {counts['other']} "
            f"{counts['unlabelled']} {share:.2f}"
        )
        if arguments.wrong:
            for name in first:
                if decided[name] != "organisation":
                    example = examples[name, decided[name]][:160]
                    print("   ", decided[name], repr(name), "|", example)


if __name__ == "__main__":
    main()
