"""A question declared once has the same answer in Python, in the API and on the command line.

Two empty answers are equal: `news` must give each question an answer, or nothing is compared.
"""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import typer
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from newscrawl import config, query
from newscrawl.cli import questions
from newscrawl.cli.output import columns_of, records_of
from newscrawl.dashboard import create_app
from newscrawl.items import SourceCatalog
from newscrawl.query import Scope
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.saved_queries import add_query, count_history
from tests.dashboards import TODAY, add_hostile, config_of
from tests.newsroom import News, fill
from tests.thorough import first_is_quick

REGISTRY = """
bundled = false

[[company]]
name = "Siemens"
parent = "Nobody AG"

[[company]]
name = "Bosch"
parent = "Nobody AG"

[[company]]
name = "Nobody AG"

[groups]
rivals = ["Siemens", "Bosch"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its parameters, as Python, the API and the command line write them."""

    question: str
    values: dict[str, Any]
    path: str
    command: tuple[str, ...]


QUESTIONS = [
    Asked(
        question="mention_counts",
        values={"by": by, "company": company, "stories": True},
        path=f"counts?by={by}&company={company}&stories=true",
        command=("mentions", "--company", company, "--by", by, "--stories"),
    )
    for company in ("Siemens", "harbour or tram")
    for by in ("day", "week", "source", "language")
] + [
    Asked(
        question="company_ranking",
        values={"limit": 5},
        path="ranking?limit=5",
        command=("mentions", "--limit", "5"),
    ),
    Asked(
        question="share_of_voice",
        values={"companies": ["Siemens", "Bosch"]},
        path="share?company=Siemens&company=Bosch",
        command=("share", "Siemens", "Bosch"),
    ),
    Asked(
        question="co_mentions",
        values={"company": "Siemens", "stories": True},
        path="companies/Siemens/together?stories=true",
        command=("together", "Siemens", "--stories"),
    ),
    Asked(
        question="articles", values={"limit": 20}, path="articles?limit=20", command=("articles",)
    ),
    Asked(question="coverage", values={}, path="coverage", command=("sources", "coverage")),
    Asked(
        question="stories",
        values={"company": "Siemens", "limit": 20},
        path="stories?company=Siemens",
        command=("ask", "stories", "--company", "Siemens"),
    ),
    Asked(
        question="new_sources",
        values={"company": "Siemens"},
        path="companies/Siemens/new-sources",
        command=("ask", "new-sources", "--company", "Siemens"),
    ),
    Asked(
        question="unmentioned_companies",
        values={"registered_companies": ["Siemens", "Bosch", "Nobody AG"]},
        path="companies/unmentioned",
        command=("ask", "unmentioned-companies"),
    ),
]


def list_of_questions() -> list[str]:
    group = typer.main.get_command(questions.app)
    assert isinstance(group, questions.Questions)
    return group.list_commands(typer.Context(group))


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Path]]:
    """Ten days of news."""
    folder = tmp_path_factory.mktemp("questions")
    (folder / "companies.toml").write_text(REGISTRY)
    file = folder / "news.sqlite"
    with open_database(f"sqlite:///{file}") as database:
        fill(database, News(last=TODAY, days=10, pace=0.3))
        add_hostile(database)
        written = "(harbour OR tram) source:harbour-courier,northern-ledger"
        add_query(database, "harbour or tram", written, "ann")
        count_history(database, "harbour or tram")
        yield database, file


@pytest.fixture(scope="module")
def client(news: tuple[Database, Path]) -> Iterator[TestClient]:
    _, file = news
    app = create_app(config_of(file, companies=file.with_name("companies.toml")))
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


# All days lie in the past or today, so that the answers don't change at midnight. There are news of
# days before them, for questions that compare.
WHOLE = {"since": TODAY - timedelta(days=6), "until": TODAY}
SCOPES = first_is_quick(
    [WHOLE, WHOLE | {"since": TODAY - timedelta(days=2)}, WHOLE | {"source": "harbour-courier"}]
)


