"""The API: as its description says, whatever it is asked; and with the answers of the queries."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import typer
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from newscrawl.cli import app as cli
from newscrawl.dashboard import create_app
from newscrawl.items import SourceCatalog
from newscrawl.query import QuestionError
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.scope import FILTERS
from tests.dashboards import NOW, TODAY, TRAM, add_hostile, config_of, revise
from tests.newsroom import News, fill

MAX_WAIT = 300  # seconds for an answer, so that only what hangs fails


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fortnight's news."""
    path = tmp_path_factory.mktemp("api") / "news.sqlite"
    with open_database(f"sqlite:///{path}") as database:
        fill(database, News(last=TODAY, days=14, pace=0.3))
        revise(database)
        add_hostile(database)
    return path


@pytest.fixture(scope="module")
def database(file: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{file}") as opened:
        yield opened


@pytest.fixture(scope="module")
def app(file: Path) -> FastAPI:
    # schemathesis asks for a host of this name.
    return create_app(config_of(file, hosts=frozenset({"testserver"})))


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


@pytest.fixture(scope="module")
def api(app: FastAPI) -> Any:
    return schemathesis.openapi.from_asgi("/api/openapi.json", app)


@pytest.mark.parametrize("path", sorted(create_app(config_of(Path("none"))).openapi()["paths"]))
def test_every_question_is_answered_as_described(path, api):
    @settings(max_examples=settings().max_examples // 2, suppress_health_check=list(HealthCheck))
    @given(case=api[path]["GET"].as_strategy())
    def ask(case: schemathesis.Case) -> None:
        # A range in the wrong order or a zone that is none can't be told by a description.
        answer = case.call_and_validate(
            excluded_checks=[positive_data_acceptance], timeout=MAX_WAIT
        )
        assert answer.status_code == 200 or len(answer.json()["detail"]) > 10

    ask()


def test_api_description_names_the_questions(client):
    described = client.get("/api/openapi.json").json()
    assert described["openapi"].startswith("3.")
    assert len(described["paths"]) >= 15
    assert all(about["get"]["summary"] for about in described["paths"].values())
    assert not [path for path in described["paths"] if not path.startswith("/api/")]


def test_counts_are_those_of_the_queries(client, database):
    since = TODAY - timedelta(days=9)
    got = client.get("/api/counts", params={"company": "Siemens", "since": str(since)}).json()
    scope = queries.Scope(since=since, now=NOW)
    expected = queries.mention_counts(database, "day", company="Siemens", scope=scope)
    assert [row["key"] for row in got] == [row.key for row in expected]
    for row, wanted in zip(got, expected, strict=True):
        assert row["completeness"]["level"] == wanted.completeness.level
        assert (row["hits"] or {}).get("mentions") == (wanted.hits and wanted.hits.mentions)


def test_ranking_is_that_of_the_queries(client, database):
    got = client.get("/api/overview", params={"limit": 5}).json()
    expected = queries.overview(database, scope=queries.Scope(now=NOW), limit=5)
    assert [row["company"] for row in got["companies"]] == [
        row.company for row in expected.companies
    ]
    assert len(got["companies"][0]["spark"]) == len(got["days"]) == 30


@pytest.mark.parametrize(
    "scope", [queries.Scope(until=date(1, 1, 1)), queries.Scope(since=date(1, 1, 9))]
)
def test_ranking_needs_days_to_compare_with(database, scope):
    with pytest.raises(QuestionError, match="no news of that time"):
        queries.overview(database, scope=scope)


def test_article_comes_with_the_offsets_of_its_mentions(client):
    article = client.get("/api/article", params={"url": TRAM}).json()
    assert article["mentions"]
    for mention in article["mentions"]:
        text = article["row"]["title"] if mention["section"] == "title" else article["text"]
        assert text[mention["start"] : mention["end"]] == mention["surface"]


def test_history_shows_what_each_version_changed(client):
    first, second = client.get("/api/article/history", params={"url": TRAM}).json()
    assert "nine" in first["text"]
    assert ["Bosch", 1] in second["mentions"]


def test_search_marks_the_words(client):
    (found,) = client.get("/api/search", params={"q": "tram twelve"}).json()
    words = {
        snippet["text"][start:end].lower()
        for snippet in found["snippets"]
        for start, end in snippet["marks"]
    }
    assert words == {"tram", "twelve"}


@pytest.mark.parametrize(("company", "status"), [("Zeiss", 200), ("Zzyzx", 404)])
def test_registered_company_without_mentions_has_empty_answers(client, database, company, status):
    assert company not in queries.company_names(database)
    for path in ("together", "articles"):
        answer = client.get(f"/api/companies/{company}/{path}")
        assert answer.status_code == status
        assert answer.json() == [] or "/api/companies lists" in answer.json()["detail"]


@pytest.mark.parametrize(
    "path", ["counts?company=Simens", "share?company=Bosch&company=Simens", "proof?company=Simens"]
)
def test_unknown_company_is_an_error_with_suggestions(client, path):
    answer = client.get(f"/api/{path}")
    assert answer.status_code == 404
    assert "unknown company 'Simens': did you mean Siemens" in answer.json()["detail"]


def test_unknown_source_is_an_error_with_suggestions(client):
    answer = client.get("/api/counts?source=harbour-curier")
    assert answer.status_code == 422
    assert "did you mean harbour-courier" in answer.json()["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/counts?since=2026-11-05&until=2026-11-01",
        "/api/counts?since=yesterday",
        "/api/overview?until=0001-01-01",
        "/api/counts?by=fortnight",
        "/api/counts?by=hour&since=2020-01-01&until=2026-11-01",
        "/api/share?by=hour&since=2020-01-01&until=2026-11-01&company=Siemens&company=Bosch",
        "/api/counts?zone=Nowhere/Land",
        "/api/counts?company=%00",
        "/api/share?company=Siemens",
        "/api/search?q=%22%22",
        "/api/articles?limit=100000",
    ],
)
def test_invalid_question_is_refused_with_a_reason(client, path):
    answer = client.get(path)
    assert answer.status_code == 422
    assert len(answer.json()["detail"]) > 10


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("counts?sources=ft", "/api/counts has no parameter 'sources': it has "),
        ("share?company=Siemens&company=Bosch&Since=2026-11-01", "no parameter 'Since'"),
        ("facts?limit=3", "/api/facts has no parameter 'limit': it has none"),
        ("overview?language=de&language=en", "language is given twice: it has one value"),
    ],
)
def test_parameter_that_would_be_ignored_is_refused(client, path, says):
    answer = client.get(f"/api/{path}")
    assert answer.status_code == 422
    assert says in answer.json()["detail"]


def test_api_cannot_write(client):
    for path in client.get("/api/openapi.json").json()["paths"]:
        assert client.post(path.replace("{company}", "Siemens")).status_code == 405


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_every_filter_of_a_scope_is_in_all_views(name, app, file):
    described = app.openapi()["paths"]["/api/counts"]["get"]["parameters"]
    assert [one["description"] for one in described if one["name"] == name]
    command = typer.main.get_command(cli).commands["mentions"]  # type: ignore[attr-defined]
    option = f"--{name.replace('_', '-')}"
    assert [each for each in command.params if option in each.opts]
    catalog = SourceCatalog(groups={"quays": ("harbour-courier",)})
    with TestClient(
        create_app(config_of(file, catalog=catalog)), base_url="http://localhost"
    ) as site:
        assert f'name="{name}"' in site.get("/").text
