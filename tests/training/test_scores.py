"""The headline rule, and which measures a page allows."""

from pathlib import Path

import pytest

from newscrawl.training.corpus import GoldPage
from newscrawl.training.evaluation import MEASURES, score_page


def gold_page(set_name: str = "news", **fields: object) -> GoldPage:
    base: dict[str, object] = {
        "id": "p",
        "set": set_name,
        "lang": "en",
        "site": "paper.com",
        "path": Path("p.html"),
        "line": "{}",
        "text": "Bank cuts rates\n\nThe central bank has cut its rates.",
    }
    return GoldPage(**(base | fields))  # type: ignore[arg-type]


BODY = "The central bank has cut its rates."


def word_f1(page: GoldPage, text: str, title: str | None) -> float:
    return score_page(page, text, title, ["word"])["word.f1"]


def test_title_is_prepended_if_golds_begin_with_it() -> None:
    page = gold_page("daniel")
    assert word_f1(page, BODY, "Bank cuts rates") == 1.0
    assert word_f1(page, f"Bank cuts rates\n\n{BODY}", "Bank cuts rates") == 1.0


def test_tool_without_titles_is_scored_on_its_text() -> None:
    assert word_f1(gold_page("daniel"), BODY, None) == pytest.approx(2 * 0.7 / 1.7)


@pytest.mark.parametrize(
    "text", [BODY, f"  Bank cuts rates!\n{BODY}"], ids=["body", "headline and body"]
)
def test_known_title_is_removed_from_text_and_gold(text: str) -> None:
    assert word_f1(gold_page(title="Bank Cuts Rates"), text, "anything") == 1.0


def test_line_longer_than_the_title_is_kept() -> None:
    page = gold_page(title="Bank cuts", text=BODY)
    assert word_f1(page, f"Bank cuts rates\n{BODY}", None) < 1.0


def test_page_with_phrases_only_has_one_score() -> None:
    page = gold_page(text=None, with_=("central bank",), without=("Subscribe",))
    assert score_page(page, BODY, None, MEASURES) == {"phrases": 1.0}


def test_all_measures_are_computed_by_name() -> None:
    page = gold_page(with_=("central bank",))
    assert set(score_page(page, BODY, None, MEASURES)) == {
        "phrases",
        "similarity",
        "kl",
        "euclidean",
        "cosine",
        *(
            f"{m}.{p}"
            for m in ("word", "voc", "shingle", "clean")
            for p in ("precision", "recall", "f1")
        ),
    }
