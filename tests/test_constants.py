"""docs/algorithms.md names the constants that the code has, with their values."""

import ast
import dataclasses
import importlib
import re
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import newscrawl
from newscrawl.extraction import cetr, html, language
from newscrawl.training.pso import SwarmSettings

DOCUMENT = Path(newscrawl.__file__).parent.parent / "docs" / "algorithms.md"
_ROW = re.compile(r"^\| `([\w.]+\.[\w.]+)` \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)
# Of these modules every constant that is a number must be told.
COMPLETE = (html, cetr, language)


class Row(NamedTuple):
    """A constant as the document has it."""

    name: str
    value: str
    meaning: str
    source: str


ROWS = [Row(*found) for found in _ROW.findall(DOCUMENT.read_text("utf-8"))]


def constant(name: str) -> Any:
    """The object behind a dotted name below `newscrawl`."""
    parts = f"newscrawl.{name}".split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            value = getattr(value, attribute)
        return value
    raise LookupError(name)


def written(value: str) -> Any:
    """A value as the document writes it: a text between backticks, or a Python literal."""
    if value.startswith("`"):
        return value.strip("`")
    return ast.literal_eval(re.sub(r"(?<=\d),(?=\d{3})", "", value))


def test_documented_values_equal_the_code_and_have_a_meaning_and_a_source():
    assert len(ROWS) > 25
    assert {row.name: written(row.value) for row in ROWS} == {
        row.name: constant(row.name) for row in ROWS
    }
    assert [row.name for row in ROWS if len(row.meaning) < 6 or not row.source] == []


def _numbers(module: ModuleType) -> set[str]:
    place = module.__name__.removeprefix("newscrawl.")
    return {
        f"{place}.{name}"
        for name, value in vars(module).items()
        if name.strip("_").isupper() and isinstance(value, int | float)
    }


def test_constants_of_alerts_are_documented():
    page = DOCUMENT.with_name("alerts.md").read_text("utf-8")
    shown = dict(re.findall(r"^\| ((?:alerts|digests)\.[A-Z_]+) \| (\S+)", page, re.MULTILINE))
    assert len(shown) == 13
    for name, value in shown.items():
        told = constant(f"monitoring.{name}")
        if isinstance(told, timedelta):
            told = told.days or told // timedelta(hours=1)
        assert str(told) == value, name


@pytest.mark.parametrize("module", COMPLETE, ids=[each.__name__ for each in COMPLETE])
def test_every_number_of_the_module_is_documented(module):
    assert _numbers(module) <= {row.name for row in ROWS}


@pytest.mark.parametrize(
    ("place", "kind", "left_out"),
    [
        ("extraction.cetr.PAPER", cetr.Tuning, set()),
        ("training.pso.SwarmSettings", SwarmSettings, {"seed"}),
    ],
    ids=["CETR", "swarm"],
)
def test_every_field_of_the_tuning_is_documented(place, kind, left_out):
    fields = {field.name for field in dataclasses.fields(kind)} - left_out
    documented = {row.name.removeprefix(f"{place}.") for row in ROWS if row.name.startswith(place)}
    assert documented == fields