@pytest.mark.parametrize("scope", SCOPES, ids=["whole", "three_days", "source"])
@pytest.mark.parametrize(
    "asked",
    QUESTIONS,
    ids=lambda asked: "-".join([asked.question, *map(str, asked.values.values())]),
)
def test_python_api_and_command_line_give_equal_answers(
    asked, scope, news, client, newscrawl, monkeypatch
):
    database, file = news
    monkeypatch.setenv("NEWSCRAWL_DATABASE_URL", f"sqlite:///{file}")
    monkeypatch.setenv("NEWSCRAWL_COMPANIES", str(file.with_name("companies.toml")))
    question = queries.QUESTIONS[asked.question]
    structure = query.company_structure(file.with_name("companies.toml"))
    answer = question.ask(database, **asked.values, scope=Scope(**scope, structure=structure))
    assert answer or scope != WHOLE, f"the fixture `news` gives {asked.question} no answer in WHOLE"

    path = f"/api/{asked.path}{'&' if '?' in asked.path else '?'}{urlencode(scope)}"
    answered = client.get(path)
    assert answered.status_code == 200, f"{path}: {answered.text}"
    described = TypeAdapter(question.answer).dump_python(answer, mode="json", by_alias=True)
    assert answered.json() == described, path

    options = [f"--{name}={value}" for name, value in scope.items()]
    line = shlex.join(["newscrawl", *asked.command, *options])
    ran = newscrawl(*asked.command, *options, "--format", "json")
    assert ran.out, f"{line}: exit code {ran.code}: {ran.err}"
    records = json.loads(json.dumps(records_of(answer), default=lambda day: day.isoformat()))
    rows = json.loads(ran.out)
    assert len(rows) == len(records), line
    for row, record in zip(rows, records, strict=True):
        shown = row.keys() & record.keys()
        assert shown, f"{line}: no column in common with {asked.question}"
        assert {name: row[name] for name in shown} == {name: record[name] for name in shown}, line


# Parameters that must be given, as Python and the command line write them.
_REQUIRED: dict[str, tuple[object, list[str]]] = {
    "company": ("Siemens", ["-c", "siemens"]),
    "companies": (["Siemens", "Bosch"], ["-c", "Siemens", "-c", "Bosch"]),
    "query": ("harbour OR tram", ["harbour OR tram"]),
    "url": ("", []),  # that of the newest article
    "story": (1, ["--story", "1"]),
}


@pytest.mark.parametrize("name", list_of_questions())
def test_ask_has_the_rows_of_every_question(name, news, newscrawl, monkeypatch):
    database, file = news
    monkeypatch.setenv("NEWSCRAWL_DATABASE_URL", f"sqlite:///{file}")
    monkeypatch.setenv("NEWSCRAWL_COMPANIES", str(file.with_name("companies.toml")))
    question = queries.QUESTIONS[name.replace("-", "_")]
    newest = queries.articles(database, limit=1)[0].url
    required = {**_REQUIRED, "url": (newest, [newest])}
    parameters = question.parameters.values()
    names = [each.name for each in parameters if each.default is each.empty]
    values: dict[str, Any] = {each: required[each][0] for each in names if each in required}
    options = [option for each in names if each in required for option in required[each][1]]
    if "registered_companies" in names:
        values["registered_companies"] = ["Siemens", "Bosch", "Nobody AG"]
    if "scope" in question.parameters:
        structure = query.company_structure(file.with_name("companies.toml"))
        values["scope"] = Scope(**WHOLE, structure=structure)
        options += [f"--{each}={day}" for each, day in WHOLE.items()]
    answer = question.ask(database, **values)
    ran = newscrawl("ask", name, *options, "--format", "json")
    assert ran.code == (0 if answer else 1), ran.err
    shown = {column.key for column in columns_of(question.row)}
    records = [
        {key: value for key, value in record.items() if key in shown}
        for record in TypeAdapter(Any).dump_python(records_of(answer), mode="json")
    ]
    rows = json.loads(ran.out)
    assert [plain_times(row) for row in rows] == [plain_times(row) for row in records]
    for output_format in ("table", "csv"):
        ran = newscrawl("ask", name, *options, "--format", output_format)
        assert ran.code == (0 if answer else 1), ran.err
        assert len(ran.out.splitlines()) > len(answer)


