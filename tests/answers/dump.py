"""The answers to all questions through Python, the API and the commands, as lines of text."""

import io
import json
import lzma
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from newscrawl import config, mentions, query
from newscrawl.cli import main
from newscrawl.dashboard import Config, create_app
from newscrawl.items import CompanyStructure, SourceCatalog
from newscrawl.mentions import load_companies
from newscrawl.storage import Database, QuestionError, open_database, status
from newscrawl.storage.queries import QUESTIONS, Question, Scope
from newscrawl.storage.search_language import parse_query
from tests.answers.questions import ALL_FILTERS, FEW, Parameters, filters, questions
from tests.answers.world import NOW, Files, fill

EXPECTED = Path(__file__).with_name("expected.jsonl.xz")
# The database's clock where the present health of sources is asked.
HEALTH_AT = datetime(2026, 11, 28, 12, tzinfo=UTC)
# Fields whose values are a database's own, or of the program: numbers of rows and versions.
_UNSTABLE = frozenset({"number", "story", "id", "run", "article_id", "versions"})
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d:\d\d)?")


@dataclass(frozen=True, slots=True)
class Views:
    """The ways to ask: a database, the API over it, and the files of the commands."""

    database: Database
    clients: Mapping[str, TestClient]
    files: Files
    structures: Mapping[str, CompanyStructure]
    catalog: SourceCatalog


def write_answers(url: str, folder: Path) -> Iterator[str]:
    """Fill an empty database with the world, and yield a line of JSON for each answer.

    A line has the way of asking, the question, its parameters and filters, and the answer; for the
    API only where it is not the JSON of the answer in Python.
    """
    files = Files.write(folder)
    with (
        pytest.MonkeyPatch.context() as patch,
        open_database(url) as database,
        ExitStack() as applications,
    ):
        _set_up(patch, files, url)
        fill(database)
        catalog = query.source_catalog(files.sources)
        shared = Config(database_url=url, catalog=catalog, clock=lambda: NOW)
        clients, structures = {}, {}
        for name, path in _company_files(files).items():
            application = create_app(replace(shared, companies=path))
            client = TestClient(application, base_url="http://localhost")
            clients[name] = applications.enter_context(client)
            structures[name] = query.company_structure(path)
        views = Views(database, clients, files, structures, catalog)
        for name, every in questions().items():
            for parameters, chosen in _asked(QUESTIONS[name], every):
                yield from _ask(views, QUESTIONS[name], parameters, chosen)


def _set_up(patch: pytest.MonkeyPatch, files: Files, url: str) -> None:
    """Let the commands read the world's files, and each companies file only once."""
    loaded = {path: load_companies(path) for path in _company_files(files).values()}
    patch.setattr(mentions, "load_companies", loaded.__getitem__)
    patch.setattr(status, "clock", lambda _session: HEALTH_AT)
    patch.setattr(config, "NEWSCRAWL_SOURCES", str(files.sources))
    patch.setattr(config, "NEWSCRAWL_DATABASE_URL", url)
    patch.setenv("NEWSCRAWL_DATABASE_URL", url)
    patch.setenv("NEWSCRAWL_COMPANIES", str(files.companies))
    patch.setenv("COLUMNS", "80")


def _company_files(files: Files) -> dict[str, Path]:
    return {"main": files.companies, "other": files.other_companies}


def _asked(
    question: Question, every: list[Parameters]
) -> Iterator[tuple[Parameters, tuple[str, ...]]]:
    if "scope" not in question.parameters:
        yield from ((parameters, ()) for parameters in every)
        return
    for number, parameters in enumerate(every):
        for chosen in ALL_FILTERS:
            if number == 0 or (chosen[0] in FEW and len(chosen) == 1):
                yield parameters, chosen


def _ask(
    views: Views, question: Question, parameters: Parameters, chosen: tuple[str, ...]
) -> Iterator[str]:
    named = {"question": question.name, **parameters.values, "filters": "+".join(chosen)}
    scope = filters(chosen)
    structure = scope.pop("structure", "main")
    try:
        answer = _in_python(views, question, parameters, scope, structure)
    except QuestionError as error:
        answer = {"error": type(error).__name__}
    yield _line({"through": "python", **named}, answer)
    if "among" in scope:
        return  # a filter of Python alone
    yield _line(
        {"through": "api", **named}, _in_api(views, question, parameters, scope, structure, answer)
    )
    if parameters.command:
        answer = _in_command(views, parameters, scope, structure)
        if answer is not None:
            yield _line({"through": "command", **named}, answer)


def _in_python(
    views: Views,
    question: Question,
    parameters: Parameters,
    scope: Mapping[str, Any],
    structure: str,
) -> Any:
    values = dict(parameters.values)
    if "scope" in question.parameters:
        fields_ = dict(scope)
        if "among" in fields_:
            fields_["among"] = parse_query(fields_["among"])
        values["scope"] = Scope(
            **fields_, now=NOW, structure=views.structures[structure], catalog=views.catalog
        )
    if "registered_companies" in question.parameters:
        file = _company_files(views.files)[structure]
        values["registered_companies"] = query.registered_companies(file)
    answer = getattr(query, question.name)(views.database, **values)
    return _json_of(question.name).dump_python(answer, mode="json", by_alias=True)


@cache
def _json_of(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(QUESTIONS[name].answer)


def _in_api(
    views: Views,
    question: Question,
    parameters: Parameters,
    scope: Mapping[str, Any],
    structure: str,
    answer: Any,
) -> Any:
    """Return "as in Python", or the answer of the API where it differs."""
    path, sent = question.path, []
    for name, value in parameters.values.items():
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        elif value is not None:
            shown = question.names.get(name, name)
            sent += [(shown, one) for one in value] if isinstance(value, list) else [(shown, value)]
    if "scope" in question.parameters:
        sent += list(scope.items())
    written = [(name, str(value).lower() if value is True else str(value)) for name, value in sent]
    answered = views.clients[structure].get(f"/api{path}?{urlencode(written)}")
    if answered.status_code != 200:
        return {"status": answered.status_code}
    shown = answered.json()
    return "as in Python" if _plain(shown) == _plain(answer) else shown


def _in_command(
    views: Views, parameters: Parameters, scope: Mapping[str, Any], structure: str
) -> Any:
    """Return the JSON of a command; None if it does not have one of the filters."""
    options = [
        f"--{name}" if value is True else f"--{name}={value}" for name, value in scope.items()
    ]
    if structure == "other":
        options.append(f"--companies={views.files.other_companies}")
    written, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        arguments = ["newscrawl", *parameters.command, *options, "--format", "json"]
        patch.setattr("sys.argv", arguments)
        with redirect_stdout(written), redirect_stderr(errors), pytest.raises(SystemExit) as ended:
            main()
    code = int(ended.value.code or 0)
    if code > 1:
        return None
    return json.loads(written.getvalue() or "[]")


def _line(named: Mapping[str, Any], answer: Any) -> str:
    return json.dumps([named, _plain(answer)], ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    """Return an answer without what differs from one filling of the world to the next: numbers of
    rows, and moments after the world's end, at which it was filled."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items() if key not in _UNSTABLE}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return value if datetime.fromisoformat(value).date() <= NOW.date() else "later"
    return value


def pack(lines: list[str]) -> bytes:
    """Return the lines compressed."""
    return lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9)


def expected_lines() -> list[str]:
    """Return the lines that were frozen."""
    return lzma.decompress(EXPECTED.read_bytes()).decode().splitlines()
