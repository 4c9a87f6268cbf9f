"""The score of a mention is the probability that it is right."""

import json

import pytest

from benchmarks.recipes.mention_calibration import (
    JudgedMention,
    cross_validate,
    fit_score,
    judged_case,
)
from benchmarks.scores.mentions import LabelledText
from newscrawl.mentions import Companies, Company
from newscrawl.mentions.score import load_model
from tests.worlds import bundled_companies


def judged(rule: str, right: int, wrong: int) -> list[JudgedMention]:
    return [
        JudgedMention(evidence=(f"rule={rule}",), is_right=number < right, site=f"{rule}{number}")
        for number in range(right + wrong)
    ]


def test_score_is_the_share_of_right_mentions_with_the_same_evidence():
    model = fit_score(judged("name", 980, 20) + judged("cue", 600, 400))
    assert model.score(("rule=name",)) == pytest.approx(0.98, abs=0.005)
    assert model.score(("rule=cue",)) == pytest.approx(0.6, abs=0.01)
    # What the model does not know of has no weight.
    assert model.score(("rule=name", "kind=new")) == model.score(("rule=name",))


def test_scores_of_unseen_sites_fit_better_than_the_plain_share():
    fit = cross_validate(judged("name", 980, 20) + judged("cue", 600, 400))
    assert (fit.mentions, fit.wrong) == (2000, 420)
    assert fit.brier < fit.constant
    assert fit.area > 0.7
    assert sum(one.mentions for one in fit.bins) == 2000
    assert all(abs(one.score - one.share) < 0.05 for one in fit.bins)


def test_mentions_beyond_the_labels_are_wrong():
    companies = Companies([Company(name="Siemens"), Company(name="Bosch")])
    text = LabelledText(
        id="1", part="p", language="en", text="Siemens and Bosch.", mentions=(("Bosch", "Bosch"),)
    )
    found = judged_case(companies, text)
    assert [one.is_right for one in found] == [False, True]
    assert {"rule=certain", "companies=some", "mentions=one"} <= set(found[0].evidence)


def test_doubtful_mention_has_a_lower_score_than_one_beyond_doubt():
    companies = bundled_companies()
    (sure,) = companies.find("Volkswagen and the union agreed.", language="en")
    (doubtful,) = companies.find("Shares of Orange rose by 3 percent.", language="en")
    assert sure.score is not None
    assert doubtful.score is not None
    assert doubtful.score < sure.score < 1
    assert load_model() is load_model()


def test_score_of_a_mention_is_fitted_to_cases_and_corrections(run_recipe, tmp_path):
    case = {"id": "1", "part": "corrections", "language": "en", "text": "Siemens wins."}
    wrong = {**case, "id": "2", "mentions": []}
    cases = tmp_path / "cases.jsonl"
    lines = [json.dumps(wrong | {"id": str(number)}) for number in range(400)]
    cases.write_text("\n".join(lines), "utf-8")
    models = {}
    for name, options in (("ours", ()), ("corrected", ("--cases", cases))):
        path = tmp_path / f"{name}.json"
        ran = run_recipe("mentions", "-o", path, *options)
        assert ran.code == 0, ran.err
        assert "Brier score" in ran.err
        models[name] = json.loads(path.read_text("utf-8"))
    assert models["corrected"]["provenance"]["mentions"] == (
        models["ours"]["provenance"]["mentions"] + 400
    )
    of_one_company = [model["weights"]["companies=one"] for model in models.values()]
    assert of_one_company[1] < of_one_company[0]
    ran = run_recipe("mentions", "--folds", 3, "--format", "json")
    assert (ran.code, "written" in ran.err) == (0, False)
    assert sum(row["mentions"] for row in json.loads(ran.out)) > 1000
