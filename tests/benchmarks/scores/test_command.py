"""The commands of `python -m benchmarks.scores`."""

import csv
import hashlib
import json
from pathlib import Path

import pytest

from benchmarks.scores.mentions import read_labels

BUNDLED = Path(__file__).parents[2] / "corpus"
PARTS = ["development", "held-out", "second", "held-out-2", "third", "held-out-3"]
PARTS += ["fourth", "held-out-4", "fifth", "held-out-5", "sixth", "held-out-6"]
PARTS += ["seventh", "held-out-7"]


def test_mentions_are_scored_by_language(run_scores):
    ran = run_scores("mentions", "--format", "json")
    assert ran.code == 0
    listed = json.loads(ran.out)
    rows = {row["group"]: row for row in listed if row["kind"] == "written"}
    assert {"en", "de", "fr", "es", "it"} <= set(rows)
    assert list(rows)[-15:] == ["all", *PARTS]
    languages = [row for group, row in rows.items() if group not in ("all", *PARTS)]
    assert rows["all"]["mentions"] == sum(row["mentions"] for row in languages)
    assert 0 < rows["held-out"]["texts"] < rows["all"]["texts"]
    large = [row for row in rows.values() if row["mentions"] >= 100]
    figures = ("precision", "recall")
    hard = [rows[part] for part in ("held-out-5", "seventh", "held-out-7")]
    assert all(0.9 <= row[key] <= 1 for row in large if row not in hard for key in figures)
    assert all(0.8 <= row[key] <= 1 for row in hard for key in figures)


def test_real_news_is_scored_separately_if_its_corpus_is_present(run_scores, tmp_path):
    (labels, *_) = [
        text for text in read_labels() if (text.part, text.language) == ("development", "it")
    ]
    folder = tmp_path / labels.set
    (folder / "pages").mkdir(parents=True)
    (folder / "pages" / f"{labels.page}.html").write_text("<p>Rain.</p>", "utf-8")
    page = {"id": labels.page, "lang": labels.language, "site": labels.site, "text": "Rain."}
    (folder / "gold.jsonl").write_text(json.dumps(page), "utf-8")
    mentions = ("mentions", "--lang", "it")
    ran = run_scores(*mentions, "--corpus", folder, "--worst", 3)
    assert ran.code == 0
    assert "1 labelled text of real news skipped: the gold text has changed" in ran.err
    assert f"skipped: not in {labels.set}" in ran.err
    assert "labelled real news (development)" in ran.out
    assert ran.fits
    ran = run_scores(*mentions, "--corpus", folder, "--sealed", "--format", "json")
    rows = json.loads(ran.out)
    assert {"kind": "real", "group": "all", "texts": 0}.items() <= next(
        row.items() for row in rows if row["kind"] == "real"
    )
    assert "labelled texts of real news skipped" in run_scores(*mentions).err


def test_label_that_was_not_renamed_with_the_registry_is_named(run_scores, tmp_path, monkeypatch):
    text = "Boeing fa ventole."
    row = {"set": "news", "page": "fans", "language": "it", "site": "rain.example"}
    row |= {"part": "development", "headline": False, "in_title": [], "doubt": []}
    row |= {"sha256": hashlib.sha256(text.encode()).hexdigest(), "in_text": [[0, 6, "Boeing Co"]]}
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps(row), "utf-8")
    folder = tmp_path / "news"
    (folder / "pages").mkdir(parents=True)
    (folder / "pages" / "fans.html").write_text(f"<p>{text}</p>", "utf-8")
    page = {"id": "fans", "lang": "it", "site": "rain.example", "text": text}
    (folder / "gold.jsonl").write_text(json.dumps(page), "utf-8")
    monkeypatch.setattr("benchmarks.scores.command.read_labels", lambda: read_labels(labels))
    ran = run_scores("mentions", "--lang", "it", "--corpus", folder)
    assert "same span, other name: label Boeing Co, registry Boeing; rename the label" in ran.err


def test_metadata_is_scored_by_set(run_scores):
    ran = run_scores("metadata", "--corpus", BUNDLED, "--format", "csv")
    assert ran.code == 0
    rows = list(csv.DictReader(ran.out.splitlines()))
    assert [row["set"] for row in rows] == ["mini", "all"]
    assert float(rows[0]["title_f1"]) > 0.9
    assert float(rows[0]["day"]) > 0.9
    assert 0 < int(rows[0]["day.pages"]) <= 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mention"], "No such command 'mention'"),
        (["mentions", "--sealed"], "give --corpus DIR or set NEWSCRAWL_CORPUS"),
        (["mentions", "--lang", "xx"], "unknown language 'xx'"),
        (["metadata"], "give --corpus DIR or set NEWSCRAWL_CORPUS"),
        (["mentions", "--cases", "missing.jsonl"], "can't read the labelled texts of missing"),
    ],
    ids=["command", "sealed", "language", "no corpus", "cases"],
)
def test_meaningless_options_are_refused(run_scores, arguments, message):
    ran = run_scores(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_corpus_without_gold_metadata_is_refused(run_scores, tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>Rain.</p>", "utf-8")
    gold = {"id": "a", "lang": "en", "site": "rain.example", "text": "Rain."}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold), "utf-8")
    ran = run_scores("metadata", "--corpus", tmp_path)
    assert ran.code == 1
    assert "no article with gold title, authors or date" in ran.err
