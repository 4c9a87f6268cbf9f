"""The command line over a small database."""

from pathlib import Path
from typing import Any

import pytest

from newscrawl.storage import open_database
from tests.conftest import Newscrawl
from tests.worlds import body, day, document, headline, moment, register, save_document

COMPANIES = """
bundled = false

[[company]]
name = "Siemens"
aliases = ["Siemens AG"]

[[company]]
name = "Volkswagen"
aliases = ["VW"]

[[company]]
name = "Zeiss"
"""


@pytest.fixture
def companies(tmp_path: Path) -> Path:
    file = tmp_path / "companies.toml"
    file.write_text(COMPANIES)
    return file


@pytest.fixture
def world(
    newscrawl: Newscrawl, tmp_path: Path, own_database: Path, companies: Path, monkeypatch: Any
) -> Newscrawl:
    """The command line in a folder with a database: two days crawled, one day failed."""
    with open_database(f"sqlite:///{own_database}") as database:
        ft, faz = register(database, "ft"), register(database, "faz", "de")
        siemens = [headline("Siemens"), body("Siemens"), body("Siemens", 20)]
        save_document(database, document("a", title="Siemens wins", text="a", mentions=siemens), ft)
        save_document(
            database,
            document(
                "b",
                text="b",
                published=moment(1),
                mentions=[body("Volkswagen")],
                access="paywalled",
                kind="paywall",
            ),
            ft,
        )
        save_document(
            database,
            document("c", source="faz", text="c", language="de", mentions=[body("Siemens")]),
            faz,
        )
        for number in (0, 1):
            database.record_coverage("ft", day(number), "ok", 2, 2)
        database.record_coverage("faz", day(0), "ok", 1, 1)
        database.record_coverage("faz", day(1), "failed", 0, 0, "no feed could be read")
    monkeypatch.setenv("NEWSCRAWL_COMPANIES", str(companies))
    return newscrawl