def plain_times(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its moments written in one way; JSON writes them with +00:00 or Z."""
    return {
        key: value.replace("+00:00", "Z") if isinstance(value, str) else value
        for key, value in row.items()
    }


def test_saved_queries_are_listed_and_previewed_equally(news, client, newscrawl):
    database, file = news
    (row,) = query.saved_queries(database)
    (answered,) = client.get("/api/queries").json()
    assert (answered["name"], answered["text"]) == (row.name, row.text) != ("", "")
    ran = newscrawl("queries", "list", "--database", f"sqlite:///{file}", "--format", "json")
    (listed,) = json.loads(ran.out)
    assert (listed["name"], listed["text"], listed["counted"]) == (row.name, row.text, True)
    preview = query.preview_query(database, row.text)
    counted = query.mention_counts(database, "year", company=row.name)
    assert preview.complete
    assert preview.articles == sum(year.hits.articles for year in counted if year.hits) > 0
    shown = client.get("/api/queries/preview", params={"q": row.text}).json()
    assert shown["articles"] == preview.articles
    assert client.get("/api/queries/preview?q=a+OR").status_code == 422


SOURCES = """slug,name,country,languages,home,feeds,sitemaps,news_sitemaps,status,groups
harbour-courier,Harbour Courier,gb,en,https://c.example/,https://c.example/f,,,active,quays|mine|leading
northern-ledger,Northern Ledger,us,en,https://l.example/,https://l.example/f,,,active,quays
stadtbote,Stadtbote,de,de,https://s.example/,https://s.example/f,,,active,leading
"""


@pytest.fixture
def catalog(news: tuple[Database, Path], monkeypatch: pytest.MonkeyPatch) -> query.SourceCatalog:
    """Groups of the sources, as the commands read them, too."""
    sources = news[1].with_name("sources.csv")
    sources.write_text(SOURCES)
    monkeypatch.setattr(config, "NEWSCRAWL_SOURCES", str(sources))
    return query.source_catalog(sources)


@pytest.mark.parametrize(
    ("options", "slugs"),
    [
        ({"group": "quays"}, ("harbour-courier", "northern-ledger")),
        ({"group": "leading"}, ("harbour-courier", "stadtbote")),
        ({"group": "Quays", "country": "us"}, ("northern-ledger",)),
    ],
)
def test_group_of_sources_counts_what_its_sources_do(options, slugs, news, catalog):
    database, _ = news
    since = TODAY - timedelta(days=9)
    alone = [Scope(since=since, until=TODAY, source=slug) for slug in slugs]
    scope = Scope(since=since, until=TODAY, catalog=catalog, **options)

    def numbers(one: Scope) -> list[int]:
        rows = queries.mention_counts(database, "source", company="Siemens", scope=one)
        return [sum(row.hits.mentions if row.hits else 0 for row in rows)]

    number = numbers(scope)[0]
    assert number == sum(numbers(one)[0] for one in alone) > 0
    assert {row.key for row in queries.mention_counts(database, "source", scope=scope)} == {*slugs}
    read = queries.completeness(database, scope=scope)
    assert read == sum((queries.completeness(database, scope=one) for one in alone), type(read)())
    found = queries.articles(database, scope=scope, limit=500)
    assert {row.source for row in found} <= {*slugs}
    assert len(found) == read.read


def test_rows_of_groups_are_the_sums_of_their_sources(news, catalog):
    database, _ = news
    since = TODAY - timedelta(days=9)
    scope = Scope(since=since, until=TODAY, catalog=catalog)
    papers = {
        "leading": ["harbour-courier", "stadtbote"],
        "mine": ["harbour-courier"],
        "quays": ["harbour-courier", "northern-ledger"],
    }
    by_source = {
        row.key: row.hits.articles if row.hits else 0
        for row in query.mention_counts(database, "source", company="Siemens", scope=scope)
    }
    expected = {key: sum(by_source[slug] for slug in slugs) for key, slugs in papers.items()}
    assert all(expected.values())

    rows = query.mention_counts(database, "group", company="Siemens", scope=scope, stories=True)
    counted = {row.key: row.hits for row in rows if row.hits and row.completeness.expected}
    assert {key: hits.articles for key, hits in counted.items()} == expected
    for key, hits in counted.items():
        part = replace(scope, group=key)
        ranked = query.company_ranking(database, scope=part, stories=True)
        assert next(row.hits for row in ranked if row.company == "Siemens") == hits
        (known,) = (row.completeness for row in rows if row.key == key)
        assert known == query.completeness(database, scope=part)


def test_rows_of_groups_need_groups(news):
    with pytest.raises(query.QuestionError, match=r"no source has a group: .*source_catalog\(\)"):
        query.mention_counts(news[0], "group")


def test_unknown_groups_are_refused(news):
    catalog = SourceCatalog(groups={"quays": ("ft",)})
    with pytest.raises(query.QuestionError, match="unknown group of sources 'quay': did you mean"):
        query.company_ranking(news[0], scope=Scope(group="quay", catalog=catalog))


def test_subsidiaries_need_a_registry(news):
    with pytest.raises(query.QuestionError, match="company_structure"):
        query.company_ranking(news[0], scope=Scope(subsidiaries=True))


def test_registered_companies_are_those_of_the_companies_file(news):
    companies = news[1].with_name("companies.toml")
    assert sorted(query.registered_companies(companies)) == ["Bosch", "Nobody AG", "Siemens"]
