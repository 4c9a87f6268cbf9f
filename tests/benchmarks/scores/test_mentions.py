"""Labels of real news, and the pairs of text and company that are scored with them."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from benchmarks.scores.mentions import (
    JudgedText,
    LabelsError,
    join_texts,
    judge,
    pair_mistakes,
    read_labels,
    renamed,
    score_languages,
    score_rules,
)
from newscrawl.mentions import Companies, Company
from newscrawl.training.corpus import DEVELOPMENT, SEALED, load_corpus
from tests.worlds import bundled_companies

SITE = "rain.example"
ARTICLES = {
    "umbrellas": ("en", "Bosch cools", "Siemens builds umbrellas. So does Regenschirm & Sohn."),
    "boats": ("en", None, "The boat was named Boeing. Airbus had sent it."),
    "Schirme": ("de", None, "Siemens baut Schirme, Bosch kühlt sie."),
}


def gold(page: str) -> dict[str, object]:
    language, title, text = ARTICLES[page]
    return {"id": page, "lang": language, "site": SITE, "title": title, "text": text}


def labels_of(page: str, *named: str, doubt: str = "") -> dict[str, object]:
    """A line of labels: every company of `named` where it first stands in the text."""
    language, title, text = ARTICLES[page]
    places = [[text.index(name), text.index(name) + len(name), name] for name in named]
    start = text.find(doubt)
    return {
        "set": "news",
        "page": page,
        "language": language,
        "site": SITE,
        "part": DEVELOPMENT,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "headline": title is not None,
        "in_title": [[0, 5, "Bosch"]] if title else [],
        "in_text": places,
        "doubt": [["text", start, start + len(doubt), doubt, "joke"]] if doubt else [],
    }


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus" / "news"
    (folder / "pages").mkdir(parents=True)
    for page in ARTICLES:
        (folder / "pages" / f"{page}.html").write_text("<p>Rain.</p>", "utf-8")
    lines = "".join(f"{json.dumps(gold(page))}\n" for page in ARTICLES)
    (folder / "gold.jsonl").write_text(lines, "utf-8")
    return folder.parent


@pytest.fixture
def companies() -> Companies:
    return Companies([Company(name=name) for name in ("Siemens", "Bosch", "Boeing", "Airbus")])


def judged(
    companies: Companies, corpus: Path, *rows: dict[str, object]
) -> tuple[list[JudgedText], dict[str, int]]:
    file = corpus / "labels.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    texts, skipped = join_texts(read_labels(file), load_corpus(corpus))
    return judge(companies, texts), skipped


def test_pairs_are_counted_once_per_text_and_by_language(companies, corpus):
    found, skipped = judged(
        companies,
        corpus,
        labels_of("umbrellas", "Siemens", "Regenschirm & Sohn"),
        labels_of("boats", "Airbus"),
        labels_of("Schirme", "Siemens"),
    )
    assert skipped == {}
    english, german, both = score_languages(found)
    assert (english.group, english.texts, english.pairs, english.unregistered) == ("en", 2, 3, 1)
    assert (english.overlap.precision, english.overlap.recall) == (0.75, 1.0)
    assert (german.group, german.overlap.precision) == ("de", 0.5)
    assert (both.group, both.texts, both.pairs) == ("all", 3, 4)


def test_missed_company_lowers_recall(companies, corpus):
    row = labels_of("boats", "Airbus")
    row["in_text"] = [*row["in_text"], [4, 8, "Bosch"]]  # type: ignore[misc]
    found, _ = judged(companies, corpus, row)
    assert score_languages(found)[-1].overlap.recall == 0.5
    (made,) = pair_mistakes(found)
    assert made.missed == (("Bosch", "boat"),)
    assert made.wrong == (("Boeing", "Boeing", "name"),)


def test_wrong_pair_with_the_span_of_a_label_names_both(companies, corpus):
    row = labels_of("boats", "Airbus")
    row["in_text"] = [[19, 25, "Boeing Defense"], *row["in_text"]]  # type: ignore[misc]
    found, _ = judged(companies, corpus, row)
    assert renamed(found) == [("Boeing Defense", "Boeing")]
    others, _ = judged(companies, corpus, labels_of("boats", "Airbus"))
    assert renamed(others) == []


@pytest.mark.corpus
def test_labels_of_open_news_have_the_names_of_the_registry():
    folder = os.environ.get("NEWSCRAWL_CORPUS")
    if not folder:
        pytest.skip("no development corpus: set NEWSCRAWL_CORPUS")
    opened = [one for one in read_labels() if one.part == DEVELOPMENT]
    texts, skipped = join_texts(opened, load_corpus(Path(folder)))
    assert texts
    assert not [reason for reason in skipped if "changed" in reason]
    assert renamed(judge(bundled_companies(), texts)) == []


def test_doubtful_company_is_not_scored(companies, corpus):
    found, _ = judged(companies, corpus, labels_of("boats", "Airbus", doubt="Boeing"))
    score = score_languages(found)[-1]
    assert (score.pairs, score.overlap.precision, score.overlap.recall) == (1, 1.0, 1.0)
    assert pair_mistakes(found) == []


def test_place_in_doubt_stays_so_when_its_company_gets_an_entry_of_its_own(companies, corpus):
    row = labels_of("boats", "Airbus", doubt="Boeing")
    row["doubt"][0][3] = "Boeing Group"  # type: ignore[index]
    found, _ = judged(companies, corpus, row)
    assert pair_mistakes(found) == []


def test_precision_is_reported_by_rule(companies, corpus):
    found, _ = judged(companies, corpus, labels_of("boats", "Airbus"))
    (rule,) = score_rules(found)
    assert (rule.rule, rule.pairs, rule.precision) == ("name", 2, 0.5)


def test_missing_or_changed_texts_are_skipped_with_the_reason(companies, corpus):
    changed = labels_of("boats", "Airbus") | {"sha256": "0" * 64}
    missing = labels_of("Schirme") | {"page": "Mäntel"}
    found, skipped = judged(companies, corpus, changed, missing, labels_of("umbrellas"))
    assert len(found) == 1
    assert skipped == {"the gold text has changed since it was labelled": 1, "not in corpus": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"part": "both"},
        {"in_text": [[1, 2]]},
        {"doubt": None},
        {"paragraphs": [1]},
        {"sha256": None},
    ],
)
def test_invalid_labels_are_named_with_their_line(corpus, change):
    row = labels_of("boats", "Airbus") | change
    if change == {"sha256": None}:
        del row["sha256"]
    file = corpus / "labels.jsonl"
    file.write_text(f"{json.dumps(labels_of('boats'))}\n{json.dumps(row)}\n", "utf-8")
    with pytest.raises(LabelsError, match="line 2"):
        read_labels(file)


def test_paragraphs_of_a_page_without_gold_text_are_scored(companies, corpus):
    page = corpus / "news" / "pages" / "fans.html"
    page.write_text("<p>Menu<p>Boeing<br> builds fans.<p><p>Airbus  cools.<p>Siemens", "utf-8")
    text = "Boeing builds fans.\n\nAirbus cools."
    with (corpus / "news" / "gold.jsonl").open("a", encoding="utf-8") as gold_file:
        gold_file.write(json.dumps({"id": "fans", "lang": "en", "site": SITE, "with": ["Boeing"]}))
    row = labels_of("boats") | {
        "page": "fans",
        "paragraphs": [1, 4],
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "in_text": [[0, 6, "Boeing"], [21, 27, "Airbus"]],
    }
    (one,), skipped = judged(companies, corpus, row)
    assert (one.text.text, skipped) == (text, {})
    score = score_languages([one])[-1]
    assert (score.pairs, score.overlap.precision, score.overlap.recall) == (2, 1.0, 1.0)


def test_bundled_labels_keep_a_sealed_part_and_contain_no_text():
    labels = read_labels()
    sealed = [one for one in labels if one.part == SEALED]
    assert 200 <= len(sealed) < len(labels) / 2
    assert len({one.language for one in sealed}) >= 8
    pages = {(one.set, one.page) for one in labels}
    assert len(pages) == len(labels)
    for one in labels:
        for place in (*one.occurrences, *one.in_doubt):
            assert 0 <= place.start < place.end
            assert place.section in ("title", "text")
            assert place.company.strip() == place.company != ""
