"""The eight features of a block."""

import json
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction.blocks import ProfileName, read_blocks
from newscrawl.extraction.features import (
    NAMES,
    UPPER_LIMITS,
    VERSION,
    Features,
    Limits,
    keep,
    limits_for,
    load_limits,
    measure,
)
from newscrawl.extraction.html import parse
from newscrawl.extraction.tokens import count

SHARES = ("characters", "stop_words", "anchors")


def features(html: str, profile: ProfileName = "html5") -> Features:
    return measure(read_blocks(parse(html.encode()), profile))


def value(html: str, name: str, profile: ProfileName = "html5") -> float:
    (row,) = features(html, profile).values
    return float(row[NAMES.index(name)])


@pytest.mark.parametrize(
    ("name", "html", "expected"),
    [
        ("sentence_length", "<p>One two three. Four five.", 2.5),
        ("sentence_length", "<p>no end at all", 4.0),
        ("sentence_length", "<p>银行降息了。", 5.0),
        ("sentences", "<p>One. Two! Three?", 3.0),
        ("characters", "<p>ab 12 ...", 4 / 7),
        ("characters", "<p>***", 0.0),
        ("stop_words", "<p>the cat and the dog", 3 / 5),
        ("stop_words", "<p>der Hund und die Katze", 3 / 5),
        ("anchors", "<p>see <a href=x>the report</a> here", 2 / 4),
        ("anchors", "<p><a href=x>Home</a> <a href=y>News</a>", 1.0),
        ("formats", "<p>a <b>bold</b> and an <i>oblique</i> word", 2 / 6),
        ("lists", "<ul><li>two words</ul>", 1 / 2),
        ("structure", "<p>four words stand here", 1 / 4),
        ("structure", "<div>four words stand here", 0.0),
    ],
)
def test_feature_has_its_defined_value(name, html, expected):
    assert value(html, name) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "expected"), [("structure", 2 / 4), ("lists", 3 / 4), ("formats", 0.0)]
)
def test_2007_counts_removed_elements_but_not_the_cell(name, expected):
    html = "<table><tr><td><h1>One</h1><p>two</p><ul><li>three<li>four</ul></table>"
    assert value(html, name, "2007") == pytest.approx(expected)


def test_stop_word_ratio_is_the_highest_of_all_lists():
    """A Spanish sentence is as good as an English one."""
    spanish = "<p>El banco dijo que no es la última de las bajadas</p>"
    english = "<p>The bank said that it is not the last of the cuts</p>"
    assert min(value(spanish, "stop_words"), value(english, "stop_words")) > 0.5


def test_features_have_one_row_per_block_in_the_papers_order():
    found = features("<p>one</p><p>two</p><p>three</p>")
    assert found.values.shape == (3, len(NAMES))
    assert len(NAMES) == 8
    assert set(NAMES) >= UPPER_LIMITS


@pytest.mark.parametrize("profile", ["html5", "2007"])
def test_page_without_blocks_has_no_rows(profile):
    assert features("", profile).values.shape == (0, len(NAMES))


@pytest.mark.parametrize("profile", ["html5", "2007"])
@given(
    parts=st.lists(
        st.sampled_from(
            ["<p>", "<b>", "</b>", "<a href=x>", "</a>", "<li>", "<td>", "the ", "Bank. ", "12,5 ",
             "新闻。", "…", "*** ", "<h2>", "</h2>", "<br>", "<span>", "</span>"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_features_are_in_their_ranges(profile, parts):
    found = features("".join(parts), profile)
    assert np.isfinite(found.values).all()
    assert (found.values >= 0).all()
    shares = found.values[:, [NAMES.index(name) for name in SHARES]]
    assert (shares <= 1).all()


@given(words=st.lists(st.sampled_from(["the", "cat", "Bank", "12", "sat"]), min_size=1))
def test_more_links_raise_only_the_anchor_ratio(words):
    plain, linked = " ".join(words), " ".join(f"<a href=x>{word}</a>" for word in words)
    one, other = features(f"<p>{plain}.").values[0], features(f"<p>{linked}.").values[0]
    anchors = NAMES.index("anchors")
    assert (one[anchors], other[anchors]) == (0.0, 1.0)
    rest = np.arange(len(NAMES)) != anchors
    assert one[rest] == pytest.approx(other[rest])


# --- FE: a block is kept when all eight limits hold ---

LIMITS = Limits(np.array([5.0, 1.0, 0.5, 0.2, 0.4, 0.0, 0.3, 0.0]))
INSIDE = np.array([6.0, 2.0, 0.6, 0.3, 0.3, 0.1, 0.2, 0.1])


def kept(row: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bool:
    return bool(keep(Features(values=row[None], tokens=count(("x",))), LIMITS)[0])


def test_block_within_all_limits_is_kept():
    assert kept(INSIDE)


def test_block_at_the_limits_is_kept():
    assert kept(LIMITS.values)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("formats", "structure")])
def test_one_broken_limit_drops_the_block(name):
    row, place = INSIDE.copy(), NAMES.index(name)
    step = 0.01 if name in UPPER_LIMITS else -0.01
    row[place] = LIMITS.values[place] + step
    assert not kept(row)


@pytest.mark.parametrize("profile", ["html5", "2007"])
def test_learned_limits_have_a_provenance(profile):
    file = files("newscrawl.extraction").joinpath("data/thresholds.json")
    entry = json.loads(file.read_text("utf-8"))[profile]
    assert entry["provenance"]["corpus"]
    assert entry["provenance"]["feature_version"] == VERSION
    assert entry["provenance"]["command"]
    assert entry["provenance"]["date"]
    assert load_limits(profile).values.tolist() == [entry["limits"][name] for name in NAMES]


@pytest.mark.parametrize(
    ("text", "unspaced"),
    [
        ("银行表示这不是最后一次降息", True),
        ("今日、銀行は Apple と合意した", True),
        ("The bank said so, and 银行 too", False),
        ("Hindi में समाचार", False),
        ("", False),
    ],
)
def test_unspaced_scripts_have_their_own_limits(text, unspaced):
    tokens = count((text,))
    found = limits_for(Features(values=np.zeros((1, len(NAMES))), tokens=tokens))
    own, other = load_limits(unspaced=unspaced), load_limits(unspaced=not unspaced)
    assert found.values.tolist() == own.values.tolist() != other.values.tolist()
