"""CETR: lines, tag ratios, smoothing, and the three ways to part content from the rest."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction import cetr
from newscrawl.extraction.cetr import PAPER, Kernel, Tuning, Variant, derivatives, smooth

KERNELS: tuple[Kernel, ...] = ("unit", "literal")
VARIANTS: tuple[Variant, ...] = ("cetr", "cetr-km", "cetr-tm")
PROSE = "The mayor said on Monday that the harbour would have a new crane by the spring. " * 2
PAGE = (
    "<html><body>\n"
    + "<ul><li><a href=x>Home</a></li></ul>\n" * 30
    + f"<p>{PROSE}</p>\n" * 12
    + "<div><a href=y>More</a><a href=z>Less</a></div>\n" * 30
    + "</body></html>"
)

# Whole characters over whole tags.
ratio = st.builds(lambda chars, tags: chars / tags, st.integers(0, 5000), st.integers(1, 50))
ratios = st.lists(ratio, min_size=1, max_size=60).map(np.array)


def text_of(page: str, variant: Variant, tuning: Tuning = PAPER) -> str:
    lines = cetr.read_lines(page, tuning)
    return "\n".join(cetr.paragraphs(lines, cetr.keep_lines(lines, variant, tuning)))


# Lines and ratios (section 3) ------------------------------------------------------------------


def test_tag_ratio_is_characters_per_tag():
    lines = cetr.read_lines("<p>four</p>\nno tags at all\n<br>\n\n<b>x</b><i>y</i>")
    assert lines.text == ("four", "no tags at all", "", "xy")
    assert lines.tags.tolist() == [2, 0, 1, 4]
    assert cetr.tag_ratios(lines).tolist() == [2.0, 14.0, 0.0, 0.5]


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>var a = '<p>x</p>';\n</script>",
        "<STYLE type='a'>p {}</STYLE >",
        "<!-- <p>x\n</p> -->",
        "<script>never closed",
        "<!-- never closed",
    ],
)
def test_scripts_styles_and_comments_are_removed(hidden):
    assert cetr.read_lines(f"<p>seen</p>\n{hidden}").text == ("seen",)


def test_multiline_tag_counts_for_its_first_line():
    lines = cetr.read_lines("<p\nclass=a\n>text</p>\nmore")
    assert lines.text == ("text", "more")


def test_angle_bracket_in_prose_is_not_a_tag():
    assert cetr.read_lines("<p>a < b and c > d</p>").text == ("a < b and c > d",)


# Pages in one line (section 5.3) ---------------------------------------------------------------


def test_one_line_page_is_broken_between_tags():
    one_line = PAGE.replace("\n", " ")
    lines = cetr.read_lines(one_line)
    assert len(lines.text) > 60
    assert lines.continues[0] is False
    assert all(lines.continues[1:])
    assert "".join(lines.text) == re.sub(r"<[^>]*>", "", one_line)


def test_broken_lines_have_65_characters_or_end_with_a_tag():
    line = "x" * 60 + "<a href='" + "y" * 40 + "'>" + "z" * 200
    lines = cetr.read_lines(line, replace(PAPER, long_line=100))
    assert lines.chars.tolist() == [60, 65, 65, 65, 5]


def test_broken_lines_are_joined_in_the_text():
    line = f"<div>{PROSE * 20}</div>"
    lines = cetr.read_lines(line)
    assert len(lines.text) > 20
    everything = np.ones(len(lines.text), dtype=bool)
    assert cetr.paragraphs(lines, everything) == [(PROSE * 20).strip()]


# Smoothing (equations 1 to 4) --------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@given(values=ratios)
def test_smoothing_keeps_length_and_range(kernel, values):
    smoothed = smooth(values, replace(PAPER, kernel=kernel))
    assert smoothed.shape == values.shape
    slack = 1e-9 * max(1.0, float(values.max()))
    assert smoothed.min() >= values.min() - slack
    assert smoothed.max() <= values.max() + slack


@pytest.mark.parametrize("kernel", KERNELS)
@given(level=ratio, length=st.integers(1, 60))
def test_weights_sum_to_one(kernel, level, length):
    flat = np.full(length, level)
    assert smooth(flat, replace(PAPER, kernel=kernel)) == pytest.approx(flat)


@given(values=ratios)
def test_smoothing_is_symmetric(values):
    assert smooth(values[::-1])[::-1] == pytest.approx(smooth(values))


def test_unit_kernel_is_a_gaussian_of_deviation_one():
    spike = np.zeros(9)
    spike[4] = 1.0
    weights = np.exp(-(np.arange(-2, 3) ** 2) / 2)
    assert smooth(spike)[2:7] == pytest.approx(weights / weights.sum())
    assert smooth(spike)[[0, 1, 7, 8]].tolist() == [0, 0, 0, 0]


def test_literal_kernel_widens_with_the_deviation_of_the_ratios():
    spike = np.zeros(201)
    spike[100] = 100.0
    deviation = spike.std()
    radius = int(np.ceil(deviation))
    smoothed = smooth(spike, replace(PAPER, kernel="literal"))
    assert np.flatnonzero(smoothed).tolist() == list(range(100 - radius, 101 + radius))
    assert smoothed[101] / smoothed[100] == pytest.approx(np.exp(-1 / (2 * deviation**2)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_empty_input_is_smoothed_to_empty_output(kernel):
    tuning = replace(PAPER, kernel=kernel)
    assert smooth(np.array([]), tuning).shape == (0,)
    assert derivatives(np.array([]), tuning).shape == (0,)


@given(level=ratio, length=st.integers(1, 60))
def test_constant_ratios_have_zero_derivative(level, length):
    assert derivatives(np.full(length, level)) == pytest.approx(np.zeros(length), abs=1e-6)


@given(values=ratios)
def test_derivatives_are_absolute_and_keep_the_length(values):
    found = derivatives(values)
    assert found.shape == values.shape
    assert (found >= 0).all()


def test_derivative_is_mean_of_next_three_minus_own_value():
    values = np.array([0.0, 3.0, 6.0, 9.0, 9.0, 9.0, 9.0])
    ahead = np.array([6.0, 5.0, 3.0, 0.0, 0.0, 0.0, 0.0])
    assert derivatives(values) == pytest.approx(smooth(ahead))


# What is kept (sections 4 and 5) -------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_prose_is_kept_and_menus_are_not(variant):
    """But for the lines beside the prose, into which its ratios are smoothed."""
    text = text_of(PAGE, variant)
    assert text.count("The mayor said") == 24
    assert text.count("Home") <= 3
    assert text.count("More") <= 3


@pytest.mark.parametrize("variant", VARIANTS)
def test_page_without_tags_is_kept_completely(variant):
    assert text_of("one\ntwo", variant) == "one\ntwo"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("page", ["", "\n\n", "<p>", "<p>x</p>", "<p></p>\n<p></p>"])
def test_smallest_pages_are_kept_completely(page, variant):
    lines = cetr.read_lines(page)
    assert len(cetr.keep_lines(lines, variant)) == len(lines.text)


@pytest.mark.parametrize("variant", VARIANTS)
@given(shape=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 9)), max_size=40))
def test_repeated_runs_give_equal_results(variant, shape):
    page = "\n".join("x" * chars + "<br>" * tags for chars, tags in shape)
    lines = cetr.read_lines(page)
    first, second = (cetr.keep_lines(lines, variant) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_higher_threshold_keeps_fewer_lines():
    lines = cetr.read_lines(PAGE)
    counts = [
        int(cetr.keep_lines(lines, "cetr-tm", replace(PAPER, threshold=at)).sum())
        for at in (0.0, 0.5, 1.0, 2.0, 1000.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == len(lines.text)
    assert counts[-1] == 0


def test_entities_are_decoded():
    assert text_of("R&amp;D caf&eacute;", "cetr") == "R&D café"
