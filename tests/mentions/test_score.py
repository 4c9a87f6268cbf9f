"""The labelled texts, and how well their mentions are found."""

import json

import pytest

from benchmarks.scores.mentions import LabelsError, mistakes, read_labelled, score_mentions
from tests.worlds import bundled_companies


@pytest.fixture(scope="module")
def companies():
    return bundled_companies()


@pytest.fixture(scope="module")
def labelled():
    return read_labelled()


def test_every_label_is_a_known_company_and_occurs_in_its_text(companies, labelled):
    assert len(labelled) >= 400
    for text in labelled:
        for company, surface in text.mentions:
            assert companies.by_name(company).name == company, text.id
            assert surface in f"{text.title}\n{text.text}", text.id


def test_many_texts_are_hard_negatives(labelled):
    assert sum(not text.mentions for text in labelled) > len(labelled) / 3


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "all"])
def test_mentions_are_found_in_each_language(companies, labelled, language):
    scores = {score.group: score for score in score_mentions(companies, labelled)}
    assert scores[language].overlap.f1 >= 0.95


@pytest.mark.parametrize(
    ("language", "least"),
    [("all", 0.97), ("en", 0.95), ("de", 0.95), ("fr", 0.95), ("es", 0.95), ("it", 0.94)],
)
def test_held_out_texts_reach_their_minimum_score(companies, labelled, language, least):
    unseen = [text for text in labelled if text.part in {"held-out", "held-out-2"}]
    scores = {score.group: score for score in score_mentions(companies, unseen)}
    assert scores[language].overlap.f1 >= least


def test_held_out_texts_in_many_languages_reach_their_minimum_score(companies, labelled):
    unseen = [text for text in labelled if text.part == "held-out-3"]
    assert len({text.language for text in unseen}) >= 25
    assert score_mentions(companies, unseen)[-1].overlap.f1 >= 0.9


@pytest.mark.parametrize(("part", "least"), [("held-out-4", 0.88), ("held-out-5", 0.86)])
def test_held_out_hard_texts_reach_their_minimum_score(companies, labelled, part, least):
    unseen = [text for text in labelled if text.part == part]
    assert len({text.language for text in unseen}) >= 25
    assert score_mentions(companies, unseen)[-1].overlap.f1 >= least


@pytest.mark.parametrize(("part", "least"), [("held-out-6", 0.83), ("held-out-7", 0.87)])
def test_held_out_news_with_headlines_reaches_its_minimum_score(companies, labelled, part, least):
    unseen = [text for text in labelled if text.part == part]
    assert unseen
    assert all(text.title for text in unseen)
    assert score_mentions(companies, unseen)[-1].overlap.f1 >= least


def test_score_counts_missed_and_false_mentions(companies, tmp_path):
    labels = [("Siemens", []), ("Boeing", ["Boeing"]), ("nobody", ["Bosch"])]
    rows = [
        {
            "id": str(number),
            "part": "p",
            "language": "en",
            "text": text,
            "mentions": [[name, name] for name in names],
        }
        for number, (text, names) in enumerate(labels, start=1)
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    texts = read_labelled(file)
    total = score_mentions(companies, texts)[-1]
    assert (total.group, total.texts, total.mentions) == ("all", 3, 2)
    assert (total.overlap.precision, total.overlap.recall) == (0.5, 0.5)
    wrong = mistakes(companies, texts)
    assert [(m.text.id, m.missed, m.invented) for m in wrong] == [
        ("1", (), (("Siemens", "Siemens"),)),
        ("3", (("Bosch", "Bosch"),), ()),
    ]


def test_invalid_label_is_named_with_its_line(tmp_path):
    file = tmp_path / "labels.jsonl"
    file.write_text('{"id": "1"}\n', encoding="utf-8")
    with pytest.raises(LabelsError, match="line 1"):
        read_labelled(file)
