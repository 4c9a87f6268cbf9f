"""All questions keep their answers over a fixed world, on SQLite and on PostgreSQL.

The frozen answers were written before the storage and the views of questions were changed. Where
an answer changes on purpose, `python -m tests.answers --freeze` freezes it anew; the commit says
which numbers or fields changed, and why.
"""

import json
from collections.abc import Iterator

import pytest

from tests.answers.dump import expected_lines, write_answers

pytestmark = pytest.mark.thorough
_MOST = 5  # answers that a failure shows


def _by_question(lines: Iterator[str] | list[str]) -> dict[str, str]:
    """Return the answers, as JSON, by the JSON of what was asked."""
    answers = {}
    for line in lines:
        asked, answer = json.loads(line)
        answers[json.dumps(asked, ensure_ascii=False)] = json.dumps(answer, ensure_ascii=False)
    return answers


def test_answers_are_those_that_were_frozen(tables_url, tmp_path):
    expected = _by_question(expected_lines())
    answers = _by_question(write_answers(tables_url, tmp_path))
    assert answers.keys() == expected.keys()
    different = [asked for asked in expected if answers[asked] != expected[asked]]
    shown = [(asked, expected[asked], answers[asked]) for asked in different[:_MOST]]
    assert not different, f"{len(different)} answers differ, among them {shown}"


def test_frozen_answers_are_full_and_equal_through_the_api():
    lines = [json.loads(line) for line in expected_lines()]
    answered = {asked["question"] for asked, answer in lines if answer not in ([], {}, None)}
    every = {asked["question"] for asked, _ in lines}
    assert answered == every
    through_api = [answer for asked, answer in lines if asked["through"] == "api"]
    assert sum(answer != "as in Python" for answer in through_api) <= _MOST
