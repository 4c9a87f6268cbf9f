"""Metadata of other tools, from the answers that the extraction benchmark has stored."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.metadata import compare_metadata, score_peers
from newscrawl.training.corpus import SEALED, GoldPage, load_corpus, part_of

BUNDLED = Path(__file__).parents[1] / "corpus"


def store(folder: Path, tool: str, pages: list[GoldPage], *fields: str) -> None:
    """Answers of a tool that reads just what the gold says, in these fields."""
    fingerprint = load_corpus(BUNDLED).fingerprint[:12]
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"set": page.set, "id": page.id, "text": ""}
        | {field: getattr(page, field) for field in fields}
        for page in pages
    ]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / f"{tool}_1.0_{fingerprint}.jsonl").write_text(lines + '{"set": "mi', "utf-8")


@pytest.fixture
def pages() -> list[GoldPage]:
    return list(load_corpus(BUNDLED))


def test_without_stored_answers_only_newscrawl_is_scored(run_benchmark):
    ran = run_benchmark(compare_metadata, "--corpus", BUNDLED, "--format", "csv")
    assert ran.code == 0
    assert [line.split(",")[1] for line in ran.out.splitlines()[1:]] == ["newscrawl"] * 2
    assert "make bench-peers stores them" in ran.err


def test_metadata_is_compared_with_stored_answers(run_benchmark, tmp_path, pages):
    answers = tmp_path / "results" / "benchmark"
    store(answers, "perfect", pages, "title", "authors", "date")
    ran = run_benchmark(compare_metadata, "--corpus", BUNDLED)
    assert ran.code == 0
    assert len(re.findall(r"perfect +1\.000 +1\.000 +1\.000 +1\.000 +–", ran.out)) == 2
    assert ran.fits


def test_tools_with_titles_only_fewer_pages_or_variants_are_omitted(tmp_path, pages):
    store(tmp_path, "titles", pages, "title")
    store(tmp_path, "halfway", pages[:3], "title", "date")
    store(tmp_path, "newscrawl-fe", pages, "title", "date")
    store(tmp_path, "days", pages, "date")
    store(tmp_path, "days-fast", pages, "date")
    (found,) = score_peers(tmp_path, load_corpus(BUNDLED).fingerprint, pages)
    assert (found.tool, found.version) == ("days", "1.0")
    assert set(found.scores["all"]) == {"day"}
    assert score_peers(tmp_path, "another corpus", pages) == []


def test_sealed_and_open_sites_make_up_all(run_benchmark, pages):
    counts = []
    for part in ("--open", "--sealed"):
        ran = run_benchmark(compare_metadata, "--corpus", BUNDLED, part, "-f", "json")
        counts.append(json.loads(ran.out)[-1]["language.pages"])
    owners = [page.owner for page in pages if page.page_type == "article"]
    sealed = [part_of(owner) for owner in owners].count(SEALED)
    assert counts == [len(owners) - sealed, sealed]
    assert all(counts)
