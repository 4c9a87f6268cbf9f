"""docs/mentions.md and docs/mention_quality.md say what the code does."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

from benchmarks.scores.mentions import read_labelled, score_mentions
from newscrawl.mentions import load_companies
from newscrawl.mentions.registry import BUNDLED
from newscrawl.mentions.registry_audit import (
    as_markdown,
    audit,
    coverage,
    listed_companies,
    missing_members,
)
from tests.worlds import bundled_companies

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "mentions.md").read_text(encoding="utf-8")
QUALITY = (DOCS / "mention_quality.md").read_text(encoding="utf-8")
CONSTANTS = re.findall(r"^\| ([a-z_]+)\.([A-Z_]+) \| (\d+) \|", PAGE, re.MULTILINE)
SCORES = re.findall(
    r"^\| ([\w-]+) \| (\d+) \| (\d+) \| (0\.\d+|1\.000) \| (0\.\d+|1\.000) \| (0\.\d+|1\.000) \|$",
    QUALITY,
    re.MULTILINE,
)


def test_documented_constants_equal_the_code():
    assert len(CONSTANTS) >= 6
    assert len(SCORES) >= 13
    modules = {module: import_module(f"newscrawl.mentions.{module}") for module, *_ in CONSTANTS}
    assert [(m, name, str(getattr(modules[m], name))) for m, name, _ in CONSTANTS] == CONSTANTS


def test_documented_registry_figures_are_right():
    total = [0] * 5
    for file in sorted(BUNDLED.glob("*.toml")):
        entries = tomllib.loads(file.read_text(encoding="utf-8"))["company"]
        kinds = [entry.get("kind") for entry in entries]
        counts = [
            len(entries),
            sum(kinds.count(kind) for kind in ("affiliate", "brand", "subsidiary")),
            kinds.count("joint venture"),
            sum(
                1 + len(entry.get("aliases", [])) + len(entry.get("stems", [])) for entry in entries
            ),
            sum(len(entry.get("ambiguous", [])) for entry in entries),
        ]
        total = [before + count for before, count in zip(total, counts, strict=True)]
        assert f"| {file.stem} | {' | '.join(map(str, counts))} |" in PAGE
    assert f"| all | {' | '.join(map(str, total))} |" in PAGE


def test_documented_scores_are_right():
    companies, texts = bundled_companies(), read_labelled()
    scores = {score.group: score for score in score_mentions(companies, texts)}
    for part in {text.part for text in texts}:
        of_part = [text for text in texts if text.part == part]
        scores[part] = score_mentions(companies, of_part)[-1]
    for group, *figures in SCORES:
        score = scores.pop(group)
        overlap = score.overlap
        measured = [f"{value:.3f}" for value in (overlap.precision, overlap.recall, overlap.f1)]
        assert figures == [str(score.texts), str(score.mentions), *measured], group
    assert not scores


def test_audit_of_the_registry_is_as_documented():
    page = (DOCS / "registry.md").read_text(encoding="utf-8")
    for table in as_markdown(audit(bundled_companies())).split("\n\n"):
        assert table.strip() in page, "write it anew: newscrawl companies audit --markdown"


def test_large_companies_of_indices_have_entries():
    missing = missing_members(bundled_companies())
    assert len(missing) >= 15
    # A name of an everyday thing.
    assert {name for names in missing.values() for name in names} <= {"Airport City"}


def test_listed_companies_are_found_by_isin_and_registrars_name(tmp_path):
    registry = tmp_path / "mine.toml"
    registry.write_text(
        '[[company]]\nname = "Quayside Works"\nisin = "GB00"\n[[company]]\nname = "Bolt"\n',
        encoding="utf-8",
    )
    file = tmp_path / "listed.csv"
    file.write_text(
        "country,size,name,isin\n"
        'Ireland,large,"Quayside Group, plc",GB00\n'
        'Ireland,large,"Quayside Works, Inc.",\n'
        'Ireland,mid,"Bolt Cutters, Inc.",\n'
        'Japan,mid,"Peter, Inc.",\n',
        encoding="utf-8",
    )
    listed = [*listed_companies(load_companies(registry, alone=True), file)]
    assert [(one.entry, one.refused) for one in listed] == [
        ("Quayside Works", None),
        ("Quayside Works", None),
        (None, None),
        (None, "is a given name"),
    ]
    numbers = {row.key: row.number for row in coverage(listed)}
    assert numbers["Ireland, with an entry of 3"] == 2
    assert numbers["is a given name"] == 1
