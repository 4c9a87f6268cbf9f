"""Own companies in the dashboard: a pasted list with a preview, and everyday words."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from newscrawl.dashboard import create_app
from newscrawl.storage import open_database
from tests.dashboards import NOW, config_of
from tests.worlds import LONG, document, register, save_document

BASE = "http://127.0.0.1:8000"


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    with open_database(f"sqlite:///{tmp_path}/news.sqlite") as database:
        run = register(database)
        for number in range(4):
            text = f"A storm came. The storm of Storm, number {number}. Moorbach builds. {LONG}"
            page = document(f"s{number}", text=text, published=NOW, fetched_at=NOW)
            save_document(database, page, run)
    config = config_of(tmp_path / "news.sqlite", companies=tmp_path / "mine.toml")
    return TestClient(create_app(config), base_url=BASE, headers={"origin": BASE})


def hidden(page: str, name: str) -> str:
    value = re.search(rf'name="{name}" value="([^"]*)"', page)
    return value[1]


def test_pasted_lines_are_shown_and_the_chosen_ones_saved(client, tmp_path):
    seal = hidden(client.get("/registry/paste").text, "seal")
    text = "Firma\tLand\nMoorbach Fensterbau GmbH\tDE\nSiemens\tDE\nStorm\tGB\n"
    shown = client.post("/registry/paste", data={"seal": seal, "text": text}).text
    lines = [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in shown.split("<tr>")[2:]]
    assert lines[0].startswith("Moorbach Fensterbau GmbH Moorbach Fensterbau GmbH, Moorbach")
    assert "already bundled as Siemens" in lines[1]
    assert re.match(r"Storm Storm everyday word: Storm only with context 4 articles", lines[2])
    assert re.findall(r'chosen" value="([^"]+)" checked', shown) == [
        "Moorbach Fensterbau GmbH",
        "Storm",
    ]
    form = {"seal": seal, "text": text, "mark": hidden(shown, "mark"), "chosen": ["Storm"]}
    form["in_context"] = ["Storm"]
    assert client.post("/registry/paste/save", data=form).url.path == "/registry"
    saved = 'name = "Storm"\nambiguous = ["Storm"]\ncontext = ["@markets"]'
    assert saved in (tmp_path / "mine.toml").read_text("utf-8")
    faulty = client.post("/registry/paste", data={"seal": seal, "text": "a\tb\nc\td\n"})
    assert (faulty.status_code, "no column" in faulty.text) == (422, True)


def test_everyday_word_is_warned_of_and_counts_only_with_context(client):
    page = client.get("/registry/edit").text
    form = {"seal": hidden(page, "seal"), "mark": hidden(page, "mark"), "name": "Storm"}
    trial = client.post("/registry/preview", data=form).text
    assert "4 articles have it in small letters" in trial
    assert trial.count("<article") == 4
    assert "everyday" not in client.post("/registry/preview", data=form | {"name": "Moorbach"}).text
    draft = client.post("/registry/context", data=form).text
    assert re.search(r'name="ambiguous"[^>]*>Storm</textarea>', draft)
    assert re.search(r'name="context"[^>]*>@markets</textarea>', draft)
