"""The judge of small inputs with faults that users report."""

import json

from benchmarks.field import judge_field

_URLS = "https://a.example/1?utm_source=rss\nhttps://a.example/1"
_FEED = (
    "<rss><channel><item><title>Quay</title><link>https://a.example/1</link></item></channel></rss>"
)


def test_inputs_of_each_kind_are_counted_and_wrong_ones_named(run_benchmark, tmp_path):
    cases = {
        "07-twice/same.txt": ("url", _URLS, True),
        "07-twice/different.txt": ("url", _URLS, False),
        "21-feeds/quay.xml": ("feed", _FEED, [{"url": "https://a.example/1", "title": "Quay"}]),
    }
    for name, (area, content, expected) in cases.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
        case = {"area": area, "question": "", "expected": expected, "input": file.name}
        file.with_suffix(".json").write_text(json.dumps(case))
    ran = run_benchmark(judge_field, str(tmp_path), "--format", "json")
    assert json.loads(ran.out) == [
        {"kind": "07-twice", "inputs": 2, "right": 1, "wrong": "different.txt "},
        {"kind": "21-feeds", "inputs": 1, "right": 1, "wrong": ""},
    ]
