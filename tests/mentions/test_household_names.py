"""The best-known companies are found in the form that news of each language uses."""

import tomllib
from pathlib import Path

import pytest

from tests.worlds import bundled_companies

NEWS = tomllib.loads(Path(__file__).with_name("household_names.toml").read_text(encoding="utf-8"))
COMPANIES = tuple(NEWS["companies"])
LATIN = dict(zip(COMPANIES, NEWS["latin"], strict=True))
SHARE = 0.95


@pytest.fixture(scope="module")
def companies():
    return bundled_companies()


def names_of(language: str) -> dict[str, str]:
    row = NEWS["languages"][language]
    names = row.get("names")
    return dict(zip(COMPANIES, names, strict=True)) if names else LATIN


def test_household_names_are_25_companies_in_25_languages():
    assert (len(COMPANIES), len(NEWS["languages"])) == (25, 25)


@pytest.mark.parametrize("language", NEWS["languages"])
def test_household_names_are_found_in_their_usual_form(companies, language):
    row = NEWS["languages"][language]
    missed = []
    for company, name in names_of(language).items():
        text = row["sentence"].replace("NAME", name)
        found = [mention.company for mention in companies.find(text, language=language)]
        if found != [company]:
            missed.append((company, name, found))
    assert len(missed) <= (1 - SHARE) * len(COMPANIES), missed
