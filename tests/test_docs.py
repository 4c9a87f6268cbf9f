"""What the documents say is so: settings, links, commands, examples."""

import ast
import re
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote

from typer.main import get_command

import newscrawl
from newscrawl.cli import app
from newscrawl.extraction.extract import STEPS
from newscrawl.extraction.metadata.__main__ import rows, with_table
from newscrawl.extraction.methods import METHODS
from newscrawl.sources import load_sources
from newscrawl.storage import open_database

PROJECT = Path(newscrawl.__file__).parent.parent
README = (PROJECT / "README.md").read_text("utf-8")
SETTINGS = (PROJECT / "docs" / "settings.md").read_text("utf-8")
DOCUMENTS = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")])

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_CODE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SETTING = re.compile(r"^\| `(NEWSCRAWL_\w+)` \| (?:`([^`]*)`)? ?\| (.*?) \|$", re.MULTILINE)


def name_of(document: Path) -> str:
    return document.relative_to(PROJECT).as_posix()


def settings() -> dict[str, str]:
    """Names and defaults in newscrawl/config.py."""
    tree = ast.parse(files("newscrawl").joinpath("config.py").read_text("utf-8"))
    defaults = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.startswith("NEWSCRAWL_") and isinstance(node.value, ast.Call):
                defaults[name] = ast.literal_eval(node.value.args[1])
    return defaults


# Links -------------------------------------------------------------------------------------------


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as code hosts make them."""
    headings = _HEADING.findall(document.read_text("utf-8"))
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in words}


def test_links_have_targets():
    dead = []
    for document in DOCUMENTS:
        for link in _LINK.findall(document.read_text("utf-8")):
            path, _, anchor = unquote(link).partition("#")
            target = document.parent / path if path else document
            if re.match(r"[a-z]+:", path):
                continue
            if not target.exists() or (anchor and anchor not in anchors(target)):
                dead.append((name_of(document), link))
    assert dead == []


def test_index_lists_every_document():
    index = (PROJECT / "docs" / "README.md").read_text("utf-8")
    documents = {path.name for path in (PROJECT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in documents if f"]({name})" not in index} == set()


# Dates -------------------------------------------------------------------------------------------


def test_metadata_page_lists_the_places_of_each_field_in_their_order():
    text = (PROJECT / "docs" / "metadata.md").read_text("utf-8")
    assert len(rows()) > 20
    assert with_table(text) == text, "run make commands"


def test_algorithms_page_names_the_steps_of_a_page_in_their_order():
    text = (PROJECT / "docs" / "algorithms.md").read_text("utf-8")
    (sentence,) = re.findall(r"A page goes through the steps(.*?)which `newscrawl", text, re.DOTALL)
    assert tuple(re.findall(r"`([a-z]+)`", sentence)) == STEPS


# Settings ----------------------------------------------------------------------------------------


def test_settings_page_lists_every_setting_with_its_default():
    listed = {name: default for name, default, _ in _SETTING.findall(SETTINGS)}
    assert listed == settings()


def test_each_setting_is_explained():
    assert all(len(meaning) > 10 for _, _, meaning in _SETTING.findall(SETTINGS))


def test_settings_of_the_readme_equal_the_settings_page():
    rows = [[row.replace("(docs/", "(") for row in cells] for cells in _SETTING.findall(README)]
    assert len(rows) == 10
    assert [row for row in rows if row not in map(list, _SETTING.findall(SETTINGS))] == []


def test_settings_page_names_every_method():
    row = next(row for row in _SETTING.findall(SETTINGS) if row[0] == "NEWSCRAWL_METHOD")
    assert re.findall(r"`([\w-]+)`", row[2]) == list(METHODS)


# Commands ----------------------------------------------------------------------------------------


def shell_lines(document: Path) -> list[str]:
    """The lines of all code blocks that name no language, without what explains them."""
    blocks = (text for language, text in _CODE.findall(document.read_text("utf-8")) if not language)
    return [line.strip() for block in blocks for line in block.splitlines()]


def commands() -> set[str]:
    return set(get_command(app).commands)  # type: ignore[attr-defined]


def test_documented_commands_make_targets_and_sources_exist():
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    existing = {
        r"(?:\$ )?(?:\.venv/bin/)?newscrawl (\S+)": commands(),
        r"(?:\$ )?make ([a-z][\w-]*)": set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE)),
        r".*?scrapy crawl ([a-z0-9-]+)": {source.slug for source in load_sources()},
    }
    for document in DOCUMENTS:
        if document.name in ("commands.md", "CHANGELOG.md"):
            continue
        for pattern, names in existing.items():
            matches = (re.match(pattern, line) for line in shell_lines(document))
            assert {match[1] for match in matches if match} - names == set(), name_of(document)


def test_documented_number_of_sources_is_right():
    numbers = {int(number) for number in re.findall(r"list the sources, over (\d+)", README)}
    assert numbers == {len(load_sources()) // 100 * 100}


# Examples ----------------------------------------------------------------------------------------


def test_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    open_database("sqlite:///newscrawl.sqlite").close()
    (code,) = (text for language, text in _CODE.findall(README) if language == "python")
    page = "<html lang=en><h1>Siemens builds a tram</h1><p>Siemens builds a tram, it said.</p>"
    names = {"html": page}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - our own text
    assert "Siemens" in names["article"].text  # type: ignore[attr-defined]


def test_documents_name_no_path_of_our_machines_and_close_their_marks():
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        assert not re.search(r"(?<![\w.:/])/(?:work|root|home)/", text), name_of(document)
        assert len(re.findall(r"^<!-- end -->$", text, re.MULTILINE)) == len(
            re.findall(r"^<!-- (?!end )[\w: -]+ -->$", text, re.MULTILINE)
        ), name_of(document)


def test_ci_runs_the_command_of_the_readme_in_a_clone():
    script = PROJECT / ".ci" / "run"
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    text = script.read_text()
    clone = re.search(r"^git clone .* (\S+)$", text, re.MULTILINE)
    command = re.search(r"^make -C (\S+) test$", text, re.MULTILINE)
    assert clone
    assert command
    assert clone[1] == command[1]


# Docstrings --------------------------------------------------------------------------------------

# What ruff's D401 lets pass, and what it does not read: properties.
_NOT_VERBS = {"A", "An", "Are", "Can", "Does", "Has", "How", "Is", "May", "The", "Whether"}
_NOT_VERBS |= {"What", "Where", "Which", "Who", "Something", "Up"}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions of all packages with the names of their files."""
    for package in ("newscrawl", "spiders", "pipelines", "benchmarks"):
        for path in (PROJECT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield name_of(path), node


def test_docstrings_of_functions_begin_with_a_verb():
    for file, node in functions():
        first = (ast.get_docstring(node) or "").partition(" ")[0]
        is_verb = not first or (first.strip(",").isalpha() and first not in _NOT_VERBS)
        assert is_verb, f"{file}: {node.name}: begin with Return or an imperative"


# Lengths -----------------------------------------------------------------------------------------

_MAX_LINES = 80


def test_functions_have_at_most_80_lines():
    longer = {
        (file, node.name)
        for file, node in functions()
        if (node.end_lineno or 0) - node.lineno + 1 > _MAX_LINES
    }
    assert longer == set()
